use super::*;
use crate::scenario::{topology, workload};
use crate::sim::gate::{PickRule, preset};
use crate::sim::time::MS;

struct BuiltIn;

impl Library for BuiltIn {
    fn topology(&self, name: &str) -> Result<Arc<Topology>, Missing> {
        let unknown = || Missing::Unknown(format!("no {name}"), "name another".into());
        topology::embedded(name).ok_or_else(unknown)
    }

    fn workload(&self, name: &str) -> Result<Arc<Workload>, Missing> {
        let unknown = || Missing::Unknown(format!("no {name}"), "name another".into());
        let text = workload::embedded(name).ok_or_else(unknown)?;
        workload::parse(name, text)
            .map(Arc::new)
            .map_err(Missing::Broken)
    }
}

/// A scenario with these lines behind the obligatory ones.
fn read(policy: &str, rest: &str) -> Result<Scenario, Problems> {
    let text = format!(
        "(format: 1, name: \"t\", topology: \"tr-9960x\", workload: \"easywave\",\n\
         policy: {policy}, duration: \"4s\",\n{rest})"
    );
    parse("t.ron", &text, &BuiltIn, &Overrides::default())
}

fn message(policy: &str, rest: &str) -> String {
    read(policy, rest).unwrap_err().to_string()
}

