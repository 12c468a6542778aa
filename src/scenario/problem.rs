//! What is wrong with a file, where, and how to mend it.

use std::borrow::Cow;
use std::fmt;

use ron::error::{Error as RonError, SpannedError};

use super::locate::{self, Position, Tree};

/// Most problems printed: who has more begins with the first ones anyway.
const MOST_SHOWN: usize = 40;

/// One thing wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the source, as the user gave it.
    pub source: String,
    /// Where in it; none if it could not be read at all.
    pub at: Option<Position>,
    /// What is wrong.
    pub what: String,
    /// How to mend it: the allowed values, or the nearest valid name.
    pub remedy: String,
}

impl fmt::Display for Problem {
    /// `file:line:column: what; remedy`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let Some(Position { line, column }) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        write!(
            f,
            ": {}; {}",
            printable(&self.what),
            printable(&self.remedy)
        )
    }
}

/// The text with its control characters spelt out: what a file holds must not
/// steer the terminal it is shown on.
fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let spelt = |c: char| -> String {
        match c.is_control() {
            true => c.escape_default().collect(),
            false => c.into(),
        }
    };
    text.chars().map(spelt).collect::<String>().into()
}

/// Everything wrong with an input, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    /// One problem a line, without a newline behind the last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().take(MOST_SHOWN).enumerate() {
            let newline = if index > 0 { "\n" } else { "" };
            write!(f, "{newline}{problem}")?;
        }
        match self.0.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more like these; mend the first ones first"),
        }
    }
}

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

/// Collects the problems of one RON text while it is validated.
#[derive(Debug)]
pub struct Report<'a> {
    source: &'a str,
    tree: Tree<'a>,
    found: Vec<Problem>,
}

impl<'a> Report<'a> {
    /// An empty report on `text`, which goes by the name `source`.
    pub fn new(source: &'a str, text: &'a str) -> Self {
        Self {
            source,
            tree: Tree::scan(text),
            found: Vec::new(),
        }
    }

    /// Reports a problem with the value at `path`, such as `classes[2].count`.
    /// If the text lacks the value, the nearest thing around it is shown.
    pub fn at(&mut self, path: &str, what: impl Into<String>, remedy: impl Into<String>) {
        self.found.push(Problem {
            source: self.source.into(),
            at: Some(self.tree.position(path)),
            what: what.into(),
            remedy: remedy.into(),
        });
    }

    /// Reports control characters in a text for people at `path`: they would
    /// steer the terminal it is shown on.
    pub fn plain_text(&mut self, path: &str, text: &str) {
        if text.contains(char::is_control) {
            self.at(
                path,
                format!("`{text}` holds a control character"),
                "use printable characters, on one line",
            );
        }
    }

    /// Takes over the problems of another source.
    pub fn extend(&mut self, problems: Problems) {
        self.found.extend(problems.0);
    }

    /// Whether nothing was reported so far.
    pub fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// `value` if nothing was reported, else everything that was, in the order
    /// of the text.
    pub fn finish<T>(mut self, value: T) -> Result<T, Problems> {
        if self.found.is_empty() {
            return Ok(value);
        }
        self.found.sort_by_key(|problem| problem.at);
        Err(Problems(self.found))
    }
}

/// Reads a RON text into `T`; an error names the field and the allowed values.
pub fn from_ron<T: serde::de::DeserializeOwned>(source: &str, text: &str) -> Result<T, Problem> {
    // A field that may be left out is written plainly, not as `Some(...)`.
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options
        .from_str(text)
        .map_err(|error| of_ron(source, text, &error))
}

/// The problem behind an error of the RON reader.
pub fn of_ron(source: &str, text: &str, error: &SpannedError) -> Problem {
    let start = error.span.start;
    let start = Position {
        line: start.line,
        column: start.col,
    };
    let at = locate::skip_blank(text, start);
    let (what, remedy) = explain(&error.code);
    // The reader says what it met; people also want to know in which field.
    let field = Tree::scan(text)
        .field_at(at)
        .map(|field| format!("{field}: "));
    let named = matches!(
        error.code,
        RonError::NoSuchStructField { .. } | RonError::MissingStructField { .. }
    );
    Problem {
        source: source.into(),
        at: Some(at),
        what: match field {
            Some(field) if !named => field + &what,
            _ => what,
        },
        remedy,
    }
}

