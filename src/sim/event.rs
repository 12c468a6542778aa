//! The event queue.
//!
//! Events are handled one at a time in the order of `(time, class, number)`:
//! earlier first; at one instant by class as listed at [`EventKind`]; inside a
//! class in the order they were put in. This is the whole tie rule, so a run
//! depends on nothing else.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::task::TaskRef;
use super::{CpuId, Ns};

/// What happens. The order of the variants is the order at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// The sleep of a task is over: its timer fires on the CPU it last ran on.
    Timer(TaskRef),
    /// An interrupt on a CPU wakes a task.
    Irq(CpuId, TaskRef),
    /// Wakeups sent to a CPU arrive there.
    WakeArrive(CpuId),
    /// The CPU is done with what it was doing.
    CpuDone(CpuId),
    /// The stopper of a CPU runs: active balance.
    Stopper(CpuId),
    /// The timer tick of a CPU.
    Tick(CpuId),
}

impl EventKind {
    const fn class(self) -> u64 {
        match self {
            Self::Timer(_) => 0,
            Self::Irq(..) => 1,
            Self::WakeArrive(_) => 2,
            Self::CpuDone(_) => 3,
            Self::Stopper(_) => 4,
            Self::Tick(_) => 5,
        }
    }
}

/// A scheduled event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time: Ns,
    /// Class in the upper byte, number below.
    rank: u64,
    /// What.
    pub kind: EventKind,
}

impl Ord for Event {
    /// Reversed, so that the heap's maximum is the next event.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.rank).cmp(&(self.time, self.rank))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Bits of [`Event::rank`] below the class.
const NUMBER_BITS: u32 = 56;

/// Events to come.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Event>,
    number: u64,
}

impl EventQueue {
    /// Puts an event in.
    pub fn push(&mut self, time: Ns, kind: EventKind) {
        self.number += 1;
        let rank = kind.class() << NUMBER_BITS | self.number;
        self.heap.push(Event { time, rank, kind });
    }

    /// Takes the next event out.
    pub fn pop(&mut self) -> Option<Event> {
        self.heap.pop()
    }

    /// The next event.
    pub fn peek(&self) -> Option<Event> {
        self.heap.peek().copied()
    }
}

/// Equal if they would give the same events in the same order; the heap's inner
/// order does not matter.
impl PartialEq for EventQueue {
    fn eq(&self, other: &Self) -> bool {
        let sorted = |queue: &Self| queue.heap.clone().into_sorted_vec();
        self.number == other.number && sorted(self) == sorted(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_by_class_and_then_by_order_of_arrival() {
        let cpu = CpuId(3);
        let mut queue = EventQueue::default();
        queue.push(5, EventKind::Tick(cpu));
        queue.push(5, EventKind::CpuDone(cpu));
        queue.push(5, EventKind::WakeArrive(cpu));
        queue.push(5, EventKind::WakeArrive(CpuId(1)));
        queue.push(4, EventKind::Tick(cpu));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|e| e.kind).collect();
        assert_eq!(
            order,
            [
                EventKind::Tick(cpu),
                EventKind::WakeArrive(cpu),
                EventKind::WakeArrive(CpuId(1)),
                EventKind::CpuDone(cpu),
                EventKind::Tick(cpu),
            ]
        );
    }
}
