//! Rule, tunables and feature switches of the fair class, shared by all CPUs.

use super::arith::tunable_factor;
use crate::sim::time::{Ns, TICK_NS, US};

/// Which kernel's picking rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PickRule {
    /// EEVDF of late 6.12.y (read in 6.12.117).
    #[default]
    Eevdf612,
    /// EEVDF of the first 6.12: base slice 0.75 ms, other yield, and a preempted
    /// SCHED_IDLE task keeps its slice protection.
    Eevdf612First,
    /// EEVDF of 6.17 to 6.19: slice protection by vruntime.
    Eevdf617,
    /// EEVDF of mainline 2026 (7.x): as 6.17, but a task with a longer slice than
    /// its company is protected only up to the others' average.
    EevdfMainline,
    /// The sched/eevdf branch of March 2023 (on 6.3-rc2): lag bonus at wakeup, no
    /// slice protection. Source: placement-and-pick.md 6.11.
    Eevdf2023,
    /// CFS of 6.1.
    Cfs61,
}

impl PickRule {
    /// Whether protection is a vruntime bound and lag monotone (6.17 and later).
    pub(super) fn is_mainline(self) -> bool {
        matches!(self, Self::Eevdf617 | Self::EevdfMainline)
    }

    fn unscaled_base_slice(self) -> Ns {
        match self {
            Self::Eevdf612First | Self::Eevdf2023 => 750 * US,
            Self::Eevdf612 | Self::Eevdf617 | Self::EevdfMainline | Self::Cfs61 => 700 * US,
        }
    }
}

/// Feature switches under the kernel's names. A rule ignores those its kernel
/// does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairFeatures {
    /// `PLACE_LAG`: a task enters with the lag it left with, else at V.
    pub place_lag: bool,
    /// `PLACE_DEADLINE_INITIAL`: the first slice of a new task is halved.
    pub place_deadline_initial: bool,
    /// `PLACE_REL_DEADLINE`: a migrated task keeps its distance to the deadline.
    pub place_rel_deadline: bool,
    /// `RUN_TO_PARITY`: protect the running task's slice.
    pub run_to_parity: bool,
    /// `PREEMPT_SHORT`: a shorter slice breaks the protection.
    pub preempt_short: bool,
    /// `NEXT_BUDDY`: prefer the task woken last.
    pub next_buddy: bool,
    /// `PICK_BUDDY`: the pick honours the buddy.
    pub pick_buddy: bool,
    /// `DELAY_DEQUEUE`: a sleeper that owes time stays queued.
    pub delay_dequeue: bool,
    /// `DELAY_ZERO`: and gains nothing by it.
    pub delay_zero: bool,
    /// `WAKEUP_PREEMPTION`.
    pub wakeup_preemption: bool,
    /// `GENTLE_FAIR_SLEEPERS` (CFS): half the sleeper credit.
    pub gentle_fair_sleepers: bool,
    /// `START_DEBIT` (CFS): a new task waits one slice.
    pub start_debit: bool,
    /// `LAST_BUDDY` (CFS): return to the task that was preempted.
    pub last_buddy: bool,
}

impl FairFeatures {
    /// Defaults of the kernel that `rule` names.
    #[must_use]
    pub fn of(rule: PickRule) -> Self {
        let modern = rule != PickRule::Eevdf2023;
        Self {
            place_lag: true,
            place_deadline_initial: modern,
            place_rel_deadline: modern,
            run_to_parity: modern,
            preempt_short: modern,
            next_buddy: false,
            pick_buddy: true,
            delay_dequeue: modern,
            delay_zero: true,
            wakeup_preemption: true,
            gentle_fair_sleepers: true,
            start_debit: true,
            last_buddy: true,
        }
    }
}

impl Default for FairFeatures {
    fn default() -> Self {
        Self::of(PickRule::default())
    }
}

impl FairFeatures {
    /// The kernel's names of the switches.
    pub const NAMES: [&str; 13] = [
        "PLACE_LAG",
        "PLACE_DEADLINE_INITIAL",
        "PLACE_REL_DEADLINE",
        "RUN_TO_PARITY",
        "PREEMPT_SHORT",
        "NEXT_BUDDY",
        "PICK_BUDDY",
        "DELAY_DEQUEUE",
        "DELAY_ZERO",
        "WAKEUP_PREEMPTION",
        "GENTLE_FAIR_SLEEPERS",
        "START_DEBIT",
        "LAST_BUDDY",
    ];

