//! What came of a run, in numbers.

mod columns;
mod table;

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::session::Session;
use crate::sim::Ns;
use crate::sim::domain::LevelName;
use crate::sim::stats::{Migrations, NewidleStats};
use crate::sim::time::SEC;
use crate::sim::view::DomainView;
use crate::sim::world::World;

/// The result of a run. Fields and their order are those of the JSON form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the scenario.
    pub scenario: String,
    /// Id of the machine.
    pub topology: String,
    /// Kernel at the start of the run; a star says that rules differ from it.
    pub kernel: String,
    /// Rules that differ from that kernel, such as `NO_SIS_UTIL` or `fork=random`.
    pub changed_rules: Vec<String>,
    /// Policy at the start of the run.
    pub policy: String,
    /// Whether the policy at the end keeps success statistics.
    #[serde(skip)]
    pub keeps_ratio: bool,
    /// Seed of all random streams.
    pub seed: u64,
    /// Simulated time.
    pub simulated_ns: Ns,
    /// Wall time, if it was asked for: the only value that differs from one
    /// run to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<Ns>,
    /// Events carried out.
    pub events: u64,
    /// Context switches.
    pub schedules: u64,
    /// Hash of the event stream, 16 hex digits.
    pub event_hash: String,
    /// What each class got done.
    #[serde(serialize_with = "by_class")]
    pub throughput: Vec<(String, Throughput)>,
    /// Newidle decisions of the machine.
    pub newidle: Newidle,
    /// Newidle decisions by domain level, lowest first.
    pub domains: Vec<Domain>,
    /// Changes of CPU by distance.
    pub migrations: Migrations,
    /// Time CPUs sat idle while a task they could have run waited, summed over
    /// CPUs.
    pub idle_while_waiting_ns: Ns,
    /// Time from wakeup to running; none if nothing woke.
    pub wakeup_latency_ns: Latency,
}

/// What a class got done per simulated second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// Units per second, to a thousandth.
    pub value: f64,
    /// Such as `steps/s`.
    pub unit: String,
}

/// Newidle decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Newidle {
    /// Times a CPU came here on its way to idle.
    pub entries: u64,
    /// Times the policy was asked.
    pub calls: u64,
    /// Passes run.
    pub runs: u64,
    /// Tasks gained.
    pub pulls: u64,
    /// Why no pass was run.
    pub skips: Skips,
}

/// Why no newidle pass was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skips {
    /// No runqueue had two tasks.
    pub not_overloaded: u64,
    /// The expected idle time was shorter than the cost.
    pub cost_gate: u64,
    /// Dice, accumulator, or a policy that never searches.
    pub policy: u64,
}

/// Newidle decisions at one domain level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Domain {
    /// The kernel's name of the level.
    pub name: String,
    /// Decisions at this level.
    #[serde(flatten)]
    pub newidle: Newidle,
    /// Success ratio, mean over CPUs, 1024ths, to a thousandth. Where the policy
    /// keeps no statistics it is the start value, which tables do not show.
    pub ratio_mean: f64,
    /// Remembered cost of a search over CPUs.
    pub max_newidle_lb_cost_ns: Spread,
}

/// Least, middle and greatest of a value over CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// Least.
    pub min: Ns,
    /// Middle; the lower one of two.
    pub median: Ns,
    /// Greatest.
    pub max: Ns,
}

/// Quantiles of the time from wakeup to running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Half are faster.
    pub p50: Option<Ns>,
    /// 99 in 100 are faster.
    pub p99: Option<Ns>,
    /// 999 in 1000 are faster.
    pub p999: Option<Ns>,
}

