//! Sched domains and groups of a topology.
//!
//! Every CPU owns a private chain of domains, smallest first. A domain's groups
//! are the spans of its child domains and form a ring that starts with the
//! CPU's own group. Source: `balancing.md` section 1, and the trees of booted
//! kernels, which decide where the two differ.
//!
//! [`build`] goes in the order the kernel does, because each step sees what the
//! one before left behind:
//!
//! ```text
//! levels   SMT, CLS, MC, PKG, NODE, NUMA... : a mask of online CPUs per CPU
//! chains   per active CPU: mask & partition, until one covers the partition
//! groups   a ring per domain, made of the domains one level down
//! imb      imb_numa_nr, still over all levels
//! prune    drop domains that add nothing; what is left inherits
//! ```

mod build;
mod groups;
mod levels;
mod prune;
#[cfg(test)]
mod tests;

pub use build::imb_numa_nr;

use std::fmt;

use super::{CpuId, CpuMask, Topology};

/// A set of `SD_*` flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SdFlags(pub u32);

impl SdFlags {
    /// Balance when about to become idle.
    pub const BALANCE_NEWIDLE: Self = Self(1 << 0);
    /// Balance on exec.
    pub const BALANCE_EXEC: Self = Self(1 << 1);
    /// Balance on fork and clone.
    pub const BALANCE_FORK: Self = Self(1 << 2);
    /// Consider waking a task on the waking CPU.
    pub const WAKE_AFFINE: Self = Self(1 << 3);
    /// The CPUs are threads of one core.
    pub const SHARE_CPUCAPACITY: Self = Self(1 << 4);
    /// The CPUs share an L2 cluster.
    pub const CLUSTER: Self = Self(1 << 5);
    /// The CPUs share the last-level cache.
    pub const SHARE_LLC: Self = Self(1 << 6);
    /// Only one balance instance at a time, machine-wide.
    pub const SERIALIZE: Self = Self(1 << 7);
    /// Place busy tasks on the CPUs of highest priority.
    pub const ASYM_PACKING: Self = Self(1 << 8);
    /// Prefer to spread tasks over the child domains.
    pub const PREFER_SIBLING: Self = Self(1 << 9);
    /// Groups may overlap.
    pub const OVERLAP: Self = Self(1 << 10);
    /// Spans NUMA nodes.
    pub const NUMA: Self = Self(1 << 11);
    /// CPUs of different capacity.
    pub const ASYM_CPUCAPACITY: Self = Self(1 << 12);
    /// Every capacity value of the machine is in here.
    pub const ASYM_CPUCAPACITY_FULL: Self = Self(1 << 13);

    /// Whether all of `flags` are set.
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Every flag that makes sense only with two or more groups: all but
    /// WAKE_AFFINE.
    const NEEDS_GROUPS: Self = Self(((1 << 14) - 1) & !Self::WAKE_AFFINE.0);

    /// Every flag, by the name the kernel prints after `SD_`, in the kernel's
    /// order.
    pub const NAMES: [(Self, &'static str); 14] = [
        (Self::BALANCE_NEWIDLE, "BALANCE_NEWIDLE"),
        (Self::BALANCE_EXEC, "BALANCE_EXEC"),
        (Self::BALANCE_FORK, "BALANCE_FORK"),
        (Self::WAKE_AFFINE, "WAKE_AFFINE"),
        (Self::ASYM_CPUCAPACITY, "ASYM_CPUCAPACITY"),
        (Self::ASYM_CPUCAPACITY_FULL, "ASYM_CPUCAPACITY_FULL"),
        (Self::SHARE_CPUCAPACITY, "SHARE_CPUCAPACITY"),
        (Self::CLUSTER, "CLUSTER"),
        (Self::SHARE_LLC, "SHARE_LLC"),
        (Self::SERIALIZE, "SERIALIZE"),
        (Self::ASYM_PACKING, "ASYM_PACKING"),
        (Self::PREFER_SIBLING, "PREFER_SIBLING"),
        (Self::OVERLAP, "OVERLAP"),
        (Self::NUMA, "NUMA"),
    ];

    /// Names of the set flags, without `SD_`, in the kernel's order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let set = Self::NAMES
            .into_iter()
            .filter(move |(flag, _)| self.has(*flag));
        set.map(|(_, name)| name)
    }

