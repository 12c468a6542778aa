//! The mix of tasks: who comes, who leaves, while the machine runs.

use std::sync::Arc;

use super::World;
use super::run::Leave;
use crate::sim::ext::{ExtTask, Options};
use crate::sim::fair::{Dequeue, Enqueue, FairParams, SchedEntity};
use crate::sim::pelt::{Pelt, UtilEst};
use crate::sim::rng::{Purpose, Stream};
use crate::sim::rules::Rules;
use crate::sim::shape::Shape;
use crate::sim::task::{Place, SchedClass, Step, Task, TaskId, TaskRef};
use crate::sim::topology::CpuId;
use crate::sim::trace::TraceKind;
use crate::sim::workload::{Affinity, ClassId, Op, Policy, TeamId, Workload};
use crate::sim::{CpuMask, gate::GatePolicy};

/// What a class is like now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClassState {
    pub count: u32,
    pub share_permille: u32,
    pub intensity_pct: u32,
    pub footprint_kib: u32,
    /// Team its tasks belong to.
    pub team: Option<TeamId>,
    /// Tasks alive and not leaving, oldest first.
    pub tasks: Vec<TaskRef>,
    /// Tasks ever started: the index of the next.
    pub born: u32,
    /// Tasks alive, those about to leave included.
    pub alive: u32,
    /// Units done.
    pub done: u64,
}

impl ClassState {
    /// Tasks the mix asks for.
    fn wanted(&self) -> usize {
        (u64::from(self.count) * u64::from(self.share_permille)).div_ceil(1000) as usize
    }
}

/// The classes of a workload before any task exists.
pub(super) fn class_states(workload: &Workload) -> Vec<ClassState> {
    workload
        .classes
        .iter()
        .map(|class| ClassState {
            count: class.count,
            share_permille: class.share_permille,
            intensity_pct: class.intensity_pct.max(1),
            footprint_kib: class.footprint_kib,
            team: class.program.iter().find_map(|op| match *op {
                Op::Barrier { team, .. } => Some(team),
                _ => None,
            }),
            tasks: Vec::new(),
            born: 0,
            alive: 0,
            done: 0,
        })
        .collect()
}

/// Affinity sets of more than one CPU. Set 0 is all online CPUs.
pub(super) fn affinity_sets(workload: &Workload, shape: &Shape) -> Vec<CpuMask> {
    let mut sets: Vec<CpuMask> = vec![shape.online.iter().copied().collect()];
    for class in &workload.classes {
        let index_range = match class.affinity {
            Affinity::All | Affinity::OnePerCpu => 0..0,
            Affinity::PerLlc => 0..shape.llcs.len() as u32,
            Affinity::Cpus(_) => 0..1,
        };
        for index in index_range {
            let mask = allowed_mask(&class.affinity, index, shape);
            if mask.len() > 1 && !sets.contains(&mask) {
                sets.push(mask);
            }
        }
    }
    sets
}

/// CPUs task `index` of a class may use; all online ones if the machine has none
/// of those asked for, as the kernel falls back.
fn allowed_mask(affinity: &Affinity, index: u32, shape: &Shape) -> CpuMask {
    let all = || shape.online.iter().copied().collect::<CpuMask>();
    let at = |len: usize| index as usize % len;
    let mask = match affinity {
        Affinity::All => all(),
        Affinity::OnePerCpu => CpuMask::of(shape.online[at(shape.online.len())]),
        Affinity::PerLlc => {
            let online = |llc: &&Vec<CpuId>| llc.iter().any(|cpu| shape.online.contains(cpu));
            let llcs: Vec<_> = shape.llcs.iter().filter(online).collect();
            llcs[at(llcs.len())].iter().copied().collect()
        }
        Affinity::Cpus(numbers) => {
            let asked = |cpu: &CpuId| numbers.contains(&shape.topology.cpu(*cpu).os_id);
            shape.online.iter().copied().filter(asked).collect()
        }
    };
    if mask.is_empty() { all() } else { mask }
}

impl World {
    /// Starts every task of the mix. All exist before the first one runs, so a
    /// barrier waits for the whole team.
    pub(super) fn populate(&mut self) {
        for class in 0..self.classes.len() {
            self.fit_class(class, true);
        }
    }

