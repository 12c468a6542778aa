//! Tasks under the scheduler that stands in for the fair class.
//!
//! ```text
//!  ext_select   claims an idle CPU for a task that wakes or is created
//!  ext_redirect the same on arrival, if none was claimed or things have changed
//!  ext_place    local or shared queue
//!  ext_pick     local queue, shared queue, the running task again
//!  ext_put_prev the running task makes room
//! ```
//! Rules and state are in [`crate::sim::ext`].

use super::{CpuState, World};
use crate::sim::CpuMask;
use crate::sim::ext::{Ext, Options, cgroup_weight};
use crate::sim::fair::{Dequeue, Enqueue};
use crate::sim::placement::Choice;
use crate::sim::rules::WakeupRule;
use crate::sim::shape::Shape;
use crate::sim::task::{Place, SchedClass, TaskId};
use crate::sim::topology::CpuId;
use crate::sim::trace::TraceKind;

/// The scheduler of a wakeup rule, if it has one of its own.
pub(super) fn new_ext(rule: WakeupRule, shape: &Shape) -> Option<Ext> {
    let options = Options::of(rule)?;
    let listed = |cpu: &CpuId| options.primary.contains(&shape.topology.cpu(*cpu).os_id);
    let primary: CpuMask = shape.online.iter().copied().filter(listed).collect();
    let primary = (!primary.is_empty()).then_some(primary);
    Some(Ext::new(options, primary, shape.topology.nodes.len()))
}

impl World {
    /// The scheduler's state; only asked while it is on.
    fn ext(&mut self) -> &mut Ext {
        self.ext.as_mut().expect("the scheduler is on")
    }

    fn ext_weight(&self, id: TaskId) -> u64 {
        cgroup_weight(self.store.task(id).weight)
    }

    /// Chooses a CPU for a task that wakes or is created, and claims it.
    pub(super) fn ext_select(&mut self, id: TaskId, waker: Option<CpuId>) -> Choice {
        let task = &self.tasks[id as usize];
        let mut prev = task.cpu;
        if !task.may_use(prev) {
            let first = self.shape.online.iter().copied().find(|&c| task.may_use(c));
            prev = waker.filter(|&c| task.may_use(c)).or(first).unwrap_or(prev);
        }
        let found = self.ext_pick_idle(id, prev, waker);
        let ext = self.ext();
        let direct = found.is_some() || !ext.options.busy;
        ext.task(id).direct = direct;
        Choice {
            cpu: found.unwrap_or(prev),
            scanned: 1,
        }
    }

    /// Claims an idle CPU for a task, the nearest to `prev`.
    fn ext_pick_idle(&mut self, id: TaskId, prev: CpuId, waker: Option<CpuId>) -> Option<CpuId> {
        let mut prev = prev;
        if let Some(waker) = waker
            && self.ext().primary.is_none()
            && self.tasks[id as usize].may_use(waker)
        {
            let speed = |cpu: CpuId| self.shape.topology.cpu(cpu).capacity;
            let stays = self.shape.share_cache(waker, prev)
                && !self.ext_contended(prev)
                && self.ext.as_ref().is_some_and(|ext| ext.idle.contains(prev));
            if speed(waker) > speed(prev) && !stays {
                prev = waker;
            }
        }
        let ext = self.ext.as_ref()?;
        let primary = ext.primary.as_ref().map(|mask| mask.and(&ext.idle));
        let found = primary
            .and_then(|idle| self.nearest_idle(id, prev, &idle))
            .or_else(|| self.nearest_idle(id, prev, &ext.idle))?;
        self.ext().idle.remove(found);
        Some(found)
    }

    /// The best of `idle` for a task that was on `prev`: whole cores first, then
    /// near ones, then low numbers.
    fn nearest_idle(&self, id: TaskId, prev: CpuId, idle: &CpuMask) -> Option<CpuId> {
        let ext = self.ext.as_ref()?;
        let task = &self.tasks[id as usize];
        let node = |cpu: CpuId| self.shape.topology.cpu(cpu).node;
        let whole = |cpu: CpuId| {
            let siblings = &self.shape.siblings[cpu.index()];
            siblings.iter().all(|&sibling| ext.idle.contains(sibling))
        };
        let distance = |cpu: CpuId| match cpu {
            _ if cpu == prev => 0,
            _ if self.shape.share_cache(cpu, prev) => 1,
            _ if node(cpu) == node(prev) => 2,
            _ => 3,
        };
        let candidates = idle.iter().filter(|&cpu| task.may_use(cpu));
        candidates.min_by_key(|&cpu| (!whole(cpu), distance(cpu), cpu))
    }

