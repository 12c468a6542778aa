//! Tasks: what is scheduled.

use super::pelt::{Pelt, UtilEst};
use super::rng::Stream;
use super::workload::{Allowed, ClassId, QueueId, TeamId};
use super::{CpuId, Ns};

/// Index of a task's slot. Slots of tasks that left are used again.
pub type TaskId = u32;

/// A task that may have left meanwhile: the slot and its use count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskRef {
    /// The slot.
    pub id: TaskId,
    /// Which user of the slot.
    pub generation: u32,
}

/// Which scheduler runs a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedClass {
    /// SCHED_FIFO: before every other task.
    Fifo,
    /// The fair class: SCHED_NORMAL, SCHED_BATCH, SCHED_IDLE.
    Fair,
    /// The scheduler that stands in for the fair class ([`super::ext`]).
    Ext,
}

/// Where a task is. Every task is in exactly one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the runqueue of its CPU, running or waiting.
    Queued,
    /// Chosen by a waker, not yet on a runqueue.
    Waking,
    /// Blocked.
    Asleep,
    /// Blocked, but still on the runqueue of its CPU (`DELAY_DEQUEUE`).
    Delayed,
    /// A client outside of the machine, between two timers or waiting.
    External,
    /// Slot not in use.
    Dead,
}

/// How far the operation at the program counter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing begun: the operation at the program counter is next.
    Start,
    /// Using the CPU for `Run`.
    Work,
    /// Spinning at a barrier since the team's round `round`.
    Spin {
        /// Whose barrier.
        team: TeamId,
        /// Round at arrival.
        round: u32,
    },
    /// Choosing a CPU for a task to wake; done when the time is up.
    Select {
        /// The task to wake.
        wakee: TaskRef,
        /// The CPU chosen when the selection began.
        target: CpuId,
    },
    /// Blocked in `Sleep`.
    Sleeping,
    /// Blocked in `Wait`.
    Waiting(QueueId),
    /// Blocked in `AwaitReply`.
    Awaiting,
    /// Blocked at a barrier.
    AtBarrier(TeamId),
}

impl Task {
    /// Whether the fair class runs it.
    #[inline]
    pub const fn is_fair(&self) -> bool {
        matches!(self.sched, SchedClass::Fair)
    }

    /// Whether it may use `cpu`.
    pub fn may_use(&self, cpu: CpuId) -> bool {
        self.allowed
            .as_deref()
            .is_none_or(|mask| mask.contains(cpu))
    }
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Use count of the slot.
    pub generation: u32,
    /// Its class.
    pub class: ClassId,
    /// Number inside the class.
    pub index: u32,
    /// Where it is.
    pub place: Place,
    /// CPU whose runqueue it is on, or last was.
    pub cpu: CpuId,
    /// CPUs it may use.
    pub allowed: Allowed,
    /// The only CPU it may use.
    pub pinned: Option<CpuId>,
    /// Affinity set for the account of idle CPUs beside waiting tasks.
    pub affinity_set: Option<u16>,
    /// Which scheduler runs it.
    pub sched: SchedClass,
    /// Its random stream.
    pub stream: Stream,
    /// Program counter.
    pub pc: usize,
    /// Loop counters.
    pub counters: Vec<u32>,
    /// How far the operation is.
    pub step: Step,
    /// Work left in the operation, ns at full speed.
    pub left: Ns,
    /// Delay to be charged when it next runs: caches to refill.
    pub refill: Ns,
    /// Senders of the tokens taken last, to be answered.
    pub taken: Vec<TaskRef>,
    /// Tasks still to be woken by the operation.
    pub to_wake: Vec<TaskRef>,
    /// Answered before it waited for the answer.
    pub replied: bool,
    /// Teams it belongs to by now.
    pub member: bool,
    /// Units done, for growth.
    pub rounds: u32,
    /// Asked to leave the mix.
    pub leaving: bool,
    /// Load tracking.
    pub pelt: Pelt,
    /// Estimated utilisation of its last activation.
    pub util_est: UtilEst,
    /// When it was woken, until it runs.
    pub woken_at: Option<Ns>,
    /// Since when it waits on the runqueue.
    pub waiting_since: Ns,
}
