//! What can be read of a world.

use std::sync::Arc;

use super::{CpuState, World};
use crate::sim::domain::SchedDomains;
use crate::sim::gate::GatePolicy;
use crate::sim::rules::Rules;
use crate::sim::shape::Shape;
use crate::sim::stats::{CpuStats, Histogram, Migrations, NewidleStats};
use crate::sim::task::Step;
use crate::sim::time::Ns;
use crate::sim::topology::{CpuId, Topology};
use crate::sim::trace::Trace;
use crate::sim::view::{Activity, ClassView, CpuView, DomainView};
use crate::sim::workload::{ClassId, Workload};

/// Sums over the machine since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Events carried out.
    pub events: u64,
    /// Context switches, to tasks and to idle.
    pub schedules: u64,
    /// Newidle entries and what became of them.
    pub newidle: NewidleStats,
    /// Changes of CPU.
    pub migrations: Migrations,
    /// Idle time beside waiting tasks, summed over CPUs, ns.
    pub idle_while_waiting: Ns,
    /// Idle time, summed over CPUs, ns.
    pub idle_time: Ns,
    /// Tasks on runqueues, running ones included.
    pub nr_running: u64,
}

impl World {
    /// Simulated time.
    pub const fn now(&self) -> Ns {
        self.now
    }

    /// The machine.
    pub fn topology(&self) -> &Topology {
        &self.shape.topology
    }

    /// The machine with its tables, to boot another world on it.
    pub fn shape(&self) -> Arc<Shape> {
        Arc::clone(&self.shape)
    }

    /// Its sched domains.
    pub fn domains(&self) -> &SchedDomains {
        &self.shape.domains
    }

    /// The mix as written.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// The newidle policy chosen; the switches `NI_RANDOM` and `NI_RATE` act on
    /// it ([`Rules::gate`]).
    pub const fn policy(&self) -> &GatePolicy {
        &self.policy
    }

    /// The other rules in force.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// `rd->overloaded`: some runqueue had two tasks when last looked at.
    pub const fn overloaded(&self) -> bool {
        self.overloaded
    }

    /// The event stream.
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The event stream, to turn recording on or take what was recorded.
    pub const fn trace_mut(&mut self) -> &mut Trace {
        &mut self.trace
    }

    /// Time from wakeup to the first instruction.
    pub const fn latency(&self) -> &Histogram {
        &self.latency
    }

    /// Sums over the machine since the start.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals {
            events: self.events,
            migrations: self.migrations,
            ..Totals::default()
        };
        for cpu in &self.shape.online {
            let rq = &self.rqs[cpu.index()];
            let stats = self.cpu_stats(*cpu);
            totals.schedules += stats.switches;
            totals.newidle.add(&rq.newidle);
            totals.idle_while_waiting += stats.idle_while_waiting;
            totals.idle_time += stats.idle_time;
            totals.nr_running += u64::from(self.hot[cpu.index()].nr_running);
        }
        totals
    }

    /// Counters of a CPU, an idle period under way included.
    pub fn cpu_stats(&self, cpu: CpuId) -> CpuStats {
        let rq = &self.rqs[cpu.index()];
        let mut stats = rq.stats;
        if rq.state == CpuState::Running {
            stats.rq_cpu_time += self.now - rq.seg_start;
        }
        if rq.state == CpuState::Idle {
            stats.idle_time += self.now - rq.idle_since;
            stats.idle_while_waiting += self.waste.pending(cpu, self.now);
        }
        stats
    }

    /// One CPU.
    pub fn cpu(&self, cpu: CpuId) -> CpuView<'_> {
        let rq = &self.rqs[cpu.index()];
        CpuView {
            activity: self.activity(cpu),
            nr_running: self.hot[cpu.index()].nr_running,
            idle_beside_waiting: self.waste.wasting(cpu),
            avg_idle: rq.avg_idle,
            max_idle_balance_cost: rq.max_idle_balance_cost,
            last_pull: rq.last_pull,
            last_miss: rq.last_miss,
            last_newidle: rq.last_newidle,
            stats: &rq.stats,
            newidle: &rq.newidle,
        }
    }

    fn activity(&self, cpu: CpuId) -> Activity {
        let rq = &self.rqs[cpu.index()];
        match rq.state {
            CpuState::Offline => Activity::Offline,
            CpuState::Idle => Activity::Idle,
            CpuState::Newidle => Activity::Newidle,
            CpuState::Running => rq.running().map_or(Activity::Idle, |curr| {
                let task = &self.tasks[curr as usize];
                match task.step {
                    Step::Spin { .. } => Activity::Spin(task.class),
                    _ => Activity::Run(task.class),
                }
            }),
        }
    }

    /// The domain of a CPU at a level of its chain.
    pub fn domain(&self, cpu: CpuId, level: usize) -> DomainView<'_> {
        let domain = &self.shape.domains.of(cpu)[level];
        let state = &self.sds[self.shape.sd(cpu, level)];
        DomainView {
            name: domain.name,
            span_weight: domain.span_weight(),
            gate: &state.gate,
            nr_balance_failed: state.nr_balance_failed,
            balance_interval_ms: state.balance_interval_ms,
            stats: &state.stats,
        }
    }

    /// The classes of the mix, in the workload's order.
    pub fn classes(&self) -> Vec<ClassView<'_>> {
        (0..self.classes.len())
            .map(|class| self.class(class))
            .collect()
    }

    /// One class of the mix.
    pub fn class(&self, class: ClassId) -> ClassView<'_> {
        let spec = &self.workload.classes[class];
        let state = &self.classes[class];
        ClassView {
            name: &spec.name,
            letter: spec.letter,
            count: state.count,
            share_permille: state.share_permille,
            intensity_pct: state.intensity_pct,
            alive: state.alive,
            external: spec.external,
            unit: &spec.unit,
            done: state.done,
        }
    }
}
