//! Machines out of sysfs trees: small ones written for this test, and the
//! shared collection of snapshots where it is at hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use schedlab::files::read_sysfs;
use schedlab::import::sysfs::{Imported, import};
use schedlab::sim::Topology;
use schedlab::sim::cpumask::{format_cpulist, parse_cpulist};
use schedlab::sim::domain;
use schedlab::sim::topology::Cpu;
use serde_json::Value;

fn read(folder: &Path) -> Imported {
    let tree = read_sysfs(folder).unwrap_or_else(|error| panic!("{error}"));
    import("snapshot", &tree).unwrap_or_else(|problem| panic!("{problem}"))
}

/// Online CPUs grouped by `key`, each as a list, sorted by lowest CPU.
fn groups(topology: &Topology, key: impl Fn(&Cpu) -> u32) -> Vec<String> {
    let mut groups: Vec<(u32, Vec<u32>)> = Vec::new();
    for cpu in topology.cpus.iter().filter(|cpu| cpu.online) {
        match groups.iter_mut().find(|(of, _)| *of == key(cpu)) {
            Some((_, cpus)) => cpus.push(cpu.os_id),
            None => groups.push((key(cpu), vec![cpu.os_id])),
        }
    }
    let lists = groups.into_iter();
    lists
        .map(|(_, cpus)| format_cpulist(cpus.into_iter()))
        .collect()
}

fn online(topology: &Topology) -> String {
    topology.os_list(&topology.online())
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut lists: Vec<String> = list
        .iter()
        .map(|v| v.as_str().unwrap_or("?").into())
        .collect();
    lists.sort_by_key(|list| {
        parse_cpulist(list)
            .ok()
            .and_then(|ids| ids.first().copied())
    });
    lists
}

/// Compares with the plain reading of the same files; what the files do not
/// tell is left out of the comparison.
fn compare(name: &str, topology: &Topology, expected: &Value, wrong: &mut Vec<String>) {
    let mut check = |what: &str, got: Vec<String>, wanted: Vec<String>| {
        if !wanted.is_empty() && got != wanted {
            wrong.push(format!(
                "{name}: {what}\n  expected {wanted:?}\n  got      {got:?}"
            ));
        }
    };
    let wanted = expected["online"].as_str().unwrap_or_default();
    check("online", vec![online(topology)], vec![wanted.into()]);
    check(
        "cores",
        groups(topology, |cpu| cpu.core),
        strings(&expected["cores"]),
    );
    check(
        "dies",
        groups(topology, |cpu| cpu.die),
        strings(&expected["dies"]),
    );
    check(
        "L2",
        groups(topology, |cpu| cpu.cluster),
        strings(&expected["l2"]),
    );
    let packages: Vec<Value> = expected["packages"]
        .as_object()
        .into_iter()
        .flat_map(|packages| packages.values().cloned())
        .collect();
    let packages = strings(&Value::Array(packages));
    check("packages", groups(topology, |cpu| cpu.package), packages);
    // CPUs without L3 fall back, so only those that have one are compared.
    let l3 = strings(&expected["l3"]);
    let in_l3: BTreeSet<u32> = l3
        .iter()
        .flat_map(|l| parse_cpulist(l).expect("a list"))
        .collect();
    let mut below_l3 = topology.clone();
    below_l3.cpus.retain(|cpu| in_l3.contains(&cpu.os_id));
    check("L3", groups(&below_l3, |cpu| cpu.llc), l3);
    compare_nodes(topology, expected, &mut check);
}

fn compare_nodes(
    topology: &Topology,
    expected: &Value,
    check: &mut impl FnMut(&str, Vec<String>, Vec<String>),
) {
    for (index, node) in expected["numa"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let ours = &topology.nodes[index];
        check(
            "node id",
            vec![ours.os_id.to_string()],
            vec![node["os"].to_string()],
        );
        let cpus = topology
            .cpus
            .iter()
            .filter(|cpu| cpu.online && cpu.node == index as u32);
        let cpus = format_cpulist(cpus.map(|cpu| cpu.os_id));
        // Offline CPUs in a node's map are told by some files.
        let wanted = parse_cpulist(node["cpus"].as_str().unwrap_or_default()).expect("a list");
        let is_online = |id: &u32| {
            topology
                .cpus
                .iter()
                .any(|cpu| cpu.os_id == *id && cpu.online)
        };
        let wanted = format_cpulist(wanted.into_iter().filter(is_online));
        check("node CPUs", vec![cpus], vec![wanted]);
        if let Some(row) = node["distance"].as_array()
            && row.len() == topology.nodes.len()
        {
            let ours = ours.distances.iter().map(ToString::to_string).collect();
            check(
                "distances",
                ours,
                row.iter().map(ToString::to_string).collect(),
            );
        }
    }
}

