//! World -> scene.

use std::sync::Arc;

use crate::sim::domain::{LevelName, SchedDomains};
use crate::sim::gate::PickRule;
use crate::sim::stats::NewidleStats;
use crate::sim::view::{Activity, CpuView, NewidleEnd};
use crate::sim::world::World;
use crate::sim::{CpuId, Ns};

use super::{
    Cell, Charts, ClassRow, CpuDetail, Doing, DomainRow, Header, LevelColumn, Levels, Scene,
    Series, Waste, explain,
};
use crate::tui::history::Sample;
use crate::tui::state::State;

/// Which domain of which CPU belongs to which column of the level table. A
/// column is a level name and, for several NUMA levels, how many were below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    names: Vec<String>,
    /// Per CPU and index in its chain, the column.
    of: Vec<Vec<usize>>,
}

impl Columns {
    /// Columns of all levels that some CPU has, lowest first.
    pub fn new(domains: &SchedDomains) -> Self {
        let keys: Vec<Vec<(LevelName, usize)>> = domains
            .per_cpu
            .iter()
            .map(|chain| {
                let names: Vec<LevelName> = chain.iter().map(|domain| domain.name).collect();
                let below = |i: usize| names[..i].iter().filter(|n| **n == names[i]).count();
                (0..names.len()).map(|i| (names[i], below(i))).collect()
            })
            .collect();
        let mut all: Vec<(LevelName, usize)> = keys.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        let column = |key: &(LevelName, usize)| all.partition_point(|other| other < key);
        Self {
            names: all
                .iter()
                .map(|(name, below)| match below {
                    0 => name.to_string(),
                    n => format!("{name}{}", n + 1),
                })
                .collect(),
            of: keys
                .iter()
                .map(|chain| chain.iter().map(column).collect())
                .collect(),
        }
    }

    fn chain(&self, cpu: CpuId) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.of[cpu.index()].iter().copied().enumerate()
    }
}

/// Counters for the charts.
pub fn sample(world: &World, columns: &Columns, selected: CpuId) -> Sample {
    let totals = world.totals();
    let all = world.topology().cpu_ids();
    let (ratios, counts) = level_counts(world, columns, all);
    let (cpu_ratios, cpu_counts) = level_counts(world, columns, [selected].into_iter());
    Sample {
        done: world.classes().iter().map(|class| class.done).collect(),
        newidle_pulls: totals.newidle.pulls,
        idle_while_waiting: totals.idle_while_waiting,
        ratios,
        counts,
        cpu_ratios,
        cpu_counts,
    }
}

fn level_counts(
    world: &World,
    columns: &Columns,
    cpus: impl Iterator<Item = CpuId>,
) -> (Vec<Option<u32>>, Vec<[u64; 6]>) {
    let width = columns.names.len();
    let (mut sums, mut members) = (vec![0_u64; width], vec![0_u64; width]);
    let mut counts = vec![[0; 6]; width];
    for cpu in cpus {
        for (level, column) in columns.chain(cpu) {
            let domain = world.domain(cpu, level);
            sums[column] += u64::from(domain.gate.newidle_ratio);
            members[column] += 1;
            for (sum, part) in counts[column].iter_mut().zip(six(&domain.stats.newidle)) {
                *sum += part;
            }
        }
    }
    let keeps = world.policy().stats;
    let ratios = sums.iter().zip(&members).map(|(&sum, &members)| {
        let mean = sum.checked_div(members)?;
        keeps.then(|| u32::try_from(mean).unwrap_or(u32::MAX))
    });
    (ratios.collect(), counts)
}

fn six(stats: &NewidleStats) -> [u64; 6] {
    [
        stats.calls,
        stats.runs,
        stats.pulls,
        stats.skips_not_overloaded,
        stats.skips_cost_gate,
        stats.skips_policy,
    ]
}

