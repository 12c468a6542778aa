//! Per-CPU state.

use std::collections::VecDeque;

use crate::sim::fair::FairTree;
use crate::sim::idle::{INITIAL_AVG_IDLE_NS, MIGRATION_COST_NS};
use crate::sim::pelt::Pelt;
use crate::sim::stats::{CpuStats, NewidleStats};
use crate::sim::task::{TaskId, TaskRef};
use crate::sim::time::Ns;
use crate::sim::topology::{CAPACITY_SCALE, Cpu, CpuId};
use crate::sim::view::{NewidleOutcome, Pull};

/// What a CPU is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuState {
    /// Never used.
    Offline,
    /// In the idle task.
    Idle,
    /// Searching for work; current is still the task that blocked.
    Newidle,
    /// Running a task.
    Running,
}

/// A newidle walk up the domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// When it began.
    pub began: Ns,
    /// Level in the chain that is searched now.
    pub level: usize,
    /// Cost of the domains already searched.
    pub curr_cost: Ns,
    /// End of the last domain searched.
    pub t0: Ns,
    /// What a success at this level is worth.
    pub weight: u32,
    /// Due time of the nearest domain, jiffies.
    pub next_balance: u64,
    /// Whether this pass holds the `SD_SERIALIZE` token.
    pub holds_token: bool,
    /// `avg_idle` when the walk began.
    pub avg_idle: Ns,
    /// Levels searched, a bit each.
    pub searched: u32,
    /// Levels the policy skipped, a bit each.
    pub skipped: u32,
}

/// A runqueue and what else a CPU keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Rq {
    /// Fair tasks.
    pub fair: FairTree,
    /// SCHED_FIFO tasks, the next one first: they run before every fair task,
    /// each until it blocks.
    pub fifo: VecDeque<TaskId>,
    /// Tasks of the scheduler that stands in for the fair class, the running one
    /// included.
    pub ext_tasks: Vec<TaskId>,
    /// Those of them that wait for this CPU alone, the next one first.
    pub local: VecDeque<TaskId>,
    /// The task switched in last; it may have blocked since.
    pub curr: Option<TaskId>,
    /// How much SCHED_FIFO tasks have run lately: capacity that is not there for
    /// fair tasks.
    pub fifo_pelt: Pelt,
    /// What the CPU is in the middle of.
    pub state: CpuState,
    /// Load tracking of the queue, blocked tasks included.
    pub pelt: Pelt,
    /// `cfs_tasks`: coldest first, most recently enqueued or picked last.
    pub cfs_tasks: Vec<TaskId>,
    /// Up to when the current task's work is accounted.
    pub seg_start: Ns,
    /// Time to pass before the current task's work goes on: switch, interrupts.
    pub overhead: Ns,
    /// When the current activity ends; `Ns::MAX` = never by itself.
    pub due: Ns,
    /// Time of the live `CpuDone` event; `Ns::MAX` = none.
    pub armed: Ns,
    /// Speed of work now, of 1024.
    pub speed: u64,
    /// A `Tick` event is pending.
    pub tick_armed: bool,
    /// A reschedule was asked for while it could not be done at once.
    pub need_resched: bool,
    /// The running task's program goes on just now: it cannot be preempted.
    pub in_program: bool,
    /// Wakeups sent here and not yet arrived.
    pub wake_list: Vec<TaskRef>,
    /// Task that blocked and is still switched out (`on_cpu`), during newidle.
    pub leaving: Option<TaskRef>,
    /// Start of the idle period being measured; 0 = none.
    pub idle_stamp: Ns,
    /// Running average of idle periods.
    pub avg_idle: Ns,
    /// Most expensive newidle walk; at least [`MIGRATION_COST_NS`].
    pub max_idle_balance_cost: Ns,
    /// Earliest next periodic balance, jiffies.
    pub next_balance: u64,
    /// The newidle walk under way.
    pub walk: Walk,
    /// Active balance: the CPU to push the running task to.
    pub push_cpu: Option<CpuId>,
    /// In `nohz.idle_cpus_mask`: its tick is stopped.
    pub nohz: bool,
    /// When it went idle.
    pub idle_since: Ns,
    /// schedstat.
    pub stats: CpuStats,
    /// Newidle entries and what became of them.
    pub newidle: NewidleStats,
    /// Last task pulled here.
    pub last_pull: Option<Pull>,
    /// Last newidle search here that found nothing.
    pub last_miss: Option<Ns>,
    /// How the last newidle entry ended.
    pub last_newidle: Option<NewidleOutcome>,
}

