//! Task classes of a workload file.

use serde::Deserialize;

use super::program::{Flattened, Names, Step, flatten};
use super::{File, MAX_TASKS, find, names};
use crate::scenario::problem::Report;
use crate::scenario::units::{Time, format_time};
use crate::sim::Ns;
use crate::sim::fair::{CgroupId, ROOT};
use crate::sim::time::{MS, US};
use crate::sim::workload::{Affinity, Class, Op, Policy};

/// Least and greatest rate of a class.
const INTENSITY: std::ops::RangeInclusive<f64> = 0.01..=100.0;
/// Slices that `sched_setattr()` takes.
const SHORTEST_SLICE: Ns = 100 * US;
/// See [`SHORTEST_SLICE`].
const LONGEST_SLICE: Ns = 100 * MS;
/// Kernel CPU numbers end below this.
const MAX_CPU: u32 = 8192;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassFile {
    pub(super) name: String,
    letter: char,
    count: i64,
    #[serde(default = "one")]
    share: f64,
    #[serde(default = "one")]
    intensity: f64,
    #[serde(default)]
    nice: i64,
    #[serde(default)]
    policy: PolicyFile,
    /// A slice of its own.
    slice: Option<Time>,
    /// Control group.
    group: Option<String>,
    /// Kernel threads.
    #[serde(default)]
    kthread: bool,
    #[serde(default)]
    affinity: AffinityFile,
    /// A client elsewhere: costs no CPU of this machine.
    #[serde(default)]
    external: bool,
    /// Memory kept in caches, KiB.
    #[serde(default)]
    footprint_kib: u32,
    /// Plural of what one `done` counts.
    unit: Option<String>,
    program: Vec<Step>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PolicyFile {
    /// SCHED_NORMAL.
    #[default]
    Normal,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_FIFO.
    Fifo,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AffinityFile {
    /// Any CPU.
    #[default]
    All,
    /// Task `i` on the `i`-th online CPU.
    OnePerCpu,
    /// Task `i` in the `i`-th LLC.
    PerLlc,
    /// These, in the kernel's list form: `"0-3,8"`.
    Cpus(String),
}

/// Per class and op, the path of its step in the file.
pub(super) type Places = Vec<Vec<String>>;

fn one() -> f64 {
    1.0
}

impl File {
    /// The classes, and where each op of each program stands in the file.
    pub(super) fn classes(&self, report: &mut Report) -> (Vec<Class>, Places) {
        let spelled = Names {
            queues: names(&self.queues, |queue| &queue.name),
            teams: names(&self.teams, |team| &team.name),
            classes: names(&self.classes, |class| &class.name),
            groups: names(&self.groups, |group| &group.name),
        };
        let mut classes = Vec::new();
        let mut places = Vec::new();
        for (index, class) in self.classes.iter().enumerate() {
            let taken = self.classes[..index]
                .iter()
                .find(|other| other.letter == class.letter);
            if let Some(other) = taken {
                report.at(
                    &format!("classes[{index}].letter"),
                    format!("'{}' is already the letter of {}", class.letter, other.name),
                    "give each class its own letter",
                );
            }
            let (class, place) = class.class(&format!("classes[{index}]"), &spelled, report);
            classes.push(class);
            places.push(place);
        }
        let total: u64 = classes.iter().map(|class| u64::from(class.count)).sum();
        if total > u64::from(MAX_TASKS) && report.is_clean() {
            report.at(
                "classes",
                format!("all classes together have {total} tasks"),
                format!("have at most {MAX_TASKS}"),
            );
        }
        (classes, places)
    }
}

impl ClassFile {
    fn class(&self, path: &str, names: &Names, report: &mut Report) -> (Class, Vec<String>) {
        let program_path = format!("{path}.program");
        if !self.letter.is_ascii_graphic() {
            report.at(
                &format!("{path}.letter"),
                format!("{:?} cannot be drawn in one cell", self.letter),
                "use a printable ASCII character such as 'w'",
            );
        }
        let Flattened { ops, places } = flatten(&self.program, &program_path, names, report);
        if ops.contains(&Op::Done) && self.unit.as_deref().unwrap_or("").is_empty() {
            report.at(
                path,
                format!("class `{}` counts `done` of nothing", self.name),
                "add `unit: \"requests\"` or what one `done` stands for",
            );
        }
        if let Some(unit) = &self.unit {
            report.plain_text(&format!("{path}.unit"), unit);
        }
        if self.external {
            super::program::check_external(&self.program, &program_path, report);
        }
        let class = Class {
            name: self.name.clone(),
            letter: self.letter,
            count: count(report, &format!("{path}.count"), self.count),
            share_permille: share(report, &format!("{path}.share"), self.share),
            intensity_pct: intensity(report, &format!("{path}.intensity"), self.intensity),
            nice: self.nice(path, report),
            policy: match self.policy {
                PolicyFile::Normal => Policy::Normal,
                PolicyFile::Batch => Policy::Batch,
                PolicyFile::Idle => Policy::Idle,
                PolicyFile::Fifo => Policy::Fifo,
            },
            slice: self.slice(path, report),
            group: self.group(path, names, report),
            kthread: self.kthread,
            affinity: self.affinity(path, report),
            external: self.external,
            footprint_kib: self.footprint_kib,
            unit: self.unit.clone().unwrap_or_default(),
            program: ops,
        };
        (class, places)
    }

    fn nice(&self, path: &str, report: &mut Report) -> i8 {
        match i8::try_from(self.nice) {
            Ok(nice) if (-20..=19).contains(&nice) => nice,
            _ => {
                report.at(
                    &format!("{path}.nice"),
                    format!("{} is no nice value", self.nice),
                    "allowed: -20 to 19",
                );
                0
            }
        }
    }

    /// A slice as `sched_setattr()` takes it.
    fn slice(&self, path: &str, report: &mut Report) -> Option<Ns> {
        let slice = self.slice?.0;
        if !(SHORTEST_SLICE..=LONGEST_SLICE).contains(&slice) {
            report.at(
                &format!("{path}.slice"),
                format!("{} is no slice", format_time(slice)),
                format!(
                    "allowed: {} to {}",
                    format_time(SHORTEST_SLICE),
                    format_time(LONGEST_SLICE)
                ),
            );
        }
        Some(slice)
    }

    /// The control group; a SCHED_FIFO task competes in none.
    fn group(&self, path: &str, names: &Names, report: &mut Report) -> CgroupId {
        let Some(name) = &self.group else {
            return ROOT;
        };
        let path = format!("{path}.group");
        if matches!(self.policy, PolicyFile::Fifo) {
            report.at(
                &path,
                format!("class `{}` is SCHED_FIFO and shares no CPU time", self.name),
                "remove the group",
            );
        }
        let found = find(report, &path, "group", name, &names.groups);
        found.map_or(ROOT, |index| index as CgroupId + 1)
    }

    fn affinity(&self, path: &str, report: &mut Report) -> Affinity {
        match &self.affinity {
            AffinityFile::All => Affinity::All,
            AffinityFile::OnePerCpu => Affinity::OnePerCpu,
            AffinityFile::PerLlc => Affinity::PerLlc,
            AffinityFile::Cpus(list) => Affinity::Cpus(cpulist(list).unwrap_or_else(|what| {
                report.at(
                    &format!("{path}.affinity[0]"),
                    what,
                    "give a list such as \"0-3,8\"",
                );
                Vec::new()
            })),
        }
    }
}

/// A class size: 0 to [`MAX_TASKS`].
pub(in crate::scenario) fn count(report: &mut Report, path: &str, count: i64) -> u32 {
    match u32::try_from(count) {
        Ok(count) if count <= MAX_TASKS => count,
        _ => {
            report.at(
                path,
                format!("{count} is no number of tasks"),
                format!("allowed: 0 to {MAX_TASKS}"),
            );
            0
        }
    }
}

/// A share in thousandths.
pub(in crate::scenario) fn share(report: &mut Report, path: &str, share: f64) -> u32 {
    if !(0.0..=1.0).contains(&share) {
        report.at(
            path,
            format!("{share} is no share"),
            "allowed: 0.0 (nobody) to 1.0 (all)",
        );
        return 0;
    }
    (share * 1000.0).round() as u32
}

/// A rate in percent.
pub(in crate::scenario) fn intensity(report: &mut Report, path: &str, rate: f64) -> u32 {
    if !INTENSITY.contains(&rate) {
        report.at(
            path,
            format!("{rate} is no intensity"),
            format!(
                "allowed: {} to {} (1.0 = as written)",
                INTENSITY.start(),
                INTENSITY.end()
            ),
        );
        return 100;
    }
    (rate * 100.0).round() as u32
}

/// Reads the kernel's list form of CPU numbers.
fn cpulist(text: &str) -> Result<Vec<u32>, String> {
    let number = |text: &str| match text.trim().parse::<u32>() {
        Ok(cpu) if cpu < MAX_CPU => Ok(cpu),
        _ => Err(format!("`{}` is no CPU number", text.trim())),
    };
    let mut cpus = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(format!("`{}` runs backwards", range.trim()));
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_cpu_lists() {
        assert_eq!(cpulist("0-2, 8"), Ok(vec![0, 1, 2, 8]));
        assert_eq!(cpulist("3-1"), Err("`3-1` runs backwards".into()));
        assert_eq!(cpulist(""), Err("`` is no CPU number".into()));
        assert!(cpulist("0-99999999").is_err());
    }
}
