//! Properties of the fair class under random sequences of calls, on two CPUs.

use proptest::prelude::*;
use schedlab::sim::Ns;
use schedlab::sim::fair::arith::{NICE_0_WEIGHT, task_inverse, vdelta};
use schedlab::sim::fair::{
    Dequeue, Enqueue, FairFeatures, FairParams, FairRq, PickRule, Policy, SchedEntity, TaskId,
    WakeFlags,
};

const TASKS: usize = 10;
/// Longest slice a task may ask for.
const MAX_SLICE: Ns = 100_000_000;
const RULES: [PickRule; 6] = [
    PickRule::Eevdf612,
    PickRule::Eevdf612First,
    PickRule::Eevdf617,
    PickRule::EevdfMainline,
    PickRule::Eevdf2023,
    PickRule::Cfs61,
];

#[derive(Clone, Debug)]
enum Op {
    /// Time passes, at most to the next tick, which fires then.
    Pass(Ns),
    /// A sleeping, delayed or new task wakes on a CPU.
    Wake {
        task: usize,
        cpu: usize,
        sync: bool,
    },
    /// The running task of a CPU sleeps or ends.
    Sleep {
        cpu: usize,
        exit: bool,
    },
    Yield(usize),
    /// A waiting task moves to the other CPU.
    Migrate(usize),
    Renice {
        task: usize,
        nice: i8,
    },
    Toggle(usize),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (1..1_500_000u64).prop_map(Op::Pass),
        5 => (0..TASKS, 0..2usize, any::<bool>())
            .prop_map(|(task, cpu, sync)| Op::Wake { task, cpu, sync }),
        3 => (0..2usize, prop::bool::weighted(0.1)).prop_map(|(cpu, exit)| Op::Sleep { cpu, exit }),
        1 => (0..2usize).prop_map(Op::Yield),
        1 => (0..TASKS).prop_map(Op::Migrate),
        1 => (0..TASKS, -20..=19i8).prop_map(|(task, nice)| Op::Renice { task, nice }),
        1 => (0..FairFeatures::NAMES.len()).prop_map(Op::Toggle),
    ]
}

/// A task as it starts: nice, kind, own slice.
fn task() -> impl Strategy<Value = SchedEntity> {
    let slice = prop::option::weighted(0.3, 100_000..=MAX_SLICE);
    (-20..=19i8, 0..6u8, slice).prop_map(|(nice, kind, slice)| {
        let policy = match kind {
            0 => Policy::Idle,
            1 => Policy::Batch,
            _ => Policy::Normal,
        };
        let e = SchedEntity::new(policy, nice);
        match slice {
            Some(slice) => e.with_slice(slice),
            None => e,
        }
    })
}

struct Machine {
    p: FairParams,
    ents: Vec<SchedEntity>,
    rqs: [FairRq; 2],
    /// Queue each task is on.
    on: Vec<Option<usize>>,
    /// CPU each task last ran or queued on; none before its fork.
    last: Vec<Option<usize>>,
    now: Ns,
    /// Time the CPUs were busy.
    busy: Ns,
    floor: [i64; 2],
}

