//! Which CPU a task is put on.
//!
//! `wakeup` for a task that was asleep, `fork` for a new one. Both only choose:
//! the task arrives later, and the CPU may be taken by then.

pub mod arith;
mod fork;
mod wakeup;

use super::CpuId;

/// A choice and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The CPU.
    pub cpu: CpuId,
    /// CPUs looked at beyond the first candidate.
    pub scanned: u32,
}
