//! The fields of a policy as rows of a panel.

use crate::sim::gate::{Bump, GatePolicy, PickRule};

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Off or on: 0 or 1.
    Switch,
    /// One of these.
    Choice(&'static [&'static str]),
    /// A number in a range.
    Number {
        /// Least and greatest value.
        range: (u64, u64),
        /// How far one key press goes.
        step: Step,
    },
    /// A number, or off; the number to begin with.
    Optional {
        /// Least and greatest value.
        range: (u64, u64),
        /// How far one key press goes.
        step: Step,
        /// First value when switched on.
        first: u64,
    },
    /// A field of something that is off.
    Unused,
}

/// How far one key press goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// By this much.
    By(u64),
    /// To the double or the half.
    Double,
}

impl Step {
    fn up(self, value: u64) -> u64 {
        match self {
            Self::By(n) => value.saturating_add(n),
            Self::Double => value.saturating_mul(2).max(1),
        }
    }

    fn down(self, value: u64) -> u64 {
        match self {
            Self::By(n) => value.saturating_sub(n),
            Self::Double => value / 2,
        }
    }
}

impl Kind {
    /// The next value up or down; none = off.
    pub fn step(self, value: Option<u64>, up: bool) -> Option<u64> {
        let go = |step: Step, value| if up { step.up(value) } else { step.down(value) };
        match self {
            Self::Switch => Some(1 - value.unwrap_or(0).min(1)),
            Self::Choice(names) => {
                let count = names.len() as u64;
                let shift = if up { 1 } else { count - 1 };
                Some((value.unwrap_or(0) + shift) % count)
            }
            Self::Number { range, step } => {
                value.map(|value| go(step, value).clamp(range.0, range.1))
            }
            Self::Optional { range, step, first } => match (value, up) {
                (None, true) => Some(first),
                (None, false) => None,
                (Some(value), false) if value <= range.0 => None,
                (Some(value), _) => Some(go(step, value).clamp(range.0, range.1)),
            },
            Self::Unused => value,
        }
    }

    /// A typed value, or what would be allowed.
    pub fn typed(self, value: u64) -> Result<u64, String> {
        let (low, high) = match self {
            Self::Switch => (0, 1),
            Self::Choice(names) => (0, names.len() as u64 - 1),
            Self::Number { range, .. } | Self::Optional { range, .. } => range,
            Self::Unused => return Err("this field is not in use".to_owned()),
        };
        if (low..=high).contains(&value) {
            Ok(value)
        } else {
            Err(format!("{value} is not in {low}..{high}"))
        }
    }

