//! One CPU with scripted tasks, without any cost of its own.
//!
//! Events come one at a time by (time, class, task): the running task ends a
//! step, a task starts or wakes, the tick. Each is followed at once by a
//! schedule if one is requested; sleep, exit and yield always schedule.

use std::collections::BTreeMap;

use super::{Case, Config, Record, Step, Summary, Task, TaskPolicy, TaskState, Variant};
use crate::sim::Ns;
use crate::sim::fair::{
    Dequeue, Enqueue, FairParams, FairRq, PickRule, Policy, SchedEntity, TaskId, WakeFlags,
};

/// Name of the idle task in a record.
const IDLE: &str = "idle";

/// Records and events after which a replay is ended, so that no file can fill
/// the memory or keep the program busy for ever. Cases have some hundreds.
const MAX_RECORDS: usize = 100_000;
const MAX_EVENTS: usize = 10_000_000;

/// Where a task stands in its script.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// Step that follows the run in progress.
    step: usize,
    /// `sum_exec` at which the run in progress ends.
    run_ends: Ns,
    started: bool,
    /// Start or wakeup to come.
    wakes: Option<Ns>,
}

pub(super) struct Cpu<'a> {
    case: &'a Case,
    p: FairParams,
    ents: Vec<SchedEntity>,
    progress: Vec<Progress>,
    rq: FairRq,
    now: Ns,
    /// There is no tick at 0.
    last_tick: Ns,
    trace: Vec<Record>,
}

enum Event {
    StepEnds(TaskId),
    Wakes(TaskId),
    Tick,
}

impl<'a> Cpu<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        let start = |task: &Task| Progress {
            wakes: Some(task.start_ns),
            ..Progress::default()
        };
        Self {
            case,
            p: params(&case.config),
            ents: case.tasks.iter().map(entity).collect(),
            progress: case.tasks.iter().map(start).collect(),
            rq: FairRq::new(),
            now: 0,
            last_tick: 0,
            trace: Vec::new(),
        }
    }

    pub(super) fn trace(&self) -> &[Record] {
        &self.trace
    }

    /// State of the task of this name at the end.
    pub(super) fn summary(&self, name: &str) -> Option<Summary> {
        let id = self.case.tasks.iter().position(|task| task.name == name)?;
        let e = &self.ents[id];
        Some(Summary {
            exec: e.sum_exec,
            v: e.vruntime,
        })
    }

    /// Plays the case to its end.
    pub(super) fn run(&mut self) {
        for _ in 0..MAX_EVENTS {
            let Some((at, event)) = self.next_event() else {
                return;
            };
            if at > self.case.until_ns || self.trace.len() > MAX_RECORDS {
                return;
            }
            self.now = at;
            match event {
                Event::StepEnds(id) => self.end_step(id),
                Event::Wakes(id) => self.wake(id),
                Event::Tick => {
                    self.last_tick = at;
                    self.rq.tick(&self.p, &mut self.ents, at);
                    self.schedule("tick", false);
                }
            }
        }
    }

    fn next_event(&self) -> Option<(Ns, Event)> {
        let running = self.rq.curr();
        let ends = running.map(|id| {
            let e = &self.ents[id as usize];
            let left = self.progress[id as usize].run_ends - e.sum_exec;
            (e.exec_start + left, 0, Event::StepEnds(id))
        });
        let wakeups = self.progress.iter().enumerate().filter_map(|(id, state)| {
            let id = id as TaskId;
            state.wakes.map(|at| (at, 1 + id, Event::Wakes(id)))
        });
        let tick = running.map(|_| (self.next_tick(), TaskId::MAX, Event::Tick));
        let events = ends.into_iter().chain(wakeups).chain(tick);
        let first = events.min_by_key(|(at, class, _)| (*at, *class))?;
        Some((first.0, first.2))
    }

    /// The tick is the last event of its instant, so one at `now` may be due.
    fn next_tick(&self) -> Ns {
        let tick = self.p.tick_ns;
        let due = self.now.div_ceil(tick) * tick;
        if due > self.last_tick {
            due
        } else {
            self.last_tick + tick
        }
    }

    /// The running task has done its run and takes the next step.
    fn end_step(&mut self, id: TaskId) {
        self.rq.update_curr(&self.p, &mut self.ents, self.now);
        let script = &self.case.tasks[id as usize].script;
        let state = &mut self.progress[id as usize];
        if script.get(state.step) == Some(&Step::Loop) {
            state.step = 0;
        }
        let step = script.get(state.step).copied();
        state.step += 1;
        match step {
            Some(Step::Run(ns)) => state.run_ends += ns,
            Some(Step::Sleep(ns)) => {
                state.wakes = Some(self.now + ns);
                self.leave(id, Dequeue::Sleep, "sleep");
            }
            Some(Step::Yield) => {
                self.rq.yield_curr(&self.p, &mut self.ents, self.now);
                self.schedule("yield", true);
            }
            None | Some(Step::Loop) => self.leave(id, Dequeue::Exit, "exit"),
        }
    }

    fn leave(&mut self, id: TaskId, why: Dequeue, name: &str) {
        let prev = self.rq.curr();
        self.rq.dequeue(&self.p, &mut self.ents, id, self.now, why);
        self.pick(name, prev);
    }

    fn wake(&mut self, id: TaskId) {
        let state = &mut self.progress[id as usize];
        state.wakes = None;
        let fork = !std::mem::replace(&mut state.started, true);
        let how = match fork {
            true => Enqueue::Fork,
            false => Enqueue::Wakeup,
        };
        let flags = WakeFlags {
            fork,
            sync: self.case.tasks[id as usize].wake_sync,
            selected: false,
        };
        let (p, ents, now) = (&self.p, &mut self.ents, self.now);
        if ents[id as usize].delayed {
            self.rq.wake_delayed(p, ents, id, now);
        } else {
            self.rq.enqueue(p, ents, id, now, how);
        }
        self.rq.check_preempt_wakeup(p, ents, id, now, flags);
        let why = match fork {
            true => "fork",
            false => "wakeup",
        };
        self.schedule(why, false);
    }

    fn schedule(&mut self, why: &str, always: bool) {
        if always || self.rq.need_resched() {
            self.pick(why, self.rq.curr());
        }
    }

    fn pick(&mut self, why: &str, prev: Option<TaskId>) {
        let (p, ents, now) = (&self.p, &mut self.ents, self.now);
        let next = self.rq.pick_next(p, ents, now, &mut Vec::new());
        self.rq.switch_to(p, ents, now, next);
        let kind = if next == prev { "repick" } else { "switch" };
        let record = self.record(kind, why, prev);
        self.trace.push(record);
    }

    fn record(&self, kind: &str, why: &str, prev: Option<TaskId>) -> Record {
        let virtual_time = self.rq.virtual_time(&self.p, &self.ents);
        let eevdf = self.p.rule != PickRule::Cfs61;
        let name = |id: Option<TaskId>| {
            id.map_or(IDLE.into(), |id| self.case.tasks[id as usize].name.clone())
        };
        let started = (0..self.ents.len()).filter(|&id| self.progress[id].started);
        let tasks: BTreeMap<_, _> = started
            .map(|id| {
                let state = task_state(&self.ents[id], virtual_time, eevdf);
                (self.case.tasks[id].name.clone(), state)
            })
            .collect();
        Record {
            t: self.now,
            kind: kind.into(),
            why: why.into(),
            prev: name(prev),
            next: name(self.rq.curr()),
            v: eevdf.then_some(virtual_time),
            min_vruntime: (!eevdf).then_some(virtual_time),
            tasks,
        }
    }
}

