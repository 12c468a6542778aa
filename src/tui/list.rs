//! What the lists offer, and what choosing does.

use std::sync::Arc;

use crate::scenario::{script, topology, workload};
use crate::session::{NamedPolicy, Setup};
use crate::sim::gate;
use crate::sim::rules::{self, KERNELS};

use super::action::Action;
use super::keymap::{BINDINGS, Context, keys_text};
use super::state::{List, ListKind, State};

/// One row of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Name, which is what is chosen.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// In force now.
    pub current: bool,
}

/// Heading of a list.
pub const fn title(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Palette => "Actions",
        ListKind::Topology => "Machine (restarts with the same seed)",
        ListKind::Workload => "Workload (restarts with the same seed)",
        ListKind::Policy => "Newidle policy (the run goes on)",
        ListKind::Kernel => "Kernel: all rules and its newidle policy (the run goes on)",
    }
}

/// The rows of a list that its filter lets through.
pub fn items(state: &State, list: &List) -> Vec<Item> {
    let needle = list.filter.text().to_lowercase();
    let fits = |item: &Item| {
        needle.is_empty()
            || item.name.to_lowercase().contains(&needle)
            || item.about.to_lowercase().contains(&needle)
    };
    let mut items = all(state, list.kind);
    items.retain(fits);
    items
}

fn all(state: &State, kind: ListKind) -> Vec<Item> {
    let setup = state.session.setup();
    let item = |name: &str, about: &str, current: &str| Item {
        name: name.to_owned(),
        about: about.to_owned(),
        current: name == current,
    };
    match kind {
        ListKind::Palette => BINDINGS
            .iter()
            .filter(|b| matches!(b.context, Context::Main | Context::Global | Context::Always))
            .filter(|b| !matches!(b.action, Action::Palette | Action::Escape))
            .map(|b| item(b.name, &format!("{} [{}]", b.help, keys_text(b)), ""))
            .collect(),
        ListKind::Topology => topology::presets()
            .iter()
            .map(|preset| &preset.topology)
            .chain(&state.machines)
            .map(|machine| item(&machine.id, &machine.title, &setup.topology.id))
            .collect(),
        ListKind::Workload => workload::EMBEDDED
            .iter()
            .filter_map(|(id, text)| workload::parse(id, text).ok())
            .map(|w| item(&w.id, &w.title, &setup.workload.id))
            .collect(),
        ListKind::Policy => gate::PRESETS
            .iter()
            .map(|p| item(p.name, p.about, state.session.policy_name()))
            .collect(),
        ListKind::Kernel => KERNELS
            .iter()
            .map(|kernel| item(kernel.name, kernel.about, &state.session.rules().name))
            .collect(),
    }
}

/// Takes the row of this name. A row of the palette is an action to perform.
pub fn choose(state: &mut State, kind: ListKind, name: &str) -> Option<Action> {
    match kind {
        ListKind::Palette => {
            let binding = BINDINGS.iter().find(|binding| binding.name == name)?;
            return Some(binding.action.clone());
        }
        ListKind::Topology => {
            let own = state.machines.iter().find(|machine| machine.id == name);
            let topology = own.cloned().or_else(|| topology::embedded(name))?;
            let setup = state.setup();
            run_if_fits(state, Setup { topology, ..setup });
        }
        ListKind::Workload => {
            let text = workload::embedded(name)?;
            match workload::parse(name, text) {
                Ok(workload) => {
                    let setup = state.setup();
                    let workload = Arc::new(workload);
                    run_if_fits(state, Setup { workload, ..setup });
                }
                Err(problems) => state.complain(problems.to_string()),
            }
        }
        ListKind::Policy => {
            let rules = gate::preset(name)?;
            let name = name.to_owned();
            state.set_policy(NamedPolicy { name, rules });
        }
        ListKind::Kernel => state.set_kernel(rules::kernel(name)?),
    }
    None
}

/// Restarts with `setup`, as freshly booted: what the gates of another machine
/// or under another workload remembered says nothing here. Not if the workload names CPUs the machine lacks.
fn run_if_fits(state: &mut State, setup: Setup) {
    let setup = Setup {
        history: None,
        ..setup
    };
    match script::fits(&setup.workload, &setup.topology) {
        Ok(()) => state.restart(setup, true),
        Err((what, remedy)) => state.complain(format!("not changed: {what}; {remedy}")),
    }
}
