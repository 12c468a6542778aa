//! NUMA nodes and their distances.

use std::collections::BTreeMap;

use super::{Cpus, SysTree};
use crate::sim::cpumask::format_cpulist;
use crate::sim::topology::Node;

/// Distance of a node to itself, and to any other where nothing is told.
const LOCAL: u32 = 10;
const REMOTE: u32 = 20;

/// Largest number of nodes: the kernel's own limit is 1024.
const MAX_NODES: usize = 1024;

pub(super) struct Nodes {
    pub(super) nodes: Vec<Node>,
    /// Index of each CPU's node.
    pub(super) of_cpu: BTreeMap<u32, u32>,
}

pub(super) fn read(tree: &SysTree, all: &Cpus, online: &Cpus, notes: &mut Vec<String>) -> Nodes {
    let mut ids: Vec<u32> = tree.numbered("node/node", notes).into_iter().collect();
    if ids.is_empty() {
        notes.push("no NUMA node folders; one node was assumed".into());
        let node = Node {
            os_id: 0,
            distances: vec![LOCAL],
        };
        return Nodes {
            nodes: vec![node],
            of_cpu: BTreeMap::new(),
        };
    }
    if ids.len() > MAX_NODES {
        notes.push(format!("only the first {MAX_NODES} NUMA nodes were read"));
        ids.truncate(MAX_NODES);
    }
    let of_cpu = members(tree, &ids, all, online, notes);
    let nodes = distances(tree, &ids, notes);
    Nodes { nodes, of_cpu }
}

/// A CPU that several nodes claim belongs to the first.
fn members(
    tree: &SysTree,
    ids: &[u32],
    all: &Cpus,
    online: &Cpus,
    notes: &mut Vec<String>,
) -> BTreeMap<u32, u32> {
    let mut of_cpu = BTreeMap::new();
    let (mut twice, mut strange) = (Cpus::new(), Cpus::new());
    for (index, id) in (0_u32..).zip(ids) {
        let folder = format!("node/node{id}");
        for cpu in cpus(tree, &folder, notes) {
            if !all.contains(&cpu) {
                strange.insert(cpu);
            } else if *of_cpu.entry(cpu).or_insert(index) != index {
                twice.insert(cpu);
            }
        }
    }
    let lost: Cpus = online
        .iter()
        .filter(|cpu| !of_cpu.contains_key(cpu))
        .copied()
        .collect();
    for (cpus, what) in [
        (twice, "are in several NUMA nodes; the first was taken"),
        (
            strange,
            "are in a NUMA node and not among the CPUs; they were left out",
        ),
        (lost, "are in no NUMA node; the first was taken"),
    ] {
        if !cpus.is_empty() {
            notes.push(format!("CPUs {} {what}", format_cpulist(cpus.into_iter())));
        }
    }
    of_cpu
}

fn cpus(tree: &SysTree, folder: &str, notes: &mut Vec<String>) -> Cpus {
    let list = tree.list(&format!("{folder}/cpulist"), notes);
    let mask = || super::tree::parse_mask(tree.text(&format!("{folder}/cpumap"))?);
    match list {
        Some(list) => list,
        None => mask().unwrap_or_default().into_iter().collect(),
    }
}

fn distances(tree: &SysTree, ids: &[u32], notes: &mut Vec<String>) -> Vec<Node> {
    let mut guessed = false;
    let mut longer = false;
    let mut nodes = Vec::new();
    for (index, &os_id) in ids.iter().enumerate() {
        let row = row(tree, os_id);
        guessed |= row.is_empty() && ids.len() > 1;
        longer |= row.len() > ids.len();
        let places = places(tree, ids, row.len(), notes);
        let distance = |to: usize| {
            let told = places.get(to).and_then(|&place| row.get(place)).copied();
            told.unwrap_or(if to == index { LOCAL } else { REMOTE })
        };
        nodes.push(Node {
            os_id,
            distances: (0..ids.len()).map(distance).collect(),
        });
    }
    if guessed {
        notes.push(format!(
            "NUMA distances are missing; {LOCAL} and {REMOTE} were assumed"
        ));
    }
    if longer {
        notes.push(
            "distance rows name more NUMA nodes than there are folders; the rest was left out"
                .into(),
        );
    }
    nodes
}

/// The distances of one node; empty if the file is missing or broken.
fn row(tree: &SysTree, id: u32) -> Vec<u32> {
    let text = tree
        .text(&format!("node/node{id}/distance"))
        .unwrap_or_default();
    let row: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
    row.unwrap_or_default()
}

/// Where in a row of `length` values each node stands. The kernel prints one
/// value per online node, which can be more than there are folders.
fn places(tree: &SysTree, ids: &[u32], length: usize, notes: &mut Vec<String>) -> Vec<usize> {
    if length > ids.len() {
        for name in ["node/online", "node/possible"] {
            let listed: Vec<u32> = tree.list(name, notes).into_iter().flatten().collect();
            let places: Vec<usize> = ids
                .iter()
                .filter_map(|id| listed.iter().position(|other| other == id))
                .collect();
            if listed.len() == length && places.len() == ids.len() {
                return places;
            }
        }
        if ids.iter().all(|&id| (id as usize) < length) {
            return ids.iter().map(|&id| id as usize).collect();
        }
    }
    (0..ids.len()).collect()
}