impl Summary {
    /// The result of `session` so far; `scenario` is its name.
    pub fn of(scenario: &str, session: &Session) -> Self {
        let world = session.world();
        let setup = session.setup();
        let totals = world.totals();
        let latency = world.latency();
        Self {
            scenario: scenario.into(),
            topology: setup.topology.id.clone(),
            kernel: setup.rules.name.clone(),
            changed_rules: setup.rules.changes(),
            policy: setup.policy.name.clone(),
            keeps_ratio: world.policy().stats,
            seed: setup.seed,
            simulated_ns: world.now(),
            wall_ns: None,
            events: totals.events,
            schedules: totals.schedules,
            event_hash: format!("{:016x}", world.trace().hash()),
            throughput: throughput(world),
            newidle: totals.newidle.into(),
            domains: domains(world),
            migrations: totals.migrations,
            idle_while_waiting_ns: totals.idle_while_waiting,
            wakeup_latency_ns: Latency {
                p50: latency.quantile(500),
                p99: latency.quantile(990),
                p999: latency.quantile(999),
            },
        }
    }

    /// The JSON form: one object, with a newline behind it.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_json(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

impl From<NewidleStats> for Newidle {
    fn from(stats: NewidleStats) -> Self {
        Self {
            entries: stats.entries,
            calls: stats.calls,
            runs: stats.runs,
            pulls: stats.pulls,
            skips: Skips {
                not_overloaded: stats.skips_not_overloaded,
                cost_gate: stats.skips_cost_gate,
                policy: stats.skips_policy,
            },
        }
    }
}

/// Classes that count something.
fn throughput(world: &World) -> Vec<(String, Throughput)> {
    let rate = |done: u64| match world.now() {
        0 => 0.0,
        // In integers as far as possible: the same digits on every machine.
        now => {
            let permille = u128::from(done) * 1_000 * u128::from(SEC) / u128::from(now);
            permille as f64 / 1_000.0
        }
    };
    let classes = world.classes();
    let counting = classes.iter().filter(|class| !class.unit.is_empty());
    let entry = |class: &crate::sim::view::ClassView| {
        let unit = format!("{}/s", class.unit);
        let value = rate(class.done);
        (class.name.to_string(), Throughput { value, unit })
    };
    counting.map(entry).collect()
}

/// Sums over the CPUs that have a domain of the level.
#[derive(Default)]
struct Level {
    newidle: NewidleStats,
    ratios: u64,
    costs: Vec<Ns>,
}

impl Level {
    fn add(&mut self, domain: &DomainView) {
        self.newidle.add(&domain.stats.newidle);
        self.ratios += u64::from(domain.gate.newidle_ratio);
        self.costs.push(domain.gate.max_newidle_lb_cost);
    }

    fn finish(mut self, name: LevelName) -> Domain {
        self.costs.sort_unstable();
        // A level exists only because some CPU has a domain of it.
        let cpus = self.costs.len();
        let at = |index: usize| self.costs.get(index).copied().unwrap_or_default();
        Domain {
            name: name.to_string(),
            newidle: self.newidle.into(),
            ratio_mean: (self.ratios * 1_000 / cpus.max(1) as u64) as f64 / 1_000.0,
            max_newidle_lb_cost_ns: Spread {
                min: at(0),
                median: at((cpus.max(1) - 1) / 2),
                max: at(cpus.max(1) - 1),
            },
        }
    }
}

/// One entry per level; NUMA levels are told apart by their distance.
fn domains(world: &World) -> Vec<Domain> {
    let mut levels: BTreeMap<(LevelName, u32), Level> = BTreeMap::new();
    for (index, chain) in world.domains().per_cpu.iter().enumerate() {
        let cpu = crate::sim::CpuId::from_index(index);
        for (level, domain) in chain.iter().enumerate() {
            let key = (domain.name, domain.numa_distance);
            levels
                .entry(key)
                .or_default()
                .add(&world.domain(cpu, level));
        }
    }
    let finish = |((name, _), level): ((LevelName, u32), Level)| level.finish(name);
    levels.into_iter().map(finish).collect()
}

fn by_class<S: Serializer>(
    classes: &[(String, Throughput)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(classes.len()))?;
    for (name, throughput) in classes {
        map.serialize_entry(name, throughput)?;
    }
    map.end()
}
