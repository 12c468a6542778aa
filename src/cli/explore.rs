//! `schedlab` without a command: the explorer.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use color_eyre::Result;

use super::args::{ColorWhen, ExploreArgs};
use super::bad_input;
use super::library::{self, Shelf};
use super::topology::host;
use crate::scenario::policy;
use crate::scenario::problem::{Problem, Problems, suggest};
use crate::scenario::script::Overrides;
use crate::session::Setup;
use crate::tui::pace::Speed;
use crate::tui::terminal::ColorChoice;
use crate::tui::{self, Options, theme};

/// What is explored without options.
const SCENARIO: &str = "easywave-threadripper";

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
        // A machine without a readable /sys simply is not offered.
        machines: host(args.sysfs.as_deref())
            .map(|host| Arc::new(host.topology))
            .into_iter()
            .collect(),
        speed: args.speed.unwrap_or(Speed::START),
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
    let overrides = Overrides {
        policy: args.policy.as_deref().map(named).transpose()?,
        rules: args.rules.asked()?,
        seed: args.seed,
        duration: None,
    };
    let scenario = args.scenario.as_deref().unwrap_or(SCENARIO);
    let (topology, workload) = (args.topology.as_deref(), args.workload.as_deref());
    let shelf = Shelf::new(args.sysfs.as_deref(), topology, workload)?;
    let mut setup = library::scenario(scenario, shelf, &overrides)?.setup;
    if workload.is_some() {
        // What another workload did to the gates says nothing about this one.
        setup.history = None;
    }
    Ok(setup)
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
