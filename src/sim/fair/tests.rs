//! Known-answer shapes, played on one CPU with a small driver.

use super::*;
use crate::sim::Ns;
use crate::sim::time::{MS, TICK_NS};

/// What a task does, for ever.
#[derive(Clone, Copy)]
struct Habit {
    run: Ns,
    sleep: Ns,
}

const HOG: Habit = Habit {
    run: Ns::MAX / 2,
    sleep: 0,
};

/// One CPU with tasks that start at time 0, played tick by tick.
struct Cpu {
    p: FairParams,
    ents: Vec<SchedEntity>,
    habits: Vec<Habit>,
    rq: FairRq,
    /// When a sleeping task wakes.
    wakes: Vec<Option<Ns>>,
    /// CPU time of the present activation that is left.
    left: Vec<Ns>,
    /// (time, task) of every switch.
    switches: Vec<(Ns, Option<TaskId>)>,
}

impl Cpu {
    fn new(p: FairParams, habits: &[Habit]) -> Self {
        let n = habits.len();
        let mut cpu = Self {
            p,
            ents: vec![SchedEntity::new(Policy::Normal, 0); n],
            habits: habits.to_vec(),
            rq: FairRq::new(),
            wakes: vec![None; n],
            left: habits.iter().map(|h| h.run).collect(),
            switches: Vec::new(),
        };
        for id in 0..n as TaskId {
            cpu.rq.enqueue(&cpu.p, &mut cpu.ents, id, 0, Enqueue::Fork);
            let flags = WakeFlags {
                fork: true,
                ..WakeFlags::default()
            };
            cpu.rq
                .check_preempt_wakeup(&cpu.p, &mut cpu.ents, id, 0, flags);
            cpu.schedule_if(0, false);
        }
        cpu
    }

    fn schedule_if(&mut self, now: Ns, always: bool) {
        if !always && !self.rq.need_resched() {
            return;
        }
        let before = self.rq.curr();
        let next = self
            .rq
            .pick_next(&self.p, &mut self.ents, now, &mut Vec::new());
        self.rq.switch_to(&self.p, &mut self.ents, now, next);
        if next != before {
            self.switches.push((now, next));
        }
    }

    /// When the running task ends its activation.
    fn end_of_run(&self) -> Ns {
        let Some(id) = self.rq.curr() else {
            return Ns::MAX;
        };
        let e = &self.ents[id as usize];
        e.exec_start + (self.left[id as usize] - e.sum_exec)
    }

    fn run_until(&mut self, until: Ns) {
        let mut now = 0;
        loop {
            let tick = (now / self.p.tick_ns + 1) * self.p.tick_ns;
            let wake = self.wakes.iter().flatten().min().copied();
            let next = tick.min(self.end_of_run()).min(wake.unwrap_or(Ns::MAX));
            if next > until {
                return;
            }
            now = next;
            if self.end_of_run() == now {
                self.go_to_sleep(now);
            } else if wake == Some(now) {
                self.wake(now);
            } else if self.rq.curr().is_some() {
                self.rq.tick(&self.p, &mut self.ents, now);
                self.schedule_if(now, false);
            }
        }
    }

    fn go_to_sleep(&mut self, now: Ns) {
        let id = self.rq.curr().expect("a task ends its run");
        self.wakes[id as usize] = Some(now + self.habits[id as usize].sleep);
        self.rq
            .dequeue(&self.p, &mut self.ents, id, now, Dequeue::Sleep);
        self.left[id as usize] = self.ents[id as usize].sum_exec + self.habits[id as usize].run;
        self.schedule_if(now, true);
    }

    fn wake(&mut self, now: Ns) {
        let id = self.wakes.iter().position(|&at| at == Some(now));
        let id = id.expect("a task wakes") as TaskId;
        self.wakes[id as usize] = None;
        if self.ents[id as usize].delayed {
            self.rq.wake_delayed(&self.p, &mut self.ents, id, now);
        } else {
            self.rq
                .enqueue(&self.p, &mut self.ents, id, now, Enqueue::Wakeup);
        }
        self.rq
            .check_preempt_wakeup(&self.p, &mut self.ents, id, now, WakeFlags::default());
        self.schedule_if(now, false);
    }
}

#[test]
fn three_hogs_switch_every_three_ticks_after_a_first_slice_of_two() {
    for rule in [PickRule::Eevdf612, PickRule::EevdfMainline] {
        let mut cpu = Cpu::new(FairParams::new(rule, 16), &[HOG; 3]);
        cpu.run_until(15 * MS);
        let expected = [0, 2, 4, 6, 9, 12, 15].map(|at| at * MS);
        let at: Vec<Ns> = cpu.switches.iter().map(|s| s.0).collect();
        assert_eq!(at, expected, "{rule:?}");
        let order: Vec<_> = cpu.switches.iter().flat_map(|s| s.1).collect();
        assert_eq!(order, [0, 1, 2, 0, 1, 2, 0]);
    }
}

