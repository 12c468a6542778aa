//! Known cases of balancing, worked out by hand from `balancing.md`.

use std::sync::Arc;

use crate::sim::CpuId;
use crate::sim::gate::{GatePolicy, PickRule, preset};
use crate::sim::stats::IdleType;
use crate::sim::testing::{self, hogs, machine};
use crate::sim::time::{MS, Ns, US};
use crate::sim::trace::{TraceEvent, TraceKind};
use crate::sim::workload::{Affinity, Workload};
use crate::sim::world::World;

/// Two tasks that always run on CPU 0, free to go elsewhere `after` the last
/// switch between them. LLC 0 is the core {0, 2}, LLC 1 the core {1, 3}.
fn two_on_cpu_0(after: Ns) -> World {
    let shape = machine(2, 1, 2);
    let mut load = Workload::clone(&hogs(2));
    load.classes[0].affinity = Affinity::Cpus(vec![0]);
    let rules = preset("never").expect("shipped");
    let mut world = testing::boot(&shape, &Arc::new(load), rules);
    world.run_until(20 * MS, u64::MAX);
    world.trace_mut().record(true);
    while !world
        .trace_mut()
        .take()
        .iter()
        .any(|e| e.kind == TraceKind::Switch)
    {
        world.step();
    }
    world.run_until(world.now() + after, u64::MAX);
    for task in &mut world.tasks {
        task.allowed = None;
        task.pinned = None;
    }
    world
}

fn moved(world: &mut World, cpu: u16, level: usize) -> u32 {
    world
        .balance_elected(CpuId(cpu), level, IdleType::NewlyIdle)
        .moved
}

#[test]
fn a_cache_hot_task_stays_below_its_llc_and_moves_within_its_core() {
    // It last ran 100 us ago: hot, being less than migration_cost = 500 us.
    let mut world = two_on_cpu_0(100 * US);
    assert_eq!(moved(&mut world, 1, 1), 0, "across LLCs");
    // Between SMT threads nothing is hot (balancing.md 5.8.1).
    assert_eq!(moved(&mut world, 2, 0), 1, "within the core");
    // 600 us after its last run it is cold.
    let mut world = two_on_cpu_0(600 * US);
    assert_eq!(moved(&mut world, 1, 1), 1, "across LLCs when cold");
}

/// What CPU 1 does as it goes idle beside two tasks on CPU 0, under `rules`;
/// `prepare` sets up the gates.
fn walk(rules: GatePolicy, prepare: impl Fn(&mut World)) -> Vec<TraceEvent> {
    let mut world = two_on_cpu_0(100 * US);
    world.set_policy(rules);
    world.overloaded = true;
    prepare(&mut world);
    world.trace_mut().record(true);
    world.newidle(CpuId(1));
    world.run_until(world.now() + 100 * US, u64::MAX);
    let events = world.trace_mut().take();
    events
        .into_iter()
        .filter(|event| event.cpu == CpuId(1))
        .collect()
}

fn kinds(events: &[TraceEvent]) -> Vec<(TraceKind, u64)> {
    events.iter().map(|event| (event.kind, event.arg)).collect()
}

#[test]
fn a_policy_skip_goes_on_with_the_next_higher_domain() {
    let never = GatePolicy {
        pick: PickRule::None,
        ..preset("ni-random").expect("shipped")
    };
    let events = walk(never, |_| ());
    assert_eq!(
        kinds(&events),
        [
            (TraceKind::NewidleStart, 0),
            (TraceKind::NewidleSkip, 0),
            (TraceKind::NewidleSkip, 1),
            (TraceKind::Idle, 0),
        ]
    );
}

#[test]
fn a_closed_cost_gate_ends_the_walk() {
    let plain = preset("plain").expect("shipped");
    // SMT is searched in vain; PKG would take longer than the CPU tends to idle.
    let events = walk(plain.clone(), |world| {
        let sd = world.shape.sd(CpuId(1), 1);
        world.sds[sd].gate.max_newidle_lb_cost = 2 * MS;
    });
    assert_eq!(
        kinds(&events),
        [
            (TraceKind::NewidleStart, 0),
            (TraceKind::NewidlePass, 0),
            (TraceKind::NewidleCostGate, 1),
            (TraceKind::Idle, 0),
        ]
    );
    // At the lowest domain the first gate closes: PKG is not looked at.
    let events = walk(plain, |world| {
        let sd = world.shape.sd(CpuId(1), 0);
        world.sds[sd].gate.max_newidle_lb_cost = 2 * MS;
    });
    assert_eq!(
        kinds(&events),
        [
            (TraceKind::NewidleStart, 0),
            (TraceKind::NewidleCostGate, 0),
            (TraceKind::Idle, 0),
        ]
    );
}

#[test]
fn a_clear_overloaded_flag_ends_newidle_before_any_domain() {
    let events = walk(preset("plain").expect("shipped"), |world| {
        world.overloaded = false
    });
    assert_eq!(
        kinds(&events),
        [
            (TraceKind::NewidleStart, 0),
            (TraceKind::NewidleNotOverloaded, 0),
            (TraceKind::Idle, 0),
        ]
    );
}

/// A task that always runs on each thread of the core {0, 2}, free to go
/// elsewhere; the core {1, 3} is idle. One LLC: domains SMT and MC.
fn a_full_core_beside_an_idle_one() -> World {
    let mut load = Workload::clone(&hogs(1));
    load.classes.push(load.classes[0].clone());
    load.classes[0].affinity = Affinity::Cpus(vec![0]);
    load.classes[1].affinity = Affinity::Cpus(vec![2]);
    let rules = preset("never").expect("shipped");
    let mut world = testing::boot(&machine(1, 2, 2), &Arc::new(load), rules);
    world.run_until(20 * MS, u64::MAX);
    for task in &mut world.tasks {
        task.allowed = None;
        task.pinned = None;
    }
    world
}

#[test]
fn running_tasks_stay_until_the_fourth_failed_periodic_pass() {
    let mut world = a_full_core_beside_an_idle_one();
    let sd = world.shape.sd(CpuId(1), 1);
    world.sds[sd].nr_balance_failed = 0;
    // Two tasks on two threads: smt_balance, imbalance of one task; but both run,
    // and newidle does not count its failures.
    assert_eq!(moved(&mut world, 1, 1), 0);
    assert_eq!(world.sds[sd].nr_balance_failed, 0);
    // cache_nice_tries is 1 at MC: more than 1 + 2 failures are needed.
    for failures in 1..=4 {
        world.balance_elected(CpuId(1), 1, IdleType::Idle);
        assert_eq!(world.sds[sd].nr_balance_failed, failures);
        let asked = world.rqs[0].push_cpu.or(world.rqs[2].push_cpu);
        assert_eq!(asked, (failures == 4).then_some(CpuId(1)));
    }
    let pushed = world.sds[sd].stats.alb_pushed;
    world.run_until(world.now() + 100 * US, u64::MAX);
    assert_eq!(world.sds[sd].stats.alb_pushed, pushed + 1);
    assert_eq!(world.hot[1].nr_running, 1);
}
