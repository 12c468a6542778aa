//! Control groups: the tree of task groups and every entity of the machine.
//!
//! Each group has, on each CPU, a queue of its own and one entity that stands
//! for it in its parent's queue. All entities live in one [`Store`]: those of
//! the groups first, then those of the tasks, so that a queue can hold both
//! under one kind of id.
//!
//! Source: placement-and-pick.md 4.4 and 4.5.

use super::entity::{Policy, SchedEntity, TaskId};
use crate::sim::CpuId;

/// Index of a group; 0 is the root.
pub type CgroupId = u16;
/// Index of an entity in the store.
pub(super) type EntityId = u32;

/// The root group.
pub const ROOT: CgroupId = 0;
/// Shares of a group with `cpu.idle`.
const IDLE_SHARES: u32 = 3;

/// A control group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// Name for people.
    pub name: String,
    /// The group above; a group comes behind its parent.
    pub parent: CgroupId,
    /// What all its CPUs together may have against its siblings: 1024 is a
    /// `cpu.weight` of 100.
    pub shares: u32,
    /// `cpu.idle`: runs only in the gaps of its siblings.
    pub idle: bool,
}

impl Cgroup {
    /// The root of a tree.
    #[must_use]
    pub fn root() -> Self {
        Self {
            name: "root".into(),
            parent: ROOT,
            shares: 1_024,
            idle: false,
        }
    }

    /// Shares that count.
    pub(super) const fn effective_shares(&self) -> u32 {
        if self.idle { IDLE_SHARES } else { self.shares }
    }
}

/// Every entity of a machine and the tree of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    groups: Vec<Cgroup>,
    nr_cpus: u32,
    /// Entities of groups come before this.
    first_task: u32,
    pub(super) ents: Vec<SchedEntity>,
    /// Group of each task.
    group_of: Vec<CgroupId>,
    /// `tg.load_avg` of each group.
    pub(super) load_avg: Vec<u64>,
}

impl Store {
    /// No task yet; `groups` begins with the root.
    #[must_use]
    pub fn new(groups: Vec<Cgroup>, nr_cpus: usize) -> Self {
        let ents = groups[1..]
            .iter()
            .flat_map(|group| {
                let ge = SchedEntity::group(group.effective_shares(), group.idle);
                std::iter::repeat_n(ge, nr_cpus)
            })
            .collect::<Vec<_>>();
        Self {
            load_avg: vec![0; groups.len()],
            first_task: ents.len() as u32,
            nr_cpus: nr_cpus as u32,
            ents,
            group_of: Vec::new(),
            groups,
        }
    }

    /// The groups, the root first.
    #[must_use]
    pub fn groups(&self) -> &[Cgroup] {
        &self.groups
    }

    /// Puts a new task into slot `id` (the next free one, or a used one).
    pub fn put(&mut self, id: TaskId, entity: SchedEntity, group: CgroupId) {
        if id as usize == self.group_of.len() {
            self.ents.push(entity);
            self.group_of.push(group);
        } else {
            *self.task_mut(id) = entity;
            self.group_of[id as usize] = group;
        }
    }

    /// A task's entity.
    #[inline]
    #[must_use]
    pub fn task(&self, id: TaskId) -> &SchedEntity {
        &self.ents[(self.first_task + id) as usize]
    }

    /// A task's entity.
    #[inline]
    pub fn task_mut(&mut self, id: TaskId) -> &mut SchedEntity {
        &mut self.ents[(self.first_task + id) as usize]
    }

    /// The entity of a group on a CPU; the root has none.
    #[must_use]
    pub fn group_entity(&self, group: CgroupId, cpu: CpuId) -> &SchedEntity {
        &self.ents[self.of_group(group, cpu) as usize]
    }

    /// A task's group.
    #[inline]
    #[must_use]
    pub fn group_of(&self, id: TaskId) -> CgroupId {
        self.group_of[id as usize]
    }

    /// Whether the root counts the task as SCHED_IDLE: by its policy, or because
    /// it lies below a group with `cpu.idle`.
    #[inline]
    #[must_use]
    pub fn counts_as_idle(&self, id: TaskId) -> bool {
        if self.task(id).policy == Policy::Idle {
            return true;
        }
        let mut group = self.group_of(id);
        while group != ROOT {
            if self.groups[usize::from(group)].idle {
                return true;
            }
            group = self.parent(group);
        }
        false
    }

    #[inline]
    pub(super) const fn of_task(&self, id: TaskId) -> EntityId {
        self.first_task + id
    }

    pub(super) const fn of_group(&self, group: CgroupId, cpu: CpuId) -> EntityId {
        (group as u32 - 1) * self.nr_cpus + cpu.0 as u32
    }

    pub(super) fn parent(&self, group: CgroupId) -> CgroupId {
        self.groups[usize::from(group)].parent
    }

    /// The group an entity stands for, or the task it is of.
    pub(super) const fn owner(&self, entity: EntityId) -> Owner {
        match entity.checked_sub(self.first_task) {
            Some(task) => Owner::Task(task),
            None => Owner::Group((entity / self.nr_cpus + 1) as CgroupId),
        }
    }

    /// Groups from `group` up to below the root, with the entity of each.
    pub(super) fn chain(
        &self,
        group: CgroupId,
        cpu: CpuId,
    ) -> impl Iterator<Item = (CgroupId, EntityId)> {
        let mut at = group;
        std::iter::from_fn(move || {
            let here = (at != ROOT).then_some((at, at))?.0;
            at = self.parent(here);
            Some((here, self.of_group(here, cpu)))
        })
    }
}

/// What an entity stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Task(TaskId),
    Group(CgroupId),
}
