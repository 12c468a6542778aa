//! Balance on behalf of idle CPUs whose tick is stopped.
//!
//! An idle CPU stops its tick at the first tick that finds it idle, and is in
//! the mask from then to its first busy tick. The kick is carried out at once
//! and costs the idle CPU no time.
//!
//! Source: `balancing.md` 6.4 and 6.5.

use crate::sim::CpuId;
use crate::sim::idle::MIGRATION_COST_NS;
use crate::sim::rules::BalanceRule;
use crate::sim::stats::IdleType;
use crate::sim::time::msecs_to_jiffies;
use crate::sim::world::World;

/// Least time between two refreshes of blocked load, ms.
const BLOCKED_PERIOD_MS: u64 = 32;

/// What a kick asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kick {
    stats: bool,
    balance: bool,
    next: bool,
}

impl World {
    /// A tick finds the CPU idle: it balances if due, and the tick stops.
    pub(in crate::sim) fn idle_tick(&mut self, cpu: CpuId) {
        if self.jiffies() >= self.rqs[cpu.index()].next_balance {
            self.balance_domains(cpu, IdleType::Idle);
        }
        let rq = &mut self.rqs[cpu.index()];
        if self.hot[cpu.index()].nr_running > 0 {
            self.arm_tick(cpu);
        } else if !std::mem::replace(&mut rq.nohz, true) {
            let llc = self.shape.llc_of[cpu.index()];
            self.nohz.nr_busy_cpus[llc] -= 1;
            self.nohz.needs_update = true;
            self.nohz.has_blocked_load = true;
        }
    }

    /// The busy tick's part: wakes an idle CPU to balance for all of them.
    pub(in crate::sim) fn nohz_kick(&mut self, cpu: CpuId) {
        let llc = self.shape.llc_of[cpu.index()];
        if std::mem::take(&mut self.rqs[cpu.index()].nohz) {
            self.nohz.nr_busy_cpus[llc] += 1;
        }
        let none_idle = !self.rqs.iter().any(|rq| rq.nohz);
        if none_idle && self.rules.balance == BalanceRule::Stock612 {
            return;
        }
        let jiffies = self.jiffies();
        let mut kick = Kick {
            stats: self.nohz.has_blocked_load && jiffies > self.nohz.next_blocked,
            ..Kick::default()
        };
        if jiffies >= self.nohz.next_balance {
            if none_idle {
                return;
            }
            let crowded = self.hot[cpu.index()].nr_running >= 2;
            let hot = &self.hot[cpu.index()];
            let whole = u64::from(self.shape.topology.cpu(cpu).capacity);
            let pct = self.shape.domains.of(cpu).first();
            let pct = pct.map_or(100, |sd| u64::from(sd.imbalance_pct));
            let reduced = hot.h_nr_queued > 0 && u64::from(hot.capacity) * pct < whole * 100;
            if crowded || reduced || self.nohz.nr_busy_cpus[llc] > 1 {
                kick.stats = true;
                kick.balance = true;
            }
        }
        kick.next = self.nohz.needs_update;
        if kick == Kick::default() {
            return;
        }
        if kick.balance {
            self.nohz.next_balance = jiffies + 1;
        }
        let balancer = self.nohz_idle_cpus().find(|&c| c != cpu);
        if let Some(balancer) = balancer {
            self.nohz_balance(balancer, kick);
        }
    }

    fn nohz_idle_cpus(&self) -> impl Iterator<Item = CpuId> + '_ {
        let tickless = |cpu: &CpuId| self.rqs[cpu.index()].nohz;
        let idle = |cpu: &CpuId| self.hot[cpu.index()].idle(self.now);
        self.shape
            .online
            .iter()
            .copied()
            .filter(tickless)
            .filter(idle)
    }

    /// Serves a kick on the idle CPU `this`.
    fn nohz_balance(&mut self, this: CpuId, kick: Kick) {
        let jiffies = self.jiffies();
        if kick.stats {
            self.nohz.has_blocked_load = false;
        }
        if kick.next {
            self.nohz.needs_update = false;
        }
        let cpus: Vec<CpuId> = self.nohz_idle_cpus().collect();
        let split = cpus.iter().position(|&c| c > this).unwrap_or(cpus.len());
        let mut next = u64::MAX;
        // From the next CPU on, with wrap-around; this one comes last.
        for &cpu in cpus[split..].iter().chain(&cpus[..split]) {
            if self.hot[this.index()].nr_running > 0 {
                self.nohz.has_blocked_load |= kick.stats;
                self.nohz.needs_update |= kick.next;
                return;
            }
            if !self.hot[cpu.index()].idle(self.now) {
                continue;
            }
            if kick.stats {
                self.refresh_blocked(cpu);
            }
            if kick.balance && jiffies >= self.rqs[cpu.index()].next_balance {
                self.balance_domains(cpu, IdleType::Idle);
            }
            next = next.min(self.rqs[cpu.index()].next_balance);
        }
        if next != u64::MAX {
            self.nohz.next_balance = next;
        }
        if kick.stats {
            self.nohz.next_blocked = jiffies + msecs_to_jiffies(BLOCKED_PERIOD_MS);
        }
    }

    /// Brings the blocked load of an idle CPU up to now.
    fn refresh_blocked(&mut self, cpu: CpuId) {
        self.touch(cpu);
        let hot = &self.hot[cpu.index()];
        let left = hot.load > 0 || hot.util > 0;
        self.nohz.has_blocked_load |= left;
    }

    /// Newidle found nothing: this CPU refreshes the idle CPUs' blocked load if
    /// it expects to have the time.
    pub(super) fn nohz_newidle_balance(&mut self, cpu: CpuId) {
        let due = self.nohz.has_blocked_load && self.jiffies() >= self.nohz.next_blocked;
        if self.rqs[cpu.index()].avg_idle < MIGRATION_COST_NS || !due {
            return;
        }
        let kick = Kick {
            stats: true,
            ..Kick::default()
        };
        self.nohz_balance(cpu, kick);
    }
}
