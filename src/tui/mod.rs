//! The explorer.
//!
//! ```text
//! loop (run): wait -> input -> keymap -> Action
//!             Action -> update(&mut State) -> Vec<Effect> -> effects
//!             playing: State::advance, in slices
//!             a frame is due: scene::build -> draw -> HitMap
//! ```
//!
//! Only [`mod@run`], [`input`] and [`terminal`] know crossterm; everything else is
//! state and plain functions, so that a whole session is a test.

pub mod action;
pub mod draw;
pub mod effects;
pub mod flashes;
pub mod glyphs;
pub mod history;
pub mod input;
pub mod keymap;
pub mod layout;
pub mod list;
pub mod numbers;
pub mod pace;
pub mod pages;
pub mod panel;
pub mod params;
pub mod run;
pub mod scene;
pub mod state;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod update;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use crate::session::Setup;
use crate::sim::Topology;

use self::pace::{Pace, Speed};
use self::run::End;
use self::state::{Looks, State};
use self::terminal::{Capabilities, ColorChoice, Screen, Signals};

/// What the explorer is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to simulate.
    pub setup: Setup,
    /// Machines to offer beside the presets, such as the host.
    pub machines: Vec<Arc<Topology>>,
    /// Speed to begin with.
    pub speed: Speed,
    /// Paused to begin with.
    pub paused: bool,
    /// Colours.
    pub color: ColorChoice,
    /// Theme; none = dark or light as the terminal says.
    pub theme: Option<String>,
    /// Nothing above 127.
    pub ascii: bool,
    /// Capture the mouse.
    pub mouse: bool,
    /// Most frames per second while running.
    pub fps: u32,
    /// Panic after the first frame: tests what the terminal looks like after.
    pub panic_for_test: bool,
}

impl Options {
    /// The usual ones.
    pub const fn new(setup: Setup) -> Self {
        Self {
            setup,
            machines: Vec::new(),
            speed: Speed::START,
            paused: false,
            color: ColorChoice::Auto,
            theme: None,
            ascii: false,
            mouse: true,
            fps: 30,
            panic_for_test: false,
        }
    }
}

/// Whether there is a terminal to draw on and to read keys from.
pub fn has_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// What to say where there is no terminal.
pub const NO_TERMINAL: &str =
    "schedlab: the explorer needs a terminal; for results as text use `schedlab run SCENARIO.ron`";

/// Opens the explorer where [`has_terminal`] holds; returns the exit code: 0 when
/// the user quit, 128 and the number of the signal that ended it.
///
/// # Errors
///
/// If the terminal fails while it is in use.
pub fn run(options: Options) -> color_eyre::Result<ExitCode> {
    let env = |name: &str| std::env::var(name).ok();
    let capabilities = Capabilities::detect(options.color, options.ascii, env);
    // What to print is decided by the theme. crossterm's own handling of
    // NO_COLOR writes an empty attribute that erases bold and reverse.
    crossterm::style::force_color_output(true);
    let default = if capabilities.light { "light" } else { "dark" };
    let looks = Looks {
        theme: options.theme.unwrap_or_else(|| default.to_owned()),
        depth: capabilities.depth,
        glyphs: capabilities.glyphs,
        mouse: options.mouse,
    };
    let context = Arc::new(Mutex::new(String::new()));
    terminal::hook_panics(Arc::clone(&context));
    let signals = Signals::watch()?;
    let mut screen = Screen::enter(options.mouse)?;
    let pace = Pace::new(options.speed, options.paused);
    let mut state = State::new(options.setup, pace, &looks, screen.size()?);
    state.offer(options.machines);
    if let Ok(mut context) = context.lock() {
        *context = run::report(&state);
    }
    if options.panic_for_test {
        update::update(&mut state, action::Action::PanicForTest);
    }
    let end = run::run(&mut state, &mut screen, &signals, options.fps, &context);
    drop(screen);
    Ok(match end? {
        End::Quit => ExitCode::SUCCESS,
        End::Signal(code) => ExitCode::from(code),
    })
}