impl Rq {
    /// A CPU at boot.
    pub fn new(id: CpuId, cpu: &Cpu, groups: usize) -> Self {
        Self {
            fair: FairTree::new(id, groups),
            fifo: VecDeque::new(),
            ext_tasks: Vec::new(),
            local: VecDeque::new(),
            curr: None,
            fifo_pelt: Pelt::default(),
            state: if cpu.online {
                CpuState::Idle
            } else {
                CpuState::Offline
            },
            pelt: Pelt::default(),
            cfs_tasks: Vec::new(),
            seg_start: 0,
            overhead: 0,
            due: Ns::MAX,
            armed: Ns::MAX,
            speed: u64::from(cpu.speed),
            tick_armed: false,
            need_resched: false,
            in_program: false,
            wake_list: Vec::new(),
            leaving: None,
            idle_stamp: 0,
            avg_idle: INITIAL_AVG_IDLE_NS,
            max_idle_balance_cost: MIGRATION_COST_NS,
            next_balance: 0,
            walk: Walk::default(),
            push_cpu: None,
            nohz: cpu.online,
            idle_since: 0,
            stats: CpuStats::default(),
            newidle: NewidleStats::default(),
            last_pull: None,
            last_miss: None,
            last_newidle: None,
        }
    }
}

impl Rq {
    /// The task on the CPU; none in idle and newidle.
    pub fn running(&self) -> Option<TaskId> {
        self.curr.filter(|_| self.state == CpuState::Running)
    }
}

/// What others read of a CPU: one cache line each, so that a statistics pass
/// over many CPUs stays cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hot {
    /// Tasks on the runqueue, the running one included.
    pub nr_running: u32,
    /// `cfs.h_nr_queued`: fair ones, delayed ones included.
    pub h_nr_queued: u32,
    /// `cfs.h_nr_runnable`: fair ones without delayed ones.
    pub h_nr_runnable: u32,
    /// `cfs.h_nr_idle`: SCHED_IDLE ones.
    pub h_nr_idle: u32,
    /// A wakeup is on its way here.
    pub ttwu_pending: bool,
    /// From when the idle task is current; `Ns::MAX` = it is not.
    pub idle_from: Ns,
    /// `cfs.avg.load_avg`.
    pub load: u64,
    /// `cfs.avg.util_avg`.
    pub util: u32,
    /// Sum of `util_est` of queued tasks.
    pub util_est: u32,
    /// `cfs.avg.runnable_avg`.
    pub runnable: u32,
    /// `cpu_capacity`.
    pub capacity: u32,
}

impl Hot {
    /// A CPU at boot.
    pub const fn new(online: bool, capacity: u32) -> Self {
        Self {
            nr_running: 0,
            h_nr_queued: 0,
            h_nr_runnable: 0,
            h_nr_idle: 0,
            ttwu_pending: false,
            idle_from: if online { 0 } else { Ns::MAX },
            load: 0,
            util: 0,
            util_est: 0,
            runnable: 0,
            capacity,
        }
    }

    /// `idle_cpu()`: the idle task is current, nothing is queued or on its way.
    pub const fn idle(&self, now: Ns) -> bool {
        self.idle_from <= now && self.nr_running == 0 && !self.ttwu_pending
    }

    /// `sched_idle_cpu()`: there are tasks, and all of them are SCHED_IDLE.
    pub const fn sched_idle(&self) -> bool {
        self.nr_running > 0 && self.nr_running == self.h_nr_idle
    }

    /// `cpu_util_cfs()`: the larger of measured and estimated, at most 1024.
    pub fn cpu_util(&self) -> u64 {
        u64::from(self.util.max(self.util_est).min(CAPACITY_SCALE))
    }
}
