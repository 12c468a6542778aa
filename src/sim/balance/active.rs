//! Active balance: pushing a running task to an idle CPU.
//!
//! Source: `balancing.md` 5.10.

use super::{Env, MigrationType};
use crate::sim::CpuId;
use crate::sim::event::EventKind;
use crate::sim::stats::IdleType;
use crate::sim::topology::Distance;
use crate::sim::world::{CpuState, World};

impl World {
    /// Whether waiting tasks have failed to even things out often enough, or the
    /// only fair task of `src` has lost much of its CPU to SCHED_FIFO tasks.
    pub(super) fn need_active_balance(&self, env: &Env, src: CpuId) -> bool {
        let tries = self.shape.domains.of(env.cpu)[env.level].cache_nice_tries;
        let failed = self.sds[env.sd].nr_balance_failed;
        if env.migration == MigrationType::Task && failed > tries + 2 {
            return true;
        }
        let (from, to) = (&self.hot[src.index()], &self.hot[env.dst.index()]);
        let (left, better) = (u64::from(from.capacity), u64::from(to.capacity));
        let whole = u64::from(self.shape.topology.cpu(src).capacity);
        env.idle()
            && env.fair_tasks(from) == 1
            && left * env.imbalance_pct < whole * 100
            && left * env.imbalance_pct < better * 100
    }

    /// Whether the running task of `src` may use the destination.
    pub(super) fn may_push_running(&self, env: &Env, src: CpuId) -> bool {
        let Some(curr) = self.rqs[src.index()].running() else {
            return true;
        };
        let allowed = self.tasks[curr as usize].allowed.as_deref();
        allowed.is_none_or(|mask| mask.contains(env.dst))
    }

    /// Asks the stopper of `src` to push a task to `dst`; false if one is
    /// already asked.
    pub(super) fn start_active_balance(&mut self, src: CpuId, dst: CpuId) -> bool {
        let rq = &mut self.rqs[src.index()];
        if rq.push_cpu.is_some() {
            return false;
        }
        rq.push_cpu = Some(dst);
        let wakeup = self.shape.topology.costs.ipi.at(Distance::SameLlc);
        self.at(self.now + wakeup, EventKind::Stopper(src));
        true
    }

    /// The stopper runs on `src`: the running task is preempted and one task
    /// moved.
    pub(in crate::sim) fn stopper(&mut self, src: CpuId) {
        let Some(dst) = self.rqs[src.index()].push_cpu.take() else {
            return;
        };
        let level = self.lowest_common_level(dst, src);
        let (Some(level), CpuState::Running) = (level, self.rqs[src.index()].state) else {
            return;
        };
        let sd = self.shape.sd(dst, level);
        self.sds[sd].stats.alb_count += 1;
        self.preempt_for_stopper(src);
        let allowed = |id: &u32| {
            let mask = self.tasks[*id as usize].allowed.as_deref();
            mask.is_none_or(|mask| mask.contains(dst))
        };
        let coldest = self.rqs[src.index()]
            .cfs_tasks
            .iter()
            .copied()
            .find(allowed);
        let state = &mut self.sds[sd];
        match coldest {
            Some(id) => {
                state.stats.alb_pushed += 1;
                state.stats.lb[IdleType::Idle as usize].lb_gained += 1;
                state.nr_balance_failed = 0;
                self.transfer(src, dst, id, false);
            }
            None => state.stats.alb_failed += 1,
        }
        self.pick_next(src, true);
    }

    fn lowest_common_level(&self, cpu: CpuId, other: CpuId) -> Option<usize> {
        self.shape
            .domains
            .of(cpu)
            .iter()
            .position(|sd| sd.span.contains(other))
    }
}
