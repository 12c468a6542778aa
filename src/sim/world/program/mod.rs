//! Programs: what a task does between two scheduling decisions.
//!
//! Operations that take no CPU time are carried out one after another until one
//! takes time, blocks, or ends the task. A wakeup takes time: the CPU is chosen
//! when it begins and the task is sent there when it ends, so two wakers can
//! choose the same idle CPU.

mod barrier;
mod tokens;
mod work;

pub(super) use barrier::TeamState;
pub(super) use tokens::{TokenQueue, token_queues};

use super::World;
use super::run::Leave;
use crate::sim::event::EventKind;
use crate::sim::task::{Step, TaskId, TaskRef};
use crate::sim::time::Ns;
use crate::sim::topology::CpuId;
use crate::sim::workload::{Dist, Op};
use work::draw;

/// Operations of no duration in a row after which a task is charged
/// [`FUEL_NS`]: no program can stop time.
const FUEL: u32 = 1_000;
/// See [`FUEL`].
const FUEL_NS: Ns = 1_000;

/// What an operation leads to.
enum Flow {
    /// On to the next operation at once.
    Next,
    /// The task needs the CPU for its step.
    Busy,
    /// The task blocks.
    Block,
    /// The task is gone.
    Exit,
}

impl World {
    /// The running task's step is complete: its program goes on.
    pub(super) fn finish_operation(&mut self, cpu: CpuId) {
        let Some(id) = self.rqs[cpu.index()].running() else {
            return;
        };
        if self.tasks[id as usize].left > 0 {
            self.arm_running(cpu);
            return;
        }
        // Whom the task wakes or forks on its own CPU takes over when the program
        // stands still, not in the middle of it.
        self.rqs[cpu.index()].in_program = true;
        self.finish_step(cpu, id);
        let flow = if self.rqs[cpu.index()].need_resched {
            Flow::Busy
        } else {
            self.advance(cpu, id)
        };
        self.rqs[cpu.index()].in_program = false;
        let preempted = self.rqs[cpu.index()].need_resched;
        match flow {
            Flow::Next | Flow::Busy if preempted => self.reschedule(cpu),
            Flow::Next | Flow::Busy => self.arm_running(cpu),
            Flow::Block => self.schedule(cpu, Leave::Blocks),
            Flow::Exit => self.exit_running(cpu, id),
        }
    }

    /// Ends the step that used the CPU.
    fn finish_step(&mut self, cpu: CpuId, id: TaskId) {
        let task = &mut self.tasks[id as usize];
        let step = std::mem::replace(&mut task.step, Step::Start);
        match step {
            Step::Work => task.pc += 1,
            Step::Select { wakee, target } => {
                let send = self.shape.topology.costs.wake_send;
                self.rqs[cpu.index()].overhead += send;
                self.commit_wakeup(wakee, target, cpu);
            }
            Step::Spin { team, round } => {
                self.end_spinning(id, team, round);
            }
            // A task that slept and runs again finds its operation done.
            Step::Start
            | Step::Sleeping
            | Step::Waiting(_)
            | Step::Awaiting
            | Step::AtBarrier(_) => {}
        }
    }

    /// Carries out operations until one takes time or blocks.
    fn advance(&mut self, cpu: CpuId, id: TaskId) -> Flow {
        if matches!(self.tasks[id as usize].step, Step::AtBarrier(_)) {
            return Flow::Block;
        }
        for _ in 0..FUEL {
            if let Some(flow) = self.wake_next_of_list(id) {
                return flow;
            }
            match self.operate(cpu, id) {
                Flow::Next => {}
                flow => return flow,
            }
        }
        let task = &mut self.tasks[id as usize];
        task.step = Step::Start;
        task.left = FUEL_NS;
        Flow::Busy
    }

    /// Begins the wakeup of the next task the operation has to wake.
    fn wake_next_of_list(&mut self, id: TaskId) -> Option<Flow> {
        while let Some(wakee) = self.tasks[id as usize].to_wake.pop() {
            if self.alive(wakee).is_some() {
                self.begin_wakeup(id, wakee);
                return Some(Flow::Busy);
            }
        }
        None
    }

    /// Chooses a CPU for `wakee` and charges the waker for it.
    fn begin_wakeup(&mut self, waker: TaskId, wakee: TaskRef) {
        let here = self.tasks[waker as usize].cpu;
        let choice = self.choose_wakeup_cpu(wakee.id, here);
        let costs = &self.shape.topology.costs;
        let time = costs.wake_select + costs.wake_scan_per_cpu * Ns::from(choice.scanned);
        let task = &mut self.tasks[waker as usize];
        task.step = Step::Select {
            wakee,
            target: choice.cpu,
        };
        task.left = time;
    }

