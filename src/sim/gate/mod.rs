//! Gates: may a CPU about to go idle search one sched domain for work?
//!
//! A gate only opens or closes the search. What a search may pull is decided in
//! the balance pass, so two policies can be compared on equal terms. A policy is
//! data: every historical kernel is one [`GatePolicy`] value, and a user can
//! build combinations no kernel had. Source: `balancing.md` section 4.
//!
//! The life of one call, for one domain of one CPU:
//!
//! ```text
//! cost_forbids?  --yes-->  stop the walk, nothing is counted
//!      | no
//!     ask  --Skip-->  counted as a failed call; go on with the next domain
//!      | Search { weight }
//!  balance pass
//!      |
//!   searched    cost and success are booked; at the end of a window the
//!               success ratio is computed anew
//! ```
//!
//! Periodic balance passes by too (`visited`): it lets the cost decay.

mod accumulator;
mod cost;
mod dice;
mod history;
mod policy;
mod ratio;

pub use history::{Chance, History};
pub use policy::{Bump, GatePolicy, PRESETS, PickRule, Preset, find, names, preset, why_not};

use super::time::{Ns, jiffies};

/// A success ratio of 1024: every call of the window pulled.
pub const FULL_RATIO: u32 = 1024;

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
        Self {
            newidle_call: policy.start_call,
            newidle_success: policy.start_success,
            newidle_ratio: policy.start_ratio,
            newidle_stamp: now,
            window_pos: 0,
            max_newidle_lb_cost: 0,
            last_decay_max_lb_cost: jiffies(now),
            asked: 0,
        }
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
        state.asked += 1;
        let full = self.no_dice_at_full && state.newidle_ratio >= FULL_RATIO;
        let weight = (1 + state.newidle_ratio).max(self.floor);
        let verdict = match self.pick {
            // A domain without SD_BALANCE_NEWIDLE is passed over uncounted.
            PickRule::None => return Verdict::Skip,
            PickRule::All => Verdict::Search { weight: 1 },
            PickRule::Dice | PickRule::Accumulator if full => Verdict::Search { weight: 1 },
            PickRule::Dice => dice::throw(weight, dice()),
            PickRule::Accumulator => accumulator::step(&mut state.window_pos, weight),
        };
        if verdict == Verdict::Skip {
            self.count_call(state, now, 0);
        }
        verdict
    }

    /// Books a search that took `cost` and pulled or not (`weight` as the
    /// verdict gave it).
    pub fn searched(&self, state: &mut GateState, now: Ns, cost: Ns, pulled: bool, weight: u32) {
        let (cost, success) = match pulled {
            true => (cost, weight),
            false => (self.cost_of_failure(state, cost), 0),
        };
        // The bump of a maximum of 0 is 0, and a cost of 0 counts nothing.
        if cost != 0 || self.count_periodic {
            self.count_call(state, now, success);
        }
        self.update_cost(state, now, cost);
    }

    /// A visit by periodic balance: decay, and for the first posting a failed
    /// call. Returns whether the cost decayed (`need_decay`).
    pub fn visited(&self, state: &mut GateState, now: Ns) -> bool {
        if self.count_periodic {
            self.count_call(state, now, 0);
        }
        self.update_cost(state, now, 0)
    }
}

/// `newidle_success` gained by a pull under this weight: 1024 / weight, rounded.
/// From weight 2049 on a success is worth nothing (`balancing.md` 4.1).
fn success_value(weight: u32) -> u32 {
    (FULL_RATIO + weight / 2) / weight
}
