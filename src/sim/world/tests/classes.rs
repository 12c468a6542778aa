//! Scheduling classes and control groups in whole worlds, against values by hand.

use std::sync::Arc;

use super::checked;
use crate::sim::CpuId;
use crate::sim::fair::Cgroup;
use crate::sim::gate;
use crate::sim::rules::{Rules, WakeupRule, kernel};
use crate::sim::task::SchedClass;
use crate::sim::testing::{class, forever, hogs, machine, run, workload};
use crate::sim::time::{MS, Ns, SEC, US};
use crate::sim::workload::{Affinity, Class, Dist, Op, Policy, Workload};
use crate::sim::world::{Boot, World};

fn boot(cpus: u32, load: &Arc<Workload>, rules: Rules) -> World {
    let boot = Boot {
        policy: gate::preset("plain").expect("a shipped policy"),
        rules,
        history: None,
        seed: 1,
    };
    World::new(machine(1, cpus, 1), Arc::clone(load), boot)
}

fn rules(name: &str) -> Rules {
    kernel(name).expect("a known kernel").rules()
}

fn always(name: &str, count: u32) -> Class {
    let program = vec![run(Dist::Const(100 * US)), Op::Done, forever(0)];
    class(name, count, program)
}

fn on_and_off(name: &str, on: Ns, off: Ns) -> Class {
    let program = vec![
        Op::Sleep(Dist::Const(off)),
        run(Dist::Const(on)),
        Op::Done,
        forever(0),
    ];
    class(name, 1, program)
}

fn with_groups(groups: Vec<Cgroup>, classes: Vec<Class>) -> Arc<Workload> {
    let mut load = Arc::unwrap_or_clone(workload(classes, vec![], vec![]));
    load.groups = groups;
    Arc::new(load)
}

/// A group below the root.
fn group(name: &str, parent: u16, shares: u32, idle: bool) -> Cgroup {
    Cgroup {
        name: name.into(),
        parent,
        shares,
        idle,
    }
}

/// CPU time of each task, in 1000ths of `of`.
fn shares(world: &World, of: Ns) -> Vec<u64> {
    let tasks = 0..world.tasks.len() as u32;
    tasks
        .map(|id| world.store.task(id).sum_exec * 1_000 / of)
        .collect()
}

#[track_caller]
fn assert_near(found: &[u64], wanted: &[u64], tolerance: u64) {
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for (f, w) in found.iter().zip(wanted) {
        assert!(f.abs_diff(*w) <= tolerance, "{found:?}, not {wanted:?}");
    }
}

#[test]
fn nice_values_share_a_cpu_by_their_weights() {
    // Weights of nice 0 and 5: 1024 and 335. 1024 / 1359 = 0.753.
    let mut nicer = always("nicer", 1);
    nicer.nice = 5;
    let load = workload(vec![always("other", 1), nicer], vec![], vec![]);
    for name in ["6.1-cfs", "6.3-eevdf-branch", "6.12", "6.18-revert", "7.3"] {
        let mut world = boot(1, &load, rules(name));
        checked(&mut world, 4 * SEC);
        assert_near(&shares(&world, 4 * SEC), &[753, 247], 15);
    }
}

#[test]
fn a_group_gets_its_weight_however_many_tasks_it_has() {
    // Root: one task of weight 1024 and group a of shares 1024: half each; the
    // three tasks of a share its half: a sixth each.
    let mut member = always("member", 3);
    member.group = 1;
    let load = with_groups(
        vec![Cgroup::root(), group("a", 0, 1_024, false)],
        vec![always("outside", 1), member],
    );
    for name in ["6.1-cfs", "6.12", "6.18-revert"] {
        let mut world = boot(1, &load, rules(name));
        checked(&mut world, 6 * SEC);
        assert_near(&shares(&world, 6 * SEC), &[500, 167, 167, 167], 20);
    }
}

#[test]
fn a_group_spread_over_cpus_spreads_its_weight() {
    // Group a has a task pinned to each of two CPUs, so about 512 of its 1024 on
    // each; beside it on CPU 0 a root task of 1024: 1024 / 1536 = 2/3. On CPU 1 the
    // member is alone.
    let mut member = always("member", 2);
    member.group = 1;
    member.affinity = Affinity::OnePerCpu;
    let mut rival = always("rival", 1);
    rival.affinity = Affinity::Cpus(vec![0]);
    let load = with_groups(
        vec![Cgroup::root(), group("a", 0, 1_024, false)],
        vec![rival, member],
    );
    let mut world = boot(2, &load, rules("6.12"));
    checked(&mut world, 6 * SEC);
    assert_near(&shares(&world, 6 * SEC), &[667, 333, 1_000], 25);
}

