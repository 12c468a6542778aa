//! The one table of keys.
//!
//! Dispatch, the help overlay, the footer's hints, the command palette and the
//! key table of the README are all made from [`BINDINGS`], so they cannot
//! differ.

use std::fmt;

use super::action::Action;
use super::state::Pane;

/// A key, free of any terminal library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A printable character as typed (capitals mean Shift).
    Char(char),
    /// A letter with Ctrl.
    Ctrl(char),
    /// In tables: any digit or sign.
    AnyDigit,
    /// In tables: any printable character.
    AnyChar,
    /// Function key.
    F(u8),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Shift-Tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(' ') => f.pad("Space"),
            Self::Char(c) => f.pad(&c.to_string()),
            Self::Ctrl(c) => f.pad(&format!("Ctrl-{}", c.to_ascii_uppercase())),
            Self::AnyDigit => f.pad("0-9"),
            Self::AnyChar => f.pad("text"),
            Self::F(n) => f.pad(&format!("F{n}")),
            Self::Enter => f.pad("Enter"),
            Self::Esc => f.pad("Esc"),
            Self::Tab => f.pad("Tab"),
            Self::BackTab => f.pad("Shift-Tab"),
            Self::Backspace => f.pad("Backspace"),
            Self::Left => f.pad("Left"),
            Self::Right => f.pad("Right"),
            Self::Up => f.pad("Up"),
            Self::Down => f.pad("Down"),
            Self::Home => f.pad("Home"),
            Self::End => f.pad("End"),
            Self::PageUp => f.pad("PgUp"),
            Self::PageDown => f.pad("PgDn"),
        }
    }
}

impl Key {
    /// Whether the table's key `self` stands for the pressed key.
    fn matches(self, pressed: Self) -> bool {
        match (self, pressed) {
            (Self::AnyChar, Self::Char(_)) => true,
            (Self::AnyDigit, Self::Char(c)) => c.is_ascii_digit(),
            _ => self == pressed,
        }
    }
}

/// Where a binding holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Context {
    /// While text is typed: comes first, and nothing below it but `Always`.
    Text,
    /// In a list: pickers and the palette.
    List,
    /// In a panel of values: policy, rules and mix.
    Panel,
    /// In a page to read: help, why, realism.
    Page,
    /// On the main screen.
    Main,
    /// Wherever no text is typed.
    Global,
    /// Everywhere.
    Always,
}

impl Context {
    /// Heading in the help.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Text => "While typing",
            Self::List => "In a list",
            Self::Panel => "In a panel of values",
            Self::Page => "In a page to read",
            Self::Main => "On the main screen",
            Self::Global => "Wherever no text is typed",
            Self::Always => "Everywhere",
        }
    }
}

/// What a binding is about; groups the help and the README table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Pause, steps, speed.
    Time,
    /// What is simulated.
    Change,
    /// Selection and panes.
    View,
    /// The program.
    Program,
    /// Editing text.
    Typing,
}

impl Group {
    /// Heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Time => "Time",
            Self::Change => "Machine, workload, policy",
            Self::View => "Look around",
            Self::Program => "Program",
            Self::Typing => "Typing",
        }
    }
}

/// One row of the table.
#[derive(Debug)]
pub struct Binding {
    /// Where it holds.
    pub context: Context,
    /// Any of these.
    pub keys: &'static [Key],
    /// What it does.
    pub action: Action,
    /// Name in the palette.
    pub name: &'static str,
    /// One line.
    pub help: &'static str,
    /// What it is about.
    pub group: Group,
    /// Word in the footer; empty = not shown there.
    pub hint: &'static str,
}

const fn row(
    context: Context,
    keys: &'static [Key],
    action: Action,
    name: &'static str,
    help: &'static str,
    group: Group,
    hint: &'static str,
) -> Binding {
    Binding {
        context,
        keys,
        action,
        name,
        help,
        group,
        hint,
    }
}

use Context::{Always, Global, List, Main, Page, Panel, Text};
use Group::{Change, Program, Time, Typing, View};
use Key::{Char, Ctrl};

