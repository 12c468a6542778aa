//! Wakeups: from a waker's decision to the runqueue.
//!
//! ```text
//!  begin_wakeup   the waker chooses a CPU                     (time passes)
//!  commit_wakeup  enqueue at once, or send to the target and set ttwu_pending
//!  wake_arrives   the interrupt reaches the target: enqueue   (time passed)
//! ```
//! Source: `placement-and-pick.md` 0, "When a wake-up becomes visible".

use super::{CpuState, World};
use crate::sim::event::EventKind;
use crate::sim::fair::{Enqueue, WakeFlags};
use crate::sim::placement::Choice;
use crate::sim::rules::AvgIdleRule;
use crate::sim::task::{Place, SchedClass, Step, TaskId, TaskRef};
use crate::sim::time::Ns;
use crate::sim::topology::CpuId;
use crate::sim::trace::TraceKind;

impl World {
    /// The waker on `waker` is done choosing: `wakee` goes to `target`.
    pub(super) fn commit_wakeup(&mut self, wakee: TaskRef, target: CpuId, waker: CpuId) {
        let asleep = |id: &TaskId| {
            let place = self.tasks[*id as usize].place;
            matches!(place, Place::Asleep | Place::Delayed)
        };
        let Some(id) = self.alive(wakee).filter(asleep) else {
            self.ext_unclaim(target);
            return;
        };
        let task = &mut self.tasks[id as usize];
        task.woken_at = Some(self.now);
        if task.place == Place::Delayed {
            let cpu = task.cpu;
            self.count_wakeup(cpu, waker);
            self.wake_delayed(id);
            return;
        }
        task.place = Place::Waking;
        // Still being switched out of its CPU: it can only be queued there.
        let old = task.cpu;
        let target = if self.rqs[old.index()].leaving == Some(wakee) {
            old
        } else {
            target
        };
        self.count_wakeup(target, waker);
        let queued = self.hot[target.index()].nr_running;
        let remote = target != waker && queued == 0 || !self.shape.share_cache(waker, target);
        if remote {
            self.send_wakeup(wakee, target, waker);
        } else {
            self.activate(target, id);
        }
    }

    /// Puts a wakeup on the target's wake list and sends an interrupt.
    pub(super) fn send_wakeup(&mut self, wakee: TaskRef, target: CpuId, waker: CpuId) {
        let distance = self.shape.distance(waker, target);
        let costs = &self.shape.topology.costs;
        let mut travel = costs.ipi.at(distance);
        let rq = &mut self.rqs[target.index()];
        rq.wake_list.push(wakee);
        self.hot[target.index()].ttwu_pending = true;
        match rq.state {
            // Interrupts are off until the search ends.
            CpuState::Newidle => return,
            CpuState::Idle => travel += costs.idle_exit,
            CpuState::Running | CpuState::Offline => {}
        }
        self.at(self.now + travel, EventKind::WakeArrive(target));
    }

    /// Wakeups sent to `cpu` arrive.
    pub(super) fn wake_arrives(&mut self, cpu: CpuId) {
        let rq = &mut self.rqs[cpu.index()];
        if rq.state == CpuState::Newidle {
            return;
        }
        let list = std::mem::take(&mut rq.wake_list);
        self.hot[cpu.index()].ttwu_pending = false;
        for wakee in list {
            if let Some(id) = self.alive(wakee) {
                self.activate(cpu, id);
            }
        }
    }

    /// Enqueues a woken task and lets it preempt.
    pub(super) fn activate(&mut self, cpu: CpuId, id: TaskId) {
        let from = self.tasks[id as usize].cpu;
        if let Some(ext) = &mut self.ext {
            ext.task(id).wakes(self.now);
            if self.ext_redirect(cpu, id) {
                return;
            }
        } else if from != cpu {
            let fair = &self.rqs[from.index()].fair;
            fair.forget_sleeper(&self.fair_params, &mut self.store, id);
        }
        self.enqueue(cpu, id, Enqueue::Wakeup);
        self.emit(TraceKind::Wakeup, cpu, Some(id), u64::from(from.0));
        if self.rules.avg_idle == AvgIdleRule::Wakeup {
            self.end_idle_period(cpu);
        }
        self.preempt_for(cpu, id, false);
    }

    /// A task arrived on `cpu`: run it if the CPU is idle or it is to preempt.
    pub(in crate::sim) fn preempt_for(&mut self, cpu: CpuId, id: TaskId, fork: bool) {
        match self.rqs[cpu.index()].state {
            CpuState::Idle => {
                self.rqs[cpu.index()].stats.sched_count += 1;
                self.pick_next(cpu, false);
            }
            CpuState::Running => {
                let flags = WakeFlags {
                    fork,
                    ..WakeFlags::default()
                };
                if self.is_to_preempt(cpu, id, flags) {
                    self.reschedule(cpu);
                }
            }
            // The search looks at the queue when it ends.
            CpuState::Newidle | CpuState::Offline => {}
        }
    }

    /// Whether a task that arrived on a busy CPU takes it from the running one.
    fn is_to_preempt(&mut self, cpu: CpuId, id: TaskId, flags: WakeFlags) -> bool {
        let rq = &mut self.rqs[cpu.index()];
        let fifo_runs = rq
            .running()
            .is_some_and(|curr| self.tasks[curr as usize].sched == SchedClass::Fifo);
        if fifo_runs {
            return false;
        }
        match self.tasks[id as usize].sched {
            SchedClass::Fifo => return true,
            SchedClass::Ext => return false,
            SchedClass::Fair => {}
        }
        let (params, store) = (&self.fair_params, &mut self.store);
        rq.fair
            .check_preempt_wakeup(params, store, id, self.now, flags)
    }

