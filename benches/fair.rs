//! Cost of the fair class: one round is a sleep, a pick, a switch and a wakeup
//! with its preemption check, on a queue that holds a number of hogs.

use divan::{Bencher, black_box};
use schedlab::sim::Ns;
use schedlab::sim::fair::{
    Dequeue, Enqueue, FairParams, FairRq, PickRule, Policy, SchedEntity, TaskId, WakeFlags,
};

fn main() {
    divan::main();
}

struct Cpu {
    p: FairParams,
    ents: Vec<SchedEntity>,
    rq: FairRq,
    now: Ns,
    gone: Vec<TaskId>,
}

impl Cpu {
    fn new(rule: PickRule, tasks: usize) -> Self {
        let mut cpu = Self {
            p: FairParams::new(rule, 24),
            ents: vec![SchedEntity::new(Policy::Normal, 0); tasks],
            rq: FairRq::new(),
            now: 0,
            gone: Vec::new(),
        };
        for id in 0..tasks as TaskId {
            cpu.rq.enqueue(&cpu.p, &mut cpu.ents, id, 0, Enqueue::Fork);
        }
        cpu.schedule();
        cpu
    }

    fn schedule(&mut self) {
        self.gone.clear();
        let (p, ents) = (&self.p, &mut self.ents);
        let next = self.rq.pick_next(p, ents, self.now, &mut self.gone);
        self.rq.switch_to(p, ents, self.now, next);
    }

    fn round(&mut self) {
        let Some(id) = self.rq.curr() else {
            return;
        };
        let (p, ents) = (&self.p, &mut self.ents);
        self.now += 100_000;
        let left = self.rq.dequeue(p, ents, id, self.now, Dequeue::Sleep);
        self.schedule();
        self.now += 100_000;
        let (p, ents) = (&self.p, &mut self.ents);
        if left || !ents[id as usize].delayed {
            self.rq.enqueue(p, ents, id, self.now, Enqueue::Wakeup);
        } else {
            self.rq.wake_delayed(p, ents, id, self.now);
        }
        let flags = WakeFlags::default();
        self.rq.check_preempt_wakeup(p, ents, id, self.now, flags);
        if self.rq.need_resched() || self.rq.curr().is_none() {
            self.schedule();
        }
    }
}

#[divan::bench(args = [1, 2, 8, 40])]
fn eevdf(bencher: Bencher, tasks: usize) {
    let mut cpu = Cpu::new(PickRule::Eevdf612, tasks);
    bencher.bench_local(|| black_box(&mut cpu).round());
}

#[divan::bench(args = [1, 2, 8, 40])]
fn mainline(bencher: Bencher, tasks: usize) {
    let mut cpu = Cpu::new(PickRule::EevdfMainline, tasks);
    bencher.bench_local(|| black_box(&mut cpu).round());
}

#[divan::bench(args = [1, 2, 8, 40])]
fn cfs(bencher: Bencher, tasks: usize) {
    let mut cpu = Cpu::new(PickRule::Cfs61, tasks);
    bencher.bench_local(|| black_box(&mut cpu).round());
}
