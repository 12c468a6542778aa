//! The world: a machine, its tasks, and the events that move them.
//!
//! [`World::step`] takes exactly one event from the queue and carries it out.
//! Work is split by what happens to a CPU or task:
//!
//! ```text
//!  Timer, Irq, WakeArrive -> wake    a task gets a runqueue
//!  CpuDone                -> run     the running task's operation is over
//!                            program   ... and its program says what is next
//!                         -> newidle   ... or the CPU searches for work
//!  Tick                   -> run     slices end; periodic and nohz balance
//!  Stopper                -> active  a running task is pushed away
//! ```
//!
//! The methods stand beside what they model: placement in [`super::placement`],
//! balancing in [`super::balance`].

mod check;
mod ext;
mod mix;
mod program;
mod queue;
mod rq;
mod run;
#[cfg(test)]
mod tests;
mod view;
mod wake;

use std::sync::Arc;

pub use rq::{CpuState, Hot, Rq, Walk};

use super::domain::GroupId;
use super::event::{EventKind, EventQueue};
use super::ext::Ext;
use super::fair::{FairParams, Store};
use super::gate::{Chance, GatePolicy, GateState, History};
use super::rng::{Purpose, Stream};
use super::rules::Rules;
use super::shape::Shape;
use super::stats::{Histogram, Migrations, SdStats};
use super::task::{Task, TaskId, TaskRef};
use super::time::{Ns, jiffies, msecs_to_jiffies};
use super::topology::CpuId;
use super::trace::{Trace, TraceEvent, TraceKind};
use super::waste::Waste;
use super::workload::Workload;
use mix::ClassState;
use program::{TeamState, TokenQueue};

/// State of one domain of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct SdState {
    /// Newidle gate.
    pub gate: GateState,
    /// Interval of periodic balance, ms.
    pub balance_interval_ms: u32,
    /// Failed passes in a row.
    pub nr_balance_failed: u32,
    /// Last periodic pass, jiffies.
    pub last_balance: u64,
    /// Counters.
    pub stats: SdStats,
}

/// State shared by all tickless idle CPUs (`balancing.md` 6.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Nohz {
    pub needs_update: bool,
    pub has_blocked_load: bool,
    pub next_balance: u64,
    pub next_blocked: u64,
    /// Per LLC, CPUs that are not tickless idle.
    pub nr_busy_cpus: Vec<u32>,
}

/// A machine at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    pub(super) shape: Arc<Shape>,
    workload: Arc<Workload>,
    seed: u64,
    /// The newidle policy as chosen.
    policy: GatePolicy,
    /// The same as the feature switches leave it.
    pub(super) gate: GatePolicy,
    pub(super) rules: Rules,
    pub(super) fair_params: FairParams,
    pub(super) now: Ns,
    queue: EventQueue,
    events: u64,
    trace: Trace,
    pub(super) rqs: Vec<Rq>,
    pub(super) hot: Vec<Hot>,
    pub(super) sds: Vec<SdState>,
    /// `imbalance` of each `sgc`.
    pub(super) group_imbalance: Vec<bool>,
    /// `rd->overloaded`.
    pub(super) overloaded: bool,
    /// `sched_balance_running`, the `SD_SERIALIZE` token.
    pub(super) serialize_taken: bool,
    pub(super) nohz: Nohz,
    cost_streams: Vec<Stream>,
    pub(super) tasks: Vec<Task>,
    pub(super) store: Store,
    /// The scheduler that stands in for the fair class, if one does.
    ext: Option<Ext>,
    free_slots: Vec<TaskId>,
    classes: Vec<ClassState>,
    queues: Vec<Vec<TokenQueue>>,
    teams: Vec<TeamState>,
    waste: Waste,
    latency: Histogram,
    migrations: Migrations,
    /// Room for the tasks a pick finds asleep.
    gone: Vec<TaskId>,
    /// CPU time of tasks that have left.
    exec_of_dead: Ns,
}

/// Ticks before the run. The machine has been up: periodic balance of its
/// domains is anywhere in its interval, not in step on all CPUs.
const UPTIME_JIFFIES: u64 = 1 << 20;

