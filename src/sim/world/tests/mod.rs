//! Whole-world tests on small machines built by [`crate::sim::testing`].

mod classes;

use std::sync::Arc;

use super::{Boot, World};
use crate::sim::gate;
use crate::sim::rules::Rules;
use crate::sim::testing::{class, forever, hogs, machine, run, workload, world};
use crate::sim::time::{MS, Ns, SEC, US};
use crate::sim::workload::{Affinity, Dist, Growth, Op, Queue, Team, Work, Workload};

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
        let mut world = World::new(
            Arc::clone(&shape),
            Arc::clone(&load),
            Boot {
                policy,
                rules: Rules::default(),
                history: None,
                seed,
            },
        );
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

#[test]
fn nine_hogs_on_eight_cpus_take_turns_at_sharing_one() {
    let shape = machine(1, 8, 1);
    let mut world = world(&shape, &hogs(9), "plain");
    let mut partners = vec![false; 8];
    for second in 1..=120 {
        world.run_until(second * SEC, u64::MAX);
        for (cpu, seen) in partners.iter_mut().enumerate() {
            *seen |= world.hot[cpu].nr_running == 2;
        }
    }
    assert_eq!(world.check(), Vec::<String>::new());
    // Each CPU had the second task at some time: none keeps a task alone for ever.
    assert_eq!(partners, vec![true; 8]);
    // 8 CPUs for 9 tasks: 8/9 of 120 s each.
    let fair = 120 * SEC * 8 / 9;
    for id in 0..9 {
        let entity = world.store.task(id);
        let off = entity.sum_exec.abs_diff(fair) * 100 / fair;
        assert!(off <= 10, "task {id} ran {} of {fair}", entity.sum_exec);
    }
}

#[test]
fn two_tasks_on_one_core_are_parted_by_active_balance_only() {
    // Cores {0, 2} and {1, 3}; both tasks run on core 0.
    let shape = machine(1, 2, 2);
    let mut load = Workload::clone(&hogs(2));
    load.classes[0].affinity = Affinity::Cpus(vec![0, 2]);
    let mut world = world(&shape, &Arc::new(load), "plain");
    world.run_until(MS, u64::MAX);
    for task in &mut world.tasks {
        task.allowed = None;
    }
    let on_core =
        |world: &World, core: usize| world.hot[core].nr_running + world.hot[core + 2].nr_running;
    assert_eq!((on_core(&world, 0), on_core(&world, 1)), (2, 0));
    let mut failures = 0;
    while on_core(&world, 1) == 0 && world.now() < SEC {
        world.run_until(world.now() + MS, u64::MAX);
        // MC is level 1 of the idle CPUs' chains.
        let failed =
            |cpu: u16| world.sds[world.shape.sd(crate::sim::CpuId(cpu), 1)].nr_balance_failed;
        failures = failures.max(failed(1)).max(failed(3));
    }
    assert_eq!((on_core(&world, 0), on_core(&world, 1)), (1, 1));
    // nr_balance_failed > cache_nice_tries (1) + 2: the 4th failure starts the push
    // (balancing.md 5.10, example 1); its success then clears the count.
    assert_eq!(failures, 4);
}

#[test]
fn a_task_pinned_beside_an_idle_cpu_marks_the_parent_group_imbalanced() {
    // LLC 0 = {0, 1}, LLC 1 = {2, 3}: two tasks that may use CPU 0 only, CPU 1 idle.
    let shape = machine(2, 2, 1);
    let mut load = Workload::clone(&hogs(2));
    load.classes[0].affinity = Affinity::Cpus(vec![0]);
    let mut world = world(&shape, &Arc::new(load), "plain");
    let parent = &world.shape.domains.of(crate::sim::CpuId(0))[1];
    let sgc = world.shape.domains.group(parent.groups[0]).sgc as usize;
    // CPU 1 finds no task that may come and sets the mark; CPU 0, busy, finds
    // nothing to do and clears it (balancing.md 5.9 and BALANCED).
    let (mut marked, mut cleared) = (false, false);
    for ms in 1..=500 {
        world.run_until(ms * MS, u64::MAX);
        marked |= world.group_imbalance[sgc];
        cleared |= marked && !world.group_imbalance[sgc];
    }
    assert!(marked && cleared, "{marked} {cleared}");
}

#[test]
fn requests_find_another_server_when_theirs_leaves() {
    let shape = machine(1, 4, 1);
    let serve = vec![
        Op::Wait {
            queue: 0,
            all: false,
        },
        run(Dist::Const(20 * US)),
        Op::Reply,
        Op::Done,
        forever(0),
    ];
    let ask = vec![
        Op::Sleep(Dist::Const(50 * US)),
        Op::Wake { queue: 0 },
        Op::AwaitReply,
        Op::Done,
        forever(0),
    ];
    let mut client = class("client", 12, ask);
    client.external = true;
    let queue = Queue {
        name: "inbox".into(),
        per: Some(0),
    };
    let load = workload(vec![class("server", 4, serve), client], vec![queue], vec![]);
    let mut world = world(&shape, &load, "plain");
    // Every client comes back: 12 of them, none waits for a server that is gone.
    let served = |world: &mut World, servers: u32| {
        world.set_mix(0, Some(servers), None, None);
        checked(world, world.now() + MS);
        let before = world.class(1).done;
        checked(world, world.now() + 10 * MS);
        world.class(1).done - before
    };
    // One request takes 20 us of a server and some us of switching and wakeup.
    assert!(served(&mut world, 4) > 1000);
    let one = served(&mut world, 1);
    assert!((300..=500).contains(&one), "one server is the limit: {one}");
    assert_eq!(served(&mut world, 0), 0);
    let again = served(&mut world, 1);
    assert!(again.abs_diff(one) <= one / 10, "{again} {one}");
    assert!(served(&mut world, 6) > 1000);
}

#[test]
fn who_is_preempted_by_the_task_it_wakes_or_forks_leaves_itself_and_not_that_task() {
    let shape = machine(1, 1, 1);
    let server = vec![
        Op::Wait {
            queue: 0,
            all: false,
        },
        run(Dist::Const(2 * US)),
        Op::Reply,
        forever(0),
    ];
    // Wakes a task of higher weight on its own CPU, and is at its end then.
    let client = vec![run(Dist::Const(50 * US)), Op::Wake { queue: 0 }, Op::Exit];
    let parent = vec![
        Op::Fork { class: 1 },
        Op::Done,
        Op::Sleep(Dist::Const(MS)),
        forever(0),
    ];
    let mut load = workload(
        vec![
            class("server", 2, server),
            class("client", 0, client),
            class("parent", 3, parent),
        ],
        vec![Queue {
            name: "requests".into(),
            per: None,
        }],
        vec![],
    );
    let classes = &mut Arc::get_mut(&mut load).expect("not shared yet").classes;
    classes[0].nice = -20;
    classes[1].nice = -10;
    classes[2].nice = 19;
    let mut world = world(&shape, &load, "plain");
    while world.now() < 40 * MS {
        world.run_until(40 * MS, 1);
        assert_eq!(world.check(), Vec::<String>::new(), "at {}", world.now());
    }
    // Three parents fork once a millisecond each, and what they fork ends.
    assert!(world.class(2).done > 60, "{}", world.class(2).done);
    assert_eq!(world.class(0).alive, 2);
    assert!(world.class(1).alive <= 4, "{}", world.class(1).alive);
}