    /// Another newidle policy from the next decision on. Statistics stay.
    pub fn set_policy(&mut self, policy: GatePolicy) {
        self.gate = self.rules.gate(&policy);
        self.policy = policy;
    }

    /// Other rules from the next decision on.
    pub fn set_rules(&mut self, rules: Rules) {
        let before = std::mem::replace(&mut self.rules, rules);
        self.gate = rules.gate(&self.policy);
        let params = super::fair_params(&rules, &self.shape);
        if before.pick != rules.pick {
            self.adopt_pick_rule(&params);
        }
        self.fair_params = params;
        if Options::of(before.wakeup) != Options::of(rules.wakeup) {
            self.change_ext(rules.wakeup);
        }
    }

    /// Every runqueue goes over to another picking rule.
    fn adopt_pick_rule(&mut self, to: &FairParams) {
        for index in 0..self.shape.online.len() {
            let cpu = self.shape.online[index];
            self.touch(cpu);
            let mut gone = Vec::new();
            let fair = &mut self.rqs[cpu.index()].fair;
            fair.adopt(&self.fair_params, to, &mut self.store, self.now, &mut gone);
            for id in gone {
                self.left_late(cpu, id);
            }
        }
    }

    /// Another size or rate of a class.
    pub fn set_mix(
        &mut self,
        class: ClassId,
        count: Option<u32>,
        share_permille: Option<u32>,
        intensity_pct: Option<u32>,
    ) {
        let state = &mut self.classes[class];
        state.count = count.unwrap_or(state.count);
        state.share_permille = share_permille.unwrap_or(state.share_permille).min(1000);
        state.intensity_pct = intensity_pct.unwrap_or(state.intensity_pct).max(1);
        self.fit_class(class, false);
    }

    /// Starts or asks out tasks until the class has the size wanted.
    fn fit_class(&mut self, class: ClassId, at_boot: bool) {
        let wanted = self.classes[class].wanted();
        let mut started = Vec::new();
        while self.classes[class].tasks.len() < wanted {
            started.push(self.spawn(class, None));
        }
        // Members from the start wait for each other; later ones join at a
        // barrier, when the others do not count on them yet.
        if at_boot && let Some(team) = self.classes[class].team {
            self.teams[team].members += started.len() as u32;
            for &id in &started {
                self.tasks[id as usize].member = true;
            }
        }
        for id in started {
            self.start(id);
        }
        while self.classes[class].tasks.len() > wanted {
            if let Some(task) = self.classes[class].tasks.pop() {
                self.ask_out(task);
            }
        }
    }

    /// Creates a task of a class; [`World::start`] makes it run.
    pub(super) fn spawn(&mut self, class: ClassId, parent: Option<CpuId>) -> TaskId {
        let id = self.free_slots.pop().unwrap_or(self.tasks.len() as TaskId);
        let generation = self.tasks.get(id as usize).map_or(0, |old| old.generation);
        let index = self.classes[class].born;
        self.classes[class].born += 1;
        let workload = Arc::clone(&self.workload);
        let spec = &workload.classes[class];
        let mask = allowed_mask(&spec.affinity, index, &self.shape);
        let pinned = mask.lowest().filter(|_| mask.len() == 1);
        let everywhere = mask.len() == self.shape.online.len();
        let set = match pinned {
            Some(_) => None,
            None if everywhere => Some(0),
            None => self.affinity_set(&mask),
        };
        let owner = (class as u64) << 32 | u64::from(index);
        let counters = spec.program.iter().map(|op| match *op {
            Op::Jump { counter, .. } => counter + 1,
            _ => 0,
        });
        let task = Task {
            generation,
            class,
            index,
            place: if spec.external {
                Place::External
            } else {
                Place::Waking
            },
            cpu: parent.or(pinned).unwrap_or(self.shape.online[0]),
            allowed: (!everywhere).then(|| Arc::new(mask)),
            pinned,
            affinity_set: set,
            sched: match spec.policy {
                Policy::Fifo => SchedClass::Fifo,
                _ if self.ext.is_some() => SchedClass::Ext,
                _ => SchedClass::Fair,
            },
            stream: Stream::new(self.seed, Purpose::Workload, owner),
            pc: 0,
            counters: vec![0; counters.max().unwrap_or(0)],
            step: Step::Start,
            left: 0,
            refill: 0,
            taken: Vec::new(),
            to_wake: Vec::new(),
            replied: false,
            member: false,
            rounds: 0,
            leaving: false,
            pelt: Pelt::default(),
            util_est: UtilEst::default(),
            woken_at: None,
            waiting_since: self.now,
        };
        let mut entity = SchedEntity::new(spec.policy.fair(), spec.nice);
        if let Some(slice) = spec.slice {
            entity = entity.with_slice(slice);
        }
        self.store.put(id, entity, spec.group);
        if id as usize == self.tasks.len() {
            self.tasks.push(task);
        } else {
            self.tasks[id as usize] = task;
        }
        if let Some(ext) = &mut self.ext {
            *ext.task(id) = ExtTask::default();
        }
        let me = self.task_ref(id);
        self.classes[class].tasks.push(me);
        self.classes[class].alive += 1;
        self.open_queues(class, index);
        id
    }

