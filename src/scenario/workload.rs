//! Workload files: a mix of task classes and the programs they run.
//!
//! The types here mirror the file; [`parse`] turns them into the engine's
//! [`Workload`] and reports everything that makes no sense.
//!
//! ```ron
//! (
//!   format: 1,
//!   id: "ping",
//!   title: "A client and its server",
//!   queues: [(name: "requests")],
//!   classes: [
//!     (name: "client", letter: 'c', count: 4, unit: "replies", program: [
//!       loop([wake("requests"), await_reply, done, sleep(exp("1ms"))]),
//!     ]),
//!     (name: "server", letter: 's', count: 2, program: [
//!       loop([wait("requests"), run(time: uniform("5us", "15us")), reply]),
//!     ]),
//!   ],
//! )
//! ```

mod classes;
mod flow;
mod groups;
mod program;
#[cfg(test)]
mod tests;

pub(super) use classes::{count, intensity, share};

use serde::Deserialize;

use super::problem::{Problems, Report, from_ron, suggest};
use super::units::{Time, format_time};
use crate::sim::Ns;
use crate::sim::time::{MS, SEC};
use crate::sim::workload::{Queue, Team, Workload};

/// Version of the form this program reads.
pub const FORMAT: u32 = 1;
/// Most tasks of one class, and of a whole workload: beyond it a run would
/// fill the memory with queues and not show more.
pub const MAX_TASKS: u32 = 100_000;
/// Longest single duration in a program.
const LONGEST: Ns = 3_600 * SEC;
/// Longest spin at a barrier.
const LONGEST_SPIN: Ns = 1_000 * MS;

/// The embedded workloads: id and text.
pub const EMBEDDED: [(&str, &str); 3] = [
    (
        "easywave",
        include_str!("../../assets/workloads/easywave.ron"),
    ),
    (
        "schbench-storm",
        include_str!("../../assets/workloads/schbench-storm.ron"),
    ),
    (
        "memcached",
        include_str!("../../assets/workloads/memcached.ron"),
    ),
];

/// Text of the embedded workload of this id.
pub fn embedded(id: &str) -> Option<&'static str> {
    let found = EMBEDDED.iter().find(|(name, _)| *name == id);
    found.map(|&(_, text)| text)
}

/// A workload file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "workload")]
struct File {
    format: u32,
    id: String,
    title: String,
    #[serde(default)]
    queues: Vec<QueueFile>,
    #[serde(default)]
    teams: Vec<TeamFile>,
    #[serde(default)]
    groups: Vec<groups::GroupFile>,
    classes: Vec<classes::ClassFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueFile {
    name: String,
    /// Class with one instance per task.
    per: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TeamFile {
    name: String,
    spin: Time,
}

/// Reads a workload; `source` names the text in problems.
///
/// # Errors
///
/// What the RON reader stumbled over, or everything that makes no sense.
pub fn parse(source: &str, text: &str) -> Result<Workload, Problems> {
    let file: File = from_ron(source, text)?;
    let mut report = Report::new(source, text);
    let workload = file.workload(&mut report);
    report.finish(workload)
}

impl File {
    fn workload(&self, report: &mut Report) -> Workload {
        if self.format != FORMAT {
            report.at(
                "format",
                format!("format {} is unknown", self.format),
                format!("this version reads format {FORMAT}"),
            );
        }
        name(report, "id", "a workload id", &self.id);
        report.plain_text("title", &self.title);
        if self.classes.is_empty() {
            report.at("classes", "there is no class", "add at least one");
        }
        self.check_names(report);
        let queues = self.queues(report);
        let teams = self.teams(report);
        let groups = self.groups(report);
        let (classes, places) = self.classes(report);
        let workload = Workload {
            id: self.id.clone(),
            title: self.title.clone(),
            groups,
            classes,
            queues,
            teams,
        };
        // A name that resolves to nothing would only bring follow-up errors.
        if report.is_clean() {
            flow::check(&workload, &places, report);
        }
        workload
    }

    fn check_names(&self, report: &mut Report) {
        let lists = [
            ("queues", names(&self.queues, |queue| &queue.name)),
            ("teams", names(&self.teams, |team| &team.name)),
            ("groups", names(&self.groups, |group| &group.name)),
            ("classes", names(&self.classes, |class| &class.name)),
        ];
        for (list, names) in lists {
            for (index, this) in names.iter().enumerate() {
                let path = format!("{list}[{index}].name");
                name(report, &path, "a name", this);
                if names[..index].contains(this) {
                    report.at(
                        &path,
                        format!("`{this}` is already the name of another of the {list}"),
                        "give each its own name",
                    );
                }
            }
        }
    }

    fn queues(&self, report: &mut Report) -> Vec<Queue> {
        let mut queues = Vec::new();
        for (index, queue) in self.queues.iter().enumerate() {
            let path = format!("queues[{index}].per");
            let per = queue.per.as_ref().and_then(|per| {
                let classes = names(&self.classes, |class| &class.name);
                find(report, &path, "class", per, &classes)
            });
            queues.push(Queue {
                name: queue.name.clone(),
                per,
            });
        }
        queues
    }

    fn teams(&self, report: &mut Report) -> Vec<Team> {
        let mut teams = Vec::new();
        for (index, team) in self.teams.iter().enumerate() {
            let path = format!("teams[{index}].spin");
            at_most(report, &path, team.spin.0, LONGEST_SPIN);
            teams.push(Team {
                name: team.name.clone(),
                spin: team.spin.0,
            });
        }
        teams
    }
}

fn names<T>(list: &[T], name: impl Fn(&T) -> &String) -> Vec<&str> {
    list.iter().map(|item| name(item).as_str()).collect()
}

/// Index of the thing called `wanted`, or a problem with the nearest name.
fn find(
    report: &mut Report,
    path: &str,
    kind: &str,
    wanted: &str,
    names: &[&str],
) -> Option<usize> {
    let found = names.iter().position(|name| *name == wanted);
    if found.is_none() {
        report.at(
            path,
            format!("there is no {kind} called `{wanted}`"),
            suggest(wanted, names.iter().copied()),
        );
    }
    found
}

/// Names are used in commands, results and messages, so they hold no blanks.
fn name(report: &mut Report, path: &str, what: &str, name: &str) {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 32 || !name.chars().all(fits) {
        report.at(
            path,
            format!("`{name}` is not {what}"),
            "use 1 to 32 letters, digits, `-`, `_` or `.`",
        );
    }
}

fn at_most(report: &mut Report, path: &str, time: Ns, limit: Ns) {
    if time > limit {
        report.at(
            path,
            format!("{} is too long", format_time(time)),
            format!("give at most {}", format_time(limit)),
        );
    }
}
