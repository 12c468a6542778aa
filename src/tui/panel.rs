//! The rows of the panels of values, and what changing one does.

use crate::session::NamedPolicy;
use crate::sim::gate;

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
}

/// Heading of a panel.
pub fn title(state: &State, kind: PanelKind) -> String {
    match kind {
        PanelKind::Policy => format!("Policy {}", state.session.policy_name()),
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
            });
            row.collect()
        }
        PanelKind::Mix => mix_rows(state),
    }
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
        });
        rows.push(Row {
            name: name("share"),
            help: "how many of them take part; the others finish and leave".to_owned(),
            kind: number((0, 100), Step::By(5)),
            value: Some(u64::from(class.share_permille / 10)),
            unit: "%",
        });
        rows.push(Row {
            name: name("intensity"),
            help: "how often they come: every sleep is divided by it".to_owned(),
            kind: number((1, 10_000), Step::By(10)),
            value: Some(u64::from(class.intensity_pct)),
            unit: "%",
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