impl Machine {
    fn new(rule: PickRule, ents: Vec<SchedEntity>) -> Self {
        Self {
            p: FairParams::new(rule, 2),
            on: vec![None; ents.len()],
            last: vec![None; ents.len()],
            ents,
            rqs: [FairRq::new(), FairRq::new()],
            now: 0,
            busy: 0,
            floor: [i64::MIN; 2],
        }
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Pass(ns) => self.pass(ns),
            Op::Wake { task, cpu, sync } => self.wake(task, cpu, sync),
            Op::Sleep { cpu, exit } => self.sleep(cpu, exit),
            Op::Yield(cpu) => {
                self.rqs[cpu].yield_curr(&self.p, &mut self.ents, self.now);
                self.schedule(cpu);
            }
            Op::Migrate(task) => self.migrate(task),
            Op::Renice { task, nice } => self.renice(task, nice),
            Op::Toggle(index) => {
                let switch = self.p.features.by_name(FairFeatures::NAMES[index]);
                let switch = switch.expect("a listed name");
                *switch = !*switch;
            }
        }
        for cpu in 0..2 {
            if self.rqs[cpu].need_resched() {
                self.schedule(cpu);
            }
        }
    }

    fn pass(&mut self, ns: Ns) {
        let tick = (self.now / self.p.tick_ns + 1) * self.p.tick_ns;
        let then = tick.min(self.now + ns);
        let running = self.rqs.iter().filter(|rq| rq.curr().is_some()).count();
        self.busy += running as Ns * (then - self.now);
        self.now = then;
        if then == tick {
            for rq in self.rqs.iter_mut().filter(|rq| rq.curr().is_some()) {
                rq.tick(&self.p, &mut self.ents, then);
            }
        }
    }

    fn wake(&mut self, task: usize, cpu: usize, sync: bool) {
        let (id, now) = (task as TaskId, self.now);
        let (p, ents) = (&self.p, &mut self.ents);
        let cpu = match self.on[task] {
            Some(_) if !ents[task].delayed => return,
            Some(cpu) => {
                self.rqs[cpu].wake_delayed(p, ents, id, now);
                cpu
            }
            None => cpu,
        };
        let fork = self.last[task].is_none();
        if self.on[task].is_none() {
            let how = if fork { Enqueue::Fork } else { Enqueue::Wakeup };
            if let Some(last) = self.last[task].filter(|&last| last != cpu) {
                self.rqs[last].forget_sleeper(p, ents, id);
            } else if fork {
                self.rqs[1 - cpu].fork_from(p, ents, id, now);
            }
            self.rqs[cpu].enqueue(p, ents, id, now, how);
        }
        self.on[task] = Some(cpu);
        self.last[task] = Some(cpu);
        let flags = WakeFlags {
            fork,
            sync,
            selected: false,
        };
        self.rqs[cpu].check_preempt_wakeup(p, ents, id, now, flags);
    }

    fn sleep(&mut self, cpu: usize, exit: bool) {
        let Some(id) = self.rqs[cpu].curr() else {
            return;
        };
        let why = if exit { Dequeue::Exit } else { Dequeue::Sleep };
        let left = self.rqs[cpu].dequeue(&self.p, &mut self.ents, id, self.now, why);
        assert!(left || !exit, "an exit is never delayed");
        if left {
            self.on[id as usize] = None;
            self.check_kept_lag(id);
        }
        self.schedule(cpu);
    }

    fn migrate(&mut self, task: usize) {
        let id = task as TaskId;
        let Some(from) = self.on[task].filter(|&cpu| self.rqs[cpu].curr() != Some(id)) else {
            return;
        };
        let delayed = self.ents[task].delayed;
        let (p, ents, now) = (&self.p, &mut self.ents, self.now);
        assert!(self.rqs[from].dequeue(p, ents, id, now, Dequeue::Migrate));
        self.rqs[1 - from].enqueue(p, ents, id, now, Enqueue::Migrate);
        assert_eq!(ents[task].delayed, delayed);
        self.on[task] = Some(1 - from);
        self.last[task] = Some(1 - from);
        if self.rqs[1 - from].curr().is_none() {
            self.schedule(1 - from);
        }
    }

    fn renice(&mut self, task: usize, nice: i8) {
        let to = SchedEntity::new(self.ents[task].policy, nice);
        let cpu = self.on[task].unwrap_or(0);
        let id = task as TaskId;
        self.rqs[cpu].reweight(&self.p, &mut self.ents, id, self.now, to);
        assert_eq!(self.ents[task].weight, to.weight);
    }

    fn schedule(&mut self, cpu: usize) {
        let mut gone = Vec::new();
        let (p, ents, rq) = (&self.p, &mut self.ents, &mut self.rqs[cpu]);
        let next = rq.pick_next(p, ents, self.now, &mut gone);
        if let Some(id) = next.filter(|_| p.rule != PickRule::Cfs61) {
            let v = rq.virtual_time(p, ents);
            assert!(ents[id as usize].vruntime <= v, "an ineligible pick");
        }
        rq.switch_to(p, ents, self.now, next);
        assert_eq!(rq.curr(), next);
        assert!(!rq.need_resched());
        for id in gone {
            self.on[id as usize] = None;
            assert!(!self.ents[id as usize].on_rq);
            self.check_kept_lag(id);
        }
    }

    /// The lag a task leaves with is clamped.
    fn check_kept_lag(&self, id: TaskId) {
        if self.p.rule == PickRule::Cfs61 || !self.p.clamp_lag {
            return;
        }
        let e = &self.ents[id as usize];
        let span = match self.p.rule {
            PickRule::Eevdf612 | PickRule::Eevdf612First => (2 * e.slice).max(self.p.tick_ns),
            _ => MAX_SLICE + self.p.tick_ns,
        };
        let limit = vdelta(span, e.weight, task_inverse(e.weight));
        assert!(e.vlag.abs() <= limit, "lag {} beyond {limit}", e.vlag);
    }

    fn check(&mut self) {
        for cpu in 0..2 {
            self.check_counts(cpu);
            match self.p.rule {
                PickRule::Cfs61 => self.check_min_vruntime(cpu),
                _ => self.check_average(cpu),
            }
        }
        for id in 0..self.ents.len() {
            assert_eq!(self.ents[id].on_rq, self.on[id].is_some(), "task {id}");
        }
        let uncharged: Ns = self.rqs.iter().filter_map(FairRq::curr).fold(0, |sum, id| {
            sum + self.now - self.ents[id as usize].exec_start
        });
        let charged: Ns = self.ents.iter().map(|e| e.sum_exec).sum();
        assert_eq!(charged + uncharged, self.busy, "time handed out");
    }

    fn check_counts(&self, cpu: usize) {
        let rq = &self.rqs[cpu];
        let mut queued: Vec<TaskId> = rq.queued().collect();
        queued.sort_unstable();
        let here = |id: &TaskId| self.on[*id as usize] == Some(cpu);
        let expected: Vec<TaskId> = (0..self.ents.len() as TaskId).filter(here).collect();
        assert_eq!(queued, expected, "cpu {cpu}");
        let count = |what: fn(&SchedEntity) -> bool| {
            let entities = expected.iter().map(|&id| &self.ents[id as usize]);
            entities.filter(|e| what(e)).count() as u32
        };
        assert_eq!(rq.nr_queued(), expected.len() as u32);
        assert_eq!(rq.nr_runnable(), count(|e| !e.delayed));
        assert_eq!(rq.nr_idle(), count(SchedEntity::is_idle));
        let weights = expected.iter().map(|&id| self.ents[id as usize].weight);
        assert_eq!(rq.weight_sum(), weights.map(u64::from).sum::<u64>());
        assert_eq!(rq.curr().is_none(), rq.nr_queued() == 0, "work conserving");
    }

    /// V lies within the queue, and the lags add up to zero but for the floor.
    fn check_average(&self, cpu: usize) {
        let rq = &self.rqs[cpu];
        let v = rq.virtual_time(&self.p, &self.ents);
        let entities = || rq.queued().map(|id| &self.ents[id as usize]);
        let (Some(low), Some(high)) = (
            entities().map(|e| e.vruntime).min(),
            entities().map(|e| e.vruntime).max(),
        ) else {
            return;
        };
        assert!((low..=high).contains(&v), "V {v} outside {low}..={high}");
        let lags: i128 = entities()
            .map(|e| i128::from(e.weight) * i128::from(v - e.vruntime))
            .sum();
        let weight = i128::from(rq.weight_sum());
        assert!(lags <= 0 && lags > -weight, "lags sum to {lags}");
    }

    fn check_min_vruntime(&mut self, cpu: usize) {
        let v = self.rqs[cpu].virtual_time(&self.p, &self.ents);
        assert!(v >= self.floor[cpu], "min_vruntime went back");
        self.floor[cpu] = v;
    }
}

