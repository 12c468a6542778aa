//! From counts or lists to CPUs and nodes.

use std::collections::BTreeMap;

use super::file::{CpuList, LlcOrder, Shape, Siblings, TopologyFile};
use crate::scenario::problem::Report;
use crate::sim::cpumask::format_cpulist;
use crate::sim::topology::{CAPACITY_SCALE, Cpu, MAX_CPUS, Node};

/// Smallest and largest NUMA distance firmware can state.
const DISTANCES: std::ops::RangeInclusive<u32> = 10..=254;

/// CPUs and nodes of the file. Problems go to `report`; then the result is of
/// no use.
pub(super) fn validate(file: &TopologyFile, report: &mut Report) -> (Vec<Cpu>, Vec<Node>) {
    let (mut cpus, nodes) = match &file.shape {
        Shape::Uniform { .. } => uniform(&file.shape, report),
        Shape::Listed { .. } => listed(&file.shape, report),
    };
    mark(&mut cpus, &file.offline, "offline", report, |cpu| {
        cpu.online = false;
    });
    mark(&mut cpus, &file.isolated, "isolated", report, |cpu| {
        cpu.isolated = true;
    });
    kinds(&mut cpus, file, report);
    if !cpus.is_empty() && cpus.iter().all(|cpu| !cpu.online) {
        report.at(
            "offline",
            "every CPU is offline",
            "leave at least one online",
        );
    }
    (cpus, distances(file, nodes, report))
}

/// CPUs by counting, and the number of nodes.
fn uniform(shape: &Shape, report: &mut Report) -> (Vec<Cpu>, usize) {
    let &Shape::Uniform {
        packages,
        nodes_per_package,
        llcs_per_node,
        cores_per_llc,
        cores_per_cluster,
        threads_per_core,
        siblings,
        llcs,
    } = shape
    else {
        return (Vec::new(), 0);
    };
    let counts = [
        ("packages", packages),
        ("nodes_per_package", nodes_per_package),
        ("llcs_per_node", llcs_per_node),
        ("cores_per_llc", cores_per_llc),
        ("cores_per_cluster", cores_per_cluster),
        ("threads_per_core", threads_per_core),
    ];
    let mut usable = true;
    for (name, count) in counts {
        if count == 0 || count > MAX_CPUS as u32 {
            let what = format!("`{name}` is {count}");
            report.at(
                &format!("shape.{name}"),
                what,
                format!("allowed: 1 to {MAX_CPUS}"),
            );
            usable = false;
        }
    }
    let total: u64 = [
        packages,
        nodes_per_package,
        llcs_per_node,
        cores_per_llc,
        threads_per_core,
    ]
    .into_iter()
    .map(u64::from)
    .fold(1, u64::saturating_mul);
    if usable && total > MAX_CPUS as u64 {
        let what = format!("the counts multiply to {total} CPUs");
        report.at("shape", what, format!("allowed: 1 to {MAX_CPUS}"));
        usable = false;
    }
    if usable && cores_per_llc % cores_per_cluster != 0 {
        let what = format!(
            "{cores_per_llc} cores of an LLC do not split in clusters of {cores_per_cluster}"
        );
        report.at(
            "shape.cores_per_cluster",
            what,
            "give a divisor of `cores_per_llc`",
        );
        usable = false;
    }
    if !usable {
        return (Vec::new(), 0);
    }
    let cores_per_node = llcs_per_node * cores_per_llc;
    let cores = packages * nodes_per_package * cores_per_node;
    let cpu = |os_id: u32| {
        let core = match siblings {
            Siblings::SecondHalf => os_id % cores,
            Siblings::Adjacent => os_id / threads_per_core,
        };
        let (node, in_node) = (core / cores_per_node, core % cores_per_node);
        let (llc_in_node, in_llc) = match llcs {
            LlcOrder::Blocks => (in_node / cores_per_llc, in_node % cores_per_llc),
            LlcOrder::Modulo => (in_node % llcs_per_node, in_node / llcs_per_node),
        };
        let llc = node * llcs_per_node + llc_in_node;
        Cpu {
            os_id,
            online: true,
            isolated: false,
            core,
            cluster: llc * (cores_per_llc / cores_per_cluster) + in_llc / cores_per_cluster,
            llc,
            die: node / nodes_per_package,
            package: node / nodes_per_package,
            node,
            capacity: CAPACITY_SCALE,
            speed: CAPACITY_SCALE,
        }
    };
    let cpus = (0..cores * threads_per_core).map(cpu).collect();
    (cpus, (packages * nodes_per_package) as usize)
}

