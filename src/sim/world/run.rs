//! Running tasks: who is on the CPU, how far its work is, when that changes.

use super::{CpuState, World};
use crate::sim::fair::Dequeue;
use crate::sim::task::{Place, SchedClass, Step, TaskId};
use crate::sim::time::{Ns, TICK_NS};
use crate::sim::topology::{CAPACITY_SCALE, CpuId};
use crate::sim::trace::TraceKind;

/// Why `schedule()` is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// The current task would go on.
    Preempted,
    /// It blocks.
    Blocks,
    /// It exits.
    Exits,
}

/// 1024ths to a shift.
const SCALE_BITS: u32 = CAPACITY_SCALE.trailing_zeros();

impl World {
    /// The CPU's current activity is over: an operation of the running task, or
    /// a newidle pass.
    pub(super) fn cpu_done(&mut self, cpu: CpuId) {
        let rq = &mut self.rqs[cpu.index()];
        rq.armed = Ns::MAX;
        rq.due = Ns::MAX;
        match rq.state {
            CpuState::Newidle => self.newidle_pass_done(cpu),
            CpuState::Running => {
                self.progress(cpu);
                self.finish_operation(cpu);
            }
            CpuState::Idle | CpuState::Offline => {}
        }
    }

    /// Accounts the running task's work up to now.
    pub(super) fn progress(&mut self, cpu: CpuId) {
        let rq = &mut self.rqs[cpu.index()];
        let Some(curr) = rq.running() else { return };
        let ran = self.now - rq.seg_start;
        let mut elapsed = ran;
        rq.seg_start = self.now;
        rq.stats.rq_cpu_time += ran;
        let waited = elapsed.min(rq.overhead);
        rq.overhead -= waited;
        elapsed -= waited;
        let task = &mut self.tasks[curr as usize];
        if !task.is_fair() {
            self.store.task_mut(curr).sum_exec += ran;
        }
        if let (SchedClass::Ext, Some(ext)) = (task.sched, &mut self.ext) {
            let state = ext.task(curr);
            state.used += ran;
            state.slice_left = state.slice_left.saturating_sub(ran);
        }
        let work = match task.step {
            // Spinning is counted in pauses of fixed length, not in work.
            Step::Spin { .. } => elapsed,
            _ => (elapsed * rq.speed) >> SCALE_BITS,
        };
        task.left = task.left.saturating_sub(work);
    }

    /// Arms the end of the running task's operation. `progress` must be current.
    pub(super) fn arm_running(&mut self, cpu: CpuId) {
        let rq = &self.rqs[cpu.index()];
        let Some(curr) = rq.running() else { return };
        let task = &self.tasks[curr as usize];
        let needed = match task.step {
            Step::Spin { .. } => task.left,
            // Rounded up, so that the work is complete when the event comes.
            _ => (task.left << SCALE_BITS).div_ceil(rq.speed),
        };
        self.arm(cpu, self.now + rq.overhead + needed);
    }

    /// Takes `time` of the CPU for an interrupt or other kernel work.
    pub(in crate::sim) fn steal(&mut self, cpu: CpuId, time: Ns) {
        if self.rqs[cpu.index()].state == CpuState::Running {
            self.progress(cpu);
            self.rqs[cpu.index()].overhead += time;
            self.arm_running(cpu);
        }
    }

    /// `schedule()`: the CPU leaves its current task as `why` says and takes
    /// the next one, or searches for one.
    pub(super) fn schedule(&mut self, cpu: CpuId, why: Leave) {
        let rq = &mut self.rqs[cpu.index()];
        rq.stats.sched_count += 1;
        rq.need_resched = false;
        if let Some(curr) = rq.running() {
            match why {
                Leave::Preempted => {}
                Leave::Blocks => {
                    self.dequeue(cpu, curr, Dequeue::Sleep);
                    self.emit(TraceKind::Block, cpu, Some(curr), 0);
                }
                Leave::Exits => self.dequeue(cpu, curr, Dequeue::Exit),
            }
            if why != Leave::Preempted {
                self.rqs[cpu.index()].leaving = Some(self.task_ref(curr));
            }
        }
        self.pick_next(cpu, true);
    }

