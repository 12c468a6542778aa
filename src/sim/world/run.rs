//! Running tasks: who is on the CPU, how far its work is, when that changes.

use super::{CpuState, World};
use crate::sim::fair::{Dequeue, Enqueue};
use crate::sim::task::{Place, Step, TaskId};
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
        let mut elapsed = self.now - rq.seg_start;
        rq.seg_start = self.now;
        rq.stats.rq_cpu_time += elapsed;
        let waited = elapsed.min(rq.overhead);
        rq.overhead -= waited;
        elapsed -= waited;
        let task = &mut self.tasks[curr as usize];
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
        let rq = &mut self.rqs[cpu.index()];
        let prev = rq.running();
        let mut gone = Vec::new();
        let next = rq
            .fair
            .pick_next(&self.fair_params, &mut self.ents, self.now, &mut gone);
        debug_assert!(gone.is_empty(), "delayed dequeue is off");
        match next {
            Some(next) if prev == Some(next) => self.arm_running(cpu),
            Some(next) => self.switch_to(cpu, next),
            None if may_search => self.newidle(cpu),
            None => self.go_idle(cpu),
        }
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
        let rq = &mut self.rqs[cpu.index()];
        rq.fair
            .switch_to(&self.fair_params, &mut self.ents, self.now, Some(next));
        rq.leaving = None;
        rq.state = CpuState::Running;
        // Work still owed (a wakeup sent, an interrupt) delays the next task too.
        rq.overhead += switch_cost + refill;
        rq.seg_start = self.now;
        rq.stats.switches += 1;
        rq.stats.pcount += 1;
        let first_instruction = self.now + rq.overhead;
        move_to_head(&mut rq.cfs_tasks, next);
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
            .switch_to(&self.fair_params, &mut self.ents, self.now, None);
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
        let wasted = self.waste.leaves_idle(cpu, self.now);
        let rq = &mut self.rqs[cpu.index()];
        rq.stats.idle_while_waiting += wasted;
        rq.stats.idle_time += self.now - rq.idle_since;
        self.end_idle_period(cpu);
    }

    /// Puts a task on a runqueue.
    pub(in crate::sim) fn enqueue(&mut self, cpu: CpuId, id: TaskId, how: Enqueue) {
        self.touch(cpu);
        self.touch_task(id);
        self.move_load(cpu, id);
        let task = &mut self.tasks[id as usize];
        task.cpu = cpu;
        task.place = Place::Queued;
        let util_est = task.util_est.ewma as u32;
        let rq = &mut self.rqs[cpu.index()];
        rq.fair
            .enqueue(&self.fair_params, &mut self.ents, id, self.now, how);
        rq.cfs_tasks.push(id);
        let hot = &mut self.hot[cpu.index()];
        hot.nr_running += 1;
        hot.util_est += util_est;
        if hot.nr_running == 2 {
            self.overloaded = true;
        }
        self.begin_waiting(id);
    }

    /// Takes a task off its runqueue. If it waited (was not running), that ends.
    pub(in crate::sim) fn dequeue(&mut self, cpu: CpuId, id: TaskId, why: Dequeue) {
        self.touch(cpu);
        self.touch_task(id);
        let running = self.rqs[cpu.index()].running() == Some(id);
        if !running {
            self.stop_waiting(cpu, id);
        }
        let rq = &mut self.rqs[cpu.index()];
        rq.fair
            .dequeue(&self.fair_params, &mut self.ents, id, self.now, why);
        rq.cfs_tasks.retain(|&other| other != id);
        let hot = &mut self.hot[cpu.index()];
        hot.nr_running -= 1;
        hot.util_est -= self.tasks[id as usize].util_est.ewma as u32;
        let task = &mut self.tasks[id as usize];
        match why {
            Dequeue::Sleep => {
                task.place = Place::Asleep;
                let capacity = u64::from(self.hot[cpu.index()].capacity);
                task.util_est.update(&mut task.pelt, capacity);
            }
            Dequeue::Exit | Dequeue::Migrate => task.place = Place::Waking,
        }
    }

    fn begin_waiting(&mut self, id: TaskId) {
        let task = &mut self.tasks[id as usize];
        task.waiting_since = self.now;
        if let Some(set) = task.affinity_set {
            self.waste.waits(set, self.now);
        }
    }

    fn stop_waiting(&mut self, cpu: CpuId, id: TaskId) {
        let task = &self.tasks[id as usize];
        self.rqs[cpu.index()].stats.run_delay += self.now - task.waiting_since;
        if let Some(set) = task.affinity_set {
            self.waste.served(set, self.now);
        }
    }

    /// Brings the load tracking of a runqueue up to now.
    pub(in crate::sim) fn touch(&mut self, cpu: CpuId) {
        let rq = &mut self.rqs[cpu.index()];
        let (load, runnable) = (rq.fair.weight_sum(), rq.fair.nr_runnable());
        let running = rq.running().is_some();
        if rq
            .pelt
            .update(self.now, load, u64::from(runnable), running, 1)
        {
            self.publish_load(cpu);
        }
    }

    /// Shows a runqueue's load averages to others.
    fn publish_load(&mut self, cpu: CpuId) {
        let rq = &self.rqs[cpu.index()];
        let hot = &mut self.hot[cpu.index()];
        hot.load = rq.pelt.load_avg;
        hot.util = rq.pelt.util_avg as u32;
        hot.runnable = rq.pelt.runnable_avg as u32;
    }

    /// Brings the load tracking of a task up to now.
    pub(super) fn touch_task(&mut self, id: TaskId) {
        let task = &mut self.tasks[id as usize];
        let queued = task.place == Place::Queued;
        let running = self.rqs[task.cpu.index()].running() == Some(id);
        let weight = u64::from(self.ents[id as usize].weight);
        task.pelt.update(
            self.now,
            u64::from(queued),
            u64::from(queued),
            running,
            weight,
        );
    }

    /// Moves a task's load from the CPU it last used to `cpu`.
    fn move_load(&mut self, cpu: CpuId, id: TaskId) {
        let from = self.tasks[id as usize].cpu;
        if from == cpu {
            return;
        }
        self.touch(from);
        let weight = self.ents[id as usize].weight;
        self.rqs[from.index()]
            .pelt
            .detach(&self.tasks[id as usize].pelt);
        self.rqs[cpu.index()]
            .pelt
            .attach(&mut self.tasks[id as usize].pelt, weight);
        self.publish_load(from);
        self.publish_load(cpu);
        let distance = self.shape.distance(from, cpu);
        self.migrations.count(distance);
        let footprint = self.classes[self.tasks[id as usize].class].footprint_kib;
        let costs = &self.shape.topology.costs;
        self.tasks[id as usize].refill += costs.refill(distance, footprint);
    }

    /// The timer tick.
    pub(super) fn tick(&mut self, cpu: CpuId) {
        self.rqs[cpu.index()].tick_armed = false;
        match self.rqs[cpu.index()].state {
            CpuState::Offline => return,
            CpuState::Idle => {
                self.idle_tick(cpu);
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
        if let Some(curr) = self.rqs[cpu.index()].running() {
            self.touch_task(curr);
        }
        let rq = &mut self.rqs[cpu.index()];
        rq.fair.tick(&self.fair_params, &mut self.ents, self.now);
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
            let fair = &mut self.rqs[cpu.index()].fair;
            fair.switch_to(&self.fair_params, &mut self.ents, self.now, None);
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