    /// The switch of this kernel name, without a `NO_` in front.
    pub fn by_name(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "PLACE_LAG" => &mut self.place_lag,
            "PLACE_DEADLINE_INITIAL" => &mut self.place_deadline_initial,
            "PLACE_REL_DEADLINE" => &mut self.place_rel_deadline,
            "RUN_TO_PARITY" => &mut self.run_to_parity,
            "PREEMPT_SHORT" => &mut self.preempt_short,
            "NEXT_BUDDY" => &mut self.next_buddy,
            "PICK_BUDDY" => &mut self.pick_buddy,
            "DELAY_DEQUEUE" => &mut self.delay_dequeue,
            "DELAY_ZERO" => &mut self.delay_zero,
            "WAKEUP_PREEMPTION" => &mut self.wakeup_preemption,
            "GENTLE_FAIR_SLEEPERS" => &mut self.gentle_fair_sleepers,
            "START_DEBIT" => &mut self.start_debit,
            "LAST_BUDDY" => &mut self.last_buddy,
            _ => return None,
        })
    }
}

/// What all runqueues' fair classes share. Plain data: every field may be
/// changed between two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairParams {
    /// Picking rule.
    pub rule: PickRule,
    /// Feature switches.
    pub features: FairFeatures,
    /// Length of a tick, ns.
    pub tick_ns: Ns,
    /// `base_slice_ns`, scaled.
    pub base_slice: Ns,
    /// The same before scaling: slice protection of mainline without
    /// RUN_TO_PARITY.
    pub base_slice_unscaled: Ns,
    /// `sched_latency` (CFS), scaled.
    pub latency: Ns,
    /// `min_granularity` (CFS), scaled.
    pub min_granularity: Ns,
    /// `wakeup_granularity` (CFS), scaled.
    pub wakeup_granularity: Ns,
    /// `idle_min_granularity` (CFS), not scaled.
    pub idle_min_granularity: Ns,
    /// Tasks above which the CFS period grows, and from which buddies are used.
    pub nr_latency: u32,
    /// `migration_cost_ns`.
    pub migration_cost: Ns,
    /// Lag is clamped as a task leaves. Off in the 2023 branch as read.
    pub clamp_lag: bool,
    /// Lag is inflated at placement by (W + w) / W. Off in the 2023 branch as
    /// read.
    pub inflate_lag: bool,
}

impl FairParams {
    /// Defaults of `rule` on a machine of `cpus` online CPUs.
    #[must_use]
    pub fn new(rule: PickRule, cpus: u32) -> Self {
        let factor = tunable_factor(cpus);
        let unscaled = rule.unscaled_base_slice();
        let modern = rule != PickRule::Eevdf2023;
        Self {
            rule,
            features: FairFeatures::of(rule),
            tick_ns: TICK_NS,
            base_slice: unscaled * factor,
            base_slice_unscaled: unscaled,
            latency: 6_000 * US * factor,
            min_granularity: 750 * US * factor,
            wakeup_granularity: 1_000 * US * factor,
            idle_min_granularity: 750 * US,
            nr_latency: 8,
            migration_cost: 500 * US,
            clamp_lag: modern,
            inflate_lag: modern,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_has_its_kernel_name() {
        let mut features = FairFeatures::of(PickRule::Eevdf612);
        for name in FairFeatures::NAMES {
            let before = features;
            let switch = features.by_name(name).expect("a listed name is known");
            *switch = !*switch;
            assert_ne!(features, before, "{name}");
        }
        assert_eq!(features.by_name("NO_PLACE_LAG"), None);
    }

    #[test]
    fn tunables_grow_with_the_machine_up_to_eight_cpus() {
        let slice = |rule, cpus| FairParams::new(rule, cpus).base_slice;
        assert_eq!(slice(PickRule::Eevdf612, 1), 700_000);
        assert_eq!(slice(PickRule::Eevdf612, 3), 1_400_000);
        assert_eq!(slice(PickRule::Eevdf612, 192), 2_800_000);
        assert_eq!(slice(PickRule::Eevdf612First, 8), 3_000_000);
        let cfs = FairParams::new(PickRule::Cfs61, 16);
        assert_eq!((cfs.latency, cfs.min_granularity), (24_000_000, 3_000_000));
    }
}