    /// Columns of the widest name to choose from; 0 where none has a name.
    pub fn width(self) -> usize {
        match self {
            Self::Choice(names) => names.iter().map(|name| name.len()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// A value as text.
    pub fn show(self, value: Option<u64>) -> String {
        match (self, value) {
            (Self::Unused, _) => "-".to_owned(),
            (_, None) | (Self::Switch, Some(0)) => "off".to_owned(),
            (Self::Switch, Some(_)) => "on".to_owned(),
            (Self::Choice(names), Some(value)) => names
                .get(value as usize)
                .map_or_else(String::new, ToString::to_string),
            (_, Some(value)) => value.to_string(),
        }
    }
}

/// One field.
pub struct Field {
    /// Name as in scenario files.
    pub name: &'static str,
    /// One line.
    pub help: &'static str,
    /// What it may be.
    pub kind: fn(&GatePolicy) -> Kind,
    /// Reads it.
    pub get: fn(&GatePolicy) -> Option<u64>,
    /// Writes a value that `kind` allows.
    pub set: fn(&mut GatePolicy, Option<u64>),
}

const RULES: &[&str] = &["all", "dice", "accumulator", "none"];

const fn number(low: u64, high: u64, step: Step) -> Kind {
    Kind::Number {
        range: (low, high),
        step,
    }
}

fn flag(value: Option<u64>) -> bool {
    value == Some(1)
}

fn narrow(value: Option<u64>) -> u32 {
    u32::try_from(value.unwrap_or(0)).unwrap_or(u32::MAX)
}

fn of_bump(policy: &GatePolicy, kind: Kind) -> Kind {
    if policy.bump.is_some() {
        kind
    } else {
        Kind::Unused
    }
}

/// Every field of [`GatePolicy`], in the order of a newidle walk.
pub static FIELDS: &[Field] = &[
    Field {
        name: "cost_gate",
        help: "avg_idle below max_newidle_lb_cost ends the walk",
        kind: |_| Kind::Switch,
        get: |p| Some(u64::from(p.cost_gate)),
        set: |p, v| p.cost_gate = flag(v),
    },
    Field {
        name: "pick",
        help: "which calls search: all, by dice, by accumulator, none",
        kind: |_| Kind::Choice(RULES),
        get: |p| {
            Some(match p.pick {
                PickRule::All => 0,
                PickRule::Dice => 1,
                PickRule::Accumulator => 2,
                PickRule::None => 3,
            })
        },
        set: |p, v| {
            p.pick = match v {
                Some(1) => PickRule::Dice,
                Some(2) => PickRule::Accumulator,
                Some(3) => PickRule::None,
                _ => PickRule::All,
            };
        },
    },
    Field {
        name: "floor",
        help: "least weight of the dice, 1024ths: 64 searches at least 65 calls in 1024",
        kind: |_| number(1, 1024, Step::By(16)),
        get: |p| Some(u64::from(p.floor)),
        set: |p, v| p.floor = narrow(v),
    },
    Field {
        name: "no_dice_at_full",
        help: "a ratio of 1024 searches without asking the dice",
        kind: |_| Kind::Switch,
        get: |p| Some(u64::from(p.no_dice_at_full)),
        set: |p, v| p.no_dice_at_full = flag(v),
    },
    Field {
        name: "stats",
        help: "keep the success ratio",
        kind: |_| Kind::Switch,
        get: |p| Some(u64::from(p.stats)),
        set: |p, v| p.stats = flag(v),
    },
    Field {
        name: "window",
        help: "calls at which the ratio is computed anew (the count is halved then)",
        kind: |_| number(2, 1 << 20, Step::Double),
        get: |p| Some(u64::from(p.window)),
        set: |p, v| p.window = narrow(v),
    },
    Field {
        name: "rate_shift",
        help: "NI_RATE: window length in ns, shifted right by this, is added to the ratio",
        kind: |_| Kind::Optional {
            range: (0, 63),
            step: Step::By(1),
            first: 22,
        },
        get: |p| p.rate_shift.map(u64::from),
        set: |p, v| p.rate_shift = v.map(|v| narrow(Some(v))),
    },
    Field {
        name: "clamp",
        help: "limit the ratio to 1024",
        kind: |_| Kind::Switch,
        get: |p| Some(u64::from(p.clamp)),
        set: |p, v| p.clamp = flag(v),
    },
    Field {
        name: "reset_pos",
        help: "the accumulator starts at 0 with every new ratio",
        kind: |_| Kind::Switch,
        get: |p| Some(u64::from(p.reset_pos)),
        set: |p, v| p.reset_pos = flag(v),
    },
    Field {
        name: "count_periodic",
        help: "visits by periodic balance count as failed calls",
        kind: |_| Kind::Switch,
        get: |p| Some(u64::from(p.count_periodic)),
        set: |p, v| p.count_periodic = flag(v),
    },
    Field {
        name: "bump",
        help: "a failed search raises the stored cost",
        kind: |_| Kind::Switch,
        get: |p| Some(u64::from(p.bump.is_some())),
        set: |p, v| p.bump = flag(v).then_some(p.bump.unwrap_or_default()),
    },
    Field {
        name: "bump.num",
        help: "raised to num/den of the maximum",
        kind: |p| of_bump(p, number(1, 64, Step::By(1))),
        get: |p| p.bump.map(|b| u64::from(b.num)),
        set: |p, v| set_bump(p, |b| b.num = narrow(v)),
    },
    Field {
        name: "bump.den",
        help: "raised to num/den of the maximum",
        kind: |p| of_bump(p, number(1, 64, Step::By(1))),
        get: |p| p.bump.map(|b| u64::from(b.den)),
        set: |p, v| set_bump(p, |b| b.den = narrow(v)),
    },
    Field {
        name: "bump.cap_ns",
        help: "and at most to this, ns",
        kind: |p| of_bump(p, number(1, 1_000_000_000, Step::By(50_000))),
        get: |p| p.bump.map(|b| b.cap_ns),
        set: |p, v| set_bump(p, |b| b.cap_ns = v.unwrap_or(1)),
    },
    Field {
        name: "start_call",
        help: "newidle_call of a new domain: counts from the next restart (R)",
        kind: |_| number(0, 1 << 20, Step::By(64)),
        get: |p| Some(u64::from(p.start_call)),
        set: |p, v| p.start_call = narrow(v),
    },
    Field {
        name: "start_success",
        help: "newidle_success of a new domain: counts from the next restart (R)",
        kind: |_| number(0, 1 << 20, Step::By(64)),
        get: |p| Some(u64::from(p.start_success)),
        set: |p, v| p.start_success = narrow(v),
    },
    Field {
        name: "start_ratio",
        help: "newidle_ratio of a new domain: counts from the next restart (R)",
        kind: |_| number(0, 1024, Step::By(64)),
        get: |p| Some(u64::from(p.start_ratio)),
        set: |p, v| p.start_ratio = narrow(v),
    },
];

fn set_bump(policy: &mut GatePolicy, change: impl FnOnce(&mut Bump)) {
    if let Some(bump) = &mut policy.bump {
        change(bump);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> GatePolicy {
        crate::sim::gate::preset("ni-random").expect("is a preset")
    }

    #[test]
    fn a_step_up_changes_each_field_and_only_it() {
        let mut on = policy();
        on.bump = Some(Bump::default());
        for field in FIELDS {
            let mut changed = on.clone();
            let kind = (field.kind)(&on);
            let value = kind.step((field.get)(&on), true);
            (field.set)(&mut changed, value);
            assert_eq!((field.get)(&changed), value, "{}", field.name);
            let differ = FIELDS
                .iter()
                .filter(|f| (f.get)(&changed) != (f.get)(&on) && !f.name.starts_with("bump."))
                .count();
            let expected = usize::from(!field.name.starts_with("bump."));
            assert_eq!(differ, expected, "{}", field.name);
        }
    }

    #[test]
    fn the_rate_shift_can_be_switched_off_below_its_least_value() {
        let kind = (FIELDS[6].kind)(&policy());
        assert_eq!(kind.step(None, true), Some(22));
        assert_eq!(kind.step(Some(0), false), None);
        assert_eq!(kind.show(None), "off");
        assert_eq!(kind.typed(64), Err("64 is not in 0..63".to_owned()));
    }

    #[test]
    fn fields_of_a_bump_that_is_off_are_shown_as_unused() {
        let field = FIELDS
            .iter()
            .find(|f| f.name == "bump.cap_ns")
            .expect("is listed");
        let kind = (field.kind)(&policy());
        assert_eq!((kind.show((field.get)(&policy()))).as_str(), "-");
    }
}
