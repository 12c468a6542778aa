//! The binary: the command line and the explorer.

use std::process::ExitCode;

fn main() -> color_eyre::Result<ExitCode> {
    schedlab::cli::main()
}