fn play(rule: PickRule, ents: Vec<SchedEntity>, ops: &[Op]) -> Machine {
    let mut machine = Machine::new(rule, ents);
    for op in ops {
        machine.apply(op);
        machine.check();
    }
    machine
}

/// More cases where time allows: `PROPTEST_CASES=2000 cargo test`.
fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: std::env::var("PROPTEST_CASES")
            .ok()
            .and_then(|cases| cases.parse().ok())
            .unwrap_or(64),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn queues_stay_consistent(
        rule in prop::sample::select(RULES.to_vec()),
        ents in prop::collection::vec(task(), TASKS),
        ops in prop::collection::vec(op(), 1..400),
    ) {
        play(rule, ents, &ops);
    }

    #[test]
    fn the_same_calls_give_the_same_state(
        rule in prop::sample::select(RULES.to_vec()),
        ents in prop::collection::vec(task(), TASKS),
        ops in prop::collection::vec(op(), 1..200),
    ) {
        let (a, b) = (play(rule, ents.clone(), &ops), play(rule, ents, &ops));
        prop_assert_eq!(a.rqs, b.rqs);
        prop_assert_eq!(a.ents, b.ents);
    }

    #[test]
    fn hogs_of_any_weight_get_their_share(
        rule in prop::sample::select(RULES.to_vec()),
        nices in prop::collection::vec(-10..=10i8, 2..5),
    ) {
        let ents = nices.iter().map(|&nice| SchedEntity::new(Policy::Normal, nice));
        let wakes = (0..nices.len()).map(|task| Op::Wake { task, cpu: 0, sync: false });
        let ticks = std::iter::repeat_n(Op::Pass(1_000_000), 3_000);
        let ops: Vec<Op> = wakes.chain(ticks).collect();
        let machine = play(rule, ents.collect(), &ops);
        // All advance alike in virtual time, but for a few slices each way.
        let v: Vec<i64> = machine.ents.iter().map(|e| e.vruntime).collect();
        let spread = v.iter().max().unwrap() - v.iter().min().unwrap();
        let lightest = machine.ents.iter().map(|e| e.weight).min().unwrap_or(NICE_0_WEIGHT);
        let bound = vdelta(30_000_000, lightest, task_inverse(lightest)).max(30_000_000);
        prop_assert!(spread <= bound, "{spread} > {bound}: {v:?}");
    }
}
