//! Newidle balance: a CPU about to go idle looks for a waiting task.
//!
//! ```text
//!  newidle ---- nothing overloaded, or no time for the first domain --> idle
//!     |
//!  search_on <------------------------------+
//!     |  cost gate, policy: next domain     |
//!     |  or the top: end_walk               |
//!     v                                     |
//!  (a pass takes time: wakeups may land)    |
//!     |                                     |
//!  newidle_pass_done --- nothing pulled ----+
//!     |
//!  end_walk --> run what was pulled or came in, else idle
//! ```
//! Source: `balancing.md` section 3.

use crate::sim::CpuId;
use crate::sim::domain::SdFlags;
use crate::sim::gate::Verdict;
use crate::sim::idle::raised_idle_balance_cost;
use crate::sim::rng::{Purpose, draw_at};
use crate::sim::rules::BalanceRule;
use crate::sim::stats::IdleType;
use crate::sim::time::{HZ, Ns};
use crate::sim::trace::TraceKind;
use crate::sim::view::{NewidleEnd, NewidleOutcome};
use crate::sim::world::{CpuState, Walk, World};

/// A pass that ends at once, because something came in or the token is busy,
/// still takes the time of a few reads, and so counts as a call.
const SHORT_PASS_NS: Ns = 50;

impl World {
    /// `sched_balance_newidle()`: the fair class has nothing to pick.
    pub(in crate::sim) fn newidle(&mut self, cpu: CpuId) {
        let jiffies = self.jiffies();
        let rq = &mut self.rqs[cpu.index()];
        rq.newidle.entries += 1;
        rq.walk = Walk {
            began: self.now,
            t0: self.now,
            next_balance: jiffies + HZ,
            avg_idle: rq.avg_idle,
            ..Walk::default()
        };
        self.emit(TraceKind::NewidleStart, cpu, None, 0);
        if self.hot[cpu.index()].ttwu_pending {
            self.note_end(cpu, NewidleEnd::Woken);
            self.go_idle(cpu);
            return;
        }
        // The rq clock is 0 only at boot; 0 means that nothing is measured.
        self.rqs[cpu.index()].idle_stamp = self.now.max(1);
        self.rqs[cpu.index()].state = CpuState::Newidle;
        if self.first_gate_opens(cpu) {
            self.search_on(cpu);
        } else {
            self.end_walk(cpu, 0);
        }
    }

    /// Step 7: is anything overloaded, and is there time for the lowest domain?
    fn first_gate_opens(&mut self, cpu: CpuId) -> bool {
        if self.shape.domains.of(cpu).is_empty() {
            self.note_end(cpu, NewidleEnd::Nothing);
            return false;
        }
        let sd = self.shape.sd(cpu, 0);
        self.sds[sd].stats.newidle.entries += 1;
        let avg_idle = self.rqs[cpu.index()].walk.avg_idle;
        let state = &mut self.sds[sd];
        if !self.overloaded {
            state.stats.newidle.skips_not_overloaded += 1;
            self.rqs[cpu.index()].newidle.skips_not_overloaded += 1;
            self.note_due(cpu, 0);
            self.emit(TraceKind::NewidleNotOverloaded, cpu, None, 0);
            self.note_end(cpu, NewidleEnd::NotOverloaded);
            return false;
        }
        if self.gate.cost_forbids(&state.gate, avg_idle, 0) {
            self.note_due(cpu, 0);
            self.count_cost_gate(cpu, 0, 0);
            return false;
        }
        true
    }

    fn count_cost_gate(&mut self, cpu: CpuId, level: usize, spent: Ns) {
        let sd = self.shape.sd(cpu, level);
        self.sds[sd].stats.newidle.skips_cost_gate += 1;
        let cost = spent + self.sds[sd].gate.max_newidle_lb_cost;
        self.rqs[cpu.index()].newidle.skips_cost_gate += 1;
        self.emit(TraceKind::NewidleCostGate, cpu, None, level as u64);
        self.note_end(cpu, NewidleEnd::CostGate { level, cost });
    }

