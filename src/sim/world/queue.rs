//! Runqueues: tasks enter and leave them, and carry their load along.
//!
//! ```text
//!            enqueue                     switched in
//!  Waking ------------> Queued (waiting) <---------> Queued (running)
//!    ^                    ^                              | dequeue(Sleep)
//!    | select, travel     | wake_delayed                 v
//!  Asleep <-----------  Delayed  <--------------- owes time (DELAY_DEQUEUE)
//!    ^    left_late: picked                              |
//!    +---------------------------------------------------+ else
//! ```

use super::World;
use crate::sim::fair::{Dequeue, Enqueue};
use crate::sim::pelt::Pelt;
use crate::sim::task::{Place, SchedClass, TaskId};
use crate::sim::topology::CpuId;
use crate::sim::trace::TraceKind;

impl World {
    /// Puts a task on a runqueue.
    pub(in crate::sim) fn enqueue(&mut self, cpu: CpuId, id: TaskId, how: Enqueue) {
        self.touch(cpu);
        self.touch_task(id);
        self.move_load(cpu, id);
        let task = &mut self.tasks[id as usize];
        task.cpu = cpu;
        let delayed = task.place == Place::Delayed;
        let sched = task.sched;
        let rq = &mut self.rqs[cpu.index()];
        match sched {
            SchedClass::Fifo => rq.fifo.push_back(id),
            SchedClass::Fair => {
                rq.fair
                    .enqueue(&self.fair_params, &mut self.store, id, self.now, how);
                rq.cfs_tasks.push(id);
            }
            SchedClass::Ext => {
                rq.ext_tasks.push(id);
                self.ext_place(cpu, id);
            }
        }
        self.count_queued(cpu, 1);
        if !delayed {
            self.becomes_runnable(cpu, id);
        }
    }

    /// Counts a task onto (or off) the runqueue.
    fn count_queued(&mut self, cpu: CpuId, change: i32) {
        let hot = &mut self.hot[cpu.index()];
        hot.nr_running = hot.nr_running.wrapping_add_signed(change);
        if hot.nr_running == 2 && change > 0 {
            self.overloaded = true;
        }
        self.publish_counts(cpu);
    }

    /// Shows the counts of fair tasks to others.
    fn publish_counts(&mut self, cpu: CpuId) {
        let fair = &self.rqs[cpu.index()].fair;
        let hot = &mut self.hot[cpu.index()];
        hot.h_nr_queued = fair.nr_queued();
        hot.h_nr_runnable = fair.nr_runnable();
        hot.h_nr_idle = fair.nr_idle();
    }

    fn becomes_runnable(&mut self, cpu: CpuId, id: TaskId) {
        let task = &mut self.tasks[id as usize];
        task.place = Place::Queued;
        if task.is_fair() {
            self.hot[cpu.index()].util_est += task.util_est.ewma as u32;
        }
        self.begin_waiting(id);
    }

    fn goes_to_sleep(&mut self, cpu: CpuId, id: TaskId, place: Place) {
        let task = &mut self.tasks[id as usize];
        task.place = place;
        if task.is_fair() {
            let hot = &mut self.hot[cpu.index()];
            hot.util_est -= task.util_est.ewma as u32;
            task.util_est
                .update(&mut task.pelt, u64::from(hot.capacity));
        }
    }

    /// A delayed task leaves its queue at last: it was picked and has nothing to
    /// do, or has worked off what it owed.
    pub(super) fn left_late(&mut self, cpu: CpuId, id: TaskId) {
        self.touch_task(id);
        self.tasks[id as usize].place = Place::Asleep;
        self.rqs[cpu.index()].cfs_tasks.retain(|&other| other != id);
        self.count_queued(cpu, -1);
    }

    /// A delayed task wakes where it is.
    pub(super) fn wake_delayed(&mut self, id: TaskId) {
        let cpu = self.tasks[id as usize].cpu;
        self.touch(cpu);
        self.touch_task(id);
        let fair = &mut self.rqs[cpu.index()].fair;
        fair.wake_delayed(&self.fair_params, &mut self.store, id, self.now);
        self.publish_counts(cpu);
        self.becomes_runnable(cpu, id);
        self.emit(TraceKind::Wakeup, cpu, Some(id), u64::from(cpu.0));
        self.preempt_for(cpu, id, false);
    }