#[test]
fn the_embedded_scenarios_are_valid_and_go_by_their_names() {
    for (name, text) in EMBEDDED {
        let scenario = parse(name, text, &BuiltIn, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(scenario.name, name);
        let timed = !scenario.setup.timeline.is_empty();
        let policy = if timed { "plain" } else { "ni-random" };
        assert_eq!(scenario.setup.policy.name, policy, "{name}");
    }
}

#[test]
fn a_policy_is_a_name_or_a_base_with_other_fields() {
    let named = read("\"revert\"", "").unwrap().setup.policy;
    assert_eq!(named.name, "plain");
    let built = read(
        "(base: \"ni-rate\", rate_shift: 23, bump: (num: 2, cap: \"100us\"), pick: accumulator)",
        "",
    );
    let built = built.unwrap_or_else(|problems| panic!("{problems}")).setup;
    assert_eq!(built.policy.name, "ni-rate*");
    assert_eq!(built.policy.rules.rate_shift, Some(23));
    assert_eq!(built.policy.rules.pick, PickRule::Accumulator);
    let bump = built.policy.rules.bump.unwrap();
    assert_eq!((bump.num, bump.den, bump.cap_ns), (2, 2, 100_000));
    let off = read("(base: \"ni-rate\", rate_shift: \"off\")", "").unwrap();
    assert_eq!(off.setup.policy.rules.rate_shift, None);
}

#[test]
fn a_param_changes_the_policy_in_force_at_its_time() {
    let scenario = read(
        "\"ni-random\"",
        "timeline: [
           (at: \"3s\", set: param((floor: 8))),
           (at: \"2s\", set: policy(\"ni-rate\")),
           (at: \"500ms\", set: mix(class: \"daemon\", count: 10, share: 0.5, intensity: 2.0)),
         ]",
    );
    let timeline = scenario.unwrap().setup.timeline;
    let times: Vec<_> = timeline.iter().map(|(at, _)| *at / MS).collect();
    assert_eq!(times, [500, 2000, 3000]);
    let Change::Policy(last) = &timeline[2].1 else {
        panic!("the last change is the parameter");
    };
    assert_eq!(last.name, "ni-rate*");
    assert_eq!(last.rules.rate_shift, preset("ni-rate").unwrap().rate_shift);
    assert_eq!(last.rules.floor, 8);
    assert_eq!(
        timeline[0].1,
        Change::Mix {
            class: 2,
            count: Some(10),
            share_permille: Some(500),
            intensity_pct: Some(200),
        }
    );
}

#[test]
fn a_mix_changes_the_workload_from_the_start() {
    let scenario = read("\"plain\"", "mix: [(class: \"daemon\", count: 5)]").unwrap();
    assert_eq!(scenario.setup.workload.classes[2].count, 5);
}

#[test]
fn every_problem_is_reported_with_its_place_and_remedy() {
    let got = message(
        "\"ni-radnom\"",
        "mix: [(class: \"deamon\", share: 1.5)],\nseed: 3",
    );
    let lines: Vec<_> = got.lines().collect();
    assert_eq!(
        lines,
        [
            "t.ron:2:9: there is no policy called `ni-radnom`; did you mean `ni-random`? \
             (allowed: plain, no-ni-random, bump, ni-random-v0, ni-random, ni-rate, \
             bresenham-v1, bresenham-carry, never, always)",
            "t.ron:3:15: easywave has no class `deamon`; did you mean `daemon`? \
             (allowed: master, worker, daemon)",
            "t.ron:3:32: 1.5 is no share; allowed: 0.0 (nobody) to 1.0 (all)",
        ]
    );
}

#[test]
fn fields_of_a_policy_are_checked_like_all_others() {
    let shift = message("(base: \"ni-rate\", rate_shift: 70)", "");
    assert_eq!(shift, "t.ron:2:39: rate_shift is 70; allowed: 0 to 63");
    let unknown = message("(base: \"ni-rate\", rate_shfit: 7)", "");
    assert!(unknown.contains("did you mean `rate_shift`?"), "{unknown}");
    let late = message(
        "\"plain\"",
        "timeline: [(at: \"5s\", set: policy(\"bump\"))]",
    );
    assert!(late.contains("5s is behind the end of the run"), "{late}");
}

#[test]
fn published_policies_that_are_no_gates_say_so() {
    let got = message("\"bresenham-v4\"", "");
    assert!(
        got.contains("what changed from v1 to v4 is not known"),
        "{got}"
    );
    let got = message("\"sis-node\"", "");
    assert!(got.contains("no newidle policy of this version"), "{got}");
    assert!(
        got.ends_with("write wakeup: \"sis-node\" in a scenario, or --rule wakeup=sis-node"),
        "{got}"
    );
    let got = message("\"no-next-buddy\"", "");
    assert!(
        got.ends_with(
            "write features: [\"NO_NEXT_BUDDY\"] in a scenario, or --feature NO_NEXT_BUDDY"
        ),
        "{got}"
    );
}

#[test]
fn a_mix_that_says_nothing_or_the_same_class_twice_is_refused() {
    let got = message("\"plain\"", "mix: [(class: \"daemon\")]");
    assert!(
        got.contains("the mix of `daemon` changes nothing; give a count"),
        "{got}"
    );
    let got = message(
        "\"plain\"",
        "mix: [(class: \"daemon\", count: 1), (class: \"daemon\", count: 2)]",
    );
    assert!(
        got.contains("`daemon` is already in the mix; name each class once"),
        "{got}"
    );
}

/// A scenario without a policy, with these lines.
fn by_kernel(rest: &str) -> Result<Scenario, Problems> {
    let text = format!(
        "(format: 1, name: \"t\", topology: \"tr-9960x\", workload: \"easywave\", duration: \"4s\",\n{rest})"
    );
    parse("t.ron", &text, &BuiltIn, &Overrides::default())
}

#[test]
fn a_kernel_brings_its_policy_and_a_policy_beside_it_wins() {
    let setup = by_kernel("kernel: \"6.17-bump\"").unwrap().setup;
    assert_eq!(
        (setup.policy.name.as_str(), setup.rules.name.as_str()),
        ("bump", "6.17-bump")
    );
    let setup = by_kernel("kernel: \"6.17-bump\", policy: \"plain\"")
        .unwrap()
        .setup;
    assert_eq!(
        (setup.policy.name.as_str(), setup.rules.name.as_str()),
        ("plain", "6.17-bump")
    );
    let none = by_kernel("seed: 1").unwrap_err().to_string();
    assert!(
        none.contains("neither a policy nor a kernel is named; add policy:"),
        "{none}"
    );
}

#[test]
fn rules_and_flags_change_a_kernel_and_give_it_a_star() {
    let setup = by_kernel(
        "kernel: \"7.3\", fork: \"slowpath-random\", avg_idle: \"wakeup\", features: [\"NO_SIS_UTIL\", \"NEXT_BUDDY\"]",
    );
    let rules = setup.unwrap().setup.rules;
    assert_eq!(rules.name, "7.3*");
    assert_eq!(
        rules.changes(),
        [
            "fork=random",
            "avg_idle=wakeup",
            "NO_SIS_UTIL",
            "NEXT_BUDDY"
        ]
    );
    // What the kernel has anyway is no change.
    let same = by_kernel("kernel: \"7.3\", features: [\"SIS_UTIL\"]").unwrap();
    assert_eq!(same.setup.rules.name, "7.3");
}

#[test]
fn a_timeline_changes_rules_that_are_in_force_at_its_time() {
    let scenario = by_kernel(
        "kernel: \"6.12\", timeline: [
           (at: \"3s\", set: feature(\"NO_NI_RATE\")),
           (at: \"2s\", set: kernel(\"7.1-ni-rate\")),
           (at: \"1s\", set: rules(wakeup: \"sis-node\", fork: \"first\")),
           (at: \"3500ms\", set: features([\"NO_WA_IDLE\", \"NI_RATE\"])),
         ]",
    );
    let timeline = scenario.unwrap().setup.timeline;
    let told: Vec<String> = timeline
        .iter()
        .map(|(at, change)| match change {
            Change::Rules(named) => format!("{} {} {:?}", at / MS, named.name, named.changes()),
            Change::Policy(policy) => format!("{} policy {}", at / MS, policy.name),
            Change::Mix { .. } => "mix".into(),
        })
        .collect();
    assert_eq!(
        told,
        [
            "1000 6.12* [\"wakeup=sis-node\", \"fork=first\"]",
            "2000 policy ni-rate",
            "2000 7.1-ni-rate []",
            "3000 7.1-ni-rate* [\"NO_NI_RATE\"]",
            "3500 7.1-ni-rate* [\"NO_WA_IDLE\"]",
        ]
    );
}

#[test]
fn wrong_rules_are_reported_at_their_place() {
    let got = by_kernel(
        "kernel: \"6.1-cfs\", fork: \"randon\",\nfeatures: [\"SIS_UTIL\", \"NO_RUN_TO_PARITY\"],\n\
         timeline: [(at: \"1s\", set: kernel(\"6.13\")), (at: \"2s\", set: features([\"WA_IDEL\"])),\n\
         (at: \"3s\", set: rules(wakeup: \"sis\"))]",
    );
    let got = got.unwrap_err().to_string();
    let starts: Vec<&str> = got
        .lines()
        .map(|line| line.split("; ").next().unwrap())
        .collect();
    assert_eq!(
        starts,
        [
            "t.ron:2:26: there is no fork rule called `randon`",
            "t.ron:3:24: `NO_RUN_TO_PARITY`: cfs-6.1 has no RUN_TO_PARITY",
            "t.ron:4:35: there is no kernel called `6.13`",
            "t.ron:4:71: there is no feature flag called `WA_IDEL`",
            "t.ron:5:31: there is no wakeup rule called `sis`",
        ]
    );
}

#[test]
fn a_kernel_of_the_command_line_takes_the_place_of_all_rules_of_the_file() {
    let text = "(format: 1, name: \"t\", topology: \"tr-9960x\", workload: \"easywave\", duration: \"4s\", \
                kernel: \"7.3\", policy: \"never\", fork: \"first\")";
    let asked = |asked: Asked| {
        let overrides = Overrides {
            rules: asked,
            ..Overrides::default()
        };
        parse("t.ron", text, &BuiltIn, &overrides).map(|scenario| scenario.setup)
    };
    let setup = asked(Asked {
        kernel: crate::sim::rules::kernel("6.1-cfs"),
        features: vec!["NO_START_DEBIT".into()],
        ..Asked::default()
    })
    .unwrap();
    assert_eq!(setup.policy.name, "plain");
    assert_eq!(setup.rules.changes(), ["NO_START_DEBIT"]);
    let setup = asked(Asked {
        features: vec!["NO_WA_IDLE".into()],
        ..Asked::default()
    })
    .unwrap();
    assert_eq!(setup.rules.changes(), ["fork=first", "NO_WA_IDLE"]);
    let refused = asked(Asked {
        features: vec!["START_DEBIT".into()],
        ..Asked::default()
    });
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.starts_with("--feature: `START_DEBIT`: eevdf-ml has no START_DEBIT"),
        "{refused}"
    );
}
