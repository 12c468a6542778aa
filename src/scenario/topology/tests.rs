use super::*;
use crate::sim::CpuId;
use crate::sim::domain;
use crate::sim::topology::Distance;

fn chain(topology: &Topology, cpu: u16) -> String {
    let domains = domain::build(topology);
    let domains = domains.of(CpuId(cpu)).iter();
    let names: Vec<_> = domains
        .map(|domain| format!("{}({})", domain.name, domain.span_weight()))
        .collect();
    names.join(", ")
}

#[test]
fn every_built_in_machine_reads_and_has_the_domains_of_the_reference() {
    for (id, cpus, wanted) in [
        ("tr-9960x", 48, "SMT(2), MC(12), PKG(48)"),
        ("epyc-9r14-c7a-4xlarge", 16, "MC(8), PKG(16)"),
        ("xeon-8488c-c7i-4xlarge", 16, "SMT(2), MC(16)"),
        ("w7-2495x-4llc", 48, "SMT(2), MC(12), PKG(48)"),
        ("w7-2495x", 48, "SMT(2), MC(48)"),
        ("zen4c-2x128", 512, "SMT(2), MC(16), PKG(256), NUMA(512)"),
        ("c5ad-24xlarge", 96, "SMT(2), MC(8), PKG(96)"),
        ("i7-12700kf", 20, "SMT(2), MC(20)"),
        ("i5-10600k", 12, "SMT(2), MC(12)"),
        ("altra-2x80", 160, "MC(2), PKG(80), NUMA(160)"),
        ("ampereone", 192, "MC(2), PKG(192)"),
        ("xeon-e5-2650v4", 24, "SMT(2), MC(24)"),
        ("icelake-2x32", 128, "SMT(2), MC(64), NUMA(128)"),
        ("sixty-core", 60, "MC(60)"),
        ("graviton3-vm", 64, "MC(64)"),
        ("graviton4-vm", 96, "MC(96)"),
        ("arm64-vm", 16, "MC(16)"),
        ("schbench-author-box", 48, "SMT(2), MC(48)"),
        (
            "schbench-big-box",
            256,
            "SMT(2), MC(16), PKG(128), NUMA(256)",
        ),
    ] {
        let text = EMBEDDED.iter().find(|(name, _)| *name == id).expect(id).1;
        let topology = parse(id, text).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(topology.id, id);
        assert_eq!(topology.nr_cpus(), cpus, "{id}");
        assert_eq!(chain(&topology, 0), wanted, "{id}");
    }
    assert_eq!(names().count(), 19);
    assert_eq!(presets().len(), 19);
}

#[test]
fn the_main_machines_answer_to_their_other_names() {
    for (alias, id) in [
        ("threadripper-9960x", "tr-9960x"),
        ("epyc-2ccd", "epyc-9r14-c7a-4xlarge"),
        ("xeon-smt", "xeon-8488c-c7i-4xlarge"),
    ] {
        assert_eq!(embedded(alias).expect(alias).id, id);
    }
    assert_eq!(embedded("pdp-11"), None);
}

#[test]
fn numbering_is_that_of_the_reference() {
    let split = embedded("w7-2495x-4llc").expect("built in");
    let domains = domain::build(&split);
    let spans: Vec<_> = domains
        .of(CpuId(0))
        .iter()
        .map(|d| d.span.clone())
        .collect();
    assert_eq!(spans[0].to_string(), "0,24");
    assert_eq!(spans[1].to_string(), "0,4,8,12,16,20,24,28,32,36,40,44");
    let ryzen = embedded("tr-9960x").expect("built in");
    let domains = domain::build(&ryzen);
    assert_eq!(domains.of(CpuId(7))[1].span.to_string(), "6-11,30-35");
    assert_eq!(ryzen.costs.smt_speed, 604);
    let hybrid = embedded("i7-12700kf").expect("built in");
    assert_eq!(chain(&hybrid, 17), "CLS(4), MC(20)");
    assert_eq!(hybrid.cpus[17].capacity, 1024);
    assert_eq!(hybrid.cpus[17].speed, 614);
    assert_eq!(hybrid.distance(CpuId(0), CpuId(1)), Distance::SameCore);
}

#[test]
fn every_cost_has_a_source_and_an_own_one_its_own() {
    let preset = preset("w7-2495x-4llc").expect("built in");
    let figures = cost_figures(preset);
    assert!(figures.iter().all(|figure| !figure.source.is_empty()));
    let refill = figures
        .iter()
        .find(|f| f.name == "refill_per_mib.cross_llc")
        .expect("listed");
    assert_eq!((refill.value.as_str(), refill.own), ("15us", true));
    let tick = figures.iter().find(|f| f.name == "tick").expect("listed");
    assert_eq!((tick.value.as_str(), tick.own), ("1.5us", false));
}

/// A file of one problem, by what replaces the shape, and what is said of it.
fn refusal(rest: &str) -> String {
    let text = format!("(format: 1, id: \"x\", title: \"x\",\n{rest})");
    parse("x.ron", &text).expect_err(rest).to_string()
}

