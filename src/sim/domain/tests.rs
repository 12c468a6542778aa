//! Trees described in the reference, and shapes no booted machine here had.
//! The booted ones are compared in `tests/oracle_domains.rs`.

use super::*;
use crate::sim::cost::Costs;
use crate::sim::topology::{CAPACITY_SCALE, Cpu, Node};

/// `nodes` nodes of `cores` two-thread cores below one LLC, siblings adjacent.
fn smt_nodes(cores: u32, distances: &[&[u32]]) -> Topology {
    let per_node = cores * 2;
    let cpu = |n: u32| Cpu {
        os_id: n,
        online: true,
        isolated: false,
        core: n / 2,
        cluster: n / 2,
        llc: n / per_node,
        die: n / per_node,
        package: n / per_node,
        node: n / per_node,
        capacity: CAPACITY_SCALE,
        speed: CAPACITY_SCALE,
    };
    let node = |(os_id, row): (usize, &&[u32])| Node {
        os_id: os_id as u32,
        distances: row.to_vec(),
    };
    Topology {
        id: "test".into(),
        title: "test".into(),
        cpus: (0..per_node * distances.len() as u32).map(cpu).collect(),
        nodes: distances.iter().enumerate().map(node).collect(),
        node_reclaim_distance: 30,
        costs: Costs::default(),
    }
}

fn line() -> Topology {
    smt_nodes(
        4,
        &[
            &[10, 20, 30, 40],
            &[20, 10, 20, 30],
            &[30, 20, 10, 20],
            &[40, 30, 20, 10],
        ],
    )
}

/// The chain as `NAME weight`.
fn names(domains: &SchedDomains, cpu: u16) -> String {
    let domains = domains.of(CpuId(cpu)).iter();
    let names: Vec<_> = domains
        .map(|domain| format!("{} {}", domain.name, domain.span_weight()))
        .collect();
    names.join(" > ")
}

/// The ring as `span/balance mask`.
fn ring(domains: &SchedDomains, cpu: u16, level: usize) -> Vec<String> {
    let groups = &domains.of(CpuId(cpu))[level].groups;
    let group = |&id: &GroupId| {
        let group = domains.group(id);
        format!("{}/{}", group.span, group.balance_mask)
    };
    groups.iter().map(group).collect()
}

#[test]
fn a_line_of_nodes_gives_chains_of_unequal_depth() {
    let domains = build(&line());
    let end = "SMT 2 > MC 8 > NUMA 16 > NUMA 24 > NUMA 32";
    assert_eq!(names(&domains, 0), end);
    assert_eq!(names(&domains, 31), end);
    assert_eq!(names(&domains, 8), "SMT 2 > MC 8 > NUMA 24 > NUMA 32");
    assert_eq!(names(&domains, 16), "SMT 2 > MC 8 > NUMA 24 > NUMA 32");
}

#[test]
fn groups_of_a_line_go_down_where_the_neighbour_reaches_out_of_the_span() {
    let domains = build(&line());
    assert_eq!(ring(&domains, 0, 2), ["0-7/0-7", "8-15/8-15"]);
    assert_eq!(ring(&domains, 0, 3), ["0-15/0-7", "16-23/16-23"]);
    assert_eq!(ring(&domains, 0, 4), ["0-23/0-7", "8-31/24-31"]);
    assert_eq!(ring(&domains, 8, 3), ["0-23/8-15", "16-31/24-31"]);
    let span = &domains.of(CpuId(8))[2];
    assert_eq!(span.span.to_string(), "0-23");
    assert_eq!(
        ring(&domains, 8, 2),
        ["8-15/8-15", "16-23/16-23", "0-7/0-7"]
    );
}

#[test]
fn beyond_the_reclaim_distance_only_newidle_and_the_numa_flags_stay() {
    let domains = build(&line());
    let far = &domains.of(CpuId(0))[4];
    let names: Vec<_> = far.flags.names().collect();
    assert_eq!(names, ["BALANCE_NEWIDLE", "SERIALIZE", "OVERLAP", "NUMA"]);
    let near = &domains.of(CpuId(0))[3];
    assert!(
        near.flags
            .has(SdFlags::BALANCE_FORK.with(SdFlags::WAKE_AFFINE))
    );
    let mut zen = line();
    zen.node_reclaim_distance = 40;
    let far = build(&zen).of(CpuId(0))[4].flags;
    assert!(far.has(SdFlags::BALANCE_EXEC));
}

#[test]
fn fully_connected_nodes_make_one_level_of_single_node_groups() {
    let domains = build(&smt_nodes(
        2,
        &[&[10, 21, 21], &[21, 10, 21], &[21, 21, 10]],
    ));
    assert_eq!(names(&domains, 4), "SMT 2 > MC 4 > NUMA 12");
    assert_eq!(ring(&domains, 5, 2), ["4-7/4-7", "8-11/8-11", "0-3/0-3"]);
}

#[test]
fn a_group_seen_from_outside_shares_its_state_with_the_own_view() {
    let domains = build(&smt_nodes(2, &[&[10, 20], &[20, 10]]));
    let own = domains.group(domains.of(CpuId(0))[2].groups[0]);
    let seen = domains.group(domains.of(CpuId(4))[2].groups[1]);
    assert_eq!(own.span, seen.span);
    assert!(
        own.flags.has(SdFlags::SHARE_LLC),
        "its own view has MC's flags"
    );
    assert!(!seen.flags.has(SdFlags::SHARE_LLC), "others have PKG's");
    assert_eq!(own.sgc, seen.sgc);
    assert!(
        domains
            .groups
            .iter()
            .all(|group| group.sgc < domains.nr_sgc)
    );
}

