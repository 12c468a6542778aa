//! One domain: newidle attempts and periodic visits.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Checker, Shape, Sums, length, signed, times};
use crate::sim::Ns;
use crate::sim::gate::{GatePolicy, GateState, Verdict};

pub(super) const INPUTS: [&str; 6] = [
    "kind",
    "gap_ns",
    "avg_idle_ns",
    "success",
    "dice",
    "cost_ns",
];

pub(super) const STATES: [&str; 7] = [
    "step",
    "decision",
    "newidle_call",
    "newidle_success",
    "newidle_ratio",
    "window_pos",
    "max_newidle_lb_cost",
];

/// Names of the decision codes 0 to 4.
const DECISIONS: [&str; 5] = [
    "cost_gate",
    "policy_skip",
    "ran_without_pull",
    "pulled",
    "periodic",
];

/// One input sequence and what each policy made of it.
#[derive(Debug, Deserialize)]
pub(super) struct Sequence {
    steps: usize,
    inputs: Inputs,
    pub(super) results: BTreeMap<String, Expected>,
}

#[derive(Debug, Deserialize)]
struct Inputs {
    /// 0 newidle, 1 periodic visit.
    kind: Vec<u8>,
    gap_ns: Vec<Ns>,
    avg_idle_ns: Vec<Ns>,
    success: Vec<u8>,
    dice: Vec<u32>,
    cost_ns: Vec<Ns>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Expected {
    counts: [i64; 5],
    checksums: BTreeMap<String, i64>,
    states: Vec<[i64; 7]>,
}

impl Sequence {
    /// Whether the tables fit each other.
    pub(super) fn check(&self, name: &str) -> Result<(), Shape> {
        let inputs = &self.inputs;
        for (table, found) in [
            ("kind", inputs.kind.len()),
            ("gap_ns", inputs.gap_ns.len()),
            ("avg_idle_ns", inputs.avg_idle_ns.len()),
            ("success", inputs.success.len()),
            ("dice", inputs.dice.len()),
            ("cost_ns", inputs.cost_ns.len()),
        ] {
            length(name, table, found, self.steps)?;
        }
        for table in [&inputs.gap_ns, &inputs.avg_idle_ns, &inputs.cost_ns] {
            times(name, table.iter().copied().max())?;
        }
        Ok(())
    }
}

/// Replays one sequence under one policy.
pub(super) fn replay(
    policy: &GatePolicy,
    sequence: &Sequence,
    expected: &Expected,
    check: &mut Checker,
) {
    let columns = STATES.map(String::from);
    let mut state = GateState::new(policy, 0);
    let mut now: Ns = 0;
    let mut counts = [0; 5];
    let mut sums = Sums::default();
    let mut rows = expected.states.iter().peekable();
    for index in 0..sequence.steps {
        let step = index as u64 + 1;
        now = now.saturating_add(sequence.inputs.gap_ns[index]);
        let decision = decide(policy, &mut state, now, &sequence.inputs, index);
        counts[decision] += 1;
        let row = row(step, decision, &state);
        for (name, column) in [
            ("decision", 1),
            ("call", 2),
            ("success", 3),
            ("ratio", 4),
            ("window_pos", 5),
            ("max_cost", 6),
        ] {
            sums.add(step, name, row[column]);
        }
        if let Some(expected) = rows.next_if(|expected| expected[0] == row[0]) {
            check.row(&columns, expected, &row);
        }
    }
    for left in rows {
        check.whole("states.step", left[0], sequence.steps as i64);
    }
    for ((name, expected), got) in DECISIONS.iter().zip(expected.counts).zip(counts) {
        check.whole(&format!("counts.{name}"), expected, got);
    }
    check.sums(&expected.checksums, &sums);
}

/// One event; the decision code.
fn decide(
    policy: &GatePolicy,
    state: &mut GateState,
    now: Ns,
    inputs: &Inputs,
    index: usize,
) -> usize {
    if inputs.kind[index] == 1 {
        policy.visited(state, now);
        return 4;
    }
    if policy.cost_forbids(state, inputs.avg_idle_ns[index], 0) {
        return 0;
    }
    let Verdict::Search { weight } = policy.ask(state, now, || inputs.dice[index]) else {
        return 1;
    };
    let pulled = inputs.success[index] != 0;
    policy.searched(state, now, inputs.cost_ns[index], pulled, weight);
    2 + usize::from(pulled)
}

fn row(step: u64, decision: usize, state: &GateState) -> [i64; 7] {
    [
        signed(step),
        decision as i64,
        i64::from(state.newidle_call),
        i64::from(state.newidle_success),
        i64::from(state.newidle_ratio),
        i64::from(state.window_pos),
        signed(state.max_newidle_lb_cost),
    ]
}
