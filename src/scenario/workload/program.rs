//! Programs of a workload file, and their flat form for the engine.

use serde::Deserialize;

use super::{LONGEST, at_most, find};
use crate::scenario::problem::Report;
use crate::scenario::units::Time;
use crate::sim::workload::{Dist, Growth, Op, TeamId, Work};

/// Most passes of a `repeat`, rounds of a growth.
const MAX_TIMES: u32 = 10_000_000;

/// A step of a program, as people write it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Step {
    /// Use the CPU.
    Run {
        time: Duration,
        /// Team over whose members the work is divided.
        split: Option<String>,
        growth: Option<GrowthFile>,
    },
    /// Sleep on a timer.
    Sleep(Duration),
    /// Take one token of a queue, sleeping until there is one.
    Wait(String),
    /// Take every token of a queue, sleeping until there is one.
    WaitAll(String),
    /// Put a token in a queue.
    Wake(String),
    /// Answer the senders of the tokens last taken.
    Reply,
    /// Sleep until the token last sent is answered.
    AwaitReply,
    /// Meet the other members of a team.
    Barrier(String),
    /// Start a task of a class.
    Fork(String),
    /// Give the rest of the slice away.
    Yield,
    /// Count one unit of throughput.
    Done,
    /// Leave the machine.
    Exit,
    /// For ever.
    Loop(Vec<Step>),
    /// So many times.
    Repeat(u32, Vec<Step>),
}

/// A duration of a step.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Duration {
    /// Always the same.
    #[serde(alias = "constant")]
    Const(Time),
    /// Equally likely from the first to the second.
    Uniform(Time, Time),
    /// Exponential with this mean.
    #[serde(alias = "exponential")]
    Exp(Time),
    /// Lognormal; sigma is that of the natural logarithm.
    #[serde(rename = "lognormal")]
    LogNormal { median: Time, sigma: f64 },
}

/// Work that grows from round to round.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrowthFile {
    /// Width at the first round, of 1.
    from: f64,
    /// Rounds until full width.
    rounds: u32,
    /// 1 linear, 2 quadratic.
    power: u32,
    /// Start over afterwards, or stay at full width.
    #[serde(default)]
    repeat: bool,
}

/// What the names in programs may refer to.
pub(super) struct Names<'a> {
    pub(super) queues: Vec<&'a str>,
    pub(super) teams: Vec<&'a str>,
    pub(super) classes: Vec<&'a str>,
    pub(super) groups: Vec<&'a str>,
}

/// A program in the engine's form.
pub(super) struct Flattened {
    pub(super) ops: Vec<Op>,
    /// Where in the file the step behind each op stands.
    pub(super) places: Vec<String>,
}

/// Turns nested steps into ops with jumps. Names that resolve to nothing are
/// reported and left out.
pub(super) fn flatten(steps: &[Step], path: &str, names: &Names, report: &mut Report) -> Flattened {
    let mut flat = Flat {
        ops: Vec::new(),
        places: Vec::new(),
        counters: 0,
        joined: Vec::new(),
        names,
        report,
    };
    flat.block(steps, path);
    // Falling off the end is leaving.
    if !matches!(
        flat.ops.last(),
        Some(Op::Exit | Op::Jump { times: None, .. })
    ) {
        flat.ops.push(Op::Exit);
        flat.places.push(path.into());
    }
    Flattened {
        ops: flat.ops,
        places: flat.places,
    }
}

struct Flat<'a, 'r> {
    ops: Vec<Op>,
    places: Vec<String>,
    counters: usize,
    /// Teams whose first barrier of the round is behind.
    joined: Vec<TeamId>,
    names: &'a Names<'a>,
    report: &'a mut Report<'r>,
}

impl Flat<'_, '_> {
    fn block(&mut self, steps: &[Step], path: &str) {
        if steps.is_empty() {
            self.report.at(
                path,
                "there is no step",
                "add one, such as run(time: const(\"1ms\"))",
            );
        }
        for (index, step) in steps.iter().enumerate() {
            let path = format!("{path}[{index}]");
            self.step(step, &path);
            let ends = matches!(step, Step::Loop(_) | Step::Exit);
            if ends && index + 1 < steps.len() {
                self.report.at(
                    &path,
                    "the steps behind this one are never reached",
                    "remove them, or use repeat(times, [...])",
                );
                return;
            }
        }
    }

    fn step(&mut self, step: &Step, path: &str) {
        let op = match step {
            Step::Run {
                time,
                split,
                growth,
            } => Some(Op::Run(self.work(path, time, split.as_deref(), growth))),
            Step::Sleep(time) => Some(Op::Sleep(self.dist(&format!("{path}[0]"), time))),
            Step::Wait(name) => self
                .queue(path, name)
                .map(|queue| Op::Wait { queue, all: false }),
            Step::WaitAll(name) => self
                .queue(path, name)
                .map(|queue| Op::Wait { queue, all: true }),
            Step::Wake(name) => self.queue(path, name).map(|queue| Op::Wake { queue }),
            Step::Reply => Some(Op::Reply),
            Step::AwaitReply => Some(Op::AwaitReply),
            Step::Barrier(name) => self.barrier(path, name),
            Step::Fork(name) => {
                let path = format!("{path}[0]");
                find(self.report, &path, "class", name, &self.names.classes)
                    .map(|class| Op::Fork { class })
            }
            Step::Yield => Some(Op::Yield),
            Step::Done => Some(Op::Done),
            Step::Exit => Some(Op::Exit),
            Step::Loop(body) => Some(self.repeated(body, &format!("{path}[0]"), None)),
            Step::Repeat(times, body) => {
                self.times(&format!("{path}[0]"), *times);
                Some(self.repeated(body, &format!("{path}[1]"), Some(*times)))
            }
        };
        if let Some(op) = op {
            self.ops.push(op);
            self.places.push(path.into());
        }
    }

