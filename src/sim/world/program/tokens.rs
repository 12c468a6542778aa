//! Queues of tokens: how tasks send each other work and answers.

use std::collections::VecDeque;

use super::Flow;
use crate::sim::task::{Place, Step, TaskId, TaskRef};
use crate::sim::workload::{ClassId, QueueId, Workload};
use crate::sim::world::World;

/// Tokens of one queue and the tasks waiting for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::sim::world) struct TokenQueue {
    /// Senders, oldest first.
    tokens: VecDeque<TaskRef>,
    /// Waiting tasks, oldest first.
    waiters: VecDeque<TaskRef>,
}

/// The queues of a workload, before any task exists. A queue that every task of a
/// class has of its own gets its instances as they come.
pub(in crate::sim::world) fn token_queues(workload: &Workload) -> Vec<Vec<TokenQueue>> {
    let one = || vec![TokenQueue::default()];
    workload.queues.iter().map(|_| one()).collect()
}

impl World {
    /// Takes a token, or every token; else the task has to wait.
    pub(super) fn wait(&mut self, id: TaskId, queue: QueueId, all: bool) -> Flow {
        if self.take_tokens(id, queue, all) {
            self.tasks[id as usize].pc += 1;
            return Flow::Next;
        }
        let me = self.task_ref(id);
        let instance = self.instance(id, queue);
        self.queues[queue][instance].waiters.push_back(me);
        self.tasks[id as usize].step = Step::Waiting(queue);
        Flow::Block
    }

    fn take_tokens(&mut self, id: TaskId, queue: QueueId, all: bool) -> bool {
        let instance = self.instance(id, queue);
        let tokens = &mut self.queues[queue][instance].tokens;
        let number = if all {
            tokens.len()
        } else {
            tokens.len().min(1)
        };
        let taken = &mut self.tasks[id as usize].taken;
        taken.clear();
        taken.extend(tokens.drain(..number));
        number > 0
    }

    /// Puts a token of `sender` in a queue; returns a waiter to be woken.
    pub(super) fn send_token(&mut self, sender: TaskId, queue: QueueId) -> Option<TaskRef> {
        let token = self.task_ref(sender);
        let instance = self.instance(sender, queue);
        let inbox = &mut self.queues[queue][instance];
        inbox.tokens.push_back(token);
        inbox.waiters.pop_front()
    }

    /// Instance of a queue that a task uses: the only one; its own; or that of
    /// one of the owners there are, the same one as long as they stay.
    fn instance(&self, id: TaskId, queue: QueueId) -> usize {
        let Some(owner) = self.workload.queues[queue].per else {
            return 0;
        };
        let task = &self.tasks[id as usize];
        if task.class == owner {
            return task.index as usize;
        }
        let owners = &self.classes[owner].tasks;
        // Without owners tokens collect in the first instance.
        let own = |owner: &TaskRef| self.tasks[owner.id as usize].index as usize;
        owners
            .get(task.index as usize % owners.len().max(1))
            .map_or(0, own)
    }

    /// Queues that each task of this class has of its own.
    fn queues_of(&self, class: ClassId) -> Vec<QueueId> {
        let queues = self.workload.queues.iter().enumerate();
        let own = queues.filter(|(_, queue)| queue.per == Some(class));
        own.map(|(queue, _)| queue).collect()
    }

    /// A task of this class and index comes: it gets its queues, and the first of
    /// the class what was sent while there was none.
    pub(in crate::sim::world) fn open_queues(&mut self, class: ClassId, index: u32) {
        let index = index as usize;
        let first = self.classes[class].tasks.len() == 1;
        for queue in self.queues_of(class) {
            let instances = &mut self.queues[queue];
            instances.resize(instances.len().max(index + 1), TokenQueue::default());
            if first {
                let mut left = VecDeque::new();
                for instance in instances.iter_mut() {
                    left.append(&mut instance.tokens);
                }
                instances[index].tokens = left;
            }
        }
    }

    /// A task of this class and index is gone: what lies in its queues goes to
    /// another of the class.
    pub(in crate::sim::world) fn close_queues(&mut self, class: ClassId, index: u32) {
        for queue in self.queues_of(class) {
            let left = std::mem::take(&mut self.queues[queue][index as usize].tokens);
            for token in left {
                if self.alive(token).is_none() {
                    continue;
                }
                let instance = self.instance(token.id, queue);
                let inbox = &mut self.queues[queue][instance];
                inbox.tokens.push_back(token);
                if let Some(waiter) = inbox.waiters.pop_front() {
                    self.wake_without_waker(waiter);
                }
            }
        }
    }

    /// Answers the senders taken last; those that wait already are to be woken.
    pub(super) fn reply(&mut self, id: TaskId) {
        let senders = std::mem::take(&mut self.tasks[id as usize].taken);
        self.tasks[id as usize].pc += 1;
        for &sender in senders.iter().rev() {
            let Some(sender_id) = self.alive(sender) else {
                continue;
            };
            let task = &mut self.tasks[sender_id as usize];
            task.replied = true;
            if task.step == Step::Awaiting {
                if task.place == Place::External {
                    self.external_answered(sender_id);
                } else {
                    self.tasks[id as usize].to_wake.push(sender);
                }
            }
        }
    }

    pub(super) fn await_reply(&mut self, id: TaskId) -> Flow {
        let task = &mut self.tasks[id as usize];
        if std::mem::take(&mut task.replied) {
            task.pc += 1;
            task.step = Step::Start;
            return Flow::Next;
        }
        task.step = Step::Awaiting;
        Flow::Block
    }

    /// Takes a task out of whatever it waits on.
    pub(in crate::sim::world) fn forget_waiting(&mut self, id: TaskId) {
        let me = self.task_ref(id);
        if let Step::Waiting(queue) = self.tasks[id as usize].step {
            for instance in &mut self.queues[queue] {
                instance.waiters.retain(|&other| other != me);
            }
        }
    }

    /// Whether a blocked task is about to be woken: its token is there or its
    /// answer was given.
    pub(in crate::sim::world) fn wakeup_under_way(&self, id: TaskId) -> bool {
        let task = &self.tasks[id as usize];
        match task.step {
            Step::Waiting(queue) => {
                let me = self.task_ref(id);
                let waits = |instance: &TokenQueue| instance.waiters.contains(&me);
                !self.queues[queue].iter().any(waits)
            }
            Step::Awaiting => task.replied,
            _ => false,
        }
    }
}