/// The scene of this moment, with charts of `bins` bins.
pub fn build(state: &State, bins: usize) -> Scene {
    let world = state.session.world();
    let cells = cells(state, world);
    Scene {
        shape: Arc::clone(&state.shape),
        header: header(state),
        waste: waste(state, world, &cells),
        levels: levels(state, world, bins),
        charts: charts(state, world, bins),
        cpu: cpu_detail(state, world),
        classes: classes(state, world, bins),
        cells,
    }
}

fn cells(state: &State, world: &World) -> Vec<Cell> {
    let cpus = world.topology().cpu_ids();
    cpus.map(|cpu| {
        let view = world.cpu(cpu);
        Cell {
            doing: doing(&view),
            nr_running: view.nr_running,
            flash: state.flashes.of(cpu),
        }
    })
    .collect()
}

const fn doing(view: &CpuView<'_>) -> Doing {
    match view.activity {
        Activity::Offline => Doing::Offline,
        Activity::Idle if view.idle_beside_waiting => Doing::Starved,
        Activity::Idle => Doing::Idle,
        Activity::Newidle => Doing::Search,
        Activity::Run(class) => Doing::Run(class),
        Activity::Spin(class) => Doing::Spin(class),
    }
}

fn header(state: &State) -> Header {
    let setup = state.session.setup();
    Header {
        topology: setup.topology.id.clone(),
        workload: format!(
            "{}{}",
            setup.workload.id,
            if state.is_mixed() { "*" } else { "" }
        ),
        kernel: state.session.rules().name.clone(),
        policy: state.session.policy_name().to_owned(),
        seed: setup.seed,
        now: state.session.now(),
        speed: state.pace.speed.text(),
        reached: state.pace.reached(),
        paused: state.pace.paused,
    }
}

fn waste(state: &State, world: &World, cells: &[Cell]) -> Waste {
    let is_idle = |cell: &&Cell| matches!(cell.doing, Doing::Idle | Doing::Starved);
    let mut why: Vec<(&'static str, usize)> = Vec::new();
    let mut first = None;
    let mut starved = 0;
    for (index, cell) in cells.iter().enumerate() {
        if cell.doing != Doing::Starved {
            continue;
        }
        starved += 1;
        first = first.or(Some(index));
        let reason = reason(world, CpuId::from_index(index));
        match why.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, cpus)) => *cpus += 1,
            None => why.push((reason, 1)),
        }
    }
    why.sort_by_key(|&(reason, cpus)| (std::cmp::Reverse(cpus), reason));
    Waste {
        idle: cells.iter().filter(is_idle).count(),
        starved,
        waiting: cells
            .iter()
            .map(|cell| match cell.doing {
                Doing::Run(_) | Doing::Spin(_) => u64::from(cell.nr_running.saturating_sub(1)),
                _ => u64::from(cell.nr_running),
            })
            .sum(),
        why,
        lately: lately(state),
        example: first.map(|index| state.shape.os_ids[index]),
    }
}

/// Mean number of starved CPUs over the last [`LATELY_BINS`] bins.
fn lately(state: &State) -> Option<f64> {
    const LATELY_BINS: usize = 20;
    let (before, after, time) = state.history.span(LATELY_BINS, state.session.now())?;
    let wasted = after
        .idle_while_waiting
        .saturating_sub(before.idle_while_waiting);
    Some(wasted as f64 / time as f64)
}

/// Why a CPU did not pull when it went idle, in few words.
fn reason(world: &World, cpu: CpuId) -> &'static str {
    let Some(outcome) = world.cpu(cpu).last_newidle else {
        return "idle since the start";
    };
    match outcome.end {
        NewidleEnd::NotOverloaded => "no queue when it looked",
        NewidleEnd::CostGate { .. } => "cost gate",
        NewidleEnd::Nothing if outcome.skipped != 0 => match world.policy().pick {
            PickRule::Accumulator => "accumulator",
            PickRule::None => "never searches",
            PickRule::Dice | PickRule::All => "dice",
        },
        NewidleEnd::Nothing => "found nothing",
        NewidleEnd::Pulled { .. } | NewidleEnd::Woken => "idle again since",
    }
}

