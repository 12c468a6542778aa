//! `schedlab run`: a scenario without a screen.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use color_eyre::Result;

use super::args::{Format, RunArgs};
use super::bad_input;
use super::library::{self, Shelf};
use crate::export::schedstat;
use crate::export::summary::Summary;
use crate::scenario::policy;
use crate::scenario::problem::Problems;
use crate::scenario::script::{Overrides, Scenario};
use crate::session::Session;

/// Runs the scenario and prints what came of it.
pub fn run(args: &RunArgs, out: &mut impl Write, errors: &mut impl Write) -> Result<ExitCode> {
    let scenario = match scenario(args) {
        Ok(scenario) => scenario,
        Err(problems) => return bad_input(problems, errors),
    };
    let started = Instant::now();
    let mut session = Session::new(scenario.setup);
    session.advance_to(scenario.duration);
    let wall = started.elapsed();
    let mut summary = Summary::of(&scenario.name, &session);
    if args.timing {
        summary.wall_ns = u64::try_from(wall.as_nanos()).ok();
        if args.format != Format::Table {
            let rate = summary.schedules as f64 / wall.as_secs_f64();
            writeln!(errors, "{rate:.0} context switches/s of wall time")?;
        }
    }
    if args.schedstat {
        schedstat::write(session.world(), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    match args.format {
        Format::Table => summary.write_table(out)?,
        Format::Json => summary.write_json(out)?,
        Format::Csv => summary.write_csv(out)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn scenario(args: &RunArgs) -> Result<Scenario, Problems> {
    let (topology, workload) = (args.topology.as_deref(), args.workload.as_deref());
    let shelf = Shelf::new(args.sysfs.as_deref(), topology, workload)?;
    let named = |name: &String| policy::parse("--policy", name);
    let overrides = Overrides {
        policy: args.policy.as_ref().map(named).transpose()?,
        rules: args.rules.asked()?,
        seed: args.seed,
        duration: args.until,
    };
    library::scenario(&args.scenario, shelf, &overrides)
}
