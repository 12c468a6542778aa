//! Where in a RON text a value stands.
//!
//! The RON reader gives positions of what it cannot read, but values that read
//! well and make no sense (a share above 1) are found later, by field path. So
//! the text is scanned a second time, into a tree that holds positions only.
//! The scanner is tolerant: of a broken text it makes what it can.

mod scan;

use scan::Scanner;

/// A place in a text, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

/// A value and where it begins.
#[derive(Debug)]
struct Node<'a> {
    at: Position,
    /// Just behind the value.
    end: Position,
    /// Name before a bracket: of an enum variant or a struct.
    name: &'a str,
    parts: Vec<Part<'a>>,
}

/// A part of a value: field, element, or map entry.
#[derive(Debug)]
struct Part<'a> {
    /// Field name, or map key as written without quotes.
    key: Option<&'a str>,
    value: Node<'a>,
}

/// The positions of all values of a RON text.
#[derive(Debug)]
pub struct Tree<'a> {
    root: Node<'a>,
}

impl<'a> Tree<'a> {
    /// Scans `text`.
    pub fn scan(text: &'a str) -> Self {
        Self {
            root: Scanner::new(text).document(),
        }
    }

    /// Position of the value at `path`, such as `classes[2].program[0][1]`;
    /// where the text has no such value, of the innermost one around it.
    ///
    /// `.name` goes to a field or map entry, `[i]` to the `i`-th part of a
    /// list, tuple, map or enum variant. `Some(...)` is looked through.
    pub fn position(&self, path: &str) -> Position {
        let mut node = &self.root;
        for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
            match node.inner().part(step) {
                Some(part) => node = &part.value,
                None => break,
            }
        }
        node.at
    }

    /// Name of the innermost field whose value holds `at`.
    pub fn field_at(&self, at: Position) -> Option<&'a str> {
        let mut node = &self.root;
        let mut field = None;
        while let Some(part) = node.parts.iter().find(|part| part.value.holds(at)) {
            field = part.key.or(field);
            node = &part.value;
        }
        field
    }
}

/// `at`, moved over the blanks and comments that follow it: the RON reader
/// reports where it stood before it skipped them.
pub fn skip_blank(text: &str, at: Position) -> Position {
    Scanner::starting_at(text, at).first_token()
}

impl<'a> Node<'a> {
    /// The value inside `Some(...)`.
    fn inner(&self) -> &Self {
        match self.parts.as_slice() {
            [only] if self.name == "Some" => only.value.inner(),
            _ => self,
        }
    }

    fn part(&self, step: &str) -> Option<&Part<'a>> {
        match step.parse::<usize>() {
            Ok(index) => self.parts.get(index),
            Err(_) => self.parts.iter().find(|part| part.key == Some(step)),
        }
    }

    fn holds(&self, at: Position) -> bool {
        self.at <= at && at <= self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"#![enable(implicit_some)]
// a comment with (brackets
(
  name: "a \" ) quote", /* nested /* comment ] */ */ raw: r#"x ")] y"#,
  list: [1, two(b: 3), 'x', four([5, "é", 6])],
  map: {"key": (x: 7)},
  opt: Some((y: 8)),
)
"##;

    fn at(path: &str) -> (usize, usize) {
        let Position { line, column } = Tree::scan(TEXT).position(path);
        (line, column)
    }

    #[test]
    fn finds_fields_elements_entries_and_variants() {
        assert_eq!(at("name"), (4, 9));
        assert_eq!(at("raw"), (4, 59));
        assert_eq!(at("list[0]"), (5, 10));
        assert_eq!(at("list[1]"), (5, 13));
        assert_eq!(at("list[1].b"), (5, 20));
        assert_eq!(at("list[2]"), (5, 24));
        assert_eq!(at("list[3][0][2]"), (5, 43));
        assert_eq!(at("map.key.x"), (6, 20));
        assert_eq!(at("opt.y"), (7, 17));
    }

    #[test]
    fn a_missing_value_is_shown_by_what_is_around_it() {
        assert_eq!(at("list[1].missing"), (5, 13));
        assert_eq!(at("nothing.of[3].this"), (3, 1));
    }

    #[test]
    fn tells_the_field_a_position_lies_in() {
        let tree = Tree::scan(TEXT);
        let field = |line, column| tree.field_at(Position { line, column });
        assert_eq!(field(5, 20), Some("b"));
        assert_eq!(field(5, 10), Some("list"));
        assert_eq!(field(3, 1), None);
    }

    #[test]
    fn broken_texts_do_not_stop_the_scanner() {
        for text in [
            "", "(", ")", "(a: ", "[[[", "\"", "r#\"", "/*", "(a b: 1)", "'", "(a::b)",
        ] {
            let tree = Tree::scan(text);
            assert!(tree.position("a").line >= 1, "{text}");
        }
        Tree::scan(&"[".repeat(100_000));
    }
}
