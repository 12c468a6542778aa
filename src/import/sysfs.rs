//! A machine out of the files of `/sys/devices/system/{cpu,node}`.
//!
//! The files come from running kernels of any age, from containers, and from
//! snapshots of which parts were lost. So nothing here is required but one CPU;
//! whatever is missing or contradicts itself is filled with the most likely
//! value and told in a note.
//!
//! | what | read from, first found | else |
//! |---|---|---|
//! | online | `cpu/online`, `cpuN/online` | online |
//! | core | `core_cpus`, `thread_siblings` | the CPU alone |
//! | package | `physical_package_id`, `package_cpus`, `core_siblings` | one package |
//! | die | `die_id`, `die_cpus` | the package |
//! | cluster | the L2 cache, `cluster_cpus` | the core |
//! | LLC | the L3 cache, the L2 cache, `cluster_cpus` | the package |
//! | node | `nodeN/cpulist`, `nodeN/cpumap` | one node |

mod caches;
mod nodes;
mod partition;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use crate::scenario::problem::Problem;
use crate::sim::cost::Costs;
use crate::sim::cpumask::format_cpulist;
use crate::sim::topology::{CAPACITY_SCALE, Cpu, MAX_CPUS, Topology};

use partition::Partition;
pub use tree::SysTree;

/// A set of kernel CPU numbers.
type Cpus = BTreeSet<u32>;

/// A machine and what had to be guessed of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The machine.
    pub topology: Topology,
    /// What was lost or guessed, a sentence each.
    pub notes: Vec<String>,
}

/// Reads a machine out of `tree`; `source` names the tree in messages and
/// becomes the id.
pub fn import(source: &str, tree: &SysTree) -> Result<Imported, Problem> {
    let mut notes = Vec::new();
    let (all, online) = cpus(tree, &mut notes);
    let refuse = |what: String, remedy: &str| {
        Err(Problem {
            source: source.into(),
            at: None,
            what,
            remedy: remedy.into(),
        })
    };
    if online.is_empty() {
        let remedy = "give a folder that holds sys/devices/system/cpu with an online CPU";
        return refuse("there is no online CPU in it".into(), remedy);
    }
    if all.len() > MAX_CPUS {
        let remedy = "1 to 1024 CPUs can be modelled";
        return refuse(format!("it has {} CPUs", all.len()), remedy);
    }
    let isolated = tree.list("cpu/isolated", &mut notes).unwrap_or_default();
    let cores = cores(tree, &online, &mut notes);
    let packages = packages(tree, &online, &mut notes);
    let dies = dies(tree, &online, &packages);
    let clusters = caches::clusters(tree, &online, &cores, &packages, &mut notes);
    let mut llcs = caches::llcs(tree, &online, &clusters, &packages, &mut notes);
    if llcs.widen_to_hold(&cores) {
        notes.push("some core lies over several last-level caches; they were joined".into());
    }
    let nodes = nodes::read(tree, &all, &online, &mut notes);
    let capacities = capacities(tree, &online, &mut notes);
    let cpu = |&os_id: &u32| {
        let (capacity, speed) = capacities
            .get(&os_id)
            .copied()
            .unwrap_or((CAPACITY_SCALE, CAPACITY_SCALE));
        Cpu {
            os_id,
            online: online.contains(&os_id),
            isolated: isolated.contains(&os_id),
            core: cores.of(os_id),
            cluster: clusters.of(os_id),
            llc: llcs.of(os_id),
            die: dies.of(os_id),
            package: packages.of(os_id),
            node: nodes.of_cpu.get(&os_id).copied().unwrap_or(0),
            capacity,
            speed,
        }
    };
    notes.push("costs are the defaults: the files do not tell them".into());
    let topology = Topology {
        id: source.into(),
        title: tree.model().unwrap_or_else(|| source.into()),
        cpus: all.iter().map(cpu).collect(),
        nodes: nodes.nodes,
        node_reclaim_distance: if tree.is_zen() { 32 } else { 30 },
        costs: Costs::default(),
    };
    Ok(Imported { topology, notes })
}