fn explain(code: &RonError) -> (String, String) {
    match code {
        RonError::NoSuchStructField {
            expected, found, ..
        } => (
            format!("unknown field `{found}`"),
            suggest(found, expected.iter().copied()),
        ),
        RonError::NoSuchEnumVariant {
            expected, found, ..
        } => (
            format!("unknown name `{found}`"),
            suggest(found, expected.iter().copied()),
        ),
        RonError::MissingStructField { field, .. } => (
            format!("`{field}` is missing"),
            format!("add `{field}: ...`"),
        ),
        RonError::DuplicateStructField { field, .. } => {
            (format!("`{field}` is given twice"), "remove one".into())
        }
        RonError::InvalidValueForType { expected, found } => {
            (format!("found {found}"), format!("expected {expected}"))
        }
        RonError::Message(message) => match message.split_once("; ") {
            Some((what, remedy)) => (what.into(), remedy.into()),
            None => (message.clone(), "correct the value".into()),
        },
        RonError::IntegerOutOfBounds => (
            "the number is out of range".into(),
            "give a smaller whole number, and none below 0".into(),
        ),
        RonError::ExpectedComma => (
            "a comma is missing here".into(),
            "put commas between values; a whole number has no decimal point".into(),
        ),
        RonError::ExpectedInteger => ("no whole number".into(), "give a whole number".into()),
        RonError::ExpectedFloat => ("no number".into(), "give a number such as 0.5".into()),
        RonError::ExpectedBoolean => ("neither true nor false".into(), "give one of them".into()),
        RonError::ExpectedString => ("no string".into(), "put it in double quotes".into()),
        RonError::ExpectedStringEnd => (
            "the string is never closed".into(),
            "put a double quote behind it".into(),
        ),
        RonError::ExpectedArray => ("no list".into(), "give a list such as [a, b]".into()),
        RonError::ExceededRecursionLimit => (
            "nested too deeply".into(),
            "use at most 100 levels of brackets".into(),
        ),
        other => {
            let mut what = other.to_string();
            // RON capitalises its sentences; behind `file:1:2: ` that jars.
            if let Some(first) = what.get(..1) {
                what = first.to_lowercase() + &what[1..];
            }
            (what, "correct the syntax here or just before".into())
        }
    }
}

/// A remedy for a misspelt name: the nearest valid one, or all of them.
pub fn suggest<'n>(name: &str, valid: impl IntoIterator<Item = &'n str>) -> String {
    let valid: Vec<_> = valid.into_iter().collect();
    match nearest(name, valid.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? (allowed: {})", valid.join(", ")),
        None if valid.is_empty() => "there is none to name".into(),
        None => format!("allowed: {}", valid.join(", ")),
    }
}

/// The valid name that `name` most likely meant, if any is near.
pub fn nearest<'n>(name: &str, valid: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = name.to_lowercase();
    let close = (wanted.chars().count() / 3).max(1);
    valid
        .into_iter()
        .map(|candidate| (distance(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|&(far, candidate)| {
            far <= close || (wanted.len() >= 3 && candidate.to_lowercase().starts_with(&wanted))
        })
        .min_by_key(|&(far, _)| far)
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, delete, replace or swap with their neighbour to turn `a`
/// into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[expect(dead_code, reason = "only read by the deserialiser")]
        shift: u8,
    }

    fn message(text: &str) -> String {
        from_ron::<Sample>("a.ron", text).unwrap_err().to_string()
    }

    #[test]
    fn a_misspelt_field_is_shown_with_the_nearest_name() {
        assert_eq!(
            message("(\n  shfit: 1)"),
            "a.ron:2:3: unknown field `shfit`; did you mean `shift`? (allowed: shift)"
        );
    }

    #[test]
    fn a_wrong_type_names_the_field() {
        let got = message("(shift: \"x\")");
        assert!(
            got.starts_with("a.ron:1:9: shift: no whole number"),
            "{got}"
        );
    }

    #[test]
    fn a_missing_field_is_named() {
        assert!(message("()").contains("`shift` is missing; add `shift: ...`"));
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["plain", "ni-random", "ni-rate"];
        assert_eq!(nearest("ni-radnom", names), Some("ni-random"));
        assert_eq!(nearest("NI-RATE", names), Some("ni-rate"));
        assert_eq!(nearest("pla", names), Some("plain"));
        assert_eq!(nearest("xyz", names), None);
    }

    #[test]
    fn numbers_that_fit_nowhere_are_told_with_a_remedy() {
        for text in [
            "(shift: 256)",
            "(shift: -1)",
            "(shift: 99999999999999999999999)",
        ] {
            let got = message(text);
            assert!(
                got.contains("shift: the number is out of range; give"),
                "{got}"
            );
        }
        let got = message("(shift: 1.5)");
        assert!(got.contains("a whole number has no decimal point"), "{got}");
    }

    #[test]
    fn control_characters_of_a_file_do_not_reach_the_terminal() {
        let mut report = Report::new("a.ron", "(a: 1)");
        report.plain_text("a", "fine");
        assert!(report.is_clean());
        report.plain_text("a", "red \u{1b}[31m\n");
        let got = report.finish(()).unwrap_err().to_string();
        assert_eq!(
            got,
            "a.ron:1:5: `red \\u{1b}[31m\\n` holds a control character; \
             use printable characters, on one line"
        );
    }

    #[test]
    fn a_flood_of_problems_is_cut_and_counted() {
        let mut report = Report::new("a.ron", "(a: 1)");
        for _ in 0..100 {
            report.at("a", "is odd", "use 2");
        }
        let got = report.finish(()).unwrap_err().to_string();
        assert_eq!(got.lines().count(), MOST_SHOWN + 1);
        assert!(got.ends_with("and 60 more like these; mend the first ones first"));
    }

    #[test]
    fn problems_come_in_the_order_of_the_text() {
        let mut report = Report::new("w.ron", "(a: 1,\n b: [2, 3])");
        report.at("b[1]", "is odd", "use 4");
        report.at("a", "is odd", "use 2");
        let problems = report.finish(()).unwrap_err().to_string();
        assert_eq!(
            problems,
            "w.ron:1:5: is odd; use 2\nw.ron:2:9: is odd; use 4"
        );
    }
}
