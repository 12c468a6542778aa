//! The golden vectors of the fair class, compared value by value.

use std::fs;
use std::path::{Path, PathBuf};

use schedlab::import::oracle_pick::{parse, verify};

fn own_text() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/eevdf.json");
    fs::read_to_string(path).expect("the repository holds the vectors")
}

fn assert_equal(source: &str, text: &str) -> usize {
    let file = parse(source, text).unwrap_or_else(|problem| panic!("{problem}"));
    let outcome = verify(&file);
    let shown: Vec<_> = outcome.mismatches.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{source}:\n{}", shown.join("\n"));
    assert!(outcome.compared > 0, "{source} holds values");
    outcome.cases
}

#[test]
fn every_vector_comes_out_of_the_rules() {
    assert_eq!(assert_equal("eevdf.json", &own_text()), 23);
}

#[test]
fn every_shared_vector_comes_out_of_the_rules() {
    let shared = std::env::var_os("SCHEDLAB_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    // The shared collection lies beside a checkout, or not at all.
    if let Ok(text) = fs::read_to_string(shared.join("oracle/eevdf.json")) {
        assert_equal("shared eevdf.json", &text);
    }
}

#[test]
fn a_changed_value_is_found_where_it_was_changed() {
    let text = own_text().replacen("\"deadline\": 4800000", "\"deadline\": 4800001", 1);
    assert_ne!(text, own_text(), "the vectors hold that value");
    let file = parse("changed", &text).expect("still well formed");
    let shown: Vec<_> = verify(&file)
        .mismatches
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = "e01_three_equal, record 1, A.deadline: expected 4800001, got 4800000";
    assert_eq!(shown, [expected]);
}

#[test]
fn bad_files_are_refused_with_place_and_remedy() {
    let message = |text: &str| match parse("bad.json", text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(problem) => problem.to_string(),
    };
    let case = |config: &str, script: &str| {
        format!(
            r#"{{"cases": [{{"name": "x", "until_ns": 1, "config": {{"variant": "v6_12",
 "tunable_factor": 1, {config}}}, "tasks": [{{"name": "A", "script": {script}}}]}}]}}"#
        )
    };
    assert!(message("{").starts_with("bad.json:1:1: EOF while parsing"));
    assert!(message(r#"{"unit_vectors": {"vdelt": []}}"#).contains("unknown field `vdelt`"));
    assert!(message(r#"{"single": {}}"#).starts_with("bad.json: holds neither `unit_vectors`"));
    let unknown = case(r#""tick_ns": 1000, "features": {"PLACE_LAGG": true}"#, "[]");
    assert!(message(&unknown).contains("did you mean `PLACE_LAG`?"));
    assert!(message(&case(r#""tick_ns": 0"#, "[]")).contains("a tick of 0 ns"));
    let jump = case(r#""tick_ns": 9"#, r#"[["jump", 3]]"#);
    assert!(message(&jump).contains(r#"`["jump",3]` is no step; allowed: ["run", ns]"#));
    let spin = case(r#""tick_ns": 9"#, r#"[["yield"], ["loop"]]"#);
    assert!(message(&spin).contains("task A loops without taking time"));
}
