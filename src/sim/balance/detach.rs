//! The source runqueue and the tasks to move.
//!
//! Source: `balancing.md` 5.7 and 5.8.

use super::{Env, MigrationType, NR_MIGRATE};
use crate::sim::CpuId;
use crate::sim::domain::{GroupId, SdFlags};
use crate::sim::fair::{Dequeue, Enqueue};
use crate::sim::idle::MIGRATION_COST_NS;
use crate::sim::rules::BalanceRule;
use crate::sim::stats::IdleType;
use crate::sim::task::{Place, TaskId};
use crate::sim::topology::CAPACITY_SCALE;
use crate::sim::trace::TraceKind;
use crate::sim::view::Pull;
use crate::sim::world::World;

/// Whether a task may be moved by a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Movable {
    No,
    Yes { hot: bool },
}

impl World {
    /// The runqueue of the busiest group to take tasks from.
    pub(super) fn find_src_rq(&self, env: &Env, group: GroupId) -> Option<CpuId> {
        let mut best: Option<(CpuId, u64, u64)> = None;
        for &cpu in &self.shape.domains.group(group).cpus {
            let hot = &self.hot[cpu.index()];
            let tasks = env.fair_tasks(hot);
            if !env.considers(cpu) || tasks == 0 {
                continue;
            }
            let capacity = u64::from(hot.capacity.max(1));
            let value = match env.migration {
                MigrationType::Load => {
                    let reduced = capacity * env.imbalance_pct < u64::from(CAPACITY_SCALE) * 100;
                    if tasks == 1 && hot.load as i64 > env.imbalance && !reduced {
                        continue;
                    }
                    hot.load
                }
                MigrationType::Util => {
                    if tasks <= 1 {
                        continue;
                    }
                    hot.cpu_util()
                        .max(u64::from(hot.runnable).min(u64::from(CAPACITY_SCALE)))
                }
                MigrationType::Task => u64::from(tasks),
            };
            // Load counts per capacity; a maximum of 0 is not a source.
            let per = if env.migration == MigrationType::Load {
                capacity
            } else {
                1
            };
            let wins = best.map_or(value > 0, |(_, most, most_per)| {
                value * most_per > most * per
            });
            if wins {
                best = Some((cpu, value, per));
            }
        }
        best.map(|(cpu, ..)| cpu)
    }

    /// Moves tasks from `src` to `env.dst` until the imbalance is mended.
    pub(super) fn detach_tasks(&mut self, env: &mut Env, src: CpuId) -> u32 {
        if self.hot[src.index()].nr_running <= 1 {
            env.all_pinned = false;
            return 0;
        }
        let limit = NR_MIGRATE.min(self.hot[src.index()].nr_running);
        let mut moved = 0;
        while env.imbalance > 0 && !self.rqs[src.index()].cfs_tasks.is_empty() {
            if env.idle() && self.hot[src.index()].nr_running <= 1 {
                break;
            }
            env.loop_count += 1;
            if env.loop_count > limit {
                break;
            }
            let id = self.rqs[src.index()].cfs_tasks[0];
            let Movable::Yes { hot } = self.can_migrate(env, src, id) else {
                self.rqs[src.index()].cfs_tasks.rotate_left(1);
                continue;
            };
            if !self.fits_imbalance(env, id) {
                self.rqs[src.index()].cfs_tasks.rotate_left(1);
                continue;
            }
            self.move_task(env, src, id, hot);
            moved += 1;
            // A preemptible kernel keeps the newly idle CPU waiting for one task.
            if env.ty == IdleType::NewlyIdle {
                break;
            }
        }
        moved
    }

    /// `can_migrate_task()`.
    fn can_migrate(&mut self, env: &mut Env, src: CpuId, id: TaskId) -> Movable {
        if env.rule == BalanceRule::Mainline && self.stays_for_now(env, src, id) {
            return Movable::No;
        }
        let task = &self.tasks[id as usize];
        let allowed = task.allowed.as_deref();
        if allowed.is_some_and(|mask| !mask.contains(env.dst)) {
            env.some_pinned = true;
            if env.ty != IdleType::NewlyIdle && env.new_dst.is_none() {
                let group = self.shape.domains.of(env.cpu)[env.level].groups[0];
                let local = &self.shape.domains.group(group).balance_mask;
                env.new_dst = local
                    .iter()
                    .find(|&cpu| env.considers(cpu) && allowed.is_some_and(|m| m.contains(cpu)));
            }
            return Movable::No;
        }
        env.all_pinned = false;
        if self.rqs[src.index()].running() == Some(id) {
            return Movable::No;
        }
        let hot = self.cache_hot(env, id);
        let sd = self.shape.domains.of(env.cpu)[env.level].cache_nice_tries;
        if hot && self.sds[env.sd].nr_balance_failed <= sd {
            return Movable::No;
        }
        Movable::Yes { hot }
    }

    /// Mainline's first filters: a delayed task only counts as load, and one that
    /// has had more than its share waits while others have their turn there.
    fn stays_for_now(&self, env: &Env, src: CpuId, id: TaskId) -> bool {
        let delayed = self.tasks[id as usize].place == Place::Delayed;
        if delayed && env.migration != MigrationType::Load {
            return true;
        }
        self.sds[env.sd].nr_balance_failed == 0
            && self.hot[env.dst.index()].h_nr_runnable > 0
            && !self.rqs[src.index()]
                .fair
                .eligible(&self.fair_params, &self.store, id)
    }

    /// Whether the task ran so lately that its caches are warm.
    fn cache_hot(&self, env: &Env, id: TaskId) -> bool {
        let idle_class = self.store.task(id).is_idle();
        if idle_class || env.flags.has(SdFlags::SHARE_CPUCAPACITY) {
            return false;
        }
        self.now - self.store.task(id).exec_start < MIGRATION_COST_NS
    }

    /// Takes the task off the imbalance, unless it is too large for it.
    fn fits_imbalance(&self, env: &mut Env, id: TaskId) -> bool {
        let task = &self.tasks[id as usize];
        let size = match env.migration {
            MigrationType::Task => {
                env.imbalance -= 1;
                return true;
            }
            MigrationType::Load => task.pelt.load_avg.max(1),
            MigrationType::Util => task.util_est.expect(&task.pelt),
        };
        let tries = self.sds[env.sd].nr_balance_failed.min(63);
        if (size >> tries) as i64 > env.imbalance {
            return false;
        }
        env.imbalance -= size as i64;
        true
    }

    fn move_task(&mut self, env: &Env, src: CpuId, id: TaskId, hot: bool) {
        let stats = &mut self.sds[env.sd].stats.lb[env.ty as usize];
        stats.lb_gained += 1;
        stats.lb_hot_gained += u64::from(hot);
        self.transfer(src, env.dst, id, env.ty == IdleType::NewlyIdle);
    }

    /// Moves a waiting task to another runqueue.
    pub(super) fn transfer(&mut self, src: CpuId, dst: CpuId, id: TaskId, newidle: bool) {
        self.dequeue(src, id, Dequeue::Migrate);
        self.enqueue(dst, id, Enqueue::Migrate);
        let class = self.tasks[id as usize].class;
        self.rqs[dst.index()].last_pull = Some(Pull {
            at: self.now,
            from: src,
            class,
            newidle,
        });
        self.emit(TraceKind::Pull, dst, Some(id), u64::from(src.0));
        self.preempt_for(dst, id, false);
    }
}