    /// Whether a CPU shares its core with a busy one while others are idle.
    fn ext_contended(&self, cpu: CpuId) -> bool {
        let busy = |sibling: &CpuId| self.rqs[sibling.index()].state != CpuState::Idle;
        let any_idle = self.ext.as_ref().is_some_and(|ext| !ext.idle.is_empty());
        any_idle && self.shape.siblings[cpu.index()].iter().any(busy)
    }

    /// A task arrives on `cpu`: if it was promised none and an idle CPU is better,
    /// it goes on to that one. True if it does.
    pub(super) fn ext_redirect(&mut self, cpu: CpuId, id: TaskId) -> bool {
        if self.tasks[id as usize].sched != SchedClass::Ext || self.ext().task(id).direct {
            return false;
        }
        let ext = self.ext();
        let good = ext.idle.contains(cpu) && ext.is_primary(cpu);
        if good && !self.ext_contended(cpu) {
            return false;
        }
        let Some(found) = self.ext_pick_idle(id, cpu, None) else {
            return false;
        };
        self.ext().task(id).direct = true;
        if found == cpu {
            return false;
        }
        let me = self.task_ref(id);
        self.send_wakeup(me, found, cpu);
        true
    }

    /// Puts a task of the runqueue of `cpu` on a queue to run from.
    pub(super) fn ext_place(&mut self, cpu: CpuId, id: TaskId) {
        let weight = self.ext_weight(id);
        let node = self.shape.topology.cpu(cpu).node as usize;
        let ext = self.ext();
        let options = ext.options;
        let local = !options.busy && ext.is_primary(cpu);
        let task = ext.task(id);
        task.refill(&options, weight);
        if std::mem::take(&mut task.direct) || local {
            self.rqs[cpu.index()].local.push_back(id);
        } else {
            self.ext().share(node, id, weight);
        }
    }

    /// Takes a task off the queue it would run from; it stops if it runs.
    pub(super) fn ext_remove(&mut self, cpu: CpuId, id: TaskId) {
        if self.rqs[cpu.index()].running() == Some(id) {
            self.ext_stops(cpu, id);
        }
        let rq = &mut self.rqs[cpu.index()];
        rq.ext_tasks.retain(|&other| other != id);
        rq.local.retain(|&other| other != id);
        self.ext().unshare(id);
    }

    fn ext_stops(&mut self, cpu: CpuId, id: TaskId) {
        let weight = self.ext_weight(id);
        let capacity = self.shape.topology.cpu(cpu).capacity;
        let ext = self.ext();
        let options = ext.options;
        ext.task(id).stops(&options, weight, capacity);
    }

    /// What runs next on `cpu`, where `prev` runs now.
    pub(super) fn ext_pick(&mut self, cpu: CpuId, prev: Option<TaskId>) -> Option<TaskId> {
        let may_go_on = |id: &TaskId| {
            let task = &self.tasks[*id as usize];
            task.place == Place::Queued && task.sched == SchedClass::Ext
        };
        let prev = prev.filter(may_go_on);
        if let Some(id) = prev
            && self.ext().task(id).slice_left > 0
        {
            return Some(id);
        }
        let next = match self.rqs[cpu.index()].local.pop_front() {
            Some(id) => Some(id),
            None => self.ext_consume(cpu),
        };
        let next = next.or_else(|| self.ext_run_on(cpu, prev?))?;
        let ext = self.ext();
        ext.vtime_now = ext.vtime_now.max(ext.task(next).vtime);
        Some(next)
    }

    /// Takes the first task of the node's shared queue that `cpu` may run.
    fn ext_consume(&mut self, cpu: CpuId) -> Option<TaskId> {
        let node = self.shape.topology.cpu(cpu).node as usize;
        let tasks = &self.tasks;
        let may_run = |id: TaskId| tasks[id as usize].may_use(cpu);
        let id = self.ext.as_mut()?.take_shared(node, may_run)?;
        let from = self.tasks[id as usize].cpu;
        if from != cpu {
            self.dequeue(from, id, Dequeue::Migrate);
            self.ext().task(id).direct = true;
            self.enqueue(cpu, id, Enqueue::Migrate);
            self.rqs[cpu.index()].local.retain(|&other| other != id);
            let distance = self.shape.distance(cpu, from);
            let cost = self.shape.topology.costs.detach.at(distance);
            self.rqs[cpu.index()].overhead += cost;
            self.emit(TraceKind::Pull, cpu, Some(id), u64::from(from.0));
        }
        Some(id)
    }

    /// Nobody else waits for `cpu`: its task gets another slice, unless an idle CPU
    /// suits it better.
    fn ext_run_on(&mut self, cpu: CpuId, prev: TaskId) -> Option<TaskId> {
        let leaves = self.ext_contended(cpu) || !self.ext().is_primary(cpu);
        if leaves && let Some(found) = self.ext_pick_idle(prev, cpu, None) {
            self.ext_send_away(cpu, prev, found);
            return None;
        }
        let weight = self.ext_weight(prev);
        let ext = self.ext();
        let options = ext.options;
        ext.task(prev).refill(&options, weight);
        Some(prev)
    }

