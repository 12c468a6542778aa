//! How long a CPU tends to stay idle, and what a whole newidle walk may cost.
//!
//! Pure arithmetic of `balancing.md` 2.1, 3 (step 10) and 6.3, shared by the
//! world and by the replay of golden vectors.

use super::time::Ns;

/// `sysctl_sched_migration_cost`.
pub const MIGRATION_COST_NS: Ns = 500_000;

/// `avg_idle` of a CPU at boot: the ceiling at the least walk cost.
pub const INITIAL_AVG_IDLE_NS: Ns = 2 * MIGRATION_COST_NS;

/// `avg_idle` after one more idle period: an eighth of the difference, cut
/// towards zero, under a ceiling of twice the most expensive walk.
pub fn updated_avg_idle(avg_idle: Ns, sample: Ns, max_idle_balance_cost: Ns) -> Ns {
    // The cut makes the average deaf to differences below 8 ns.
    let moved = if sample >= avg_idle {
        avg_idle + (sample - avg_idle) / 8
    } else {
        avg_idle - (avg_idle - sample) / 8
    };
    moved.min(2 * max_idle_balance_cost)
}

/// `max_idle_balance_cost` after a newidle walk that took `curr_cost`.
pub fn raised_idle_balance_cost(max_idle_balance_cost: Ns, curr_cost: Ns) -> Ns {
    max_idle_balance_cost.max(curr_cost)
}

/// `max_idle_balance_cost` after a decay: the sum of the domains' maxima, never
/// below the migration cost.
pub fn decayed_idle_balance_cost(sum_of_maxima: Ns) -> Ns {
    sum_of_maxima.max(MIGRATION_COST_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_moves_by_an_eighth_towards_the_sample() {
        assert_eq!(updated_avg_idle(1_000_000, 0, 500_000), 875_000);
        assert_eq!(updated_avg_idle(1_000, 9_000, 500_000), 2_000);
    }

    #[test]
    fn differences_below_eight_nanoseconds_change_nothing() {
        assert_eq!(updated_avg_idle(100, 107, 500_000), 100);
        assert_eq!(updated_avg_idle(107, 100, 500_000), 107);
    }

    #[test]
    fn the_ceiling_follows_the_walk_cost_and_never_falls_below_a_millisecond() {
        assert_eq!(updated_avg_idle(900_000, u64::MAX / 2, 500_000), 1_000_000);
        assert_eq!(decayed_idle_balance_cost(3), 500_000);
        assert_eq!(raised_idle_balance_cost(500_000, 700_000), 700_000);
    }
}