/// One kind of thing a CPU belongs to: CPU number to index of the thing.
type Membership = BTreeMap<u32, u32>;

/// CPUs by their lists, and the number of nodes.
fn listed(shape: &Shape, report: &mut Report) -> (Vec<Cpu>, usize) {
    let Shape::Listed {
        cores,
        clusters,
        llcs,
        dies,
        packages,
        nodes,
    } = shape
    else {
        return (Vec::new(), 0);
    };
    let core_of = membership("cores", cores, None, report);
    if core_of.is_empty() || core_of.len() > MAX_CPUS {
        let what = format!("`cores` lists {} CPUs", core_of.len());
        report.at("shape.cores", what, format!("allowed: 1 to {MAX_CPUS}"));
        return (Vec::new(), 0);
    }
    let of =
        |name: &str, lists: &Option<Vec<CpuList>>, absent: &Membership, report: &mut Report| {
            match lists {
                Some(lists) => membership(name, lists, Some(&core_of), report),
                None => absent.clone(),
            }
        };
    let all_in_one: Membership = core_of.keys().map(|&cpu| (cpu, 0)).collect();
    let cluster_of = of("clusters", clusters, &core_of, report);
    let llc_of = of("llcs", llcs, &cluster_of, report);
    let package_of = of("packages", packages, &all_in_one, report);
    let die_of = of("dies", dies, &package_of, report);
    let node_of = of("nodes", nodes, &all_in_one, report);

    // A CPU in two cores has been told; what follows from it would only confuse.
    let cores_are_sound = core_of.len() == cores.iter().map(|list| list.0.len()).sum::<usize>();
    let cores = if cores_are_sound {
        cores.as_slice()
    } else {
        &[]
    };
    for (container, of) in [
        ("cluster", &cluster_of),
        ("LLC", &llc_of),
        ("package", &package_of),
        ("NUMA node", &node_of),
    ] {
        contained(("core", "cores", cores), (container, of), report);
    }
    for (thing, field, lists, container, of) in [
        ("cluster", "clusters", clusters, "LLC", &llc_of),
        ("LLC", "llcs", llcs, "package", &package_of),
        ("die", "dies", dies, "package", &package_of),
    ] {
        let lists = lists.as_deref().unwrap_or_default();
        contained((thing, field, lists), (container, of), report);
    }
    let member = |of: &Membership, cpu: u32| of.get(&cpu).copied().unwrap_or(0);
    let cpu = |&os_id: &u32| Cpu {
        os_id,
        online: true,
        isolated: false,
        core: member(&core_of, os_id),
        cluster: member(&cluster_of, os_id),
        llc: member(&llc_of, os_id),
        die: member(&die_of, os_id),
        package: member(&package_of, os_id),
        node: member(&node_of, os_id),
        capacity: CAPACITY_SCALE,
        speed: CAPACITY_SCALE,
    };
    let count = nodes.as_ref().map_or(1, Vec::len);
    (core_of.keys().map(cpu).collect(), count)
}

/// Which list each CPU is in. Every CPU must be in one list and in no other,
/// and `known`, if given, tells which CPUs there are.
fn membership(
    name: &str,
    lists: &[CpuList],
    known: Option<&Membership>,
    report: &mut Report,
) -> Membership {
    let mut of = Membership::new();
    for (index, list) in lists.iter().enumerate() {
        let path = format!("shape.{name}[{index}]");
        // A node may have memory only; anything else without a CPU is a slip.
        if list.0.is_empty() && name != "nodes" {
            report.at(&path, "the list is empty", "name its CPUs, such as \"0-3\"");
        }
        for &cpu in &list.0 {
            if known.is_some_and(|known| !known.contains_key(&cpu)) {
                let what = format!("CPU {cpu} is in no core");
                report.at(&path, what, "add it to `cores` or take it out here");
            } else if let Some(before) = of.insert(cpu, index as u32) {
                let what = format!("CPU {cpu} is named twice in `{name}`, also in list {before}");
                report.at(&path, what, "name every CPU once");
            }
        }
    }
    let missing = known.into_iter().flat_map(Membership::keys);
    let missing: Vec<u32> = missing
        .filter(|cpu| !of.contains_key(cpu))
        .copied()
        .collect();
    if !missing.is_empty() {
        let what = format!(
            "`{name}` lacks CPUs {}",
            format_cpulist(missing.into_iter())
        );
        report.at(
            &format!("shape.{name}"),
            what,
            "name every CPU of `cores` once",
        );
    }
    of
}

