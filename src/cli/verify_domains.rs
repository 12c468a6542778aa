//! `schedlab verify domains FILE...`: domain trees of booted kernels against
//! the ones built here.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use color_eyre::Result;

use crate::files;
use crate::import::oracle_domains::{self, DomainFile};

/// Compares every file. The exit code is 0 if all are equal, 1 if some value
/// differs, 2 if some file cannot be read or is of another kind.
pub fn run(paths: &[PathBuf], out: &mut impl Write, errors: &mut impl Write) -> Result<ExitCode> {
    let mut worst = 0;
    for path in paths {
        let code = match read(path) {
            Ok(file) => report(&file, path, out)?,
            Err(problem) => {
                writeln!(errors, "{problem}")?;
                2
            }
        };
        worst = worst.max(code);
    }
    Ok(ExitCode::from(worst))
}

fn read(path: &Path) -> Result<DomainFile, String> {
    let text = files::read_text(path)?;
    oracle_domains::parse(&path.display().to_string(), &text)
        .map_err(|problems| problems.to_string())
}

fn report(file: &DomainFile, path: &Path, out: &mut impl Write) -> Result<u8> {
    let mismatches = oracle_domains::verify(file);
    for mismatch in &mismatches {
        writeln!(out, "{}: {mismatch}", path.display())?;
    }
    let cpus = file.expected.len();
    let domains: usize = file.expected.iter().map(Vec::len).sum();
    let verdict = match mismatches.len() {
        0 => "equal".to_string(),
        1 => "1 mismatch".to_string(),
        count => format!("{count} mismatches"),
    };
    writeln!(
        out,
        "{}: {cpus} CPUs, {domains} domains compared: {verdict}",
        path.display()
    )?;
    Ok(u8::from(!mismatches.is_empty()))
}