    /// The running task goes to an idle CPU claimed for it.
    fn ext_send_away(&mut self, cpu: CpuId, id: TaskId, to: CpuId) {
        self.dequeue(cpu, id, Dequeue::Migrate);
        self.ext().task(id).direct = true;
        let me = self.task_ref(id);
        self.send_wakeup(me, to, cpu);
    }

    /// The running task `prev` makes room: it waits in front if its slice is not
    /// used up, else it queues again.
    pub(super) fn ext_put_prev(&mut self, cpu: CpuId, prev: TaskId) {
        let task = &self.tasks[prev as usize];
        if task.place != Place::Queued || task.sched != SchedClass::Ext {
            return;
        }
        if self.ext().task(prev).slice_left > 0 {
            self.ext_stops(cpu, prev);
            self.rqs[cpu.index()].local.push_front(prev);
            return;
        }
        match self.ext_pick_idle(prev, cpu, None) {
            Some(found) => self.ext_send_away(cpu, prev, found),
            None => {
                self.ext_stops(cpu, prev);
                self.ext_place(cpu, prev);
            }
        }
    }

    /// A CPU was claimed for a task that will not come.
    pub(super) fn ext_unclaim(&mut self, cpu: CpuId) {
        let idle = self.rqs[cpu.index()].state == CpuState::Idle;
        if let Some(ext) = self.ext.as_mut().filter(|_| idle) {
            ext.idle.insert(cpu);
        }
    }

    /// Goes over to the scheduler of a wakeup rule, or back to the fair class.
    pub(super) fn change_ext(&mut self, rule: WakeupRule) {
        for index in 0..self.shape.online.len() {
            let cpu = self.shape.online[index];
            self.progress(cpu);
            self.touch(cpu);
        }
        let queued = self.take_all_off();
        self.ext = new_ext(rule, &self.shape);
        let sched = match self.ext {
            Some(_) => SchedClass::Ext,
            None => SchedClass::Fair,
        };
        for id in 0..self.tasks.len() as TaskId {
            self.change_class(id, sched);
        }
        for (cpu, id) in queued {
            self.enqueue(cpu, id, Enqueue::Wakeup);
            if self.rqs[cpu.index()].running() == Some(id) {
                self.goes_on_running(cpu, id);
            }
        }
        for index in 0..self.shape.online.len() {
            let cpu = self.shape.online[index];
            if self.rqs[cpu.index()].state == CpuState::Idle {
                self.ext_unclaim(cpu);
                self.arm_tick(cpu);
            }
        }
    }

    /// Takes every task of the old scheduler off its runqueue, the running ones as
    /// well. Sleepers that owed time owe none any more.
    fn take_all_off(&mut self) -> Vec<(CpuId, TaskId)> {
        let mut queued = Vec::new();
        for index in 0..self.shape.online.len() {
            let cpu = self.shape.online[index];
            let rq = &self.rqs[cpu.index()];
            let tasks: Vec<TaskId> = rq.cfs_tasks.iter().chain(&rq.ext_tasks).copied().collect();
            for id in tasks {
                let delayed = self.tasks[id as usize].place == Place::Delayed;
                self.dequeue(cpu, id, Dequeue::Exit);
                if delayed {
                    self.tasks[id as usize].place = Place::Asleep;
                } else {
                    queued.push((cpu, id));
                }
            }
            let fair = &mut self.rqs[cpu.index()].fair;
            fair.switch_to(&self.fair_params, &mut self.store, self.now, None);
        }
        queued
    }

    fn change_class(&mut self, id: TaskId, sched: SchedClass) {
        let task = &self.tasks[id as usize];
        let absent = matches!(task.place, Place::Dead | Place::External);
        if absent || task.sched == SchedClass::Fifo || task.sched == sched {
            let stays_fifo = task.sched == SchedClass::Fifo;
            if !stays_fifo {
                self.tasks[id as usize].sched = sched;
            }
            return;
        }
        let cpu = task.cpu;
        self.touch_task(id);
        if sched == SchedClass::Ext {
            self.detach_load(cpu, id);
        } else {
            self.attach_load(cpu, id);
        }
        self.tasks[id as usize].sched = sched;
    }

    /// A running task was enqueued by its new scheduler: it is not waiting.
    fn goes_on_running(&mut self, cpu: CpuId, id: TaskId) {
        self.stop_waiting(cpu, id);
        if let Some(ext) = &mut self.ext {
            self.rqs[cpu.index()].local.retain(|&other| other != id);
            ext.unshare(id);
        } else {
            let fair = &mut self.rqs[cpu.index()].fair;
            fair.switch_to(&self.fair_params, &mut self.store, self.now, Some(id));
        }
    }
}
