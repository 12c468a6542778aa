//! What the fair class knows of one task (or of a group on one CPU).

use super::arith::{IDLE_WEIGHT, nice_weight, sum_inverse, task_inverse, vdelta};
use super::params::FairParams;
use crate::sim::time::Ns;

/// Index of a task's entity in the store that its owner passes along.
pub type TaskId = u32;

/// Scheduling policy within the fair class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_NORMAL`.
    #[default]
    Normal,
    /// `SCHED_BATCH`: never preempts at a wakeup.
    Batch,
    /// `SCHED_IDLE`: weight 3, and preempted at once by the other policies.
    Idle,
}

/// State of one entity. It lives on as the task sleeps and moves.
///
/// While an entity waits in a queue the queue holds a copy of its vruntime,
/// deadline, weight and slice; change those through [`super::FairRq`] only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedEntity {
    /// Virtual time it has run, ns at weight 1024.
    pub vruntime: i64,
    /// Virtual time by which its present slice should be served.
    pub deadline: i64,
    /// Lag kept while it is not queued: V - vruntime, clamped.
    pub vlag: i64,
    /// End of slice protection while it runs; what it means depends on the rule.
    pub(super) protect: i64,
    /// CPU time it asks for at a time, ns.
    pub slice: Ns,
    /// When its running time was last accounted.
    pub exec_start: Ns,
    /// CPU time in its life, ns.
    pub sum_exec: Ns,
    /// `sum_exec` when it was last switched in.
    pub prev_sum_exec: Ns,
    /// Weight, 1024 at nice 0.
    pub weight: u32,
    /// 2^32 / weight, as the kernel's table rounds it.
    pub(super) inverse: u32,
    /// Policy.
    pub policy: Policy,
    /// The slice was set by the task and does not follow the base slice.
    pub custom_slice: bool,
    /// Queued: waiting, running, or asleep but delayed.
    pub on_rq: bool,
    /// Asleep, but queued until its lag is worked off.
    pub delayed: bool,
    /// `deadline` is relative to `vruntime`, to be restored on the next queue.
    pub rel_deadline: bool,
    /// CFS only: `vruntime` is relative to a queue's `min_vruntime`.
    pub(super) rel_vruntime: bool,
}

impl SchedEntity {
    /// A task that has never run. Policy `Idle` outranks `nice`.
    #[must_use]
    pub fn new(policy: Policy, nice: i8) -> Self {
        let weight = match policy {
            Policy::Idle => IDLE_WEIGHT,
            Policy::Normal | Policy::Batch => nice_weight(nice),
        };
        Self::with_weight(policy, weight, task_inverse(weight))
    }

    /// The entity of a group on one CPU. `idle` is its `cpu.idle`.
    #[must_use]
    pub fn group(weight: u32, idle: bool) -> Self {
        let policy = if idle { Policy::Idle } else { Policy::Normal };
        Self::with_weight(policy, weight, sum_inverse(u64::from(weight)))
    }

    fn with_weight(policy: Policy, weight: u32, inverse: u32) -> Self {
        Self {
            vruntime: 0,
            deadline: 0,
            vlag: 0,
            protect: i64::MIN,
            slice: 0,
            exec_start: 0,
            sum_exec: 0,
            prev_sum_exec: 0,
            weight,
            inverse,
            policy,
            custom_slice: false,
            on_rq: false,
            delayed: false,
            rel_deadline: false,
            rel_vruntime: false,
        }
    }

    /// Gives the entity a slice of its own, kept between 0.1 and 100 ms.
    #[must_use]
    pub fn with_slice(mut self, slice: Ns) -> Self {
        self.slice = slice.clamp(100_000, 100_000_000);
        self.custom_slice = true;
        self
    }

    /// Whether it is SCHED_IDLE, or a group with `cpu.idle`.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.policy == Policy::Idle
    }

    /// Virtual length of `delta` ns of running.
    #[inline]
    pub(super) fn vdelta(&self, delta: Ns) -> i64 {
        vdelta(delta, self.weight, self.inverse)
    }

    /// Virtual length of its slice, which follows the base slice unless custom.
    #[inline]
    pub(super) fn renew_slice(&mut self, p: &FairParams) -> i64 {
        if !self.custom_slice {
            self.slice = p.base_slice;
        }
        self.vdelta(self.slice)
    }
}
