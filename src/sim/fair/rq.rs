//! What happens to a runqueue: the calls of its owner, dispatched by rule.

use super::{Dequeue, Enqueue, FairParams, FairRq, PickRule, SchedEntity, TaskId, WakeFlags};
use crate::sim::time::Ns;

impl FairRq {
    /// Charges the running task for the time since it was last charged, which is
    /// returned. May request a reschedule.
    pub fn update_curr(&mut self, p: &FairParams, ents: &mut [SchedEntity], now: Ns) -> Ns {
        let Some(id) = self.running() else {
            return 0;
        };
        let e = &mut ents[id as usize];
        let ran = now.saturating_sub(e.exec_start);
        if ran == 0 {
            return 0;
        }
        e.exec_start = now;
        e.sum_exec += ran;
        e.vruntime += e.vdelta(ran);
        match p.rule {
            PickRule::Cfs61 => self.advance_min_vruntime(ents),
            _ => self.check_deadline(p, ents, id),
        }
        ran
    }

    /// Puts a task on the queue. Charges the running one first.
    pub fn enqueue(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
        now: Ns,
        how: Enqueue,
    ) {
        match p.rule {
            PickRule::Cfs61 => self.enter_cfs(p, ents, id, now, how),
            _ => {
                self.update_curr(p, ents, now);
                self.place(p, ents, id, how == Enqueue::Fork);
            }
        }
        let e = &mut ents[id as usize];
        e.on_rq = true;
        self.weight += u64::from(e.weight);
        self.nr_idle += u32::from(e.is_idle());
        self.nr_delayed += u32::from(e.delayed);
        if self.curr == Some(id) {
            self.curr_queued = true;
        } else {
            self.timeline.insert(id, e);
        }
    }

    /// Takes a task off the queue. False: it sleeps, but stays queued as delayed
    /// until a pick or its wakeup.
    pub fn dequeue(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
        now: Ns,
        why: Dequeue,
    ) -> bool {
        self.update_curr(p, ents, now);
        self.clear_buddies(id);
        if p.rule == PickRule::Cfs61 {
            self.leave_cfs(ents, id, why);
        } else if why == Dequeue::Sleep && self.delays(p, ents, id) {
            return false;
        } else {
            self.leave(p, ents, id, why);
        }
        if why != Dequeue::Migrate {
            self.forget_running(id);
            ents[id as usize].delayed = false;
        }
        true
    }

    /// The running entity left for good: should it come back before anyone else
    /// has run, it must be switched in anew, or it would be charged for the time
    /// between.
    fn forget_running(&mut self, id: TaskId) {
        self.curr = self.curr.filter(|&curr| curr != id);
    }

    /// A delayed task wakes: it is runnable again where it is.
    pub fn wake_delayed(&mut self, p: &FairParams, ents: &mut [SchedEntity], id: TaskId, now: Ns) {
        if p.rule.is_mainline() {
            self.update_curr(p, ents, now);
            self.requeue_mainline(p, ents, id);
        } else {
            // 6.12 uses V as of the last charge of the running task.
            self.requeue(p, ents, id);
        }
        ents[id as usize].delayed = false;
        self.nr_delayed -= 1;
    }

    /// A task running here creates `child`: gives it its start on this queue
    /// (CFS), which `enqueue(Fork)` on another takes over. Needed only if it is
    /// put elsewhere; EEVDF needs nothing.
    pub fn fork_from(&mut self, p: &FairParams, ents: &mut [SchedEntity], child: TaskId, now: Ns) {
        if p.rule == PickRule::Cfs61 {
            self.fork_cfs(p, ents, child, now);
            self.forget_sleeper(p, ents, child);
        }
    }

    /// A sleeping task that last ran here is about to wake elsewhere: makes its
    /// vruntime relative to this queue (CFS), so that the other can add its own.
    /// EEVDF carries lag instead and needs nothing.
    pub fn forget_sleeper(&self, p: &FairParams, ents: &mut [SchedEntity], id: TaskId) {
        let e = &mut ents[id as usize];
        if p.rule == PickRule::Cfs61 && !e.rel_vruntime {
            e.vruntime -= self.vtime;
            e.rel_vruntime = true;
        }
    }