    /// Lowers the walk's `next_balance` to the due time of a domain.
    fn note_due(&mut self, cpu: CpuId, level: usize) {
        let due = self.next_due(cpu, level, false);
        let walk = &mut self.rqs[cpu.index()].walk;
        walk.next_balance = walk.next_balance.min(due);
    }

    /// Step 9: goes up the domains until one is searched or the walk ends.
    fn search_on(&mut self, cpu: CpuId) {
        let levels = self.shape.domains.of(cpu).len();
        loop {
            let walk = self.rqs[cpu.index()].walk;
            let level = walk.level;
            if level == levels {
                self.note_end(cpu, NewidleEnd::Nothing);
                self.end_walk(cpu, 0);
                return;
            }
            self.note_due(cpu, level);
            let sd = self.shape.sd(cpu, level);
            // At the lowest domain the entry was counted by the first gate.
            self.sds[sd].stats.newidle.entries += u64::from(level > 0);
            if self
                .gate
                .cost_forbids(&self.sds[sd].gate, walk.avg_idle, walk.curr_cost)
            {
                self.count_cost_gate(cpu, level, walk.curr_cost);
                self.end_walk(cpu, 0);
                return;
            }
            let flags = self.shape.domains.of(cpu)[level].flags;
            if flags.has(SdFlags::BALANCE_NEWIDLE) && self.ask_policy(cpu, level) {
                self.begin_pass(cpu, level, flags);
                return;
            }
            self.rqs[cpu.index()].walk.level += 1;
        }
    }

    /// Step 9d.
    fn ask_policy(&mut self, cpu: CpuId, level: usize) -> bool {
        let sd = self.shape.sd(cpu, level);
        let seed = self.seed();
        let owner = u64::from(cpu.0) << 8 | level as u64;
        let state = &mut self.sds[sd];
        let call = state.gate.asked;
        let dice = || (draw_at(seed, Purpose::Dice, owner, call) >> 54) as u32;
        let verdict = self.gate.ask(&mut state.gate, self.now, dice);
        let rq = &mut self.rqs[cpu.index()];
        state.stats.newidle.calls += 1;
        rq.newidle.calls += 1;
        match verdict {
            Verdict::Search { weight } => {
                state.stats.newidle.runs += 1;
                rq.newidle.runs += 1;
                rq.walk.weight = weight;
                rq.walk.searched |= 1 << level;
                true
            }
            Verdict::Skip => {
                state.stats.newidle.skips_policy += 1;
                rq.newidle.skips_policy += 1;
                rq.walk.skipped |= 1 << level;
                self.emit(TraceKind::NewidleSkip, cpu, None, level as u64);
                false
            }
        }
    }

    /// Step 9e, first half: the pass begins and takes its time.
    fn begin_pass(&mut self, cpu: CpuId, level: usize, flags: SdFlags) {
        let sd = self.shape.sd(cpu, level);
        // The first domain that runs pays for the update of blocked load.
        let first = self.rqs[cpu.index()].walk.curr_cost == 0;
        let before = if first {
            self.shape.topology.costs.blocked_update
        } else {
            0
        };
        self.sds[sd].stats.lb[IdleType::NewlyIdle as usize].lb_count += 1;
        if !self.still_newly_idle(cpu) {
            self.not_elected(cpu, level, IdleType::NewlyIdle);
            self.book_pass(cpu, before + SHORT_PASS_NS, 0);
            self.note_end(cpu, NewidleEnd::Woken);
            self.end_walk(cpu, 0);
            return;
        }
        // In 6.12 newidle neither takes nor heeds the token.
        let serial = flags.has(SdFlags::SERIALIZE) && self.rules.balance == BalanceRule::Mainline;
        if serial && self.serialize_taken {
            self.token_busy(cpu, level, IdleType::NewlyIdle);
            self.book_pass(cpu, before + SHORT_PASS_NS, 0);
            self.rqs[cpu.index()].walk.level += 1;
            self.search_on(cpu);
            return;
        }
        self.serialize_taken |= serial;
        self.rqs[cpu.index()].walk.holds_token = serial;
        let cost = before + self.draw_pass_cost(cpu, sd);
        self.arm(cpu, self.now + cost);
    }

