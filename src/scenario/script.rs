//! Scenario files: a machine, a mix of tasks, a policy, and what changes when.
//!
//! ```ron
//! (
//!   format: 1,
//!   name: "two-policies",
//!   about: "The dice first, then the plain cost gate",
//!   topology: "tr-9960x",
//!   workload: "easywave",
//!   kernel: "6.19-ni-random",
//!   policy: (base: "ni-rate", rate_shift: 23),
//!   fork: "random",
//!   features: ["NO_SIS_UTIL"],
//!   seed: 1,
//!   duration: "4s",
//!   history: (windows: 10, calls_per_second: 50, success: 0.02),
//!   mix: [(class: "daemon", count: 48)],
//!   timeline: [
//!     (at: "2s", set: policy("plain")),
//!     (at: "2500ms", set: kernel("7.1-ni-rate")),
//!     (at: "2600ms", set: feature("NO_RUN_TO_PARITY")),
//!     (at: "2700ms", set: rules(wakeup: "sis-node")),
//!     (at: "3s", set: mix(class: "daemon", share: 0.5)),
//!     (at: "3.5s", set: param((cost_gate: false))),
//!   ],
//! )
//! ```

use std::sync::Arc;

use serde::Deserialize;

use super::policy::{Fields, PolicyFile, named};
use super::problem::{Problem, Problems, Report, from_ron, suggest};
use super::rules::{self, Asked};
use super::units::{Time, format_time};
use super::workload::{count, intensity, share};
use crate::session::{Change, NamedPolicy, NamedRules, Setup};
use crate::sim::gate::History;
use crate::sim::time::SEC;
use crate::sim::workload::{Affinity, Workload};
use crate::sim::{Ns, Topology};

/// Version of the form this program reads.
pub const FORMAT: u32 = 1;
/// Longest run: beyond it counters and charts have no meaning any more.
pub const LONGEST_RUN: Ns = 3_600 * SEC;

/// Most windows of a history: every policy has settled long before.
const MOST_WINDOWS: u32 = 100;

/// A scenario: what to run and for how long.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Short name.
    pub name: String,
    /// What to look for, in one line.
    pub about: String,
    /// Simulated time to run.
    pub duration: Ns,
    /// What to run.
    pub setup: Setup,
}

/// Where a scenario's machines and workloads come from. Reading files is the
/// caller's work.
pub trait Library {
    /// The machine called `name`: a built-in one, `host`, or a file's path.
    ///
    /// # Errors
    ///
    /// What is wrong and how to mend it, or the problems of the file.
    fn topology(&self, name: &str) -> Result<Arc<Topology>, Missing>;
    /// The workload called `name`: a built-in one, or a file's path.
    ///
    /// # Errors
    ///
    /// As with [`Library::topology`].
    fn workload(&self, name: &str) -> Result<Arc<Workload>, Missing>;
}

/// What a caller asks for instead of what the file says.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Another policy at the start.
    pub policy: Option<NamedPolicy>,
    /// Other rules at the start; a kernel's policy comes before the file's.
    pub rules: Asked,
    /// Another seed.
    pub seed: Option<u64>,
    /// Another duration.
    pub duration: Option<Ns>,
}

/// Why something named in a scenario could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There is no such thing: what is wrong, and how to mend it.
    Unknown(String, String),
    /// It was found, and has problems of its own.
    Broken(Problems),
}

/// The embedded scenarios: name and text.
pub const EMBEDDED: [(&str, &str); 5] = [
    (
        "easywave-threadripper",
        include_str!("../../scenarios/easywave-threadripper.ron"),
    ),
    (
        "schbench-storm-threadripper",
        include_str!("../../scenarios/schbench-storm-threadripper.ron"),
    ),
    (
        "memcached-2ccd",
        include_str!("../../scenarios/memcached-2ccd.ron"),
    ),
    (
        "memcached-xeon",
        include_str!("../../scenarios/memcached-xeon.ron"),
    ),
    (
        "kernels-in-a-storm",
        include_str!("../../scenarios/kernels-in-a-storm.ron"),
    ),
];

/// Text of the embedded scenario of this name.
pub fn embedded(name: &str) -> Option<&'static str> {
    let found = EMBEDDED.iter().find(|(known, _)| *known == name);
    found.map(|&(_, text)| text)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "scenario")]
struct File {
    format: u32,
    name: String,
    #[serde(default)]
    about: String,
    topology: String,
    workload: String,
    kernel: Option<String>,
    policy: Option<PolicyFile>,
    pick: Option<String>,
    wakeup: Option<String>,
    fork: Option<String>,
    sched_idle: Option<String>,
    balance: Option<String>,
    avg_idle: Option<String>,
    #[serde(default)]
    features: Vec<String>,
    #[serde(default = "one")]
    seed: u64,
    duration: Time,
    history: Option<HistoryFile>,
    #[serde(default)]
    mix: Vec<MixFile>,
    #[serde(default)]
    timeline: Vec<EntryFile>,
}

