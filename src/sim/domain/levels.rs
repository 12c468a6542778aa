//! The levels a machine offers, before any CPU's chain is cut down.

use std::collections::BTreeMap;

use super::{LevelName, SdFlags};
use crate::sim::{CpuId, CpuMask, Topology};

/// One topology level: which CPUs belong together, seen from each CPU.
pub(super) struct Level {
    pub(super) name: LevelName,
    /// Flags of the level, without those every domain starts with.
    pub(super) flags: SdFlags,
    /// Per CPU, the online CPUs it belongs with at this level. Isolated CPUs
    /// are in here: intervals follow the weight of this mask and not of the
    /// domain made from it (`balancing.md` 1.3, 6.12).
    pub(super) masks: Vec<CpuMask>,
    /// NUMA distance, 0 below the NUMA levels.
    pub(super) numa_distance: u32,
}

/// All levels, smallest first.
pub(super) fn levels(topology: &Topology) -> Vec<Level> {
    let mut levels = vec![
        Level {
            name: LevelName::Smt,
            flags: SdFlags::SHARE_CPUCAPACITY.with(SdFlags::SHARE_LLC),
            masks: same_node_masks(topology, |t, cpu| t.cpus[cpu].core),
            numa_distance: 0,
        },
        Level {
            name: LevelName::Cls,
            flags: SdFlags::CLUSTER.with(SdFlags::SHARE_LLC),
            masks: same_node_masks(topology, |t, cpu| t.cpus[cpu].cluster),
            numa_distance: 0,
        },
        Level {
            name: LevelName::Mc,
            flags: SdFlags::SHARE_LLC,
            masks: same_node_masks(topology, |t, cpu| t.cpus[cpu].llc),
            numa_distance: 0,
        },
    ];
    if !nodes_inside_a_package(topology) {
        levels.push(Level {
            name: LevelName::Pkg,
            flags: SdFlags::default(),
            masks: same_node_masks(topology, |_, _| 0),
            numa_distance: 0,
        });
    }
    levels.extend(distance_levels(topology));
    levels
}

/// Per CPU, the online CPUs of its node with the same `key`.
///
/// The kernel cuts every shared-cache mask to the NUMA node, whatever the
/// hardware says: with SNC an L3 of 32 CPUs makes an MC domain of 16.
fn same_node_masks(topology: &Topology, key: impl Fn(&Topology, usize) -> u32) -> Vec<CpuMask> {
    let mut by_key = BTreeMap::<(u32, u32), CpuMask>::new();
    for id in topology.cpu_ids().filter(|&id| topology.cpu(id).online) {
        let key = (topology.cpu(id).node, key(topology, id.index()));
        by_key.entry(key).or_default().insert(id);
    }
    let mask = |id: CpuId| {
        let key = (topology.cpu(id).node, key(topology, id.index()));
        by_key.get(&key).cloned().unwrap_or_default()
    };
    topology.cpu_ids().map(mask).collect()
}

/// Whether some package holds several NUMA nodes (SNC, NPS2, NPS4): then the
/// whole machine goes without PKG.
fn nodes_inside_a_package(topology: &Topology) -> bool {
    let mut node_of_package = BTreeMap::new();
    let mut online = topology.cpus.iter().filter(|cpu| cpu.online);
    online.any(|cpu| *node_of_package.entry(cpu.package).or_insert(cpu.node) != cpu.node)
}

/// One level per distinct distance: NODE for the smallest, which is that of a
/// node to itself, and NUMA for every further one.
fn distance_levels(topology: &Topology) -> Vec<Level> {
    let has_cpus = |&node: &usize| {
        let mut cpus = topology.cpus.iter();
        cpus.any(|cpu| cpu.online && cpu.node as usize == node)
    };
    let nodes: Vec<usize> = (0..topology.nodes.len()).filter(has_cpus).collect();
    let distance = |from: usize, to: usize| topology.nodes[from].distances[to];
    let mut distances: Vec<u32> = nodes
        .iter()
        .flat_map(|&from| nodes.iter().map(move |&to| distance(from, to)))
        .collect();
    distances.sort_unstable();
    distances.dedup();
    let level = |(index, limit): (usize, u32)| {
        let within = |from: usize| {
            topology.mask_where(|cpu| {
                let to = cpu.node as usize;
                cpu.online && (to == from || distance(from, to) <= limit)
            })
        };
        let per_node: Vec<CpuMask> = (0..topology.nodes.len()).map(within).collect();
        let masks = topology.cpus.iter();
        let masks = masks
            .map(|cpu| per_node[cpu.node as usize].clone())
            .collect();
        if index == 0 {
            Level {
                name: LevelName::Node,
                flags: SdFlags::default(),
                masks,
                numa_distance: 0,
            }
        } else {
            Level {
                name: LevelName::Numa,
                flags: SdFlags::NUMA
                    .with(SdFlags::OVERLAP)
                    .with(SdFlags::SERIALIZE),
                masks,
                numa_distance: limit,
            }
        }
    };
    distances.into_iter().enumerate().map(level).collect()
}
