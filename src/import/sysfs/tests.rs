use super::*;
use crate::sim::CpuId;
use crate::sim::domain;

fn tree(files: &[(&str, &str)]) -> SysTree {
    let file = |(path, text): &(&str, &str)| (path.to_string(), text.as_bytes().to_vec());
    SysTree(files.iter().map(file).collect())
}

fn read(files: &[(&str, &str)]) -> Imported {
    import("test", &tree(files)).unwrap_or_else(|problem| panic!("{problem}"))
}

/// What a field is, CPU by CPU.
fn per_cpu(topology: &Topology, field: impl Fn(&Cpu) -> u32) -> Vec<u32> {
    topology.cpus.iter().map(field).collect()
}

fn noted(imported: &Imported, part: &str) -> bool {
    imported.notes.iter().any(|note| note.contains(part))
}

#[test]
fn a_full_tree_is_read_without_guesses() {
    let mut files = vec![
        ("cpu/online".to_string(), "0-3\n\0".to_string()),
        ("node/node0/cpulist".into(), "0-3\n".into()),
        ("node/node0/distance".into(), "10\n".into()),
        (
            "proc/cpuinfo".into(),
            "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel name\t: Some  Ryzen\n".into(),
        ),
    ];
    for cpu in 0..4 {
        let pair = format!("{},{}", cpu % 2, cpu % 2 + 2);
        let mut add = |name: &str, text: String| files.push((format!("cpu/cpu{cpu}/{name}"), text));
        add("topology/core_cpus_list", format!("{pair}\n"));
        add("topology/physical_package_id", "0\n".into());
        add("topology/die_id", "0\n".into());
        add("cache/index2/level", "2\n".into());
        add("cache/index2/type", "Unified\n".into());
        add("cache/index2/shared_cpu_list", format!("{pair}\n"));
        add("cache/index3/level", "3\n".into());
        add("cache/index3/shared_cpu_list", "0-3\n".into());
    }
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let imported = read(&files);
    let topology = &imported.topology;
    assert_eq!(
        imported.notes,
        ["costs are the defaults: the files do not tell them"]
    );
    assert_eq!(topology.title, "Some Ryzen");
    assert_eq!(topology.node_reclaim_distance, 32);
    assert_eq!(per_cpu(topology, |cpu| cpu.core), [0, 1, 0, 1]);
    assert_eq!(per_cpu(topology, |cpu| cpu.cluster), [0, 1, 0, 1]);
    assert_eq!(per_cpu(topology, |cpu| cpu.llc), [0; 4]);
}

#[test]
fn masks_serve_where_lists_are_missing() {
    let imported = read(&[
        ("cpu/online", "0-33"),
        ("cpu/cpu0/topology/thread_siblings", "00000002,00000001\n\0"),
        ("cpu/cpu33/topology/thread_siblings", "00000002,00000001"),
        ("cpu/cpu0/cache/index3/level", "3"),
        ("cpu/cpu0/cache/index3/shared_cpu_map", "00000003,ffffffff"),
        ("node/node0/cpumap", "00000003,ffffffff"),
    ]);
    let topology = &imported.topology;
    assert_eq!(topology.cpus[33].core, 0);
    assert_eq!(topology.cpus[32].core, 32);
    assert_eq!(topology.cpus[17].llc, 0);
}

#[test]
fn without_an_online_file_each_cpu_is_asked() {
    let imported = read(&[
        ("cpu/cpu0/online", "0"),
        ("cpu/cpu1/topology/physical_package_id", "0"),
        ("cpu/cpu2/online", "1"),
    ]);
    let online: Vec<bool> = imported
        .topology
        .cpus
        .iter()
        .map(|cpu| cpu.online)
        .collect();
    assert_eq!(online, [false, true, true]);
    assert!(noted(&imported, "`cpu/online` is missing"));
}

