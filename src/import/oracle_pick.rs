//! Golden vectors of the fair class: single sums, and cases played on one CPU,
//! replayed through the product's own picking code
//! (`placement-and-pick.md` 9).
//!
//! A case is a set of tasks with scripts (run, sleep, yield, loop) and the trace
//! of every decision they led to. The first record of a case that differs is
//! reported with all its fields; later ones follow from it and are not.

mod replay;
mod vectors;
mod verify;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::scenario::locate::Position;
use crate::scenario::problem::{Problem, suggest};
use crate::sim::Ns;
use crate::sim::fair::FairFeatures;

pub use verify::{Mismatch, Outcome, verify};

/// Ends messages about the structure.
const REMEDY: &str = "correct the JSON here or just before; the form is that of the pick vectors";

/// Times beyond this (13 days) are refused: sums of them must not overflow.
const LONGEST_NS: Ns = 1 << 50;

/// A vector file.
#[derive(Debug, Deserialize)]
pub struct VectorFile {
    unit_vectors: Option<vectors::UnitVectors>,
    #[serde(default)]
    cases: Vec<Case>,
}

/// Tasks on one CPU and what came of them.
#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    config: Config,
    tasks: Vec<Task>,
    until_ns: Ns,
    #[serde(default)]
    pick_sequence: Vec<String>,
    #[serde(default)]
    summary: BTreeMap<String, Summary>,
    #[serde(default)]
    trace: Vec<Record>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Variant {
    #[serde(rename = "v6_12")]
    V612,
    #[serde(rename = "mainline")]
    Mainline,
    #[serde(rename = "cfs6_1")]
    Cfs61,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    variant: Variant,
    tick_ns: Ns,
    tunable_factor: u64,
    migration_cost_ns: Option<Ns>,
    base_slice_ns: Option<Ns>,
    base_slice_unscaled_ns: Option<Ns>,
    sched_latency_ns: Option<Ns>,
    min_granularity_ns: Option<Ns>,
    wakeup_granularity_ns: Option<Ns>,
    idle_min_granularity_ns: Option<Ns>,
    #[serde(default)]
    features: BTreeMap<String, bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TaskPolicy {
    #[default]
    Normal,
    Batch,
    Idle,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    name: String,
    #[serde(default)]
    nice: i8,
    #[serde(default)]
    policy: TaskPolicy,
    slice_ns: Option<Ns>,
    #[serde(default)]
    start_ns: Ns,
    #[serde(default)]
    wake_sync: bool,
    script: Vec<Step>,
}

/// A step is written as `["run", 1000]` or `["loop"]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<serde_json::Value>")]
enum Step {
    Run(Ns),
    Sleep(Ns),
    Yield,
    Loop,
}

impl TryFrom<Vec<serde_json::Value>> for Step {
    type Error = String;

    fn try_from(words: Vec<serde_json::Value>) -> Result<Self, String> {
        let word = words.first().and_then(|word| word.as_str());
        let time = words.get(1).and_then(serde_json::Value::as_u64);
        match (word, time, words.len()) {
            (Some("run"), Some(ns), 2) => Ok(Self::Run(ns)),
            (Some("sleep"), Some(ns), 2) => Ok(Self::Sleep(ns)),
            (Some("yield"), None, 1) => Ok(Self::Yield),
            (Some("loop"), None, 1) => Ok(Self::Loop),
            _ => Err(format!(
                "`{}` is no step; allowed: [\"run\", ns], [\"sleep\", ns], [\"yield\"], [\"loop\"]",
                serde_json::Value::Array(words)
            )),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Summary {
    exec: u64,
    v: i64,
}

/// One decision: who ran, who runs, and the state just after.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    t: Ns,
    kind: String,
    why: String,
    prev: String,
    next: String,
    #[serde(rename = "V")]
    v: Option<i64>,
    min_vruntime: Option<i64>,
    tasks: BTreeMap<String, TaskState>,
}

/// A task in a record; the last three only under EEVDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskState {
    on_rq: bool,
    v: i64,
    exec: u64,
    deadline: Option<i64>,
    delayed: Option<bool>,
    lag: Option<i64>,
}

/// Reads a vector file; `source` names it in problems.
pub fn parse(source: &str, text: &str) -> Result<VectorFile, Problem> {
    let file: VectorFile = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        // The reader ends its message with the place, which is told apart.
        let what = message
            .rsplit_once(" at line ")
            .map_or(message.as_str(), |(what, _)| what);
        Problem {
            source: source.into(),
            at: Some(Position {
                line: error.line().max(1),
                column: error.column().max(1),
            }),
            what: what.into(),
            remedy: REMEDY.into(),
        }
    })?;
    if file.unit_vectors.is_none() && file.cases.is_empty() {
        return Err(Problem {
            source: source.into(),
            at: None,
            what: "holds neither `unit_vectors` nor `cases`".into(),
            remedy: "give a file of pick vectors".into(),
        });
    }
    for case in &file.cases {
        case.check().map_err(|(what, remedy)| Problem {
            source: source.into(),
            at: place_of(text, &case.name),
            what: format!("case {}: {what}", case.name),
            remedy,
        })?;
    }
    Ok(file)
}

