//! The golden vectors of the newidle gates.

use schedlab::import::oracle_gates::{parse, replay};

const VECTORS: &str = include_str!("oracle/gates.json");

#[test]
fn every_shared_vector_is_reproduced() {
    let file = parse("gates.json", VECTORS).unwrap();
    let outcome = replay(&file);
    assert_eq!(outcome.mismatches, []);
    // 4 sequences of 11 policies, one walk of 6, one chain of averages.
    assert_eq!(outcome.replays, 4 * 11 + 6 + 1);
    assert!(outcome.compared > 10_000);
}

#[test]
fn a_changed_expectation_is_reported_with_all_that_finds_it() {
    let changed = VECTORS.replacen("\"counts\":[0,", "\"counts\":[7,", 1);
    assert_ne!(changed, VECTORS);
    let outcome = replay(&parse("gates.json", &changed).unwrap());
    let [mismatch] = outcome.mismatches.as_slice() else {
        panic!("one change, so one mismatch: {:?}", outcome.mismatches);
    };
    assert_eq!(mismatch.field, "counts.cost_gate");
    assert_eq!((mismatch.expected, mismatch.got), (7, 0));
}

#[test]
fn a_changed_rule_breaks_the_vectors_of_that_policy() {
    let changed = VECTORS.replacen("\"rate_shift\":23", "\"rate_shift\":24", 1);
    assert_ne!(changed, VECTORS);
    let outcome = replay(&parse("gates.json", &changed).unwrap());
    assert!(!outcome.mismatches.is_empty());
    for mismatch in &outcome.mismatches {
        assert_eq!(mismatch.policy.as_deref(), Some("ni_rate23"));
    }
}

#[test]
fn broken_files_are_refused_with_their_place() {
    for (text, start) in [
        ("{", "v.json:1:1: EOF while parsing"),
        ("{\n \"format\": }", "v.json:2:12: expected value"),
        ("{}", "v.json:1:2: missing field `format`"),
    ] {
        let got = parse("v.json", text).unwrap_err().to_string();
        assert!(got.starts_with(start), "{got}");
    }
}

#[test]
fn another_tick_rate_is_refused_and_not_replayed_wrongly() {
    let changed = VECTORS.replacen("\"hz\":1000", "\"hz\":250", 1);
    let got = parse("v.json", &changed).unwrap_err().to_string();
    assert!(got.contains("hz is 250; only 1000 is modelled"), "{got}");
}
