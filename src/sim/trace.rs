//! The event stream: what the scheduler did, in order.

use serde::Serialize;

use super::task::TaskId;
use super::{CpuId, Ns};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    /// A CPU switched to `task`.
    Switch,
    /// A CPU switched to the idle task.
    Idle,
    /// `task` was put on the runqueue of a CPU by a wakeup; arg: CPU it last
    /// used.
    Wakeup,
    /// `task` blocked.
    Block,
    /// `task` was created on a CPU.
    Fork,
    /// `task` left.
    Exit,
    /// Balancing moved `task` to a CPU; arg: CPU it came from.
    Pull,
    /// A CPU entered newidle balance.
    NewidleStart,
    /// A newidle pass ended; arg: level x 2 + whether it pulled.
    NewidlePass,
    /// The policy skipped a domain; arg: level.
    NewidleSkip,
    /// The first or second cost gate ended the walk; arg: level.
    NewidleCostGate,
    /// Newidle did not walk: nothing is overloaded.
    NewidleNotOverloaded,
    /// A periodic, nohz or active balance pass ran; arg: level.
    BalancePass,
}

/// One entry of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TraceEvent {
    /// When.
    pub at: Ns,
    /// What.
    pub kind: TraceKind,
    /// On which CPU.
    pub cpu: CpuId,
    /// Which task, where one is meant.
    pub task: Option<TaskId>,
    /// More, as the kind says.
    pub arg: u64,
}

/// Hash of the whole event stream so far, and optionally its latest entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    hash: u64,
    recording: bool,
    recorded: Vec<TraceEvent>,
}

/// 2^64 over the golden ratio, odd: a multiplier that mixes all bits upward.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for Trace {
    fn default() -> Self {
        Self {
            hash: MULTIPLIER,
            recording: false,
            recorded: Vec::new(),
        }
    }
}

impl Trace {
    /// Adds an entry.
    pub fn emit(&mut self, event: TraceEvent) {
        let what = (event.kind as u64) << 56
            | u64::from(event.cpu.0) << 40
            | u64::from(event.task.map_or(0, |task| task + 1));
        for word in [event.at, what, event.arg] {
            self.hash = (self.hash ^ word).wrapping_mul(MULTIPLIER).rotate_left(29);
        }
        if self.recording {
            self.recorded.push(event);
        }
    }

    /// Hash of every entry since the start.
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether entries are kept for [`Trace::take`].
    pub fn record(&mut self, on: bool) {
        self.recording = on;
        self.recorded.clear();
    }

    /// Entries kept since the last call.
    pub fn take(&mut self) -> Vec<TraceEvent> {
        std::mem::take(&mut self.recorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_depends_on_every_field_and_on_the_order() {
        let base = TraceEvent {
            at: 5,
            kind: TraceKind::Switch,
            cpu: CpuId(1),
            task: Some(0),
            arg: 0,
        };
        let hash = |events: &[TraceEvent]| {
            let mut trace = Trace::default();
            events.iter().for_each(|&e| trace.emit(e));
            trace.hash()
        };
        let variants = [
            base,
            TraceEvent { at: 6, ..base },
            TraceEvent {
                kind: TraceKind::Idle,
                ..base
            },
            TraceEvent {
                cpu: CpuId(2),
                ..base
            },
            TraceEvent { task: None, ..base },
            TraceEvent { arg: 1, ..base },
        ];
        let mut hashes: Vec<u64> = variants.iter().map(|&e| hash(&[e])).collect();
        hashes.push(hash(&[variants[0], variants[1]]));
        hashes.push(hash(&[variants[1], variants[0]]));
        let all = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), all);
    }
}
