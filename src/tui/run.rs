//! The loop.
//!
//! ```text
//! wait (to the next frame; long when paused) -> drain input -> update
//! playing: advance in slices within a budget
//! a frame is due: draw
//! ```
//!
//! Keys wait for at most one budget. Paused and unchanged, nothing is done but
//! to look for signals four times a second.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossterm::event;

use crate::sim::Ns;

use super::draw;
use super::effects;
use super::input::{self, Input};
use super::keymap;
use super::state::State;
use super::terminal::{Screen, Signals};
use super::update::{contexts, update};

/// Longest wait: `poll` sleeps through signals.
const IDLE_WAIT: Duration = Duration::from_millis(250);
/// Least time between two frames.
const MIN_FRAME: Duration = Duration::from_millis(16);
/// Wall time the simulation may take before input is looked at.
const BUDGET: Duration = Duration::from_millis(8);
/// Events between two looks at the clock.
const SLICE_EVENTS: u64 = 500;
/// Events taken in at once before the screen gets a chance.
const MAX_INPUTS: usize = 256;

/// How the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The user quit.
    Quit,
    /// A signal; the exit code that says which.
    Signal(u8),
}

/// The simulation against the wall clock.
struct Player {
    frame: Duration,
    frame_start: Instant,
    target: Ns,
    reached: bool,
}

impl Player {
    /// Goes on towards the target of this frame, for at most one budget.
    fn play(&mut self, state: &mut State) {
        let start = Instant::now();
        if start.duration_since(self.frame_start) >= self.frame {
            self.next_frame(state, start);
        }
        while !self.reached && start.elapsed() < BUDGET {
            self.reached = state.advance(self.target, SLICE_EVENTS);
        }
    }

    fn next_frame(&mut self, state: &mut State, start: Instant) {
        let wall = start.duration_since(self.frame_start);
        let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
        let now = state.session.now();
        state.pace.settle(now, wall_ns, self.reached);
        state.flashes.elapse(wall_ns / 1_000_000);
        state.observe();
        self.target = state.pace.target(now, wall_ns);
        self.reached = false;
        self.frame_start = start;
    }

    /// After a pause or a change of speed the old target means nothing.
    fn reset(&mut self, state: &State) {
        self.target = state.session.now();
        self.reached = true;
        self.frame_start = Instant::now();
    }
}

/// Runs until the user quits or a signal comes.
///
/// # Errors
///
/// If the terminal fails.
pub fn run(
    state: &mut State,
    screen: &mut Screen,
    signals: &Signals,
    fps: u32,
    context: &Arc<Mutex<String>>,
) -> io::Result<End> {
    let mut player = Player {
        frame: Duration::from_secs(1) / fps.clamp(1, 60),
        frame_start: Instant::now(),
        target: 0,
        reached: true,
    };
    let mut drawn: Option<Instant> = None;
    loop {
        if let Some(code) = signals.exit_code() {
            return Ok(End::Signal(code));
        }
        let before = (state.pace.paused, state.pace.speed);
        take_input(state, screen, wait(state, &player, drawn))?;
        if state.quit {
            return Ok(End::Quit);
        }
        if before != (state.pace.paused, state.pace.speed) {
            player.reset(state);
        }
        if !state.pace.paused {
            player.play(state);
        }
        let due = drawn.is_none_or(|at| at.elapsed() >= MIN_FRAME);
        let playing = !state.pace.paused && !player.reached;
        let frame_due = drawn.is_none_or(|at| at.elapsed() >= player.frame);
        if state.dirty && due && (!playing || frame_due) {
            paint(state, screen, context)?;
            drawn = Some(Instant::now());
        }
    }
}

fn wait(state: &State, player: &Player, drawn: Option<Instant>) -> Duration {
    let since_draw = drawn.map_or(MIN_FRAME, |at| at.elapsed());
    if !state.pace.paused {
        return if player.reached {
            player.frame.saturating_sub(player.frame_start.elapsed())
        } else {
            Duration::ZERO
        };
    }
    if state.dirty {
        MIN_FRAME.saturating_sub(since_draw)
    } else {
        IDLE_WAIT
    }
}

fn take_input(state: &mut State, screen: &mut Screen, wait: Duration) -> io::Result<()> {
    if !poll(wait)? {
        return Ok(());
    }
    for _ in 0..MAX_INPUTS {
        let action = match input::translate(event::read()?) {
            Some(Input::Key(key)) => keymap::dispatch(contexts(state), key),
            Some(Input::Action(action)) => Some(action),
            None => None,
        };
        if let Some(action) = action {
            for effect in update(state, action) {
                effects::perform(&effect, screen, state.mouse)?;
            }
        } else if state.notice.take().is_some() {
            state.dirty = true;
        }
        if state.quit || !poll(Duration::ZERO)? {
            break;
        }
    }
    Ok(())
}

/// As crossterm's, but a signal that interrupts the wait is no error.
fn poll(wait: Duration) -> io::Result<bool> {
    match event::poll(wait) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        other => other,
    }
}

fn paint(state: &mut State, screen: &mut Screen, context: &Mutex<String>) -> io::Result<()> {
    if let Ok(mut context) = context.lock() {
        *context = report(state);
    }
    let mut hits = draw::HitMap::default();
    screen.paint(|buf| hits = draw::draw(state, buf))?;
    state.hits = hits;
    state.dirty = false;
    Ok(())
}

/// What a report of a panic needs to be replayed.
pub fn report(state: &State) -> String {
    let setup = state.session.setup();
    format!(
        "schedlab {}: machine {}, workload {}, kernel {}, policy {}, seed {}, simulated time {} ns",
        env!("CARGO_PKG_VERSION"),
        setup.topology.id,
        setup.workload.id,
        state.session.rules().name,
        state.session.policy_name(),
        setup.seed,
        state.session.now()
    )
}