fn task_state(e: &SchedEntity, v: i64, eevdf: bool) -> TaskState {
    let lag = match e.on_rq {
        true => v - e.vruntime,
        false => e.vlag,
    };
    TaskState {
        on_rq: e.on_rq,
        v: e.vruntime,
        exec: e.sum_exec,
        deadline: eevdf.then_some(e.deadline),
        delayed: eevdf.then_some(e.delayed),
        lag: eevdf.then_some(lag),
    }
}

fn entity(task: &Task) -> SchedEntity {
    let policy = match task.policy {
        TaskPolicy::Normal => Policy::Normal,
        TaskPolicy::Batch => Policy::Batch,
        TaskPolicy::Idle => Policy::Idle,
    };
    let e = SchedEntity::new(policy, task.nice);
    match task.slice_ns {
        Some(slice) => e.with_slice(slice),
        None => e,
    }
}

/// Defaults of the variant's kernel where the case does not tell.
fn params(config: &Config) -> FairParams {
    let rule = match config.variant {
        Variant::V612 => PickRule::Eevdf612,
        Variant::Mainline => PickRule::EevdfMainline,
        Variant::Cfs61 => PickRule::Cfs61,
    };
    // One CPU has factor 1; the tunables are scaled by the factor given.
    let mut p = FairParams::new(rule, 1);
    let factor = config.tunable_factor;
    let scaled = |given: Option<Ns>, unscaled: Ns| given.unwrap_or(unscaled * factor);
    p.base_slice_unscaled = config
        .base_slice_unscaled_ns
        .unwrap_or(p.base_slice_unscaled);
    p.base_slice = scaled(config.base_slice_ns, p.base_slice_unscaled);
    p.latency = scaled(config.sched_latency_ns, p.latency);
    p.min_granularity = scaled(config.min_granularity_ns, p.min_granularity);
    p.wakeup_granularity = scaled(config.wakeup_granularity_ns, p.wakeup_granularity);
    p.idle_min_granularity = config
        .idle_min_granularity_ns
        .unwrap_or(p.idle_min_granularity);
    p.migration_cost = config.migration_cost_ns.unwrap_or(p.migration_cost);
    p.tick_ns = config.tick_ns;
    for (name, &on) in &config.features {
        if let Some(switch) = p.features.by_name(name) {
            *switch = on;
        }
    }
    p
}
