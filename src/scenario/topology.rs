//! Machines: RON files into topologies, and the ones that are built in.
//!
//! A file gives its shape in one of two ways. `uniform` counts: packages, nodes,
//! LLCs, cores, threads, and how the firmware numbers them. `listed` names the
//! CPUs of every core, LLC and node, for machines with no such regularity.
//!
//! ```ron
//! (
//!     format: 1,
//!     id: "two-ccx",
//!     title: "Two CCX of four cores, SMT",
//!     shape: uniform(llcs_per_node: 2, cores_per_llc: 4, threads_per_core: 2),
//! )
//! ```

mod costs;
mod file;
mod shape;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::problem::{Problems, Report, from_ron};
use crate::sim::Topology;

pub use costs::{Figure, cost_figures};

macro_rules! preset {
    ($id:literal) => {
        (
            $id,
            include_str!(concat!("../../assets/topologies/", $id, ".ron")),
        )
    };
}

/// Ids and texts of the built-in machines, the three main ones first.
const EMBEDDED: [(&str, &str); 19] = [
    preset!("tr-9960x"),
    preset!("epyc-9r14-c7a-4xlarge"),
    preset!("xeon-8488c-c7i-4xlarge"),
    preset!("w7-2495x-4llc"),
    preset!("w7-2495x"),
    preset!("zen4c-2x128"),
    preset!("c5ad-24xlarge"),
    preset!("i7-12700kf"),
    preset!("i5-10600k"),
    preset!("altra-2x80"),
    preset!("ampereone"),
    preset!("xeon-e5-2650v4"),
    preset!("icelake-2x32"),
    preset!("sixty-core"),
    preset!("graviton3-vm"),
    preset!("graviton4-vm"),
    preset!("arm64-vm"),
    preset!("schbench-author-box"),
    preset!("schbench-big-box"),
];

/// A machine and what its file says beside its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// The machine.
    pub topology: Arc<Topology>,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    /// Where the shape comes from and what of it was chosen here.
    pub note: String,
    /// Source of each cost that differs from the default, by field name.
    pub basis: BTreeMap<String, String>,
}

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let read_own = |(id, text): &(&str, &str)| {
        read(id, text).unwrap_or_else(|problems| {
            unreachable!("built-in topologies are read by a test: {problems}")
        })
    };
    EMBEDDED.iter().map(read_own).collect()
});

/// Ids of the built-in machines.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(id, _)| *id)
}

/// Every built-in machine, in the order of [`names`].
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The built-in machine of this id or alias.
pub fn preset(name: &str) -> Option<&'static Preset> {
    let answers = |preset: &&Preset| {
        preset.topology.id == name || preset.aliases.iter().any(|alias| alias == name)
    };
    PRESETS.iter().find(answers)
}

/// The built-in machine of this id or alias.
pub fn embedded(name: &str) -> Option<Arc<Topology>> {
    preset(name).map(|preset| Arc::clone(&preset.topology))
}

/// Reads a machine from RON; `source` names the text in messages. All problems
/// are reported, not just the first.
pub fn parse(source: &str, text: &str) -> Result<Topology, Problems> {
    read(source, text).map(|preset| Arc::unwrap_or_clone(preset.topology))
}

/// Reads a machine and its remarks from RON.
pub fn read(source: &str, text: &str) -> Result<Preset, Problems> {
    let file: file::TopologyFile = from_ron(source, text)?;
    let mut report = Report::new(source, text);
    if file.format != file::FORMAT {
        let what = format!("format {} is not known", file.format);
        report.at(
            "format",
            what,
            format!("this program reads format {}", file::FORMAT),
        );
    }
    if file.id.trim().is_empty() {
        report.at(
            "id",
            "the id is empty",
            "give a short name, such as \"tr-9960x\"",
        );
    }
    let costs = costs::validate(&file, &mut report);
    let (cpus, nodes) = shape::validate(&file, &mut report);
    let preset = Preset {
        topology: Arc::new(Topology {
            title: file.title,
            id: file.id,
            cpus,
            nodes,
            node_reclaim_distance: file.node_reclaim_distance,
            costs,
        }),
        aliases: file.aliases,
        note: file.note,
        basis: file.basis,
    };
    report.finish(preset)
}