/// Every key of the explorer. Footer hints appear in this order.
#[rustfmt::skip]
pub static BINDINGS: &[Binding] = &[
    row(Global, &[Char(' ')], Action::Pause, "pause", "pause or go on", Time, "pause"),
    row(Global, &[Char('.')], Action::StepEvent, "step-event", "pause and process one event", Time, "event"),
    row(Global, &[Char('>')], Action::StepTick, "step-tick", "pause and go on to the next tick (1 ms)", Time, "tick"),
    row(Global, &[Char('i')], Action::StepNewidle, "step-newidle", "pause and go on to the next newidle attempt; selects its CPU", Time, "newidle"),
    row(Global, &[Char('+'), Char('=')], Action::Faster, "faster", "next higher speed", Time, "faster"),
    row(Global, &[Char('-')], Action::Slower, "slower", "next lower speed, down to 1 us a second", Time, "slower"),
    row(Main, &[Char('0')], Action::RealTime, "real-time", "one simulated second a second", Time, ""),
    row(Main, &[Char('*')], Action::FullSpeed, "full-speed", "as fast as this computer can", Time, ""),

    row(Main, &[Char('p')], Action::PickPolicy, "policy", "choose the newidle policy; the run goes on", Change, "policy"),
    row(Main, &[Char('P')], Action::EditPolicy, "policy-fields", "edit each field of the policy", Change, "fields"),
    row(Main, &[Char('K')], Action::PickKernel, "kernel", "choose the kernel: all rules and its policy; the run goes on", Change, "kernel"),
    row(Main, &[Char('F')], Action::EditRules, "features", "switch feature flags and other rules of the kernel", Change, "flags"),
    row(Main, &[Char('x')], Action::EditMix, "mix", "edit the mix: count, share and intensity of each task class", Change, "mix"),
    row(Main, &[Char('M')], Action::PickTopology, "machine", "choose the machine; restarts it with the same seed", Change, "machine"),
    row(Main, &[Char('W')], Action::PickWorkload, "workload", "choose the workload; restarts with the same seed", Change, "workload"),
    row(Main, &[Char('S')], Action::EditSeed, "seed", "type another seed; restarts", Change, ""),
    row(Main, &[Char('R')], Action::Restart, "restart", "run again from time zero", Change, ""),
    row(Global, &[Char('u')], Action::Undo, "undo", "take back the last change of machine, workload, kernel, policy, mix or seed", Change, ""),

    row(Main, &[Char('h'), Key::Left], Action::Left, "left", "select the CPU to the left", View, ""),
    row(Main, &[Char('l'), Key::Right], Action::Right, "right", "select the CPU to the right", View, ""),
    row(Main, &[Char('k'), Key::Up], Action::Up, "up", "select the CPU above", View, ""),
    row(Main, &[Char('j'), Key::Down], Action::Down, "down", "select the CPU below", View, ""),
    row(Main, &[Char('g'), Key::Home], Action::First, "first", "select the first CPU", View, ""),
    row(Main, &[Char('G'), Key::End], Action::Last, "last", "select the last CPU", View, ""),
    row(Main, &[Char('/')], Action::Find, "find", "select a CPU by its number", View, ""),
    row(Main, &[Char('n')], Action::NextIdle, "next-idle", "select the next CPU that sits idle while a task waits", View, ""),
    row(Main, &[Char('w')], Action::Why, "why", "why the selected CPU did not pull: the last decision in words and numbers", View, "why"),
    row(Main, &[Key::Enter], Action::Accept, "inspect", "show the selected CPU on the full screen", View, ""),
    row(Main, &[Char('v')], Action::Scope, "scope", "level table: mean of the machine, or the selected CPU", View, ""),
    row(Main, &[Char('r')], Action::Rates, "rates", "level table: counts since the start, or per second over the charts' span", View, ""),
    row(Main, &[Char('f')], Action::Fold, "fold", "grid cells: what fits, threads, cores, LLCs or nodes", View, ""),
    row(Main, &[Key::Tab], Action::NextPane, "next-pane", "focus the next pane", View, ""),
    row(Main, &[Key::BackTab], Action::PrevPane, "previous-pane", "focus the previous pane", View, ""),
    row(Main, &[Char('1')], Action::Focus(Pane::Machine), "pane-machine", "focus the machine", View, ""),
    row(Main, &[Char('2')], Action::Focus(Pane::Levels), "pane-levels", "focus the level table", View, ""),
    row(Main, &[Char('3')], Action::Focus(Pane::Charts), "pane-charts", "focus the charts", View, ""),
    row(Main, &[Char('4')], Action::Focus(Pane::Cpu), "pane-cpu", "focus the selected CPU", View, ""),
    row(Main, &[Char('5')], Action::Focus(Pane::Classes), "pane-classes", "focus the task classes", View, ""),
    row(Main, &[Char('z')], Action::Zoom, "zoom", "show the focused pane alone, or all again", View, "zoom"),

    row(Panel, &[Char('h'), Key::Left], Action::Left, "less", "lower or previous value", Change, "less"),
    row(Panel, &[Char('l'), Key::Right], Action::Right, "more", "higher or next value", Change, "more"),
    row(Panel, &[Char('k'), Key::Up], Action::Up, "row-up", "row above", View, ""),
    row(Panel, &[Char('j'), Key::Down], Action::Down, "row-down", "row below", View, ""),
    row(Panel, &[Char('g'), Key::Home], Action::First, "first-row", "first row", View, ""),
    row(Panel, &[Char('G'), Key::End], Action::Last, "last-row", "last row", View, ""),
    row(Panel, &[Key::PageUp, Ctrl('u')], Action::PageUp, "rows-up", "half a page up", View, ""),
    row(Panel, &[Key::PageDown, Ctrl('d')], Action::PageDown, "rows-down", "half a page down", View, ""),
    row(Panel, &[Key::AnyDigit], Action::Insert('0'), "type-value", "type a number in place of the value", Change, "type"),
    row(Panel, &[Key::Enter], Action::Accept, "next-value", "switch the value, or type it", Change, ""),

    row(List, &[Char('k'), Key::Up], Action::Up, "item-up", "item above", View, ""),
    row(List, &[Char('j'), Key::Down], Action::Down, "item-down", "item below", View, ""),
    row(List, &[Char('g'), Key::Home], Action::First, "first-item", "first item", View, ""),
    row(List, &[Char('G'), Key::End], Action::Last, "last-item", "last item", View, ""),
    row(List, &[Key::PageUp, Ctrl('u')], Action::PageUp, "items-up", "half a page up", View, ""),
    row(List, &[Key::PageDown, Ctrl('d')], Action::PageDown, "items-down", "half a page down", View, ""),
    row(List, &[Key::Enter], Action::Accept, "take", "take the selected item", Change, "take"),
    row(List, &[Char('/')], Action::Filter, "filter-list", "show only items with the typed text", View, "filter"),

    row(Page, &[Char('k'), Key::Up], Action::Up, "scroll-up", "scroll up", View, ""),
    row(Page, &[Char('j'), Key::Down], Action::Down, "scroll-down", "scroll down", View, "scroll"),
    row(Page, &[Char('g'), Key::Home], Action::First, "to-top", "to the top", View, ""),
    row(Page, &[Char('G'), Key::End], Action::Last, "to-bottom", "to the bottom", View, ""),
    row(Page, &[Key::PageUp, Ctrl('u')], Action::PageUp, "page-up", "half a page up", View, ""),
    row(Page, &[Key::PageDown, Ctrl('d')], Action::PageDown, "page-down", "half a page down", View, ""),
    row(Page, &[Char('/')], Action::Filter, "filter-help", "show only lines with the typed text", View, "filter"),

    row(Text, &[Key::AnyChar], Action::Insert(' '), "type", "insert the character", Typing, ""),
    row(Text, &[Key::Enter], Action::Accept, "accept", "take what was typed", Typing, "take"),
    row(Text, &[Key::Up], Action::Up, "text-up", "item above", Typing, ""),
    row(Text, &[Key::Down], Action::Down, "text-down", "item below", Typing, ""),
    row(Text, &[Key::Backspace], Action::Backspace, "backspace", "delete the character before the cursor", Typing, ""),
    row(Text, &[Ctrl('w')], Action::DeleteWord, "delete-word", "delete the word before the cursor", Typing, ""),
    row(Text, &[Ctrl('u')], Action::DeleteToStart, "delete-to-start", "delete everything before the cursor", Typing, "clear"),
    row(Text, &[Ctrl('a'), Key::Home], Action::TextStart, "text-start", "cursor to the start", Typing, ""),
    row(Text, &[Ctrl('e'), Key::End], Action::TextEnd, "text-end", "cursor to the end", Typing, ""),

    row(Global, &[Char(':'), Ctrl('p')], Action::Palette, "palette", "every action by name", Program, "actions"),
    row(Global, &[Char('t')], Action::Theme, "theme", "next colour theme", Program, ""),
    row(Global, &[Char('b')], Action::Glyphs, "glyphs", "draw with blocks, braille dots or ASCII", Program, ""),
    row(Global, &[Char('m')], Action::Mouse, "mouse", "leave the mouse to the terminal, to select text, or take it back", Program, ""),
    row(Global, &[Char('q')], Action::Close, "close", "close the top layer, or quit", Program, "quit"),
    row(Always, &[Key::Esc], Action::Escape, "escape", "close the top layer or stop typing; never quits", Program, "back"),
    row(Global, &[Char('?'), Key::F(1)], Action::Help, "help", "every key", Program, "help"),
    row(Main, &[Char('H')], Action::Realism, "realism", "how honest the model is: what is left out, and what that loses", Program, ""),
    row(Always, &[Ctrl('l')], Action::Repaint, "repaint", "draw everything anew", Program, ""),
    row(Always, &[Ctrl('z')], Action::Suspend, "suspend", "stop; the shell's fg comes back", Program, ""),
    row(Always, &[Ctrl('c')], Action::Quit, "quit", "quit at once", Program, ""),
];

