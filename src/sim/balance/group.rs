//! Statistics of sched groups and the choice of the busiest.
//!
//! Source: `balancing.md` 5.2 and 5.3.

use super::Env;
use crate::sim::domain::{GroupId, SchedGroup, SdFlags};
use crate::sim::world::World;

/// How loaded a group is, lightest first. The order decides which group is the
/// busiest; the gaps are the kernel's types for cases not modelled here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GroupType {
    HasSpare = 0,
    FullyBusy = 1,
    SmtBalance = 3,
    Imbalanced = 5,
    Overloaded = 7,
}

/// Sums over a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupStats {
    pub id: GroupId,
    pub load: u64,
    pub util: u64,
    pub runnable: u64,
    /// Tasks on the runqueues.
    pub nr_running: u32,
    /// Fair ones of them; in mainline without delayed ones.
    pub h_nr_running: u32,
    pub idle_cpus: u32,
    pub capacity: u64,
    pub weight: u32,
    pub cores: u32,
    /// Of the child domain.
    pub flags: SdFlags,
    pub kind: GroupType,
    /// Load per capacity, 1024ths; 0 unless overloaded or asked for.
    pub avg_load: u64,
}

impl GroupStats {
    /// Whether the group is the threads of one core.
    pub const fn smt(&self) -> bool {
        self.flags.has(SdFlags::SHARE_CPUCAPACITY)
    }

    /// Load per capacity.
    pub const fn load_per_capacity(&self) -> u64 {
        self.load * 1024 / self.capacity
    }

    const fn overloaded(&self, pct: u64) -> bool {
        self.nr_running > self.weight
            && (self.capacity * 100 < self.util * pct || self.capacity * pct < self.runnable * 100)
    }

    const fn has_capacity(&self, pct: u64) -> bool {
        if self.nr_running < self.weight {
            return true;
        }
        if self.capacity * pct < self.runnable * 100 {
            return false;
        }
        self.capacity * 100 > self.util * pct
    }
}

/// Statistics of a domain.
#[derive(Clone, Debug)]
pub(super) struct DomainStats {
    pub local: GroupStats,
    pub busiest: Option<GroupStats>,
    pub total_load: u64,
    pub total_capacity: u64,
    /// Some CPU has two tasks.
    pub overloaded: bool,
}

impl World {
    /// Statistics of every group and the busiest one. At a top-level domain this
    /// rewrites `rd->overloaded`.
    pub(super) fn domain_stats(&mut self, env: &Env) -> DomainStats {
        let shape = std::sync::Arc::clone(&self.shape);
        let chain = shape.domains.of(env.cpu);
        let groups = &chain[env.level].groups;
        let mut overloaded = false;
        let local = self.group_stats(env, groups[0], true, &mut overloaded);
        let mut stats = DomainStats {
            local,
            busiest: None,
            total_load: local.load,
            total_capacity: local.capacity,
            overloaded: false,
        };
        for &group in &groups[1..] {
            let candidate = self.group_stats(env, group, false, &mut overloaded);
            stats.total_load += candidate.load;
            stats.total_capacity += candidate.capacity;
            if is_busier(&candidate, stats.busiest.as_ref()) {
                stats.busiest = Some(candidate);
            }
        }
        stats.overloaded = overloaded;
        if env.level + 1 == chain.len() {
            self.overloaded = overloaded;
        }
        stats
    }

    fn group_stats(
        &self,
        env: &Env,
        id: GroupId,
        local: bool,
        overloaded: &mut bool,
    ) -> GroupStats {
        let group: &SchedGroup = self.shape.domains.group(id);
        let mut stats = GroupStats {
            id,
            load: 0,
            util: 0,
            runnable: 0,
            nr_running: 0,
            h_nr_running: 0,
            idle_cpus: 0,
            capacity: self.shape.group_capacity[id.0 as usize].max(1),
            weight: group.weight(),
            cores: group.cores,
            flags: group.flags,
            kind: GroupType::HasSpare,
            avg_load: 0,
        };
        for &cpu in &group.cpus {
            if !env.considers(cpu) {
                continue;
            }
            let hot = &self.hot[cpu.index()];
            stats.load += hot.load;
            stats.util += hot.cpu_util();
            stats.runnable += u64::from(hot.runnable);
            stats.nr_running += hot.nr_running;
            stats.h_nr_running += env.fair_tasks(hot);
            stats.idle_cpus += u32::from(hot.idle(self.now));
            *overloaded |= hot.nr_running > 1;
        }
        // Several tasks on one core, and this CPU could take one.
        let smt_balance = !local && env.idle() && stats.smt() && stats.h_nr_running > 1;
        let imbalanced = self.group_imbalance[group.sgc as usize];
        stats.kind = kind_of(&stats, imbalanced, smt_balance, env.imbalance_pct);
        if stats.kind == GroupType::Overloaded {
            stats.avg_load = stats.load_per_capacity();
        }
        stats
    }
}

fn kind_of(stats: &GroupStats, imbalanced: bool, smt_balance: bool, pct: u64) -> GroupType {
    if stats.overloaded(pct) {
        GroupType::Overloaded
    } else if imbalanced {
        GroupType::Imbalanced
    } else if smt_balance {
        GroupType::SmtBalance
    } else if !stats.has_capacity(pct) {
        GroupType::FullyBusy
    } else {
        GroupType::HasSpare
    }
}

/// Whether `candidate` replaces the busiest group so far.
fn is_busier(candidate: &GroupStats, best: Option<&GroupStats>) -> bool {
    if candidate.h_nr_running == 0 {
        return false;
    }
    let best_kind = best.map_or(GroupType::HasSpare, |best| best.kind);
    if candidate.kind != best_kind {
        return candidate.kind > best_kind;
    }
    let Some(best) = best else {
        // A first has-spare group: nothing can have more idle CPUs than "none yet".
        return true;
    };
    match candidate.kind {
        GroupType::Overloaded => candidate.avg_load > best.avg_load,
        GroupType::Imbalanced => false,
        GroupType::SmtBalance if candidate.idle_cpus > 0 || best.idle_cpus > 0 => {
            fewer_idle_or_more_tasks(candidate, best)
        }
        // avg_load is 0 for both, so only the SMT preference is left.
        GroupType::SmtBalance | GroupType::FullyBusy => !best.smt(),
        GroupType::HasSpare => {
            if candidate.smt() != best.smt() {
                return !(candidate.smt() && candidate.h_nr_running <= 1);
            }
            fewer_idle_or_more_tasks(candidate, best)
        }
    }
}

const fn fewer_idle_or_more_tasks(candidate: &GroupStats, best: &GroupStats) -> bool {
    if candidate.idle_cpus != best.idle_cpus {
        return candidate.idle_cpus < best.idle_cpus;
    }
    candidate.nr_running > best.nr_running
}
