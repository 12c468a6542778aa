//! EEVDF as in 6.12, and what all EEVDF rules share: lag, placement, deadlines.
//!
//! Source: placement-and-pick.md 6.2 to 6.8; the branch of 2023 (6.11) is these
//! rules with features off.

use super::arith::inflate_lag;
use super::{Dequeue, FairParams, FairRq, PickRule, Policy, SchedEntity, TaskId, WakeFlags};
use crate::sim::time::Ns;

impl FairRq {
    /// Largest lag, either way, that `e` may keep when it leaves.
    fn lag_limit(&self, p: &FairParams, e: &SchedEntity) -> i64 {
        let span = if p.rule.is_mainline() {
            self.max_slice(e) + p.tick_ns
        } else {
            (2 * e.slice).max(p.tick_ns)
        };
        e.vdelta(span)
    }

    /// Lag of a queued entity, clamped as it would be kept.
    pub(super) fn clamped_lag(&self, p: &FairParams, ents: &[SchedEntity], id: TaskId) -> i64 {
        let e = &ents[id as usize];
        let lag = self.average_vruntime(ents) - e.vruntime;
        if !p.clamp_lag {
            return lag;
        }
        let limit = self.lag_limit(p, e);
        lag.clamp(-limit, limit)
    }

    /// Sets vruntime and deadline of an entity that is not counted in the queue.
    pub(super) fn place(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
        fork: bool,
    ) {
        let v = self.average_vruntime(ents);
        self.timeline.average.rebase(v);
        let e = &mut ents[id as usize];
        let slice = e.renew_slice(p);
        let lag = match p.features.place_lag && self.weight > 0 {
            true if p.inflate_lag => inflate_lag(e.vlag, self.weight, e.weight),
            true => e.vlag,
            false => 0,
        };
        e.vruntime = v - lag;
        // Left over if the rule was CFS until now.
        e.rel_vruntime = false;
        if std::mem::take(&mut e.rel_deadline) && p.features.place_rel_deadline {
            e.deadline += e.vruntime;
        } else if fork && p.features.place_deadline_initial {
            e.deadline = e.vruntime + slice / 2;
        } else {
            e.deadline = e.vruntime + slice;
        }
    }

    /// Ends the slice of the running task `id` if it is used up.
    pub(super) fn check_deadline(&mut self, p: &FairParams, ents: &mut [SchedEntity], id: TaskId) {
        let e = &mut ents[id as usize];
        let expired = e.vruntime >= e.deadline;
        if expired {
            let slice = e.renew_slice(p);
            e.deadline = e.vruntime + slice;
        }
        if self.nr_queued() > 1 && (expired || self.lost_its_claim(p, ents, id)) {
            self.need_resched = true;
            self.clear_buddies(id);
        }
    }

    /// Whether the running task should go although its slice is not over.
    fn lost_its_claim(&self, p: &FairParams, ents: &[SchedEntity], id: TaskId) -> bool {
        let e = &ents[id as usize];
        if p.rule.is_mainline() {
            return e.vruntime >= e.protect;
        }
        p.features.preempt_short
            && e.protect != e.deadline
            && !self.average(ents).eligible(e.vruntime)
    }

    /// A task going to sleep that has had more than its share stays queued, so
    /// that it works off the debt while it sleeps. True if so.
    pub(super) fn delays(&mut self, p: &FairParams, ents: &mut [SchedEntity], id: TaskId) -> bool {
        let vruntime = ents[id as usize].vruntime;
        if !p.features.delay_dequeue || self.average(ents).eligible(vruntime) {
            return false;
        }
        if p.rule.is_mainline() {
            ents[id as usize].vlag = self.clamped_lag(p, ents, id);
        }
        ents[id as usize].delayed = true;
        self.nr_delayed += 1;
        true
    }

    /// Takes a task off the queue and stores its lag.
    pub(super) fn leave(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
        why: Dequeue,
    ) {
        let v = self.average_vruntime(ents);
        let vlag = self.lag_to_keep(p, ents, id);
        self.remove(ents, id);
        self.vtime = v;
        self.timeline.average.rebase(v);
        let e = &mut ents[id as usize];
        e.vlag = vlag;
        if why == Dequeue::Migrate && p.features.place_rel_deadline {
            e.deadline -= e.vruntime;
            e.rel_deadline = true;
        }
    }

    fn lag_to_keep(&self, p: &FairParams, ents: &[SchedEntity], id: TaskId) -> i64 {
        let lag = self.clamped_lag(p, ents, id);
        let e = &ents[id as usize];
        if !e.delayed {
            return lag;
        }
        let lag = match p.rule.is_mainline() {
            true => lag.max(e.vlag),
            false => lag,
        };
        match p.features.delay_zero {
            true => lag.min(0),
            false => lag,
        }
    }

    /// A delayed task wakes: with `DELAY_ZERO` it must not keep lag that it
    /// gained asleep, and is placed anew at V.
    pub(super) fn requeue(&mut self, p: &FairParams, ents: &mut [SchedEntity], id: TaskId) {
        let gained = self.average_vruntime(ents) - ents[id as usize].vruntime > 0;
        if p.features.delay_zero && gained {
            self.replace(p, ents, id, 0);
        }
    }

