//! Domain trees read out of booted kernels, and their comparison with the ones
//! built here.
//!
//! A domain file describes a machine (per CPU: core, L2, L3, die, package, node)
//! and the sched domains a kernel made of it. The first part becomes a
//! [`Topology`], the second is what [`crate::sim::domain::build`] must give.

mod format;
mod verify;

use crate::scenario::problem::{Problem, Problems};
use crate::sim::domain::{LevelName, SdFlags};
use crate::sim::topology::Topology;

pub use verify::{Mismatch, verify};

/// A machine and the domains a kernel built for it.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainFile {
    /// Name the file gives itself.
    pub name: String,
    /// The machine.
    pub topology: Topology,
    /// Chain of each CPU of the topology, lowest level first.
    pub expected: Vec<Vec<ExpectedDomain>>,
    /// Per CPU, the weight of its LLC domain; none where the file is silent or
    /// the CPU is offline or isolated.
    pub llc_size: Vec<Option<u32>>,
}

/// A sched domain as a kernel had it. CPUs are kernel numbers, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedDomain {
    /// Level name; `DIE` of older kernels is PKG.
    pub name: LevelName,
    /// CPUs.
    pub span: Vec<u32>,
    /// Flags; `SHARE_PKG_RESOURCES` of older kernels is SHARE_LLC.
    pub flags: SdFlags,
    /// ms.
    pub min_interval: u32,
    /// ms.
    pub max_interval: u32,
    /// Interval multiplier of a busy CPU.
    pub busy_factor: u32,
    /// Percent.
    pub imbalance_pct: u32,
    /// Failed passes.
    pub cache_nice_tries: u32,
    /// Tasks.
    pub imb_numa_nr: u32,
    /// The ring from the CPU's own group.
    pub ring: Vec<ExpectedGroup>,
}

/// A sched group as a kernel had it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedGroup {
    /// CPUs.
    pub span: Vec<u32>,
    /// `sgc->id`.
    pub id: u32,
    /// CPUs that may balance for the group.
    pub balance_mask: Vec<u32>,
    /// Distinct cores; older kernels do not count them.
    pub cores: Option<u32>,
    /// Flags of the child domain.
    pub flags: SdFlags,
}

/// Reads a domain file. `source` names it in messages.
pub fn parse(source: &str, text: &str) -> Result<DomainFile, Problems> {
    format::parse(source, text)
}