#[test]
fn maps_that_name_offline_cpus_are_cut_to_the_online_ones() {
    let imported = read(&[
        ("cpu/online", "1-2"),
        ("cpu/cpu0/online", "0"),
        ("cpu/cpu1/topology/core_cpus_list", "0-1"),
        ("cpu/cpu2/topology/core_cpus_list", "2"),
        ("node/node0/cpulist", "0-9"),
    ]);
    let topology = &imported.topology;
    assert_eq!(topology.nr_cpus(), 3);
    assert_ne!(topology.cpus[0].core, topology.cpus[1].core);
    assert!(noted(&imported, "not among the CPUs"));
}

#[test]
fn sparse_ids_become_dense_and_keep_their_numbers() {
    let imported = read(&[
        ("cpu/online", "4,8"),
        ("cpu/cpu4/topology/physical_package_id", "36"),
        ("cpu/cpu8/topology/physical_package_id", "8442"),
        ("node/online", "0,16"),
        ("node/node0/cpulist", "4"),
        ("node/node0/distance", "10 40"),
        ("node/node16/cpulist", "8"),
        ("node/node16/distance", "40 10"),
    ]);
    let topology = &imported.topology;
    assert_eq!(per_cpu(topology, |cpu| cpu.os_id), [4, 8]);
    assert_eq!(per_cpu(topology, |cpu| cpu.node), [0, 1]);
    assert_eq!(topology.nodes[1].os_id, 16);
    let domains = domain::build(topology);
    assert_eq!(topology.os_list(&domains.of(CpuId(0))[0].span), "4,8");
}

#[test]
fn longer_distance_rows_are_aligned_by_the_list_of_online_nodes() {
    let imported = read(&[
        ("cpu/online", "0-1"),
        ("node/online", "0,2-3"),
        ("node/node0/cpulist", "0"),
        ("node/node0/distance", "10 21 31"),
        ("node/node3/cpulist", "1"),
        ("node/node3/distance", "31 41 10"),
    ]);
    assert_eq!(imported.topology.nodes[0].distances, [10, 31]);
    assert_eq!(imported.topology.nodes[1].distances, [31, 10]);
    assert!(noted(&imported, "more NUMA nodes than there are folders"));
}

#[test]
fn nodes_without_cpus_and_nodes_that_overlap_are_survived() {
    let imported = read(&[
        ("cpu/online", "0-2"),
        ("node/node0/cpulist", "0-1"),
        ("node/node1/cpulist", "0-1"),
        ("node/node2/cpulist", "\n"),
    ]);
    assert_eq!(per_cpu(&imported.topology, |cpu| cpu.node), [0; 3]);
    assert_eq!(imported.topology.nodes.len(), 3);
    for part in [
        "several NUMA nodes",
        "in no NUMA node",
        "distances are missing",
    ] {
        assert!(noted(&imported, part), "{part}: {:?}", imported.notes);
    }
}

#[test]
fn a_bare_tree_is_one_package_and_one_node() {
    let imported = read(&[("cpu/online", "0-1")]);
    assert_eq!(per_cpu(&imported.topology, |cpu| cpu.llc), [0; 2]);
    assert_eq!(imported.topology.nodes[0].distances, [10]);
    for part in [
        "no package ids",
        "no NUMA node",
        "no cache files",
        "have no folder",
    ] {
        assert!(noted(&imported, part), "{part}: {:?}", imported.notes);
    }
    assert!(imported.topology.title.contains("test"));
}

#[test]
fn without_l3_the_cache_below_is_the_last_and_clusters_of_arm_count() {
    let l2 = |cpu: &str| {
        (
            format!("cpu/cpu{cpu}/cache/index0/level"),
            format!("cpu/cpu{cpu}/cache/index0/shared_cpu_list"),
        )
    };
    let names: Vec<_> = ["0", "1", "2", "3"].map(l2).into();
    let mut files = vec![("cpu/online", "0-3")];
    for (index, (level, shared)) in names.iter().enumerate() {
        files.push((level, "2"));
        files.push((shared, ["0-1", "0-1", "2-3", "2-3"][index]));
    }
    assert_eq!(per_cpu(&read(&files).topology, |cpu| cpu.llc), [0, 0, 2, 2]);
    // Private L2 caches, and pairs only in the topology: an Altra.
    for (index, cpu) in ["0", "1", "2", "3"].iter().enumerate() {
        files[2 + 2 * index].1 = cpu;
    }
    files.push(("cpu/cpu0/topology/cluster_cpus_list", "0-1"));
    files.push(("cpu/cpu1/topology/cluster_cpus_list", "0-1"));
    let topology = read(&files).topology;
    assert_eq!(per_cpu(&topology, |cpu| cpu.cluster), [0, 1, 2, 3]);
    assert_eq!(per_cpu(&topology, |cpu| cpu.llc), [0, 0, 2, 3]);
}

