//! schedlab: an explorer of the Linux CPU scheduler on real machine shapes.
//!
//! The library is the simulator and everything that decides; the binary adds a
//! terminal, a command line and files.
//!
//! # Architecture
//!
//! ```text
//! main.rs                     TUI + CLI (feature "app", on by default)
//!   |-- cli/   |-- tui/       rim: terminal, files, clock
//!   |             |
//!   |   files     |
//!   |_____|_______|
//!     session/                pure: drive worlds, log of user actions
//!     scenario/ import/ export/   pure: text <-> values
//!     sim/                    pure: the machine
//! ```
//!
//! | module | what lives there | may import |
//! |---|---|---|
//! | [`sim`] | time, random streams, event queue, topology, sched domains, rules of kernels and feature flags, rq, PELT, pick, placement, balance, gates, costs, workload engine, statistics, world | nothing of the crate |
//! | [`scenario`] | RON types of topologies, workloads and scenarios, their validation, embedded defaults; makes the setup of a session | `sim`, `session` |
//! | [`import`] | text of a sysfs tree or of golden vectors -> topology, checks, and a list of what was lost | `sim`, `scenario` |
//! | [`export`] | results as table, JSON, CSV, schedstat | `sim`, `session`, `scenario` |
//! | [`session`] | one world and the log of what the user changed; the only way the explorer and headless runs drive a world | `sim` |
//! | `files` | the only file input and output | `import` |
//! | `tui` | the explorer | `sim`, `scenario`, `import`, `export`, `session`, `files` |
//! | `cli` | the subcommands | `sim`, `scenario`, `import`, `export`, `session`, `files`, `tui` |
//!
//! `tests/layers.rs` holds every file to this table.
//!
//! Everything below the rim does no I/O, reads no clock, starts no thread and
//! uses no hash order: the same scenario and seed give the same event stream on
//! any machine and in any build profile.
//!
//! # Where to begin
//!
//! - How a newidle call is let through or skipped: [`sim::gate`]; a policy is a
//!   [`sim::gate::GatePolicy`].
//! - What a search or a periodic pass does: [`sim::balance`].
//! - Where a woken task goes: [`sim::placement`].
//! - What differs from kernel to kernel, and every feature flag: [`sim::rules`].
//! - How events drive all of this: [`sim::world`].
//! - How a run is driven from code: [`session`].
//! - How a key becomes an action and a frame: `tui`.

pub mod export;
pub mod import;
pub mod scenario;
pub mod session;
pub mod sim;

// The rim touches the world: what `.ci/clippy.toml` bans elsewhere is its work.
#[cfg(feature = "app")]
#[allow(clippy::disallowed_methods, reason = "the clock belongs to the rim")]
pub mod cli;
#[cfg(feature = "app")]
#[allow(clippy::disallowed_types, reason = "the only file input and output")]
pub mod files;
#[cfg(feature = "app")]
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the clock, the terminal and the signal thread belong to the rim"
)]
pub mod tui;
