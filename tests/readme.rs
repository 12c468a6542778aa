//! What the README shows works: its files are read, its commands run.
#![cfg(feature = "app")]

mod common;

use std::fs;
use std::process::Command;

use schedlab::cli::library::{self, Shelf};
use schedlab::scenario::script::Overrides;
use schedlab::scenario::{topology, workload};

fn readme() -> String {
    fs::read_to_string(common::repository("README.md")).unwrap()
}

/// Bodies of the fenced blocks of one language.
fn blocks(language: &str) -> Vec<String> {
    let text = readme();
    let fence = format!("```{language}\n");
    let parts = text.split(&fence).skip(1);
    parts
        .map(|part| part.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_files_shown_are_valid() {
    let shown = blocks("ron");
    assert_eq!(shown.len(), 3);
    for text in shown {
        let name = text.lines().next().unwrap().trim_start_matches("// ");
        match name {
            "scenario.ron" => {
                let folder = std::env::temp_dir().join("schedlab-readme");
                fs::create_dir_all(&folder).unwrap();
                let path = folder.join(name);
                fs::write(&path, &text).unwrap();
                let path = path.to_str().unwrap();
                let read = library::scenario(path, Shelf::default(), &Overrides::default());
                assert_eq!(read.unwrap().setup.timeline.len(), 3);
            }
            "workload.ron" => assert_eq!(workload::parse(name, &text).unwrap().classes.len(), 2),
            "topology.ron" => assert_eq!(topology::parse(name, &text).unwrap().nr_cpus(), 16),
            other => panic!("what is {other}?"),
        }
    }
}

/// Words of a command line as a shell splits them, single quotes only.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn the_commands_shown_run() {
    let text = blocks("sh").concat();
    for needed in ["cargo run --release", "cargo test"] {
        assert!(text.lines().any(|line| line == needed), "{needed}");
    }
    let own = text.lines().filter_map(|line| {
        let after_cargo = line.strip_prefix("cargo run --release -- ");
        after_cargo.or_else(|| line.strip_prefix("schedlab "))
    });
    let own: Vec<&str> = own.collect();
    assert!(own.len() >= 7, "{own:?}");
    for line in own {
        let mut arguments = words(line);
        if arguments[0] == "run" && !line.contains("--until") {
            arguments.extend(["--until".to_owned(), "5ms".to_owned()]);
        }
        let done = Command::new(env!("CARGO_BIN_EXE_schedlab"))
            .args(&arguments)
            .current_dir(common::repository(""))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{line}: {errors}");
        assert!(!done.stdout.is_empty(), "{line} prints something");
    }
}

#[test]
fn the_picture_is_in_the_repository_and_shows_the_default_screen() {
    assert!(readme().contains("(assets/screen.svg)"));
    let picture = fs::read_to_string(common::repository("assets/screen.svg")).unwrap();
    for word in ["tr-9960x", "easywave", "ni-random", "Machine"] {
        assert!(picture.contains(word), "{word}");
    }
}