    /// Chooses who runs next and clears the request to reschedule. Delayed tasks
    /// met on the way finally leave the queue; they are added to `gone`.
    pub fn pick_next(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        now: Ns,
        gone: &mut Vec<TaskId>,
    ) -> Option<TaskId> {
        self.update_curr(p, ents, now);
        let picked = loop {
            let Some(id) = self.pick(p, ents) else {
                break None;
            };
            if !ents[id as usize].delayed {
                break Some(id);
            }
            self.clear_buddies(id);
            self.leave(p, ents, id, Dequeue::Sleep);
            self.forget_running(id);
            ents[id as usize].delayed = false;
            gone.push(id);
        };
        self.need_resched = false;
        picked
    }

    fn pick(&self, p: &FairParams, ents: &[SchedEntity]) -> Option<TaskId> {
        match p.rule {
            PickRule::Cfs61 => self.pick_cfs(p, ents),
            rule if rule.is_mainline() => self.pick_mainline(p, ents, true),
            _ => self.buddy(p, ents).or_else(|| self.pick_eevdf(p, ents)),
        }
    }

    /// Makes `next` the running task; the present one, if still queued, waits
    /// again. None: something else than a fair task runs. No effect if `next`
    /// runs already.
    pub fn switch_to(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        now: Ns,
        next: Option<TaskId>,
    ) {
        if self.curr != next {
            self.update_curr(p, ents, now);
            if let Some(prev) = self.running() {
                self.timeline.insert(prev, &ents[prev as usize]);
            }
            self.curr = next;
            self.curr_queued = next.is_some();
            if let Some(id) = next {
                self.switch_in(p, ents, id, now);
            }
        }
        self.need_resched = false;
    }

    fn switch_in(&mut self, p: &FairParams, ents: &mut [SchedEntity], id: TaskId, now: Ns) {
        self.timeline.remove(id);
        self.clear_buddies(id);
        let e = &mut ents[id as usize];
        e.exec_start = now;
        e.prev_sum_exec = e.sum_exec;
        e.protect = if p.rule.is_mainline() {
            self.protected_until(p, e)
        } else {
            e.deadline
        };
    }

    /// Decides whether the task `wakee`, enqueued just now, should run at once.
    /// True if a reschedule is requested: by this, or by a slice that ended as
    /// the running task was charged.
    pub fn check_preempt_wakeup(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        wakee: TaskId,
        now: Ns,
        flags: WakeFlags,
    ) -> bool {
        let preempt = match self.running() {
            None => true,
            Some(curr) if curr == wakee => false,
            Some(curr) => match p.rule {
                PickRule::Cfs61 => self.preempt_cfs(p, ents, (curr, wakee), now, flags),
                rule if rule.is_mainline() => {
                    self.preempt_mainline(p, ents, (curr, wakee), now, flags)
                }
                _ => self.preempt_eevdf(p, ents, (curr, wakee), now, flags),
            },
        };
        self.need_resched |= preempt;
        self.need_resched
    }

    /// The periodic tick while a task of the class runs.
    pub fn tick(&mut self, p: &FairParams, ents: &mut [SchedEntity], now: Ns) {
        self.update_curr(p, ents, now);
        if p.rule == PickRule::Cfs61 {
            self.tick_cfs(p, ents);
        }
    }

    /// The running task yields (`sched_yield`); schedule afterwards. Nothing
    /// happens to a task that is alone.
    pub fn yield_curr(&mut self, p: &FairParams, ents: &mut [SchedEntity], now: Ns) {
        let Some(id) = self.running() else {
            return;
        };
        if self.nr_queued() == 1 {
            return;
        }
        self.clear_buddies(id);
        self.update_curr(p, ents, now);
        match p.rule {
            PickRule::Cfs61 => self.skip = Some(id),
            _ => self.yield_eevdf(p, ents, id),
        }
    }

    /// Gives a queued or sleeping entity another weight, such as a group's share.
    /// Its lag in CPU time and the rest of its slice stay; V does not move.
    /// Source: placement-and-pick.md 4.5.
    pub fn reweight(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
        now: Ns,
        to: SchedEntity,
    ) {
        self.update_curr(p, ents, now);
        let queued = ents[id as usize].on_rq;
        if queued && p.rule != PickRule::Cfs61 {
            self.rescale(p, ents, id, to.weight);
        }
        let e = &mut ents[id as usize];
        if queued {
            self.weight = self.weight - u64::from(e.weight) + u64::from(to.weight);
            self.nr_idle = self.nr_idle - u32::from(e.is_idle()) + u32::from(to.is_idle());
        }
        e.weight = to.weight;
        e.inverse = to.inverse;
        e.policy = to.policy;
        self.timeline.refresh(id, e);
    }
}
