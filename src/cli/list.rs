//! `schedlab list`: what is built in.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::{Serialize, Serializer};

use super::args::{Format, Kind, ListArgs};
use super::library;
use crate::export::csv;
use crate::scenario::script::{self, Overrides};
use crate::scenario::{topology, workload};
use crate::sim::gate;
use crate::sim::rules::{FEATURES, Feature, KERNELS, Kernel, PARTS, Part};

/// One built-in thing.
#[derive(Debug, Serialize)]
struct Entry {
    name: String,
    aliases: Vec<String>,
    about: String,
}

/// The entries of one kind.
type Section = (Kind, Vec<Entry>);

/// Prints the list.
pub fn run(args: &ListArgs, out: &mut impl Write) -> io::Result<ExitCode> {
    let kinds = match args.kind {
        Some(kind) => vec![kind],
        None => vec![
            Kind::Topologies,
            Kind::Workloads,
            Kind::Policies,
            Kind::Kernels,
            Kind::Rules,
            Kind::Features,
            Kind::Scenarios,
        ],
    };
    let sections: Vec<Section> = kinds
        .into_iter()
        .map(|kind| (kind, entries(kind)))
        .collect();
    match args.format {
        Format::Table => table(&sections, out)?,
        Format::Json => json(&sections, out)?,
        Format::Csv => rows(&sections, out)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn entries(kind: Kind) -> Vec<Entry> {
    match kind {
        Kind::Topologies => topologies(),
        Kind::Workloads => workloads(),
        Kind::Policies => policies(),
        Kind::Kernels => kernels(),
        Kind::Rules => rules(),
        Kind::Features => features(),
        Kind::Scenarios => scenarios(),
    }
}

fn topologies() -> Vec<Entry> {
    let host = Entry {
        name: "host".into(),
        aliases: Vec::new(),
        about: "this machine, or a snapshot (--sysfs DIR)".into(),
    };
    let built_in = topology::presets().iter().map(|preset| Entry {
        name: preset.topology.id.clone(),
        aliases: preset.aliases.clone(),
        about: preset.topology.title.clone(),
    });
    built_in.chain([host]).collect()
}

fn workloads() -> Vec<Entry> {
    let entry = |(id, text): (&str, &str)| Entry {
        name: id.into(),
        aliases: Vec::new(),
        about: workload::parse(id, text).map_or_else(|bad| bad.to_string(), |read| read.title),
    };
    workload::EMBEDDED.into_iter().map(entry).collect()
}

fn policies() -> Vec<Entry> {
    let entry = |preset: &gate::Preset| Entry {
        name: preset.name.into(),
        aliases: preset.aliases.iter().map(ToString::to_string).collect(),
        about: preset.about.into(),
    };
    gate::PRESETS.iter().map(entry).collect()
}

fn kernels() -> Vec<Entry> {
    let entry = |kernel: &Kernel| Entry {
        name: kernel.name.into(),
        aliases: Vec::new(),
        about: kernel.about.into(),
    };
    KERNELS.iter().map(entry).collect()
}

/// Every choice as `--rule` takes it.
fn rules() -> Vec<Entry> {
    let entry = |part: &Part, index: usize| Entry {
        name: format!("{}={}", part.name, part.names[index]),
        aliases: part.aliases[index]
            .iter()
            .map(ToString::to_string)
            .collect(),
        about: part.abouts[index].into(),
    };
    let entries = |part: &'static Part| (0..part.names.len()).map(move |index| entry(part, index));
    PARTS.iter().flat_map(entries).collect()
}

fn features() -> Vec<Entry> {
    let entry = |feature: &Feature| Entry {
        name: feature.name.into(),
        aliases: Vec::new(),
        about: feature.about.into(),
    };
    FEATURES.iter().map(entry).collect()
}

fn scenarios() -> Vec<Entry> {
    let about = |name: &str| {
        library::scenario(name, library::Shelf::default(), &Overrides::default())
            .map_or_else(|bad| bad.to_string(), |scenario| scenario.about)
    };
    let entry = |(name, _): (&str, &str)| Entry {
        name: name.into(),
        aliases: Vec::new(),
        about: about(name),
    };
    script::EMBEDDED.into_iter().map(entry).collect()
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Topologies => "topologies",
        Kind::Workloads => "workloads",
        Kind::Policies => "policies",
        Kind::Kernels => "kernels",
        Kind::Rules => "rules",
        Kind::Features => "features",
        Kind::Scenarios => "scenarios",
    }
}

/// Sections with indented names; other names of an entry go below it.
fn table(sections: &[Section], out: &mut impl Write) -> io::Result<()> {
    for (index, (kind, entries)) in sections.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", title(*kind))?;
        let width = entries.iter().map(|entry| entry.name.len()).max();
        let width = width.unwrap_or_default();
        for entry in entries {
            let mut head = entry.name.as_str();
            for line in lines(&entry.about, COLUMNS.saturating_sub(width + 4)) {
                writeln!(out, "  {head:width$}  {line}")?;
                head = "";
            }
            if !entry.aliases.is_empty() {
                let aliases = entry.aliases.join(", ");
                writeln!(out, "  {:width$}  also {aliases}", "")?;
            }
        }
    }
    Ok(())
}

/// Columns that the table keeps to.
const COLUMNS: usize = 80;

/// `text` broken at blanks into lines of at most `room` columns.
fn lines(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("one line is there");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > room {
            lines.push(word.into());
        } else {
            let blank = if last.is_empty() { "" } else { " " };
            last.push_str(blank);
            last.push_str(word);
        }
    }
    lines
}

/// One object with an array per kind.
struct Lists<'a>(&'a [Section]);

impl Serialize for Lists<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(kind, entries)| (title(*kind), entries)))
    }
}

fn json(sections: &[Section], out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Lists(sections))?;
    writeln!(out)
}

fn rows(sections: &[Section], out: &mut impl Write) -> io::Result<()> {
    csv::row(out, ["kind", "name", "aliases", "about"])?;
    for (kind, entries) in sections {
        for entry in entries {
            let aliases = entry.aliases.join(" ");
            csv::row(out, [title(*kind), &entry.name, &aliases, &entry.about])?;
        }
    }
    Ok(())
}
