//! The subcommands.
//!
//! Data goes to standard output, everything else to standard error. Exit codes:
//! 0 done, 1 ran but the asked check failed, 2 bad input or usage. A reader that
//! closes the pipe ends the program in silence.

pub mod args;
mod explore;
pub mod library;
mod list;
mod run;
pub mod topology;
pub mod verify_domains;
mod verify_gates;
pub mod verify_pick;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;
use color_eyre::{Report, Result};

use args::{Cli, Command, VerifyCommand};

/// Bad input or usage.
const BAD_INPUT: u8 = 2;

/// Reads the command line and does what it says.
pub fn main() -> Result<ExitCode> {
    color_eyre::install()?;
    let cli = Cli::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let done = dispatch(cli, &mut out).and_then(|code| {
        out.flush()?;
        Ok(code)
    });
    match done {
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        // A full disk is no fault of the program: one line, and no backtrace.
        Err(error) if io_kind(&error).is_some() => {
            let line = format!(
                "schedlab: the result cannot be written: {error}; make room or write elsewhere"
            );
            // With standard error gone too there is nobody left to tell.
            writeln!(io::stderr(), "{line}").ok();
            Ok(ExitCode::FAILURE)
        }
        other => other,
    }
}

fn dispatch(cli: Cli, out: &mut impl Write) -> Result<ExitCode> {
    let errors = &mut io::stderr();
    match cli.command {
        None => explore::run(&cli.explore, errors),
        Some(Command::Run(args)) => run::run(&args, out, errors),
        Some(Command::Topology(args)) => topology::run(&args, out, errors),
        Some(Command::List(args)) => Ok(list::run(&args, out)?),
        Some(Command::Verify(what)) => match what {
            VerifyCommand::Gates(args) => verify_gates::run(&args.files, out, errors),
            VerifyCommand::Domains(args) => verify_domains::run(&args.files, out, errors),
            VerifyCommand::Pick(args) => verify_pick::run(&args.files, out, errors),
        },
    }
}

fn is_broken_pipe(error: &Report) -> bool {
    io_kind(error) == Some(io::ErrorKind::BrokenPipe)
}

/// Kind of the input or output error behind `error`, if that is one.
fn io_kind(error: &Report) -> Option<io::ErrorKind> {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().map(io::Error::kind)
    };
    error.chain().find_map(kind)
}

/// Prints what is wrong with the input.
fn bad_input(problem: impl std::fmt::Display, errors: &mut impl Write) -> Result<ExitCode> {
    writeln!(errors, "{problem}")?;
    Ok(ExitCode::from(BAD_INPUT))
}
