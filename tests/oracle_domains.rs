//! The domain trees of booted kernels, compared value by value.

use std::fs;
use std::path::{Path, PathBuf};

use schedlab::export::domain_json;
use schedlab::import::oracle_domains::{DomainFile, parse, verify};
use schedlab::scenario::topology;
use schedlab::sim::Topology;

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut json: Vec<_> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    json.sort();
    json
}

fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/domains")
}

fn read(path: &Path) -> DomainFile {
    let text = fs::read_to_string(path).expect("a readable file");
    parse(&path.display().to_string(), &text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn assert_equal(path: &Path) {
    let mismatches = verify(&read(path));
    let shown: Vec<_> = mismatches
        .iter()
        .take(20)
        .map(ToString::to_string)
        .collect();
    assert!(
        mismatches.is_empty(),
        "{}: {} mismatches\n{}",
        path.display(),
        mismatches.len(),
        shown.join("\n")
    );
}

#[test]
fn every_booted_tree_comes_out_of_the_rules() {
    let files = files_in(&own_folder());
    assert!(files.len() >= 13, "only {} files", files.len());
    files.iter().for_each(|path| assert_equal(path));
}

#[test]
fn every_tree_of_the_shared_collection_comes_out_of_the_rules() {
    let shared = std::env::var_os("SCHEDLAB_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let files = files_in(&shared.join("oracle/domains"));
    if files.is_empty() {
        eprintln!("skipped: no shared collection at {}", shared.display());
    }
    files.iter().for_each(|path| assert_equal(path));
}

#[test]
fn each_wrong_value_is_reported_with_cpu_domain_field_and_both_values() {
    let path = own_folder().join("ring-4s4c2t.json");
    let good = fs::read_to_string(&path).expect("a readable file");
    for (from, to, field) in [
        (
            "\"imbalance_pct\": 110",
            "\"imbalance_pct\": 125",
            "imbalance_pct",
        ),
        (
            "\"cache_nice_tries\": 2",
            "\"cache_nice_tries\": 3",
            "cache_nice_tries",
        ),
        ("\"busy_factor\": 16", "\"busy_factor\": 8", "busy_factor"),
        (
            "\"min_interval\": 24",
            "\"min_interval\": 25",
            "min_interval",
        ),
        (
            "\"max_interval\": 48",
            "\"max_interval\": 49",
            "max_interval",
        ),
        ("\"imb_numa_nr\": 1", "\"imb_numa_nr\": 2", "imb_numa_nr"),
        ("\"name\": \"NUMA\"", "\"name\": \"NODE\"", "name"),
        ("\"SD_SERIALIZE\", ", "", "flags"),
        (
            "\"balance_mask\": \"0-7\"",
            "\"balance_mask\": \"0-6\"",
            "groups[0].balance_mask",
        ),
        ("\"id\": 16", "\"id\": 17", "groups[1].id"),
        ("\"span\": \"8-31\"", "\"span\": \"8-30\"", "groups[1].span"),
        (
            "\"domains\": [[0, 0]",
            "\"domains\": [[0, 1]",
            "groups[0].span",
        ),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good, "{from} is not in the file");
        let file = parse("bad.json", &bad).expect("still a domain file");
        let mismatches = verify(&file);
        assert!(
            mismatches.iter().any(|mismatch| mismatch.field == field),
            "{field}: {mismatches:?}"
        );
        let line = mismatches[0].to_string();
        assert!(line.starts_with("cpu "), "{line}");
        assert!(
            line.contains("expected ") && line.contains(", got "),
            "{line}"
        );
    }
}

#[test]
fn files_of_older_kernels_use_other_names_for_the_same() {
    let text = fs::read_to_string(own_folder().join("epyc-2ccd.json")).expect("a readable file");
    let mut old = text
        .replace("\"PKG\"", "\"DIE\"")
        .replace("SD_SHARE_LLC", "SD_SHARE_PKG_RESOURCES");
    for cores in 1..=8 {
        old = old.replace(&format!("\"cores\": {cores}, "), "");
    }
    assert_ne!(old, text);
    let file = parse("old.json", &old).expect("a domain file");
    assert_eq!(verify(&file), []);
}

#[test]
fn broken_files_are_refused_with_place_reason_and_remedy() {
    let good = fs::read_to_string(own_folder().join("two-core-smt.json")).expect("a file");
    let swap = |from: &str, to: &str| {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from} is not in the file");
        bad
    };
    for (text, wanted) in [
        (String::new(), "bad.json:1:"),
        ("{}".into(), "missing field `nodes`"),
        ("[1, 2]".into(), "give a domain file"),
        (good[..good.len() / 2].into(), "EOF"),
        (
            swap("\"name\": \"SMT\"", "\"name\": \"XYZ\""),
            "allowed: SMT, CLS",
        ),
        (
            swap("SD_BALANCE_EXEC", "SD_BALANCE_LUNCH"),
            "unknown domain flag",
        ),
        (
            swap("\"core_cpus\": \"0-1\"", "\"core_cpus\": \"1-0\""),
            "runs backwards",
        ),
        (
            swap("\"core_cpus\": \"0-1\"", "\"core_cpus\": \"0-4294967295\""),
            "up to 65535",
        ),
        (
            swap("\"domains\": [[0, 0]", "\"domains\": [[99, 0]"),
            "`domain_defs` lacks",
        ),
        (
            swap("\"domains\": [[0, 0]", "\"domains\": [[0, 9]"),
            "`domain_defs` lacks",
        ),
        (
            swap("\"distance\": [10]", "\"distance\": [10, 20]"),
            "one distance per node",
        ),
        (
            swap("\"node\": 0, \"sd", "\"node\": 7, \"sd"),
            "which `nodes` lacks",
        ),
        (swap("\"cpu\": 1,", "\"cpu\": 0,"), "ascending order"),
    ] {
        let problems = parse("bad.json", &text).expect_err(wanted).to_string();
        assert!(problems.contains(wanted), "{wanted}: {problems}");
        assert!(problems.starts_with("bad.json:"), "{problems}");
    }
    let text = swap("\"node\": 0, \"sd", "\"node\": 7, \"sd");
    let problems = parse("bad.json", &text)
        .expect_err("no such node")
        .to_string();
    assert!(problems.starts_with("bad.json:22:6: CPU 0 "), "{problems}");
}

/// What `topology --format json` prints, read back.
fn printed(topology: &Topology) -> DomainFile {
    let mut out = Vec::new();
    domain_json::write(topology, &mut out).expect("memory takes everything");
    let text = String::from_utf8(out).expect("text");
    parse(&topology.id, &text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn what_is_printed_is_accepted_again() {
    for name in topology::names() {
        let machine = topology::embedded(name).expect("built in");
        let file = printed(&machine);
        assert_eq!(verify(&file), [], "{name}");
        assert!(
            file.expected.iter().any(|chain| !chain.is_empty()),
            "{name}"
        );
    }
    let mut odd = Topology::clone(&topology::embedded("tr-9960x").expect("built in"));
    odd.cpus[3].online = false;
    odd.cpus[9].isolated = true;
    for cpu in &mut odd.cpus[12..24] {
        cpu.capacity = 600;
    }
    assert_eq!(verify(&printed(&odd)), []);
}

#[test]
fn what_is_printed_of_a_booted_machine_is_what_its_kernel_had() {
    for path in files_in(&own_folder()) {
        let booted = read(&path);
        let ours = printed(&booted.topology);
        assert_eq!(ours.expected, booted.expected, "{}", path.display());
        assert_eq!(ours.llc_size, booted.llc_size, "{}", path.display());
    }
}
