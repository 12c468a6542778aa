//! The fair class of one CPU with control groups: a tree of queues.
//!
//! ```text
//!  root queue:  task A   task B   ge(X)         pick: at the root, then down
//!                                   |           charge: at every level of the path
//!  queue of X:              task C  task D      enqueue, dequeue: up, as far as a
//!                                               queue fills or empties
//! ```
//!
//! Without groups there is one queue and no cost. A group's entity competes with
//! its share of the group's weight: the part that this CPU has in the group's
//! load ([`group_weight`]).
//!
//! Source: placement-and-pick.md 4 and 4.5. Simpler than the kernel: a task's
//! load in the root queue is its `load_avg` times the weights of its groups now,
//! not times their averages.

use super::arith::{GroupLoads, group_weight};
use super::cgroup::{CgroupId, EntityId, Owner, ROOT, Store};
use super::{
    Dequeue, Enqueue, FairParams, FairRq, PickRule, Policy, SchedEntity, TaskId, WakeFlags,
};
use crate::sim::CpuId;
use crate::sim::pelt::Pelt;
use crate::sim::time::{MS, Ns};

/// Least weight of a group's entity.
const LEAST_WEIGHT: u32 = 2;
/// A CPU tells its group of a change of load above 1/64 ...
const CONTRIB_SHARE: u64 = 64;
/// ... and at most this often.
const CONTRIB_PERIOD: Ns = MS;

/// Load of one group on one CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct GroupLoad {
    pelt: Pelt,
    /// Last told to the group.
    contrib: u64,
    told_at: Ns,
}

/// The fair class of one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FairTree {
    cpu: CpuId,
    /// One queue per group, the root's first.
    queues: Vec<FairRq>,
    /// Per group, the root's unused.
    loads: Vec<GroupLoad>,
    curr: Option<TaskId>,
    /// Group of `curr` when it was switched in; its slot may be another's by now.
    curr_group: CgroupId,
    nr_queued: u32,
    nr_runnable: u32,
    nr_idle: u32,
}

impl FairTree {
    /// Empty queues of `groups` groups on `cpu`.
    #[must_use]
    pub fn new(cpu: CpuId, groups: usize) -> Self {
        Self {
            cpu,
            queues: vec![FairRq::new(); groups],
            loads: vec![GroupLoad::default(); groups],
            curr: None,
            curr_group: ROOT,
            nr_queued: 0,
            nr_runnable: 0,
            nr_idle: 0,
        }
    }

    /// `cfs.h_nr_queued`: queued tasks, the running one and delayed ones included.
    #[inline]
    #[must_use]
    pub const fn nr_queued(&self) -> u32 {
        self.nr_queued
    }

    /// `cfs.h_nr_runnable`: the same without delayed ones.
    #[inline]
    #[must_use]
    pub const fn nr_runnable(&self) -> u32 {
        self.nr_runnable
    }

    /// `cfs.h_nr_idle`: queued tasks that are SCHED_IDLE or below an idle group.
    #[inline]
    #[must_use]
    pub const fn nr_idle(&self) -> u32 {
        self.nr_idle
    }

    /// Sum of the weights in the root queue.
    #[inline]
    #[must_use]
    pub fn weight_sum(&self) -> u64 {
        self.queues[0].weight_sum()
    }

    /// The queue of a group.
    #[must_use]
    pub fn queue(&self, group: CgroupId) -> &FairRq {
        &self.queues[usize::from(group)]
    }

    /// A reschedule is requested at some level.
    #[inline]
    #[must_use]
    pub fn need_resched(&self) -> bool {
        self.queues.iter().any(FairRq::need_resched)
    }

    /// Whether a queued task may be picked by its lag; true under CFS.
    #[must_use]
    pub fn eligible(&self, p: &FairParams, store: &Store, id: TaskId) -> bool {
        let queue = self.queue(store.group_of(id));
        p.rule == PickRule::Cfs61 || store.task(id).vruntime <= queue.average_vruntime(&store.ents)
    }

    /// Whether the task is the `next` buddy of its queue.
    #[must_use]
    pub fn is_next_buddy(&self, store: &Store, id: TaskId) -> bool {
        self.queue(store.group_of(id)).next == Some(store.of_task(id))
    }

    /// Puts a task on the queue.
    pub fn enqueue(
        &mut self,
        p: &FairParams,
        store: &mut Store,
        id: TaskId,
        now: Ns,
        how: Enqueue,
    ) {
        let group = store.group_of(id);
        let entity = store.of_task(id);
        self.touch_groups(store, group, now);
        let queue = &mut self.queues[usize::from(group)];
        queue.enqueue(p, &mut store.ents, entity, now, how);
        self.nr_queued += 1;
        self.nr_runnable += u32::from(!store.task(id).delayed);
        self.nr_idle += u32::from(store.counts_as_idle(id));
        self.fill(p, store, group, now);
    }

