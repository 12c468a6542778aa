//! One world and the log of what the user changed.
//!
//! The explorer and headless runs drive a world only through a session, so
//! they cannot differ.

use std::sync::Arc;

use crate::sim::gate::GatePolicy;
use crate::sim::workload::{ClassId, Workload};
use crate::sim::{Ns, Topology};

/// Everything a run is made of: same setup, same event stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The machine.
    pub topology: Arc<Topology>,
    /// The mix of tasks.
    pub workload: Arc<Workload>,
    /// The newidle gate and the name it goes by.
    pub policy: NamedPolicy,
    /// Seed of all random streams.
    pub seed: u64,
    /// Scripted changes, ascending by time.
    pub timeline: Vec<(Ns, Change)>,
}

/// A policy and its name, such as `ni-rate`; a changed field makes it
/// `ni-rate*`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPolicy {
    /// Name for people and results.
    pub name: String,
    /// The rules.
    pub rules: GatePolicy,
}

/// A change while the machine runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Another newidle policy, from the next decision on. Statistics stay.
    Policy(NamedPolicy),
    /// Another size or rate of one class; fields that are none stay.
    Mix {
        /// Which class.
        class: ClassId,
        /// New [`crate::sim::workload::Class::count`].
        count: Option<u32>,
        /// New share, thousandths.
        share_permille: Option<u32>,
        /// New rate, percent.
        intensity_pct: Option<u32>,
    },
}