    /// Takes a task off its runqueue. If it waited (was not running), that ends.
    pub(in crate::sim) fn dequeue(&mut self, cpu: CpuId, id: TaskId, why: Dequeue) {
        self.touch(cpu);
        self.touch_task(id);
        let running = self.rqs[cpu.index()].running() == Some(id);
        if !running && self.tasks[id as usize].place == Place::Queued {
            self.stop_waiting(cpu, id);
        }
        let rq = &mut self.rqs[cpu.index()];
        let mut left = true;
        match self.tasks[id as usize].sched {
            SchedClass::Fifo => rq.fifo.retain(|&other| other != id),
            SchedClass::Fair => {
                left = rq
                    .fair
                    .dequeue(&self.fair_params, &mut self.store, id, self.now, why);
            }
            SchedClass::Ext => self.ext_remove(cpu, id),
        }
        if !left {
            self.publish_counts(cpu);
            self.goes_to_sleep(cpu, id, Place::Delayed);
            return;
        }
        let rq = &mut self.rqs[cpu.index()];
        rq.cfs_tasks.retain(|&other| other != id);
        self.count_queued(cpu, -1);
        let runnable = self.tasks[id as usize].place == Place::Queued;
        match why {
            Dequeue::Sleep => self.goes_to_sleep(cpu, id, Place::Asleep),
            // A delayed task stays so on its way.
            Dequeue::Migrate | Dequeue::Exit if !runnable => {}
            Dequeue::Migrate | Dequeue::Exit => self.goes_on_the_way(cpu, id),
        }
    }

    fn goes_on_the_way(&mut self, cpu: CpuId, id: TaskId) {
        let task = &mut self.tasks[id as usize];
        task.place = Place::Waking;
        if task.is_fair() {
            self.hot[cpu.index()].util_est -= task.util_est.ewma as u32;
        }
    }

    pub(super) fn begin_waiting(&mut self, id: TaskId) {
        let task = &mut self.tasks[id as usize];
        task.waiting_since = self.now;
        if let Some(set) = task.affinity_set {
            self.waste.waits(set, self.now);
        }
    }

    pub(super) fn stop_waiting(&mut self, cpu: CpuId, id: TaskId) {
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
        let fifo = !rq.fifo.is_empty();
        let running = rq.running().is_some() && !fifo && self.ext.is_none();
        if fifo || rq.fifo_pelt.util_avg > 0 {
            self.touch_fifo(cpu);
        }
        let rq = &mut self.rqs[cpu.index()];
        if rq
            .pelt
            .update(self.now, load, u64::from(runnable), running, 1)
        {
            self.publish_load(cpu);
        }
    }

    /// Brings up to now how much of the CPU SCHED_FIFO tasks take.
    fn touch_fifo(&mut self, cpu: CpuId) {
        let rq = &mut self.rqs[cpu.index()];
        let active = u64::from(!rq.fifo.is_empty());
        let runs = active > 0 && rq.running().is_some();
        rq.fifo_pelt.update(self.now, active, active, runs, 1);
        let original = self.shape.topology.cpu(cpu).capacity;
        let taken = rq.fifo_pelt.util_avg as u32;
        self.hot[cpu.index()].capacity = original.saturating_sub(taken).max(1);
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
        let runnable = task.place == Place::Queued;
        let queued = runnable || task.place == Place::Delayed;
        let running = self.rqs[task.cpu.index()].running() == Some(id);
        let weight = u64::from(self.store.task(id).weight);
        task.pelt.update(
            self.now,
            u64::from(queued),
            u64::from(runnable),
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
        if self.tasks[id as usize].is_fair() {
            self.touch(from);
            self.detach_load(from, id);
            self.attach_load(cpu, id);
            self.publish_load(from);
            self.publish_load(cpu);
        }
        let distance = self.shape.distance(from, cpu);
        self.migrations.count(distance);
        let footprint = self.classes[self.tasks[id as usize].class].footprint_kib;
        let costs = &self.shape.topology.costs;
        self.tasks[id as usize].refill += costs.refill(distance, footprint);
    }

    /// Takes a task's load off the runqueue of `cpu`.
    pub(super) fn detach_load(&mut self, cpu: CpuId, id: TaskId) {
        let pelt = self.tasks[id as usize].pelt;
        let rq = &mut self.rqs[cpu.index()];
        let at_root = rq.fair.load_at_root(&self.store, id, pelt.load_avg);
        rq.pelt.detach(&Pelt {
            load_avg: at_root,
            ..pelt
        });
        rq.fair.move_group_load(&self.store, id, &pelt, false);
    }

    /// Adds a task's load to the runqueue of `cpu`.
    pub(super) fn attach_load(&mut self, cpu: CpuId, id: TaskId) {
        let weight = self.store.task(id).weight;
        let task = &mut self.tasks[id as usize];
        let rq = &mut self.rqs[cpu.index()];
        let at_root = rq.fair.load_at_root(&self.store, id, task.pelt.load_avg);
        rq.pelt.attach(&mut task.pelt, weight, at_root);
        rq.fair.move_group_load(&self.store, id, &task.pelt, true);
    }
}
