//! Is there an imbalance, and how much of what should move?
//!
//! Source: `balancing.md` 5.4 to 5.6.

use super::group::{DomainStats, GroupStats, GroupType};
use super::{Env, MigrationType, NUMA_IMBALANCE_MIN};
use crate::sim::domain::SdFlags;

/// An imbalance to mend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Imbalance {
    pub migration: MigrationType,
    pub amount: i64,
}

const BALANCED: Option<Imbalance> = None;

/// Decides whether tasks should move from `busiest` to the local group.
pub(super) fn find(env: &Env, stats: &DomainStats, imb_numa_nr: u32) -> Option<Imbalance> {
    let busiest = stats.busiest.as_ref()?;
    let local = &stats.local;
    let prefer_sibling = busiest.flags.has(SdFlags::PREFER_SIBLING);
    let compute = || calculate(env, stats, busiest, prefer_sibling, imb_numa_nr);
    if busiest.kind == GroupType::Imbalanced {
        return compute();
    }
    if local.kind > busiest.kind {
        return BALANCED;
    }
    if local.kind == GroupType::Overloaded {
        let average = stats.total_load * 1024 / stats.total_capacity;
        let enough = local.avg_load >= busiest.avg_load
            || local.avg_load >= average
            || 100 * busiest.avg_load <= env.imbalance_pct * local.avg_load;
        return if enough { BALANCED } else { compute() };
    }
    let spread = prefer_sibling && local.kind == GroupType::HasSpare;
    if spread && sibling_imbalance(env, busiest, local) > 1 {
        return compute();
    }
    if busiest.kind != GroupType::Overloaded {
        if !env.idle() {
            return BALANCED;
        }
        if busiest.kind == GroupType::SmtBalance && busiest.smt() != local.smt() {
            return compute();
        }
        let nothing_gained = busiest.weight > 1 && local.idle_cpus <= busiest.idle_cpus + 1;
        if nothing_gained || busiest.h_nr_running == 1 {
            return BALANCED;
        }
    }
    compute()
}

/// Tasks by which two groups differ, per core if they have unequal cores.
fn sibling_imbalance(env: &Env, busiest: &GroupStats, local: &GroupStats) -> i64 {
    if !env.idle() || busiest.nr_running == 0 {
        return 0;
    }
    let (busy, own) = (i64::from(busiest.nr_running), i64::from(local.nr_running));
    if busiest.cores == local.cores {
        return (busy - own).max(0);
    }
    let (busy_cores, own_cores) = (i64::from(busiest.cores), i64::from(local.cores));
    let cores = busy_cores + own_cores;
    let difference = (own_cores * busy - busy_cores * own).max(0);
    let rounded = (2 * difference + cores) / cores;
    if rounded <= 1 && own == 0 && busy > 1 {
        2
    } else {
        rounded
    }
}

fn calculate(
    env: &Env,
    stats: &DomainStats,
    busiest: &GroupStats,
    prefer_sibling: bool,
    imb_numa_nr: u32,
) -> Option<Imbalance> {
    let local = &stats.local;
    if matches!(busiest.kind, GroupType::SmtBalance | GroupType::Imbalanced) {
        return some(MigrationType::Task, 1);
    }
    if local.kind == GroupType::HasSpare {
        return fill_spare(env, busiest, local, prefer_sibling, imb_numa_nr);
    }
    let average = stats.total_load * 1024 / stats.total_capacity;
    let mut own_load = local.avg_load;
    if local.kind < GroupType::Overloaded {
        own_load = local.load_per_capacity();
        if own_load >= busiest.avg_load || own_load >= average {
            return BALANCED;
        }
    }
    let surplus = busiest.avg_load.saturating_sub(average) * busiest.capacity;
    let lack = average.saturating_sub(own_load) * local.capacity;
    some(MigrationType::Load, (surplus.min(lack) / 1024) as i64)
}

/// The local group has room: how much should fill it.
fn fill_spare(
    env: &Env,
    busiest: &GroupStats,
    local: &GroupStats,
    prefer_sibling: bool,
    imb_numa_nr: u32,
) -> Option<Imbalance> {
    if busiest.kind > GroupType::FullyBusy && !env.flags.has(SdFlags::SHARE_LLC) {
        let spare = local.capacity.saturating_sub(local.util) as i64;
        if spare == 0 && env.idle() {
            return some(MigrationType::Task, 1);
        }
        return some(MigrationType::Util, spare);
    }
    let mut tasks = if busiest.weight == 1 || prefer_sibling {
        sibling_imbalance(env, busiest, local)
    } else {
        (i64::from(local.idle_cpus) - i64::from(busiest.idle_cpus)).max(0)
    };
    let lightly_used = local.nr_running < imb_numa_nr;
    if env.flags.has(SdFlags::NUMA) && lightly_used && tasks <= NUMA_IMBALANCE_MIN {
        tasks = 0;
    }
    // Half the difference evens out; a difference of one moves nothing.
    some(MigrationType::Task, tasks >> 1)
}

fn some(migration: MigrationType, amount: i64) -> Option<Imbalance> {
    (amount > 0).then_some(Imbalance { migration, amount })
}