/// All CPUs and the online ones.
fn cpus(tree: &SysTree, notes: &mut Vec<String>) -> (Cpus, Cpus) {
    let dirs = tree.numbered("cpu/cpu", notes);
    let online = match tree.list("cpu/online", notes) {
        Some(online) => online,
        None => {
            notes.push("`cpu/online` is missing; CPUs that do not say they are offline were taken as online".into());
            let says_offline = |cpu: &u32| tree.text(&format!("cpu/cpu{cpu}/online")) == Some("0");
            dirs.iter()
                .filter(|cpu| !says_offline(cpu))
                .copied()
                .collect()
        }
    };
    let without: Cpus = online.difference(&dirs).copied().collect();
    if !without.is_empty() {
        let list = format_cpulist(without.into_iter());
        notes.push(format!(
            "CPUs {list} are online and have no folder; they were taken as single cores"
        ));
    }
    (dirs.union(&online).copied().collect(), online)
}

fn cores(tree: &SysTree, online: &Cpus, notes: &mut Vec<String>) -> Partition {
    let set = |cpu: u32| {
        let topology = format!("cpu/cpu{cpu}/topology");
        tree.cpus(&topology, &["core_cpus", "thread_siblings"])
    };
    Partition::from_sets("core", online, set, notes)
}

fn packages(tree: &SysTree, online: &Cpus, notes: &mut Vec<String>) -> Partition {
    let id = |cpu: u32| tree.number(&format!("cpu/cpu{cpu}/topology/physical_package_id"));
    if online.iter().any(|&cpu| id(cpu).is_some()) {
        if online.iter().any(|&cpu| id(cpu) == Some(-1)) {
            notes.push(
                "`physical_package_id` is -1, unknown; such CPUs were taken as one package".into(),
            );
        }
        return Partition::from_keys(online, id);
    }
    let set = |cpu: u32| {
        let topology = format!("cpu/cpu{cpu}/topology");
        tree.cpus(&topology, &["package_cpus", "core_siblings"])
    };
    if online.iter().any(|&cpu| set(cpu).is_some()) {
        return Partition::from_sets("package", online, set, notes);
    }
    notes.push("no package ids; one package was assumed".into());
    Partition::from_keys(online, |_| Some(0))
}

fn dies(tree: &SysTree, online: &Cpus, packages: &Partition) -> Partition {
    let id = |cpu: u32| tree.number(&format!("cpu/cpu{cpu}/topology/die_id"));
    let set = |cpu: u32| tree.cpus(&format!("cpu/cpu{cpu}/topology"), &["die_cpus"]);
    let key = |cpu: u32| {
        let in_package = match id(cpu) {
            Some(id) => id,
            None => set(cpu)
                .and_then(|die| die.first().copied())
                .map_or(-1, i64::from),
        };
        Some((packages.of(cpu), in_package))
    };
    Partition::from_keys(online, key)
}

/// Per CPU, what the balancer believes and the true speed, where they are not
/// those of every CPU.
fn capacities(tree: &SysTree, online: &Cpus, notes: &mut Vec<String>) -> BTreeMap<u32, (u32, u32)> {
    let scale = i64::from(CAPACITY_SCALE);
    let capacity = |cpu: u32| {
        let told = tree.number(&format!("cpu/cpu{cpu}/cpu_capacity"))?;
        Some(told.clamp(1, scale) as u32)
    };
    let frequency = |cpu: u32| {
        let told = tree.number(&format!("cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"))?;
        (told > 0).then_some(told)
    };
    let fastest = online.iter().filter_map(|&cpu| frequency(cpu)).max();
    let mut guessed = false;
    let mut of = |cpu: u32| {
        if let Some(capacity) = capacity(cpu) {
            return (capacity, capacity);
        }
        let (Some(frequency), Some(fastest)) = (frequency(cpu), fastest) else {
            return (CAPACITY_SCALE, CAPACITY_SCALE);
        };
        guessed |= frequency < fastest;
        let speed = i128::from(frequency) * i128::from(scale) / i128::from(fastest);
        (CAPACITY_SCALE, (speed as u32).max(1))
    };
    let capacities = online.iter().map(|&cpu| (cpu, of(cpu))).collect();
    if guessed {
        notes.push("CPUs of unequal highest frequency and no `cpu_capacity`: their speed was taken as the ratio of frequencies, the same work per cycle assumed".into());
    }
    capacities
}
