//! `schedlab` without a command: the explorer.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use color_eyre::Result;

use super::args::{ColorWhen, ExploreArgs};
use super::bad_input;
use super::library::{self, Shelf};
use crate::scenario::policy;
use crate::scenario::problem::{Problem, Problems, suggest};
use crate::scenario::script::{self, Overrides};
use crate::session::Setup;
use crate::tui::pace::Speed;
use crate::tui::terminal::ColorChoice;
use crate::tui::{self, Options, theme};

/// What is explored without options.
const TOPOLOGY: &str = "tr-9960x";
const WORKLOAD: &str = "easywave";
const POLICY: &str = "ni-random";
const SEED: u64 = 1;

/// Opens the explorer.
pub fn run(args: &ExploreArgs, errors: &mut impl Write) -> Result<ExitCode> {
    // Without a terminal that is what to say, whatever else is wrong.
    if !tui::has_terminal() {
        return bad_input(tui::NO_TERMINAL, errors);
    }
    match options(args) {
        Ok(options) => tui::run(options),
        Err(problems) => bad_input(problems, errors),
    }
}

fn options(args: &ExploreArgs) -> Result<Options, Problems> {
    if let Some(name) = &args.theme
        && !theme::names().any(|known| known == name)
    {
        let what = format!("there is no theme called `{name}`");
        return Err(problem("--theme", what, suggest(name, theme::names())));
    }
    Ok(Options {
        speed: args.speed.map_or(Speed::START, Speed::Ns),
        color: match args.color {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        },
        theme: args.theme.clone(),
        ascii: args.ascii,
        mouse: !args.no_mouse,
        panic_for_test: args.panic_for_test,
        ..Options::new(setup(args)?)
    })
}

fn setup(args: &ExploreArgs) -> Result<Setup, Problems> {
    let named = |name: &str| policy::parse("--policy", name);
    let policy = args.policy.as_deref().map(named).transpose()?;
    let sysfs = args.sysfs.as_deref();
    if let Some(scenario) = &args.scenario {
        let shelf = Shelf::new(sysfs, args.topology.as_deref(), args.workload.as_deref())?;
        let overrides = Overrides {
            policy,
            seed: args.seed,
            duration: None,
        };
        return library::scenario(scenario, shelf, &overrides).map(|scenario| scenario.setup);
    }
    let here = Path::new("");
    let topology = args.topology.as_deref().unwrap_or(TOPOLOGY);
    let workload = args.workload.as_deref().unwrap_or(WORKLOAD);
    let topology = library::topology(topology, here, sysfs)
        .map_err(|missing| missing.of_argument("--topology"))?;
    let workload =
        library::workload(workload, here).map_err(|missing| missing.of_argument("--workload"))?;
    script::fits(&workload, &topology)
        .map_err(|(what, remedy)| problem("--workload", what, remedy))?;
    Ok(Setup {
        topology,
        workload,
        policy: match policy {
            Some(policy) => policy,
            None => named(POLICY)?,
        },
        seed: args.seed.unwrap_or(SEED),
        timeline: Vec::new(),
    })
}

fn problem(source: &str, what: String, remedy: String) -> Problems {
    Problem {
        source: source.into(),
        at: None,
        what,
        remedy,
    }
    .into()
}
