//! The scanner behind [`super::Tree`].

use super::{Node, Part, Position};

/// Deeper nesting than the RON reader accepts is not followed: the stack is
/// finite and the text is refused anyway.
const DEEPEST: usize = 200;

pub(super) struct Scanner<'a> {
    text: &'a str,
    /// Byte offset of the next character.
    next: usize,
    at: Position,
    depth: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            next: 0,
            at: Position { line: 1, column: 1 },
            depth: 0,
        }
    }

    /// A scanner that has passed everything before `start`.
    pub(super) fn starting_at(text: &'a str, start: Position) -> Self {
        let mut scanner = Self::new(text);
        while scanner.at < start && scanner.bump().is_some() {}
        scanner
    }

    /// Where the next thing that is no blank begins.
    pub(super) fn first_token(mut self) -> Position {
        self.skip_blank();
        self.at
    }

    /// The value of the whole text.
    pub(super) fn document(mut self) -> Node<'a> {
        self.skip_blank();
        while self.rest().starts_with("#!") {
            self.skip_while(|c| c != ']');
            self.bump();
            self.skip_blank();
        }
        self.value()
    }

    /// One value; where none begins, an empty one.
    fn value(&mut self) -> Node<'a> {
        let at = self.at;
        let name = self.scalar();
        let mut parts = Vec::new();
        if !name.is_empty() {
            let after_name = (self.next, self.at);
            self.skip_blank();
            if self.peek() != Some('(') {
                (self.next, self.at) = after_name;
            }
        }
        if matches!(self.peek(), Some('(' | '[' | '{')) && self.depth < DEEPEST {
            self.depth += 1;
            parts = self.bracket();
            self.depth -= 1;
        }
        let end = self.at;
        Node {
            at,
            end,
            name,
            parts,
        }
    }

    /// The parts between brackets.
    fn bracket(&mut self) -> Vec<Part<'a>> {
        let map = self.bump() == Some('{');
        let mut parts = Vec::new();
        loop {
            self.skip_blank();
            match self.peek() {
                None => return parts,
                Some(')' | ']' | '}') => {
                    self.bump();
                    return parts;
                }
                Some(_) => {}
            }
            let before = self.next;
            parts.push(self.part(map));
            if self.next == before {
                // A stray separator or a bracket too deep to follow.
                parts.pop();
                self.bump();
            }
        }
    }

    /// A field, map entry or element.
    fn part(&mut self, map: bool) -> Part<'a> {
        let start = self.next;
        let value = self.value();
        let key = self.text[start..self.next].trim_matches('"');
        self.skip_blank();
        let keyed = self.peek() == Some(':') && (map || value.parts.is_empty());
        if !keyed {
            return Part { key: None, value };
        }
        self.bump();
        self.skip_blank();
        Part {
            key: Some(key),
            value: self.value(),
        }
    }

    /// A string, character, number or name, as written.
    fn scalar(&mut self) -> &'a str {
        let start = self.next;
        let rest = self.rest();
        let hashes = rest.trim_start_matches(['b', 'r']).trim_start_matches('#');
        if rest.starts_with('r') && hashes.starts_with('"') {
            let raw = rest.len() - hashes.len();
            let close = format!("\"{}", "#".repeat(raw - 1));
            self.skip_bytes(raw + 1);
            let body = self.rest();
            self.skip_bytes(body.find(&close).map_or(body.len(), |at| at + close.len()));
        } else if rest.starts_with('"') {
            self.quoted('"');
        } else if rest.starts_with('\'') {
            self.quoted('\'');
        } else {
            self.skip_while(|c| c.is_alphanumeric() || "_-+.#".contains(c));
        }
        &self.text[start..self.next]
    }

    fn quoted(&mut self, quote: char) {
        self.bump();
        while let Some(c) = self.bump() {
            match c {
                '\\' => {
                    self.bump();
                }
                c if c == quote => return,
                _ => {}
            }
        }
    }

    /// Blanks and comments.
    fn skip_blank(&mut self) {
        loop {
            self.skip_while(char::is_whitespace);
            if self.rest().starts_with("//") {
                self.skip_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                self.skip_block_comment();
            } else {
                return;
            }
        }
    }

    fn skip_block_comment(&mut self) {
        let mut depth = 0;
        while !self.rest().is_empty() {
            if self.rest().starts_with("/*") {
                depth += 1;
                self.skip_bytes(2);
            } else if self.rest().starts_with("*/") {
                depth -= 1;
                self.skip_bytes(2);
            } else {
                self.bump();
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.next..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.next += c.len_utf8();
        if c == '\n' {
            self.at.line += 1;
            self.at.column = 1;
        } else {
            self.at.column += 1;
        }
        Some(c)
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.bump();
        }
    }

    fn skip_bytes(&mut self, bytes: usize) {
        let end = self.next + bytes;
        while self.next < end && self.bump().is_some() {}
    }
}