    /// Carries out the operation at the program counter of a task on `cpu`.
    fn operate(&mut self, cpu: CpuId, id: TaskId) -> Flow {
        let class = self.tasks[id as usize].class;
        let workload = std::sync::Arc::clone(&self.workload);
        let op = &workload.classes[class].program[self.tasks[id as usize].pc];
        match *op {
            Op::Run(ref work) => {
                let left = self.draw_work(id, work);
                let task = &mut self.tasks[id as usize];
                task.left = left;
                task.step = Step::Work;
                Flow::Busy
            }
            Op::Sleep(dist) => {
                self.begin_sleep(id, dist);
                Flow::Block
            }
            Op::Wait { queue, all } => self.wait(id, queue, all),
            Op::Wake { queue } => {
                self.tasks[id as usize].pc += 1;
                if let Some(wakee) = self.send_token(id, queue) {
                    self.tasks[id as usize].to_wake.push(wakee);
                }
                Flow::Next
            }
            Op::Reply => {
                self.reply(id);
                Flow::Next
            }
            Op::AwaitReply => self.await_reply(id),
            Op::Barrier { team, join } => self.arrive(id, team, join),
            Op::Fork { class } => {
                self.tasks[id as usize].pc += 1;
                let child = self.spawn(class, Some(cpu));
                let costs = &self.shape.topology.costs;
                let time =
                    costs.wake_select + costs.wake_scan_per_cpu * self.shape.online.len() as Ns;
                self.rqs[cpu.index()].overhead += time;
                self.start(child);
                Flow::Next
            }
            Op::Jump { to, times, counter } => self.jump(id, to, times, counter),
            Op::Done => {
                self.count_unit(id);
                Flow::Next
            }
            Op::Yield => {
                self.tasks[id as usize].pc += 1;
                self.yields(cpu);
                Flow::Busy
            }
            Op::Exit => Flow::Exit,
        }
    }

    /// `sched_yield()` of the running task.
    fn yields(&mut self, cpu: CpuId) {
        let entering = self.shape.topology.costs.context_switch.max(1);
        let rq = &mut self.rqs[cpu.index()];
        rq.stats.yld_count += 1;
        // The call takes time even if nobody else wants the CPU.
        rq.overhead += entering;
        rq.need_resched = true;
        rq.fair
            .yield_curr(&self.fair_params, &mut self.store, self.now);
        if let (Some(ext), Some(curr)) = (&mut self.ext, rq.curr) {
            ext.task(curr).slice_left = 0;
        }
    }

    pub(super) fn begin_sleep(&mut self, id: TaskId, dist: Dist) {
        let rate = Ns::from(self.classes[self.tasks[id as usize].class].intensity_pct);
        let task = &mut self.tasks[id as usize];
        // A timer takes time, however high the rate: else time could stand still.
        let time = (draw(&mut task.stream, dist) * 100 / rate).max(1);
        task.step = Step::Sleeping;
        task.pc += 1;
        let me = self.task_ref(id);
        self.at(self.now + time, EventKind::Timer(me));
    }

    fn jump(&mut self, id: TaskId, to: usize, times: Option<u32>, counter: usize) -> Flow {
        let task = &mut self.tasks[id as usize];
        if task.leaving && to <= task.pc {
            return Flow::Exit;
        }
        let Some(times) = times else {
            task.pc = to;
            return Flow::Next;
        };
        task.counters[counter] += 1;
        if task.counters[counter] < times {
            task.pc = to;
        } else {
            task.counters[counter] = 0;
            task.pc += 1;
        }
        Flow::Next
    }

    pub(super) fn count_unit(&mut self, id: TaskId) {
        let task = &mut self.tasks[id as usize];
        task.pc += 1;
        task.rounds = task.rounds.wrapping_add(1);
        let class = task.class;
        self.classes[class].done += 1;
        if let Some(team) = self.classes[class].team {
            self.teams[team].count_round();
        }
    }

    /// Runs an external client's program until it waits for something.
    pub(super) fn advance_external(&mut self, id: TaskId) {
        for _ in 0..FUEL {
            let class = self.tasks[id as usize].class;
            let workload = std::sync::Arc::clone(&self.workload);
            let op = &workload.classes[class].program[self.tasks[id as usize].pc];
            match *op {
                Op::Sleep(dist) => {
                    self.begin_sleep(id, dist);
                    return;
                }
                Op::Wake { queue } => {
                    self.tasks[id as usize].pc += 1;
                    if let Some(wakee) = self.send_token(id, queue) {
                        self.interrupt(id, wakee);
                    }
                }
                Op::AwaitReply => {
                    if matches!(self.await_reply(id), Flow::Block) {
                        return;
                    }
                }
                Op::Done => self.count_unit(id),
                Op::Jump { to, times, counter } => {
                    if matches!(self.jump(id, to, times, counter), Flow::Exit) {
                        self.bury(id);
                        return;
                    }
                }
                Op::Exit => {
                    self.bury(id);
                    return;
                }
                // Validation refuses these for clients elsewhere.
                Op::Run(_)
                | Op::Wait { .. }
                | Op::Reply
                | Op::Barrier { .. }
                | Op::Fork { .. }
                | Op::Yield => self.tasks[id as usize].pc += 1,
            }
        }
        let me = self.task_ref(id);
        self.tasks[id as usize].step = Step::Sleeping;
        self.at(self.now + FUEL_NS, EventKind::Timer(me));
    }

    fn external_answered(&mut self, id: TaskId) {
        let task = &mut self.tasks[id as usize];
        task.replied = false;
        task.step = Step::Start;
        task.pc += 1;
        self.advance_external(id);
    }
}
