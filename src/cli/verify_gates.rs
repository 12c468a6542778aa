//! `schedlab verify gates FILE...`: golden vectors against the product's own
//! gate code.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use color_eyre::Result;

use crate::files;
use crate::import::oracle_gates::{self, Outcome};

/// Replays every file. The exit code is 0 if all is equal, 1 if some value
/// differs, 2 if some file cannot be read or is of another kind.
pub fn run(paths: &[PathBuf], out: &mut impl Write, errors: &mut impl Write) -> Result<ExitCode> {
    let mut worst = 0;
    for path in paths {
        let code = match replay(path) {
            Ok(outcome) => report(&outcome, path, out)?,
            Err(problem) => {
                writeln!(errors, "{problem}")?;
                super::BAD_INPUT
            }
        };
        worst = worst.max(code);
    }
    Ok(ExitCode::from(worst))
}

fn replay(path: &Path) -> Result<Outcome, String> {
    let text = files::read_text(path)?;
    oracle_gates::parse(&path.display().to_string(), &text)
        .map(|file| oracle_gates::replay(&file))
        .map_err(|problem| problem.to_string())
}

fn report(outcome: &Outcome, path: &Path, out: &mut impl Write) -> Result<u8> {
    let shown = path.display();
    for mismatch in &outcome.mismatches {
        writeln!(out, "{shown}: {mismatch}")?;
    }
    let verdict = match outcome.mismatches.len() {
        0 => "all equal".to_string(),
        1 => "1 mismatch".to_string(),
        count => format!("{count} mismatches"),
    };
    writeln!(
        out,
        "{shown}: {} replays, {} values compared: {verdict}",
        outcome.replays, outcome.compared
    )?;
    Ok(u8::from(!outcome.mismatches.is_empty()))
}
