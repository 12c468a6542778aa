//! What the scheduler's own work costs on a machine.
//!
//! All figures are physical and global: a topology states them once, and no
//! workload, policy or experiment overrides them. Defaults and their basis are
//! those of `topologies.md` "Costs to start from" and `placement-and-pick.md` 8.

use serde::{Deserialize, Serialize};

use super::time::Ns;
use super::topology::Distance;

/// A cost that depends on how far the other CPU is, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByDistance {
    /// SMT sibling (or the CPU itself).
    pub same_core: Ns,
    /// Another core of the same LLC.
    pub same_llc: Ns,
    /// Another LLC of the same node.
    pub cross_llc: Ns,
    /// Another NUMA node.
    pub cross_node: Ns,
}

impl ByDistance {
    /// The figure for one distance.
    pub const fn at(&self, distance: Distance) -> Ns {
        match distance {
            Distance::SameCpu | Distance::SameCore => self.same_core,
            Distance::SameLlc => self.same_llc,
            Distance::CrossLlc => self.cross_llc,
            Distance::CrossNode => self.cross_node,
        }
    }
}

/// The cost block of a machine.
///
/// Times are nanoseconds of the CPU that does the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Costs {
    /// Switching to another task, kernel part.
    pub context_switch: Ns,
    /// The timer tick.
    pub tick: Ns,
    /// Waker's side of a wakeup before the target is chosen and marked.
    pub wake_select: Ns,
    /// Each further CPU looked at while searching an idle one.
    pub wake_scan_per_cpu: Ns,
    /// Waker's side after the choice: enqueue, or sending the interrupt.
    pub wake_send: Ns,
    /// From sending a wakeup to its arrival on a CPU that is not idle.
    pub ipi: ByDistance,
    /// Leaving the idle state (shallow, C1).
    pub idle_exit: Ns,
    /// An interrupt that wakes a task (timer, network).
    pub irq: Ns,
    /// Fixed part of one balance pass.
    pub balance_pass: Ns,
    /// Reading one runqueue in a balance pass.
    pub balance_per_cpu: ByDistance,
    /// Moving one task to this runqueue.
    pub detach: ByDistance,
    /// Updating this runqueue's blocked load before a newidle walk.
    pub blocked_update: Ns,
    /// A balance pass costs its nominal time scaled by a lognormal factor of
    /// median 1; this is sigma in thousandths. Cache misses and lock waits make
    /// the spread, and the maximum is what drives `max_newidle_lb_cost`.
    pub balance_spread_permille: u32,
    /// Refilling caches after a migration, charged to the moved task: ns per MiB
    /// of its footprint.
    pub refill_per_mib: ByDistance,
    /// L2 cache of a core: all that a migration inside the LLC loses, KiB.
    pub l2_kib: u32,
    /// Speed of a thread whose SMT sibling is busy, of 1024.
    pub smt_speed: u32,
}

impl Costs {
    /// Delay of a task of this footprint after moving this far.
    pub fn refill(&self, distance: Distance, footprint_kib: u32) -> Ns {
        let lost = match distance {
            Distance::CrossLlc | Distance::CrossNode => footprint_kib,
            _ => footprint_kib.min(self.l2_kib),
        };
        self.refill_per_mib.at(distance) * Ns::from(lost) / 1024
    }
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            context_switch: 600,
            tick: 1_500,
            wake_select: 300,
            wake_scan_per_cpu: 30,
            wake_send: 500,
            ipi: ByDistance {
                same_core: 1_000,
                same_llc: 1_000,
                cross_llc: 1_200,
                cross_node: 1_700,
            },
            idle_exit: 700,
            irq: 1_000,
            balance_pass: 300,
            balance_per_cpu: ByDistance {
                same_core: 30,
                same_llc: 60,
                cross_llc: 100,
                cross_node: 150,
            },
            detach: ByDistance {
                same_core: 1_000,
                same_llc: 1_000,
                cross_llc: 2_000,
                cross_node: 3_000,
            },
            blocked_update: 300,
            balance_spread_permille: 500,
            refill_per_mib: ByDistance {
                same_core: 0,
                same_llc: 15_000,
                cross_llc: 50_000,
                cross_node: 120_000,
            },
            l2_kib: 1024,
            smt_speed: 625,
        }
    }
}