    /// Runs the best queued task. With none, and if `may_search`, searches for
    /// one; else goes idle.
    pub(in crate::sim) fn pick_next(&mut self, cpu: CpuId, may_search: bool) {
        let prev = self.rqs[cpu.index()].running();
        let next = match self.rqs[cpu.index()].fifo.front() {
            Some(&first) => Some(first),
            None if self.ext.is_some() => self.ext_pick(cpu, prev),
            None => self.pick_fair(cpu),
        };
        if let Some(prev) = prev.filter(|_| self.ext.is_some())
            && next.is_some_and(|next| next != prev)
        {
            self.ext_put_prev(cpu, prev);
        }
        match next {
            Some(next) if prev == Some(next) => self.arm_running(cpu),
            Some(next) => self.switch_to(cpu, next),
            None if may_search && self.ext.is_none() => self.newidle(cpu),
            None => self.go_idle(cpu),
        }
    }

    /// The fair class's choice. Sleepers that have worked off what they owed leave
    /// the queue on the way.
    fn pick_fair(&mut self, cpu: CpuId) -> Option<TaskId> {
        if self.rqs[cpu.index()].fair.nr_runnable() != self.rqs[cpu.index()].fair.nr_queued() {
            self.touch(cpu);
        }
        let mut gone = std::mem::take(&mut self.gone);
        let fair = &mut self.rqs[cpu.index()].fair;
        let next = fair.pick_next(&self.fair_params, &mut self.store, self.now, &mut gone);
        for id in gone.drain(..) {
            self.left_late(cpu, id);
        }
        self.gone = gone;
        next
    }

    fn switch_to(&mut self, cpu: CpuId, next: TaskId) {
        self.touch(cpu);
        if let Some(prev) = self.rqs[cpu.index()].running()
            && self.tasks[prev as usize].place == Place::Queued
        {
            self.touch_task(prev);
            self.begin_waiting(prev);
        }
        self.touch_task(next);
        self.stop_waiting(cpu, next);
        let switch_cost = self.shape.topology.costs.context_switch;
        let refill = std::mem::take(&mut self.tasks[next as usize].refill);
        let was = self.rqs[cpu.index()].state;
        if was == CpuState::Idle {
            self.leave_idle(cpu);
        }
        let fair_next = Some(next).filter(|_| self.tasks[next as usize].is_fair());
        let rq = &mut self.rqs[cpu.index()];
        rq.fair
            .switch_to(&self.fair_params, &mut self.store, self.now, fair_next);
        rq.curr = Some(next);
        rq.leaving = None;
        rq.state = CpuState::Running;
        // Work still owed (a wakeup sent, an interrupt) delays the next task too.
        rq.overhead += switch_cost + refill;
        rq.seg_start = self.now;
        rq.stats.switches += 1;
        rq.stats.pcount += 1;
        let first_instruction = self.now + rq.overhead;
        if fair_next.is_some() {
            move_to_head(&mut rq.cfs_tasks, next);
        }
        if let Some(woken_at) = self.tasks[next as usize].woken_at.take() {
            self.latency.record(first_instruction - woken_at);
        }
        self.emit(TraceKind::Switch, cpu, Some(next), 0);
        if was == CpuState::Idle {
            self.siblings_changed(cpu);
            self.arm_tick(cpu);
        }
        self.set_speed(cpu);
        self.arm_running(cpu);
    }

    /// Switches to the idle task.
    pub(in crate::sim) fn go_idle(&mut self, cpu: CpuId) {
        let switch_cost = self.shape.topology.costs.context_switch;
        let rq = &mut self.rqs[cpu.index()];
        rq.fair
            .switch_to(&self.fair_params, &mut self.store, self.now, None);
        rq.curr = None;
        rq.leaving = None;
        rq.state = CpuState::Idle;
        rq.overhead = 0;
        rq.due = Ns::MAX;
        rq.idle_since = self.now;
        rq.stats.switches += 1;
        rq.stats.sched_goidle += 1;
        let pending = !rq.wake_list.is_empty();
        self.hot[cpu.index()].idle_from = self.now + switch_cost;
        self.waste.goes_idle(cpu, self.now);
        self.ext_unclaim(cpu);
        self.emit(TraceKind::Idle, cpu, None, 0);
        self.siblings_changed(cpu);
        if pending {
            // Interrupts were off during the search; they come in now.
            let arrival = self.now + switch_cost;
            self.at(arrival, crate::sim::event::EventKind::WakeArrive(cpu));
        }
    }

    fn leave_idle(&mut self, cpu: CpuId) {
        self.hot[cpu.index()].idle_from = Ns::MAX;
        if let Some(ext) = &mut self.ext {
            ext.idle.remove(cpu);
        }
        let wasted = self.waste.leaves_idle(cpu, self.now);
        let rq = &mut self.rqs[cpu.index()];
        rq.stats.idle_while_waiting += wasted;
        rq.stats.idle_time += self.now - rq.idle_since;
        self.idle_task_left(cpu);
    }

