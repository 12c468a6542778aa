//! The table of layers in the crate docs holds: each file imports only from the
//! modules that its row allows.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Module -> modules it may import.
type Table = BTreeMap<String, BTreeSet<String>>;

/// Words in backticks, without link brackets.
fn code_words(cell: &str) -> Vec<String> {
    let words = cell.split('`').skip(1).step_by(2);
    words.map(ToString::to_string).collect()
}

/// Reads the rows `| module | what lives there | may import |`.
fn table(docs: &str) -> Table {
    let mut rows = Table::new();
    for line in docs.lines().filter(|line| line.starts_with("//! | ")) {
        let cells: Vec<&str> = line.trim_start_matches("//! |").split('|').collect();
        let [module, _, imports, ..] = cells.as_slice() else {
            continue;
        };
        if let [module] = code_words(module).as_slice() {
            let imports = code_words(imports).into_iter().collect();
            rows.insert(module.clone(), imports);
        }
    }
    rows
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

/// Modules named by `crate::module` in code, comments and docs aside.
fn imports(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default();
        for rest in code.split("crate::").skip(1) {
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
            let module = &rest[..end.unwrap_or(rest.len())];
            found.insert(module.to_string());
        }
    }
    found
}

/// Top module of a file, such as `sim` of `src/sim/world/mod.rs`.
fn module_of(file: &Path, source: &Path) -> String {
    let inside = file.strip_prefix(source).unwrap();
    let first = inside.components().next().unwrap().as_os_str();
    let first = first.to_string_lossy();
    first.trim_end_matches(".rs").to_string()
}

/// Imports that the table forbids, in words.
fn forbidden(module: &str, text: &str, table: &Table) -> Vec<String> {
    let Some(allowed) = table.get(module) else {
        return vec![format!("`{module}` has no row in the table of src/lib.rs")];
    };
    imports(text)
        .into_iter()
        .filter(|import| import != module && !allowed.contains(import))
        .map(|import| format!("`{module}` may not import `{import}`"))
        .collect()
}

#[test]
fn every_file_imports_only_what_its_layer_may() {
    let source = common::repository("src");
    let table = table(&fs::read_to_string(source.join("lib.rs")).unwrap());
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    assert!(files.len() > 100, "the walk finds the sources");
    let mut found = Vec::new();
    for file in files {
        let module = module_of(&file, &source);
        if module == "lib" || module == "main" {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let bad = forbidden(&module, &text, &table);
        found.extend(bad.iter().map(|bad| format!("{}: {bad}", file.display())));
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_simulator_knows_nothing_above_it_and_the_table_is_complete() {
    let docs = fs::read_to_string(common::repository("src/lib.rs")).unwrap();
    let table = table(&docs);
    assert_eq!(table["sim"], BTreeSet::new());
    for line in docs.lines().filter(|line| line.starts_with("pub mod ")) {
        let module = line.trim_start_matches("pub mod ").trim_end_matches(';');
        assert!(table.contains_key(module), "{module} has no row");
    }
}

#[test]
fn a_forbidden_import_is_found_wherever_it_stands() {
    let table = table(
        "//! | [`sim`] | machine | nothing |\n\
         //! | `cli` | commands | `sim`, `tui` |\n",
    );
    let bad = |module: &str, text: &str| forbidden(module, text, &table).len();
    assert_eq!(bad("sim", "use crate::sim::Ns;"), 0);
    assert_eq!(bad("sim", "fn f() -> crate::cli::Args {"), 1);
    assert_eq!(
        bad("sim", "use crate::{"),
        1,
        "grouped imports hide what they name"
    );
    assert_eq!(bad("cli", "use crate::tui::Options;"), 0);
    assert_eq!(bad("cli", "// like crate::files"), 0);
    assert_eq!(
        bad("tui", "use crate::sim::Ns;"),
        1,
        "a module without a row"
    );
}
