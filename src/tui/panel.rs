//! The rows of the panels of values, and what changing one does.

use crate::session::NamedPolicy;
use crate::sim::gate;
use crate::sim::rules::{FEATURES, PARTS, Rules};

use super::params::{FIELDS, Kind, Step};
use super::state::{PanelKind, State};

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the value.
    pub name: String,
    /// One line about it.
    pub help: String,
    /// What it may be.
    pub kind: Kind,
    /// What it is; none = off.
    pub value: Option<u64>,
    /// Unit, if any.
    pub unit: &'static str,
    /// A few words behind the value; on an unused row why it is.
    pub note: String,
}

/// Heading of a panel.
pub fn title(state: &State, kind: PanelKind) -> String {
    match kind {
        PanelKind::Policy => format!("Policy {}", state.session.policy_name()),
        PanelKind::Rules => format!("Rules of kernel {}", state.session.rules().name),
        PanelKind::Mix => format!("Mix of {}", state.session.setup().workload.id),
    }
}

/// Most tasks of a class that the panel asks for: more would only fill memory.
const MAX_COUNT: u64 = 10_000;

/// Rows per class in the panel of the mix.
const PER_CLASS: usize = 3;

/// The rows of a panel.
pub fn rows(state: &State, kind: PanelKind) -> Vec<Row> {
    match kind {
        PanelKind::Policy => {
            let policy = state.session.world().policy();
            let row = FIELDS.iter().map(|field| Row {
                name: field.name.to_owned(),
                help: field.help.to_owned(),
                kind: (field.kind)(policy),
                value: (field.get)(policy),
                unit: "",
                note: String::new(),
            });
            row.collect()
        }
        PanelKind::Rules => rule_rows(state),
        PanelKind::Mix => mix_rows(state),
    }
}

/// The rules that can be chosen apart, then every flag.
fn rule_rows(state: &State) -> Vec<Row> {
    let rules = state.session.rules().rules;
    let parts = PARTS.iter().map(|part| {
        let index = (part.get)(&rules);
        Row {
            name: part.name.to_owned(),
            help: format!("{}: {}", part.about, part.abouts[index]),
            kind: Kind::Choice(part.names),
            value: Some(index as u64),
            unit: "",
            note: part.abouts[index].to_owned(),
        }
    });
    let flags = FEATURES.iter().map(|feature| {
        let why_not = why_not(state, &rules, feature.name);
        let mut features = rules.features;
        let on = features.by_name(feature.name).is_some_and(|on| *on);
        Row {
            name: feature.name.to_owned(),
            help: match &why_not {
                Some(why) => format!("{}; without effect here: {why}", feature.about),
                None => feature.about.to_owned(),
            },
            kind: if why_not.is_some() {
                Kind::Unused
            } else {
                Kind::Switch
            },
            value: Some(u64::from(on)),
            unit: "",
            note: why_not.unwrap_or_else(|| feature.about.to_owned()),
        }
    });
    parts.chain(flags).collect()
}

/// Why a flag has no effect here, if so.
fn why_not(state: &State, rules: &Rules, flag: &str) -> Option<String> {
    let policy = state.session.world().policy();
    let name = state.session.policy_name();
    let dice = matches!(
        policy.pick,
        gate::PickRule::Dice | gate::PickRule::Accumulator
    );
    match flag {
        "NI_RANDOM" if !dice => Some(format!("policy {name} throws no dice")),
        "NI_RATE" if policy.rate_shift.is_none() => Some(format!("policy {name} has no rate term")),
        _ if rules.has(flag) => None,
        _ => Some(format!("not in {}", PARTS[0].now(rules))),
    }
}

fn set_rule(state: &mut State, row: usize, value: Option<u64>) {
    let named = state.session.rules().clone();
    let mut rules = named.rules;
    let value = value.unwrap_or(0) as usize;
    let what = if let Some(part) = PARTS.get(row) {
        (part.set)(&mut rules, value);
        format!(
            "{} = {}: {}",
            part.name, part.names[value], part.abouts[value]
        )
    } else if let Some(feature) = FEATURES.get(row - PARTS.len()) {
        let (no, now) = if value == 0 {
            ("NO_", "off")
        } else {
            ("", "on")
        };
        rules.features.set(&format!("{no}{}", feature.name));
        format!("{no}{}: switched {now} ({})", feature.name, feature.about)
    } else {
        return;
    };
    state.set_rules(named.changed(rules));
    state.say(what);
}

fn mix_rows(state: &State) -> Vec<Row> {
    let mut rows = Vec::new();
    for class in state.session.world().classes() {
        let name = |what: &str| format!("{} {what}", class.name);
        let count_step = Step::By(u64::from(class.count / 10).max(1));
        rows.push(Row {
            name: name("count"),
            help: format!("tasks of class {} when its share is full", class.letter),
            kind: number((0, MAX_COUNT), count_step),
            value: Some(u64::from(class.count)),
            unit: "",
            note: String::new(),
        });
        rows.push(Row {
            name: name("share"),
            help: "how many of them take part; the others finish and leave".to_owned(),
            kind: number((0, 100), Step::By(5)),
            value: Some(u64::from(class.share_permille / 10)),
            unit: "%",
            note: String::new(),
        });
        rows.push(Row {
            name: name("intensity"),
            help: "how often they come: every sleep is divided by it".to_owned(),
            kind: number((1, 10_000), Step::By(10)),
            value: Some(u64::from(class.intensity_pct)),
            unit: "%",
            note: String::new(),
        });
    }
    rows
}

const fn number(range: (u64, u64), step: Step) -> Kind {
    Kind::Number { range, step }
}

/// Gives a row a value that its kind allows.
pub fn set(state: &mut State, kind: PanelKind, row: usize, value: Option<u64>) {
    match kind {
        PanelKind::Policy => set_field(state, row, value),
        PanelKind::Rules => set_rule(state, row, value),
        PanelKind::Mix => {
            let value = value.and_then(|value| u32::try_from(value).ok());
            let class = row / PER_CLASS;
            match row % PER_CLASS {
                0 => state.set_mix(class, value, None, None),
                1 => state.set_mix(class, None, value.map(|percent| percent * 10), None),
                _ => state.set_mix(class, None, None, value),
            }
        }
    }
}

fn set_field(state: &mut State, row: usize, value: Option<u64>) {
    let Some(field) = FIELDS.get(row) else {
        return;
    };
    let mut rules = state.session.world().policy().clone();
    (field.set)(&mut rules, value);
    if let Some((field, what, allowed)) = rules.problems().into_iter().next() {
        state.complain(format!(
            "not changed: {field} would be {what}; allowed: {allowed}"
        ));
        return;
    }
    let base = state.session.policy_name().trim_end_matches('*');
    let name = if gate::preset(base).as_ref() == Some(&rules) {
        base.to_owned()
    } else {
        format!("{base}*")
    };
    state.set_policy(NamedPolicy { name, rules });
}
