//! Kernels: sets of rules that belong together.

use super::{AvgIdleRule, BalanceRule, Features, ForkRule, Rules, SchedIdleRule, WakeupRule};
use crate::sim::fair::PickRule;

/// The rules of one kernel.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Its name, as on the command line and in scenarios.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Name of its newidle policy.
    pub policy: &'static str,
    pick: PickRule,
    wakeup: WakeupRule,
    sched_idle: SchedIdleRule,
    balance: BalanceRule,
    avg_idle: AvgIdleRule,
    schedstat: u32,
}

impl Kernel {
    /// Its rules.
    pub fn rules(&self) -> Rules {
        Rules {
            pick: self.pick,
            wakeup: self.wakeup,
            fork: ForkRule::Recency,
            sched_idle: self.sched_idle,
            balance: self.balance,
            avg_idle: self.avg_idle,
            features: Features::of(self.pick),
            schedstat: self.schedstat,
        }
    }
}

/// Before mainline of 2026.
const OLD: Kernel = Kernel {
    name: "",
    about: "",
    policy: "plain",
    pick: PickRule::Eevdf612,
    wakeup: WakeupRule::Stock612,
    sched_idle: SchedIdleRule::Consistent,
    balance: BalanceRule::Stock612,
    avg_idle: AvgIdleRule::Wakeup,
    schedstat: 16,
};

/// Mainline of 2026. From 7.0 on `avg_idle` is sampled when the idle task is
/// left; the fix that tests `idle_stamp` first is taken as applied, as without it
/// the ceiling is often all that `avg_idle` shows.
const MAINLINE: Kernel = Kernel {
    policy: "ni-rate",
    pick: PickRule::EevdfMainline,
    wakeup: WakeupRule::StockMainline,
    balance: BalanceRule::Mainline,
    avg_idle: AvgIdleRule::LeaveIdleGuarded,
    schedstat: 17,
    ..OLD
};

/// The kernels by name, oldest first.
pub const KERNELS: [Kernel; 8] = [
    Kernel {
        name: "6.1-cfs",
        about: "CFS, plain cost gate (before the backports of 2026)",
        pick: PickRule::Cfs61,
        schedstat: 15,
        ..OLD
    },
    Kernel {
        name: "6.3-eevdf-branch",
        about: "sched/eevdf of March 2023: lag bonus at wakeup, no slice protection",
        pick: PickRule::Eevdf2023,
        schedstat: 15,
        ..OLD
    },
    Kernel {
        name: "6.12",
        about: "late 6.12 stable (6.12.117): EEVDF, NI_RANDOM backported",
        policy: "ni-random",
        ..OLD
    },
    Kernel {
        name: "6.17-bump",
        about: "6.17: cost bump on failure (155213a2aed4)",
        policy: "bump",
        pick: PickRule::Eevdf617,
        schedstat: 17,
        ..OLD
    },
    Kernel {
        name: "6.18-revert",
        about: "6.18 with the bump reverted (d206fbad9328): plain cost gate",
        pick: PickRule::Eevdf617,
        schedstat: 17,
        ..OLD
    },
    Kernel {
        name: "6.19-ni-random",
        about: "6.19: dice in proportion to success (33cf66d88306)",
        policy: "ni-random",
        pick: PickRule::Eevdf617,
        schedstat: 17,
        ..OLD
    },
    Kernel {
        name: "7.1-ni-rate",
        about: "7.1: NI_RANDOM with a rate term (9fe89f022c05)",
        ..MAINLINE
    },
    Kernel {
        name: "7.3",
        about: "7.3: as 7.1; SCHED_IDLE CPUs are no target for SCHED_IDLE wakees",
        sched_idle: SchedIdleRule::SkipForIdleWakee,
        ..MAINLINE
    },
];

/// The kernel whose rules hold where none is named: the one best known.
pub const DEFAULT_KERNEL: Kernel = KERNELS[2];

/// The kernel of this name.
pub fn kernel(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::gate;

    #[test]
    fn every_kernel_has_a_policy_of_this_program_and_the_flags_of_its_rule() {
        for known in &KERNELS {
            assert!(gate::preset(known.policy).is_some(), "{}", known.name);
            assert_eq!(kernel(known.name).map(|k| k.name), Some(known.name));
        }
        let rules = |name| kernel(name).expect("a known kernel").rules();
        assert!(!rules("6.1-cfs").has("RUN_TO_PARITY"));
        assert!(!rules("6.3-eevdf-branch").features.fair.delay_dequeue);
        assert!(rules("6.12").features.fair.delay_dequeue);
        assert_eq!(rules("7.3").schedstat, 17);
        assert_eq!(DEFAULT_KERNEL.name, "6.12");
    }
}
