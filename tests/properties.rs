//! Random machines, mixes, policies and changes: every invariant of a world holds,
//! and the same input gives the same run.

use std::sync::Arc;

use proptest::prelude::*;
use schedlab::scenario::{policy, topology, workload};
use schedlab::session::{Change, NamedPolicy, NamedRules, Session, Setup};
use schedlab::sim::gate::{History, names};
use schedlab::sim::rules::{AVG_IDLE, FEATURES, FORK, KERNELS, SCHED_IDLE, WAKEUP};
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
    let extras = (
        0..12u32,
        0..6u32,
        -20..20i32,
        1..=1000u32,
        any::<bool>(),
        1..80u32,
    );
    (counts, times, extras).prop_map(|(counts, (long, sleep, short, spin), extras)| {
        let (hogs, sleepers, servers, clients, members, forkers) = counts;
        let (odd, kernel_threads, nice, weight, idle, slice) = extras;
        let text = format!(
            "(format: 1, id: \"w\", title: \"w\",\
             groups: [(name: \"a\", weight: {weight}), (name: \"b\", parent: \"a\", idle: {idle}), \
               (name: \"c\")],\
             queues: [(name: \"q\")], teams: [(name: \"team\", spin: \"{spin}us\")], classes: [\
             (name: \"hog\", letter: 'h', count: {hogs}, unit: \"rounds\", group: \"b\", program: [\
               loop([run(time: exp(\"{long}us\")), done])]),\
             (name: \"sleeper\", letter: 's', count: {sleepers}, unit: \"wakeups\", nice: {nice}, program: [\
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
             (name: \"idler\", letter: 'i', count: {odd}, policy: idle, group: \"a\", program: [\
               loop([run(time: exp(\"{short}us\")), sleep(exp(\"{short}us\"))])]),\
             (name: \"batch\", letter: 'b', count: {odd}, policy: batch, group: \"c\", program: [\
               loop([run(time: exp(\"{long}us\")), yield, sleep(exp(\"{sleep}us\"))])]),\
             (name: \"short\", letter: 'z', count: {odd}, slice: \"{slice}ms\", group: \"a\", program: [\
               loop([run(time: exp(\"{short}us\")), yield])]),\
             (name: \"kthread\", letter: 'r', count: {kernel_threads}, policy: fifo, kthread: true, \
               affinity: one_per_cpu, program: [\
               loop([run(time: exp(\"{short}us\")), sleep(exp(\"{sleep}us\"))])]),\
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

/// A kernel with some of its switches the other way.
fn rules() -> impl Strategy<Value = NamedRules> {
    let kernel = prop::sample::select(KERNELS.to_vec());
    let names: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
    let flipped = prop::collection::vec(prop::sample::select(names), 0..4);
    let wakeup = prop::sample::select(WAKEUP.to_vec());
    let choices = (
        wakeup,
        prop::sample::select(FORK.to_vec()),
        prop::sample::select(SCHED_IDLE.to_vec()),
    );
    let avg_idle = prop::sample::select(AVG_IDLE.to_vec());
    (kernel, flipped, prop::option::of(choices), avg_idle).prop_map(
        |(kernel, flipped, choices, avg_idle)| {
            let mut rules = kernel.rules();
            for name in flipped {
                let switch = rules.features.by_name(name).expect("a listed flag");
                *switch = !*switch;
            }
            if let Some((wakeup, fork, sched_idle)) = choices {
                rules.wakeup = wakeup.value;
                rules.fork = fork.value;
                rules.sched_idle = sched_idle.value;
                rules.avg_idle = avg_idle.value;
            }
            NamedRules::of(&kernel).changed(rules)
        },
    )
}

fn change() -> impl Strategy<Value = Change> {
    let mix = (0..11usize, 0..50u32, 0..=1000u32, 10..400u32).prop_map(
        |(class, count, share, intensity)| Change::Mix {
            class,
            count: Some(count),
            share_permille: Some(share),
            intensity_pct: Some(intensity),
        },
    );
    prop_oneof![
        gate().prop_map(Change::Policy),
        rules().prop_map(Change::Rules),
        mix
    ]
}

fn setup() -> impl Strategy<Value = Setup> {
    let history = prop::option::of((1..4u32, 1..2000u32, 0..=1000u32));
    let timeline = prop::collection::vec((0..END, change()), 0..6);
    (
        machine(),
        mix(),
        (gate(), rules()),
        history,
        any::<u64>(),
        timeline,
    )
        .prop_map(
            |(topology, workload, (policy, rules), history, seed, mut timeline)| {
                timeline.sort_by_key(|(at, _)| *at);
                Setup {
                    topology,
                    workload,
                    policy,
                    rules,
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

/// Cases of a run: 64, or as many as `PROPTEST_CASES` asks for.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(64)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
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
