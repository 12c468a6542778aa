//! A scheduler in the place of the fair class, after scx_cosmos: what it keeps
//! and how it decides, apart from how tasks move.
//!
//! ```text
//!  wakeup --> claim an idle CPU --found--> its local queue (FIFO), its CPU runs it
//!                   | none
//!                   v
//!             never busy: local queue of the previous CPU
//!             busy:       shared queue of the node, ordered by deadline
//!
//!  CPU needs a task: local queue, head of the shared queue, the same task again
//! ```
//! Nothing is balanced. An idle CPU is claimed by whoever chooses it, so two
//! wakers at once never choose the same one.
//!
//! Source: placement-and-pick.md 5.4.

use std::collections::BTreeMap;

use super::CpuMask;
use super::rules::WakeupRule;
use super::task::TaskId;
use super::time::{MS, Ns, US};
use super::topology::{CAPACITY_SCALE, CpuId};

/// Weight of nice 0 on the scale of control groups.
const NICE_0: u64 = 100;
/// Weight of nice 0 in the fair class.
const FAIR_NICE_0: u64 = 1_024;
/// Cap of the wakeup frequency, in wakeups per [`FREQUENCY_PERIOD`].
const MAX_WAKEUP_FREQ: u64 = 1_024;
/// Period in which wakeups are counted.
const FREQUENCY_PERIOD: Ns = 100 * MS;

/// Command line of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Time slice at nice 0, ns.
    pub slice: Ns,
    /// Most CPU time charged to a deadline, and most credit of a sleeper, ns.
    pub slice_lag: Ns,
    /// Whether CPUs count as busy. Utilisation is not polled, so it stays 0: above
    /// a busy threshold of 0 % for ever, below any other one for ever.
    pub busy: bool,
    /// Kernel numbers of the CPUs that are tried first; empty = all alike.
    pub primary: &'static [u32],
}

/// Defaults: `-s 1000 -l 20000 -c 0 -p 0`.
const DEFAULTS: Options = Options {
    slice: 1_000 * US,
    slice_lag: 20 * MS,
    busy: true,
    primary: &[],
};

/// As published: `-m 0-5 -s 800 -l 8000 -f -c 1 -p 0`.
const ROUND_ROBIN: Options = Options {
    slice: 800 * US,
    slice_lag: 8 * MS,
    busy: false,
    primary: &[0, 1, 2, 3, 4, 5],
};

impl Options {
    /// Those of a wakeup rule; none if it leaves tasks to the fair class.
    pub const fn of(rule: WakeupRule) -> Option<Self> {
        match rule {
            WakeupRule::Cosmos => Some(DEFAULTS),
            WakeupRule::CosmosRoundRobin => Some(ROUND_ROBIN),
            _ => None,
        }
    }
}

/// What is kept of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtTask {
    /// CPU time over weight, from the floor at enqueue on.
    pub vtime: u64,
    /// CPU time since the last sleep, at most `slice_lag`.
    pub exec_runtime: Ns,
    /// Wakeups in 100 ms, averaged.
    pub wakeup_freq: u64,
    /// When it last woke.
    pub last_woke_at: Ns,
    /// CPU time used since it was switched in.
    pub used: Ns,
    /// What is left of its slice.
    pub slice_left: Ns,
    /// A CPU was chosen for it: it goes to that CPU's local queue.
    pub direct: bool,
}

/// Weight on the scale of control groups of a weight of the fair class.
pub fn cgroup_weight(fair: u32) -> u64 {
    (u64::from(fair) * NICE_0 / FAIR_NICE_0).clamp(1, 10_000)
}

impl ExtTask {
    /// The task wakes.
    pub fn wakes(&mut self, now: Ns) {
        let interval = (now - self.last_woke_at).max(1);
        let frequency = FREQUENCY_PERIOD / interval;
        let averaged = self.wakeup_freq - (self.wakeup_freq >> 2) + (frequency >> 2);
        self.wakeup_freq = averaged.min(MAX_WAKEUP_FREQ);
        self.last_woke_at = now;
        self.exec_runtime = 0;
    }

    /// The task leaves the CPU.
    pub fn stops(&mut self, options: &Options, weight: u64, capacity: u32) {
        let used = self.used * u64::from(capacity) / u64::from(CAPACITY_SCALE);
        self.used = 0;
        self.vtime += used * NICE_0 / weight;
        self.exec_runtime = (self.exec_runtime + used).min(options.slice_lag);
    }

    /// Its deadline, which orders the shared queue; the credit of a sleeper is cut
    /// to the floor first.
    pub fn deadline(&mut self, options: &Options, vtime_now: u64, weight: u64) -> u64 {
        let credit = options.slice_lag * self.wakeup_freq.max(1) * weight / NICE_0;
        self.vtime = self.vtime.max(vtime_now.saturating_sub(credit));
        self.vtime + self.exec_runtime * NICE_0 / weight
    }

    /// A new slice.
    pub fn refill(&mut self, options: &Options, weight: u64) {
        self.slice_left = (options.slice * weight / NICE_0).max(1);
    }
}

/// Place in a shared queue: deadline, then order of arrival.
type Rank = (u64, u64);

