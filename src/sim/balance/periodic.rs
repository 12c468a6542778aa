//! Periodic balance: `sched_balance_domains()`.
//!
//! Source: `balancing.md` 6.1 to 6.3.

use crate::sim::CpuId;
use crate::sim::idle::decayed_idle_balance_cost;
use crate::sim::stats::IdleType;
use crate::sim::time::{HZ, msecs_to_jiffies};
use crate::sim::trace::TraceKind;
use crate::sim::world::World;

/// Horizon of the next periodic balance, jiffies.
const HORIZON: u64 = 60 * HZ;

impl World {
    /// The busy tick's part: balance if it is time.
    pub(in crate::sim) fn periodic_balance(&mut self, cpu: CpuId) {
        if self.jiffies() >= self.rqs[cpu.index()].next_balance {
            self.balance_domains(cpu, IdleType::NotIdle);
        }
    }

    /// Balances every domain of `cpu` that is due.
    pub(super) fn balance_domains(&mut self, cpu: CpuId, ty: IdleType) {
        let jiffies = self.jiffies();
        let mut ty = ty;
        let mut next = jiffies + HORIZON;
        let mut need_decay = false;
        let mut sum_of_maxima = 0;
        let mut go_on = true;
        for level in 0..self.shape.domains.of(cpu).len() {
            let sd = self.shape.sd(cpu, level);
            let state = &mut self.sds[sd];
            // Overwritten at each level: only the last one visited counts below.
            need_decay = self.gate.visited(&mut state.gate, self.now);
            sum_of_maxima += state.gate.max_newidle_lb_cost;
            if !go_on {
                if need_decay {
                    continue;
                }
                break;
            }
            if jiffies >= self.next_due(cpu, level, ty == IdleType::NotIdle) {
                let outcome = self.balance_pass(cpu, level, ty);
                self.emit(TraceKind::BalancePass, cpu, None, level as u64);
                go_on = outcome.go_on;
                if ty == IdleType::NotIdle {
                    let cost = self.shape.pass_cost[sd];
                    self.steal(cpu, cost);
                }
                if outcome.moved > 0 && self.hot[cpu.index()].nr_running > 0 {
                    ty = IdleType::NotIdle;
                }
                self.sds[sd].last_balance = jiffies;
            }
            next = next.min(self.next_due(cpu, level, ty == IdleType::NotIdle));
        }
        let rq = &mut self.rqs[cpu.index()];
        if need_decay {
            rq.max_idle_balance_cost = decayed_idle_balance_cost(sum_of_maxima);
        }
        rq.next_balance = next;
    }

    /// When a domain is next due: last balance plus its interval, jiffies.
    pub(super) fn next_due(&self, cpu: CpuId, level: usize, busy: bool) -> u64 {
        let state = &self.sds[self.shape.sd(cpu, level)];
        let domain = &self.shape.domains.of(cpu)[level];
        let mut interval = u64::from(state.balance_interval_ms);
        if busy {
            interval *= u64::from(domain.busy_factor);
        }
        let mut ticks = msecs_to_jiffies(interval);
        if busy {
            // Keeps busy CPUs from balancing in step with idle ones.
            ticks -= 1;
        }
        let longest = HZ * self.shape.online.len() as u64 / 10;
        state.last_balance + ticks.clamp(1, longest.max(1))
    }
}
