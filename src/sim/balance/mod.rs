//! Moving waiting tasks to CPUs with less to do.
//!
//! ```text
//!  newidle    a CPU about to go idle: up its domains, gate by gate
//!  periodic   at ticks, per domain and interval      \
//!  nohz       ... on behalf of tickless idle CPUs     >-- pass: one domain
//!  active     push a running task                    /      group:  statistics, busiest group
//!                                                           imbalance: how much to move
//!                                                           detach: which tasks
//! ```
//!
//! Source: `balancing.md` sections 3, 5 and 6. Symmetric capacities are assumed:
//! the misfit and asym-packing cases are not modelled.

mod active;
mod detach;
mod group;
mod imbalance;
mod newidle;
mod nohz;
mod pass;
mod periodic;
#[cfg(test)]
mod tests;

use super::CpuId;
use super::domain::SdFlags;
use super::rules::BalanceRule;
use super::stats::IdleType;
use super::world::Hot;

/// Most tasks one pass moves (`sysctl_sched_nr_migrate`).
const NR_MIGRATE: u32 = 32;
/// NUMA groups may differ by this many tasks (`NUMA_IMBALANCE_MIN`).
const NUMA_IMBALANCE_MIN: i64 = 2;
/// `balance_interval` of a pinned domain doubles up to this, ms.
const MAX_PINNED_INTERVAL_MS: u32 = 512;

/// What an imbalance is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MigrationType {
    Load,
    Util,
    Task,
}

/// One balance pass under way.
#[derive(Clone, Debug)]
struct Env {
    /// Where tasks are to go.
    dst: CpuId,
    /// On whose behalf; differs from `dst` after a pinned retry.
    cpu: CpuId,
    /// Level in the chain of `cpu`.
    level: usize,
    /// Flat index of the domain.
    sd: usize,
    ty: IdleType,
    flags: SdFlags,
    imbalance_pct: u64,
    /// Which version of the pass.
    rule: BalanceRule,
    /// CPUs taken out of consideration by a retry.
    excluded: Vec<CpuId>,
    migration: MigrationType,
    imbalance: i64,
    loop_count: u32,
    all_pinned: bool,
    some_pinned: bool,
    /// Another CPU of the local group that the pinned task may use.
    new_dst: Option<CpuId>,
}

impl Env {
    /// Whether the destination has nothing to run.
    const fn idle(&self) -> bool {
        !matches!(self.ty, IdleType::NotIdle)
    }

    /// Fair tasks that count as load of a runqueue: mainline leaves out those that
    /// only wait to leave it (`balancing.md` 11).
    const fn fair_tasks(&self, hot: &Hot) -> u32 {
        match self.rule {
            BalanceRule::Stock612 => hot.h_nr_queued,
            BalanceRule::Mainline => hot.h_nr_runnable,
        }
    }

    /// Whether `cpu` is under consideration.
    fn considers(&self, cpu: CpuId) -> bool {
        self.excluded.is_empty() || !self.excluded.contains(&cpu)
    }
}
