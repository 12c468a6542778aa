//! Programs: what a task does between two scheduling decisions.
//!
//! Operations that take no CPU time are carried out one after another until one
//! takes time, blocks, or ends the task. A wakeup takes time: the CPU is chosen
//! when it begins and the task is sent there when it ends, so two wakers can
//! choose the same idle CPU.

use super::World;
use super::run::Leave;
use crate::sim::event::EventKind;
use crate::sim::rng::Stream;
use crate::sim::task::{Place, Step, TaskId, TaskRef};
use crate::sim::time::Ns;
use crate::sim::topology::CpuId;
use crate::sim::workload::{Dist, Growth, Op, QueueId, TeamId, Work, Workload};

/// Operations of no duration in a row after which a task is charged
/// [`FUEL_NS`]: no program can stop time.
const FUEL: u32 = 1_000;
/// See [`FUEL`].
const FUEL_NS: Ns = 1_000;

/// Tokens of one queue and the tasks waiting for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenQueue {
    /// Senders, oldest first.
    tokens: std::collections::VecDeque<TaskRef>,
    /// Waiting tasks, oldest first.
    waiters: std::collections::VecDeque<TaskRef>,
}

/// A barrier team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TeamState {
    /// Members.
    pub members: u32,
    /// Members that have arrived at the barrier.
    arrived: u32,
    /// Releases so far.
    round: u32,
    /// Units done by members.
    rounds_done: u32,
    /// Tasks that spin at the barrier.
    spinners: Vec<TaskRef>,
    /// Tasks that sleep at the barrier.
    sleepers: Vec<TaskRef>,
}