/// What a machine boots with.
#[derive(Clone, Debug)]
pub struct Boot {
    /// The newidle policy.
    pub policy: GatePolicy,
    /// All other rules.
    pub rules: Rules,
    /// What the gates went through before; none = fresh from boot.
    pub history: Option<History>,
    /// Seed of all random streams.
    pub seed: u64,
}

fn fair_params(rules: &Rules, shape: &Shape) -> FairParams {
    rules.fair_params(shape.online.len() as u32)
}

/// State of every domain as the run begins.
fn sd_states(shape: &Shape, policy: &GatePolicy, boot: &Boot) -> Vec<SdState> {
    let seed = boot.seed;
    let mut states = Vec::new();
    for cpu in shape.topology.cpu_ids() {
        for (level, sd) in shape.domains.of(cpu).iter().enumerate() {
            let gate = match boot.history {
                None => GateState::new(policy, 0),
                Some(history) => {
                    let owner = u64::from(cpu.0) << 8 | level as u64;
                    let mut stream = Stream::new(seed, Purpose::History, owner);
                    let nominal = shape.pass_cost[shape.sd(cpu, level)];
                    policy.settled(history, || Chance {
                        dice: stream.below(1024),
                        luck: stream.below(1000),
                        cost: shape.spread(nominal, stream.next_u64()),
                    })
                }
            };
            let owner = u64::from(cpu.0) << 8 | level as u64;
            let mut phase = Stream::new(seed, Purpose::Phase, owner);
            let interval = msecs_to_jiffies(u64::from(sd.min_interval_ms * sd.busy_factor));
            states.push(SdState {
                gate,
                balance_interval_ms: sd.min_interval_ms,
                nr_balance_failed: 0,
                last_balance: UPTIME_JIFFIES - u64::from(phase.below(interval as u32)),
                stats: SdStats::default(),
            });
        }
    }
    states
}

impl World {
    /// A machine with every task of the mix just started; its gates are fresh
    /// from boot, or have a history.
    pub fn new(shape: Arc<Shape>, workload: Arc<Workload>, boot: Boot) -> Self {
        let (rules, seed) = (boot.rules, boot.seed);
        let gate = rules.gate(&boot.policy);
        let topology = Arc::clone(&shape.topology);
        let nr_cpus = topology.nr_cpus();
        let groups = workload.groups.len();
        let rqs = topology
            .cpu_ids()
            .map(|cpu| Rq::new(cpu, topology.cpu(cpu), groups))
            .collect();
        let hot = topology
            .cpus
            .iter()
            .map(|c| Hot::new(c.online, c.capacity))
            .collect();
        let sds = sd_states(&shape, &gate, &boot);
        let sets = mix::affinity_sets(&workload, &shape);
        let mut world = Self {
            policy: boot.policy,
            gate,
            rules,
            fair_params: fair_params(&rules, &shape),
            now: 0,
            queue: EventQueue::default(),
            events: 0,
            trace: Trace::default(),
            rqs,
            hot,
            sds,
            group_imbalance: vec![false; shape.domains.nr_sgc as usize],
            overloaded: false,
            serialize_taken: false,
            nohz: Nohz {
                nr_busy_cpus: vec![0; shape.llcs.len()],
                ..Nohz::default()
            },
            cost_streams: (0..nr_cpus as u64)
                .map(|cpu| Stream::new(seed, Purpose::Cost, cpu))
                .collect(),
            tasks: Vec::new(),
            store: Store::new(workload.groups.clone(), nr_cpus),
            ext: ext::new_ext(rules.wakeup, &shape),
            free_slots: Vec::new(),
            classes: mix::class_states(&workload),
            queues: program::token_queues(&workload),
            teams: vec![TeamState::default(); workload.teams.len()],
            waste: Waste::new(nr_cpus, &sets),
            latency: Histogram::default(),
            migrations: Migrations::default(),
            gone: Vec::new(),
            exec_of_dead: 0,
            shape,
            workload,
            seed,
        };
        for cpu in world.shape.online.clone() {
            world.waste.goes_idle(cpu, 0);
            world.ext_unclaim(cpu);
        }
        world.populate();
        world
    }

