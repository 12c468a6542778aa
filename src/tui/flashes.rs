//! Marks that stay on the screen for a moment: a pull lasts nanoseconds in the
//! simulation, but must be seen.
//!
//! The clock of the marks runs only while the simulation does, so a paused
//! screen keeps them; each single step makes those of the step before fade.

use crate::sim::view::CpuView;
use crate::sim::{CpuId, Ns};

use super::scene::Flash;

/// How long a mark is shown, ms of wall time.
const HOLD_MS: u64 = 300;

#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    pull_seen: Option<Ns>,
    miss_seen: Option<Ns>,
    shown: Option<(Flash, u64)>,
}

/// Marks of all CPUs.
#[derive(Clone, Debug, Default)]
pub struct Flashes {
    marks: Vec<Mark>,
    clock_ms: u64,
}

impl Flashes {
    /// No marks, for this many CPUs.
    pub fn new(nr_cpus: usize) -> Self {
        Self {
            marks: vec![Mark::default(); nr_cpus],
            clock_ms: 0,
        }
    }

    /// Wall time passes while the simulation runs.
    pub fn elapse(&mut self, ms: u64) {
        self.clock_ms += ms;
    }

    /// A single step: older marks fade at once.
    pub fn fade(&mut self) {
        self.clock_ms += HOLD_MS;
    }

    /// Notes what is new on a CPU.
    pub fn observe(&mut self, cpu: CpuId, view: &CpuView<'_>) {
        let Some(mark) = self.marks.get_mut(cpu.index()) else {
            return;
        };
        let pulled = view.last_pull.filter(|p| mark.pull_seen != Some(p.at));
        let missed = view.last_miss.filter(|at| mark.miss_seen != Some(*at));
        if let Some(at) = missed {
            mark.miss_seen = Some(at);
            mark.shown = Some((Flash::Missed, self.clock_ms));
        }
        if let Some(pull) = pulled {
            mark.pull_seen = Some(pull.at);
            mark.shown = Some((Flash::Pulled(pull.from), self.clock_ms));
        }
    }

    /// The mark of a CPU, while it lasts.
    pub fn of(&self, cpu: CpuId) -> Option<Flash> {
        let (flash, since) = self.marks.get(cpu.index())?.shown?;
        (self.clock_ms < since + HOLD_MS).then_some(flash)
    }
}