#[test]
fn capacities_and_frequencies_tell_unequal_cpus_apart() {
    let imported = read(&[
        ("cpu/online", "0-1"),
        ("cpu/isolated", "1"),
        ("cpu/cpu0/cpu_capacity", "446"),
        ("cpu/cpu1/cpu_capacity", "1024"),
    ]);
    assert_eq!(per_cpu(&imported.topology, |cpu| cpu.capacity), [446, 1024]);
    assert!(imported.topology.cpus[1].isolated);
    let imported = read(&[
        ("cpu/online", "0-1"),
        ("cpu/cpu0/cpufreq/cpuinfo_max_freq", "5000000"),
        ("cpu/cpu1/cpufreq/cpuinfo_max_freq", "2500000"),
    ]);
    assert_eq!(
        per_cpu(&imported.topology, |cpu| cpu.capacity),
        [1024, 1024]
    );
    assert_eq!(per_cpu(&imported.topology, |cpu| cpu.speed), [1024, 512]);
    assert!(noted(&imported, "ratio of frequencies"));
}

#[test]
fn a_tree_without_cpus_or_with_too_many_is_refused() {
    let refusal = |files| {
        import("dir", &tree(files))
            .expect_err("no machine")
            .to_string()
    };
    assert!(refusal(&[]).starts_with("dir: there is no online CPU"));
    assert!(refusal(&[("cpu/online", "x")]).contains("no online CPU"));
    assert!(refusal(&[("cpu/online", "0-2000")]).contains("2001 CPUs"));
}

#[test]
fn no_tree_makes_it_panic() {
    use crate::sim::rng::{Purpose, Stream};
    let names = [
        "online",
        "isolated",
        "cpu0/online",
        "cpu0/topology/core_cpus_list",
        "cpu1/topology/core_cpus_list",
        "cpu2/topology/thread_siblings",
        "cpu0/topology/physical_package_id",
        "cpu1/topology/physical_package_id",
        "cpu0/topology/die_id",
        "cpu1/topology/cluster_cpus_list",
        "cpu0/cache/index0/level",
        "cpu0/cache/index0/shared_cpu_list",
        "cpu1/cache/index2/level",
        "cpu1/cache/index2/shared_cpu_map",
        "cpu0/cpu_capacity",
        "cpu1/cpufreq/cpuinfo_max_freq",
        "cpu99999999999/online",
    ];
    let node_names = [
        "online",
        "possible",
        "node0/cpulist",
        "node0/distance",
        "node1/cpulist",
        "node1/distance",
        "node7/cpumap",
        "node7/distance",
    ];
    let texts = [
        "",
        "0",
        "1",
        "2",
        "3",
        "-1",
        "0-1",
        "0-3",
        "1-2",
        "0,2",
        "3-1",
        "ff",
        "ffffffff,f",
        "10 20",
        "20 10 30",
        "10",
        "0",
        "99999999999999999999",
        "\0",
        "x",
        "(null)",
        "0-65535",
    ];
    let mut rng = Stream::new(7, Purpose::Workload, 0);
    let mut read = 0;
    for _ in 0..500 {
        let mut files = Vec::new();
        for (folder, names) in [("cpu", &names[..]), ("node", &node_names[..])] {
            for name in names {
                if rng.below(2) == 0 {
                    let text = texts[rng.below(texts.len() as u32) as usize];
                    files.push((format!("{folder}/{name}"), text));
                }
            }
        }
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        if let Ok(imported) = import("fuzz", &tree(&files)) {
            domain::build(&imported.topology);
            read += 1;
        }
    }
    assert!(read > 150, "only {read} trees were machines");
}