    /// Carries out the next event; false if there is none.
    pub fn step(&mut self) -> bool {
        while let Some(event) = self.queue.pop() {
            if self.is_stale(event.time, event.kind) {
                continue;
            }
            debug_assert!(event.time >= self.now, "time never runs back");
            self.now = event.time;
            self.events += 1;
            match event.kind {
                EventKind::Timer(task) => self.timer_expired(task),
                EventKind::Irq(cpu, task) => self.irq_wakes(cpu, task),
                EventKind::WakeArrive(cpu) => self.wake_arrives(cpu),
                EventKind::CpuDone(cpu) => self.cpu_done(cpu),
                EventKind::Stopper(cpu) => self.stopper(cpu),
                EventKind::Tick(cpu) => self.tick(cpu),
            }
            return true;
        }
        false
    }

    /// Runs every event up to and including `until`, at most `max_events`; time
    /// then stands at `until` unless the limit came first. Returns events run.
    pub fn run_until(&mut self, until: Ns, max_events: u64) -> u64 {
        let mut done = 0;
        while done < max_events {
            match self.next_event_time() {
                Some(time) if time <= until => {
                    self.step();
                    done += 1;
                }
                _ => {
                    self.now = self.now.max(until);
                    break;
                }
            }
        }
        done
    }

    /// Time of the next live event.
    pub fn next_event_time(&mut self) -> Option<Ns> {
        while let Some(event) = self.queue.peek() {
            if !self.is_stale(event.time, event.kind) {
                return Some(event.time);
            }
            self.queue.pop();
        }
        None
    }

    /// A `CpuDone` that was superseded by an earlier one, or put off.
    fn is_stale(&mut self, time: Ns, kind: EventKind) -> bool {
        let EventKind::CpuDone(cpu) = kind else {
            return false;
        };
        let rq = &mut self.rqs[cpu.index()];
        if rq.armed != time {
            return true;
        }
        if rq.due > time {
            rq.armed = rq.due;
            if rq.due != Ns::MAX {
                self.queue.push(rq.due, kind);
            }
            return true;
        }
        false
    }

    /// Makes the CPU's `CpuDone` come at `due`.
    pub(super) fn arm(&mut self, cpu: CpuId, due: Ns) {
        let rq = &mut self.rqs[cpu.index()];
        rq.due = due;
        // A later due time waits for the event already queued: it is put off
        // when it comes up, which keeps the queue short.
        if due < rq.armed {
            rq.armed = due;
            self.queue.push(due, EventKind::CpuDone(cpu));
        }
    }

    pub(super) fn emit(&mut self, kind: TraceKind, cpu: CpuId, task: Option<TaskId>, arg: u64) {
        self.trace.emit(TraceEvent {
            at: self.now,
            kind,
            cpu,
            task,
            arg,
        });
    }

    pub(super) fn at(&mut self, time: Ns, kind: EventKind) {
        self.queue.push(time, kind);
    }

    /// Cost of one pass over a domain, drawn from the CPU's own stream.
    pub(super) fn draw_pass_cost(&mut self, cpu: CpuId, sd: usize) -> Ns {
        let random = self.cost_streams[cpu.index()].next_u64();
        self.shape.spread(self.shape.pass_cost[sd], random)
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Ticks since boot, for everything that is counted in them.
    pub(super) fn jiffies(&self) -> u64 {
        UPTIME_JIFFIES + jiffies(self.now)
    }

    pub(super) fn task_ref(&self, id: TaskId) -> TaskRef {
        TaskRef {
            id,
            generation: self.tasks[id as usize].generation,
        }
    }

    /// The slot of a task that has not left.
    pub(super) fn alive(&self, task: TaskRef) -> Option<TaskId> {
        (self.tasks[task.id as usize].generation == task.generation).then_some(task.id)
    }

    pub(super) fn group_imbalance(&mut self, group: GroupId) -> &mut bool {
        let sgc = self.shape.domains.group(group).sgc;
        &mut self.group_imbalance[sgc as usize]
    }
}