fn levels(state: &State, world: &World, bins: usize) -> Levels {
    let columns = &state.columns;
    let now = state.session.now();
    let one = state.scope_cpu.then_some(state.selected);
    let cpus = || -> Box<dyn Iterator<Item = CpuId>> {
        match one {
            Some(cpu) => Box::new([cpu].into_iter()),
            None => Box::new(
                world
                    .topology()
                    .online()
                    .iter()
                    .collect::<Vec<_>>()
                    .into_iter(),
            ),
        }
    };
    let (ratios, mut counts) = level_counts(world, columns, cpus());
    if state.rates {
        counts = rates(state, bins, one.is_some(), columns.names.len());
    }
    let mut rows: Vec<LevelColumn> = columns
        .names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let history = state.history.last(bins, now, |_, after| {
                let ratios = if one.is_some() {
                    &after.cpu_ratios
                } else {
                    &after.ratios
                };
                ratios.get(index).copied().flatten()
            });
            let [calls, runs, pulls, not_overloaded, cost_gate, policy] = counts[index];
            LevelColumn {
                name: name.clone(),
                ratio: ratios[index],
                history,
                calls,
                runs,
                pulls,
                not_overloaded,
                cost_gate,
                policy,
                ..LevelColumn::default()
            }
        })
        .collect();
    let (mut avg_idle, mut cpus_seen, mut entries) = (0, 0, 0);
    for cpu in cpus() {
        let view = world.cpu(cpu);
        avg_idle += view.avg_idle;
        entries += view.newidle.entries;
        cpus_seen += 1;
        for (level, column) in columns.chain(cpu) {
            let domain = world.domain(cpu, level);
            let row = &mut rows[column];
            row.span = row.span.max(domain.span_weight);
            row.cpus += 1;
            row.max_cost += domain.gate.max_newidle_lb_cost;
            row.closed += usize::from(view.avg_idle < domain.gate.max_newidle_lb_cost);
        }
    }
    for row in &mut rows {
        row.max_cost /= row.cpus.max(1) as Ns;
    }
    rows.retain(|row| row.cpus > 0);
    Levels {
        scope: match one {
            Some(cpu) => format!("CPU {}", state.shape.os_ids[cpu.index()]),
            None => format!("{cpus_seen} CPUs"),
        },
        rates: state.rates,
        columns: rows,
        avg_idle: avg_idle / cpus_seen.max(1),
        entries,
    }
}

/// Counts per simulated second over the charts' span.
fn rates(state: &State, bins: usize, one: bool, width: usize) -> Vec<[u64; 6]> {
    let Some((before, after, span)) = state.history.span(bins, state.session.now()) else {
        return vec![[0; 6]; width];
    };
    let pick = |sample: &Sample| {
        if one {
            sample.cpu_counts.clone()
        } else {
            sample.counts.clone()
        }
    };
    let per_second = |n: u64| (u128::from(n) * 1_000_000_000 / u128::from(span)) as u64;
    let pairs = pick(before).into_iter().zip(pick(after));
    pairs
        .map(|(a, b)| std::array::from_fn(|i| per_second(b[i].saturating_sub(a[i]))))
        .collect()
}

