//! `schedlab topology NAME|host`: a machine as a picture or as a domain file.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use color_eyre::Result;

use super::args::{TopologyArgs, TopologyFormat};
use crate::export::{domain_json, topology_tree};
use crate::files;
use crate::import::sysfs::{self, Imported};
use crate::scenario::problem::suggest;
use crate::scenario::topology::{self, Preset, cost_figures};

/// The name that means the machine this runs on.
pub const HOST: &str = "host";

/// Prints a machine. Notes on what had to be guessed go to `errors`.
pub fn run(args: &TopologyArgs, out: &mut impl Write, errors: &mut impl Write) -> Result<ExitCode> {
    let preset = match find(&args.topology, args.sysfs.as_deref()) {
        Ok((preset, notes)) => {
            for note in notes {
                writeln!(errors, "note: {note}")?;
            }
            preset
        }
        Err(problem) => {
            writeln!(errors, "{problem}")?;
            return Ok(ExitCode::from(2));
        }
    };
    if args.costs {
        write_costs(&preset, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    match args.format {
        TopologyFormat::Json => domain_json::write(&preset.topology, out)?,
        TopologyFormat::Tree => {
            topology_tree::write(&preset.topology, out)?;
            if !preset.note.is_empty() {
                writeln!(out, "Basis: {}", preset.note)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The machine this runs on, or the one of a snapshot.
///
/// # Errors
///
/// One line: what is wrong with the folder and how to mend it.
pub fn host(sysfs: Option<&Path>) -> Result<Imported, String> {
    let tree = files::read_sysfs(sysfs.unwrap_or(Path::new("/")))?;
    sysfs::import(HOST, &tree).map_err(|problem| problem.to_string())
}

fn find(name: &str, sysfs: Option<&Path>) -> Result<(Preset, Vec<String>), String> {
    if name == HOST {
        let Imported { topology, notes } = host(sysfs)?;
        let preset = Preset {
            topology: Arc::new(topology),
            aliases: Vec::new(),
            note: String::new(),
            basis: Default::default(),
        };
        return Ok((preset, notes));
    }
    if sysfs.is_some() {
        return Err(format!(
            "--sysfs goes with `{HOST}`, not with `{name}`; write `topology {HOST} --sysfs DIR`"
        ));
    }
    if name.ends_with(".ron") {
        let text = files::read_text(Path::new(name))?;
        let preset = topology::read(name, &text).map_err(|problems| problems.to_string())?;
        return Ok((preset, Vec::new()));
    }
    let known = || topology::names().chain([HOST]);
    topology::preset(name)
        .map(|preset| (preset.clone(), Vec::new()))
        .ok_or_else(|| format!("there is no topology `{name}`; {}", suggest(name, known())))
}

fn write_costs(preset: &Preset, out: &mut impl Write) -> Result<()> {
    writeln!(out, "{}: {}", preset.topology.id, preset.topology.title)?;
    writeln!(out, "`*` marks what this machine's file changes.\n")?;
    for figure in cost_figures(preset) {
        let mark = if figure.own { '*' } else { ' ' };
        writeln!(
            out,
            "{mark} {:<26} {:>7}  {}",
            figure.name, figure.value, figure.source
        )?;
    }
    Ok(())
}