    /// With `flags` set as well.
    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }

    /// With `flags` cleared.
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }
}

/// The kernel's name of a domain level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LevelName {
    /// Hardware threads of one core.
    Smt,
    /// Cores sharing the L2 cache.
    Cls,
    /// CPUs sharing the last-level cache.
    Mc,
    /// CPUs of the NUMA node (`DIE` in 6.1).
    Pkg,
    /// CPUs of the NUMA node where PKG was skipped.
    Node,
    /// CPUs within a NUMA distance.
    Numa,
}

impl fmt::Display for LevelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Smt => "SMT",
            Self::Cls => "CLS",
            Self::Mc => "MC",
            Self::Pkg => "PKG",
            Self::Node => "NODE",
            Self::Numa => "NUMA",
        })
    }
}

/// Index into [`SchedDomains::groups`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// One sched group. Groups that are the same for several CPUs are stored once,
/// so state kept per group (`sgc`) is shared as in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedGroup {
    /// CPUs of the group.
    pub span: CpuMask,
    /// CPUs that may balance for the group; the span unless groups overlap.
    pub balance_mask: CpuMask,
    /// Flags of the child domain; none at the lowest level.
    pub flags: SdFlags,
    /// Distinct cores in the span.
    pub cores: u32,
    /// The span in ascending order, for loops.
    pub cpus: Vec<CpuId>,
    /// Index of the state (`sgc`: capacity, imbalance) that all views of this
    /// group share, below [`SchedDomains::nr_sgc`]. Two NUMA groups can differ
    /// in their flags, which are private to the CPU looking, and still share it.
    pub sgc: u32,
}

impl SchedGroup {
    /// `group_balance_cpu`, also the group's id: lowest of the balance mask.
    pub fn balance_cpu(&self) -> CpuId {
        self.balance_mask.lowest().unwrap_or(self.cpus[0])
    }

    /// Number of CPUs.
    pub fn weight(&self) -> u32 {
        self.cpus.len() as u32
    }
}

/// One sched_domain of one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedDomain {
    /// Name of the level.
    pub name: LevelName,
    /// Level number before degenerate domains were removed, 0 at the bottom.
    pub level: u32,
    /// CPUs of the domain.
    pub span: CpuMask,
    /// Behaviour flags.
    pub flags: SdFlags,
    /// Shortest balance interval, ms; also the initial `balance_interval`.
    pub min_interval_ms: u32,
    /// Longest balance interval, ms.
    pub max_interval_ms: u32,
    /// Interval multiplier of a busy CPU.
    pub busy_factor: u32,
    /// Imbalance tolerated, percent (117 = 17 %).
    pub imbalance_pct: u32,
    /// Failed passes after which cache-hot tasks may move.
    pub cache_nice_tries: u32,
    /// Imbalance tolerated between NUMA groups, tasks.
    pub imb_numa_nr: u32,
    /// Ring of groups from this CPU's own.
    pub groups: Vec<GroupId>,
    /// For the lowest NUMA level and above: NUMA distance of the level; else 0.
    pub numa_distance: u32,
}

impl SchedDomain {
    /// Number of CPUs in the span.
    pub fn span_weight(&self) -> u32 {
        self.span.len() as u32
    }
}

/// All domains of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedDomains {
    /// Chain of each CPU, lowest level first; empty for offline, isolated and
    /// lone CPUs.
    pub per_cpu: Vec<Vec<SchedDomain>>,
    /// Every distinct group.
    pub groups: Vec<SchedGroup>,
    /// Per CPU, the mask of its LLC scheduling domain (`sd_llc`): highest
    /// SHARE_LLC domain, or the CPU alone.
    pub llc: Vec<CpuMask>,
    /// Number of distinct shared group states, see [`SchedGroup::sgc`].
    pub nr_sgc: u32,
}

impl SchedDomains {
    /// The chain of one CPU.
    pub fn of(&self, cpu: CpuId) -> &[SchedDomain] {
        &self.per_cpu[cpu.index()]
    }

    /// A group.
    pub fn group(&self, id: GroupId) -> &SchedGroup {
        &self.groups[id.0 as usize]
    }
}

/// Builds the domains of `topology` as the kernel would.
pub fn build(topology: &Topology) -> SchedDomains {
    build::build(topology)
}
