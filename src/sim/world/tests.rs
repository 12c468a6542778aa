//! Whole-world tests on small machines built here.

use std::sync::Arc;

use super::World;
use crate::sim::cost::Costs;
use crate::sim::gate;
use crate::sim::shape::Shape;
use crate::sim::time::{MS, Ns, SEC, US};
use crate::sim::topology::{CAPACITY_SCALE, Cpu, Node, Topology};
use crate::sim::workload::{Affinity, Class, Dist, Growth, Op, Queue, Team, Work, Workload};

/// A machine of `llcs` x `cores` x `smt` CPUs; second threads are numbered last.
fn machine(llcs: u32, cores: u32, smt: u32) -> Arc<Shape> {
    let nr_cores = llcs * cores;
    let cpus = (0..nr_cores * smt).map(|os_id| {
        let core = os_id % nr_cores;
        Cpu {
            os_id,
            online: true,
            isolated: false,
            core,
            cluster: core,
            llc: core / cores,
            die: core / cores,
            package: 0,
            node: 0,
            capacity: CAPACITY_SCALE,
            speed: CAPACITY_SCALE,
        }
    });
    let topology = Topology {
        id: "test".into(),
        title: "test".into(),
        cpus: cpus.collect(),
        nodes: vec![Node {
            os_id: 0,
            distances: vec![10],
        }],
        node_reclaim_distance: 30,
        costs: Costs::default(),
    };
    Arc::new(Shape::new(Arc::new(topology)))
}

fn class(name: &str, count: u32, program: Vec<Op>) -> Class {
    Class {
        name: name.into(),
        letter: name.chars().next().unwrap_or('?'),
        count,
        share_permille: 1000,
        intensity_pct: 100,
        nice: 0,
        affinity: Affinity::All,
        external: false,
        footprint_kib: 0,
        unit: "units".into(),
        program,
    }
}

fn workload(classes: Vec<Class>, queues: Vec<Queue>, teams: Vec<Team>) -> Arc<Workload> {
    Arc::new(Workload {
        id: "test".into(),
        title: "test".into(),
        classes,
        queues,
        teams,
    })
}

fn run(time: Dist) -> Op {
    Op::Run(Work {
        time,
        growth: None,
        split: None,
    })
}

fn forever(to: usize) -> Op {
    Op::Jump {
        to,
        times: None,
        counter: 0,
    }
}

fn world(shape: &Arc<Shape>, load: &Arc<Workload>, policy: &str) -> World {
    let policy = gate::preset(policy).expect("a shipped policy");
    World::new(Arc::clone(shape), Arc::clone(load), policy, None, 1)
}

/// Runs, checking every invariant now and then.
fn checked(world: &mut World, until: Ns) {
    while world.now() < until {
        world.run_until(until, 97);
        assert_eq!(world.check(), Vec::<String>::new(), "at {}", world.now());
    }
}

/// schbench -L on a small scale.
fn storm(messages: u32, workers: u32) -> Arc<Workload> {
    let mut message = class(
        "message",
        messages,
        vec![
            Op::Wait {
                queue: 0,
                all: true,
            },
            Op::Reply,
            forever(0),
        ],
    );
    message.affinity = Affinity::OnePerCpu;
    let worker = class(
        "worker",
        workers,
        vec![
            run(Dist::Uniform(2 * US, 5 * US)),
            Op::Wake { queue: 0 },
            Op::AwaitReply,
            Op::Done,
            forever(0),
        ],
    );
    workload(
        vec![message, worker],
        vec![Queue {
            name: "inbox".into(),
            per: Some(0),
        }],
        vec![],
    )
}

/// Fork-join with noise on a small scale.
fn fork_join(threads: u32, noise: u32) -> Arc<Workload> {
    let share = Op::Run(Work {
        time: Dist::Const(20 * MS),
        growth: Some(Growth {
            first_permille: 50,
            rounds: 2000,
            power: 2,
            repeat: true,
        }),
        split: Some(0),
    });
    let first = Op::Barrier {
        team: 0,
        join: true,
    };
    let second = Op::Barrier {
        team: 0,
        join: false,
    };
    let master = vec![
        first.clone(),
        share.clone(),
        second.clone(),
        run(Dist::Const(5 * US)),
        Op::Done,
        forever(0),
    ];
    let member = vec![first, share, second, forever(0)];
    let daemon = vec![
        Op::Sleep(Dist::Uniform(5 * MS, 50 * MS)),
        run(Dist::Const(50 * US)),
        Op::Done,
        forever(0),
    ];
    workload(
        vec![
            class("master", 1, master),
            class("team", threads - 1, member),
            class("daemon", noise, daemon),
        ],
        vec![],
        vec![Team {
            name: "team".into(),
            spin: 3 * MS,
        }],
    )
}

#[test]
fn invariants_hold_in_a_storm_and_between_barriers() {
    let shape = machine(2, 2, 2);
    for policy in gate::names() {
        let mut world = world(&shape, &storm(2, 24), policy);
        checked(&mut world, 5 * MS);
        assert!(
            world.class(1).done > 100,
            "{policy}: {}",
            world.class(1).done
        );
    }
    let mut world = world(&shape, &fork_join(8, 12), "ni-random");
    checked(&mut world, 200 * MS);
    assert!(world.class(0).done > 10);
}

#[test]
fn two_runs_give_the_same_event_stream_and_another_seed_another() {
    let shape = machine(2, 3, 2);
    let load = fork_join(12, 20);
    let hash = |seed| {
        let policy = gate::preset("ni-random").expect("shipped");
        let mut world = World::new(Arc::clone(&shape), Arc::clone(&load), policy, None, seed);
        world.run_until(SEC / 10, u64::MAX);
        (world.trace().hash(), world.totals().events)
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn the_policy_does_not_shift_what_the_workload_draws() {
    let shape = machine(1, 2, 1);
    let load = workload(
        vec![class(
            "hog",
            5,
            vec![run(Dist::Exp(300 * US)), Op::Done, forever(0)],
        )],
        vec![],
        vec![],
    );
    // Five hogs on two CPUs: what differs is where and when, never how long.
    let total = |policy| {
        let mut world = world(&shape, &load, policy);
        world.run_until(SEC, u64::MAX);
        world.class(0).done
    };
    let (plain, never) = (total("plain"), total("never"));
    assert!(plain.abs_diff(never) <= plain / 50, "{plain} {never}");
}

#[test]
fn tasks_can_be_added_and_asked_out_while_running() {
    let shape = machine(2, 2, 2);
    let mut world = world(&shape, &fork_join(8, 12), "ni-random");
    checked(&mut world, 20 * MS);
    world.set_mix(1, Some(11), None, None);
    world.set_mix(2, Some(0), None, None);
    checked(&mut world, 60 * MS);
    assert_eq!((world.class(1).alive, world.class(2).alive), (11, 0));
    let before = world.class(0).done;
    world.set_mix(1, Some(3), None, None);
    world.set_mix(2, Some(4), Some(500), Some(200));
    checked(&mut world, 140 * MS);
    assert_eq!((world.class(1).alive, world.class(2).alive), (3, 2));
    assert!(world.class(0).done > before);
}