#[test]
fn every_mesh_gives_rings_that_cover_the_span_and_have_someone_to_balance() {
    // A cube of eight nodes, distances by the edges between them.
    let row = |from: u32| -> Vec<u32> {
        (0..8)
            .map(|to: u32| [10, 16, 22, 28][(from ^ to).count_ones() as usize])
            .collect()
    };
    let rows: Vec<Vec<u32>> = (0..8).map(row).collect();
    let rows: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
    let topology = smt_nodes(1, &rows);
    let domains = build(&topology);
    assert_eq!(names(&domains, 3), "SMT 2 > NUMA 8 > NUMA 14 > NUMA 16");
    for cpu in topology.cpu_ids() {
        for domain in domains.of(cpu) {
            let groups = domain.groups.iter().map(|&id| domains.group(id));
            let mut covered = CpuMask::new();
            for group in groups {
                assert!(!group.balance_mask.is_empty());
                covered = covered.or(&group.span);
            }
            assert!(domain.span.is_subset(&covered));
            assert!(domains.group(domain.groups[0]).span.contains(cpu));
        }
    }
}

#[test]
fn nodes_inside_a_package_replace_pkg_and_cut_the_cache_to_the_node() {
    let mut topology = smt_nodes(4, &[&[10, 12], &[12, 10]]);
    for cpu in &mut topology.cpus {
        (cpu.package, cpu.die, cpu.llc) = (0, 0, 0);
    }
    let domains = build(&topology);
    assert_eq!(names(&domains, 0), "SMT 2 > MC 8 > NUMA 16");
    assert_eq!(
        domains.of(CpuId(0))[2].level,
        4,
        "PKG has no number of its own"
    );
    // With two caches a node, NODE is what spans the node.
    for cpu in &mut topology.cpus {
        cpu.llc = cpu.os_id / 4;
    }
    assert_eq!(
        names(&build(&topology), 0),
        "SMT 2 > MC 4 > NODE 8 > NUMA 16"
    );
}

#[test]
fn a_cluster_between_core_and_cache_survives() {
    let mut topology = smt_nodes(8, &[&[10]]);
    for cpu in topology.cpus.iter_mut().filter(|cpu| cpu.os_id >= 8) {
        // The upper half: single-thread cores in modules of four.
        (cpu.core, cpu.cluster) = (cpu.os_id, 100 + cpu.os_id / 4);
    }
    let domains = build(&topology);
    assert_eq!(names(&domains, 0), "SMT 2 > MC 16");
    assert_eq!(names(&domains, 8), "CLS 4 > MC 16");
    let module = &domains.of(CpuId(8))[0];
    assert!(module.flags.has(SdFlags::CLUSTER.with(SdFlags::SHARE_LLC)));
    assert_eq!(ring(&domains, 0, 1).len(), 6, "four cores and two modules");
}

#[test]
fn unequal_capacities_mark_the_domain_and_stop_the_child_from_spreading() {
    let mut topology = smt_nodes(4, &[&[10]]);
    for cpu in &mut topology.cpus {
        cpu.core = cpu.os_id;
        cpu.cluster = cpu.os_id;
        cpu.llc = cpu.os_id / 4;
        cpu.capacity = if cpu.os_id < 4 { 512 } else { 1024 };
    }
    let domains = build(&topology);
    assert_eq!(names(&domains, 0), "MC 4 > PKG 8");
    let full = SdFlags::ASYM_CPUCAPACITY.with(SdFlags::ASYM_CPUCAPACITY_FULL);
    assert!(domains.of(CpuId(0))[1].flags.has(full));
    assert!(!domains.of(CpuId(0))[0].flags.has(SdFlags::PREFER_SIBLING));
    assert!(!domains.of(CpuId(0))[0].flags.has(SdFlags::ASYM_CPUCAPACITY));
}

#[test]
fn one_core_of_two_threads_has_one_level_and_a_lone_cpu_none() {
    let mut topology = smt_nodes(1, &[&[10]]);
    assert_eq!(names(&build(&topology), 1), "SMT 2");
    assert_eq!(build(&topology).llc[0].to_string(), "0-1");
    topology.cpus.truncate(1);
    assert_eq!(names(&build(&topology), 0), "");
    assert_eq!(build(&topology).llc[0].to_string(), "0");
}

#[test]
fn offline_and_isolated_cpus_have_no_domain_but_isolated_ones_count_in_intervals() {
    let mut topology = smt_nodes(4, &[&[10]]);
    topology.cpus[3].isolated = true;
    topology.cpus[7].online = false;
    let domains = build(&topology);
    assert_eq!(names(&domains, 3), "");
    assert_eq!(names(&domains, 7), "");
    assert_eq!(names(&domains, 2), "MC 6", "its sibling is isolated");
    assert_eq!(domains.of(CpuId(0))[1].min_interval_ms, 7);
    assert_eq!(ring(&domains, 6, 0), ["6/6", "0-1/0-1", "2/2", "4-5/4-5"]);
}
