//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::scenario::script::LONGEST_RUN;
use crate::scenario::units::{format_time, parse_time};
use crate::sim::Ns;
use crate::tui::pace::Speed;

const EXIT_CODES: &str = "Exit codes: 0 done; 2 bad input or usage.";

const EXAMPLES: &str = "\
Examples:
  schedlab                                     explore the default machine
  schedlab --topology host --policy ni-rate    this machine, another policy
  schedlab run easywave-threadripper --policy plain
  schedlab run my.ron --until 500ms --format json
  schedlab topology host --format json
  schedlab list policies

Exit codes: 0 done; 1 a check failed; 2 bad input or usage.";

/// Explore how the Linux scheduler balances load on real machine shapes.
///
/// Without a command the explorer opens in the terminal. Commands are for scripts:
/// data goes to standard output, everything else to standard error.
#[derive(Debug, Parser)]
#[command(
    name = "schedlab",
    version,
    about = "Explore how the Linux scheduler balances load on real machine shapes",
    max_term_width = 80,
    after_long_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do; none opens the explorer.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of the explorer.
    #[command(flatten)]
    pub explore: ExploreArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario without a screen and print what came of it
    Run(RunArgs),
    /// Show a machine: its shape, its sched domains, its costs
    Topology(TopologyArgs),
    /// List what is built in
    List(ListArgs),
    /// Check this program against golden data
    #[command(subcommand, after_help = VERIFY_CODES)]
    Verify(VerifyCommand),
}

/// Rules by name.
#[derive(Debug, Args)]
pub struct RuleArgs {
    /// Rules and policy of a kernel of `list kernels`
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Switch feature flags: SIS_UTIL on, NO_SIS_UTIL off
    #[arg(
        long,
        value_name = "FLAG",
        value_delimiter = ',',
        hide_short_help = true
    )]
    pub feature: Vec<String>,
    /// One rule of `list rules`, such as fork=random
    #[arg(
        long,
        value_name = "KEY=NAME",
        value_delimiter = ',',
        hide_short_help = true
    )]
    pub rule: Vec<String>,
}

/// Options of the explorer.
#[derive(Debug, Args)]
pub struct ExploreArgs {
    /// Machine: a listed name, `host`, or a .ron file
    #[arg(long, value_name = "NAME")]
    pub topology: Option<String>,
    /// Mix of tasks: a listed name, or a .ron file
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Newidle policy: a listed name, or '(base: ...)'
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Other rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Seed of all random streams
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub seed: Option<u64>,
    /// Scenario: a listed name, or a .ron file
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<String>,
    /// Simulated time per second, such as 1ms, or `full`
    #[arg(long, value_name = "TIME", value_parser = speed)]
    pub speed: Option<Speed>,
    /// Colours: auto, always or never
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_possible_values = true
    )]
    pub color: ColorWhen,
    /// Colour theme: dark, light or mono
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
    /// Leave the mouse to the terminal
    #[arg(long, hide_short_help = true)]
    pub no_mouse: bool,
    /// Folder to read `host` from instead of /sys
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub sysfs: Option<PathBuf>,
    /// Panic with the screen open, to test what becomes of the terminal
    #[arg(long, hide = true)]
    pub panic_for_test: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// If the terminal can and NO_COLOR is not set.
    #[default]
    Auto,
    /// Even if NO_COLOR is set.
    Always,
    /// Shapes and letters only.
    Never,
}

const RUN_EXAMPLES: &str = "\
Examples:
  schedlab run easywave-threadripper
  schedlab run scenarios/memcached-2ccd.ron --policy plain --format json
  schedlab run schbench-storm-threadripper --until 500ms --timing
  schedlab run memcached-2ccd --policy '(base: \"ni-rate\", rate_shift: 23)'
  schedlab run memcached-xeon --kernel 7.3 --feature NO_SIS_UTIL,NO_NI_RATE
  schedlab run memcached-xeon --until 100ms --rule fork=random --schedstat

The forms: `table` for people; `json` is one object; `csv` is one line of column
names (dots join nested names, as in newidle.skips.cost_gate) and one of values.
The same input gives the same bytes, `wall_ns` of --timing aside.