    /// Takes a queued entity out and places it again with this lag.
    pub(super) fn replace(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
        vlag: i64,
    ) {
        let running = self.curr == Some(id);
        self.vtime = self.average_vruntime(ents);
        let weight = u64::from(ents[id as usize].weight);
        self.weight -= weight;
        if running {
            self.curr_queued = false;
        } else {
            self.timeline.remove(id);
        }
        ents[id as usize].vlag = vlag;
        self.place(p, ents, id, false);
        self.weight += weight;
        if running {
            self.curr_queued = true;
        } else {
            self.timeline.insert(id, &ents[id as usize]);
        }
    }

    /// The `next` buddy, if the pick honours it and it is eligible.
    pub(super) fn buddy(&self, p: &FairParams, ents: &[SchedEntity]) -> Option<TaskId> {
        let id = self.next.filter(|_| p.features.pick_buddy)?;
        let eligible = self.average(ents).eligible(ents[id as usize].vruntime);
        eligible.then_some(id)
    }

    /// The pick without buddy.
    pub(super) fn pick_eevdf(&self, p: &FairParams, ents: &[SchedEntity]) -> Option<TaskId> {
        if self.nr_queued() == 1 {
            return self.queued().next();
        }
        let v = self.average_vruntime(ents);
        let curr = self.eligible_curr(ents, v);
        if let Some(id) = curr {
            let e = &ents[id as usize];
            if p.features.run_to_parity && e.protect == e.deadline {
                return curr;
            }
        }
        self.earlier_deadline(ents, v, curr)
    }

    /// The running task if it is queued and eligible.
    pub(super) fn eligible_curr(&self, ents: &[SchedEntity], v: i64) -> Option<TaskId> {
        self.running().filter(|&id| ents[id as usize].vruntime <= v)
    }

    /// The earliest deadline among eligible waiting entities, or `curr` if its
    /// own is strictly earlier.
    pub(super) fn earlier_deadline(
        &self,
        ents: &[SchedEntity],
        v: i64,
        curr: Option<TaskId>,
    ) -> Option<TaskId> {
        let Some(best) = self.timeline.earliest_deadline(v) else {
            return curr;
        };
        match curr {
            Some(id) if ents[id as usize].deadline < best.deadline => curr,
            _ => Some(best.id),
        }
    }

    /// Wakeup preemption of `curr` by `wakee`.
    pub(super) fn preempt_eevdf(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        (curr, wakee): (TaskId, TaskId),
        now: Ns,
        flags: WakeFlags,
    ) -> bool {
        if p.features.next_buddy && !flags.fork && !ents[wakee as usize].delayed {
            self.set_next_buddy(ents, wakee);
        }
        if self.need_resched || !p.features.wakeup_preemption {
            return false;
        }
        let w = ents[wakee as usize];
        let c = &mut ents[curr as usize];
        if c.is_idle() && !w.is_idle() {
            if p.rule == PickRule::Eevdf612 {
                c.protect = i64::MIN;
            }
            return true;
        }
        if c.is_idle() != w.is_idle() || w.policy != Policy::Normal {
            return false;
        }
        self.update_curr(p, ents, now);
        if p.features.preempt_short && self.is_shorter(ents, curr, wakee) {
            ents[curr as usize].protect = i64::MIN;
        }
        self.pick_eevdf(p, ents) == Some(wakee)
    }

    /// Whether the wakee's slice is shorter and it could be picked before `curr`.
    fn is_shorter(&self, ents: &[SchedEntity], curr: TaskId, wakee: TaskId) -> bool {
        let (c, w) = (&ents[curr as usize], &ents[wakee as usize]);
        let average = self.average(ents);
        w.slice < c.slice
            && average.eligible(w.vruntime)
            && (w.deadline < c.deadline || !average.eligible(c.vruntime))
    }

    /// The running task gives the rest of its slice away.
    pub(super) fn yield_eevdf(&mut self, p: &FairParams, ents: &mut [SchedEntity], id: TaskId) {
        let early = matches!(p.rule, PickRule::Eevdf612First | PickRule::Eevdf2023);
        let eligible = self.average(ents).eligible(ents[id as usize].vruntime);
        let e = &mut ents[id as usize];
        if early {
            e.deadline += e.vdelta(e.slice);
        } else if eligible {
            e.vruntime = e.deadline;
            e.deadline += e.vdelta(e.slice);
        }
    }

    /// Moves a queued entity so that its lag and the rest of its slice, both in
    /// CPU time, are the same at weight `to`.
    pub(super) fn rescale(
        &mut self,
        p: &FairParams,
        ents: &mut [SchedEntity],
        id: TaskId,
        to: u32,
    ) {
        let v = self.average_vruntime(ents);
        let lag = self.clamped_lag(p, ents, id);
        let e = &mut ents[id as usize];
        let rescale =
            |span: i64| (i128::from(span) * i128::from(e.weight) / i128::from(to.max(1))) as i64;
        (e.vruntime, e.deadline) = (v - rescale(lag), v + rescale(e.deadline - v));
    }

    /// Largest slice among `e` and all waiting entities.
    fn max_slice(&self, e: &SchedEntity) -> Ns {
        let longest = self.timeline.iter().map(|node| node.slice).max();
        longest.unwrap_or(0).max(e.slice)
    }

    /// Smallest slice among `e` and all waiting entities.
    pub(super) fn min_slice(&self, e: &SchedEntity) -> Ns {
        let shortest = self.timeline.iter().map(|node| node.slice).min();
        shortest.unwrap_or(Ns::MAX).min(e.slice)
    }
}