/// What the machine did before the run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryFile {
    windows: u32,
    calls_per_second: u32,
    success: f64,
}

/// Another size or rate of one class.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MixFile {
    class: String,
    count: Option<i64>,
    share: Option<f64>,
    intensity: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryFile {
    at: Time,
    set: ChangeFile,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum ChangeFile {
    Policy(PolicyFile),
    Mix {
        class: String,
        count: Option<i64>,
        share: Option<f64>,
        intensity: Option<f64>,
    },
    Param(Fields),
    Kernel(String),
    Feature(String),
    Features(Vec<String>),
    Rules {
        pick: Option<String>,
        wakeup: Option<String>,
        fork: Option<String>,
        sched_idle: Option<String>,
        balance: Option<String>,
        avg_idle: Option<String>,
    },
}

fn plain() -> NamedPolicy {
    named("plain").expect("plain is a preset")
}

fn one() -> u64 {
    1
}

/// Reads a scenario; `source` names the text in problems.
///
/// # Errors
///
/// What the RON reader stumbled over, or everything that makes no sense.
pub fn parse(
    source: &str,
    text: &str,
    library: &dyn Library,
    overrides: &Overrides,
) -> Result<Scenario, Problems> {
    let file: File = from_ron(source, text)?;
    let mut report = Report::new(source, text);
    match file.scenario(library, overrides, &mut report) {
        Some(scenario) => report.finish(scenario),
        // Something was missing, so something was reported.
        None => Err(report.finish(()).err().unwrap_or_default()),
    }
}

/// Whether every class has a CPU it may use on this machine.
///
/// # Errors
///
/// The class, and which CPUs there are.
pub fn fits(workload: &Workload, topology: &Topology) -> Result<(), (String, String)> {
    let online = || topology.cpus.iter().filter(|cpu| cpu.online);
    for class in &workload.classes {
        let Affinity::Cpus(cpus) = &class.affinity else {
            continue;
        };
        if !online().any(|cpu| cpus.contains(&cpu.os_id)) {
            let what = format!(
                "class `{}` of {} may use no online CPU of {}",
                class.name, workload.id, topology.id
            );
            let ids = crate::sim::cpumask::format_cpulist(online().map(|cpu| cpu.os_id));
            return Err((what, format!("that machine has CPUs {ids}")));
        }
    }
    Ok(())
}

impl File {
    fn scenario(
        &self,
        library: &dyn Library,
        overrides: &Overrides,
        report: &mut Report,
    ) -> Option<Scenario> {
        self.check(report);
        let topology = obtained(report, "topology", library.topology(&self.topology));
        let workload = obtained(report, "workload", library.workload(&self.workload));
        let (policy, rules) = self.rules(overrides, report);
        let workload = workload.map(|workload| Arc::new(self.mixed(&workload, report)));
        let timeline = match &workload {
            // Also behind a broken policy the changes are looked at.
            Some(workload) => {
                let first = policy.clone().unwrap_or_else(plain);
                self.timeline(workload, (first, rules.clone()), report)
            }
            None => Vec::new(),
        };
        let (topology, workload, policy) = (topology?, workload?, policy?);
        if let Err((what, remedy)) = fits(&workload, &topology) {
            report.at("workload", what, remedy);
        }
        Some(Scenario {
            name: self.name.clone(),
            about: self.about.clone(),
            duration: overrides.duration.unwrap_or(self.duration.0),
            setup: Setup {
                topology,
                workload,
                policy,
                rules,
                history: self.history.as_ref().map(|history| history.resolve(report)),
                seed: overrides.seed.unwrap_or(self.seed),
                timeline,
            },
        })
    }

    /// The policy and the other rules at the start.
    fn rules(
        &self,
        overrides: &Overrides,
        report: &mut Report,
    ) -> (Option<NamedPolicy>, NamedRules) {
        let own = self.kernel.as_ref().and_then(|name| {
            let kernel = rules::kernel(name);
            kernel
                .map_err(|(what, remedy)| report.at("kernel", what, remedy))
                .ok()
        });
        let policy = self
            .policy
            .as_ref()
            .map(|file| file.resolve("policy", report));
        if self.policy.is_none() && self.kernel.is_none() {
            report.at(
                "",
                "neither a policy nor a kernel is named",
                "add policy: \"ni-random\", or kernel: \"6.12\" for a whole kernel's rules",
            );
        }
        let policy = match policy {
            Some(policy) => policy,
            None => own.map(rules::policy_of),
        };
        let asked = &overrides.rules;
        let named = own.map_or_else(NamedRules::default, NamedRules::of);
        let parts = [
            ("pick", &self.pick),
            ("wakeup", &self.wakeup),
            ("fork", &self.fork),
            ("sched_idle", &self.sched_idle),
            ("balance", &self.balance),
            ("avg_idle", &self.avg_idle),
        ];
        let named = with_parts(&named, parts, "", report);
        let features: Vec<&str> = self.features.iter().map(String::as_str).collect();
        let named = with_features(&named, &features, "features", report);
        let policy = asked.kernel.map(rules::policy_of).or(policy);
        let policy = overrides.policy.clone().or(policy);
        (policy, asked.on(&named, report))
    }

    fn check(&self, report: &mut Report) {
        if self.format != FORMAT {
            report.at(
                "format",
                format!("format {} is unknown", self.format),
                format!("this version reads format {FORMAT}"),
            );
        }
        if !(1..=64).contains(&self.name.len()) || self.name.contains(char::is_whitespace) {
            report.at(
                "name",
                format!("`{}` is not a name", self.name),
                "use 1 to 64 letters and dashes, such as \"storm-on-two-ccd\"",
            );
        }
        report.plain_text("name", &self.name);
        report.plain_text("about", &self.about);
        let duration = self.duration.0;
        if duration == 0 || duration > LONGEST_RUN {
            report.at(
                "duration",
                format!("{} is no duration to run", self.duration),
                format!("allowed: above 0s to {}", format_time(LONGEST_RUN)),
            );
        }
    }

    /// The workload with this scenario's counts and rates.
    fn mixed(&self, workload: &Workload, report: &mut Report) -> Workload {
        let mut mixed = workload.clone();
        for (index, mix) in self.mix.iter().enumerate() {
            let path = format!("mix[{index}]");
            if self.mix[..index]
                .iter()
                .any(|other| other.class == mix.class)
            {
                report.at(
                    &format!("{path}.class"),
                    format!("`{}` is already in the mix", mix.class),
                    "name each class once",
                );
            }
            let Some(Change::Mix {
                class,
                count,
                share_permille,
                intensity_pct,
            }) = mix.resolve(workload, &path, report)
            else {
                continue;
            };
            let class = &mut mixed.classes[class];
            class.count = count.unwrap_or(class.count);
            class.share_permille = share_permille.unwrap_or(class.share_permille);
            class.intensity_pct = intensity_pct.unwrap_or(class.intensity_pct);
        }
        mixed
    }

    /// The changes, ascending by time. A `param` changes the policy that is in
    /// force then, a `feature` the rules.
    fn timeline(
        &self,
        workload: &Workload,
        (mut policy, mut rules): (NamedPolicy, NamedRules),
        report: &mut Report,
    ) -> Vec<(Ns, Change)> {
        let mut order: Vec<_> = self.timeline.iter().enumerate().collect();
        order.sort_by_key(|(_, entry)| entry.at);
        let mut timeline = Vec::new();
        for (index, entry) in order {
            if entry.at > self.duration {
                report.at(
                    &format!("timeline[{index}].at"),
                    format!("{} is behind the end of the run", entry.at),
                    format!("give a time up to the duration, {}", self.duration),
                );
            }
            let path = format!("timeline[{index}].set");
            for change in entry
                .set
                .resolve((&policy, &rules), workload, &path, report)
            {
                match &change {
                    Change::Policy(next) => policy = next.clone(),
                    Change::Rules(next) => rules = next.clone(),
                    Change::Mix { .. } => {}
                }
                timeline.push((entry.at.0, change));
            }
        }
        timeline
    }
}

impl ChangeFile {
    /// What it changes, under this policy and these rules.
    fn resolve(
        &self,
        (policy, rules): (&NamedPolicy, &NamedRules),
        workload: &Workload,
        path: &str,
        report: &mut Report,
    ) -> Vec<Change> {
        let inner = format!("{path}[0]");
        let one = match self {
            Self::Policy(file) => file.resolve(&inner, report).map(Change::Policy),
            Self::Param(fields) => fields.change(policy, &inner, report).map(Change::Policy),
            Self::Kernel(name) => match rules::kernel(name) {
                Ok(kernel) => {
                    return vec![
                        Change::Policy(rules::policy_of(kernel)),
                        Change::Rules(NamedRules::of(kernel)),
                    ];
                }
                Err((what, remedy)) => {
                    report.at(&inner, what, remedy);
                    None
                }
            },
            Self::Feature(name) => {
                let named = with_feature(rules, name, &inner, report);
                Some(Change::Rules(named))
            }
            Self::Features(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                Some(Change::Rules(with_features(rules, &names, &inner, report)))
            }
            Self::Rules {
                pick,
                wakeup,
                fork,
                sched_idle,
                balance,
                avg_idle,
            } => {
                let parts = [
                    ("pick", pick),
                    ("wakeup", wakeup),
                    ("fork", fork),
                    ("sched_idle", sched_idle),
                    ("balance", balance),
                    ("avg_idle", avg_idle),
                ];
                let dot = format!("{path}.");
                Some(Change::Rules(with_parts(rules, parts, &dot, report)))
            }
            Self::Mix {
                class,
                count,
                share,
                intensity,
            } => MixFile {
                class: class.clone(),
                count: *count,
                share: *share,
                intensity: *intensity,
            }
            .resolve(workload, path, report),
        };
        one.into_iter().collect()
    }
}

/// `named` with these rules; `prefix` leads to their fields.
fn with_parts(
    named: &NamedRules,
    parts: [(&str, &Option<String>); 6],
    prefix: &str,
    report: &mut Report,
) -> NamedRules {
    let mut changed = named.rules;
    for (part, name) in parts {
        let Some(name) = name else { continue };
        if let Err((what, remedy)) = rules::set_part(&mut changed, part, name) {
            report.at(&format!("{prefix}{part}"), what, remedy);
        }
    }
    named.changed(changed)
}

fn with_feature(named: &NamedRules, name: &str, path: &str, report: &mut Report) -> NamedRules {
    let mut changed = named.rules;
    if let Err((what, remedy)) = rules::set_feature(&mut changed, name) {
        report.at(path, what, remedy);
    }
    named.changed(changed)
}

fn with_features(
    named: &NamedRules,
    names: &[&str],
    path: &str,
    report: &mut Report,
) -> NamedRules {
    let mut changed = named.clone();
    for (index, name) in names.iter().enumerate() {
        changed = with_feature(&changed, name, &format!("{path}[{index}]"), report);
    }
    changed
}

impl Asked {
    /// `named` with what is asked for on top; problems go by the argument.
    fn on(&self, named: &NamedRules, report: &mut Report) -> NamedRules {
        let named = self.kernel.map_or_else(|| named.clone(), NamedRules::of);
        let mut changed = named.rules;
        let mut refuse = |source: &str, (what, remedy)| {
            report.extend(Problems::from(Problem {
                source: source.into(),
                at: None,
                what,
                remedy,
            }));
        };
        for (part, name) in &self.parts {
            if let Err(refused) = rules::set_part(&mut changed, part, name) {
                refuse("--rule", refused);
            }
        }
        for name in &self.features {
            if let Err(refused) = rules::set_feature(&mut changed, name) {
                refuse("--feature", refused);
            }
        }
        named.changed(changed)
    }
}

impl HistoryFile {
    fn resolve(&self, report: &mut Report) -> History {
        if self.windows > MOST_WINDOWS {
            report.at(
                "history.windows",
                format!("{} windows of 512 calls take long to play", self.windows),
                format!("allowed: 0 to {MOST_WINDOWS}; 10 settle every policy"),
            );
        }
        if !(1..=1_000_000).contains(&self.calls_per_second) {
            report.at(
                "history.calls_per_second",
                format!("{} calls per second", self.calls_per_second),
                "allowed: 1 to 1000000 calls of one domain of one CPU",
            );
        }
        History {
            windows: self.windows.min(MOST_WINDOWS),
            calls_per_second: self.calls_per_second,
            success_permille: share(report, "history.success", self.success),
        }
    }
}

impl MixFile {
    fn resolve(&self, workload: &Workload, path: &str, report: &mut Report) -> Option<Change> {
        let names = || workload.classes.iter().map(|class| class.name.as_str());
        let class = names().position(|name| name == self.class);
        if class.is_none() {
            report.at(
                &format!("{path}.class"),
                format!("{} has no class `{}`", workload.id, self.class),
                suggest(&self.class, names()),
            );
        }
        let change = Change::Mix {
            class: class.unwrap_or_default(),
            count: (self.count).map(|value| count(report, &format!("{path}.count"), value)),
            share_permille: (self.share)
                .map(|value| share(report, &format!("{path}.share"), value)),
            intensity_pct: (self.intensity)
                .map(|value| intensity(report, &format!("{path}.intensity"), value)),
        };
        if self.count.is_none() && self.share.is_none() && self.intensity.is_none() {
            report.at(
                path,
                format!("the mix of `{}` changes nothing", self.class),
                "give a count, a share or an intensity",
            );
        }
        class.map(|_| change)
    }
}

/// What a library gave, or a report of why it did not.
fn obtained<T>(report: &mut Report, path: &str, result: Result<T, Missing>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Missing::Unknown(what, remedy)) => {
            report.at(path, what, remedy);
            None
        }
        Err(Missing::Broken(problems)) => {
            report.extend(problems);
            None
        }
    }
}

#[cfg(test)]
mod tests;
