//! The terminal: what it can show, taking it over and giving it back.
//!
//! Whatever ends the program (a return, an error, a panic, a signal), the
//! screen, the cursor, the mouse and the line discipline are as before: leaving
//! is idempotent and done by a guard and by the panic hook.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};

use super::glyphs::GlyphSet;
use super::theme::Depth;

/// Whether to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// As NO_COLOR and the terminal's name say.
    #[default]
    Auto,
    /// Yes, even with NO_COLOR.
    Always,
    /// No.
    Never,
}

/// What the terminal can show, by its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Colours.
    pub depth: Depth,
    /// Characters.
    pub glyphs: GlyphSet,
    /// A light background, as far as it can be known.
    pub light: bool,
}

impl Capabilities {
    /// Reads environment variables through `env`.
    pub fn detect(color: ColorChoice, ascii: bool, env: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let truecolor = set("COLORTERM").is_some_and(|v| v == "truecolor" || v == "24bit");
        let shown = match term.as_str() {
            "linux" => Depth::Ansi16,
            _ if truecolor => Depth::True,
            name if name.contains("256color") => Depth::Ansi256,
            _ => Depth::Ansi16,
        };
        let depth = match color {
            ColorChoice::Never => Depth::Mono,
            ColorChoice::Always => shown,
            ColorChoice::Auto if set("NO_COLOR").is_some() || term == "dumb" => Depth::Mono,
            ColorChoice::Auto => shown,
        };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| set(name));
        let utf8 = locale.is_some_and(|name| {
            let name = name.to_ascii_lowercase();
            name.contains("utf-8") || name.contains("utf8")
        });
        // Not every font has braille, so blocks are the default.
        let glyphs = if ascii || !utf8 || term == "dumb" {
            GlyphSet::Ascii
        } else {
            GlyphSet::Block
        };
        let background = set("COLORFGBG");
        let background = background.as_deref().and_then(|v| v.rsplit(';').next());
        Self {
            depth,
            glyphs,
            light: matches!(background, Some("7" | "15")),
        }
    }
}

/// The terminal while it is ours.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

/// Whether there is something to give back.
static ENTERED: AtomicBool = AtomicBool::new(false);

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be written or set to raw mode.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        take_over(mouse)?;
        // Large enough for most frames: fewer writes, fewer torn frames.
        let out = BufWriter::with_capacity(1 << 16, io::stdout());
        let terminal = Terminal::new(CrosstermBackend::new(out)).inspect_err(|_| give_back())?;
        Ok(Self { terminal })
    }

    /// Columns and rows.
    ///
    /// # Errors
    ///
    /// If the terminal does not say.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    /// Paints one frame: only what changed, in one synchronized update.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be written.
    pub fn paint(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| draw(frame.buffer_mut()))?;
        let backend = self.terminal.backend_mut();
        queue!(backend, EndSynchronizedUpdate)?;
        Write::flush(backend)
    }

    /// Forgets what is on the screen, so that the next frame paints all of it.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be written.
    pub fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// Gives the terminal back, stops the process, and takes the terminal over
    /// again when the shell continues it.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be taken over again.
    pub fn suspend(&mut self, mouse: bool) -> io::Result<()> {
        give_back();
        signal_hook::low_level::raise(SIGTSTP)?;
        take_over(mouse)?;
        self.clear()
    }

    /// Captures the mouse or leaves it to the terminal.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be written.
    pub fn capture_mouse(&mut self, capture: bool) -> io::Result<()> {
        if capture {
            execute!(io::stdout(), EnableMouseCapture)
        } else {
            execute!(io::stdout(), DisableMouseCapture)
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take_over(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    ENTERED.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    execute!(
        out,
        EnterAlternateScreen,
        EnableBracketedPaste,
        cursor::Hide
    )?;
    if mouse {
        execute!(out, EnableMouseCapture)?;
    }
    Ok(())
}

/// Undoes everything of `take_over`, once. Errors are of no use here: the
/// terminal may be gone.
pub fn give_back() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    // Not through the standard library's handle: another thread may hold its lock
    // and never let go, if it waits for keys of a terminal that is gone.
    let Ok(mut out) = io::stdout().as_fd().try_clone_to_owned().map(File::from) else {
        return;
    };
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
}

/// Makes a panic give the terminal back before it is reported, and adds what a
/// report needs to be replayed. Install after any other hook.
pub fn hook_panics(context: Arc<std::sync::Mutex<String>>) {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        give_back();
        report(info);
        if let Ok(context) = context.try_lock() {
            let _ = writeln!(io::stderr(), "{context}");
        }
    }));
}

/// How long the loop has to end in good order after a signal.
const GRACE: Duration = Duration::from_millis(600);

/// Signals that end the program.
pub struct Signals {
    last: Arc<AtomicUsize>,
}

impl Signals {
    /// Notes SIGINT, SIGTERM and SIGHUP instead of dying of them, so that the
    /// terminal can be given back.
    ///
    /// A thread ends the process if the loop does not: when the terminal is
    /// gone, reading keys never returns.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn watch() -> io::Result<Self> {
        let last = Arc::new(AtomicUsize::new(0));
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let noted = Arc::clone(&last);
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                if let Some(signal) = signals.forever().next() {
                    let number = usize::try_from(signal).unwrap_or_default();
                    noted.store(number, Ordering::SeqCst);
                    thread::sleep(GRACE);
                    give_back();
                    std::process::exit(128 + signal);
                }
            })?;
        Ok(Self { last })
    }

    /// Exit code of the signal that came, if one did: 128 and its number.
    pub fn exit_code(&self) -> Option<u8> {
        match self.last.load(Ordering::SeqCst) {
            0 => None,
            number => u8::try_from(128 + number).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(color: ColorChoice, pairs: &[(&str, &str)]) -> Capabilities {
        let env = |name: &str| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Capabilities::detect(color, false, env)
    }

    #[test]
    fn colours_follow_the_terminal() {
        let auto = ColorChoice::Auto;
        for (pairs, depth) in [
            (&[("TERM", "xterm-256color")][..], Depth::Ansi256),
            (
                &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")],
                Depth::True,
            ),
            (&[("TERM", "xterm")], Depth::Ansi16),
            (
                &[("TERM", "linux"), ("COLORTERM", "truecolor")],
                Depth::Ansi16,
            ),
            (&[("TERM", "dumb")], Depth::Mono),
            (
                &[("TERM", "xterm-256color"), ("NO_COLOR", "1")],
                Depth::Mono,
            ),
            (
                &[("TERM", "xterm-256color"), ("NO_COLOR", "")],
                Depth::Ansi256,
            ),
        ] {
            assert_eq!(detect(auto, pairs).depth, depth, "{pairs:?}");
        }
        let forced = detect(ColorChoice::Always, &[("TERM", "xterm"), ("NO_COLOR", "1")]);
        assert_eq!(forced.depth, Depth::Ansi16);
        assert_eq!(detect(ColorChoice::Never, &[]).depth, Depth::Mono);
    }

    #[test]
    fn characters_follow_the_locale() {
        let auto = ColorChoice::Auto;
        for (pairs, glyphs) in [
            (&[("LANG", "C.UTF-8")][..], GlyphSet::Block),
            (
                &[("LANG", "en_US.utf8"), ("TERM", "linux")],
                GlyphSet::Block,
            ),
            (&[("LANG", "C.UTF-8"), ("LC_ALL", "C")], GlyphSet::Ascii),
            (&[], GlyphSet::Ascii),
        ] {
            assert_eq!(detect(auto, pairs).glyphs, glyphs, "{pairs:?}");
        }
    }
}