/// A wakee of the root and noise in an idle group: at the root (t1), or below a
/// group of full weight (t2).
fn noise_beside(nested: bool) -> (Arc<Workload>, usize) {
    let mut groups = vec![Cgroup::root()];
    if nested {
        groups.push(group("x", 0, 1_024, false));
    }
    groups.push(group("noise", groups.len() as u16 - 1, 1_024, true));
    let mut noise = always("noise", 2);
    noise.group = groups.len() as u16 - 1;
    let wakee = on_and_off("wakee", 50 * US, 950 * US);
    (with_groups(groups, vec![wakee, noise]), 0)
}

#[test]
fn an_idle_group_yields_at_once_at_the_root_but_not_below_a_group_of_weight() {
    let slowest = |nested| {
        let (load, wakee) = noise_beside(nested);
        let mut world = boot(1, &load, rules("6.12"));
        // Placement sees no difference: beside noise alone the CPU counts as idle.
        checked(&mut world, SEC - 500 * US);
        assert!(world.hot[0].sched_idle() || world.hot[0].nr_running == 3);
        checked(&mut world, SEC);
        assert!(world.class(wakee).done > 900, "{}", world.class(wakee).done);
        world.latency.quantile(990).expect("the wakee ran")
    };
    // t1: at once, but for the switch.
    let at_root = slowest(false);
    assert!(at_root < 20 * US, "{at_root}");
    // t2: it competes with X on equal terms, and X is protected for a slice of
    // 0.7 ms, which ends at a tick.
    let nested = slowest(true);
    assert!((100 * US..1_700 * US).contains(&nested), "{nested}");
}

#[test]
fn sched_idle_tasks_are_preempted_at_once_and_get_what_is_left() {
    let mut noise = always("noise", 1);
    noise.policy = Policy::Idle;
    let wakee = on_and_off("wakee", 500 * US, 500 * US);
    let load = workload(vec![wakee, noise], vec![], vec![]);
    for name in ["6.1-cfs", "6.12", "6.18-revert", "7.3"] {
        let mut world = boot(1, &load, rules(name));
        checked(&mut world, SEC);
        let done = world.class(0).done;
        assert!((970..=1_000).contains(&done), "{name}: {done}");
    }
}

#[test]
fn fifo_noise_runs_before_fair_tasks_and_lowers_the_capacity() {
    let mut noise = on_and_off("noise", 250 * US, 750 * US);
    noise.policy = Policy::Fifo;
    let load = workload(vec![always("hog", 1), noise], vec![], vec![]);
    let mut world = boot(1, &load, rules("6.12"));
    checked(&mut world, SEC);
    // It takes a quarter of the time, with switches and interrupts a little less
    // often; the capacity left is 3/4 of 1024 = 768, as PELT swings around it.
    let noise = shares(&world, SEC)[1];
    assert!((235..=265).contains(&noise), "{noise}");
    let capacity = world.hot[0].capacity;
    assert!(capacity.abs_diff(768) < 40, "{capacity}");
}

#[test]
fn a_task_that_yields_lets_the_other_run() {
    let yielding = vec![run(Dist::Const(10 * US)), Op::Done, Op::Yield, forever(0)];
    let load = workload(
        vec![class("polite", 1, yielding), always("hog", 1)],
        vec![],
        vec![],
    );
    for name in ["6.1-cfs", "6.12"] {
        let mut world = boot(1, &load, rules(name));
        checked(&mut world, SEC);
        let yields = world.cpu_stats(CpuId(0)).yld_count;
        assert_eq!(yields.abs_diff(world.class(0).done), 0);
        // Never more than its half, and the hog is not shut out either.
        let hog = shares(&world, SEC)[1];
        assert!((490..1_000).contains(&hog), "{name}: {hog}");
    }
}

