//! Feature flags under the kernel's names.

use super::Rules;
use crate::sim::fair::{FairFeatures, PickRule};

/// Feature flags of the whole model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Those of the fair class.
    pub fair: FairFeatures,
    /// `SIS_UTIL`: a budget for the search of an idle CPU.
    pub sis_util: bool,
    /// `TTWU_QUEUE`: the target of a remote wakeup enqueues it.
    pub ttwu_queue: bool,
    /// `WA_IDLE`: an idle CPU decides between waker's and previous CPU.
    pub wa_idle: bool,
    /// `WA_WEIGHT`: then the load decides.
    pub wa_weight: bool,
    /// `WA_BIAS`: with a bias for the waker's CPU.
    pub wa_bias: bool,
    /// `CACHE_HOT_BUDDY`: a buddy counts as cache-hot.
    pub cache_hot_buddy: bool,
    /// `UTIL_EST`: utilisation counts what tasks used when they last ran.
    pub util_est: bool,
    /// `NI_RANDOM`: a proportional gate is one; off, it runs every call.
    pub ni_random: bool,
    /// `NI_RATE`: the rate term of the success ratio.
    pub ni_rate: bool,
}

/// One feature flag.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// The kernel's name.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
}

/// Every flag the model has, in the order of the panel.
pub const FEATURES: [Feature; 22] = [
    feature("NI_RANDOM", "search in proportion to past success"),
    feature("NI_RATE", "and more often where calls are rare"),
    feature("SIS_UTIL", "budget for the search of an idle CPU"),
    feature("TTWU_QUEUE", "the target of a remote wakeup enqueues it"),
    feature("WA_IDLE", "an idle CPU decides: waker's or previous"),
    feature("WA_WEIGHT", "else the load decides"),
    feature("WA_BIAS", "with a bias for the waker's CPU"),
    feature("CACHE_HOT_BUDDY", "do not pull the next buddy"),
    feature("UTIL_EST", "utilisation remembers the last activation"),
    feature("PLACE_LAG", "a task comes back with the lag it left with"),
    feature("PLACE_DEADLINE_INITIAL", "half a slice for a new task"),
    feature("PLACE_REL_DEADLINE", "a moved task keeps its deadline"),
    feature("RUN_TO_PARITY", "protect the slice of the running task"),
    feature("PREEMPT_SHORT", "a shorter slice breaks the protection"),
    feature("NEXT_BUDDY", "prefer the task woken last"),
    feature("PICK_BUDDY", "the pick honours the buddy"),
    feature("DELAY_DEQUEUE", "a sleeper that owes time stays queued"),
    feature("DELAY_ZERO", "and gains nothing by it"),
    feature("WAKEUP_PREEMPTION", "a woken task may preempt"),
    feature("GENTLE_FAIR_SLEEPERS", "half the sleeper credit"),
    feature("START_DEBIT", "a new task waits one slice"),
    feature("LAST_BUDDY", "return to the task that was preempted"),
];

const fn feature(name: &'static str, about: &'static str) -> Feature {
    Feature { name, about }
}

impl Features {
    /// Defaults of the kernel that picks by `pick`.
    pub fn of(pick: PickRule) -> Self {
        Self {
            fair: FairFeatures::of(pick),
            sis_util: true,
            ttwu_queue: true,
            wa_idle: true,
            wa_weight: true,
            wa_bias: true,
            cache_hot_buddy: true,
            util_est: true,
            ni_random: true,
            ni_rate: true,
        }
    }

    /// The switch of this kernel name, without a `NO_` in front.
    pub fn by_name(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "SIS_UTIL" => &mut self.sis_util,
            "TTWU_QUEUE" => &mut self.ttwu_queue,
            "WA_IDLE" => &mut self.wa_idle,
            "WA_WEIGHT" => &mut self.wa_weight,
            "WA_BIAS" => &mut self.wa_bias,
            "CACHE_HOT_BUDDY" => &mut self.cache_hot_buddy,
            "UTIL_EST" => &mut self.util_est,
            "NI_RANDOM" => &mut self.ni_random,
            "NI_RATE" => &mut self.ni_rate,
            _ => return self.fair.by_name(name),
        })
    }

    /// Switches the flag `name`, or with `NO_` in front switches it off. False
    /// if there is no such flag.
    pub fn set(&mut self, name: &str) -> bool {
        let (name, on) = match name.strip_prefix("NO_") {
            Some(name) => (name, false),
            None => (name, true),
        };
        let Some(switch) = self.by_name(name) else {
            return false;
        };
        *switch = on;
        true
    }
}

impl Rules {
    /// Whether the kernel of these rules has the flag at all. The gate's flags
    /// depend on the policy and are not judged here.
    pub fn has(&self, feature: &str) -> bool {
        let cfs = self.pick == PickRule::Cfs61;
        let early = self.pick == PickRule::Eevdf2023;
        match feature {
            "GENTLE_FAIR_SLEEPERS" | "START_DEBIT" | "LAST_BUDDY" => cfs,
            "PLACE_LAG" | "PICK_BUDDY" => !cfs,
            "PLACE_DEADLINE_INITIAL"
            | "PLACE_REL_DEADLINE"
            | "RUN_TO_PARITY"
            | "PREEMPT_SHORT"
            | "DELAY_DEQUEUE"
            | "DELAY_ZERO" => !cfs && !early,
            _ => FEATURES.iter().any(|known| known.name == feature),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_flag_is_switched_by_its_name_and_by_no() {
        for feature in &FEATURES {
            let mut features = Features::of(PickRule::Eevdf612);
            assert!(features.set(&format!("NO_{}", feature.name)));
            assert_eq!(features.by_name(feature.name), Some(&mut false));
            assert!(features.set(feature.name));
            assert_eq!(features.by_name(feature.name), Some(&mut true));
        }
        let fair = FairFeatures::NAMES;
        assert!(
            fair.iter()
                .all(|name| FEATURES.iter().any(|f| f.name == *name))
        );
        assert!(!Features::of(PickRule::Eevdf612).set("NO_NO_WA_IDLE"));
        assert!(!Features::of(PickRule::Eevdf612).set("wa_idle"));
    }
}