    fn affinity_set(&self, mask: &CpuMask) -> Option<u16> {
        let sets = affinity_sets(&self.workload, &self.shape);
        sets.iter()
            .position(|set| set == mask)
            .map(|set| set as u16)
    }

    /// Puts a new task on the machine.
    pub(super) fn start(&mut self, id: TaskId) {
        if self.tasks[id as usize].place == Place::External {
            self.advance_external(id);
            return;
        }
        let cpu = match self.tasks[id as usize].sched {
            SchedClass::Ext => self.ext_select(id, None).cpu,
            _ => self.select_fork_cpu(id),
        };
        self.touch(cpu);
        let parent = std::mem::replace(&mut self.tasks[id as usize].cpu, cpu);
        if self.tasks[id as usize].is_fair() {
            let weight = self.store.task(id).weight;
            let capacity = u64::from(self.hot[cpu.index()].capacity);
            let rq = &mut self.rqs[cpu.index()].pelt;
            self.tasks[id as usize].pelt = Pelt::new_task(self.now, weight, capacity, rq);
            self.attach_load(cpu, id);
            if parent != cpu && self.rqs[parent.index()].running().is_some() {
                let fair = &mut self.rqs[parent.index()].fair;
                fair.fork_from(&self.fair_params, &mut self.store, id, self.now);
            }
        }
        self.enqueue(cpu, id, Enqueue::Fork);
        self.emit(TraceKind::Fork, cpu, Some(id), 0);
        self.preempt_for(cpu, id, true);
    }

    /// Asks a task to leave: at once if it waits for something, else when its
    /// program comes round.
    fn ask_out(&mut self, task: TaskRef) {
        let Some(id) = self.alive(task) else { return };
        self.tasks[id as usize].leaving = true;
        let state = &self.tasks[id as usize];
        let delayed = state.place == Place::Delayed;
        let blocked = delayed || matches!(state.place, Place::Asleep | Place::External);
        let at_barrier = matches!(state.step, Step::AtBarrier(_));
        if blocked && !at_barrier && !self.wakeup_under_way(id) {
            let cpu = state.cpu;
            self.forget_waiting(id);
            if delayed {
                self.dequeue(cpu, id, Dequeue::Exit);
            }
            self.bury(id);
        }
    }

    /// Frees the slot of a task that is on no runqueue any more.
    pub(super) fn bury(&mut self, id: TaskId) {
        let me = self.task_ref(id);
        let task = &mut self.tasks[id as usize];
        let (class, index, cpu, was) = (task.class, task.index, task.cpu, task.place);
        let member = std::mem::take(&mut task.member);
        task.place = Place::Dead;
        task.generation += 1;
        self.classes[class].tasks.retain(|&other| other != me);
        self.classes[class].alive -= 1;
        self.free_slots.push(id);
        if was != Place::External {
            self.exec_of_dead += self.store.task(id).sum_exec;
            if self.tasks[id as usize].is_fair() {
                self.touch(cpu);
                self.touch_task(id);
                self.detach_load(cpu, id);
            }
            self.emit(TraceKind::Exit, cpu, Some(id), 0);
        }
        self.close_queues(class, index);
        if member && let Some(team) = self.classes[class].team {
            self.leave_team(team);
        }
    }

    /// Ends the running task of `cpu`.
    pub(super) fn exit_running(&mut self, cpu: CpuId, id: TaskId) {
        self.schedule(cpu, Leave::Exits);
        self.bury(id);
    }
}
