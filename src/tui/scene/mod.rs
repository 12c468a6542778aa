//! The world reduced to the plain rows that the panes draw.
//!
//! ```text
//! World, History, Flashes --build--> Scene --draw--> buffer
//! ```
//!
//! Panes see nothing of the simulator: a scene can be made by hand in a test.

mod build;
mod explain;
mod shape;

use std::sync::Arc;

use crate::sim::{CpuId, Ns};

pub use build::{Columns, build, sample};
pub use explain::explain;
pub use shape::{LlcShape, NodeShape, Place, Shape};

/// Everything on the main screen.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The boxes.
    pub shape: Arc<Shape>,
    /// One per CPU.
    pub cells: Vec<Cell>,
    /// The header line.
    pub header: Header,
    /// Who is idle while others wait, and why.
    pub waste: Waste,
    /// The level table.
    pub levels: Levels,
    /// The charts.
    pub charts: Charts,
    /// The selected CPU.
    pub cpu: CpuDetail,
    /// The task classes.
    pub classes: Vec<ClassRow>,
}

/// What a CPU does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Not online.
    Offline,
    /// Idle.
    Idle,
    /// Idle while a task it could run waits.
    Starved,
    /// Searching for work.
    Search,
    /// Running a task of this class.
    Run(usize),
    /// Spinning at a barrier in a task of this class.
    Spin(usize),
}

/// A short-lived mark on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flash {
    /// A task came from this CPU by balancing.
    Pulled(CpuId),
    /// A newidle search found nothing.
    Missed,
}

/// One CPU in the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What it does.
    pub doing: Doing,
    /// Tasks on its runqueue, the running one included.
    pub nr_running: u32,
    /// What just happened here.
    pub flash: Option<Flash>,
}

/// The header line.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// Machine id.
    pub topology: String,
    /// Workload id; with a star if the mix was changed.
    pub workload: String,
    /// Kernel name; with a star if rules were changed.
    pub kernel: String,
    /// Policy name.
    pub policy: String,
    /// Seed.
    pub seed: u64,
    /// Simulated time.
    pub now: Ns,
    /// Asked speed, as text.
    pub speed: String,
    /// Speed reached, when the asked one cannot be kept.
    pub reached: Option<String>,
    /// Paused.
    pub paused: bool,
}

/// Who is idle while others wait, and why.
#[derive(Clone, Debug, Default)]
pub struct Waste {
    /// Idle CPUs.
    pub idle: usize,
    /// Of those, idle while a task they could run waits.
    pub starved: usize,
    /// Tasks waiting on runqueues.
    pub waiting: u64,
    /// How the last newidle entry of the starved CPUs ended: words and how
    /// many CPUs, most first.
    pub why: Vec<(&'static str, usize)>,
    /// Mean number of starved CPUs over the last bins of the charts.
    pub lately: Option<f64>,
    /// The first starved CPU, by the kernel's number.
    pub example: Option<u32>,
}

/// The level table.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    /// Whose numbers: `48 CPUs` or `CPU 17`.
    pub scope: String,
    /// Per second instead of since the start.
    pub rates: bool,
    /// Lowest level first.
    pub columns: Vec<LevelColumn>,
    /// Mean `avg_idle`, ns.
    pub avg_idle: Ns,
    /// Newidle entries.
    pub entries: u64,
}

/// One domain level.
#[derive(Clone, Debug, Default)]
pub struct LevelColumn {
    /// Name, such as `MC`.
    pub name: String,
    /// CPUs in the span (largest, if they differ).
    pub span: u32,
    /// Mean success ratio, 1024ths; none if the policy keeps none.
    pub ratio: Option<u32>,
    /// Its history, oldest first; none where nothing was recorded.
    pub history: Vec<Option<u32>>,
    /// Newidle calls.
    pub calls: u64,
    /// Passes run.
    pub runs: u64,
    /// Tasks pulled.
    pub pulls: u64,
    /// Walks ended: nobody overloaded.
    pub not_overloaded: u64,
    /// Walks ended by the cost gate.
    pub cost_gate: u64,
    /// Calls the policy skipped.
    pub policy: u64,
    /// Mean `max_newidle_lb_cost`, ns.
    pub max_cost: Ns,
    /// CPUs whose `avg_idle` is below their `max_newidle_lb_cost` here.
    pub closed: usize,
    /// CPUs that have this level.
    pub cpus: usize,
}

/// Charts over simulated time.
#[derive(Clone, Debug, Default)]
pub struct Charts {
    /// Simulated time per bin.
    pub bin: Ns,
    /// Right edge.
    pub end: Ns,
    /// The charts.
    pub series: Vec<Series>,
}

/// One chart.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// What, in a word.
    pub title: String,
    /// What, in a line.
    pub long: String,
    /// Unit of the values.
    pub unit: String,
    /// Bins, oldest first; none = nothing recorded.
    pub bins: Vec<Option<f64>>,
}

/// The selected CPU.
#[derive(Clone, Debug, Default)]
pub struct CpuDetail {
    /// The kernel's number.
    pub os_id: u32,
    /// Its place: core, LLC, node.
    pub place: String,
    /// What it does now.
    pub doing: String,
    /// Average idle period.
    pub avg_idle: Ns,
    /// Most expensive walk.
    pub max_idle_balance_cost: Ns,
    /// Its domains, lowest first.
    pub domains: Vec<DomainRow>,
    /// The last newidle outcome, in one or more sentences.
    pub last_newidle: Vec<String>,
    /// What each level's ratio means for the next call, a sentence each.
    pub chances: Vec<String>,
    /// The last pull, in a sentence.
    pub last_pull: String,
    /// Share of time idle, idle beside waiting tasks, and in newidle: percent.
    pub shares: [f64; 3],
}

/// One domain of the selected CPU.
#[derive(Clone, Debug, Default)]
pub struct DomainRow {
    /// Level name.
    pub name: String,
    /// CPUs in the kernel's list form.
    pub span: String,
    /// Success ratio.
    pub ratio: Option<u32>,
    /// `max_newidle_lb_cost`, ns.
    pub max_cost: Ns,
    /// Newidle calls, passes run, tasks pulled.
    pub counts: [u64; 3],
}

/// One task class.
#[derive(Clone, Debug, Default)]
pub struct ClassRow {
    /// Letter in the grid.
    pub letter: char,
    /// Name.
    pub name: String,
    /// Tasks asked for.
    pub count: u32,
    /// Share taking part, thousandths.
    pub share_permille: u32,
    /// Rate, percent.
    pub intensity_pct: u32,
    /// Tasks alive.
    pub alive: u32,
    /// Clients elsewhere.
    pub external: bool,
    /// Units done.
    pub done: u64,
    /// Unit.
    pub unit: String,
    /// Units per simulated second over the charts' span.
    pub rate: Option<f64>,
}