/// Each list must lie inside one of the larger things.
fn contained(
    (thing, field, lists): (&str, &str, &[CpuList]),
    (container, of): (&str, &Membership),
    report: &mut Report,
) {
    for (index, list) in lists.iter().enumerate() {
        let mut inside: Vec<u32> = list
            .0
            .iter()
            .filter_map(|cpu| of.get(cpu))
            .copied()
            .collect();
        inside.sort_unstable();
        inside.dedup();
        if inside.len() > 1 {
            let cpus = format_cpulist(list.0.iter().copied());
            let what = format!(
                "the {thing} of CPUs {cpus} lies over {} {container}s",
                inside.len()
            );
            let remedy =
                format!("a {thing} lies inside one {container}; split it or correct the lists");
            report.at(&format!("shape.{field}[{index}]"), what, remedy);
        }
    }
}

fn mark(
    cpus: &mut [Cpu],
    list: &CpuList,
    field: &str,
    report: &mut Report,
    set: impl Fn(&mut Cpu),
) {
    for &id in &list.0 {
        match cpus.binary_search_by_key(&id, |cpu| cpu.os_id) {
            Ok(index) => set(&mut cpus[index]),
            Err(_) if cpus.is_empty() => {}
            Err(_) => no_such_cpu(field, id, cpus, report),
        }
    }
}

fn no_such_cpu(path: &str, id: u32, cpus: &[Cpu], report: &mut Report) {
    let have = format_cpulist(cpus.iter().map(|cpu| cpu.os_id));
    report.at(
        path,
        format!("there is no CPU {id}"),
        format!("allowed: {have}"),
    );
}

fn kinds(cpus: &mut [Cpu], file: &TopologyFile, report: &mut Report) {
    for (index, kind) in file.kinds.iter().enumerate() {
        for (name, value) in [("capacity", kind.capacity), ("speed", kind.speed)] {
            if value == 0 || value > CAPACITY_SCALE {
                let path = format!("kinds[{index}].{name}");
                let what = format!("`{name}` is {value}");
                report.at(&path, what, format!("allowed: 1 to {CAPACITY_SCALE}"));
            }
        }
        mark(
            cpus,
            &kind.cpus,
            &format!("kinds[{index}].cpus"),
            report,
            |cpu| {
                cpu.capacity = kind.capacity;
                cpu.speed = kind.speed;
            },
        );
    }
}

fn distances(file: &TopologyFile, nodes: usize, report: &mut Report) -> Vec<Node> {
    let rows = &file.distances;
    let one_node = vec![vec![*DISTANCES.start()]];
    let rows = if rows.is_empty() && nodes == 1 {
        &one_node
    } else {
        rows
    };
    if nodes > 0 && rows.len() != nodes {
        let what = format!("{} distance rows for {nodes} NUMA nodes", rows.len());
        report.at(
            "distances",
            what,
            "give one row per node, such as [[10, 20], [20, 10]]",
        );
    }
    for (index, row) in rows.iter().enumerate() {
        let path = format!("distances[{index}]");
        if nodes > 0 && row.len() != nodes {
            let what = format!("row {index} has {} distances for {nodes} nodes", row.len());
            report.at(&path, what, "give one distance per node");
        }
        for (to, &distance) in row.iter().enumerate() {
            let local = to == index;
            if !DISTANCES.contains(&distance) || local != (distance == *DISTANCES.start()) {
                let what = format!("the distance from node {index} to {to} is {distance}");
                let remedy = "a node is 10 from itself and 11 to 254 from the others";
                report.at(&format!("{path}[{to}]"), what, remedy);
            }
        }
    }
    let node = |(os_id, row): (usize, &Vec<u32>)| Node {
        os_id: os_id as u32,
        distances: row.clone(),
    };
    rows.iter().enumerate().map(node).collect()
}