/// The action of a pressed key in these contexts, the first context first.
pub fn dispatch(contexts: &[Context], pressed: Key) -> Option<Action> {
    let binding = contexts.iter().find_map(|&context| {
        BINDINGS.iter().find(|binding| {
            binding.context == context && binding.keys.iter().any(|key| key.matches(pressed))
        })
    })?;
    Some(match (&binding.action, pressed) {
        (Action::Insert(_), Key::Char(c)) => Action::Insert(c),
        (action, _) => action.clone(),
    })
}

/// The keys of a row as text, such as `h, Left`.
pub fn keys_text(binding: &Binding) -> String {
    let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
    keys.join(", ")
}

/// The key table of the README, as Markdown.
pub fn markdown() -> String {
    let mut out = String::from("| key | does |\n|---|---|\n");
    let mut group = None;
    let mut rows: Vec<&Binding> = BINDINGS
        .iter()
        .filter(|b| matches!(b.context, Main | Global | Always))
        .collect();
    rows.sort_by_key(|b| b.group);
    for binding in rows {
        if group != Some(binding.group) {
            group = Some(binding.group);
            out.push_str(&format!("| **{}** | |\n", binding.group.title()));
        }
        let keys: Vec<String> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
        out.push_str(&format!("| {} | {} |\n", keys.join(" "), binding.help));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_key_stands_twice_in_what_one_place_listens_to() {
        for contexts in [
            &[Text, Always][..],
            &[List, Global, Always],
            &[Panel, Global, Always],
            &[Page, Global, Always],
            &[Main, Global, Always],
        ] {
            let mut seen = BTreeSet::new();
            for binding in BINDINGS.iter().filter(|b| contexts.contains(&b.context)) {
                for key in binding.keys {
                    assert!(seen.insert(*key), "{key} twice in {contexts:?}");
                }
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = BINDINGS.iter().map(|binding| binding.name).collect();
        assert_eq!(names.len(), BINDINGS.len());
    }

    #[test]
    fn a_digit_in_a_panel_is_typed_and_on_the_main_screen_focuses() {
        let digit = Char('3');
        assert_eq!(
            dispatch(&[Panel, Global, Always], digit),
            Some(Action::Insert('3'))
        );
        assert_eq!(
            dispatch(&[Main, Global, Always], digit),
            Some(Action::Focus(Pane::Charts))
        );
        assert_eq!(
            dispatch(&[Text, Always], Char('q')),
            Some(Action::Insert('q'))
        );
    }

    #[test]
    fn help_fits_eighty_columns() {
        for binding in BINDINGS {
            let line = keys_text(binding).len().max(18) + 2 + binding.help.len();
            assert!(line <= 100, "{}: {line}", binding.name);
        }
    }
}