/// Where a case's name stands in the text.
fn place_of(text: &str, name: &str) -> Option<Position> {
    let quoted = serde_json::to_string(name).ok()?;
    let before = &text[..text.find(&quoted)?];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Some(Position {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    })
}

type Fault = (String, String);

impl Case {
    fn check(&self) -> Result<(), Fault> {
        let config = &self.config;
        if config.tick_ns == 0 || config.tick_ns > LONGEST_NS {
            let what = format!("a tick of {} ns", config.tick_ns);
            return Err((what, "give tick_ns between 1 and 2^50".into()));
        }
        if self.until_ns > LONGEST_NS || config.tunable_factor > 64 {
            let what = "`until_ns` or `tunable_factor` is out of range".into();
            return Err((
                what,
                "give at most 2^50 ns and a factor of at most 64".into(),
            ));
        }
        for name in config.features.keys() {
            if FairFeatures::default().by_name(name).is_none() {
                let remedy = suggest(name, FairFeatures::NAMES);
                return Err((format!("unknown feature `{name}`"), remedy));
            }
        }
        for (index, task) in self.tasks.iter().enumerate() {
            if self.tasks[..index].iter().any(|t| t.name == task.name) || task.name == "idle" {
                let what = format!("the task name `{}` is taken", task.name);
                return Err((what, "give every task a name of its own".into()));
            }
            task.check()?;
        }
        Ok(())
    }
}

impl Task {
    fn check(&self) -> Result<(), Fault> {
        let task = &self.name;
        if !(-20..=19).contains(&self.nice) {
            let what = format!("task {task} has nice {}", self.nice);
            return Err((what, "give a nice value from -20 to 19".into()));
        }
        let longest = self.script.iter().map(|step| match step {
            Step::Run(ns) | Step::Sleep(ns) => *ns,
            Step::Yield | Step::Loop => 0,
        });
        let spans = longest.chain([self.start_ns, self.slice_ns.unwrap_or(0)]);
        if spans.max().unwrap_or(0) > LONGEST_NS {
            let what = format!("task {task} has a time beyond 2^50 ns");
            return Err((what, "give a shorter one".into()));
        }
        let looping = self.script.iter().position(|step| *step == Step::Loop);
        let body = &self.script[..looping.unwrap_or(0)];
        let takes_time = |step: &Step| matches!(step, Step::Run(1..) | Step::Sleep(1..));
        if looping.is_some() && !body.iter().any(takes_time) {
            let what = format!("task {task} loops without taking time");
            return Err((what, "let it run or sleep before the loop".into()));
        }
        Ok(())
    }
}
