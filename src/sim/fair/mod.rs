//! The fair class of one CPU: which of its tasks runs, and for how long.
//!
//! Integer, exact and without side effects: the same calls give the same state.
//! The rules are those of EEVDF (several kernels) and of CFS, chosen by
//! [`PickRule`] and the switches in [`FairParams`].
//!
//! # Life cycle
//!
//! The owner keeps a store of [`SchedEntity`], indexed by [`TaskId`], and one
//! [`FairRq`] per CPU; it passes store and parameters along with each call.
//!
//! ```text
//!            enqueue(Fork)
//!   new ───────────────────▶ waiting ◀──────────────────────────┐
//!                             │   ▲                             │
//!            switch_to(it)    │   │ switch_to(other)            │ enqueue(Wakeup)
//!                             ▼   │                             │
//!                            running ── dequeue(Sleep) = true ──▶ asleep
//!                             │                                 ▲
//!                             └─ dequeue(Sleep) = false         │
//!                                     │                         │
//!                                     ▼                         │
//!        wake_delayed ◀──────────  delayed ── pick_next ────────┘
//!        (waiting again)     (asleep, queued)  lists it as gone
//! ```
//!
//! - After any call that can change the order of things ask
//!   [`FairRq::need_resched`]. If it is set, and always after a sleep, an exit or
//!   a yield, schedule: [`FairRq::pick_next`], then [`FairRq::switch_to`] with
//!   its answer (None: the idle task, or a task of another class). Keeping the
//!   running task is no switch: it gets no new slice protection.
//! - A woken task is enqueued first, then [`FairRq::check_preempt_wakeup`] asks
//!   whether it should run at once. The same after [`FairRq::wake_delayed`].
//! - At each tick while a task of the class runs: [`FairRq::tick`].
//! - Moving a waiting task: `dequeue(Migrate)` here, `enqueue(Migrate)` there. A
//!   delayed task stays delayed. A sleeper that wakes on another CPU first leaves
//!   this one's clock by [`FairRq::forget_sleeper`].
//!
//! # Virtual time
//!
//! EEVDF measures a task by its lag to V, the weighted average of all queued
//! vruntimes, rounded down; CFS by its distance to `min_vruntime`. When the queue
//! is empty V stays where the last task left it.
//!
//! Source: placement-and-pick.md 4.1, 6 and 7.

pub mod arith;
mod cfs;
mod eevdf;
mod entity;
mod mainline;
mod params;
mod timeline;

pub use entity::{Policy, SchedEntity, TaskId};
pub use params::{FairFeatures, FairParams, PickRule};

use super::time::Ns;
use arith::Average;
use timeline::Timeline;

/// Why a task enters a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueue {
    /// It was just created.
    Fork,
    /// It slept.
    Wakeup,
    /// It was moved while runnable, or its class or attributes changed.
    Migrate,
}

/// Why a task leaves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeue {
    /// It goes to sleep; the queue may keep it (`DELAY_DEQUEUE`).
    Sleep,
    /// It ends.
    Exit,
    /// It is moved while runnable, or its class or attributes change.
    Migrate,
}

/// Kind of a wakeup, for the preemption check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeFlags {
    /// First start of a new task.
    pub fork: bool,
    /// The waker says that it is about to sleep.
    pub sync: bool,
    /// The CPU was chosen by wakeup placement just now.
    pub selected: bool,
}

/// The fair class of one CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FairRq {
    /// Waiting entities; the running one is not in.
    timeline: Timeline,
    curr: Option<TaskId>,
    /// The running entity is queued: false from its sleep to the switch.
    curr_queued: bool,
    nr_delayed: u32,
    nr_idle: u32,
    weight: u64,
    next: Option<TaskId>,
    last: Option<TaskId>,
    skip: Option<TaskId>,
    need_resched: bool,
    /// `min_vruntime` of CFS; under EEVDF the last V, for an empty queue.
    vtime: i64,
}

