//! Wakeup placement: the CPU the task last used if it is idle, else an idle CPU
//! of its LLC, a wholly idle core first.
//!
//! This is the fast path reduced to its main effect: tasks stay in the LLC they
//! are in. `wake_affine`, `recent_used_cpu` and the search budget of `SIS_UTIL`
//! are not modelled.

use super::Choice;
use crate::sim::CpuId;
use crate::sim::task::TaskId;
use crate::sim::world::World;

impl World {
    /// Chooses a CPU for a task that wakes. Reads the state of this
    /// moment; nothing is marked.
    pub(in crate::sim) fn select_wakeup_cpu(&self, id: TaskId) -> Choice {
        let task = &self.tasks[id as usize];
        if let Some(cpu) = task.pinned {
            return Choice { cpu, scanned: 0 };
        }
        let target = task.cpu;
        if self.hot[target.index()].idle(self.now) {
            return Choice {
                cpu: target,
                scanned: 0,
            };
        }
        self.search_llc(id, target)
    }

    fn search_llc(&self, id: TaskId, target: CpuId) -> Choice {
        let llc = &self.shape.llcs[self.shape.llc_of[target.index()]];
        let start = self.shape.llc_pos[target.index()];
        let allowed = self.tasks[id as usize].allowed.as_deref();
        let may_use = |cpu: CpuId| allowed.is_none_or(|mask| mask.contains(cpu));
        let mut idle_thread = None;
        let mut scanned = 0;
        for offset in 1..=llc.len() {
            let cpu = llc[(start + offset) % llc.len()];
            scanned += 1;
            if !self.hot[cpu.index()].idle(self.now) || !may_use(cpu) {
                continue;
            }
            let siblings = &self.shape.siblings[cpu.index()];
            if siblings.iter().all(|s| self.hot[s.index()].idle(self.now)) {
                return Choice { cpu, scanned };
            }
            idle_thread = idle_thread.or(Some(cpu));
        }
        Choice {
            cpu: idle_thread.unwrap_or(target),
            scanned,
        }
    }
}
