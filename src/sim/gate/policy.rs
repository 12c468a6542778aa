//! Policies as data, and the historical ones by name.

use serde::{Deserialize, Serialize};

use crate::sim::time::{Ns, SEC};

/// Longest [`Bump::cap_ns`]: no gate opens at a cost far below it.
const LONGEST_CAP: Ns = SEC;

/// How the runs are picked among the calls the cost gate lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PickRule {
    /// Every call runs.
    All,
    /// NI_RANDOM: a dice of 1024 sides against the success ratio.
    Dice,
    /// The Bresenham accumulator.
    Accumulator,
    /// No call runs, and none is counted: the domains lack SD_BALANCE_NEWIDLE.
    None,
}

/// A newidle gating policy as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatePolicy {
    /// Whether `avg_idle` against `max_newidle_lb_cost` can close the gate.
    pub cost_gate: bool,
    /// Which calls run.
    pub pick: PickRule,
    /// Whether success statistics are kept.
    pub stats: bool,
    /// NI_RATE: right shift of the window length in ns; none = no rate term.
    pub rate_shift: Option<u32>,
    /// Whether the ratio is limited to 1024.
    pub clamp: bool,
    /// Whether a ratio of 1024 runs without dice or accumulator.
    pub no_dice_at_full: bool,
    /// Cost bump on failure (155213a2aed4).
    pub bump: Option<Bump>,
    /// Whether visits by periodic balance count as failed calls.
    pub count_periodic: bool,
    /// Whether the accumulator restarts at every new ratio.
    pub reset_pos: bool,
    /// Calls at which a window ends (call count is halved then): 1024.
    pub window: u32,
    /// Least weight: floor of the run chance in 1024ths, before the off-by-one
    /// of the dice. 1 in every kernel.
    pub floor: u32,
    /// `newidle_call` of a new domain: 512.
    pub start_call: u32,
    /// `newidle_success` of a new domain: 256.
    pub start_success: u32,
    /// `newidle_ratio` of a new domain: 512.
    pub start_ratio: u32,
}

/// Cost bump: a failed search stores `num/den` of the maximum as its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bump {
    /// Numerator: 3.
    pub num: u32,
    /// Denominator: 2.
    pub den: u32,
    /// Cap on the stored cost: migration_cost + 200 ns = 500,200.
    pub cap_ns: Ns,
}

impl Default for Bump {
    /// The factor and cap of 155213a2aed4.
    fn default() -> Self {
        Self {
            num: 3,
            den: 2,
            cap_ns: 500_200,
        }
    }
}

/// A policy the program knows by name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name, as on the command line and in scenarios.
    pub name: &'static str,
    /// Other names of the same policy, as published results use them.
    pub aliases: &'static [&'static str],
    /// One line for people.
    pub about: &'static str,
    rules: fn() -> GatePolicy,
}

impl Preset {
    /// The rules of the policy.
    pub fn rules(&self) -> GatePolicy {
        (self.rules)()
    }
}

/// All policies by name, in the order of their history.
pub const PRESETS: [Preset; 10] = [
    Preset {
        name: "plain",
        aliases: &["cost-only", "revert"],
        about: "cost gate alone: search unless it costs more than avg_idle",
        rules: plain,
    },
    Preset {
        name: "no-ni-random",
        aliases: &[],
        about: "NI_RANDOM switched off: plain, with statistics kept up",
        rules: no_ni_random,
    },
    Preset {
        name: "bump",
        aliases: &["bump-155213a"],
        about: "cost gate; failure raises the cost by half (155213a2aed4)",
        rules: bump,
    },
    Preset {
        name: "ni-random-v0",
        aliases: &[],
        about: "NI_RANDOM as first posted: periodic visits are failures",
        rules: ni_random_v0,
    },
    Preset {
        name: "ni-random",
        aliases: &[],
        about: "dice in proportion to past success (33cf66d88306)",
        rules: ni_random,
    },
    Preset {
        name: "ni-rate",
        aliases: &[],
        about: "NI_RANDOM, with a floor for rare callers (9fe89f022c05)",
        rules: ni_rate,
    },
    Preset {
        name: "bresenham-v1",
        aliases: &[],
        about: "ni-rate with an accumulator for dice, cleared every window",
        rules: bresenham_v1,
    },
    Preset {
        name: "bresenham-carry",
        aliases: &[],
        about: "the accumulator, carried over from window to window",
        rules: bresenham_carry,
    },
    Preset {
        name: "never",
        aliases: &[],
        about: "no newidle search at all: lower bound",
        rules: never,
    },
    Preset {
        name: "always",
        aliases: &[],
        about: "search at every call, whatever it costs: upper bound",
        rules: always,
    },
];

/// The preset of this name or alias.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS
        .iter()
        .find(|preset| preset.name == name || preset.aliases.contains(&name))
}

/// The rules of the preset of this name or alias.
pub fn preset(name: &str) -> Option<GatePolicy> {
    find(name).map(Preset::rules)
}

/// The names of all presets, without aliases.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

