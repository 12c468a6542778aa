//! Barriers: tasks of a team spin for each other, then sleep.

use super::Flow;
use crate::sim::task::{Step, TaskId, TaskRef};
use crate::sim::workload::TeamId;
use crate::sim::world::World;

/// A barrier team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::sim::world) struct TeamState {
    /// Members.
    pub(in crate::sim::world) members: u32,
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

impl TeamState {
    /// Counts a unit done by a member.
    pub(super) const fn count_round(&mut self) {
        self.rounds_done = self.rounds_done.wrapping_add(1);
    }

    /// Units done by members.
    pub(super) const fn rounds_done(&self) -> u32 {
        self.rounds_done
    }
}

impl World {
    /// Arrives at a barrier: the last to arrive releases the others.
    pub(super) fn arrive(&mut self, id: TaskId, team: TeamId, join: bool) -> Flow {
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

    /// A task that spun since `round` is done with it: the barrier is behind it,
    /// or it has spun for long enough and goes to sleep.
    pub(super) fn end_spinning(&mut self, id: TaskId, team: TeamId, round: u32) {
        if self.teams[team].round == round {
            let me = self.task_ref(id);
            self.teams[team].spinners.retain(|&other| other != me);
            self.teams[team].sleepers.push(me);
            self.tasks[id as usize].step = Step::AtBarrier(team);
        } else {
            self.tasks[id as usize].pc += 1;
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
    pub(in crate::sim::world) fn leave_team(&mut self, team: TeamId) {
        let state = &mut self.teams[team];
        state.members -= 1;
        let waiting = state.spinners.len() + state.sleepers.len();
        if waiting > 0 && state.arrived >= state.members {
            self.release(team, None);
        }
    }
}
