//! Queues of tokens: how tasks send each other work and answers.

use std::collections::VecDeque;

use super::Flow;
use crate::sim::task::{Place, Step, TaskId, TaskRef};
use crate::sim::workload::{QueueId, Workload};
use crate::sim::world::World;

/// Tokens of one queue and the tasks waiting for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::sim::world) struct TokenQueue {
    /// Senders, oldest first.
    tokens: VecDeque<TaskRef>,
    /// Waiting tasks, oldest first.
    waiters: VecDeque<TaskRef>,
}

/// Queue instances of a workload, before any task exists.
pub(in crate::sim::world) fn token_queues(workload: &Workload) -> Vec<Vec<TokenQueue>> {
    let instances =
        |per: Option<usize>| per.map_or(1, |class| workload.classes[class].count.max(1));
    let queues = workload.queues.iter();
    queues
        .map(|q| vec![TokenQueue::default(); instances(q.per) as usize])
        .collect()
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

    /// Instance of a queue that a task uses.
    fn instance(&self, id: TaskId, queue: QueueId) -> usize {
        self.tasks[id as usize].index as usize % self.queues[queue].len()
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
            let instance = self.instance(id, queue);
            self.queues[queue][instance]
                .waiters
                .retain(|&other| other != me);
        }
    }

    /// Whether a blocked task is about to be woken: its token is there or its
    /// answer was given.
    pub(in crate::sim::world) fn wakeup_under_way(&self, id: TaskId) -> bool {
        let task = &self.tasks[id as usize];
        match task.step {
            Step::Waiting(queue) => {
                let me = self.task_ref(id);
                !self.queues[queue][self.instance(id, queue)]
                    .waiters
                    .contains(&me)
            }
            Step::Awaiting => task.replied,
            _ => false,
        }
    }
}