    /// Takes a task off the queue. False: it sleeps, but stays queued as delayed
    /// until a pick or its wakeup.
    pub fn dequeue(
        &mut self,
        p: &FairParams,
        store: &mut Store,
        id: TaskId,
        now: Ns,
        why: Dequeue,
    ) -> bool {
        let group = store.group_of(id);
        let entity = store.of_task(id);
        let was_delayed = store.task(id).delayed;
        self.touch_groups(store, group, now);
        let queue = &mut self.queues[usize::from(group)];
        if !queue.dequeue(p, &mut store.ents, entity, now, why) {
            self.nr_runnable -= 1;
            return false;
        }
        self.nr_queued -= 1;
        self.nr_runnable -= u32::from(!was_delayed);
        self.nr_idle -= u32::from(store.counts_as_idle(id));
        self.drain(p, store, group, now, why == Dequeue::Sleep);
        true
    }

    /// A delayed task wakes: it is runnable again where it is.
    pub fn wake_delayed(&mut self, p: &FairParams, store: &mut Store, id: TaskId, now: Ns) {
        let group = store.group_of(id);
        let entity = store.of_task(id);
        self.touch_groups(store, group, now);
        self.queues[usize::from(group)].wake_delayed(p, &mut store.ents, entity, now);
        self.nr_runnable += 1;
        self.fill(p, store, group, now);
    }

    /// A task running here creates `child`, which is put elsewhere
    /// ([`FairRq::fork_from`]).
    pub fn fork_from(&mut self, p: &FairParams, store: &mut Store, child: TaskId, now: Ns) {
        let entity = store.of_task(child);
        let queue = &mut self.queues[usize::from(store.group_of(child))];
        queue.fork_from(p, &mut store.ents, entity, now);
    }

    /// A sleeper that last ran here wakes elsewhere ([`FairRq::forget_sleeper`]).
    pub fn forget_sleeper(&self, p: &FairParams, store: &mut Store, id: TaskId) {
        let entity = store.of_task(id);
        self.queue(store.group_of(id))
            .forget_sleeper(p, &mut store.ents, entity);
    }

    /// Chooses who runs next and clears the request to reschedule. Delayed tasks
    /// met on the way leave the queue and are added to `gone`.
    pub fn pick_next(
        &mut self,
        p: &FairParams,
        store: &mut Store,
        now: Ns,
        gone: &mut Vec<TaskId>,
    ) -> Option<TaskId> {
        let mut left = Vec::new();
        let mut group = ROOT;
        loop {
            let queue = &mut self.queues[usize::from(group)];
            let picked = queue.pick_next(p, &mut store.ents, now, &mut left);
            for entity in left.drain(..) {
                if let Owner::Task(id) = store.owner(entity) {
                    self.nr_queued -= 1;
                    self.nr_idle -= u32::from(store.counts_as_idle(id));
                    gone.push(id);
                }
            }
            match picked.map(|entity| store.owner(entity)) {
                Some(Owner::Task(id)) => return Some(id),
                Some(Owner::Group(below)) => group = below,
                None if group == ROOT => return None,
                // Only delayed tasks were left in the group: it goes as well.
                None => {
                    self.drain(p, store, group, now, true);
                    group = ROOT;
                }
            }
        }
    }

    /// Makes `next` the running task; none: something else than a fair task runs.
    pub fn switch_to(&mut self, p: &FairParams, store: &mut Store, now: Ns, next: Option<TaskId>) {
        let stays = next.map_or(ROOT, |id| store.group_of(id));
        if self.curr_group != ROOT {
            let mut group = self.curr_group;
            while group != ROOT {
                let kept = store.chain(stays, self.cpu).any(|(on, _)| on == group);
                if !kept {
                    let queue = &mut self.queues[usize::from(group)];
                    queue.switch_to(p, &mut store.ents, now, None);
                }
                group = store.parent(group);
            }
        }
        self.curr = next;
        self.curr_group = stays;
        let Some(id) = next else {
            self.queues[0].switch_to(p, &mut store.ents, now, None);
            return;
        };
        let mut entity = store.of_task(id);
        let mut group = store.group_of(id);
        loop {
            let queue = &mut self.queues[usize::from(group)];
            queue.switch_to(p, &mut store.ents, now, Some(entity));
            if group == ROOT {
                return;
            }
            entity = store.of_group(group, self.cpu);
            group = store.parent(group);
        }
    }

