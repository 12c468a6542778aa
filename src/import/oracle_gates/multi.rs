//! Three domains: the whole newidle walk (`balancing.md` 3, steps 7 to 10) and
//! the decay part of periodic balance (6.3).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Checker, Shape, Sums, length, signed, times};
use crate::sim::Ns;
use crate::sim::gate::{GatePolicy, GateState, Verdict};
use crate::sim::idle::{MIGRATION_COST_NS, decayed_idle_balance_cost, raised_idle_balance_cost};

const LEVELS: usize = 3;

pub(super) const INPUTS: [&str; 8] = [
    "kind",
    "gap_ns",
    "avg_idle_ns",
    "overloaded",
    "elected",
    "success[3]",
    "dice[3]",
    "cost_ns[3]",
];

/// The columns of a state row.
pub(super) fn states() -> Vec<String> {
    let walk = [
        "step",
        "run_mask",
        "skip_mask",
        "pulled_level",
        "curr_cost",
        "max_idle_balance_cost",
    ];
    let state = [
        "newidle_call",
        "newidle_success",
        "newidle_ratio",
        "window_pos",
        "max_newidle_lb_cost",
    ];
    let domains = (0..LEVELS).flat_map(|level| state.map(|field| format!("d{level}.{field}")));
    walk.map(String::from).into_iter().chain(domains).collect()
}

/// One input sequence and what each policy made of it.
#[derive(Debug, Deserialize)]
pub(super) struct Sequence {
    steps: usize,
    inputs: Vec<[u64; 5 + 3 * LEVELS]>,
    pub(super) results: BTreeMap<String, Expected>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Expected {
    checksums: BTreeMap<String, i64>,
    states: Vec<[i64; 6 + 5 * LEVELS]>,
}

impl Sequence {
    /// Whether the table is complete.
    pub(super) fn check(&self, name: &str) -> Result<(), Shape> {
        length(name, "inputs", self.inputs.len(), self.steps)?;
        times(name, self.inputs.iter().flatten().copied().max())
    }
}

/// One row of inputs.
struct Input<'a> {
    avg_idle: Ns,
    overloaded: bool,
    /// Levels at which this CPU is the one to balance, from the lowest.
    elected: usize,
    success: &'a [u64],
    dice: &'a [u64],
    cost: &'a [u64],
}

/// What one walk did.
#[derive(Default)]
struct Walk {
    run_mask: i64,
    skip_mask: i64,
    pulled: Option<usize>,
    curr_cost: Ns,
}

/// A CPU with its chain of domains.
struct Cpu<'a> {
    policy: &'a GatePolicy,
    domains: [GateState; LEVELS],
    max_idle_balance_cost: Ns,
}

/// Replays one sequence under one policy.
pub(super) fn replay(
    policy: &GatePolicy,
    sequence: &Sequence,
    expected: &Expected,
    check: &mut Checker,
) {
    let columns = states();
    let mut cpu = Cpu {
        policy,
        domains: std::array::from_fn(|_| GateState::new(policy, 0)),
        max_idle_balance_cost: MIGRATION_COST_NS,
    };
    let mut now: Ns = 0;
    let mut sums = Sums::default();
    let mut rows = expected.states.iter().peekable();
    for (step, input) in (1..).zip(&sequence.inputs) {
        let [kind, gap, avg_idle, overloaded, elected, levels @ ..] = input;
        let input = Input {
            avg_idle: *avg_idle,
            overloaded: *overloaded != 0,
            elected: *elected as usize,
            success: &levels[..LEVELS],
            dice: &levels[LEVELS..2 * LEVELS],
            cost: &levels[2 * LEVELS..],
        };
        now = now.saturating_add(*gap);
        let walk = if *kind == 1 {
            cpu.periodic(now, input.elected);
            Walk::default()
        } else {
            cpu.newidle(now, &input)
        };
        cpu.sum(step, &walk, &mut sums);
        if let Some(expected) = rows.next_if(|expected| expected[0] == signed(step)) {
            check.row(&columns, expected, &cpu.row(step, &walk));
        }
    }
    for left in rows {
        check.whole("states.step", left[0], sequence.steps as i64);
    }
    check.sums(&expected.checksums, &sums);
}

impl Cpu<'_> {
    /// Steps 7 to 10; every domain sees the same `now`.
    fn newidle(&mut self, now: Ns, input: &Input) -> Walk {
        let mut walk = Walk::default();
        let policy = self.policy;
        if !input.overloaded || policy.cost_forbids(&self.domains[0], input.avg_idle, 0) {
            return walk;
        }
        for (level, state) in self.domains.iter_mut().enumerate() {
            if policy.cost_forbids(state, input.avg_idle, walk.curr_cost) {
                break;
            }
            let Verdict::Search { weight } =
                policy.ask(state, now, || input.dice[level].min(1023) as u32)
            else {
                walk.skip_mask |= 1 << level;
                continue;
            };
            walk.run_mask |= 1 << level;
            walk.curr_cost += input.cost[level];
            let pulled = input.success[level] != 0;
            policy.searched(state, now, input.cost[level], pulled, weight);
            if pulled {
                walk.pulled = Some(level);
                break;
            }
        }
        self.max_idle_balance_cost =
            raised_idle_balance_cost(self.max_idle_balance_cost, walk.curr_cost);
        walk
    }

    /// The decay of every level visited. The pass at the first level where this
    /// CPU is not elected clears `continue_balancing`, so the level above is
    /// still visited and ends the loop unless it decayed.
    fn periodic(&mut self, now: Ns, elected: usize) {
        let mut continue_balancing = true;
        let mut need_decay = false;
        let mut max_cost = 0;
        for (level, state) in self.domains.iter_mut().enumerate() {
            need_decay = self.policy.visited(state, now);
            max_cost += state.max_newidle_lb_cost;
            if !continue_balancing && !need_decay {
                break;
            }
            continue_balancing = continue_balancing && level < elected;
        }
        if need_decay {
            self.max_idle_balance_cost = decayed_idle_balance_cost(max_cost);
        }
    }

    fn sum(&self, step: u64, walk: &Walk, sums: &mut Sums) {
        let ratios = self.domains.iter().map(|d| i64::from(d.newidle_ratio));
        sums.add(step, "ratio", ratios.sum());
        sums.add(step, "run_mask", walk.run_mask);
        sums.add(step, "skip_mask", walk.skip_mask);
        // Counted from 1, so that no pull adds nothing.
        sums.add(step, "pulled", walk.pulled_level() + 1);
        sums.add(step, "curr_cost", signed(walk.curr_cost));
        let most = signed(self.max_idle_balance_cost);
        sums.add(step, "max_idle_balance_cost", most);
    }

    fn row(&self, step: u64, walk: &Walk) -> Vec<i64> {
        let mut row = vec![
            signed(step),
            walk.run_mask,
            walk.skip_mask,
            walk.pulled_level(),
            signed(walk.curr_cost),
            signed(self.max_idle_balance_cost),
        ];
        for state in &self.domains {
            row.extend([
                i64::from(state.newidle_call),
                i64::from(state.newidle_success),
                i64::from(state.newidle_ratio),
                i64::from(state.window_pos),
                signed(state.max_newidle_lb_cost),
            ]);
        }
        row
    }
}

impl Walk {
    /// Level that gained a task, -1 for none.
    fn pulled_level(&self) -> i64 {
        self.pulled.map_or(-1, |level| level as i64)
    }
}
