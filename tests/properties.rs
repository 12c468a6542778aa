//! Random machines, mixes, policies and changes: every invariant of a world holds,
//! and the same input gives the same run.

use std::sync::Arc;

use proptest::prelude::*;
use schedlab::scenario::{policy, topology, workload};
use schedlab::session::{Change, NamedPolicy, NamedRules, Session, Setup};
use schedlab::sim::gate::{History, names};
use schedlab::sim::time::{MS, US};
use schedlab::sim::workload::Workload;
use schedlab::sim::{Ns, Topology};

/// Simulated time of a case.
const END: Ns = 12 * MS;

fn machine() -> impl Strategy<Value = Arc<Topology>> {
    let counts = (1..3u32, 1..3u32, 1..4u32, 1..5u32, 1..3u32);
    counts.prop_map(|(packages, nodes, llcs, cores, threads)| {
        let all = packages * nodes;
        let row = |from| {
            let to: Vec<String> = (0..all)
                .map(|to| if to == from { "10" } else { "20" }.to_string())
                .collect();
            format!("[{}]", to.join(", "))
        };
        let rows: Vec<String> = (0..all).map(row).collect();
        let text = format!(
            "(format: 1, id: \"m\", title: \"m\", distances: [{}], shape: uniform(\
             packages: {packages}, nodes_per_package: {nodes}, llcs_per_node: {llcs}, \
             cores_per_llc: {cores}, threads_per_core: {threads}))",
            rows.join(", ")
        );
        Arc::new(topology::parse("machine", &text).unwrap_or_else(|bad| panic!("{bad}\n{text}")))
    })
}

/// A class of each kind the engine knows, in random numbers and at random pace.
fn mix() -> impl Strategy<Value = Arc<Workload>> {
    let counts = (0..20u32, 0..60u32, 1..20u32, 0..40u32, 1..24u32, 0..3u32);
    let times = (1..3000u32, 2..2000u32, 1..300u32, 0..3000u32);
    (counts, times).prop_map(|(counts, (long, sleep, short, spin))| {
        let (hogs, sleepers, servers, clients, members, forkers) = counts;
        let text = format!(
            "(format: 1, id: \"w\", title: \"w\",\
             queues: [(name: \"q\")], teams: [(name: \"team\", spin: \"{spin}us\")], classes: [\
             (name: \"hog\", letter: 'h', count: {hogs}, unit: \"rounds\", program: [\
               loop([run(time: exp(\"{long}us\")), done])]),\
             (name: \"sleeper\", letter: 's', count: {sleepers}, unit: \"wakeups\", program: [\
               loop([sleep(uniform(\"1us\", \"{sleep}us\")), \
                     run(time: lognormal(median: \"{short}us\", sigma: 1.0)), done])]),\
             (name: \"server\", letter: 'v', count: {servers}, unit: \"requests\", program: [\
               loop([wait(\"q\"), run(time: const(\"{short}us\")), reply, done])]),\
             (name: \"client\", letter: 'c', count: {clients}, external: true, program: [\
               loop([sleep(exp(\"{sleep}us\")), wake(\"q\"), await_reply])]),\
             (name: \"member\", letter: 'm', count: {members}, unit: \"steps\", program: [\
               loop([barrier(\"team\"), run(time: uniform(\"1us\", \"{long}us\")), done])]),\
             (name: \"forker\", letter: 'f', count: {forkers}, program: [\
               loop([sleep(const(\"700us\")), fork(\"child\")])]),\
             (name: \"child\", letter: 'k', count: 1, unit: \"lives\", program: [\
               run(time: exp(\"{short}us\")), done, exit]),\
             ])"
        );
        Arc::new(workload::parse("mix", &text).unwrap_or_else(|bad| panic!("{bad}\n{text}")))
    })
}

fn gate() -> impl Strategy<Value = NamedPolicy> {
    let all: Vec<&str> = names().collect();
    let base = prop::sample::select(all);
    (base, 0..3u32, 1..64u32, 16..600u32).prop_map(|(base, twist, floor, window)| {
        let text = match twist {
            0 => {
                let start = window / 2;
                format!("(base: \"{base}\", floor: {floor}, window: {window}, start_call: {start})")
            }
            _ => base.to_string(),
        };
        policy::parse("policy", &text).unwrap_or_else(|bad| panic!("{bad}\n{text}"))
    })
}

fn change() -> impl Strategy<Value = Change> {
    let mix = (0..7usize, 0..50u32, 0..=1000u32, 10..400u32).prop_map(
        |(class, count, share, intensity)| Change::Mix {
            class,
            count: Some(count),
            share_permille: Some(share),
            intensity_pct: Some(intensity),
        },
    );
    prop_oneof![gate().prop_map(Change::Policy), mix]
}

fn setup() -> impl Strategy<Value = Setup> {
    let history = prop::option::of((1..4u32, 1..2000u32, 0..=1000u32));
    let timeline = prop::collection::vec((0..END, change()), 0..6);
    (machine(), mix(), gate(), history, any::<u64>(), timeline).prop_map(
        |(topology, workload, policy, history, seed, mut timeline)| {
            timeline.sort_by_key(|(at, _)| *at);
            Setup {
                topology,
                workload,
                policy,
                rules: NamedRules::default(),
                history: history.map(|(windows, calls_per_second, success_permille)| History {
                    windows,
                    calls_per_second,
                    success_permille,
                }),
                seed,
                timeline,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn invariants_hold_and_two_runs_are_equal(
        setup in setup(),
        changes in prop::collection::vec((0..END / 4, change()), 0..4),
        slice in 1..5_000u64,
    ) {
        let mut session = Session::new(setup.clone());
        let mut again = Session::new(setup);
        let mut until = 0;
        for (pause, change) in changes {
            until += pause;
            session.advance_to(until);
            prop_assert_eq!(session.world().check(), Vec::<String>::new());
            while again.advance(until, slice) == slice {}
            session.apply(change.clone());
            again.apply(change);
            prop_assert_eq!(session.world().check(), Vec::<String>::new());
        }
        while session.now() < END {
            session.advance_to((session.now() + 900 * US).min(END));
            prop_assert_eq!(session.world().check(), Vec::<String>::new());
        }
        while again.advance(END, slice) == slice {}
        prop_assert!(session == again, "two runs of the same input differ");
    }
}
