//! One balance pass over one domain: `sched_balance_rq()`.
//!
//! Source: `balancing.md` section 5.

use super::{Env, MAX_PINNED_INTERVAL_MS, MigrationType, imbalance};
use crate::sim::CpuId;
use crate::sim::domain::SdFlags;
use crate::sim::stats::IdleType;
use crate::sim::world::World;

/// What a pass did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub moved: u32,
    /// Whether higher domains are worth a look (`continue_balancing`).
    pub go_on: bool,
}

/// How a pass without a move ended.
enum End {
    /// No imbalance, or nothing that could be taken.
    Balanced,
    /// Every task of every source is pinned elsewhere.
    AllPinned,
    /// The task to push may not run here.
    OnePinned,
}

impl World {
    /// Runs one pass of periodic or nohz balance, at once.
    pub(super) fn balance_pass(&mut self, cpu: CpuId, level: usize, ty: IdleType) -> Outcome {
        let sd = self.shape.sd(cpu, level);
        self.sds[sd].stats.lb[ty as usize].lb_count += 1;
        if !self.should_we_balance(cpu, level, ty) {
            return self.not_elected(cpu, level, ty);
        }
        let domain = &self.shape.domains.of(cpu)[level];
        if domain.flags.has(SdFlags::SERIALIZE) && self.serialize_taken {
            return self.token_busy(cpu, level, ty);
        }
        self.balance_elected(cpu, level, ty)
    }

    /// The pass of a CPU that is not the one to balance this domain.
    pub(super) fn not_elected(&mut self, cpu: CpuId, level: usize, ty: IdleType) -> Outcome {
        self.finish_balanced(cpu, level, ty, End::Balanced);
        Outcome {
            moved: 0,
            go_on: false,
        }
    }

    /// The `SD_SERIALIZE` token was with another CPU.
    pub(super) fn token_busy(&mut self, cpu: CpuId, level: usize, ty: IdleType) -> Outcome {
        self.finish_balanced(cpu, level, ty, End::Balanced)
    }

    /// Steps 4 to 9 of the pass.
    pub(super) fn balance_elected(&mut self, cpu: CpuId, level: usize, ty: IdleType) -> Outcome {
        let mut env = self.new_env(cpu, level, ty);
        loop {
            let Some(src) = self.find_source(&mut env) else {
                return self.finish_balanced(cpu, level, ty, End::Balanced);
            };
            env.all_pinned = true;
            env.some_pinned = false;
            env.loop_count = 0;
            let mut moved = 0;
            if self.hot[src.index()].nr_running > 1 {
                moved = self.detach_with_retries(&mut env, src);
                self.note_pinning(&env);
                if env.all_pinned {
                    env.excluded.push(src);
                    if self.has_remote_candidate(&env) {
                        continue;
                    }
                    return self.finish_balanced(cpu, level, ty, End::AllPinned);
                }
            }
            return self.finish(&mut env, src, moved);
        }
    }

    fn new_env(&self, cpu: CpuId, level: usize, ty: IdleType) -> Env {
        let domain = &self.shape.domains.of(cpu)[level];
        Env {
            dst: cpu,
            cpu,
            level,
            sd: self.shape.sd(cpu, level),
            ty,
            flags: domain.flags,
            imbalance_pct: u64::from(domain.imbalance_pct),
            rule: self.rules.balance,
            excluded: Vec::new(),
            migration: MigrationType::Task,
            imbalance: 0,
            loop_count: 0,
            all_pinned: false,
            some_pinned: false,
            new_dst: None,
        }
    }

    fn find_source(&mut self, env: &mut Env) -> Option<CpuId> {
        let stats = self.domain_stats(env);
        let imb_numa_nr = self.shape.domains.of(env.cpu)[env.level].imb_numa_nr;
        let counters = &mut self.sds[env.sd].stats.lb[env.ty as usize];
        let Some(found) = imbalance::find(env, &stats, imb_numa_nr) else {
            counters.lb_nobusyg += 1;
            return None;
        };
        env.migration = found.migration;
        env.imbalance = found.amount;
        let group = stats.busiest?.id;
        let Some(src) = self.find_src_rq(env, group).filter(|&src| src != env.dst) else {
            self.sds[env.sd].stats.lb[env.ty as usize].lb_nobusyq += 1;
            return None;
        };
        let counters = &mut self.sds[env.sd].stats.lb[env.ty as usize];
        let amount = found.amount as u64;
        match found.migration {
            MigrationType::Load => counters.lb_imbalance_load += amount,
            MigrationType::Util => counters.lb_imbalance_util += amount,
            MigrationType::Task => counters.lb_imbalance_task += amount,
        }
        Some(src)
    }

