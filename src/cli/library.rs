//! Machines and workloads by name, from what is built in, the host, and files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::RuleArgs;
use crate::files;
use crate::scenario::problem::{Problem, Problems, suggest};
use crate::scenario::rules::{self, Asked};
use crate::scenario::script::{self, Library, Missing, Overrides, Scenario};
use crate::scenario::{topology, workload};
use crate::sim::Topology;
use crate::sim::workload::Workload;

/// Where a scenario's names are looked up.
#[derive(Debug, Default)]
pub struct Shelf {
    /// Folder that paths in the scenario start from.
    base: PathBuf,
    /// Folder to read `host` from; none is /sys.
    sysfs: Option<PathBuf>,
    /// Machine to use whatever the scenario names.
    topology: Option<Arc<Topology>>,
    /// Workload to use whatever the scenario names.
    workload: Option<Arc<Workload>>,
}

impl Shelf {
    /// A shelf on which these arguments take the place of what a scenario names.
    ///
    /// # Errors
    ///
    /// What is wrong with an argument.
    pub fn new(
        sysfs: Option<&Path>,
        topology: Option<&str>,
        workload: Option<&str>,
    ) -> Result<Self, Problems> {
        let here = Path::new("");
        Ok(Self {
            base: PathBuf::new(),
            sysfs: sysfs.map(Path::to_path_buf),
            topology: topology
                .map(|name| self::topology(name, here, sysfs))
                .transpose()
                .map_err(|missing| missing.of_argument("--topology"))?,
            workload: workload
                .map(|name| self::workload(name, here))
                .transpose()
                .map_err(|missing| missing.of_argument("--workload"))?,
        })
    }
}

impl Library for Shelf {
    fn topology(&self, name: &str) -> Result<Arc<Topology>, Missing> {
        match &self.topology {
            Some(topology) => Ok(Arc::clone(topology)),
            None => topology(name, &self.base, self.sysfs.as_deref()),
        }
    }

    fn workload(&self, name: &str) -> Result<Arc<Workload>, Missing> {
        match &self.workload {
            Some(workload) => Ok(Arc::clone(workload)),
            None => workload(name, &self.base),
        }
    }
}

/// A machine by name, `host`, or a path that starts from `base`.
///
/// # Errors
///
/// That there is none of this name, or what is wrong with its file.
pub fn topology(name: &str, base: &Path, sysfs: Option<&Path>) -> Result<Arc<Topology>, Missing> {
    if name == "host" {
        return host(sysfs);
    }
    if is_path(name) {
        let (source, text) = read(base, name)?;
        return topology::parse(&source, &text)
            .map(Arc::new)
            .map_err(Missing::Broken);
    }
    topology::embedded(name).ok_or_else(|| {
        let names = topology::names().chain(["host"]);
        unknown("topology", name, names)
    })
}

/// The machine this program runs on, or a snapshot of another.
fn host(sysfs: Option<&Path>) -> Result<Arc<Topology>, Missing> {
    let imported =
        super::topology::host(sysfs).map_err(|message| Missing::Broken(one_line(message)))?;
    Ok(Arc::new(imported.topology))
}

/// A workload by name or path.
///
/// # Errors
///
/// That there is none of this name, or what is wrong with its file.
pub fn workload(name: &str, base: &Path) -> Result<Arc<Workload>, Missing> {
    let (source, text) = if is_path(name) {
        read(base, name)?
    } else {
        let names = workload::EMBEDDED.iter().map(|(id, _)| *id);
        let text = workload::embedded(name).ok_or_else(|| unknown("workload", name, names))?;
        (name.to_string(), text.to_string())
    };
    workload::parse(&source, &text)
        .map(Arc::new)
        .map_err(Missing::Broken)
}

/// A scenario by name or path, with what the caller asks for instead.
///
/// # Errors
///
/// That there is none of this name, or everything wrong with it.
pub fn scenario(name: &str, mut shelf: Shelf, overrides: &Overrides) -> Result<Scenario, Problems> {
    if let Some(text) = script::embedded(name) {
        return script::parse(name, text, &shelf, overrides);
    }
    let path = Path::new(name);
    if !is_path(name) && !path.exists() {
        let names = script::EMBEDDED.iter().map(|(name, _)| *name);
        return Err(plain(
            format!("there is no scenario called `{name}`"),
            format!("{}, or a path that ends in .ron", suggest(name, names)),
        ));
    }
    let text = files::read_text(path).map_err(one_line)?;
    shelf.base = path.parent().map(Path::to_path_buf).unwrap_or_default();
    script::parse(name, &text, &shelf, overrides)
}

impl RuleArgs {
    /// What these arguments ask for.
    ///
    /// # Errors
    ///
    /// What is wrong with one of them, as far as it can be told without the rules
    /// they change.
    pub fn asked(&self) -> Result<Asked, Problems> {
        let problem = |source: &str, (what, remedy)| Problem {
            source: source.into(),
            at: None,
            what,
            remedy,
        };
        let kernel = self.kernel.as_deref().map(rules::kernel).transpose();
        let part = |text: &String| match text.split_once('=') {
            Some((part, name)) => Ok((part.trim().into(), name.trim().into())),
            None => Err(problem(
                "--rule",
                (
                    format!("`{text}` is no rule"),
                    "write KEY=NAME, such as fork=random; `list rules` has all".into(),
                ),
            )),
        };
        let mut parts: Vec<(String, String)> =
            self.rule.iter().map(part).collect::<Result<_, _>>()?;
        // The picking rule brings its own switches, whatever the order here.
        parts.sort_by_key(|(part, _)| part != "pick");
        Ok(Asked {
            kernel: kernel.map_err(|refused| problem("--kernel", refused))?,
            parts,
            features: self.feature.clone(),
        })
    }
}

impl Missing {
    /// As problems of an argument.
    pub fn of_argument(self, argument: &str) -> Problems {
        match self {
            Self::Unknown(what, remedy) => Problem {
                source: argument.into(),
                at: None,
                what,
                remedy,
            }
            .into(),
            Self::Broken(problems) => problems,
        }
    }
}

/// Whether a name is meant as a file.
fn is_path(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ext| ext == "ron") || name.contains('/')
}

fn read(base: &Path, name: &str) -> Result<(String, String), Missing> {
    let path = base.join(name);
    let text = files::read_text(&path).map_err(|message| match message.split_once("; ") {
        Some((what, remedy)) => Missing::Unknown(what.into(), remedy.into()),
        None => Missing::Unknown(message, "check the path".into()),
    })?;
    Ok((path.display().to_string(), text))
}

fn unknown<'n>(kind: &str, name: &str, names: impl Iterator<Item = &'n str>) -> Missing {
    let remedy = format!("{}, or a path that ends in .ron", suggest(name, names));
    Missing::Unknown(format!("there is no {kind} called `{name}`"), remedy)
}

/// A problem of a file that could not be read: `file: what; remedy`.
fn one_line(message: String) -> Problems {
    let (what, remedy) = message
        .split_once("; ")
        .unwrap_or((&message, "check the path"));
    let (source, what) = what.split_once(": ").unwrap_or(("input", what));
    Problem {
        source: source.into(),
        at: None,
        what: what.into(),
        remedy: remedy.into(),
    }
    .into()
}

fn plain(what: String, remedy: String) -> Problems {
    Problem {
        source: "schedlab".into(),
        at: None,
        what,
        remedy,
    }
    .into()
}
