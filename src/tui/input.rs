//! Terminal events -> keys and actions.

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::action::Action;
use super::keymap::Key;

/// What came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key, whose meaning depends on what is open.
    Key(Key),
    /// Something whose meaning does not.
    Action(Action),
}

/// The meaning of an event; none for those that are ignored: releases, mouse
/// moves, keys that no table names.
pub fn translate(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Press => translate_key(key).map(Input::Key),
        Event::Mouse(mouse) => translate_mouse(mouse).map(Input::Action),
        Event::Paste(text) => Some(Input::Action(Action::Paste(text))),
        Event::Resize(width, height) => Some(Input::Action(Action::Resize(width, height))),
        _ => None,
    }
}

fn translate_key(event: KeyEvent) -> Option<Key> {
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    if event.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    Some(match event.code {
        // Some terminals send this for Backspace.
        KeyCode::Char('h') if ctrl => Key::Backspace,
        KeyCode::Char(c) if ctrl => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::F(n) => Key::F(n),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}

fn translate_mouse(event: MouseEvent) -> Option<Action> {
    let (x, y) = (event.column, event.row);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Action::Click(x, y)),
        MouseEventKind::ScrollUp => Some(Action::Wheel(x, y, false)),
        MouseEventKind::ScrollDown => Some(Action::Wheel(x, y, true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Input> {
        translate(Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn shift_is_in_the_character_and_ctrl_in_the_key() {
        let shifted = key(KeyCode::Char('G'), KeyModifiers::SHIFT);
        assert_eq!(shifted, Some(Input::Key(Key::Char('G'))));
        let ctrl = key(KeyCode::Char('L'), KeyModifiers::CONTROL);
        assert_eq!(ctrl, Some(Input::Key(Key::Ctrl('l'))));
    }

    #[test]
    fn releases_are_ignored() {
        let mut release = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        release.kind = KeyEventKind::Release;
        assert_eq!(translate(Event::Key(release)), None);
    }
}