    /// Decides whether the task `wakee`, enqueued just now, should run at once.
    pub fn check_preempt_wakeup(
        &mut self,
        p: &FairParams,
        store: &mut Store,
        wakee: TaskId,
        now: Ns,
        flags: WakeFlags,
    ) -> bool {
        let Some(curr) = self.curr else {
            return true;
        };
        let (group, c, w) = self.siblings(store, curr, wakee);
        if p.features.next_buddy && !flags.fork && !store.task(wakee).delayed {
            self.buddy_levels(store, wakee, group);
        }
        let (running, waking) = (&store.ents[c as usize], &store.ents[w as usize]);
        let outranked = running.is_idle() && !waking.is_idle();
        let meek = store.task(wakee).policy != Policy::Normal;
        if w != store.of_task(wakee) && meek && !outranked {
            return self.need_resched();
        }
        let queue = &mut self.queues[usize::from(group)];
        queue.check_preempt_wakeup(p, &mut store.ents, w, now, flags);
        self.need_resched()
    }

    /// The periodic tick while a fair task runs.
    pub fn tick(&mut self, p: &FairParams, store: &mut Store, now: Ns) {
        let Some(curr) = self.curr else { return };
        let mut group = store.group_of(curr);
        self.touch_groups(store, group, now);
        loop {
            self.queues[usize::from(group)].tick(p, &mut store.ents, now);
            if group == ROOT {
                return;
            }
            self.renew_weight(p, store, group, now);
            group = store.parent(group);
        }
    }

    /// The running task yields; schedule afterwards.
    pub fn yield_curr(&mut self, p: &FairParams, store: &mut Store, now: Ns) {
        if let Some(curr) = self.curr.filter(|_| self.nr_queued > 1) {
            let queue = &mut self.queues[usize::from(store.group_of(curr))];
            queue.yield_curr(p, &mut store.ents, now);
        }
    }

    /// Goes over to another picking rule with everything that is queued. Tasks
    /// that were delayed and cannot be under the new rule are added to `gone`.
    pub fn adopt(
        &mut self,
        from: &FairParams,
        to: &FairParams,
        store: &mut Store,
        now: Ns,
        gone: &mut Vec<TaskId>,
    ) {
        let mut left = Vec::new();
        // From the leaves up: a group that empties leaves its parent.
        for group in (0..self.queues.len()).rev() {
            let queue = &mut self.queues[group];
            queue.adopt(from, to, &mut store.ents, now, &mut left);
            for entity in left.drain(..) {
                if let Owner::Task(id) = store.owner(entity) {
                    self.nr_queued -= 1;
                    self.nr_idle -= u32::from(store.counts_as_idle(id));
                    gone.push(id);
                }
            }
            let empty = self.queues[group].nr_queued() == 0;
            if group > 0 && empty {
                let ge = store.of_group(group as CgroupId, self.cpu);
                let parent = usize::from(store.parent(group as CgroupId));
                if store.ents[ge as usize].on_rq && !store.ents[ge as usize].delayed {
                    let ents = &mut store.ents;
                    self.queues[parent].dequeue(from, ents, ge, now, Dequeue::Exit);
                }
            }
        }
    }

    /// What a task of this load adds to the load of the root queue.
    #[must_use]
    pub fn load_at_root(&self, store: &Store, id: TaskId, load: u64) -> u64 {
        let mut share = load;
        for (group, ge) in store.chain(store.group_of(id), self.cpu) {
            let weight = u64::from(store.ents[ge as usize].weight);
            let queued = self.queue(group).weight_sum();
            share = share * weight / queued.max(u64::from(store.task(id).weight)).max(1);
        }
        share
    }

    /// A task's load comes to its group's queue here, or leaves it.
    pub fn move_group_load(&mut self, store: &Store, id: TaskId, load: &Pelt, comes: bool) {
        let group = store.group_of(id);
        if group == ROOT {
            return;
        }
        let weight = store.task(id).weight;
        let pelt = &mut self.loads[usize::from(group)].pelt;
        if comes {
            // The task's own clock follows the root queue's.
            pelt.attach(&mut load.clone(), weight, load.load_avg);
        } else {
            pelt.detach(load);
        }
    }

    /// The two entities under the nearest common queue of two tasks.
    fn siblings(&self, store: &Store, a: TaskId, b: TaskId) -> (CgroupId, EntityId, EntityId) {
        let (mut group_a, mut group_b) = (store.group_of(a), store.group_of(b));
        let (mut a, mut b) = (store.of_task(a), store.of_task(b));
        // A group has a higher number than its parent.
        while group_a != group_b {
            if group_a > group_b {
                a = store.of_group(group_a, self.cpu);
                group_a = store.parent(group_a);
            } else {
                b = store.of_group(group_b, self.cpu);
                group_b = store.parent(group_b);
            }
        }
        (group_a, a, b)
    }

