//! Success statistics and the ratio at the end of a window (`balancing.md` 4).

use super::{FULL_RATIO, GatePolicy, GateState};
use crate::sim::time::Ns;

impl GatePolicy {
    /// `update_newidle_stats`: one call, worth `success`. Ends the window when
    /// it is full; the new ratio applies from the next call on.
    pub(super) fn count_call(&self, state: &mut GateState, now: Ns, success: u32) {
        if !self.stats {
            return;
        }
        state.newidle_call += 1;
        state.newidle_success = state.newidle_success.saturating_add(success);
        if state.newidle_call < self.window {
            return;
        }
        let elapsed = now.saturating_sub(state.newidle_stamp);
        state.newidle_stamp = now;
        state.newidle_ratio = self.ratio(state.newidle_success, elapsed);
        state.newidle_call /= 2;
        state.newidle_success /= 2;
        if self.reset_pos {
            state.window_pos = 0;
        }
    }

    /// Ratio after a window of `elapsed` ns that summed up to `success`.
    fn ratio(&self, success: u32, elapsed: Ns) -> u32 {
        // 1024ths whatever the window; nothing but the identity at 1024.
        let earned = u64::from(success) * u64::from(FULL_RATIO) / u64::from(self.window.max(1));
        let rate = self
            .rate_shift
            .map_or(0, |shift| elapsed.unbounded_shr(shift));
        let ceiling = if self.clamp {
            FULL_RATIO
        } else {
            // Keeps 1 + ratio from overflowing; two orders above any ratio a
            // sum of successes can reach.
            i32::MAX as u32
        };
        // The rate term lifts the ratio but is not earned: it is not carried
        // into the next window.
        (earned.saturating_add(rate)).min(u64::from(ceiling)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Verdict, preset};
    use super::*;

    /// Ratios at the ends of the first windows of 512 calls each.
    fn ratios(policy: &GatePolicy, windows: usize, gap: Ns, roll: u32, pulls: bool) -> Vec<u32> {
        let mut state = GateState::new(policy, 0);
        let mut now = 0;
        let mut out = Vec::new();
        for _ in 0..windows {
            for _ in 0..512 {
                now += gap;
                if let Verdict::Search { weight } = policy.ask(&mut state, now, || roll) {
                    policy.searched(&mut state, now, 1_000, pulls, weight);
                }
            }
            out.push(state.newidle_ratio);
        }
        out
    }

    #[test]
    fn a_domain_that_never_pulls_halves_its_ratio_per_window_down_to_zero() {
        let policy = preset("ni-random").unwrap();
        let got = ratios(&policy, 10, 1_000, 0, false);
        assert_eq!(got, [256, 128, 64, 32, 16, 8, 4, 2, 1, 0]);
    }

    #[test]
    fn the_bresenham_policy_gets_stuck_at_768_when_every_search_pulls() {
        let policy = preset("bresenham-v1").unwrap();
        assert_eq!(ratios(&policy, 4, 1_000, 0, true), [768; 4]);
    }

    #[test]
    fn the_rate_term_opens_the_gate_of_a_cpu_that_seldom_asks() {
        let mut policy = preset("ni-rate").unwrap();
        // 512 calls in 4.295 s: 119 calls a second.
        let slow = (FULL_RATIO as Ns) << 22;
        assert_eq!(ratios(&policy, 1, slow / 512, 1023, false), [1024]);
        assert_eq!(ratios(&policy, 1, slow / 1024, 1023, false), [512 + 256]);
        policy.rate_shift = Some(23);
        assert_eq!(ratios(&policy, 1, slow / 512, 1023, false), [512 + 256]);
    }

    #[test]
    fn periodic_visits_count_in_the_first_posting_only() {
        for (name, calls) in [("ni-random-v0", 513), ("ni-random", 512)] {
            let policy = preset(name).unwrap();
            let mut state = GateState::new(&policy, 0);
            policy.visited(&mut state, 1);
            assert_eq!(state.newidle_call, calls, "{name}");
        }
    }

    #[test]
    fn a_domain_at_ratio_zero_still_searches_two_calls_in_1024() {
        let policy = preset("ni-random").unwrap();
        let ran = (0..1024).filter(|&roll| {
            let mut state = GateState::new(&policy, 0);
            state.newidle_ratio = 0;
            policy.ask(&mut state, 0, || roll) != Verdict::Skip
        });
        assert_eq!(ran.count(), 2);
    }
}
