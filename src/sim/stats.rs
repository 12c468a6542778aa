//! Counters: those of /proc/schedstat under the kernel's names, and what the
//! kernel does not count.

use serde::Serialize;

use super::time::Ns;
use super::topology::Distance;

/// Why a balance pass runs; also the index of its schedstat block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleType {
    /// `CPU_NOT_IDLE`.
    NotIdle = 0,
    /// `CPU_IDLE`.
    Idle = 1,
    /// `CPU_NEWLY_IDLE`.
    NewlyIdle = 2,
}

/// The schedstat block of one idle type of one domain (`balancing.md` 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(
    missing_docs,
    reason = "the kernel's own field names; meaning in balancing.md 8"
)]
pub struct LbStats {
    pub lb_count: u64,
    pub lb_balanced: u64,
    pub lb_failed: u64,
    pub lb_imbalance_load: u64,
    pub lb_imbalance_util: u64,
    pub lb_imbalance_task: u64,
    pub lb_imbalance_misfit: u64,
    pub lb_gained: u64,
    pub lb_hot_gained: u64,
    pub lb_nobusyq: u64,
    pub lb_nobusyg: u64,
}

/// What became of newidle entries, calls and passes.
///
/// Invariants: `calls = runs + skips_policy`; at the lowest domain of a CPU
/// `entries = calls + skips_not_overloaded + skips_cost_gate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NewidleStats {
    /// Walks that came to this domain (of a CPU: newidle entries).
    pub entries: u64,
    /// Calls the policy was asked about, as `newidle_call` counts them.
    pub calls: u64,
    /// Passes run (`lb_count` of the NEWLY_IDLE block).
    pub runs: u64,
    /// Tasks gained.
    pub pulls: u64,
    /// Not searched: no rq of the root domain had two tasks.
    pub skips_not_overloaded: u64,
    /// Not searched: `avg_idle` below the expected cost.
    pub skips_cost_gate: u64,
    /// Not searched: dice, accumulator, or a policy that never runs.
    pub skips_policy: u64,
}

impl NewidleStats {
    /// Adds another domain's or CPU's counts.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.calls += other.calls;
        self.runs += other.runs;
        self.pulls += other.pulls;
        self.skips_not_overloaded += other.skips_not_overloaded;
        self.skips_cost_gate += other.skips_cost_gate;
        self.skips_policy += other.skips_policy;
    }
}

/// Counters of one domain of one CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SdStats {
    /// schedstat blocks by [`IdleType`].
    pub lb: [LbStats; 3],
    /// Newidle decisions.
    pub newidle: NewidleStats,
    /// Active balance: attempts.
    pub alb_count: u64,
    /// Active balance: nothing moved.
    pub alb_failed: u64,
    /// Active balance: tasks pushed.
    pub alb_pushed: u64,
    /// Wakeups of tasks that last ran elsewhere in this domain.
    pub ttwu_wake_remote: u64,
    /// Wakeups moved to the waking CPU.
    pub ttwu_move_affine: u64,
}

/// The cpu line of schedstat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CpuStats {
    /// `sched_yield` calls.
    pub yld_count: u64,
    /// `schedule()` calls.
    pub sched_count: u64,
    /// `schedule()` calls that left the CPU idle.
    pub sched_goidle: u64,
    /// Wakeups handled.
    pub ttwu_count: u64,
    /// Of those on the waker's own CPU.
    pub ttwu_local: u64,
    /// Run time of tasks, ns.
    pub rq_cpu_time: Ns,
    /// Time tasks waited on the run queue, ns.
    pub run_delay: Ns,
    /// Timeslices run.
    pub pcount: u64,
    /// Context switches, to tasks and to idle.
    pub switches: u64,
    /// Time this CPU sat idle while a task it could have run waited, ns.
    pub idle_while_waiting: Ns,
    /// Time idle, ns.
    pub idle_time: Ns,
    /// Time spent in newidle balance, ns.
    pub newidle_time: Ns,
}

/// Changes of CPU by distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Migrations {
    /// To the SMT sibling.
    pub same_core: u64,
    /// To another core below the LLC.
    pub same_llc: u64,
    /// To another LLC of the node.
    pub cross_llc: u64,
    /// To another node.
    pub cross_node: u64,
}

impl Migrations {
    /// Counts one migration.
    pub fn count(&mut self, distance: Distance) {
        match distance {
            Distance::SameCpu => {}
            Distance::SameCore => self.same_core += 1,
            Distance::SameLlc => self.same_llc += 1,
            Distance::CrossLlc => self.cross_llc += 1,
            Distance::CrossNode => self.cross_node += 1,
        }
    }
}

/// Sub-buckets per power of two of [`Histogram`]: a relative error below 3.2 %.
const SUB: usize = 32;

/// A histogram of times with a relative error below 1/32, of fixed size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: vec![0; SUB * 60],
            count: 0,
        }
    }
}

impl Histogram {
    /// Counts one value.
    pub fn record(&mut self, value: Ns) {
        self.buckets[bucket(value)] += 1;
        self.count += 1;
    }

    /// Values counted.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Lower edge of the bucket that holds the value of this rank
    /// (`per_mille` of 1000); none without values.
    pub fn quantile(&self, per_mille: u64) -> Option<Ns> {
        let rank = (self.count * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        let found = self.buckets.iter().position(|&n| {
            seen += n;
            seen >= rank
        });
        found.filter(|_| self.count > 0).map(lower_edge)
    }
}

fn bucket(value: Ns) -> usize {
    if value < SUB as u64 {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() as usize - SUB.trailing_zeros() as usize;
    SUB * shift + (value >> shift) as usize
}

fn lower_edge(bucket: usize) -> Ns {
    if bucket < 2 * SUB {
        return bucket as Ns;
    }
    let shift = bucket / SUB - 1;
    ((bucket - SUB * shift) as Ns) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_begins_at_most_a_thirty_second_below_its_values() {
        for value in [
            0,
            1,
            31,
            32,
            33,
            63,
            64,
            65,
            1_000,
            123_456,
            987_654_321,
            1 << 50,
        ] {
            let edge = lower_edge(bucket(value));
            assert!(
                edge <= value && value - edge <= value / 32,
                "{value} -> {edge}"
            );
        }
    }

    #[test]
    fn quantiles_follow_the_ranks() {
        let mut histogram = Histogram::default();
        for value in 1..=20 {
            histogram.record(value);
        }
        assert_eq!(histogram.quantile(500), Some(10));
        assert_eq!(histogram.quantile(999), Some(20));
        assert_eq!(Histogram::default().quantile(500), None);
    }
}