    /// Detaches, and again for another CPU of the group where pinning asks it.
    fn detach_with_retries(&mut self, env: &mut Env, src: CpuId) -> u32 {
        let mut moved = self.detach_tasks(env, src);
        while env.imbalance > 0
            && let Some(dst) = env.new_dst.take()
        {
            env.excluded.push(env.dst);
            env.dst = dst;
            env.loop_count = 0;
            moved += self.detach_tasks(env, src);
        }
        moved
    }

    /// Tells the parent's group that pinned tasks keep it uneven.
    fn note_pinning(&mut self, env: &Env) {
        let parent = self.shape.domains.of(env.cpu).get(env.level + 1);
        if let Some(parent) = parent
            && env.some_pinned
            && env.imbalance > 0
        {
            let group = parent.groups[0];
            *self.group_imbalance(group) = true;
        }
    }

    /// Whether a CPU outside of the local group is still under consideration.
    fn has_remote_candidate(&self, env: &Env) -> bool {
        let domain = &self.shape.domains.of(env.cpu)[env.level];
        let local = &self.shape.domains.group(domain.groups[0]).balance_mask;
        domain
            .span
            .iter()
            .any(|cpu| env.considers(cpu) && !local.contains(cpu))
    }

    /// Steps 8 and 9.
    fn finish(&mut self, env: &mut Env, src: CpuId, moved: u32) -> Outcome {
        let mut pushing = false;
        if moved == 0 {
            let state = &mut self.sds[env.sd];
            state.stats.lb[env.ty as usize].lb_failed += 1;
            if env.ty != IdleType::NewlyIdle {
                state.nr_balance_failed += 1;
            }
            if self.need_active_balance(env, src) {
                if !self.may_push_running(env, src) {
                    return self.finish_balanced(env.cpu, env.level, env.ty, End::OnePinned);
                }
                pushing = self.start_active_balance(src, env.dst);
            }
        } else {
            self.sds[env.sd].nr_balance_failed = 0;
        }
        if !pushing || self.need_active_balance(env, src) {
            let min = self.shape.domains.of(env.cpu)[env.level].min_interval_ms;
            self.sds[env.sd].balance_interval_ms = min;
        }
        Outcome { moved, go_on: true }
    }

    /// The BALANCED, ALL PINNED and ONE PINNED ends.
    fn finish_balanced(&mut self, cpu: CpuId, level: usize, ty: IdleType, end: End) -> Outcome {
        let sd = self.shape.sd(cpu, level);
        let all_pinned = matches!(end, End::AllPinned);
        if matches!(end, End::Balanced) {
            let parent = self
                .shape
                .domains
                .of(cpu)
                .get(level + 1)
                .map(|sd| sd.groups[0]);
            if let Some(group) = parent {
                *self.group_imbalance(group) = false;
            }
        }
        let max = self.shape.domains.of(cpu)[level].max_interval_ms;
        let state = &mut self.sds[sd];
        if !matches!(end, End::OnePinned) {
            state.stats.lb[ty as usize].lb_balanced += 1;
            state.nr_balance_failed = 0;
        }
        if ty != IdleType::NewlyIdle {
            let interval = state.balance_interval_ms;
            if all_pinned && interval < MAX_PINNED_INTERVAL_MS || interval < max {
                state.balance_interval_ms *= 2;
            }
        }
        Outcome {
            moved: 0,
            go_on: true,
        }
    }

    /// Whether this CPU is the one of its group to balance the domain.
    fn should_we_balance(&self, cpu: CpuId, level: usize, ty: IdleType) -> bool {
        if ty == IdleType::NewlyIdle {
            let hot = &self.hot[cpu.index()];
            return hot.nr_running == 0 && !hot.ttwu_pending;
        }
        let domain = &self.shape.domains.of(cpu)[level];
        let group = self.shape.domains.group(domain.groups[0]);
        let above_smt = !domain.flags.has(SdFlags::SHARE_CPUCAPACITY);
        let idle = |c: CpuId| self.hot[c.index()].idle(self.now);
        let mut idle_smt = None;
        let mut dropped: Vec<CpuId> = Vec::new();
        for candidate in group.balance_mask.iter() {
            if !idle(candidate) || dropped.contains(&candidate) {
                continue;
            }
            let siblings = &self.shape.siblings[candidate.index()];
            if above_smt && siblings.iter().any(|&s| !idle(s)) {
                idle_smt = idle_smt.or(Some(candidate));
                dropped.extend(siblings);
                continue;
            }
            return candidate == cpu;
        }
        idle_smt.unwrap_or_else(|| group.balance_cpu()) == cpu
    }

    /// Whether newidle may search this domain: nothing came in meanwhile.
    pub(super) fn still_newly_idle(&self, cpu: CpuId) -> bool {
        self.should_we_balance(cpu, 0, IdleType::NewlyIdle)
    }
}