fn charts(state: &State, world: &World, bins: usize) -> Charts {
    let now = state.session.now();
    let width = state.history.width();
    let seconds = width as f64 / 1e9;
    let classes = world.classes();
    // The first class that counts its work stands for the workload: background
    // tasks come later in a file, however many times they wake.
    let main = classes.iter().position(|class| !class.unit.is_empty());
    let mut series = Vec::new();
    if let Some(class) = main {
        series.push(Series {
            title: "work".to_owned(),
            long: format!(
                "work done by {} ({})",
                classes[class].letter, classes[class].name
            ),
            unit: format!("{}/s", classes[class].unit),
            bins: state.history.last(bins, now, |a, b| {
                let (a, b) = (a.done.get(class)?, b.done.get(class)?);
                Some(b.saturating_sub(*a) as f64 / seconds)
            }),
        });
    }
    series.push(Series {
        title: "pulls".to_owned(),
        long: "tasks pulled by newidle balance".to_owned(),
        unit: "/s".to_owned(),
        bins: state.history.last(bins, now, |a, b| {
            Some((b.newidle_pulls - a.newidle_pulls) as f64 / seconds)
        }),
    });
    series.push(Series {
        title: "wasted".to_owned(),
        long: "wasted: idle while a task waits".to_owned(),
        unit: "CPUs".to_owned(),
        bins: state.history.last(bins, now, |a, b| {
            let wasted = b.idle_while_waiting - a.idle_while_waiting;
            Some(wasted as f64 / width as f64)
        }),
    });
    Charts {
        bin: width,
        end: now,
        series,
    }
}

fn cpu_detail(state: &State, world: &World) -> CpuDetail {
    let cpu = state.selected;
    let view = world.cpu(cpu);
    let topology = world.topology();
    let place = state.shape.places[cpu.index()];
    let node = &state.shape.nodes[place.node];
    let classes = world.classes();
    let class = |index: usize| {
        let class = &classes[index];
        format!("{} ({})", class.letter, class.name)
    };
    let what = match view.activity {
        Activity::Offline => "offline".to_owned(),
        Activity::Idle if view.idle_beside_waiting => "idle, a task waits".to_owned(),
        Activity::Idle => "idle".to_owned(),
        Activity::Newidle => "searching for work".to_owned(),
        Activity::Run(index) => format!("runs {}", class(index)),
        Activity::Spin(index) => format!("spins {}", class(index)),
    };
    let stats = world.cpu_stats(cpu);
    let share = |ns: Ns| 100.0 * ns as f64 / (world.now().max(1)) as f64;
    let chain = world.domains().of(cpu);
    CpuDetail {
        os_id: state.shape.os_ids[cpu.index()],
        place: format!(
            "{} {}, node {}, socket {}",
            state.shape.llc_noun, place.llc, node.node, node.package
        ),
        doing: format!("{what}, {} queued", view.nr_running),
        avg_idle: view.avg_idle,
        max_idle_balance_cost: view.max_idle_balance_cost,
        domains: chain
            .iter()
            .enumerate()
            .map(|(level, sd)| {
                let domain = world.domain(cpu, level);
                let newidle = &domain.stats.newidle;
                DomainRow {
                    name: sd.name.to_string(),
                    span: topology.os_list(&sd.span),
                    ratio: world.policy().stats.then_some(domain.gate.newidle_ratio),
                    max_cost: domain.gate.max_newidle_lb_cost,
                    counts: [newidle.calls, newidle.runs, newidle.pulls],
                }
            })
            .collect(),
        last_newidle: explain::last_newidle(world, &state.shape, cpu),
        chances: explain::chances(world, cpu),
        last_pull: explain::last_pull(world, &state.shape, cpu),
        shares: [
            share(stats.idle_time),
            share(stats.idle_while_waiting),
            share(stats.newidle_time),
        ],
    }
}

fn classes(state: &State, world: &World, bins: usize) -> Vec<ClassRow> {
    let span = state.history.span(bins, state.session.now());
    let rate = |class: usize| {
        let (before, after, time) = span?;
        let (a, b) = (before.done.get(class)?, after.done.get(class)?);
        Some(b.saturating_sub(*a) as f64 * 1e9 / time as f64)
    };
    let views = world.classes();
    let rows = views.iter().enumerate().map(|(index, class)| ClassRow {
        letter: class.letter,
        name: class.name.to_owned(),
        count: class.count,
        share_permille: class.share_permille,
        intensity_pct: class.intensity_pct,
        alive: class.alive,
        external: class.external,
        done: class.done,
        unit: class.unit.to_owned(),
        rate: rate(index),
    });
    rows.collect()
}
