//! Fork placement: the CPU with the fewest tasks, in the LLC and core with the
//! fewest tasks.
//!
//! The slow path reduced to its effect on an even machine: new tasks spread,
//! first over LLCs, then over cores, then over threads.

use crate::sim::CpuId;
use crate::sim::task::TaskId;
use crate::sim::world::World;

impl World {
    /// Chooses a CPU for a new task.
    pub(in crate::sim) fn select_fork_cpu(&self, id: TaskId) -> CpuId {
        let task = &self.tasks[id as usize];
        if let Some(cpu) = task.pinned {
            return cpu;
        }
        let queued = |cpu: CpuId| self.hot[cpu.index()].nr_running;
        let llc_load: Vec<(u64, u64)> = self
            .shape
            .llcs
            .iter()
            .map(|llc| {
                let tasks: u32 = llc.iter().map(|&cpu| queued(cpu)).sum();
                (u64::from(tasks), llc.len() as u64)
            })
            .collect();
        // Tasks per CPU of the LLC, in 1024ths.
        let per_cpu = |cpu: CpuId| {
            let (tasks, cpus) = llc_load[self.shape.llc_of[cpu.index()]];
            tasks * 1024 / cpus
        };
        let core = |cpu: CpuId| {
            let siblings = &self.shape.siblings[cpu.index()];
            siblings.iter().map(|&s| queued(s)).sum::<u32>() + queued(cpu)
        };
        let may_use = |cpu: &CpuId| {
            task.allowed
                .as_deref()
                .is_none_or(|mask| mask.contains(*cpu))
        };
        let candidates = self.shape.online.iter().copied().filter(may_use);
        candidates
            .min_by_key(|&cpu| {
                (
                    queued(cpu).min(1),
                    per_cpu(cpu),
                    core(cpu),
                    queued(cpu),
                    cpu,
                )
            })
            .unwrap_or(task.cpu)
    }
}
