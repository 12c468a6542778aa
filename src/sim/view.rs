//! Read-only views of a world, for drawing and printing.

use super::gate::GateState;
use super::stats::{CpuStats, NewidleStats, SdStats};
use super::time::Ns;
use super::workload::ClassId;
use super::{CpuId, domain::LevelName};

/// What a CPU is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Not online.
    Offline,
    /// The idle task.
    Idle,
    /// Searching for work before going idle.
    Newidle,
    /// Running a task of this class.
    Run(ClassId),
    /// Running a task of this class that spins at a barrier.
    Spin(ClassId),
}

/// A task moved to a CPU by balancing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pull {
    /// When.
    pub at: Ns,
    /// From which CPU.
    pub from: CpuId,
    /// Class of the task.
    pub class: ClassId,
    /// Pulled by newidle (else periodic, nohz or active balance).
    pub newidle: bool,
}

/// How the last newidle entry of a CPU ended: the answer to "why is it idle".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewidleOutcome {
    /// When the entry began.
    pub at: Ns,
    /// `avg_idle` as the gates saw it.
    pub avg_idle: Ns,
    /// Levels whose pass ran; bit `i` is the `i`-th domain of the chain.
    pub searched: u32,
    /// Levels the policy skipped, likewise.
    pub skipped: u32,
    /// What ended the walk.
    pub end: NewidleEnd,
}

/// What ended a newidle walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewidleEnd {
    /// `rd->overloaded` was clear: no walk.
    NotOverloaded,
    /// The cost gate, before the domain of this index.
    CostGate {
        /// Index in the CPU's chain.
        level: usize,
        /// What `avg_idle` was below: time spent so far plus
        /// `max_newidle_lb_cost` of the domain.
        cost: Ns,
    },
    /// The top was reached and nothing pulled.
    Nothing,
    /// A task was pulled by the pass at the domain of this index.
    Pulled {
        /// Index in the CPU's chain.
        level: usize,
    },
    /// A wakeup arrived during the walk.
    Woken,
}

/// One CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuView<'a> {
    /// What it does.
    pub activity: Activity,
    /// Tasks on its runqueue, the running one included.
    pub nr_running: u32,
    /// Idle at this moment while a task it could run waits on a runqueue.
    pub idle_beside_waiting: bool,
    /// Running average of its idle periods.
    pub avg_idle: Ns,
    /// Most expensive newidle walk.
    pub max_idle_balance_cost: Ns,
    /// Last task pulled here.
    pub last_pull: Option<Pull>,
    /// Last newidle search here that found nothing.
    pub last_miss: Option<Ns>,
    /// How the last newidle entry here ended.
    pub last_newidle: Option<NewidleOutcome>,
    /// Counters.
    pub stats: &'a CpuStats,
    /// Newidle counters of the whole walk.
    pub newidle: &'a NewidleStats,
}

/// One domain of one CPU.
#[derive(Clone, Copy, Debug)]
pub struct DomainView<'a> {
    /// Level name.
    pub name: LevelName,
    /// CPUs in the span.
    pub span_weight: u32,
    /// Gate state: ratio, cost, window.
    pub gate: &'a GateState,
    /// Failed passes in a row.
    pub nr_balance_failed: u32,
    /// Balance interval now, ms.
    pub balance_interval_ms: u32,
    /// Counters.
    pub stats: &'a SdStats,
}

/// One class of the mix.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassView<'a> {
    /// Name.
    pub name: &'a str,
    /// Letter in the grid.
    pub letter: char,
    /// Size of the class as the mix now asks.
    pub count: u32,
    /// Part of it taking part, thousandths.
    pub share_permille: u32,
    /// Rate in percent.
    pub intensity_pct: u32,
    /// Tasks alive.
    pub alive: u32,
    /// Not tasks of this machine, but clients elsewhere.
    pub external: bool,
    /// Unit of `done`.
    pub unit: &'a str,
    /// Units done.
    pub done: u64,
}