/// A name that is published as a policy but is not a newidle gate this program
/// has, and why.
pub fn why_not(name: &str) -> Option<&'static str> {
    const PLACEMENT: &str = "it changes where waking tasks go, not newidle balance";
    const PICK: &str = "it changes which task runs next, not newidle balance";
    Some(match name {
        "bresenham-v4" => {
            "what changed from v1 to v4 is not known to us; nearest are bresenham-v1 and \
             bresenham-carry"
        }
        "sis-node"
        | "sis-node+sis-util"
        | "prefer-idle-core"
        | "slowpath-shallowest-recent"
        | "slowpath-random"
        | "sched-idle-preferred"
        | "sched-idle-not-special" => PLACEMENT,
        "next-buddy" | "no-next-buddy" | "cfs" | "eevdf-early" | "eevdf-place-lag" => PICK,
        "scx-cosmos" => "it replaces the fair class, newidle balance included",
        "vendor-build" => "it names a whole kernel build, not one rule",
        _ => return None,
    })
}

impl GatePolicy {
    /// What is wrong with the values, as (field, what, allowed values).
    pub fn problems(&self) -> Vec<(&'static str, String, &'static str)> {
        let mut found = Vec::new();
        let mut check = |bad: bool, field, what: String, allowed| {
            if bad {
                found.push((field, what, allowed));
            }
        };
        let shift = self.rate_shift.unwrap_or(0);
        check(shift > 63, "rate_shift", format!("{shift}"), "0 to 63");
        let window = self.window;
        check(
            !(2..=1 << 20).contains(&window),
            "window",
            format!("{window}"),
            "2 to 1048576",
        );
        let floor = self.floor;
        check(
            !(1..=1024).contains(&floor),
            "floor",
            format!("{floor}"),
            "1 to 1024",
        );
        check(
            window > 1 && self.start_call >= window,
            "start_call",
            format!("{}", self.start_call),
            "0 to window - 1",
        );
        for (field, value) in [
            ("start_success", self.start_success),
            ("start_ratio", self.start_ratio),
        ] {
            check(value > 1 << 20, field, format!("{value}"), "0 to 1048576");
        }
        if let Some(bump) = self.bump {
            check(
                bump.den == 0,
                "bump",
                "a denominator of 0".into(),
                "den: 1 or more",
            );
            check(
                bump.cap_ns > LONGEST_CAP,
                "bump",
                format!("a cap of {} ns", bump.cap_ns),
                "cap: up to 1s",
            );
        }
        check(
            !self.stats && matches!(self.pick, PickRule::Dice | PickRule::Accumulator),
            "stats",
            "false, but the pick rule lives on the success ratio".into(),
            "true with pick dice or accumulator",
        );
        found
    }
}

/// What all policies share: the cost gate, and the start values of 4.
fn plain() -> GatePolicy {
    GatePolicy {
        cost_gate: true,
        pick: PickRule::All,
        stats: false,
        rate_shift: None,
        clamp: false,
        no_dice_at_full: false,
        bump: None,
        count_periodic: false,
        reset_pos: true,
        window: 1024,
        floor: 1,
        start_call: 512,
        start_success: 256,
        start_ratio: 512,
    }
}

fn no_ni_random() -> GatePolicy {
    GatePolicy {
        stats: true,
        rate_shift: Some(22),
        clamp: true,
        ..plain()
    }
}

fn bump() -> GatePolicy {
    GatePolicy {
        bump: Some(Bump::default()),
        ..plain()
    }
}

fn ni_random_v0() -> GatePolicy {
    GatePolicy {
        count_periodic: true,
        ..ni_random()
    }
}

fn ni_random() -> GatePolicy {
    GatePolicy {
        pick: PickRule::Dice,
        stats: true,
        ..plain()
    }
}

fn ni_rate() -> GatePolicy {
    GatePolicy {
        rate_shift: Some(22),
        clamp: true,
        no_dice_at_full: true,
        ..ni_random()
    }
}

fn bresenham_v1() -> GatePolicy {
    GatePolicy {
        pick: PickRule::Accumulator,
        ..ni_rate()
    }
}

fn bresenham_carry() -> GatePolicy {
    GatePolicy {
        reset_pos: false,
        ..bresenham_v1()
    }
}

fn never() -> GatePolicy {
    GatePolicy {
        pick: PickRule::None,
        ..plain()
    }
}

fn always() -> GatePolicy {
    GatePolicy {
        cost_gate: false,
        ..plain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_is_unique_and_found() {
        let mut all: Vec<_> = PRESETS
            .iter()
            .flat_map(|preset| {
                [preset.name]
                    .into_iter()
                    .chain(preset.aliases.iter().copied())
            })
            .collect();
        assert!(all.iter().all(|name| find(name).is_some()));
        let before = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), before);
    }

    #[test]
    fn published_names_mean_the_same_as_ours() {
        assert_eq!(preset("revert"), preset("plain"));
        assert_eq!(preset("cost-only"), preset("plain"));
        assert_eq!(preset("bump-155213a"), preset("bump"));
        assert_eq!(preset("bresenham-v4"), None);
        assert!(why_not("bresenham-v4").is_some());
    }

    #[test]
    fn the_presets_have_no_problems_and_broken_values_are_named() {
        for preset in &PRESETS {
            assert_eq!(preset.rules().problems(), [], "{}", preset.name);
        }
        let broken = GatePolicy {
            rate_shift: Some(64),
            window: 0,
            floor: 0,
            stats: false,
            ..ni_rate()
        };
        let fields: Vec<_> = broken.problems().iter().map(|problem| problem.0).collect();
        assert_eq!(fields, ["rate_shift", "window", "floor", "stats"]);
    }
}
