//! Workloads: classes of tasks and the programs they run.
//!
//! A [`Workload`] is plain data, made from a RON file by `scenario`. A program
//! is a list of [`Op`]s; loops are jumps. The engine that executes them is part
//! of the world.

use super::CpuMask;
use super::fair::{self, Cgroup, CgroupId};
use super::time::Ns;

/// Index of a class in [`Workload::classes`].
pub type ClassId = usize;
/// Index of a queue in [`Workload::queues`].
pub type QueueId = usize;
/// Index of a barrier team in [`Workload::teams`].
pub type TeamId = usize;

/// A mix of task classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Short id, such as `easywave`.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// Control groups, the root first.
    pub groups: Vec<Cgroup>,
    /// Task classes.
    pub classes: Vec<Class>,
    /// Queues tasks wait on.
    pub queues: Vec<Queue>,
    /// Barrier teams.
    pub teams: Vec<Team>,
}

/// One kind of task.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Name, unique in the workload.
    pub name: String,
    /// Letter in the grid.
    pub letter: char,
    /// Tasks of the class when its share is full.
    pub count: u32,
    /// Part of `count` that takes part, thousandths (1000 = all).
    pub share_permille: u32,
    /// Rate of the class in percent: every sleep is divided by it.
    pub intensity_pct: u32,
    /// nice value, -20..=19.
    pub nice: i8,
    /// Scheduling policy.
    pub policy: Policy,
    /// A slice of its own, 0.1 to 100 ms; none = the base slice.
    pub slice: Option<Ns>,
    /// Control group of its tasks, index into [`Workload::groups`].
    pub group: CgroupId,
    /// Its tasks are kernel threads.
    pub kthread: bool,
    /// CPUs the tasks may use.
    pub affinity: Affinity,
    /// Not a task of this machine but a client elsewhere: costs no CPU, and what
    /// it wakes is woken by an interrupt.
    pub external: bool,
    /// Memory it keeps in caches, KiB: what a migration has to fetch again.
    pub footprint_kib: u32,
    /// Unit of one `Done`, such as `steps`.
    pub unit: String,
    /// What each task does.
    pub program: Vec<Op>,
}

/// Scheduling policy of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_NORMAL`.
    #[default]
    Normal,
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`.
    Idle,
    /// `SCHED_FIFO`, all of one priority.
    Fifo,
}

impl Policy {
    /// The policy inside the fair class; a SCHED_FIFO task is none of it.
    pub const fn fair(self) -> fair::Policy {
        match self {
            Self::Normal | Self::Fifo => fair::Policy::Normal,
            Self::Batch => fair::Policy::Batch,
            Self::Idle => fair::Policy::Idle,
        }
    }
}

/// CPUs the tasks of a class may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Affinity {
    /// Any.
    All,
    /// Task `i` only on the `i`-th online CPU (modulo their number).
    OnePerCpu,
    /// Task `i` only inside the `i`-th LLC (modulo their number).
    PerLlc,
    /// These kernel CPU numbers.
    Cpus(Vec<u32>),
}

/// A queue of tokens that tasks wait on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Name, unique in the workload.
    pub name: String,
    /// One instance per task of this class; none = one for all. Task `i` of
    /// another class uses instance `i` modulo their number.
    pub per: Option<ClassId>,
}

/// A set of tasks that meet at barriers. Every task whose program has a
/// `Barrier` of the team is a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// Name, unique in the workload.
    pub name: String,
    /// How long a task spins at a barrier before it sleeps, CPU time.
    pub spin: Ns,
}

/// A primitive of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Use the CPU for this long (at full speed of one CPU).
    Run(Work),
    /// Sleep on a timer.
    Sleep(Dist),
    /// Take a token, sleeping until there is one; `all`: take every token.
    /// The senders can be answered by `Reply`.
    Wait {
        /// From which queue.
        queue: QueueId,
        /// Take every token there is.
        all: bool,
    },
    /// Put a token in a queue and wake a waiter, if any.
    Wake {
        /// Into which queue.
        queue: QueueId,
    },
    /// Wake the sender of each token taken by the last `Wait`.
    Reply,
    /// Sleep until the token last sent was answered.
    AwaitReply,
    /// Meet the other members of the team.
    Barrier {
        /// Which team.
        team: TeamId,
        /// First barrier of the round: here newcomers join.
        join: bool,
    },
    /// Start a task of another class.
    Fork {
        /// Of which class.
        class: ClassId,
    },
    /// Go on at `to`; with `times`, only that often in a row, then fall through.
    Jump {
        /// Index in the program.
        to: usize,
        /// How many passes through the loop's body in all; none = for ever.
        times: Option<u32>,
        /// Which of the task's loop counters counts them.
        counter: usize,
    },
    /// Give the rest of the slice away (`sched_yield`).
    Yield,
    /// Count one unit of throughput.
    Done,
    /// Leave the machine.
    Exit,
}

/// CPU work of one `Run`.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// How long, before `growth` and `split`.
    pub time: Dist,
    /// Work that grows from round to round.
    pub growth: Option<Growth>,
    /// Divide the work by the number of members of this team.
    pub split: Option<TeamId>,
}

/// Work that grows with the rounds done: width `w` rises linearly from
/// `first_permille` to 1000 over `rounds`, and the work is multiplied by
/// `(w / 1000) ^ power`.
///
/// Rounds are counted by `Done`: those of the task's team where the work is
/// split over one, else the task's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Width at the first round, thousandths.
    pub first_permille: u32,
    /// Rounds until full width.
    pub rounds: u32,
    /// 1 linear, 2 quadratic.
    pub power: u32,
    /// Start over after `rounds`, or stay at full width.
    pub repeat: bool,
}

/// A distribution of durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dist {
    /// Always the same.
    Const(Ns),
    /// Equally likely from the first to the second, both included.
    Uniform(Ns, Ns),
    /// Exponential with this mean.
    Exp(Ns),
    /// Lognormal with this median and sigma of the logarithm.
    LogNormal {
        /// Median.
        median: Ns,
        /// Sigma of the natural logarithm.
        sigma: f64,
    },
}

/// Allowed CPUs of a task once the machine is known; none = all.
pub type Allowed = Option<std::sync::Arc<CpuMask>>;
