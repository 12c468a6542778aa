//! What differs from kernel to kernel: which rules the machine runs under.
//!
//! [`Rules`] is plain data. A [`Kernel`] names a whole set of it as one kernel
//! version had it; every part can be chosen apart and changed while the machine
//! runs, and every feature flag goes by the kernel's own name ([`FEATURES`]).
//! The newidle gate is a [`super::gate::GatePolicy`] of its own, because it is
//! what people compare most; the switches `NI_RANDOM` and `NI_RATE` act on it.

mod choices;
mod features;
mod kernels;
mod parts;

pub use choices::{
    AVG_IDLE, AvgIdleRule, BALANCE, BalanceRule, Choice, FORK, ForkRule, PICK, SCHED_IDLE,
    SchedIdleRule, WAKEUP, WakeupRule, choice_of,
};
pub use features::{FEATURES, Feature, Features};
pub use kernels::{DEFAULT_KERNEL, KERNELS, Kernel, kernel};
pub use parts::{PARTS, Part};

use super::fair::{FairParams, PickRule};
use super::gate::{self, GatePolicy};

/// The rules of a machine, its newidle gate aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Which task runs next.
    pub pick: PickRule,
    /// Where a woken task goes.
    pub wakeup: WakeupRule,
    /// Which of the idle CPUs a forked task gets.
    pub fork: ForkRule,
    /// What placement makes of CPUs that run nothing but SCHED_IDLE tasks.
    pub sched_idle: SchedIdleRule,
    /// Which version of the balance pass.
    pub balance: BalanceRule,
    /// When an idle period counts into `avg_idle`.
    pub avg_idle: AvgIdleRule,
    /// Feature flags.
    pub features: Features,
    /// Version of `/proc/schedstat`: 15, 16 or 17.
    pub schedstat: u32,
}

impl Rules {
    /// Parameters of the fair class on a machine of `cpus` online CPUs.
    #[must_use]
    pub fn fair_params(&self, cpus: u32) -> FairParams {
        FairParams {
            features: self.features.fair,
            ..FairParams::new(self.pick, cpus)
        }
    }

    /// Takes over another picking rule with that rule's own default switches.
    pub fn set_pick(&mut self, pick: PickRule) {
        self.pick = pick;
        self.features.fair = super::fair::FairFeatures::of(pick);
    }

    /// `policy` as the switches `NI_RANDOM` and `NI_RATE` leave it
    /// (`balancing.md` 4, rows a' and e).
    #[must_use]
    pub fn gate(&self, policy: &GatePolicy) -> GatePolicy {
        let mut policy = policy.clone();
        let proportional = matches!(
            policy.pick,
            gate::PickRule::Dice | gate::PickRule::Accumulator
        );
        if !self.features.ni_random && proportional {
            // Statistics go on, so switching back starts from a true ratio.
            policy.pick = gate::PickRule::All;
        }
        if !self.features.ni_rate {
            policy.rate_shift = None;
        }
        policy
    }
}

impl Default for Rules {
    fn default() -> Self {
        DEFAULT_KERNEL.rules()
    }
}
