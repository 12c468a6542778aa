//! Broken files: each beside the message it must bring, with exit code 2.
//!
//! `UPDATE_GOLDEN=1 cargo test --test bad_input` rewrites the messages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Broken files, sorted.
fn files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_input");
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let broken = |path: &PathBuf| path.extension().is_some_and(|ext| ext != "txt");
    let mut files: Vec<_> = entries.filter(broken).collect();
    files.sort();
    files
}

/// How a file of this name is given to the program.
fn arguments(name: &str) -> Vec<&str> {
    match name.split('-').next() {
        Some("scenario") => vec!["run", name],
        Some("workload") => vec!["run", "easywave-threadripper", "--workload", name],
        Some("topology") => vec!["run", "easywave-threadripper", "--topology", name],
        Some("gates") => vec!["verify", "gates", name],
        _ => panic!("{name}: the name must begin with what the file is"),
    }
}

#[test]
fn every_broken_file_brings_its_message_and_exit_code_2() {
    let files = files();
    assert!(files.len() >= 15, "the broken files are missing");
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_schedlab"))
            .args(arguments(name))
            .current_dir(path.parent().unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(
            output.stdout.is_empty(),
            "{name}: a message on standard output"
        );
        let got = String::from_utf8(output.stderr).unwrap();
        let expected = path.with_extension("txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&expected, &got).unwrap();
        }
        assert_eq!(got, fs::read_to_string(&expected).unwrap(), "{name}");
    }
}
