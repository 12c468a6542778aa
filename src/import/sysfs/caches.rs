//! Which CPUs share which cache.

use super::partition::Partition;
use super::{Cpus, SysTree};

/// Cache folders of one CPU that are looked at: real ones have three to five.
const MAX_CACHES: u32 = 16;

/// What the files say of one cache level of one CPU.
enum Cache {
    /// There is none.
    Absent,
    /// There is one, but who shares it was lost.
    Unknown,
    Shared(Cpus),
}

fn cache(tree: &SysTree, cpu: u32, level: i64) -> Cache {
    let mut found = Cache::Absent;
    for index in 0..MAX_CACHES {
        let folder = format!("cpu/cpu{cpu}/cache/index{index}");
        if tree.number(&format!("{folder}/level")) != Some(level)
            || tree.text(&format!("{folder}/type")) == Some("Instruction")
        {
            continue;
        }
        match tree.cpus(&folder, &["shared_cpu"]) {
            Some(cpus) => return Cache::Shared(cpus),
            None => found = Cache::Unknown,
        }
    }
    found
}

fn cluster_cpus(tree: &SysTree, cpu: u32) -> Option<Cpus> {
    tree.cpus(&format!("cpu/cpu{cpu}/topology"), &["cluster_cpus"])
}

fn group(partition: &Partition, cpus: &Cpus, cpu: u32) -> Cpus {
    let of = partition.of(cpu);
    let same = cpus.iter().filter(|&&other| partition.of(other) == of);
    same.copied().collect()
}

/// CPUs sharing an L2 cache.
pub(super) fn clusters(
    tree: &SysTree,
    online: &Cpus,
    cores: &Partition,
    packages: &Partition,
    notes: &mut Vec<String>,
) -> Partition {
    let set = |cpu: u32| match cache(tree, cpu, 2) {
        Cache::Shared(cpus) => Some(cpus),
        Cache::Unknown => Some(group(cores, online, cpu)),
        // The topology's own word counts where the caches tell nothing; a
        // "cluster" that is the whole package is how firmware says none.
        Cache::Absent => cluster_cpus(tree, cpu)
            .filter(|cluster| *cluster != group(packages, online, cpu))
            .or_else(|| Some(group(cores, online, cpu))),
    };
    let lost = |&cpu: &u32| matches!(cache(tree, cpu, 2), Cache::Unknown);
    if online.iter().any(lost) {
        notes.push("some L2 caches do not tell who shares them; the core was assumed".into());
    }
    Partition::from_sets("L2 cache", online, set, notes)
}

/// CPUs sharing the last-level cache.
pub(super) fn llcs(
    tree: &SysTree,
    online: &Cpus,
    clusters: &Partition,
    packages: &Partition,
    notes: &mut Vec<String>,
) -> Partition {
    let (mut none, mut lost) = (Cpus::new(), Cpus::new());
    let mut sets = std::collections::BTreeMap::new();
    for &cpu in online {
        let set = match (cache(tree, cpu, 3), cache(tree, cpu, 2)) {
            (Cache::Shared(cpus), _) => cpus,
            (Cache::Unknown, _) => {
                lost.insert(cpu);
                group(packages, online, cpu)
            }
            (Cache::Absent, Cache::Absent) => {
                none.insert(cpu);
                group(packages, online, cpu)
            }
            (Cache::Absent, _) => {
                let l2 = group(clusters, online, cpu);
                let package = group(packages, online, cpu);
                // Arm machines without L3 have the kernel take the cluster: the
                // pairs of an Altra are its lowest domain.
                cluster_cpus(tree, cpu)
                    .filter(|cluster| l2.is_subset(cluster) && *cluster != package)
                    .unwrap_or(l2)
            }
        };
        sets.insert(cpu, set);
    }
    if !lost.is_empty() {
        notes.push("some L3 caches do not tell who shares them; the package was assumed".into());
    }
    if !none.is_empty() {
        notes.push(
            "some CPUs have no cache files; one last-level cache per package was assumed".into(),
        );
    }
    Partition::from_sets(
        "last-level cache",
        online,
        |cpu| sets.get(&cpu).cloned(),
        notes,
    )
}