/// Queue instances of a workload, before any task exists.
pub(super) fn token_queues(workload: &Workload) -> Vec<Vec<TokenQueue>> {
    let instances =
        |per: Option<usize>| per.map_or(1, |class| workload.classes[class].count.max(1));
    let queues = workload.queues.iter();
    queues
        .map(|q| vec![TokenQueue::default(); instances(q.per) as usize])
        .collect()
}

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
        self.finish_step(cpu, id);
        let flow = self.advance(cpu, id);
        if matches!(flow, Flow::Busy) && self.rqs[cpu.index()].need_resched {
            self.reschedule(cpu);
            return;
        }
        match flow {
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
                if self.teams[team].round == round {
                    let me = self.task_ref(id);
                    self.teams[team].spinners.retain(|&other| other != me);
                    self.teams[team].sleepers.push(me);
                    self.tasks[id as usize].step = Step::AtBarrier(team);
                } else {
                    self.tasks[id as usize].pc += 1;
                }
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
        let choice = self.select_wakeup_cpu(wakee.id);
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
            Op::Exit => Flow::Exit,
        }
    }

    pub(super) fn begin_sleep(&mut self, id: TaskId, dist: Dist) {
        let rate = Ns::from(self.classes[self.tasks[id as usize].class].intensity_pct);
        let task = &mut self.tasks[id as usize];
        let time = draw(&mut task.stream, dist) * 100 / rate;
        task.step = Step::Sleeping;
        task.pc += 1;
        let me = self.task_ref(id);
        self.at(self.now + time, EventKind::Timer(me));
    }

    /// Takes a token, or every token; else the task has to wait.
    fn wait(&mut self, id: TaskId, queue: QueueId, all: bool) -> Flow {
        if self.take_tokens(id, queue, all) {
            self.tasks[id as usize].pc += 1;
            return Flow::Next;
        }
        let me = self.task_ref(id);
        let instance = self.instance(id, queue);
        self.queues[queue][instance].waiters.push_back(me);
        self.tasks[id as usize].step = Step::Waiting(queue);
        Flow::Block
    }

    fn take_tokens(&mut self, id: TaskId, queue: QueueId, all: bool) -> bool {
        let instance = self.instance(id, queue);
        let tokens = &mut self.queues[queue][instance].tokens;
        let number = if all {
            tokens.len()
        } else {
            tokens.len().min(1)
        };
        let taken = &mut self.tasks[id as usize].taken;
        taken.clear();
        taken.extend(tokens.drain(..number));
        number > 0
    }

    /// Puts a token of `sender` in a queue; returns a waiter to be woken.
    pub(super) fn send_token(&mut self, sender: TaskId, queue: QueueId) -> Option<TaskRef> {
        let token = self.task_ref(sender);
        let instance = self.instance(sender, queue);
        let inbox = &mut self.queues[queue][instance];
        inbox.tokens.push_back(token);
        inbox.waiters.pop_front()
    }

    /// Instance of a queue that a task uses.
    fn instance(&self, id: TaskId, queue: QueueId) -> usize {
        self.tasks[id as usize].index as usize % self.queues[queue].len()
    }

    /// Answers the senders taken last; those that wait already are to be woken.
    fn reply(&mut self, id: TaskId) {
        let senders = std::mem::take(&mut self.tasks[id as usize].taken);
        self.tasks[id as usize].pc += 1;
        for &sender in senders.iter().rev() {
            let Some(sender_id) = self.alive(sender) else {
                continue;
            };
            let task = &mut self.tasks[sender_id as usize];
            task.replied = true;
            if task.step == Step::Awaiting {
                if task.place == Place::External {
                    self.external_answered(sender_id);
                } else {
                    self.tasks[id as usize].to_wake.push(sender);
                }
            }
        }
    }

    fn await_reply(&mut self, id: TaskId) -> Flow {
        let task = &mut self.tasks[id as usize];
        if std::mem::take(&mut task.replied) {
            task.pc += 1;
            task.step = Step::Start;
            return Flow::Next;
        }
        task.step = Step::Awaiting;
        Flow::Block
    }

    /// Arrives at a barrier: the last to arrive releases the others.
    fn arrive(&mut self, id: TaskId, team: TeamId, join: bool) -> Flow {
        let member = self.tasks[id as usize].member;
        let me = self.task_ref(id);
        let state = &mut self.teams[team];
        if member {
            state.arrived += 1;
        }
        debug_assert!(
            member || join,
            "newcomers are let in at the first barrier only"
        );
        if state.arrived >= state.members {
            self.release(team, Some(me));
            let task = &mut self.tasks[id as usize];
            task.pc += 1;
            return Flow::Next;
        }
        state.spinners.push(me);
        let round = state.round;
        let task = &mut self.tasks[id as usize];
        task.left = self.workload.teams[team].spin;
        task.step = Step::Spin { team, round };
        Flow::Busy
    }

    /// Ends a barrier. Spinners go on as soon as they have a CPU; sleepers are
    /// woken by `releaser` one after another, or at once if there is none.
    fn release(&mut self, team: TeamId, releaser: Option<TaskRef>) {
        let state = &mut self.teams[team];
        state.arrived = 0;
        state.round += 1;
        let spinners = std::mem::take(&mut state.spinners);
        let mut sleepers = std::mem::take(&mut state.sleepers);
        for &task in spinners.iter().chain(&sleepers).chain(&releaser) {
            if !std::mem::replace(&mut self.tasks[task.id as usize].member, true) {
                self.teams[team].members += 1;
            }
        }
        for spinner in spinners {
            self.stop_spinning(spinner.id);
        }
        for sleeper in &sleepers {
            let task = &mut self.tasks[sleeper.id as usize];
            task.step = Step::Start;
            task.pc += 1;
        }
        // Woken from the end of the list: oldest sleeper first.
        sleepers.reverse();
        match releaser {
            Some(task) => self.tasks[task.id as usize].to_wake = sleepers,
            None => sleepers
                .iter()
                .for_each(|&sleeper| self.wake_without_waker(sleeper)),
        }
    }

    fn stop_spinning(&mut self, id: TaskId) {
        let cpu = self.tasks[id as usize].cpu;
        let running = self.rqs[cpu.index()].running() == Some(id);
        if running {
            self.progress(cpu);
        }
        self.tasks[id as usize].left = 0;
        if running {
            self.arm_running(cpu);
        }
    }

    /// A member leaves: the others may have waited for it alone.
    pub(super) fn leave_team(&mut self, team: TeamId) {
        let state = &mut self.teams[team];
        state.members -= 1;
        let waiting = state.spinners.len() + state.sleepers.len();
        if waiting > 0 && state.arrived >= state.members {
            self.release(team, None);
        }
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
            let state = &mut self.teams[team];
            state.rounds_done = state.rounds_done.wrapping_add(1);
        }
    }

    /// Length of one `Run`.
    fn draw_work(&mut self, id: TaskId, work: &Work) -> Ns {
        let task = &mut self.tasks[id as usize];
        let mut time = draw(&mut task.stream, work.time);
        if let Some(growth) = work.growth {
            let rounds = work
                .split
                .map_or(task.rounds, |team| self.teams[team].rounds_done);
            time = grown(time, growth, rounds);
        }
        if let Some(team) = work.split {
            time /= Ns::from(self.teams[team].members.max(1));
        }
        time
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
                Op::Run(_) | Op::Wait { .. } | Op::Reply | Op::Barrier { .. } | Op::Fork { .. } => {
                    self.tasks[id as usize].pc += 1
                }
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

    /// Takes a task out of whatever it waits on.
    pub(super) fn forget_waiting(&mut self, id: TaskId) {
        let me = self.task_ref(id);
        if let Step::Waiting(queue) = self.tasks[id as usize].step {
            let instance = self.instance(id, queue);
            self.queues[queue][instance]
                .waiters
                .retain(|&other| other != me);
        }
    }

    /// Whether a blocked task is about to be woken: its token is there or its
    /// answer was given.
    pub(super) fn wakeup_under_way(&self, id: TaskId) -> bool {
        let task = &self.tasks[id as usize];
        match task.step {
            Step::Waiting(queue) => {
                let me = self.task_ref(id);
                !self.queues[queue][self.instance(id, queue)]
                    .waiters
                    .contains(&me)
            }
            Step::Awaiting => task.replied,
            _ => false,
        }
    }
}