#[test]
fn a_sleeper_that_owes_time_stays_queued_until_it_is_picked_or_wakes() {
    // It runs 2 ms beside a hog that has had nothing: it owes 1 ms when it sleeps.
    let sleeper = on_and_off("sleeper", 2 * MS, 3 * MS);
    let load = workload(vec![always("hog", 1), sleeper], vec![], vec![]);
    let delayed = |on: bool| {
        let mut set = rules("6.12");
        set.features.set(if on {
            "DELAY_DEQUEUE"
        } else {
            "NO_DELAY_DEQUEUE"
        });
        let mut world = boot(1, &load, set);
        let mut seen = 0;
        while world.now() < 200 * MS {
            world.run_until(world.now() + 100 * US, u64::MAX);
            assert_eq!(world.check(), Vec::<String>::new());
            let hot = &world.hot[0];
            seen += u32::from(hot.h_nr_queued > hot.h_nr_runnable);
        }
        seen
    };
    assert!(delayed(true) > 0);
    assert_eq!(delayed(false), 0);
}

fn cosmos(rule: WakeupRule) -> Rules {
    Rules {
        wakeup: rule,
        ..Rules::default()
    }
}

#[test]
fn idle_cpus_are_claimed_so_that_wakers_at_once_never_choose_the_same() {
    // Four tasks in step on four CPUs: each wakes to a CPU of its own, and none
    // ever waits on a runqueue.
    let program = vec![
        run(Dist::Const(50 * US)),
        Op::Done,
        Op::Sleep(Dist::Const(100 * US)),
        forever(0),
    ];
    let load = workload(vec![class("task", 4, program)], vec![], vec![]);
    for rule in [WakeupRule::Cosmos, WakeupRule::CosmosRoundRobin] {
        let mut world = boot(4, &load, cosmos(rule));
        checked(&mut world, 100 * MS);
        assert!(world.class(0).done > 2_000, "{}", world.class(0).done);
        let waited: Ns = (0..4)
            .map(|cpu| world.cpu_stats(CpuId(cpu)).run_delay)
            .sum();
        assert_eq!(waited, 0, "{rule:?}");
        assert_eq!(world.totals().newidle.entries, 0, "nothing is balanced");
    }
}

#[test]
fn turns_of_the_round_robin_last_until_the_tick_after_the_slice() {
    // Slices of 800 us end at the next tick, 1 ms: two tasks change places at
    // every tick, each has half.
    let mut world = boot(1, &hogs(2), cosmos(WakeupRule::CosmosRoundRobin));
    checked(&mut world, SEC);
    let switches = world.cpu_stats(CpuId(0)).switches;
    assert!((990..=1_002).contains(&switches), "{switches}");
    assert_near(&shares(&world, SEC), &[500, 500], 3);
}

#[test]
fn two_tasks_of_a_shared_queue_take_turns_whatever_they_weigh() {
    // The next task is chosen before the running one queues again: with two there
    // is no choice, and both slices (1 ms, and 320 us at nice 5) end at the tick.
    let mut nicer = always("nicer", 1);
    nicer.nice = 5;
    let load = workload(vec![always("other", 1), nicer], vec![], vec![]);
    let mut world = boot(1, &load, cosmos(WakeupRule::Cosmos));
    checked(&mut world, SEC);
    assert_near(&shares(&world, SEC), &[500, 500], 3);
}

#[test]
fn tasks_change_schedulers_while_they_run_and_lose_no_time() {
    let mut noise = on_and_off("noise", 50 * US, 400 * US);
    noise.count = 5;
    let load = workload(vec![always("hog", 5), noise], vec![], vec![]);
    let mut world = boot(4, &load, Rules::default());
    let mut at = 0;
    let steps = [
        WakeupRule::Cosmos,
        WakeupRule::CosmosRoundRobin,
        WakeupRule::Stock612,
        WakeupRule::CosmosRoundRobin,
        WakeupRule::Stock612,
    ];
    for rule in steps {
        at += 7 * MS + 300 * US;
        checked(&mut world, at);
        world.set_rules(cosmos(rule));
        assert_eq!(world.check(), Vec::<String>::new(), "{rule:?}");
        let wanted = match rule {
            WakeupRule::Stock612 => SchedClass::Fair,
            _ => SchedClass::Ext,
        };
        assert!(world.tasks.iter().all(|task| task.sched == wanted));
    }
    let before = world.class(0).done;
    checked(&mut world, at + 20 * MS);
    // Four CPUs, 20 ms, 100 us a unit: 800 at most, less what the noise takes.
    let done = world.class(0).done - before;
    assert!((550..=800).contains(&done), "{done}");
}
