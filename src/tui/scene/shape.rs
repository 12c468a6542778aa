//! The machine as nested boxes: nodes hold LLCs, LLCs hold cores, cores hold
//! threads. Made once per machine.

use crate::sim::{CpuId, Topology};

/// Nested boxes of one machine, offline CPUs included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// One per package and NUMA node, in CPU order.
    pub nodes: Vec<NodeShape>,
    /// What an LLC is called here: `CCX` on machines that say so.
    pub llc_noun: &'static str,
    /// The kernel's number of each CPU.
    pub os_ids: Vec<u32>,
    /// Where each CPU is.
    pub places: Vec<Place>,
}

/// A NUMA node, or the part of it in one package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeShape {
    /// Package number.
    pub package: u32,
    /// The kernel's node number.
    pub node: u32,
    /// Its last-level caches.
    pub llcs: Vec<LlcShape>,
}

/// A last-level cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlcShape {
    /// Number over the whole machine, counted here.
    pub number: usize,
    /// Cores, each with its threads.
    pub cores: Vec<Vec<CpuId>>,
    /// CPUs in the kernel's list form.
    pub cpulist: String,
}

/// Where a CPU is, as indices into [`Shape`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Index into [`Shape::nodes`].
    pub node: usize,
    /// Number of the LLC over the machine.
    pub llc: usize,
    /// Number of the core over the machine.
    pub core: usize,
}

impl Shape {
    /// The boxes of `topology`.
    pub fn new(topology: &Topology) -> Self {
        let mut shape = Self {
            nodes: Vec::new(),
            llc_noun: if topology.title.contains("CCX") {
                "CCX"
            } else {
                "LLC"
            },
            os_ids: topology.cpus.iter().map(|cpu| cpu.os_id).collect(),
            places: vec![Place::default(); topology.nr_cpus()],
        };
        let (mut llcs_seen, mut cores_seen) = (0, 0);
        for (package, node) in distinct(topology.cpu_ids().map(|id| {
            let cpu = topology.cpu(id);
            (cpu.package, cpu.node)
        })) {
            let in_node: Vec<CpuId> = topology
                .cpu_ids()
                .filter(|&id| {
                    let cpu = topology.cpu(id);
                    (cpu.package, cpu.node) == (package, node)
                })
                .collect();
            let mut llcs = Vec::new();
            for llc in distinct(in_node.iter().map(|&id| topology.cpu(id).llc)) {
                let in_llc: Vec<CpuId> = in_node
                    .iter()
                    .copied()
                    .filter(|&id| topology.cpu(id).llc == llc)
                    .collect();
                let cores = distinct(in_llc.iter().map(|&id| topology.cpu(id).core));
                let cores: Vec<Vec<CpuId>> = cores
                    .map(|core| {
                        let threads = in_llc.iter().copied();
                        threads
                            .filter(|&id| topology.cpu(id).core == core)
                            .collect()
                    })
                    .collect();
                for core in &cores {
                    for &cpu in core {
                        shape.places[cpu.index()] = Place {
                            node: shape.nodes.len(),
                            llc: llcs_seen,
                            core: cores_seen,
                        };
                    }
                    cores_seen += 1;
                }
                llcs.push(LlcShape {
                    number: llcs_seen,
                    cores,
                    cpulist: topology.os_list(&in_llc.iter().copied().collect()),
                });
                llcs_seen += 1;
            }
            shape.nodes.push(NodeShape {
                package,
                node: topology.nodes.get(node as usize).map_or(node, |n| n.os_id),
                llcs,
            });
        }
        shape
    }

    /// Number of CPUs.
    pub fn nr_cpus(&self) -> usize {
        self.os_ids.len()
    }

    /// All LLCs in order.
    pub fn llcs(&self) -> impl Iterator<Item = &LlcShape> {
        self.nodes.iter().flat_map(|node| &node.llcs)
    }

    /// Most cores in an LLC and most threads in a core.
    pub fn widest(&self) -> (usize, usize) {
        let cores = self.llcs().map(|llc| llc.cores.len()).max().unwrap_or(1);
        let threads = self.llcs().flat_map(|llc| llc.cores.iter().map(Vec::len));
        (cores, threads.max().unwrap_or(1))
    }

    /// How many of what, most wanted first.
    pub fn summary(&self) -> Vec<String> {
        let packages = distinct(self.nodes.iter().map(|node| node.package)).count();
        let nodes = distinct(self.nodes.iter().map(|node| node.node)).count();
        let llcs = self.llcs().count();
        let cores = self.llcs().map(|llc| llc.cores.len()).sum::<usize>();
        // What there is only one of says nothing.
        let some = |n: usize, what: &str| (n > 1).then(|| format!("{n} {what}"));
        let parts = [
            Some(format!("{} CPUs", self.nr_cpus())),
            some(llcs, self.llc_noun),
            some(cores, "cores"),
            some(nodes, "nodes"),
            some(packages, "sockets"),
        ];
        parts.into_iter().flatten().collect()
    }
}

/// Each value once, in order of first appearance.
fn distinct<T: PartialEq + Copy>(values: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut seen: Vec<T> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen.into_iter()
}