#[test]
fn impossible_shapes_are_refused_with_place_reason_and_remedy() {
    for (rest, wanted) in [
        (
            "shape: uniform(cores_per_llc: 0)",
            "x.ron:2:31: `cores_per_llc` is 0; allowed: 1 to 1024",
        ),
        (
            "shape: uniform(cores_per_llc: 600, threads_per_core: 2)",
            "multiply to 1200 CPUs; allowed: 1 to 1024",
        ),
        (
            "shape: uniform(cores_per_llc: 4294967295, packages: 4294967295)",
            "allowed: 1 to 1024",
        ),
        (
            "shape: uniform(cores_per_llc: 6, cores_per_cluster: 4)",
            "give a divisor",
        ),
        ("shape: uniform(cores_per_llc: -1)", "x.ron:2:"),
        (
            "shape: uniform(cores_per_llc: 4, packages: 2)",
            "0 distance rows for 2 NUMA nodes",
        ),
        (
            "shape: uniform(cores_per_llc: 4), distances: [[10, 20]]",
            "row 0 has 2 distances",
        ),
        (
            "shape: uniform(cores_per_llc: 4), distances: [[20]]",
            "10 from itself",
        ),
        (
            "shape: uniform(cores_per_llc: 4), offline: \"0-3\"",
            "every CPU is offline",
        ),
        (
            "shape: uniform(cores_per_llc: 4), isolated: \"4\"",
            "there is no CPU 4; allowed: 0-3",
        ),
        (
            "shape: uniform(cores_per_llc: 4, siblings: interleaved)",
            "second_half",
        ),
        (
            "shape: uniform(cores_per_lcc: 4)",
            "did you mean `cores_per_llc`?",
        ),
        ("shape: listed(cores: [])", "`cores` lists 0 CPUs"),
        (
            "shape: listed(cores: [\"0-1\", \"1-2\"])",
            "x.ron:2:30: CPU 1 is named twice in `cores`, also in list 0",
        ),
        (
            "shape: listed(cores: [\"0-1\"], llcs: [\"0\", \"1\"])",
            "x.ron:2:23: the core of CPUs 0-1 lies over 2 LLCs",
        ),
        (
            "shape: listed(cores: [\"0-1\", \"2\"], llcs: [\"0-1\"])",
            "`llcs` lacks CPUs 2",
        ),
        (
            "shape: listed(cores: [\"0\"], llcs: [\"0-3\"])",
            "CPU 1 is in no core",
        ),
        (
            "shape: listed(cores: [\"0-1\"], nodes: [\"0\", \"1\"]), distances: [[10, 20], [20, 10]]",
            "lies over 2 NUMA nodes",
        ),
        (
            "shape: listed(cores: [\"0\", \"1\"], llcs: [\"0-1\"], packages: [\"0\", \"1\"])",
            "the LLC of CPUs 0-1 lies over 2 packages",
        ),
        ("shape: listed(cores: [\"zero\"])", "is not a number"),
        (
            "shape: uniform(cores_per_llc: 4), kinds: [(cpus: \"0\", speed: 2000)]",
            "allowed: 1 to 1024",
        ),
        (
            "shape: uniform(cores_per_llc: 4), costs: (tick: \"1us\")",
            "`costs.tick` has no basis",
        ),
        (
            "shape: uniform(cores_per_llc: 4), basis: {\"tick\": \"x\"}",
            "which `costs` does not give",
        ),
        (
            "shape: uniform(cores_per_llc: 4), costs: (ipi: (cross_llc: \"11ms\")), basis: {\"ipi\": \"x\"}",
            "`ipi` of 11ms is no cost of a kernel; allowed: up to 10ms",
        ),
        (
            "shape: uniform(cores_per_llc: 4), costs: (context_switch: \"0ns\"), basis: {\"context_switch\": \"x\"}",
            "stop the clock; give at least 1ns",
        ),
        (
            "shape: uniform(cores_per_llc: 4), costs: (tick: \"-1us\")",
            "negative",
        ),
        (
            "shape: uniform(cores_per_llc: 4), costs: (smt_speed: 1.5), basis: {\"smt_speed\": \"x\"}",
            "`smt_speed` is 1.5",
        ),
    ] {
        let problems = refusal(rest);
        assert!(problems.contains(wanted), "{rest}\n{problems}");
        assert!(problems.starts_with("x.ron:"), "{problems}");
    }
}

#[test]
fn all_problems_are_told_and_not_just_the_first() {
    let problems = refusal(
        "shape: listed(cores: [\"0-1\", \"2-3\"], llcs: [\"0,2\", \"1,3\"]), offline: \"9\"",
    );
    assert_eq!(problems.lines().count(), 3, "{problems}");
}

#[test]
fn an_unknown_format_is_refused() {
    let text = "(format: 2, id: \"x\", title: \"x\", shape: uniform(cores_per_llc: 1))";
    let problems = parse("x.ron", text).expect_err("format 2").to_string();
    assert!(problems.contains("reads format 1"), "{problems}");
}