Exit codes: 0 done; 2 bad input or usage.";

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// A scenario file, or a name of `list scenarios`
    pub scenario: String,
    /// Another machine: a listed name, `host`, or a .ron file
    #[arg(long, value_name = "NAME")]
    pub topology: Option<String>,
    /// Folder to read `host` from instead of /sys
    #[arg(long, value_name = "DIR")]
    pub sysfs: Option<PathBuf>,
    /// Another mix of tasks: a listed name, or a .ron file
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Another policy: a listed name, or '(base: ...)'
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Other rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Another seed
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub seed: Option<u64>,
    /// Another simulated duration, such as 500ms
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub until: Option<Ns>,
    /// Form of the result: table, json or csv
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        default_value_t,
        hide_possible_values = true
    )]
    pub format: Format,
    /// Also tell the wall time and switches per second of it
    #[arg(long)]
    pub timing: bool,
    /// Print the counters as /proc/schedstat instead, in the kernel's version
    #[arg(long, conflicts_with_all = ["format", "timing"])]
    pub schedstat: bool,
}

/// Form of a printed result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned, for people.
    #[default]
    Table,
    /// JSON.
    Json,
    /// Comma-separated values.
    Csv,
}

const TOPOLOGY_EXAMPLES: &str = "\
Examples:
  schedlab topology threadripper-9960x
  schedlab topology host
  schedlab topology host --sysfs snapshot/ --format json
  schedlab topology w7-2495x-4llc --costs

Exit codes: 0 done; 2 bad input or usage.";

/// Arguments of `topology`.
#[derive(Debug, Args)]
#[command(after_long_help = TOPOLOGY_EXAMPLES)]
pub struct TopologyArgs {
    /// A name of `list topologies`, `host`, or a .ron file
    pub topology: String,
    /// Folder to read `host` from instead of /sys
    #[arg(long, value_name = "DIR")]
    pub sysfs: Option<PathBuf>,
    /// Form of the result
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    pub format: TopologyFormat,
    /// Show what the scheduler's own work costs on it, with sources
    #[arg(long)]
    pub costs: bool,
}

/// Form of a printed machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TopologyFormat {
    /// For people.
    #[default]
    Tree,
    /// CPUs and sched domains, in the form that `verify domains` reads.
    Json,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ListArgs {
    /// What to list; none lists everything
    #[arg(value_enum)]
    pub kind: Option<Kind>,
    /// Form of the result: table, json or csv
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        default_value_t,
        hide_possible_values = true
    )]
    pub format: Format,
}

/// What is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Machines.
    Topologies,
    /// Mixes of tasks.
    Workloads,
    /// Newidle policies.
    Policies,
    /// Kernels: whole sets of rules.
    Kernels,
    /// Rules that can be chosen apart.
    Rules,
    /// Feature flags.
    Features,
    /// Scenarios.
    Scenarios,
}

const VERIFY_CODES: &str =
    "Exit codes: 0 all equal; 1 some value differs; 2 a file cannot be read.";

/// What to check.
#[derive(Debug, Subcommand)]
pub enum VerifyCommand {
    /// Replay golden vectors of the newidle gates
    #[command(after_help = VERIFY_CODES)]
    Gates(Files),
    /// Compare sched domains with those of booted kernels
    #[command(after_help = VERIFY_CODES)]
    Domains(Files),
    /// Replay golden vectors of the fair class
    #[command(after_help = VERIFY_CODES)]
    Pick(Files),
}

/// Files to check.
#[derive(Debug, Args)]
pub struct Files {
    /// Files, in the form of the golden data
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// A speed of the explorer.
fn speed(text: &str) -> Result<Speed, String> {
    match text {
        "full" => Ok(Speed::Full),
        _ => time(text).map(Speed::Ns),
    }
}

/// How long a run can be.
fn duration(text: &str) -> Result<Ns, String> {
    let time = time(text)?;
    if time > LONGEST_RUN {
        let most = format_time(LONGEST_RUN);
        return Err(format!("{text} is too long; give at most {most}"));
    }
    Ok(time)
}

/// A time above zero.
fn time(text: &str) -> Result<Ns, String> {
    match parse_time(text)? {
        0 => Err("a time of 0 does nothing; give more, such as 1ms".into()),
        time => Ok(time),
    }
}