impl FairRq {
    /// An empty queue at virtual time 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Queued entities, the running one and delayed ones included.
    #[inline]
    #[must_use]
    pub fn nr_queued(&self) -> u32 {
        self.timeline.len() as u32 + u32::from(self.curr_queued)
    }

    /// Queued entities without delayed ones.
    #[inline]
    #[must_use]
    pub fn nr_runnable(&self) -> u32 {
        self.nr_queued() - self.nr_delayed
    }

    /// Queued entities that are SCHED_IDLE.
    #[inline]
    #[must_use]
    pub fn nr_idle(&self) -> u32 {
        self.nr_idle
    }

    /// Sum of the weights of all queued entities.
    #[inline]
    #[must_use]
    pub fn weight_sum(&self) -> u64 {
        self.weight
    }

    /// The entity last switched in. It may have gone to sleep since.
    #[inline]
    #[must_use]
    pub fn curr(&self) -> Option<TaskId> {
        self.curr
    }

    /// Queued entities: the running one first, then in order of insertion.
    pub fn queued(&self) -> impl Iterator<Item = TaskId> {
        self.running()
            .into_iter()
            .chain(self.timeline.iter().map(|node| node.id))
    }

    /// Queued entities that wait: neither running nor delayed.
    pub fn waiting<'a>(&'a self, ents: &'a [SchedEntity]) -> impl Iterator<Item = TaskId> + 'a {
        let ids = self.timeline.iter().map(|node| node.id);
        ids.filter(|&id| !ents[id as usize].delayed)
    }

    /// A reschedule is requested. A pick or a switch clears the request.
    #[inline]
    #[must_use]
    pub fn need_resched(&self) -> bool {
        self.need_resched
    }

    /// V, or `min_vruntime` under CFS.
    #[must_use]
    pub fn virtual_time(&self, p: &FairParams, ents: &[SchedEntity]) -> i64 {
        match p.rule {
            PickRule::Cfs61 => self.vtime,
            _ => self.average_vruntime(ents),
        }
    }

    /// The running entity if it is queued.
    #[inline]
    fn running(&self) -> Option<TaskId> {
        self.curr.filter(|_| self.curr_queued)
    }

    /// Weighted average over all queued entities.
    #[inline]
    fn average(&self, ents: &[SchedEntity]) -> Average {
        let mut average = self.timeline.average;
        if let Some(id) = self.running() {
            let e = &ents[id as usize];
            average.add(e.vruntime, e.weight);
        }
        average
    }

    /// V over all queued entities.
    #[inline]
    fn average_vruntime(&self, ents: &[SchedEntity]) -> i64 {
        self.average(ents).floor().unwrap_or(self.vtime)
    }

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
            return true;
        }
        if why == Dequeue::Sleep && self.delays(p, ents, id) {
            return false;
        }
        self.leave(p, ents, id, why);
        true
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

    /// Whether the task `wakee`, enqueued just now, should run at once; requests
    /// the reschedule if so.
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
        preempt
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

    /// Takes a task off all counts; `ents` still says whether it is delayed.
    fn remove(&mut self, ents: &mut [SchedEntity], id: TaskId) {
        let e = &mut ents[id as usize];
        e.on_rq = false;
        self.weight -= u64::from(e.weight);
        self.nr_idle -= u32::from(e.is_idle());
        self.nr_delayed -= u32::from(e.delayed);
        if self.curr == Some(id) {
            self.curr_queued = false;
        } else {
            self.timeline.remove(id);
        }
    }

    fn clear_buddies(&mut self, id: TaskId) {
        for slot in [&mut self.next, &mut self.last, &mut self.skip] {
            if *slot == Some(id) {
                *slot = None;
            }
        }
    }

    /// Makes `id` the `next` buddy, which SCHED_IDLE entities never are.
    fn set_next_buddy(&mut self, ents: &[SchedEntity], id: TaskId) {
        if !ents[id as usize].is_idle() {
            self.next = Some(id);
        }
    }
}

#[cfg(test)]
mod tests;
