//! What a topology file may hold, and what it may leave out.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::scenario::units::Time;
use crate::sim::cpumask::parse_cpulist;

/// Version of the format.
pub(super) const FORMAT: u32 = 1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopologyFile {
    pub(super) format: u32,
    pub(super) id: String,
    pub(super) title: String,
    /// Other names.
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    /// Where the shape comes from.
    #[serde(default)]
    pub(super) note: String,
    pub(super) shape: Shape,
    /// CPUs that are not as capable as the rest.
    #[serde(default)]
    pub(super) kinds: Vec<Kind>,
    #[serde(default)]
    pub(super) offline: CpuList,
    #[serde(default)]
    pub(super) isolated: CpuList,
    /// A row per node; may be left out if there is one node.
    #[serde(default)]
    pub(super) distances: Vec<Vec<u32>>,
    #[serde(default = "default_reclaim_distance")]
    pub(super) node_reclaim_distance: u32,
    #[serde(default)]
    pub(super) costs: CostsFile,
    /// Source of each cost given, by field name.
    #[serde(default)]
    pub(super) basis: BTreeMap<String, String>,
}

/// 30 on all machines but AMD Zen, which has 32 (`balancing.md` 9).
fn default_reclaim_distance() -> u32 {
    30
}

fn one() -> u32 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Shape {
    /// The same everywhere.
    Uniform {
        #[serde(default = "one")]
        packages: u32,
        #[serde(default = "one")]
        nodes_per_package: u32,
        #[serde(default = "one")]
        llcs_per_node: u32,
        cores_per_llc: u32,
        /// Cores sharing an L2 cache.
        #[serde(default = "one")]
        cores_per_cluster: u32,
        #[serde(default = "one")]
        threads_per_core: u32,
        #[serde(default)]
        siblings: Siblings,
        #[serde(default)]
        llcs: LlcOrder,
    },
    /// CPU by CPU. What is left out is: clusters as the cores, LLCs as the
    /// clusters, one package, dies as the packages, one node.
    Listed {
        cores: Vec<CpuList>,
        clusters: Option<Vec<CpuList>>,
        llcs: Option<Vec<CpuList>>,
        dies: Option<Vec<CpuList>>,
        packages: Option<Vec<CpuList>>,
        nodes: Option<Vec<CpuList>>,
    },
}

/// Numbers of SMT siblings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Siblings {
    /// All first threads, then all second ones: most firmware.
    #[default]
    SecondHalf,
    /// 0 and 1, 2 and 3: QEMU.
    Adjacent,
}

/// Which cores of a node share an LLC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LlcOrder {
    /// Neighbours.
    #[default]
    Blocks,
    /// Every n-th, n being the number of LLCs.
    Modulo,
}

/// CPUs of one kind on a machine of several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kind {
    pub(super) cpus: CpuList,
    /// What the balancer believes, of 1024.
    #[serde(default = "full")]
    pub(super) capacity: u32,
    /// How fast they truly run, of 1024.
    #[serde(default = "full")]
    pub(super) speed: u32,
}

fn full() -> u32 {
    crate::sim::topology::CAPACITY_SCALE
}

/// Costs that differ from the default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CostsFile {
    pub(super) context_switch: Option<Time>,
    pub(super) tick: Option<Time>,
    pub(super) wake_select: Option<Time>,
    pub(super) wake_scan_per_cpu: Option<Time>,
    pub(super) wake_send: Option<Time>,
    pub(super) ipi: Option<ByDistanceFile>,
    pub(super) idle_exit: Option<Time>,
    pub(super) irq: Option<Time>,
    pub(super) balance_pass: Option<Time>,
    pub(super) balance_per_cpu: Option<ByDistanceFile>,
    pub(super) detach: Option<ByDistanceFile>,
    pub(super) blocked_update: Option<Time>,
    /// Sigma of the lognormal factor, thousandths.
    pub(super) balance_spread_permille: Option<u32>,
    pub(super) refill_per_mib: Option<ByDistanceFile>,
    pub(super) l2_kib: Option<u32>,
    /// Speed of a thread whose sibling is busy, as a fraction of its lone speed.
    pub(super) smt_speed: Option<f64>,
}

/// Distances left out keep the default.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ByDistanceFile {
    pub(super) same_core: Option<Time>,
    pub(super) same_llc: Option<Time>,
    pub(super) cross_llc: Option<Time>,
    pub(super) cross_node: Option<Time>,
}

/// CPU numbers as the kernel lists them: `"0-5,24-29"`.
#[derive(Clone, Debug, Default)]
pub(super) struct CpuList(pub(super) Vec<u32>);

impl<'de> Deserialize<'de> for CpuList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_cpulist(&text).map(Self).map_err(D::Error::custom)
    }
}
