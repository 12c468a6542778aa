//! What the user can ask for, free of keys and of the terminal.

use super::state::Pane;

/// One request. Keys become actions through [`super::keymap::BINDINGS`]; the
/// mouse, resizes and pastes arrive as the variants with coordinates or text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Leave the program, whatever is open.
    Quit,
    /// Close the top layer; without one, leave the program.
    Close,
    /// Close the top layer or leave a mode; never the program.
    Escape,
    /// Show every key.
    Help,
    /// Show every action by name.
    Palette,
    /// Stop or go on.
    Pause,
    /// Process one event, paused.
    StepEvent,
    /// Go on to the next tick, paused.
    StepTick,
    /// Go on to the next newidle entry, paused.
    StepNewidle,
    /// Next higher speed.
    Faster,
    /// Next lower speed.
    Slower,
    /// One simulated second a second.
    RealTime,
    /// As fast as this computer can.
    FullSpeed,
    /// Selection left; in a panel, the value down.
    Left,
    /// Selection right; in a panel, the value up.
    Right,
    /// Selection up.
    Up,
    /// Selection down.
    Down,
    /// First item.
    First,
    /// Last item.
    Last,
    /// Half a page up.
    PageUp,
    /// Half a page down.
    PageDown,
    /// Open or take what is selected.
    Accept,
    /// Focus the next pane.
    NextPane,
    /// Focus the previous pane.
    PrevPane,
    /// Focus one pane.
    Focus(Pane),
    /// Show the focused pane alone.
    Zoom,
    /// Words about the last newidle decision of the selected CPU.
    Why,
    /// Select the next CPU that sits idle while a task waits.
    NextIdle,
    /// Counters of the whole machine or of the selected CPU.
    Scope,
    /// Counts since the start or per second.
    Rates,
    /// How far the grid folds CPUs together.
    Fold,
    /// Choose another machine.
    PickTopology,
    /// Choose another workload.
    PickWorkload,
    /// Choose another policy.
    PickPolicy,
    /// Edit the fields of the policy.
    EditPolicy,
    /// Choose another kernel.
    PickKernel,
    /// Switch feature flags and rules.
    EditRules,
    /// What the model leaves out.
    Realism,
    /// Edit the mix of the workload.
    EditMix,
    /// Type another seed.
    EditSeed,
    /// Select CPUs by number.
    Find,
    /// Run again from time zero.
    Restart,
    /// Take the last change back.
    Undo,
    /// Next colour theme.
    Theme,
    /// Next set of characters.
    Glyphs,
    /// Give the mouse to the terminal or take it.
    Mouse,
    /// Draw everything anew.
    Repaint,
    /// Stop the process as the shell's Ctrl-Z does.
    Suspend,
    /// Start typing a filter.
    Filter,
    /// One typed character.
    Insert(char),
    /// Delete the character before the cursor.
    Backspace,
    /// Delete the word before the cursor.
    DeleteWord,
    /// Delete everything before the cursor.
    DeleteToStart,
    /// Cursor to the start.
    TextStart,
    /// Cursor to the end.
    TextEnd,
    /// Text pasted as one event.
    Paste(String),
    /// The terminal has another size.
    Resize(u16, u16),
    /// Mouse click.
    Click(u16, u16),
    /// Mouse wheel, down if true.
    Wheel(u16, u16, bool),
    /// End the process by a panic, to test what the terminal looks like after.
    PanicForTest,
}

/// What only the rim can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Stop the process until the shell continues it.
    Suspend,
    /// Clear the screen and draw everything.
    Repaint,
    /// Capture the mouse or not.
    CaptureMouse(bool),
}
