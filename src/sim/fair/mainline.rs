//! EEVDF of 6.17 and later: protection as a bound on vruntime, lag that can only
//! recover asleep, another wakeup check.
//!
//! Source: placement-and-pick.md 6.7 and 6.9; medium confidence there.

use super::{FairParams, FairRq, PickRule, Policy, SchedEntity, TaskId, WakeFlags};
use crate::sim::time::Ns;

impl FairRq {
    /// The vruntime up to which `e`, switched in just now, is protected.
    pub(super) fn protected_until(&self, p: &FairParams, e: &SchedEntity) -> i64 {
        let quantum = match p.features.run_to_parity {
            true => self.min_slice(e),
            false => p.base_slice_unscaled.min(e.slice),
        };
        if quantum == e.slice {
            return e.deadline;
        }
        let shorter = match p.features.preempt_short && p.rule == PickRule::EevdfMainline {
            // Only as long as it is behind the others: they are more urgent.
            true => self.timeline.average.floor().unwrap_or(self.vtime) + 1,
            false => e.vruntime + e.vdelta(quantum),
        };
        e.deadline.min(shorter)
    }

    /// The pick; `honour` the buddy and the running task's protection or not.
    pub(super) fn pick_mainline(
        &self,
        p: &FairParams,
        ents: &[SchedEntity],
        honour: bool,
    ) -> Option<TaskId> {
        if self.nr_queued() == 1 {
            return self.queued().next();
        }
        if let Some(next) = self.buddy(p, ents).filter(|_| honour) {
            return Some(next);
        }
        let v = self.average_vruntime(ents);
        let curr = self.eligible_curr(ents, v);
        if let Some(id) = curr.filter(|_| honour) {
            let e = &ents[id as usize];
            if e.vruntime < e.protect {
                return curr;
            }
        }
        self.earlier_deadline(ents, v, curr)
    }

    /// A delayed task wakes: its lag may have recovered since it went to sleep
    /// but never fallen, and with `DELAY_ZERO` not risen above zero.
    pub(super) fn requeue_mainline(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
    ) {
        let stored = ents[id as usize].vlag;
        let mut lag = self.clamped_lag(p, ents, id).max(stored);
        if p.features.delay_zero {
            lag = lag.min(0);
        }
        if lag != self.average_vruntime(ents) - ents[id as usize].vruntime {
            self.replace(p, ents, id, lag);
        }
    }

    /// Wakeup preemption of `curr` by `wakee`.
    pub(super) fn preempt_mainline(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        (curr, wakee): (TaskId, TaskId),
        now: Ns,
        flags: WakeFlags,
    ) -> bool {
        let requested = self.need_resched && !p.features.preempt_short;
        if requested || !p.features.wakeup_preemption {
            return false;
        }
        let w = ents[wakee as usize];
        if ents[curr as usize].is_idle() && !w.is_idle() {
            cancel_protection(&mut ents[curr as usize]);
            return true;
        }
        self.update_curr(p, ents, now);
        let c = ents[curr as usize];
        if c.is_idle() != w.is_idle() || w.policy != Policy::Normal || w.delayed {
            return false;
        }
        let short = p.features.preempt_short && w.slice < c.slice;
        if !short {
            if flags.fork {
                return false;
            }
            if p.features.next_buddy && self.take_buddy_slot(ents, wakee) && flags.sync {
                return self.sync_preempts(p, ents, (curr, wakee), now, flags);
            }
        }
        let picked = self.pick_mainline(p, ents, !short) == Some(wakee);
        if picked || (short && self.average(ents).eligible(w.vruntime)) {
            self.preempt_now(ents, (curr, wakee), short);
            return true;
        }
        if p.features.run_to_parity {
            self.shorten_protection(ents, curr);
        }
        false
    }

    fn preempt_now(&mut self, ents: &mut [SchedEntity], pair: (TaskId, TaskId), short: bool) {
        let (curr, wakee) = pair;
        cancel_protection(&mut ents[curr as usize]);
        let slice = ents[wakee as usize].slice;
        let keeps = |id: TaskId| ents[id as usize].slice < slice;
        if short && !self.next.is_some_and(keeps) {
            self.set_next_buddy(ents, wakee);
        }
    }

    /// Makes the wakee the buddy unless the present one is more urgent.
    fn take_buddy_slot(&mut self, ents: &[SchedEntity], wakee: TaskId) -> bool {
        let deadline = ents[wakee as usize].deadline;
        let keeps = |id: TaskId| ents[id as usize].deadline < deadline;
        if self.next.is_some_and(keeps) {
            return false;
        }
        self.set_next_buddy(ents, wakee);
        self.next == Some(wakee)
    }

    /// A SYNC wakee that became buddy preempts a task that has run long enough
    /// since it was last charged. As the check itself charges it, that is never,
    /// unless the migration cost is set to zero.
    fn sync_preempts(
        &self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        (curr, wakee): (TaskId, TaskId),
        now: Ns,
        flags: WakeFlags,
    ) -> bool {
        let enough = match flags.selected {
            true => p.migration_cost / 4,
            false => p.migration_cost,
        };
        let deadline = ents[wakee as usize].deadline;
        let c = &mut ents[curr as usize];
        let preempt = deadline < c.deadline && now.saturating_sub(c.exec_start) >= enough;
        if preempt {
            cancel_protection(c);
        }
        preempt
    }

    /// The company has changed: the running task is protected no longer than one
    /// of the smallest slices from here.
    fn shorten_protection(&mut self, ents: &mut [SchedEntity], curr: TaskId) {
        let v = self.average_vruntime(ents);
        let e = &mut ents[curr as usize];
        let quantum = e.vdelta(self.min_slice(e));
        e.protect = e.protect.min(e.vruntime.min(v) + quantum);
    }
}

fn cancel_protection(e: &mut SchedEntity) {
    e.protect = e.vruntime;
}
