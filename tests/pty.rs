//! The real binary in a pseudo-terminal: keys, sizes, and what becomes of the
//! terminal however the program ends.
#![cfg(all(feature = "app", unix))]
#![allow(
    clippy::disallowed_methods,
    reason = "a test of a real process reads its output in a thread, with a deadline"
)]

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

const BINARY: &str = env!("CARGO_BIN_EXE_schedlab");
/// Long enough for a loaded machine; a state that comes ends the wait.
const DEADLINE: Duration = Duration::from_secs(60);

type Shared = Arc<(Mutex<vt100::Parser>, Condvar)>;

struct App {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    input: Box<dyn Write + Send>,
    screen: Shared,
}

impl App {
    fn start(args: &[&str]) -> Self {
        let size = PtySize {
            rows: 30,
            cols: 100,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system()
            .openpty(size)
            .expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(BINARY);
        command.args(args);
        command.env("TERM", "xterm-256color");
        command.env("RUST_BACKTRACE", "0");
        command.env("LANG", "C.UTF-8");
        command.env("LC_ALL", "C.UTF-8");
        let child = pair.slave.spawn_command(command).expect("it starts");
        drop(pair.slave);
        let mut output = pair.master.try_clone_reader().expect("a reader");
        let input = pair.master.take_writer().expect("a writer");
        let screen: Shared = Arc::new((Mutex::new(vt100::Parser::new(30, 100, 0)), Condvar::new()));
        let shared = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(count) = output.read(&mut bytes) {
                if count == 0 {
                    break;
                }
                shared.0.lock().expect("no panic").process(&bytes[..count]);
                shared.1.notify_all();
            }
        });
        Self {
            child,
            master: pair.master,
            input,
            screen,
        }
    }

    fn press(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).expect("it listens");
        self.input.flush().expect("it listens");
    }

    /// Waits until the screen is as wanted.
    fn wait(&self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) {
        let start = Instant::now();
        let mut parser = self.screen.0.lock().expect("no panic");
        while !wanted(parser.screen()) {
            let left = DEADLINE.saturating_sub(start.elapsed());
            let text = parser.screen().contents();
            assert!(!left.is_zero(), "not seen: {what}\n{text}");
            parser = self
                .screen
                .1
                .wait_timeout(parser, left)
                .expect("no panic")
                .0;
        }
    }

    fn wait_text(&self, text: &str) {
        self.wait(text, |screen| screen.contents().contains(text));
    }

    fn resize(&self, rows: u16, cols: u16) {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        self.screen
            .0
            .lock()
            .expect("no panic")
            .screen_mut()
            .set_size(rows, cols);
        self.master.resize(size).expect("it can be resized");
    }

    fn signal(&self, name: &str) {
        let id = self.child.process_id().expect("it runs").to_string();
        let status = Command::new("kill").args([name, &id]).status();
        assert!(status.expect("kill is there").success());
    }

    /// Waits for the end; checks that the terminal is as before.
    fn end(mut self) -> u32 {
        let code = self.child.wait().expect("it ends").exit_code();
        self.wait("the main screen with a cursor", |screen| {
            !screen.alternate_screen()
                && !screen.hide_cursor()
                && !screen.bracketed_paste()
                && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
        });
        code
    }
}

#[test]
fn keys_work_and_quitting_restores_the_terminal() {
    let mut app = App::start(&[]);
    app.wait_text("tr-9960x");
    app.wait_text("H lists all");
    app.press(" ");
    app.wait_text("PAUSED");
    app.press("?");
    app.wait_text("On the main screen");
    app.press("\x1b");
    app.wait("help is closed", |screen| {
        !screen.contents().contains("On the main screen")
    });
    app.press("p");
    app.wait_text("Newidle policy");
    app.press("/plain\r");
    app.wait("the policy is in the header", |screen| {
        screen
            .contents()
            .lines()
            .next()
            .is_some_and(|line| line.contains("plain"))
    });
    let kernel_is = |app: &App, name: &str| {
        app.wait(name, |screen| {
            let text = screen.contents();
            let line = text.lines().next().unwrap_or_default().to_owned();
            line.split_whitespace().any(|word| word == name)
        });
    };
    app.press("K");
    app.wait_text("Kernel: all rules");
    app.press("/6.17\r\r");
    kernel_is(&app, "6.17-bump");
    app.press("F");
    app.wait_text("Rules of kernel 6.17-bump");
    // Below the six rules and NI_RANDOM, NI_RATE: SIS_UTIL.
    app.press("jjjjjjjj\r");
    app.wait_text("NO_SIS_UTIL");
    app.press("q");
    kernel_is(&app, "6.17-bump*");
    app.press("u");
    kernel_is(&app, "6.17-bump");
    app.resize(5, 20);
    app.wait_text("too small");
    app.resize(30, 100);
    app.wait_text("PAUSED");
    app.press("q");
    assert_eq!(app.end(), 0);
}

#[test]
fn signals_restore_the_terminal_and_tell_their_number() {
    for (name, code) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)] {
        let app = App::start(&[]);
        app.wait_text("tr-9960x");
        app.signal(name);
        assert_eq!(app.end(), code, "{name}");
    }
}

#[test]
fn a_panic_restores_the_terminal_and_can_be_replayed() {
    let app = App::start(&["--panic-for-test"]);
    app.wait_text("asked for by a test");
    app.wait_text("seed 1");
    assert_eq!(app.end(), 101);
}

#[test]
fn without_a_terminal_it_says_so_and_names_the_other_way() {
    let output = Command::new(BINARY)
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("schedlab run"), "{message}");
    assert!(output.stdout.is_empty());
}
