//! The fair class of one CPU: which of its tasks runs, and for how long.
//!
//! Integer, exact and without side effects: the same calls give the same state.
//! The rules are those of EEVDF (several kernels) and of CFS, chosen by
//! [`PickRule`] and the switches in [`FairParams`].
//!
//! # Life cycle
//!
//! The owner keeps a store of [`SchedEntity`], indexed by [`TaskId`], and one
//! [`FairRq`] per CPU; it passes store and parameters along with each call. With
//! control groups a CPU has a [`FairTree`] of such queues, with the same calls.
//!
//! ```text
//!            enqueue(Fork)
//!   new ───────────────────▶ waiting ◀──────────────────────────┐
//!                             │   ▲                             │
//!            switch_to(it)    │   │ switch_to(other)            │ enqueue(Wakeup)
//!                             ▼   │                             │
//!                            running ── dequeue(Sleep) = true ──▶ asleep
//!                             │                                 ▲
//!                             └─ dequeue(Sleep) = false         │
//!                                     │                         │
//!                                     ▼                         │
//!        wake_delayed ◀──────────  delayed ── pick_next ────────┘
//!        (waiting again)     (asleep, queued)  lists it as gone
//! ```
//!
//! - After any call that can change the order of things ask
//!   [`FairRq::need_resched`]. If it is set, and always after a sleep, an exit or
//!   a yield, schedule: [`FairRq::pick_next`], then [`FairRq::switch_to`] with
//!   its answer (None: the idle task, or a task of another class). Keeping the
//!   running task is no switch: it gets no new slice protection.
//! - A woken task is enqueued first, then [`FairRq::check_preempt_wakeup`] asks
//!   whether it should run at once. The same after [`FairRq::wake_delayed`].
//! - At each tick while a task of the class runs: [`FairRq::tick`].
//! - Moving a waiting task: `dequeue(Migrate)` here, `enqueue(Migrate)` there. A
//!   delayed task stays delayed. A sleeper that wakes on another CPU first leaves
//!   this one's clock by [`FairRq::forget_sleeper`]; a new task that starts on
//!   another CPU than its parent's first gets its start by [`FairRq::fork_from`].
//!
//! # Virtual time
//!
//! EEVDF measures a task by its lag to V, the weighted average of all queued
//! vruntimes, rounded down; CFS by its distance to `min_vruntime`. When the queue
//! is empty V stays where the last task left it.
//!
//! Source: placement-and-pick.md 4.1, 6 and 7.

mod adopt;
pub mod arith;
mod cfs;
mod cgroup;
mod eevdf;
mod entity;
mod mainline;
mod params;
mod rq;
mod state;
mod timeline;
mod tree;

pub use cgroup::{Cgroup, CgroupId, ROOT, Store};
pub use entity::{Policy, SchedEntity, TaskId};
pub use params::{FairFeatures, FairParams, PickRule};
pub use state::FairRq;
pub use tree::FairTree;

/// Why a task enters a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueue {
    /// It was just created.
    Fork,
    /// It slept.
    Wakeup,
    /// It was moved while runnable, or its class or attributes changed.
    Migrate,
}

/// Why a task leaves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeue {
    /// It goes to sleep; the queue may keep it (`DELAY_DEQUEUE`).
    Sleep,
    /// It ends.
    Exit,
    /// It is moved while runnable, or its class or attributes change.
    Migrate,
}

/// Kind of a wakeup, for the preemption check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeFlags {
    /// First start of a new task.
    pub fork: bool,
    /// The waker says that it is about to sleep.
    pub sync: bool,
    /// The CPU was chosen by wakeup placement just now.
    pub selected: bool,
}

#[cfg(test)]
mod tests;
