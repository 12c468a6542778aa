//! The waiting entities of one runqueue, in order of insertion.
//!
//! The kernel keeps a tree; queues here are short, so one pass over a packed
//! list is faster and its order settles ties for free: of equal keys the first
//! in the list was inserted first. Each node copies the keys of its entity, so
//! that a pick reads one run of memory and not the whole store.

use super::arith::Average;
use super::entity::{SchedEntity, TaskId};
use crate::sim::time::Ns;

/// Keys of a waiting entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) id: TaskId,
    pub(super) weight: u32,
    pub(super) vruntime: i64,
    pub(super) deadline: i64,
    pub(super) slice: Ns,
}

impl Node {
    fn of(id: TaskId, e: &SchedEntity) -> Self {
        Self {
            id,
            weight: e.weight,
            vruntime: e.vruntime,
            deadline: e.deadline,
            slice: e.slice,
        }
    }
}

/// The list and the weighted average of its vruntimes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Timeline {
    nodes: Vec<Node>,
    pub(super) average: Average,
}

impl Timeline {
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    pub(super) fn insert(&mut self, id: TaskId, e: &SchedEntity) {
        self.average.add(e.vruntime, e.weight);
        self.nodes.push(Node::of(id, e));
    }

    /// Takes `id` out if it is in.
    pub(super) fn remove(&mut self, id: TaskId) {
        if let Some(at) = self.nodes.iter().position(|n| n.id == id) {
            // Not swap_remove: the order of the rest settles ties.
            let node = self.nodes.remove(at);
            self.average.remove(node.vruntime, node.weight);
        }
    }

    /// Renews the copied keys of `id` without changing its place in the order.
    pub(super) fn refresh(&mut self, id: TaskId, e: &SchedEntity) {
        if let Some(node) = self.nodes.iter_mut().find(|n| n.id == id) {
            self.average.remove(node.vruntime, node.weight);
            *node = Node::of(id, e);
            self.average.add(node.vruntime, node.weight);
        }
    }

    /// Of the entities not beyond `v`, the one with the earliest deadline.
    pub(super) fn earliest_deadline(&self, v: i64) -> Option<&Node> {
        let mut best: Option<&Node> = None;
        for node in &self.nodes {
            if node.vruntime <= v && best.is_none_or(|b| node.deadline < b.deadline) {
                best = Some(node);
            }
        }
        best
    }

    /// The entity with the lowest vruntime, leaving out `without`.
    pub(super) fn leftmost(&self, without: Option<TaskId>) -> Option<&Node> {
        let mut best: Option<&Node> = None;
        for node in &self.nodes {
            if Some(node.id) != without && best.is_none_or(|b| node.vruntime < b.vruntime) {
                best = Some(node);
            }
        }
        best
    }
}
