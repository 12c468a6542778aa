//! The binary as a script sees it: output, exit codes, determinism.

use std::process::{Command, Output, Stdio};

fn schedlab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_schedlab"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Standard output of a call that must succeed and say nothing else.
fn stdout(args: &[&str]) -> String {
    let output = schedlab(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    assert_eq!(errors, "", "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(args)).unwrap()
}

const SHORT: [&str; 4] = ["run", "memcached-2ccd", "--until", "20ms"];

fn short(more: &[&'static str]) -> Vec<&'static str> {
    SHORT.iter().chain(more).copied().collect()
}

#[test]
fn the_same_run_gives_the_same_bytes_in_every_form() {
    for format in ["table", "json", "csv"] {
        let args = short(&["--format", format]);
        assert_eq!(stdout(&args), stdout(&args), "{format}");
    }
}

#[test]
fn the_form_and_the_clock_do_not_change_the_event_stream() {
    let hash = json(&short(&["--format", "json"]))["event_hash"].clone();
    let hash = hash.as_str().unwrap();
    assert_eq!(hash.len(), 16);
    for more in [&["--format", "table"][..], &["--format", "csv"], &[]] {
        assert!(stdout(&short(more)).contains(hash), "{more:?}");
    }
    let timed = schedlab(&short(&["--format", "json", "--timing"]));
    let timed: serde_json::Value = serde_json::from_slice(&timed.stdout).unwrap();
    assert_eq!(timed["event_hash"], hash);
    assert!(timed["wall_ns"].as_u64().unwrap() > 0);
}

#[test]
fn another_seed_or_policy_gives_another_event_stream() {
    let hash = |more: &[&'static str]| json(&short(more))["event_hash"].clone();
    let first = hash(&["--format", "json"]);
    assert_ne!(first, hash(&["--format", "json", "--seed", "2"]));
    assert_ne!(first, hash(&["--format", "json", "--topology", "xeon-smt"]));
}

#[test]
fn the_json_object_has_the_promised_fields_in_their_order() {
    let text = stdout(&short(&["--format", "json"]));
    let mut from = 0;
    for field in [
        "scenario",
        "topology",
        "policy",
        "seed",
        "simulated_ns",
        "events",
        "schedules",
        "event_hash",
        "throughput",
        "newidle",
        "domains",
        "migrations",
        "idle_while_waiting_ns",
        "wakeup_latency_ns",
    ] {
        let found = text[from..].find(&format!("\n  \"{field}\":"));
        from += found.unwrap_or_else(|| panic!("{field} is missing or out of order"));
    }
    assert!(!text.contains("wall_ns"));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["simulated_ns"], 20_000_000);
    assert_eq!(value["throughput"]["worker"]["unit"], "requests/s");
    for newidle in [&value["newidle"], &value["domains"][0]] {
        for field in ["entries", "calls", "runs", "pulls"] {
            assert!(newidle[field].is_u64(), "{field}");
        }
        for skip in ["not_overloaded", "cost_gate", "policy"] {
            assert!(newidle["skips"][skip].is_u64(), "{skip}");
        }
    }
    let cost = &value["domains"][1]["max_newidle_lb_cost_ns"];
    assert!(cost["min"].as_u64() <= cost["median"].as_u64());
    assert!(cost["median"].as_u64() <= cost["max"].as_u64());
    for distance in ["same_core", "same_llc", "cross_llc", "cross_node"] {
        assert!(value["migrations"][distance].is_u64(), "{distance}");
    }
    for quantile in ["p50", "p99", "p999"] {
        assert!(value["wakeup_latency_ns"][quantile].is_u64(), "{quantile}");
    }
}

#[test]
fn csv_is_one_line_of_names_and_one_of_values() {
    let text = stdout(&short(&["--format", "csv"]));
    let lines: Vec<Vec<_>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].len(), lines[1].len());
    for name in ["newidle.skips.cost_gate", "domains.MC.ratio_mean"] {
        assert!(lines[0].contains(&name), "{name}");
    }
}

#[test]
fn the_table_fits_80_columns() {
    for text in [
        stdout(&SHORT),
        stdout(&["list"]),
        stdout(&["-h"]),
        stdout(&["run", "-h"]),
    ] {
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn the_short_help_fits_a_small_terminal_and_the_long_one_has_examples() {
    for command in [&[][..], &["run"], &["topology"], &["list"], &["verify"]] {
        let with = |flag| stdout(&[command, &[flag]].concat());
        assert!(with("-h").lines().count() <= 24, "{command:?}");
        assert!(with("--help").contains("Exit codes"), "{command:?}");
    }
    assert!(stdout(&["--help"]).contains("Examples:"));
}

#[test]
fn timing_tells_the_switches_per_second_of_wall_time() {
    let table = stdout(&short(&["--timing"]));
    assert!(table.contains("context switches/s of wall time"), "{table}");
    let csv = schedlab(&short(&["--timing", "--format", "csv"]));
    let errors = String::from_utf8(csv.stderr).unwrap();
    assert!(
        errors.contains("context switches/s of wall time"),
        "{errors}"
    );
}

#[test]
fn published_policy_names_mean_ours() {
    let plain = stdout(&short(&["--policy", "plain"]));
    assert_eq!(plain, stdout(&short(&["--policy", "cost-only"])));
    assert_eq!(plain, stdout(&short(&["--policy", "revert"])));
    assert_eq!(
        stdout(&short(&["--policy", "bump"])),
        stdout(&short(&["--policy", "bump-155213a"]))
    );
}

#[test]
fn a_policy_can_be_built_on_the_command_line() {
    let args = short(&[
        "--policy",
        "(base: \"ni-rate\", rate_shift: 23)",
        "--format",
        "json",
    ]);
    assert_eq!(json(&args)["policy"], "ni-rate*");
}

#[test]
fn wrong_usage_ends_with_2_and_the_nearest_name() {
    for (args, hint) in [
        (vec!["lisst"], "'list'"),
        (vec!["run"], "<SCENARIO>"),
        (
            vec!["run", "easywave-threadriper"],
            "did you mean `easywave-threadripper`?",
        ),
        (short(&["--policy", "bumb"]), "did you mean `bump`?"),
        (
            short(&["--topology", "epyc-2cdd"]),
            "--topology: there is no topology",
        ),
        (
            vec!["run", "memcached-2ccd", "--until", "0ms"],
            "a time of 0 does nothing",
        ),
        (
            vec!["run", "memcached-2ccd", "--until", "5"],
            "lacks a suffix",
        ),
        (short(&["--seed", "-1"]), "--seed"),
        (
            vec!["run", "no/such/file.ron"],
            "no/such/file.ron: cannot be read",
        ),
        (vec!["run", "src"], "src"),
        (vec!["list", "polices"], "'policies'"),
        (vec!["verify", "gates"], "<FILE>"),
        (vec!["--speed", "fast"], "--speed"),
    ] {
        let output = schedlab(&args);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
        assert!(errors.contains(hint), "{args:?}: {errors}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn without_a_terminal_the_explorer_names_run_and_ends_with_2() {
    let output = schedlab(&[]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("schedlab run"), "{errors}");
}

#[test]
fn a_closed_pipe_is_silence() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_schedlab"))
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn lists_name_what_can_be_run() {
    let lists = json(&["list", "--format", "json"]);
    let names = |kind: &str| -> Vec<String> {
        let entries = lists[kind].as_array().unwrap();
        let name = |entry: &serde_json::Value| entry["name"].as_str().unwrap().to_string();
        entries.iter().map(name).collect()
    };
    assert_eq!(names("policies").len(), 10);
    for scenario in names("scenarios") {
        stdout(&["run", &scenario, "--until", "1ms"]);
        stdout(&[
            "run",
            &format!("scenarios/{scenario}.ron"),
            "--until",
            "1ms",
        ]);
    }
    for policy in names("policies") {
        stdout(
            &short(&["--policy"])
                .into_iter()
                .chain([policy.as_str()])
                .collect::<Vec<_>>(),
        );
    }
    for workload in names("workloads") {
        stdout(&[
            "run",
            "memcached-2ccd",
            "--until",
            "1ms",
            "--workload",
            &workload,
        ]);
    }
    for topology in names("topologies").iter().filter(|name| *name != "host") {
        stdout(&[
            "run",
            "memcached-2ccd",
            "--until",
            "1ms",
            "--topology",
            topology,
        ]);
    }
}

#[test]
fn golden_vectors_are_verified_and_a_difference_ends_with_1() {
    let text = stdout(&["verify", "gates", "tests/oracle/gates.json"]);
    assert!(text.contains("all equal"), "{text}");
    let vectors = include_str!("oracle/gates.json");
    let changed = vectors.replacen("\"counts\":[0,", "\"counts\":[7,", 1);
    let path = std::env::temp_dir().join(format!("schedlab-gates-{}.json", std::process::id()));
    std::fs::write(&path, changed).unwrap();
    let output = schedlab(&["verify", "gates", path.to_str().unwrap()]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("counts.cost_gate: expected 7, got 0"),
        "{text}"
    );
}

#[test]
fn a_policy_without_statistics_shows_no_ratio_in_the_table() {
    let table = |policy: &str| {
        let done = Command::new(env!("CARGO_BIN_EXE_schedlab"))
            .args([
                "run",
                "memcached-xeon",
                "--until",
                "1ms",
                "--policy",
                policy,
            ])
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let ratio = |policy: &str| {
        let text = table(policy);
        let rows: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("MC "))
            .collect();
        rows[1].split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(ratio("plain"), "-");
    assert_eq!(ratio("ni-random"), "512.0");
}

#[test]
fn kernels_flags_and_rules_are_chosen_by_name_and_told_in_the_result() {
    let told = |args: &[&'static str]| {
        let json = json(&short(&[args, &["--format", "json"]].concat()));
        (
            json["kernel"].clone(),
            json["changed_rules"].clone(),
            json["policy"].clone(),
        )
    };
    let (kernel, changed, policy) = told(&["--kernel", "6.17-bump"]);
    assert_eq!((kernel, policy), ("6.17-bump".into(), "bump".into()));
    assert_eq!(changed, serde_json::json!([]));
    let (kernel, changed, policy) = told(&[
        "--kernel=7.3",
        "--policy=plain",
        "--feature=NO_SIS_UTIL,NO_WA_IDLE",
        "--rule=fork=slowpath-random",
    ]);
    assert_eq!((kernel, policy), ("7.3*".into(), "plain".into()));
    assert_eq!(
        changed,
        serde_json::json!(["fork=random", "NO_SIS_UTIL", "NO_WA_IDLE"])
    );
    for (args, wanted) in [
        (
            ["--kernel", "6.13"],
            "--kernel: there is no kernel called `6.13`; did you mean `6.12`?",
        ),
        (["--feature", "NO_SIS_UTLI"], "did you mean `SIS_UTIL`?"),
        (
            ["--feature", "START_DEBIT"],
            "eevdf-6.12 has no START_DEBIT",
        ),
        (
            ["--rule", "fork"],
            "`fork` is no rule; write KEY=NAME, such as fork=random",
        ),
        (
            ["--rule", "fork=randon"],
            "--rule: there is no fork rule called `randon`; did you mean `random`?",
        ),
    ] {
        let done = schedlab(&short(&args));
        let errors = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{errors}");
        assert!(errors.contains(wanted), "{errors}");
    }
}