/// State of the scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct Ext {
    /// Its command line.
    pub options: Options,
    /// Its primary domain; none = all CPUs alike.
    pub primary: Option<CpuMask>,
    /// Idle CPUs nobody has claimed.
    pub idle: CpuMask,
    /// The largest vtime that ran.
    pub vtime_now: u64,
    /// By task slot.
    pub tasks: Vec<ExtTask>,
    /// One queue per NUMA node.
    shared: Vec<BTreeMap<Rank, TaskId>>,
    arrivals: u64,
}

impl Ext {
    /// No task anywhere, and no CPU known as idle.
    pub fn new(options: Options, primary: Option<CpuMask>, nodes: usize) -> Self {
        Self {
            options,
            primary,
            idle: CpuMask::new(),
            vtime_now: 0,
            tasks: Vec::new(),
            shared: vec![BTreeMap::new(); nodes],
            arrivals: 0,
        }
    }

    /// What is kept of a task.
    pub fn task(&mut self, id: TaskId) -> &mut ExtTask {
        let needed = id as usize + 1;
        if self.tasks.len() < needed {
            self.tasks.resize(needed, ExtTask::default());
        }
        &mut self.tasks[id as usize]
    }

    /// Whether `cpu` is in the primary domain.
    pub fn is_primary(&self, cpu: CpuId) -> bool {
        self.primary.as_ref().is_none_or(|mask| mask.contains(cpu))
    }

    /// Adds a task to the queue of a node.
    pub fn share(&mut self, node: usize, id: TaskId, weight: u64) {
        let (options, vtime_now) = (self.options, self.vtime_now);
        let deadline = self.task(id).deadline(&options, vtime_now, weight);
        self.arrivals += 1;
        self.shared[node].insert((deadline, self.arrivals), id);
    }

    /// Takes the first task of a node's queue that may run.
    pub fn take_shared(&mut self, node: usize, may_run: impl Fn(TaskId) -> bool) -> Option<TaskId> {
        let queue = &mut self.shared[node];
        let (&rank, &id) = queue.iter().find(|&(_, &id)| may_run(id))?;
        queue.remove(&rank);
        Some(id)
    }

    /// Takes a task off whatever shared queue it is on.
    pub fn unshare(&mut self, id: TaskId) {
        for queue in &mut self.shared {
            queue.retain(|_, &mut other| other != id);
        }
    }

    /// Every task on a shared queue.
    pub fn shared(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.shared.iter().flat_map(|queue| queue.values().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_follow_weight_and_time_since_the_last_sleep() {
        let mut heavy = ExtTask {
            used: 4 * MS,
            ..ExtTask::default()
        };
        let mut light = heavy;
        // Nice 0 and twice its weight: 4 ms count 4 and 2; the time since the
        // sleep counts once more, over the weight again.
        light.stops(&DEFAULTS, 100, 1_024);
        heavy.stops(&DEFAULTS, 200, 1_024);
        assert_eq!((light.vtime, heavy.vtime), (4 * MS, 2 * MS));
        assert_eq!(light.deadline(&DEFAULTS, 0, 100), 8 * MS);
        assert_eq!(heavy.deadline(&DEFAULTS, 0, 200), 4 * MS);
        // On a CPU of half capacity the same time is half the work.
        let mut small = ExtTask {
            used: 4 * MS,
            ..ExtTask::default()
        };
        small.stops(&DEFAULTS, 100, 512);
        assert_eq!(small.vtime, 2 * MS);
        // 30 ms at a stretch are charged as 20.
        small.used = 30 * MS;
        small.stops(&DEFAULTS, 100, 1_024);
        assert_eq!(small.exec_runtime, 20 * MS);
    }

    #[test]
    fn a_sleeper_keeps_credit_in_proportion_to_how_often_it_wakes() {
        let mut task = ExtTask::default();
        // Every 10 ms: 10 wakeups in 100 ms. A quarter of 10 is 2 in whole numbers.
        task.wakes(10 * MS);
        assert_eq!(task.wakeup_freq, 2);
        task.wakes(20 * MS);
        // 2 - 0 + 2.
        assert_eq!(task.wakeup_freq, 4);
        // The floor is 4 x 20 ms below now.
        assert_eq!(task.deadline(&DEFAULTS, 100 * MS, 100), 20 * MS);
        // Every microsecond: 100,000 in 100 ms, cut to 1,024.
        task.wakes(20 * MS + US);
        assert_eq!(task.wakeup_freq, 1_024);
    }

    #[test]
    fn the_shared_queue_gives_the_earliest_deadline_that_may_run_here() {
        let mut ext = Ext::new(DEFAULTS, None, 1);
        for (id, vtime) in [(0, 3 * MS), (1, MS), (2, MS), (3, 2 * MS)] {
            ext.task(id).vtime = vtime;
            ext.share(0, id, 100);
        }
        assert_eq!(ext.take_shared(0, |id| id != 1), Some(2));
        assert_eq!(ext.take_shared(0, |_| true), Some(1));
        ext.unshare(3);
        assert_eq!(ext.take_shared(0, |_| true), Some(0));
        assert_eq!(ext.take_shared(0, |_| true), None);
    }

    #[test]
    fn weights_are_those_of_control_groups() {
        assert_eq!([1_024, 15, 88_761].map(cgroup_weight), [100, 1, 8_668]);
        assert_eq!(cgroup_weight(3), 1, "SCHED_IDLE");
    }
}
