//! Going over from one picking rule to another while tasks are queued.
//!
//! No kernel does this. What is kept is each task's place in virtual time: CFS
//! and EEVDF measure it alike, from V or from `min_vruntime`.

use super::{Dequeue, FairParams, FairRq, PickRule, SchedEntity, TaskId};
use crate::sim::time::Ns;

impl FairRq {
    /// Goes over from one rule to another. Entities that were delayed and cannot
    /// be under the new rule leave; they are added to `gone`.
    pub fn adopt(
        &mut self,
        from: &FairParams,
        to: &FairParams,
        ents: &mut [SchedEntity],
        now: Ns,
        gone: &mut Vec<TaskId>,
    ) {
        self.update_curr(from, ents, now);
        (self.next, self.last, self.skip) = (None, None, None);
        match (from.rule == PickRule::Cfs61, to.rule == PickRule::Cfs61) {
            (false, true) => self.become_cfs(from, ents, gone),
            (true, false) => self.become_eevdf(to, ents),
            _ => {}
        }
        if let Some(id) = self.running() {
            // Protected up to its deadline under every rule.
            ents[id as usize].protect = ents[id as usize].deadline;
        }
    }

    fn become_cfs(&mut self, from: &FairParams, ents: &mut [SchedEntity], gone: &mut Vec<TaskId>) {
        let queued: Vec<TaskId> = self.queued().collect();
        for id in queued {
            if ents[id as usize].delayed {
                self.leave(from, ents, id, Dequeue::Sleep);
                ents[id as usize].delayed = false;
                gone.push(id);
            }
        }
        let lowest = self.queued().map(|id| ents[id as usize].vruntime).min();
        self.vtime = lowest.unwrap_or(self.vtime);
    }

    fn become_eevdf(&mut self, to: &FairParams, ents: &mut [SchedEntity]) {
        let queued: Vec<TaskId> = self.queued().collect();
        for id in queued {
            let e = &mut ents[id as usize];
            let slice = e.renew_slice(to);
            (e.vlag, e.rel_deadline) = (0, false);
            e.deadline = e.vruntime + slice;
            self.timeline.refresh(id, e);
        }
        let v = self.average_vruntime(ents);
        self.timeline.average.rebase(v);
    }
}
