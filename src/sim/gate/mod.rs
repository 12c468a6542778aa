//! Gates: may a CPU about to go idle search one sched domain for work?
//!
//! A gate only opens or closes the search. What a search may pull is decided in
//! the balance pass, so two policies can be compared on equal terms. A policy is
//! data: every historical kernel is one [`GatePolicy`] value, and a user can
//! build combinations no kernel had. Source: `balancing.md` section 4.

use serde::{Deserialize, Serialize};

use super::time::Ns;

/// How the runs are picked among the calls the cost gate lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PickRule {
    /// Every call runs.
    All,
    /// NI_RANDOM: a dice of 1024 sides against the success ratio.
    Dice,
    /// The Bresenham accumulator.
    Accumulator,
    /// No call runs.
    None,
}

/// A newidle gating policy as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatePolicy {
    /// Whether `avg_idle` against `max_newidle_lb_cost` can close the gate.
    pub cost_gate: bool,
    /// Which calls run.
    pub pick: PickRule,
    /// Whether success statistics are kept.
    pub stats: bool,
    /// NI_RATE: right shift of the window length in ns; none = no rate term.
    pub rate_shift: Option<u32>,
    /// Whether the ratio is limited to 1024.
    pub clamp: bool,
    /// Whether a ratio of 1024 runs without dice or accumulator.
    pub no_dice_at_full: bool,
    /// Cost bump on failure (155213a2aed4).
    pub bump: Option<Bump>,
    /// Whether visits by periodic balance count as failed calls.
    pub count_periodic: bool,
    /// Whether the accumulator restarts at every new ratio.
    pub reset_pos: bool,
    /// Calls at which a window ends (call count is halved then): 1024.
    pub window: u32,
    /// Least weight: floor of the run chance in 1024ths, before the off-by-one.
    pub floor: u32,
    /// `newidle_call` of a new domain: 512.
    pub start_call: u32,
    /// `newidle_success` of a new domain: 256.
    pub start_success: u32,
    /// `newidle_ratio` of a new domain: 512.
    pub start_ratio: u32,
}

/// Cost bump: a failed search stores `num/den` of the maximum as its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bump {
    /// Numerator: 3.
    pub num: u32,
    /// Denominator: 2.
    pub den: u32,
    /// Cap on the stored cost: migration_cost + 200 ns = 500,200.
    pub cap_ns: Ns,
}

/// What a gate remembers per CPU and domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateState {
    /// Calls in the window (512 carried over).
    pub newidle_call: u32,
    /// Weighted successes in the window.
    pub newidle_success: u32,
    /// Success ratio of the last full window, 1024ths.
    pub newidle_ratio: u32,
    /// Start of the window.
    pub newidle_stamp: Ns,
    /// Bresenham accumulator.
    pub window_pos: u32,
    /// Highest cost of a search of this domain, decaying.
    pub max_newidle_lb_cost: Ns,
    /// When it last rose or decayed, jiffies.
    pub last_decay_max_lb_cost: u64,
    /// Calls asked of the policy since boot: the key of the dice.
    pub asked: u64,
}

/// What the policy says about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go on with the next higher domain; already counted as a failed call.
    Skip,
    /// Search this domain; a success is worth `weight`.
    Search {
        /// `newidle_success` gained by a pull.
        weight: u32,
    },
}

impl GateState {
    /// State of a domain created at `now`.
    pub fn new(policy: &GatePolicy, now: Ns) -> Self {
        let _ = (policy, now);
        unreachable!("replaced with the gate rules")
    }
}

impl GatePolicy {
    /// Cost gate: whether `avg_idle` forbids a search that would bring the walk
    /// to `spent + max_newidle_lb_cost`. Strict: equal lets through.
    pub fn cost_forbids(&self, state: &GateState, avg_idle: Ns, spent: Ns) -> bool {
        self.cost_gate && avg_idle < spent + state.max_newidle_lb_cost
    }

    /// Asks the policy. A skip is counted here, as a failed call. `dice` gives
    /// the 0..=1023 roll and is only called if a roll is needed.
    pub fn ask(&self, state: &mut GateState, now: Ns, dice: impl FnOnce() -> u32) -> Verdict {
        let _ = (state, now, dice);
        unreachable!("replaced with the gate rules")
    }

    /// Books a search that took `cost` and pulled or not (`weight` as the
    /// verdict gave it).
    pub fn searched(&self, state: &mut GateState, now: Ns, cost: Ns, pulled: bool, weight: u32) {
        let _ = (state, now, cost, pulled, weight);
        unreachable!("replaced with the gate rules")
    }

    /// A visit by periodic balance: decay, and for the first posting a failed
    /// call. Returns whether the cost decayed (`need_decay`).
    pub fn visited(&self, state: &mut GateState, now: Ns) -> bool {
        let _ = (state, now);
        unreachable!("replaced with the gate rules")
    }
}