    /// Makes the wakee the buddy of every level but `without`, whose own check
    /// decides.
    fn buddy_levels(&mut self, store: &Store, wakee: TaskId, without: CgroupId) {
        let mut entity = store.of_task(wakee);
        let mut group = store.group_of(wakee);
        while group != ROOT {
            if group != without {
                self.queues[usize::from(group)].set_next_buddy(&store.ents, entity);
            }
            entity = store.of_group(group, self.cpu);
            group = store.parent(group);
        }
        if without != ROOT {
            self.queues[0].set_next_buddy(&store.ents, entity);
        }
    }

    /// Brings the load of a group and those above it up to now.
    fn touch_groups(&mut self, store: &Store, group: CgroupId, now: Ns) {
        for (group, _) in store.chain(group, self.cpu) {
            let queue = &self.queues[usize::from(group)];
            let (weight, tasks) = (queue.weight_sum(), u64::from(queue.nr_runnable()));
            let runs = queue.running().is_some();
            self.loads[usize::from(group)]
                .pelt
                .update(now, weight, tasks, runs, 1);
        }
    }

    /// A queue got a task: its group enters the queue above, and so on.
    fn fill(&mut self, p: &FairParams, store: &mut Store, group: CgroupId, now: Ns) {
        let mut group = group;
        while group != ROOT {
            let ge = store.of_group(group, self.cpu);
            let above = usize::from(store.parent(group));
            self.renew_weight(p, store, group, now);
            let state = store.ents[ge as usize];
            if !state.on_rq {
                self.queues[above].enqueue(p, &mut store.ents, ge, now, Enqueue::Wakeup);
            } else if state.delayed {
                self.queues[above].wake_delayed(p, &mut store.ents, ge, now);
            }
            group = store.parent(group);
        }
    }

    /// A queue lost a task: an empty one leaves the queue above, and so on.
    fn drain(
        &mut self,
        p: &FairParams,
        store: &mut Store,
        group: CgroupId,
        now: Ns,
        mut slept: bool,
    ) {
        let mut group = group;
        while group != ROOT {
            let ge = store.of_group(group, self.cpu);
            let above = usize::from(store.parent(group));
            if self.queues[usize::from(group)].nr_queued() == 0 {
                let queued = store.ents[ge as usize];
                let leaves = queued.on_rq && !queued.delayed;
                let ents = &mut store.ents;
                if leaves && !self.queues[above].dequeue(p, ents, ge, now, Dequeue::Sleep) {
                    return;
                }
            } else {
                self.renew_weight(p, store, group, now);
                if std::mem::take(&mut slept) {
                    // Its company goes on where it left off.
                    self.queues[above].set_next_buddy(&store.ents, ge);
                }
            }
            group = store.parent(group);
        }
    }

    /// Renews the weight and slice of a group's entity here.
    fn renew_weight(&mut self, p: &FairParams, store: &mut Store, group: CgroupId, now: Ns) {
        let queue = &self.queues[usize::from(group)];
        let spec = &store.groups()[usize::from(group)];
        let (shares, idle) = (spec.effective_shares(), spec.idle);
        let load = &mut self.loads[usize::from(group)];
        let total = &mut store.load_avg[usize::from(group)];
        tell(load, total, now);
        let scaled = group_weight(GroupLoads {
            shares: u64::from(shares),
            rq_weight: queue.weight_sum(),
            rq_load_avg: load.pelt.load_avg,
            contrib: load.contrib,
            tg_load_avg: *total,
        });
        let weight = ((scaled / 1024) as u32).max(LEAST_WEIGHT);
        let slice = queue.shortest_slice(&store.ents);
        let ge = store.of_group(group, self.cpu);
        if let Some(slice) = slice {
            store.ents[ge as usize].slice = slice;
            store.ents[ge as usize].custom_slice = true;
        }
        if store.ents[ge as usize].weight != weight {
            let above = usize::from(store.parent(group));
            let to = SchedEntity::group(weight, idle);
            self.queues[above].reweight(p, &mut store.ents, ge, now, to);
        }
    }
}

/// Tells a group what this CPU's queue of it weighs lately.
fn tell(load: &mut GroupLoad, total: &mut u64, now: Ns) {
    let now_load = load.pelt.load_avg;
    let changed = now_load.abs_diff(load.contrib) > load.contrib / CONTRIB_SHARE;
    if changed && now.saturating_sub(load.told_at) >= CONTRIB_PERIOD {
        *total = (*total + now_load).saturating_sub(load.contrib);
        load.contrib = now_load;
        load.told_at = now;
    }
}
