//! `schedlab verify pick FILE...`: golden vectors of the fair class against the
//! product's own picking code.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use color_eyre::Result;

use crate::files;
use crate::import::oracle_pick::{self, Outcome};

/// Replays every file. The exit code is 0 if all is equal, 1 if some value
/// differs, 2 if some file cannot be read or is of another kind.
pub fn run(paths: &[PathBuf], out: &mut impl Write, errors: &mut impl Write) -> Result<ExitCode> {
    let mut worst = 0;
    for path in paths {
        let code = match replay(path) {
            Ok(outcome) => report(&outcome, path, out)?,
            Err(problem) => {
                writeln!(errors, "{problem}")?;
                2
            }
        };
        worst = worst.max(code);
    }
    Ok(ExitCode::from(worst))
}

fn replay(path: &Path) -> Result<Outcome, String> {
    let text = files::read_text(path)?;
    let file = oracle_pick::parse(&path.display().to_string(), &text)
        .map_err(|problem| problem.to_string())?;
    Ok(oracle_pick::verify(&file))
}

fn report(outcome: &Outcome, path: &Path, out: &mut impl Write) -> Result<u8> {
    let shown = path.display();
    for mismatch in &outcome.mismatches {
        writeln!(out, "{shown}: {mismatch}")?;
    }
    let verdict = match outcome.mismatches.len() {
        0 => "equal".to_string(),
        1 => "1 mismatch".to_string(),
        count => format!("{count} mismatches"),
    };
    let Outcome {
        cases, compared, ..
    } = outcome;
    writeln!(
        out,
        "{shown}: {cases} cases, {compared} values compared: {verdict}"
    )?;
    Ok(u8::from(!outcome.mismatches.is_empty()))
}
