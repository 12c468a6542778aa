//! State of one CPU's fair class, what can be asked of it, and its bookkeeping.

use super::arith::Average;
use super::timeline::Timeline;
use super::{FairParams, PickRule, SchedEntity, TaskId};
use crate::sim::time::Ns;

/// The fair class of one CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FairRq {
    /// Waiting entities; the running one is not in.
    pub(super) timeline: Timeline,
    pub(super) curr: Option<TaskId>,
    /// The running entity is queued: false from its sleep to the switch.
    pub(super) curr_queued: bool,
    pub(super) nr_delayed: u32,
    pub(super) nr_idle: u32,
    pub(super) weight: u64,
    pub(super) next: Option<TaskId>,
    pub(super) last: Option<TaskId>,
    pub(super) skip: Option<TaskId>,
    pub(super) need_resched: bool,
    /// `min_vruntime` of CFS; under EEVDF the last V, for an empty queue.
    pub(super) vtime: i64,
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

    /// The entity last switched in, unless it has left since.
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
    pub(super) fn running(&self) -> Option<TaskId> {
        self.curr.filter(|_| self.curr_queued)
    }

    /// Weighted average over all queued entities.
    #[inline]
    pub(super) fn average(&self, ents: &[SchedEntity]) -> Average {
        let mut average = self.timeline.average;
        if let Some(id) = self.running() {
            let e = &ents[id as usize];
            average.add(e.vruntime, e.weight);
        }
        average
    }

    /// V over all queued entities.
    #[inline]
    pub(super) fn average_vruntime(&self, ents: &[SchedEntity]) -> i64 {
        self.average(ents).floor().unwrap_or(self.vtime)
    }

    /// The shortest slice of all queued entities; none if there are none.
    pub(super) fn shortest_slice(&self, ents: &[SchedEntity]) -> Option<Ns> {
        let waiting = self.timeline.iter().map(|node| node.slice);
        let running = self.running().map(|id| ents[id as usize].slice);
        waiting.chain(running).min()
    }

    /// Takes a task off all counts; `ents` still says whether it is delayed.
    pub(super) fn remove(&mut self, ents: &mut [SchedEntity], id: TaskId) {
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

    pub(super) fn clear_buddies(&mut self, id: TaskId) {
        for slot in [&mut self.next, &mut self.last, &mut self.skip] {
            if *slot == Some(id) {
                *slot = None;
            }
        }
    }

    /// Makes `id` the `next` buddy, which SCHED_IDLE entities never are.
    pub(super) fn set_next_buddy(&mut self, ents: &[SchedEntity], id: TaskId) {
        if !ents[id as usize].is_idle() {
            self.next = Some(id);
        }
    }
}
