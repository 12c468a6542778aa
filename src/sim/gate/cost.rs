//! The remembered cost of searching a domain: rise, bump and decay
//! (`balancing.md` 3.1 and 4.3).

use super::{GatePolicy, GateState};
use crate::sim::time::{HZ, Ns, jiffies};

impl GatePolicy {
    /// Cost a failed search is booked with.
    pub(super) fn cost_of_failure(&self, state: &GateState, cost: Ns) -> Ns {
        // With the bump the true cost is discarded: a domain whose maximum is
        // still 0 stays ungated however often it fails.
        self.bump.map_or(cost, |bump| {
            Ns::from(bump.num).saturating_mul(state.max_newidle_lb_cost) / Ns::from(bump.den.max(1))
        })
    }

    /// `update_newidle_cost` without its statistics. The maximum rises at once
    /// and falls by 3/256 a second. Returns whether it decayed now.
    pub(super) fn update_cost(&self, state: &mut GateState, now: Ns, cost: Ns) -> bool {
        let tick = jiffies(now);
        if cost > state.max_newidle_lb_cost {
            state.max_newidle_lb_cost = self.bump.map_or(cost, |bump| cost.min(bump.cap_ns));
            state.last_decay_max_lb_cost = tick;
            return false;
        }
        // Strict: at least HZ + 1 ticks.
        if tick > state.last_decay_max_lb_cost + HZ {
            state.max_newidle_lb_cost = state.max_newidle_lb_cost * 253 / 256;
            state.last_decay_max_lb_cost = tick;
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bump, GateState, preset};
    use crate::sim::time::{MS, SEC};

    #[test]
    fn a_failing_domain_reaches_the_bump_cap_in_as_many_steps_as_the_reference_says() {
        let policy = preset("bump").unwrap();
        for (start, failures) in [
            (500, 18),
            (1_000, 16),
            (2_000, 14),
            (5_000, 12),
            (20_000, 8),
        ] {
            let mut state = GateState::new(&policy, 0);
            state.max_newidle_lb_cost = start;
            let mut count = 0;
            while state.max_newidle_lb_cost < 500_200 {
                policy.searched(&mut state, 0, 1, false, 1);
                count += 1;
            }
            assert_eq!(count, failures, "from {start} ns");
        }
    }

    #[test]
    fn the_greatest_factor_ends_at_the_cap() {
        let mut policy = preset("bump").unwrap();
        policy.bump = Some(Bump {
            num: u32::MAX,
            den: 1,
            cap_ns: MS,
        });
        let mut state = GateState::new(&policy, 0);
        state.max_newidle_lb_cost = 500_200;
        for _ in 0..100 {
            policy.searched(&mut state, 0, 1, false, 1);
        }
        assert_eq!(state.max_newidle_lb_cost, MS);
        // A policy that can book anything after one without a cap.
        state.max_newidle_lb_cost = u64::MAX / 2;
        policy.searched(&mut state, 0, 1, false, 1);
        assert_eq!(state.max_newidle_lb_cost, MS);
    }

    #[test]
    fn under_the_bump_a_maximum_of_zero_or_one_never_moves_by_failure() {
        let policy = preset("bump").unwrap();
        for start in [0, 1] {
            let mut state = GateState::new(&policy, 0);
            state.max_newidle_lb_cost = start;
            policy.searched(&mut state, 0, 9_000, false, 1);
            assert_eq!(state.max_newidle_lb_cost, start);
        }
    }

    #[test]
    fn a_failure_at_the_cap_renews_the_decay_clock() {
        let policy = preset("bump").unwrap();
        let mut state = GateState::new(&policy, 0);
        state.max_newidle_lb_cost = 500_200;
        policy.searched(&mut state, 900 * MS, 1, false, 1);
        assert!(!policy.visited(&mut state, 1_900 * MS));
        assert!(policy.visited(&mut state, 1_901 * MS));
    }

    #[test]
    fn the_cost_halves_in_59_decays_of_a_second_each() {
        let policy = preset("plain").unwrap();
        let mut state = GateState::new(&policy, 0);
        policy.searched(&mut state, 0, 500_200, false, 1);
        let mut now = 0;
        for _ in 0..59 {
            now += SEC;
            assert!(!policy.visited(&mut state, now), "1000 ticks are too few");
            now += MS;
            assert!(policy.visited(&mut state, now));
        }
        assert!(state.max_newidle_lb_cost < 250_100);
    }
}