#[test]
fn a_half_time_sleeper_gets_a_third_under_eevdf_and_half_under_cfs() {
    let sleeper = Habit { run: MS, sleep: MS };
    for (rule, share) in [(PickRule::Eevdf612, 333), (PickRule::Cfs61, 500)] {
        let mut cpu = Cpu::new(FairParams::new(rule, 16), &[HOG, sleeper]);
        cpu.run_until(3_000 * MS);
        let permille = cpu.ents[1].sum_exec / (3 * MS);
        assert!(
            permille.abs_diff(share) <= 10,
            "{rule:?}: {permille} of 1000, expected {share}"
        );
    }
}

#[test]
fn weights_divide_the_time() {
    let mut cpu = Cpu::new(FairParams::new(PickRule::Eevdf612, 16), &[HOG; 2]);
    cpu.rq.reweight(
        &cpu.p,
        &mut cpu.ents,
        1,
        0,
        SchedEntity::new(Policy::Normal, 5),
    );
    cpu.run_until(4_000 * MS);
    // 1024 : 335
    let permille = cpu.ents[1].sum_exec * 1_000 / (4_000 * MS);
    assert!((243..=250).contains(&permille), "{permille}");
    assert_eq!(cpu.rq.weight_sum(), 1_359);
}

#[test]
fn an_idle_policy_task_gives_way_at_once() {
    let p = FairParams::new(PickRule::Eevdf612, 16);
    let mut ents = [
        SchedEntity::new(Policy::Idle, 0),
        SchedEntity::new(Policy::Normal, 0),
    ];
    let mut rq = FairRq::new();
    rq.enqueue(&p, &mut ents, 0, 0, Enqueue::Wakeup);
    rq.switch_to(&p, &mut ents, 0, Some(0));
    rq.enqueue(&p, &mut ents, 1, 1_000, Enqueue::Wakeup);
    assert_eq!((rq.nr_queued(), rq.nr_idle()), (2, 1));
    assert!(rq.check_preempt_wakeup(&p, &mut ents, 1, 1_000, WakeFlags::default()));
    assert_eq!(rq.pick_next(&p, &mut ents, 1_000, &mut Vec::new()), Some(1));
    assert!(!rq.need_resched());
}

#[test]
fn a_migrated_task_keeps_lag_and_distance_to_its_deadline() {
    let p = FairParams::new(PickRule::Eevdf612, 16);
    let mut ents = vec![SchedEntity::new(Policy::Normal, 0); 3];
    let (mut from, mut to) = (FairRq::new(), FairRq::new());
    for id in 0..2 {
        from.enqueue(&p, &mut ents, id, 0, Enqueue::Fork);
    }
    from.switch_to(&p, &mut ents, 0, Some(0));
    to.enqueue(&p, &mut ents, 2, 0, Enqueue::Fork);
    to.switch_to(&p, &mut ents, 0, Some(2));
    to.update_curr(&p, &mut ents, 10 * TICK_NS);
    assert!(from.dequeue(&p, &mut ents, 1, TICK_NS, Dequeue::Migrate));
    // Task 0 ran 1 ms, task 1 nothing: V = 0.5 ms, the deadline half a slice.
    assert_eq!(ents[1].vlag, 500_000);
    assert_eq!(ents[1].deadline, 1_400_000);
    to.enqueue(&p, &mut ents, 1, 10 * TICK_NS, Enqueue::Migrate);
    let v = to.virtual_time(&p, &ents);
    assert_eq!(v - ents[1].vruntime, 500_000, "lag as before");
    assert_eq!(ents[1].deadline - ents[1].vruntime, 1_400_000);
    assert_eq!((from.nr_queued(), to.nr_queued()), (1, 2));
}

#[test]
fn a_task_that_wakes_before_the_cpu_switched_away_is_not_charged_for_its_sleep() {
    let p = FairParams::new(PickRule::Eevdf612, 16);
    let mut ents = [SchedEntity::new(Policy::Normal, 0)];
    let mut rq = FairRq::new();
    rq.enqueue(&p, &mut ents, 0, 0, Enqueue::Fork);
    rq.switch_to(&p, &mut ents, 0, Some(0));
    assert!(rq.dequeue(&p, &mut ents, 0, MS, Dequeue::Sleep));
    rq.enqueue(&p, &mut ents, 0, 3 * MS, Enqueue::Wakeup);
    assert_eq!(rq.curr(), None);
    assert_eq!(
        rq.pick_next(&p, &mut ents, 3 * MS, &mut Vec::new()),
        Some(0)
    );
    rq.switch_to(&p, &mut ents, 3 * MS, Some(0));
    rq.update_curr(&p, &mut ents, 4 * MS);
    assert_eq!(ents[0].sum_exec, 2 * MS);
    assert_eq!(rq.nr_queued(), 1);
}

#[test]
fn a_slice_that_ends_at_a_wakeup_asks_for_a_reschedule() {
    let p = FairParams::new(PickRule::Eevdf612, 16);
    let mut ents = [SchedEntity::new(Policy::Normal, 0); 3];
    let mut rq = FairRq::new();
    for id in 0..2 {
        rq.enqueue(&p, &mut ents, id, 0, Enqueue::Fork);
    }
    rq.switch_to(&p, &mut ents, 0, Some(0));
    // The first slice has 1.4 ms; the wakeup charges 1.5 ms.
    rq.enqueue(&p, &mut ents, 2, 1_500_000, Enqueue::Wakeup);
    assert!(rq.check_preempt_wakeup(&p, &mut ents, 2, 1_500_000, WakeFlags::default()));
}
