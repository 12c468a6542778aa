//! Changes while a machine runs: scripted ones come at their exact time, and are
//! the same as a user's.

use std::sync::Arc;

use schedlab::cli::library::{self, Shelf};
use schedlab::scenario::policy;
use schedlab::scenario::script::Overrides;
use schedlab::session::{Change, NamedPolicy, NamedRules, Session, Setup};
use schedlab::sim::Ns;
use schedlab::sim::rules::kernel;
use schedlab::sim::time::{MS, TICK_NS};
use schedlab::sim::trace::TraceKind;

fn setup() -> Setup {
    library::scenario("memcached-2ccd", Shelf::default(), &Overrides::default())
        .unwrap_or_else(|problems| panic!("{problems}"))
        .setup
}

fn named(name: &str) -> NamedPolicy {
    policy::named(name).unwrap()
}

fn scripted(at: Ns, change: &Change) -> Session {
    Session::new(Setup {
        timeline: vec![(at, change.clone())],
        ..setup()
    })
}

fn hash(session: &Session) -> u64 {
    session.world().trace().hash()
}

/// Shrinks and quickens the clients.
fn fewer_clients() -> Change {
    Change::Mix {
        class: 1,
        count: Some(40),
        share_permille: Some(500),
        intensity_pct: Some(250),
    }
}

#[test]
fn a_scripted_change_comes_at_its_time_and_equals_the_same_change_by_hand() {
    const AT: Ns = 3_141_593;
    let cfs = NamedRules::of(kernel("6.1-cfs").unwrap());
    for change in [
        Change::Policy(named("always")),
        Change::Rules(cfs),
        fewer_clients(),
    ] {
        let mut unchanged = Session::new(setup());
        unchanged.advance_to(AT - 1);
        let mut script = scripted(AT, &change);
        script.advance_to(AT - 1);
        assert!(script.world() == unchanged.world(), "nothing before {AT}");

        script.advance_to(10 * MS);
        let mut hand = Session::new(setup());
        hand.advance_to(AT);
        hand.apply(change.clone());
        assert_eq!(hand.log(), [(AT, change)]);
        hand.advance_to(10 * MS);
        assert!(script.world() == hand.world());
        assert_eq!(script.policy_name(), hand.policy_name());
        assert_eq!(script.rules(), hand.rules());

        unchanged.advance_to(10 * MS);
        assert_ne!(
            hash(&script),
            hash(&unchanged),
            "the change changes the run"
        );
    }
}

#[test]
fn a_change_between_events_is_not_late_when_single_events_are_stepped() {
    // Some time inside a gap between two events.
    let mut probe = Session::new(setup());
    probe.advance_to(2 * MS);
    let at = loop {
        let before = probe.now();
        probe.step_event();
        if probe.now() > before + 2 {
            break before + 1;
        }
    };
    let change = Change::Policy(named("plain"));
    let mut stepped = scripted(at, &change);
    while stepped.now() < 5 * MS {
        stepped.step_event();
        assert_eq!(stepped.policy_name() == "plain", stepped.now() >= at);
    }
    // More events may stand at the time of the last one stepped.
    stepped.advance_to(6 * MS);
    let mut straight = scripted(at, &change);
    straight.advance_to(6 * MS);
    assert!(stepped.world() == straight.world());
}

#[test]
fn changes_at_the_same_time_come_in_their_order() {
    let change = |name| (MS, Change::Policy(named(name)));
    let mut session = Session::new(Setup {
        timeline: vec![change("never"), change("bump")],
        ..setup()
    });
    session.advance_to(MS);
    assert_eq!(session.policy_name(), "bump");
    assert_eq!(session.world().policy(), &named("bump").rules);
}

#[test]
fn a_policy_changed_while_running_keeps_statistics_and_tasks() {
    let mut session = Session::new(setup());
    session.advance_to(20 * MS);
    let before = session.world().totals();
    session.apply(Change::Policy(named("never")));
    assert_eq!(session.world().totals(), before);
    session.advance_to(40 * MS);
    let after = session.world().totals();
    assert_eq!(
        after.newidle.runs, before.newidle.runs,
        "`never` searches not"
    );
    assert!(after.newidle.entries > before.newidle.entries);
    assert_eq!(session.world().check(), Vec::<String>::new());
}

#[test]
fn tasks_asked_out_leave_and_added_ones_come_at_once() {
    let mut session = Session::new(setup());
    session.advance_to(5 * MS);
    let clients = |session: &Session| session.world().class(1).alive;
    let all = clients(&session);
    session.apply(fewer_clients());
    session.advance_to(40 * MS);
    assert_eq!(clients(&session), 20);
    let view = session.world().class(1);
    assert_eq!(
        (view.count, view.share_permille, view.intensity_pct),
        (40, 500, 250)
    );
    session.apply(Change::Mix {
        class: 1,
        count: Some(all),
        share_permille: Some(1000),
        intensity_pct: None,
    });
    session.advance_to(41 * MS);
    assert_eq!(clients(&session), all);
    assert_eq!(session.world().check(), Vec::<String>::new());
}

#[test]
fn steps_stop_where_they_say() {
    let mut session = Session::new(setup());
    session.advance_to(5 * MS + 1);
    session.step_tick();
    assert_eq!(session.now(), 5 * MS + TICK_NS);
    session.step_tick();
    assert_eq!(session.now(), 5 * MS + 2 * TICK_NS);

    let entries = |session: &Session| session.world().totals().newidle.entries;
    let before = entries(&session);
    let cpu = session.step_newidle(50 * MS).expect("an entry in 50 ms");
    assert_eq!(entries(&session), before + 1);
    let events = session.step_event();
    assert!(events.len() < 100, "one event does little");
    assert!(cpu.index() < session.world().topology().nr_cpus());
}

#[test]
fn without_work_a_search_for_a_newidle_entry_ends_at_its_limit() {
    let mut quiet = setup();
    let mut workload = (*quiet.workload).clone();
    for class in &mut workload.classes {
        class.count = 0;
    }
    quiet.workload = Arc::new(workload);
    let mut session = Session::new(quiet);
    session.advance_to(20 * MS);
    assert_eq!(session.step_newidle(3 * MS), None);
    assert_eq!(session.now(), 23 * MS);
    let entered = |session: &mut Session| {
        let events = session.step_event();
        events.iter().any(|e| e.kind == TraceKind::NewidleStart)
    };
    assert!(!entered(&mut session));
}