    /// The timer tick.
    pub(super) fn tick(&mut self, cpu: CpuId) {
        self.rqs[cpu.index()].tick_armed = false;
        match self.rqs[cpu.index()].state {
            CpuState::Offline => return,
            CpuState::Idle => {
                if self.ext.is_none() {
                    self.idle_tick(cpu);
                }
                return;
            }
            // Interrupts are off: the tick comes in late, and finds the CPU as
            // it then is.
            CpuState::Newidle => {}
            CpuState::Running => self.busy_tick(cpu),
        }
        self.arm_tick(cpu);
    }

    fn busy_tick(&mut self, cpu: CpuId) {
        self.steal(cpu, self.shape.topology.costs.tick);
        self.touch(cpu);
        let curr = self.rqs[cpu.index()].running();
        if let Some(curr) = curr {
            self.touch_task(curr);
        }
        if let (Some(curr), Some(ext)) = (curr, &mut self.ext) {
            let ended = ext.task(curr).slice_left == 0;
            if ended && self.tasks[curr as usize].sched == SchedClass::Ext {
                self.reschedule(cpu);
            }
            return;
        }
        let rq = &mut self.rqs[cpu.index()];
        rq.fair.tick(&self.fair_params, &mut self.store, self.now);
        self.periodic_balance(cpu);
        self.nohz_kick(cpu);
        if self.rqs[cpu.index()].fair.need_resched() {
            self.reschedule(cpu);
        }
    }

    /// Preempts the running task, at once or when its kernel work is over.
    pub(super) fn reschedule(&mut self, cpu: CpuId) {
        let Some(curr) = self.rqs[cpu.index()].running() else {
            return;
        };
        let rq = &self.rqs[cpu.index()];
        if rq.in_program || matches!(self.tasks[curr as usize].step, Step::Select { .. }) {
            self.rqs[cpu.index()].need_resched = true;
            return;
        }
        self.progress(cpu);
        self.schedule(cpu, Leave::Preempted);
    }

    /// Puts the running task back on the queue: the stopper takes the CPU.
    pub(in crate::sim) fn preempt_for_stopper(&mut self, cpu: CpuId) {
        self.progress(cpu);
        self.touch(cpu);
        if let Some(curr) = self.rqs[cpu.index()].running() {
            self.touch_task(curr);
            if self.ext.is_some() {
                self.ext_put_prev(cpu, curr);
            }
            let rq = &mut self.rqs[cpu.index()];
            let fair = &mut rq.fair;
            fair.switch_to(&self.fair_params, &mut self.store, self.now, None);
            rq.curr = None;
            self.begin_waiting(curr);
        }
    }

    /// Arms the next tick unless one is pending. Ticks are aligned on all CPUs.
    pub(in crate::sim) fn arm_tick(&mut self, cpu: CpuId) {
        if !std::mem::replace(&mut self.rqs[cpu.index()].tick_armed, true) {
            let next = (self.now / TICK_NS + 1) * TICK_NS;
            self.at(next, crate::sim::event::EventKind::Tick(cpu));
        }
    }

    /// A CPU became busy or idle: its siblings run slower or faster from now on.
    fn siblings_changed(&mut self, cpu: CpuId) {
        for index in 0..self.shape.siblings[cpu.index()].len() {
            let sibling = self.shape.siblings[cpu.index()][index];
            if self.rqs[sibling.index()].state == CpuState::Running {
                self.progress(sibling);
                self.set_speed(sibling);
                self.arm_running(sibling);
            }
        }
    }

    fn set_speed(&mut self, cpu: CpuId) {
        let shape = &self.shape;
        let busy = |c: &CpuId| self.rqs[c.index()].state != CpuState::Idle;
        let alone = u64::from(shape.topology.cpu(cpu).speed);
        let shared = shape.siblings[cpu.index()].iter().any(busy);
        let factor = if shared {
            shape.topology.costs.smt_speed
        } else {
            CAPACITY_SCALE
        };
        self.rqs[cpu.index()].speed = ((alone * u64::from(factor)) >> SCALE_BITS).max(1);
    }
}

/// Makes `id` the most recently used of the list.
fn move_to_head(list: &mut [TaskId], id: TaskId) {
    if let Some(position) = list.iter().position(|&other| other == id) {
        list[position..].rotate_left(1);
    }
}