/// One duration of a distribution.
pub(super) fn draw(stream: &mut Stream, dist: Dist) -> Ns {
    match dist {
        Dist::Const(time) => time,
        Dist::Uniform(low, high) => {
            let span = u128::from(high - low) + 1;
            low + ((u128::from(stream.next_u64()) * span) >> 64) as Ns
        }
        Dist::Exp(mean) => {
            // 53 random bits in (0, 1]: the logarithm is finite.
            let u = ((stream.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
            (-libm::log(u) * mean as f64) as Ns
        }
        Dist::LogNormal { median, sigma } => {
            let u = (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            (median as f64 * libm::exp(sigma * normal(u))) as Ns
        }
    }
}

/// Quantile of the standard normal distribution, by bisection.
fn normal(p: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    // 40 halvings of 18 leave 2e-11: below one ns of any duration.
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if 0.5 * libm::erfc(-middle / core::f64::consts::SQRT_2) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// `time` times the growth reached after `rounds` rounds.
fn grown(time: Ns, growth: Growth, rounds: u32) -> Ns {
    let period = growth.rounds.max(1);
    let at = if growth.repeat {
        rounds % period
    } else {
        rounds.min(period)
    };
    let first = Ns::from(growth.first_permille);
    let width = first + (1000 - first.min(1000)) * Ns::from(at) / Ns::from(period);
    (0..growth.power).fold(time, |time, _| time * width / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng::Purpose;
    use crate::sim::time::{MS, US};

    fn mean(dist: Dist) -> u64 {
        let mut stream = Stream::new(1, Purpose::Workload, 0);
        (0..20_000).map(|_| draw(&mut stream, dist)).sum::<u64>() / 20_000
    }

    #[test]
    fn distributions_have_the_means_they_promise() {
        assert_eq!(mean(Dist::Const(7)), 7);
        assert!(mean(Dist::Uniform(100, 300)).abs_diff(200) < 2);
        // Standard error 0.7 %.
        assert!(mean(Dist::Exp(100 * US)).abs_diff(100 * US) < 2 * US);
        // exp(sigma^2 / 2) = 1.1331 above the median.
        let lognormal = Dist::LogNormal {
            median: 100 * US,
            sigma: 0.5,
        };
        assert!(mean(lognormal).abs_diff(113_310) < 2 * US);
    }

    #[test]
    fn a_uniform_draw_reaches_both_ends() {
        let mut stream = Stream::new(2, Purpose::Workload, 0);
        let mut seen: Vec<u64> = (0..100)
            .map(|_| draw(&mut stream, Dist::Uniform(4, 6)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [4, 5, 6]);
    }

    #[test]
    fn quadratic_growth_of_a_linear_width() {
        let growth = Growth {
            first_permille: 100,
            rounds: 9,
            power: 2,
            repeat: true,
        };
        assert_eq!(grown(MS, growth, 0), MS / 100);
        assert_eq!(grown(MS, growth, 4), 250 * US);
        assert_eq!(grown(MS, growth, 9), MS / 100);
        let stays = Growth {
            repeat: false,
            ..growth
        };
        assert_eq!(grown(MS, stays, 100), MS);
    }
}