    /// A sleeper's timer fires on the CPU it last used.
    pub(super) fn timer_expired(&mut self, sleeper: TaskRef) {
        let Some(id) = self.alive(sleeper) else {
            return;
        };
        if self.tasks[id as usize].place == Place::External {
            self.tasks[id as usize].step = Step::Start;
            self.advance_external(id);
            return;
        }
        let cpu = self.tasks[id as usize].cpu;
        self.raise_irq(cpu, sleeper);
    }

    /// A client elsewhere wakes a task: its packets come in on a fixed CPU.
    pub(super) fn interrupt(&mut self, client: TaskId, wakee: TaskRef) {
        let index = self.tasks[client as usize].index as usize;
        let cpu = self.shape.online[index % self.shape.online.len()];
        self.raise_irq(cpu, wakee);
    }

    /// An interrupt comes in on `cpu` and will wake `wakee` when served.
    fn raise_irq(&mut self, cpu: CpuId, wakee: TaskRef) {
        let costs = &self.shape.topology.costs;
        let (irq, exit) = (costs.irq, costs.idle_exit);
        let idle = self.rqs[cpu.index()].state == CpuState::Idle;
        self.steal(cpu, irq);
        let delay = irq + if idle { exit } else { 0 };
        self.at(self.now + delay, EventKind::Irq(cpu, wakee));
    }

    /// The interrupt on `cpu` wakes its task.
    pub(super) fn irq_wakes(&mut self, cpu: CpuId, wakee: TaskRef) {
        let Some(id) = self.alive(wakee) else { return };
        let choice = self.choose_wakeup_cpu(id, cpu);
        self.commit_wakeup(wakee, choice.cpu, cpu);
    }

    /// Wakes a task on behalf of nobody: where it last ran.
    pub(super) fn wake_without_waker(&mut self, wakee: TaskRef) {
        let cpu = self.tasks[wakee.id as usize].cpu;
        self.raise_irq(cpu, wakee);
    }

    /// Chooses a CPU for a task that is woken on `waker`.
    pub(super) fn choose_wakeup_cpu(&mut self, id: TaskId, waker: CpuId) -> Choice {
        if self.tasks[id as usize].sched == SchedClass::Ext {
            return self.ext_select(id, Some(waker));
        }
        self.select_wakeup_cpu(id)
    }

    fn count_wakeup(&mut self, target: CpuId, waker: CpuId) {
        let stats = &mut self.rqs[waker.index()].stats;
        stats.ttwu_count += 1;
        if target == waker {
            stats.ttwu_local += 1;
        } else {
            let chain = self.shape.domains.of(waker);
            if let Some(level) = chain.iter().position(|sd| sd.span.contains(target)) {
                let sd = self.shape.sd(waker, level);
                self.sds[sd].stats.ttwu_wake_remote += 1;
            }
        }
    }

    /// The CPU leaves the idle task: the idle period ends, unless only a wakeup
    /// can end it (`balancing.md` 2.1).
    pub(super) fn idle_task_left(&mut self, cpu: CpuId) {
        if self.rules.avg_idle != AvgIdleRule::Wakeup {
            self.end_idle_period(cpu);
        }
    }

    /// Averages the idle period in. Where the rule does not ask whether one was
    /// measured, the period began with the clock: `avg_idle` jumps up.
    fn end_idle_period(&mut self, cpu: CpuId) {
        let rq = &mut self.rqs[cpu.index()];
        if rq.idle_stamp == 0 && self.rules.avg_idle != AvgIdleRule::LeaveIdle {
            return;
        }
        let sample: Ns = self.now - rq.idle_stamp;
        rq.avg_idle =
            crate::sim::idle::updated_avg_idle(rq.avg_idle, sample, rq.max_idle_balance_cost);
        rq.idle_stamp = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rules::Rules;
    use crate::sim::testing::{hogs, machine, world};

    /// `avg_idle` after the idle task was left at 9000 ns, from 1000 ns.
    fn sampled(avg_idle: AvgIdleRule, idle_stamp: Ns) -> Ns {
        let mut world = world(&machine(1, 1, 1), &hogs(1), "plain");
        world.set_rules(Rules {
            avg_idle,
            ..Rules::default()
        });
        world.now = 9_000;
        world.rqs[0].avg_idle = 1_000;
        world.rqs[0].idle_stamp = idle_stamp;
        world.idle_task_left(CpuId(0));
        world.rqs[0].avg_idle
    }

    #[test]
    fn only_two_of_three_rules_sample_when_the_idle_task_is_left() {
        // Idle for 4000 ns: 1000 + (4000 - 1000) / 8.
        assert_eq!(sampled(AvgIdleRule::LeaveIdle, 5_000), 1_375);
        assert_eq!(sampled(AvgIdleRule::LeaveIdleGuarded, 5_000), 1_375);
        assert_eq!(sampled(AvgIdleRule::Wakeup, 5_000), 1_000);
    }

    #[test]
    fn an_unmeasured_period_counts_from_zero_unless_guarded() {
        // 1000 + (9000 - 1000) / 8.
        assert_eq!(sampled(AvgIdleRule::LeaveIdle, 0), 2_000);
        assert_eq!(sampled(AvgIdleRule::LeaveIdleGuarded, 0), 1_000);
    }
}