fn shared() -> PathBuf {
    std::env::var_os("SCHEDLAB_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    )
}

/// Unpacks a snapshot; none if there is no program to do it.
fn unpack(archive: &Path, name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.replace('/', "+"));
    fs::create_dir_all(&folder).expect("the target folder is writable");
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(archive).arg("-C").arg(&folder);
    tar.output().ok().map(|_| folder)
}

#[test]
fn every_snapshot_of_the_shared_collection_reads_as_its_files_say() {
    let topologies = shared().join("corpus/topologies");
    let Ok(text) = fs::read_to_string(topologies.join("expected.json")) else {
        eprintln!("skipped: no shared collection at {}", topologies.display());
        return;
    };
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, expected) in expected.as_object().expect("an object") {
        let archive = topologies.join(name);
        if expected.get("sysfs").is_none() || !archive.is_file() {
            continue;
        }
        let Some(folder) = unpack(&archive, name) else {
            eprintln!("skipped: no `tar` to unpack {name}");
            return;
        };
        let imported = read(&folder);
        compare(name, &imported.topology, &expected["sysfs"], &mut wrong);
        domain::build(&imported.topology);
        compared += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 0, "the collection has no snapshot");
}

/// A fresh folder of two CPUs, as `sys/devices/system` below `at`.
fn two_cpus(name: &str, at: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    let system = folder.join(at).join("sys/devices/system");
    for cpu in ["cpu0", "cpu1"] {
        let topology = system.join("cpu").join(cpu).join("topology");
        fs::create_dir_all(&topology).expect("the target folder is writable");
        fs::write(topology.join("core_cpus_list"), "0-1\n").expect("writable");
    }
    fs::write(system.join("cpu/online"), "0-1\n").expect("writable");
    folder
}

#[test]
fn the_tree_is_found_from_above_and_from_within() {
    let folder = two_cpus("above", "snapshot");
    for inside in [
        "",
        "snapshot",
        "snapshot/sys",
        "snapshot/sys/devices",
        "snapshot/sys/devices/system",
    ] {
        let imported = read(&folder.join(inside));
        assert_eq!(
            groups(&imported.topology, |cpu| cpu.core),
            ["0-1"],
            "{inside}"
        );
    }
}

#[test]
#[cfg(unix)]
fn links_out_of_a_snapshot_are_not_followed() {
    let folder = two_cpus("links", "");
    let outside = Path::new(env!("CARGO_TARGET_TMPDIR")).join("links-outside");
    fs::write(&outside, "1\n").expect("writable");
    let cpu = folder.join("sys/devices/system/cpu");
    fs::remove_file(cpu.join("cpu1/topology/core_cpus_list")).expect("it is there");
    std::os::unix::fs::symlink(&outside, cpu.join("cpu1/topology/core_cpus_list")).expect("a link");
    std::os::unix::fs::symlink("../../online", cpu.join("cpu1/topology/package_cpus_list"))
        .expect("a link");
    let tree = read_sysfs(&folder).expect("a tree");
    assert!(!tree.0.contains_key("cpu/cpu1/topology/core_cpus_list"));
    assert!(tree.0.contains_key("cpu/cpu1/topology/package_cpus_list"));
}

#[test]
fn folders_without_a_machine_are_refused_with_a_remedy() {
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("empty");
    fs::create_dir_all(&empty).expect("the target folder is writable");
    let error = read_sysfs(&empty).expect_err("nothing in it");
    assert!(
        error.contains("give the folder that holds `sys`"),
        "{error}"
    );
    let error = read_sysfs(&empty.join("nowhere")).expect_err("no such folder");
    assert!(error.contains("cannot be read"), "{error}");
}
