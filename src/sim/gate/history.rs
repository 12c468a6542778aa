//! The state in which a gate begins a run: fresh from boot, or after a history.
//!
//! A gate remembers: ratios need hundreds of calls to settle, which at fifty
//! calls a second takes minutes, and a bumped cost decays over minutes. A run of
//! a few seconds shows what a policy does from where it starts, so a scenario can
//! say what the machine did before. The history is played through the policy's
//! own rules: each policy arrives where it would have arrived.

use super::{GatePolicy, GateState, Verdict};
use crate::sim::time::{Ns, SEC, jiffies};

/// What each domain of each CPU went through before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct History {
    /// Statistics windows (512 calls each) that have ended.
    pub windows: u32,
    /// Calls per second of one domain of one CPU.
    pub calls_per_second: u32,
    /// How many of a thousand searches would have pulled.
    pub success_permille: u32,
}

/// What chance decides in one call of a history.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    /// Roll of the dice, 0..=1023.
    pub dice: u32,
    /// Whether a search would pull, 0..=999 against `success_permille`.
    pub luck: u32,
    /// What a search costs.
    pub cost: Ns,
}

impl GatePolicy {
    /// A gate after `history`, at time 0 of the run; `chance` is asked once per
    /// call. The cost gate is taken as open: it depends on how long the CPU was
    /// idle, which a history does not tell.
    pub fn settled(&self, history: History, mut chance: impl FnMut() -> Chance) -> GateState {
        let mut state = GateState::new(self, 0);
        let calls = u64::from(history.windows) * u64::from(self.window - self.window / 2);
        let rate = u64::from(history.calls_per_second.max(1));
        for call in 1..=calls {
            let now = call * SEC / rate;
            if jiffies(now) / 1000 != jiffies(now - SEC / rate) / 1000 {
                self.visited(&mut state, now);
            }
            let Chance { dice, luck, cost } = chance();
            if let Verdict::Search { weight } = self.ask(&mut state, now, || dice) {
                let pulled = luck < history.success_permille;
                self.searched(&mut state, now, cost, pulled, weight);
            }
        }
        // The run's clock begins here: the last window ended just now.
        state.newidle_stamp = 0;
        state.last_decay_max_lb_cost = 0;
        state
    }
}

#[cfg(test)]
mod tests {
    use super::super::preset;
    use super::*;

    fn after(policy: &str, calls_per_second: u32) -> GateState {
        let history = History {
            windows: 10,
            calls_per_second,
            success_permille: 0,
        };
        let rules = preset(policy).expect("shipped");
        rules.settled(history, || Chance {
            dice: 512,
            luck: 0,
            cost: 2_000,
        })
    }

    #[test]
    fn ten_windows_without_success_close_the_dice_and_not_the_rate_term() {
        // balancing.md 4.5: from the initial state ten windows to ratio 0.
        assert_eq!(after("ni-random", 50).newidle_ratio, 0);
        // 512 calls at 50/s are 10.24 s: 2441 units of 4.19 ms, limited to 1024.
        assert_eq!(after("ni-rate", 50).newidle_ratio, 1024);
        // At 1000/s a window is 0.512 s: 122 units.
        assert_eq!(after("ni-rate", 1000).newidle_ratio, 122);
        assert_eq!(after("plain", 50).newidle_ratio, 512);
    }

    #[test]
    fn costs_are_those_of_the_searches_made() {
        assert_eq!(after("plain", 50).max_newidle_lb_cost, 2_000);
        // A bump of a maximum of 0 is 0: it never succeeded.
        assert_eq!(after("bump", 50).max_newidle_lb_cost, 0);
    }
}
