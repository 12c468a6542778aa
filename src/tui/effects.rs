//! What the state asks of the rim.

use std::io;

use super::action::Effect;
use super::terminal::Screen;

/// Performs one effect; `mouse` says whether the mouse is captured.
///
/// # Errors
///
/// If the terminal fails.
pub fn perform(effect: &Effect, screen: &mut Screen, mouse: bool) -> io::Result<()> {
    match effect {
        Effect::Suspend => screen.suspend(mouse),
        Effect::Repaint => screen.clear(),
        Effect::CaptureMouse(capture) => screen.capture_mouse(*capture),
    }
}
