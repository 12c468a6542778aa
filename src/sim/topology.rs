//! The shape of a machine: packages, NUMA nodes, LLCs, clusters, cores, SMT
//! threads.

use serde::{Deserialize, Serialize};

use super::CpuMask;

/// A CPU (hardware thread) by its dense index in [`Topology::cpus`].
///
/// Machines with holes in their CPU numbers keep the kernel's number in
/// [`Cpu::os_id`]; everything inside the simulator uses the dense index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CpuId(pub u16);

impl CpuId {
    /// The id with this index. Machines hold fewer than 65,536 CPUs, which
    /// topology validation guarantees.
    pub fn from_index(index: usize) -> Self {
        Self(u16::try_from(index).expect("topologies are validated to hold at most 65,535 CPUs"))
    }

    /// Index into per-CPU tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Full-speed CPU capacity, and 1.0 in every 1024ths scale of the scheduler.
pub const CAPACITY_SCALE: u32 = 1024;

/// Most CPUs a machine may have. The largest of the published results has 512;
/// twice that still draws and builds at once.
pub const MAX_CPUS: usize = 1024;

/// One hardware thread and what it belongs to.
///
/// The group fields are small dense numbers: two CPUs share the thing exactly
/// if the numbers are equal. They carry no other meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The kernel's CPU number.
    pub os_id: u32,
    /// Offline CPUs are drawn but never used.
    pub online: bool,
    /// Taken out of load balancing (`isolcpus=domain`): has no sched domain.
    pub isolated: bool,
    /// Core: CPUs with equal numbers are SMT siblings.
    pub core: u32,
    /// Cluster: CPUs sharing the L2 cache.
    pub cluster: u32,
    /// Last-level cache (CCX on AMD).
    pub llc: u32,
    /// Die inside a package.
    pub die: u32,
    /// Package (socket).
    pub package: u32,
    /// Index into [`Topology::nodes`].
    pub node: u32,
    /// What the balancer believes the CPU can do, of 1024.
    pub capacity: u32,
    /// How fast it truly runs when its SMT siblings are idle, of 1024.
    pub speed: u32,
}

/// A NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kernel's node number.
    pub os_id: u32,
    /// Distance to every node in [`Topology::nodes`] order (SLIT; 10 = local).
    pub distances: Vec<u32>,
}

/// A validated machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Short id, such as `tr-9960x`.
    pub id: String,
    /// One line for people, such as `Threadripper 9960X, 4 CCX x 6 cores, SMT`.
    pub title: String,
    /// Every CPU, ascending by [`Cpu::os_id`].
    pub cpus: Vec<Cpu>,
    /// NUMA nodes, ascending by [`Node::os_id`]; at least one.
    pub nodes: Vec<Node>,
    /// NUMA distance beyond which fork, exec and wakeup balancing stop: 30,
    /// or 32 on AMD Zen.
    pub node_reclaim_distance: u32,
    /// What the scheduler's own work costs on this machine.
    pub costs: super::cost::Costs,
}

impl Topology {
    /// Number of CPUs, offline ones included.
    pub fn nr_cpus(&self) -> usize {
        self.cpus.len()
    }

    /// All ids in ascending order.
    pub fn cpu_ids(&self) -> impl Iterator<Item = CpuId> + use<> {
        (0..self.cpus.len()).map(CpuId::from_index)
    }

    /// The CPU with this id.
    pub fn cpu(&self, id: CpuId) -> &Cpu {
        &self.cpus[id.index()]
    }

    /// Online CPUs.
    pub fn online(&self) -> CpuMask {
        self.mask_where(|cpu| cpu.online)
    }

    /// Online CPUs that take part in load balancing.
    pub fn active(&self) -> CpuMask {
        self.mask_where(|cpu| cpu.online && !cpu.isolated)
    }

    /// CPUs for which `keep` holds.
    pub fn mask_where(&self, keep: impl Fn(&Cpu) -> bool) -> CpuMask {
        self.cpu_ids().filter(|&id| keep(self.cpu(id))).collect()
    }

    /// A set of CPUs in the kernel's list form, by the kernel's numbers.
    pub fn os_list(&self, mask: &CpuMask) -> String {
        super::cpumask::format_cpulist(mask.iter().map(|id| self.cpu(id).os_id))
    }

    /// How far apart two CPUs are.
    pub fn distance(&self, a: CpuId, b: CpuId) -> Distance {
        let (x, y) = (self.cpu(a), self.cpu(b));
        if a == b {
            Distance::SameCpu
        } else if x.core == y.core {
            Distance::SameCore
        } else if x.llc == y.llc {
            Distance::SameLlc
        } else if x.node == y.node {
            Distance::CrossLlc
        } else {
            Distance::CrossNode
        }
    }
}

/// How far apart two CPUs are, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Distance {
    /// The same hardware thread.
    SameCpu,
    /// SMT siblings.
    SameCore,
    /// Another core below the same last-level cache.
    SameLlc,
    /// Another last-level cache of the same NUMA node.
    CrossLlc,
    /// Another NUMA node.
    CrossNode,
}