    /// Step 9e, second half: the time is up, tasks move now.
    pub(in crate::sim) fn newidle_pass_done(&mut self, cpu: CpuId) {
        let level = self.rqs[cpu.index()].walk.level;
        if std::mem::take(&mut self.rqs[cpu.index()].walk.holds_token) {
            self.serialize_taken = false;
        }
        let outcome = self.balance_elected(cpu, level, IdleType::NewlyIdle);
        let walk = self.rqs[cpu.index()].walk;
        let mut cost = self.now - walk.t0;
        if outcome.moved > 0 {
            let from = self.rqs[cpu.index()]
                .last_pull
                .map_or(cpu, |pull| pull.from);
            let detach = self
                .shape
                .topology
                .costs
                .detach
                .at(self.shape.distance(cpu, from));
            cost += detach;
            self.rqs[cpu.index()].overhead += detach;
        }
        self.book_pass(cpu, cost, outcome.moved);
        let pulled = u64::from(outcome.moved > 0);
        self.emit(TraceKind::NewidlePass, cpu, None, level as u64 * 2 + pulled);
        if outcome.moved > 0 {
            self.note_end(cpu, NewidleEnd::Pulled { level });
            self.end_walk(cpu, outcome.moved);
        } else {
            self.rqs[cpu.index()].last_miss = Some(self.now);
            self.rqs[cpu.index()].walk.level += 1;
            self.search_on(cpu);
        }
    }

    /// Books cost and success of the pass over the walk's domain.
    fn book_pass(&mut self, cpu: CpuId, cost: Ns, moved: u32) {
        let rq = &mut self.rqs[cpu.index()];
        rq.walk.curr_cost += cost;
        rq.walk.t0 = self.now;
        rq.newidle.pulls += u64::from(moved);
        let (level, weight) = (rq.walk.level, rq.walk.weight);
        let sd = self.shape.sd(cpu, level);
        let state = &mut self.sds[sd];
        state.stats.newidle.pulls += u64::from(moved);
        self.gate
            .searched(&mut state.gate, self.now, cost, moved > 0, weight);
    }

    /// Steps 10 to 14.
    fn end_walk(&mut self, cpu: CpuId, moved: u32) {
        let rq = &mut self.rqs[cpu.index()];
        rq.stats.newidle_time += self.now - rq.walk.began;
        rq.max_idle_balance_cost =
            raised_idle_balance_cost(rq.max_idle_balance_cost, rq.walk.curr_cost);
        rq.next_balance = rq.next_balance.min(rq.walk.next_balance);
        // A task that came in meanwhile is as good as a pull, but no success.
        let found = moved > 0 || self.hot[cpu.index()].nr_running > 0;
        if found {
            self.rqs[cpu.index()].idle_stamp = 0;
            if !self.rqs[cpu.index()].wake_list.is_empty() {
                // Interrupts are on again.
                self.at(self.now, crate::sim::event::EventKind::WakeArrive(cpu));
            }
            self.pick_next(cpu, false);
        } else {
            self.nohz_newidle_balance(cpu);
            self.go_idle(cpu);
        }
    }

    fn note_end(&mut self, cpu: CpuId, end: NewidleEnd) {
        let rq = &mut self.rqs[cpu.index()];
        let walk = &rq.walk;
        rq.last_newidle = Some(NewidleOutcome {
            at: walk.began,
            avg_idle: walk.avg_idle,
            searched: walk.searched,
            skipped: walk.skipped,
            end,
        });
    }
}