    /// The body, and the jump back to its begin.
    fn repeated(&mut self, body: &[Step], path: &str, times: Option<u32>) -> Op {
        let to = self.ops.len();
        let counter = self.counters;
        self.counters += usize::from(times.is_some());
        self.block(body, path);
        Op::Jump { to, times, counter }
    }

    fn queue(&mut self, path: &str, name: &str) -> Option<usize> {
        let path = format!("{path}[0]");
        find(self.report, &path, "queue", name, &self.names.queues)
    }

    fn barrier(&mut self, path: &str, name: &str) -> Option<Op> {
        let path = format!("{path}[0]");
        let team = find(self.report, &path, "team", name, &self.names.teams)?;
        let join = !self.joined.contains(&team);
        self.joined.push(team);
        Some(Op::Barrier { team, join })
    }

    fn work(
        &mut self,
        path: &str,
        time: &Duration,
        split: Option<&str>,
        growth: &Option<GrowthFile>,
    ) -> Work {
        let split_path = format!("{path}.split");
        Work {
            time: self.dist(&format!("{path}.time"), time),
            growth: growth.as_ref().map(|growth| self.growth(path, growth)),
            split: split
                .and_then(|name| find(self.report, &split_path, "team", name, &self.names.teams)),
        }
    }

    fn growth(&mut self, path: &str, growth: &GrowthFile) -> Growth {
        if !(growth.from > 0.0 && growth.from <= 1.0) {
            self.report.at(
                &format!("{path}.growth.from"),
                format!("{} is no first width", growth.from),
                "allowed: above 0.0 to 1.0",
            );
        }
        self.times(&format!("{path}.growth.rounds"), growth.rounds);
        if !(1..=3).contains(&growth.power) {
            self.report.at(
                &format!("{path}.growth.power"),
                format!("{} is no power", growth.power),
                "allowed: 1 (linear) to 3",
            );
        }
        Growth {
            first_permille: (growth.from * 1000.0).round() as u32,
            rounds: growth.rounds,
            power: growth.power,
            repeat: growth.repeat,
        }
    }

    fn times(&mut self, path: &str, times: u32) {
        if !(1..=MAX_TIMES).contains(&times) {
            self.report.at(
                path,
                format!("{times} is no number of rounds"),
                format!("allowed: 1 to {MAX_TIMES}"),
            );
        }
    }

    fn dist(&mut self, path: &str, duration: &Duration) -> Dist {
        let longest = match duration {
            Duration::Const(time) | Duration::Exp(time) | Duration::Uniform(_, time) => time,
            Duration::LogNormal { median, .. } => median,
        };
        at_most(self.report, path, longest.0, LONGEST);
        match *duration {
            Duration::Const(time) => Dist::Const(time.0),
            Duration::Exp(time) => Dist::Exp(time.0),
            Duration::Uniform(low, high) => {
                if low > high {
                    self.report.at(
                        path,
                        format!("uniform from {low} to {high} runs backwards"),
                        "give the shorter time first",
                    );
                }
                Dist::Uniform(low.0, high.0)
            }
            Duration::LogNormal { median, sigma } => {
                if !(0.0..=4.0).contains(&sigma) {
                    self.report.at(
                        &format!("{path}.sigma"),
                        format!("{sigma} is no sigma"),
                        "allowed: 0.0 to 4.0",
                    );
                }
                Dist::LogNormal {
                    median: median.0,
                    sigma,
                }
            }
        }
    }
}

/// A client elsewhere sends requests and sleeps; it has no CPU here to run on.
pub(super) fn check_external(steps: &[Step], path: &str, report: &mut Report) {
    for (index, step) in steps.iter().enumerate() {
        let path = format!("{path}[{index}]");
        match step {
            Step::Loop(body) => check_external(body, &format!("{path}[0]"), report),
            Step::Repeat(_, body) => check_external(body, &format!("{path}[1]"), report),
            Step::Sleep(_) | Step::Wake(_) | Step::AwaitReply | Step::Done | Step::Exit => {}
            Step::Run { .. }
            | Step::Wait(_)
            | Step::WaitAll(_)
            | Step::Reply
            | Step::Barrier(_)
            | Step::Fork(_)
            | Step::Yield => report.at(
                &path,
                "an external class is a client elsewhere and cannot do this",
                "use sleep, wake and await_reply, or leave out `external`",
            ),
        }
    }
}
