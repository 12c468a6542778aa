//! A line of text that is being typed.

/// Longest text: nothing typed here needs more, and a paste cannot grow it.
const MAX_CHARS: usize = 200;

/// Text and cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextField {
    chars: Vec<char>,
    cursor: usize,
}

impl TextField {
    /// A field that holds `text`, cursor at the end.
    pub fn new(text: &str) -> Self {
        let mut field = Self::default();
        field.paste(text);
        field
    }

    /// The text.
    pub fn text(&self) -> String {
        self.chars.iter().collect()
    }

    /// Whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// Characters before the cursor.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Inserts one character; control characters are left out.
    pub fn insert(&mut self, c: char) {
        if !c.is_control() && self.chars.len() < MAX_CHARS {
            self.chars.insert(self.cursor, c);
            self.cursor += 1;
        }
    }

    /// Inserts all printable characters of `text`.
    pub fn paste(&mut self, text: &str) {
        for c in text.chars() {
            self.insert(c);
        }
    }

    /// Deletes the character before the cursor.
    pub fn backspace(&mut self) {
        if self.cursor > 0 {
            self.cursor -= 1;
            self.chars.remove(self.cursor);
        }
    }

    /// Deletes the word before the cursor and the blanks after it.
    pub fn delete_word(&mut self) {
        let before = &self.chars[..self.cursor];
        let word_end = before.iter().rposition(|c| *c != ' ').map_or(0, |i| i + 1);
        let start = before[..word_end]
            .iter()
            .rposition(|c| *c == ' ')
            .map_or(0, |i| i + 1);
        self.chars.drain(start..self.cursor);
        self.cursor = start;
    }

    /// Deletes everything before the cursor.
    pub fn delete_to_start(&mut self) {
        self.chars.drain(..self.cursor);
        self.cursor = 0;
    }

    /// Cursor to the start.
    pub fn to_start(&mut self) {
        self.cursor = 0;
    }

    /// Cursor to the end.
    pub fn to_end(&mut self) {
        self.cursor = self.chars.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editing_keys_do_what_a_shell_does() {
        let mut field = TextField::new("one two  ");
        field.delete_word();
        assert_eq!(field.text(), "one ");
        field.to_start();
        field.insert('x');
        field.backspace();
        field.backspace();
        assert_eq!(field.text(), "one ");
        field.to_end();
        field.delete_to_start();
        assert!(field.is_empty());
        field.paste("a\nb\t");
        assert_eq!((field.text().as_str(), field.cursor()), ("ab", 2));
    }
}
