//! Golden replays of the shipped scenarios: the first events in clear, the hash
//! of the whole event stream and the summary. A changed golden says that the
//! model changed, and the commit must say why.
//!
//! `UPDATE_GOLDEN=1 cargo test --test replay` rewrites them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use schedlab::cli::library::{Shelf, scenario};
use schedlab::export::summary::Summary;
use schedlab::scenario::script::{EMBEDDED, Overrides};
use schedlab::session::Session;
use schedlab::sim::Ns;
use schedlab::sim::time::MS;

/// Enough for every part of the model to have had its turn.
const LENGTH: Ns = 40 * MS;
/// Events shown in clear.
const SHOWN: usize = 60;

fn boot(name: &str) -> Session {
    let scenario = scenario(name, Shelf::default(), &Overrides::default());
    Session::new(
        scenario
            .unwrap_or_else(|problems| panic!("{problems}"))
            .setup,
    )
}

/// The first events, one a line.
fn first_events(name: &str) -> String {
    let mut session = boot(name);
    let mut lines = String::new();
    let mut shown = 0;
    while shown < SHOWN && session.now() < LENGTH {
        for event in session.step_event() {
            let task = event
                .task
                .map_or_else(|| "-".into(), |task| task.to_string());
            writeln!(
                lines,
                "{:>9} ns  cpu {:>2}  {:?} task {task} arg {}",
                event.at, event.cpu.0, event.kind, event.arg
            )
            .unwrap();
            shown += 1;
        }
    }
    lines
}

fn replay(name: &str) -> String {
    let mut session = boot(name);
    session.advance_to(LENGTH);
    let mut golden = first_events(name).into_bytes();
    Summary::of(name, &session).write_json(&mut golden).unwrap();
    String::from_utf8(golden).unwrap()
}

#[test]
fn every_shipped_scenario_replays_as_it_did() {
    for (name, _) in EMBEDDED {
        let got = replay(name);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/replay/{name}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &got).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap();
        let differ = got
            .lines()
            .zip(expected.lines())
            .find(|(got, expected)| got != expected);
        assert_eq!(differ, None, "{name}: the first line that differs");
        assert_eq!(got.len(), expected.len(), "{name}");
    }
}

#[test]
fn running_in_pieces_gives_the_same_event_stream() {
    for (name, _) in EMBEDDED {
        let mut whole = boot(name);
        whole.advance_to(LENGTH / 4);
        let mut pieces = boot(name);
        let mut size = 1;
        // Fewer events than asked: the end is reached.
        while pieces.advance(LENGTH / 4, size) == size {
            size = size % 997 + 13;
        }
        let hash = |session: &Session| session.world().trace().hash();
        assert_eq!(hash(&whole), hash(&pieces), "{name}");
    }
}
