//! CFS as in 6.1: lowest vruntime first, sleeper credit, granularities, buddies.
//!
//! Source: placement-and-pick.md 7.

use super::arith::{scale, sum_inverse};
use super::{Dequeue, Enqueue, FairParams, FairRq, Policy, SchedEntity, TaskId, WakeFlags};
use crate::sim::time::Ns;

/// Longest sleep, ns, over which vruntimes can still be compared (about 104
/// days): longer and the running side may have wrapped at the highest weight.
const LONG_SLEEP: Ns = 1 << 53;

impl FairRq {
    /// `min_vruntime` follows the lowest vruntime queued and never goes back.
    pub(super) fn advance_min_vruntime(&mut self, ents: &[SchedEntity]) {
        let curr = self.running().map(|id| ents[id as usize].vruntime);
        let left = self.timeline.leftmost(None).map(|node| node.vruntime);
        if let Some(lowest) = curr.into_iter().chain(left).min() {
            self.vtime = self.vtime.max(lowest);
        }
    }

    pub(super) fn enter_cfs(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
        now: Ns,
        how: Enqueue,
    ) {
        if how == Enqueue::Fork && !ents[id as usize].rel_vruntime {
            self.fork_cfs(p, ents, id, now);
        }
        self.update_curr(p, ents, now);
        let e = &mut ents[id as usize];
        if std::mem::take(&mut e.rel_vruntime) {
            e.vruntime += self.vtime;
        }
        if how == Enqueue::Wakeup {
            self.credit_sleeper(p, e, now);
        }
    }

    /// Start of a new task on the queue of its parent, which runs.
    pub(super) fn fork_cfs(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
        now: Ns,
    ) {
        self.update_curr(p, ents, now);
        let parent = self
            .running()
            .map_or(0, |curr| ents[curr as usize].vruntime);
        let debit = match p.features.start_debit {
            true => {
                let e = &ents[id as usize];
                e.vdelta(self.slice_cfs(p, e))
            }
            false => 0,
        };
        ents[id as usize].vruntime = parent.max(self.vtime + debit);
    }

    /// A sleeper may lie a bounded time behind the others, but gains nothing by
    /// short sleeps.
    fn credit_sleeper(&self, p: &FairParams, e: &mut SchedEntity, now: Ns) {
        let credit = match e.is_idle() {
            true => p.min_granularity,
            false => p.latency,
        } >> u32::from(p.features.gentle_fair_sleepers);
        let bound = self.vtime - credit as i64;
        e.vruntime = match now.saturating_sub(e.exec_start) > LONG_SLEEP {
            true => bound,
            false => e.vruntime.max(bound),
        };
    }

    pub(super) fn leave_cfs(&mut self, ents: &mut [SchedEntity], id: TaskId, why: Dequeue) {
        self.remove(ents, id);
        if why == Dequeue::Migrate {
            let e = &mut ents[id as usize];
            e.vruntime -= self.vtime;
            e.rel_vruntime = true;
        }
        self.advance_min_vruntime(ents);
    }

    /// CPU time due to `e` in one period, by its share of the weight.
    fn slice_cfs(&self, p: &FairParams, e: &SchedEntity) -> Ns {
        let joining = !e.on_rq;
        let nr = self.nr_queued() + u32::from(joining);
        let period = match nr > p.nr_latency {
            true => u64::from(nr) * p.min_granularity,
            false => p.latency,
        };
        let weight = u64::from(e.weight);
        let total = self.weight + if joining { weight } else { 0 };
        let share = scale(period, weight, sum_inverse(total));
        let only_idle = self.nr_queued() == self.nr_idle;
        share.max(match e.is_idle() && !only_idle {
            true => p.idle_min_granularity,
            false => p.min_granularity,
        })
    }

    pub(super) fn tick_cfs(&mut self, p: &FairParams, ents: &[SchedEntity]) {
        let Some(id) = self.running().filter(|_| self.nr_queued() > 1) else {
            return;
        };
        let e = &ents[id as usize];
        let slice = self.slice_cfs(p, e);
        let ran = e.sum_exec - e.prev_sum_exec;
        if ran > slice {
            self.need_resched = true;
            self.clear_buddies(id);
        } else if ran >= p.min_granularity {
            let left = self.timeline.leftmost(None).map(|node| node.vruntime);
            // Virtual against real time, as in the kernel.
            self.need_resched |= left.is_some_and(|v| e.vruntime - v > slice as i64);
        }
    }

    /// Whether `c` may go on although `w` wants to run: 1 if `w` is further
    /// behind than the wakeup granularity, 0 if less, -1 if not behind.
    fn behind(p: &FairParams, ents: &[SchedEntity], c: TaskId, w: TaskId) -> i32 {
        let wakee = &ents[w as usize];
        let diff = ents[c as usize].vruntime - wakee.vruntime;
        if diff <= 0 {
            return -1;
        }
        i32::from(diff > wakee.vdelta(p.wakeup_granularity))
    }

    pub(super) fn pick_cfs(&self, p: &FairParams, ents: &[SchedEntity]) -> Option<TaskId> {
        let left = self.lowest_cfs(ents, None)?;
        let mut picked = left;
        if self.skip == Some(left)
            && let Some(second) = self.lowest_cfs(ents, Some(left))
            && Self::behind(p, ents, second, left) < 1
        {
            picked = second;
        }
        let fair = |id: &TaskId| Self::behind(p, ents, *id, left) < 1;
        let buddy = self.next.filter(fair).or(self.last.filter(fair));
        Some(buddy.unwrap_or(picked))
    }

    /// The lowest vruntime among waiting and running, leaving one out; the
    /// running one only if strictly lower.
    fn lowest_cfs(&self, ents: &[SchedEntity], without: Option<TaskId>) -> Option<TaskId> {
        let curr = self.running().filter(|&id| Some(id) != without);
        let Some(left) = self.timeline.leftmost(without) else {
            return curr;
        };
        match curr {
            Some(id) if ents[id as usize].vruntime < left.vruntime => curr,
            _ => Some(left.id),
        }
    }

    /// Wakeup preemption of `curr` by `wakee`.
    pub(super) fn preempt_cfs(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        (curr, wakee): (TaskId, TaskId),
        now: Ns,
        flags: WakeFlags,
    ) -> bool {
        let crowded = self.nr_queued() >= p.nr_latency;
        if p.features.next_buddy && crowded && !flags.fork {
            self.set_next_buddy(ents, wakee);
        }
        if self.need_resched {
            return false;
        }
        let (c, w) = (ents[curr as usize], ents[wakee as usize]);
        let outranked = c.is_idle() && !w.is_idle();
        if !outranked {
            if w.policy != Policy::Normal || !p.features.wakeup_preemption {
                return false;
            }
            self.update_curr(p, ents, now);
            if Self::behind(p, ents, curr, wakee) < 1 {
                return false;
            }
            self.set_next_buddy(ents, wakee);
        }
        if p.features.last_buddy && crowded && !c.is_idle() {
            self.last = Some(curr);
        }
        true
    }
}
