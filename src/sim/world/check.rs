//! Invariants of a world.

use super::{CpuState, World};
use crate::sim::task::{Place, Step, TaskId};
use crate::sim::{CpuId, Ns};

impl World {
    /// Every invariant that does not hold, in words; none if all do.
    ///
    /// Recounts what the world keeps counted, so it is for tests and `verify`.
    pub fn check(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut queued_on = vec![0usize; self.tasks.len()];
        for cpu in self.shape.topology.cpu_ids() {
            let rq = &self.rqs[cpu.index()];
            let hot = &self.hot[cpu.index()];
            let mut complain = |what: &str| found.push(format!("CPU {}: {what}", cpu.0));
            if rq.cfs_tasks.len() + rq.fifo.len() + rq.ext_tasks.len() != hot.nr_running as usize {
                complain("nr_running is not the number of tasks in cfs_tasks, fifo and ext_tasks");
            }
            let counts = self.recount(cpu);
            if counts != [hot.h_nr_queued, hot.h_nr_runnable, hot.h_nr_idle] {
                complain("counts of fair tasks are not those of the tasks queued");
            }
            let fair = &rq.fair;
            if counts != [fair.nr_queued(), fair.nr_runnable(), fair.nr_idle()] {
                complain("counts of the fair class are not those of the tasks queued");
            }
            if rq.state == CpuState::Idle && hot.nr_running > 0 {
                complain("idle beside a task on its own queue");
            }
            if (rq.state == CpuState::Running) != rq.running().is_some() {
                complain("running without a current task, or not running with one");
            }
            if rq.wake_list.is_empty() == hot.ttwu_pending {
                complain("ttwu_pending does not tell whether the wake list holds a task");
            }
            for &id in rq.cfs_tasks.iter().chain(&rq.fifo).chain(&rq.ext_tasks) {
                queued_on[id as usize] += 1;
                let task = &self.tasks[id as usize];
                if !matches!(task.place, Place::Queued | Place::Delayed) || task.cpu != cpu {
                    complain("a queued task believes to be elsewhere");
                }
                if task
                    .allowed
                    .as_deref()
                    .is_some_and(|mask| !mask.contains(cpu))
                {
                    complain("a task is on a CPU it may not use");
                }
            }
            let util_est: u64 = rq
                .cfs_tasks
                .iter()
                .map(|&id| &self.tasks[id as usize])
                .filter(|task| task.place == Place::Queued)
                .map(|task| task.util_est.ewma)
                .sum();
            if util_est != u64::from(hot.util_est) {
                complain("util_est is not the sum over queued tasks");
            }
        }
        found.extend(self.check_tasks(&queued_on));
        found.extend(self.check_ext());
        found.extend(self.check_counters());
        found.extend(self.check_cpu_time());
        found
    }

    /// Fair tasks queued on a CPU: all, those not delayed, those that are
    /// SCHED_IDLE.
    fn recount(&self, cpu: CpuId) -> [u32; 3] {
        let tasks = &self.rqs[cpu.index()].cfs_tasks;
        let count =
            |wanted: &dyn Fn(TaskId) -> bool| tasks.iter().filter(|&&id| wanted(id)).count() as u32;
        let runnable = |id: TaskId| self.tasks[id as usize].place == Place::Queued;
        [
            tasks.len() as u32,
            count(&runnable),
            count(&|id| self.store.counts_as_idle(id)),
        ]
    }

    /// Time the CPUs gave to tasks is the time the tasks ran.
    fn check_cpu_time(&self) -> Option<String> {
        let given: Ns = self
            .shape
            .online
            .iter()
            .map(|&cpu| self.cpu_stats(cpu).rq_cpu_time)
            .sum();
        let alive = self.tasks.iter().zip(0..);
        let charged: Ns = alive
            .filter(|(task, _)| task.place != Place::Dead)
            .map(|(_, id)| self.store.task(id).sum_exec)
            .sum();
        let uncharged: Ns = self
            .rqs
            .iter()
            .filter_map(|rq| Some((rq, rq.running()?)))
            .map(|(rq, curr)| {
                let since = match self.tasks[curr as usize].is_fair() {
                    true => self.store.task(curr).exec_start,
                    false => rq.seg_start,
                };
                self.now - since
            })
            .sum();
        let taken = charged + uncharged + self.exec_of_dead;
        (given != taken).then(|| format!("CPUs gave {given} ns to tasks, tasks ran {taken} ns"))
    }

    /// Every task of the fair class's stand-in runs or is on exactly one queue, and
    /// its idle CPUs are idle.
    fn check_ext(&self) -> Vec<String> {
        let mut found = Vec::new();
        let Some(ext) = &self.ext else { return found };
        let shared: Vec<TaskId> = ext.shared().collect();
        for (rq, cpu) in self.rqs.iter().zip(0..) {
            for &id in &rq.ext_tasks {
                let count = |list: &mut dyn Iterator<Item = TaskId>| {
                    list.filter(|&other| other == id).count()
                };
                let places = usize::from(rq.running() == Some(id))
                    + count(&mut rq.local.iter().copied())
                    + count(&mut shared.iter().copied());
                if places != 1 {
                    found.push(format!("CPU {cpu}: task {id} is in {places} places"));
                }
            }
        }
        for cpu in ext.idle.iter() {
            if self.rqs[cpu.index()].state != CpuState::Idle {
                found.push(format!("CPU {}: to be claimed, but not idle", cpu.0));
            }
        }
        found
    }

    fn check_tasks(&self, queued_on: &[usize]) -> Vec<String> {
        let mut found = Vec::new();
        let in_flight = |id: TaskId| {
            let me = self.task_ref(id);
            self.rqs
                .iter()
                .filter(|rq| rq.wake_list.contains(&me))
                .count()
        };
        for (id, task) in self.tasks.iter().enumerate() {
            let expected = usize::from(matches!(task.place, Place::Queued | Place::Delayed));
            if queued_on[id] != expected {
                found.push(format!(
                    "task {id}: on {} runqueues, is {:?}",
                    queued_on[id], task.place
                ));
            }
            let sent = in_flight(id as TaskId);
            let blocked =
                matches!(task.step, Step::AtBarrier(_)) || self.waits_in_queue(id as TaskId);
            if blocked && task.place == Place::Queued {
                found.push(format!("task {id}: queued, and blocked in its program"));
            }
            if sent != usize::from(task.place == Place::Waking) {
                found.push(format!(
                    "task {id}: on {sent} wake lists, is {:?}",
                    task.place
                ));
            }
        }
        found
    }

    /// Whether a task waits for a token nobody sent yet.
    fn waits_in_queue(&self, id: TaskId) -> bool {
        matches!(self.tasks[id as usize].step, Step::Waiting(_)) && !self.wakeup_under_way(id)
    }

    fn check_counters(&self) -> Vec<String> {
        let mut found = Vec::new();
        for cpu in &self.shape.online {
            let newidle = &self.rqs[cpu.index()].newidle;
            if newidle.calls != newidle.runs + newidle.skips_policy {
                found.push(format!(
                    "CPU {}: calls are not runs and policy skips",
                    cpu.0
                ));
            }
        }
        found
    }
}
