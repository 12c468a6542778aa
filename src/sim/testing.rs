//! Small machines and workloads for tests.

use std::sync::Arc;

use super::cost::Costs;
use super::fair::{Cgroup, ROOT};
use super::gate::{self, GatePolicy};
use super::rules::Rules;
use super::shape::Shape;
use super::time::US;
use super::topology::{CAPACITY_SCALE, Cpu, Node, Topology};
use super::workload::{Affinity, Class, Dist, Op, Policy, Queue, Team, Work, Workload};
use super::world::{Boot, World};

/// A machine of `llcs` x `cores` x `smt` CPUs; second threads are numbered last.
pub fn machine(llcs: u32, cores: u32, smt: u32) -> Arc<Shape> {
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

pub fn class(name: &str, count: u32, program: Vec<Op>) -> Class {
    Class {
        name: name.into(),
        letter: name.chars().next().unwrap_or('?'),
        count,
        share_permille: 1000,
        intensity_pct: 100,
        nice: 0,
        policy: Policy::Normal,
        slice: None,
        group: ROOT,
        kthread: false,
        affinity: Affinity::All,
        external: false,
        footprint_kib: 0,
        unit: "units".into(),
        program,
    }
}

pub fn workload(classes: Vec<Class>, queues: Vec<Queue>, teams: Vec<Team>) -> Arc<Workload> {
    Arc::new(Workload {
        id: "test".into(),
        title: "test".into(),
        groups: vec![Cgroup::root()],
        classes,
        queues,
        teams,
    })
}

pub fn run(time: Dist) -> Op {
    Op::Run(Work {
        time,
        growth: None,
        split: None,
    })
}

pub fn forever(to: usize) -> Op {
    Op::Jump {
        to,
        times: None,
        counter: 0,
    }
}

pub fn world(shape: &Arc<Shape>, load: &Arc<Workload>, policy: &str) -> World {
    let policy = gate::preset(policy).expect("a shipped policy");
    boot(shape, load, policy)
}

pub fn boot(shape: &Arc<Shape>, load: &Arc<Workload>, policy: GatePolicy) -> World {
    let boot = Boot {
        policy,
        rules: Rules::default(),
        history: None,
        seed: 1,
    };
    World::new(Arc::clone(shape), Arc::clone(load), boot)
}

/// Tasks that always run; each `Done` is 100 us of work at full speed.
pub fn hogs(count: u32) -> Arc<Workload> {
    let program = vec![run(Dist::Const(100 * US)), Op::Done, forever(0)];
    workload(vec![class("hog", count, program)], vec![], vec![])
}
