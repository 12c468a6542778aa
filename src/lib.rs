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
//! | [`sim`] | time, random streams, event queue, topology, sched domains, rq, PELT, pick, placement, balance, gates, costs, workload engine, statistics, world | nothing of the crate |
//! | [`scenario`] | RON types of topologies, workloads and scenarios, their validation, embedded defaults | `sim`, and of `session` what a run is made of |
//! | [`import`] | text of a sysfs tree -> topology and a list of what was lost | `sim`, `scenario` |
//! | [`export`] | results as table, JSON, CSV | `sim`, `session` |
//! | [`session`] | one world and the log of what the user changed; the only way the explorer and headless runs drive a world | `sim`, `scenario` |
//! | `files` | the only file input and output | nothing of the crate but `import` types |
//! | `tui` | the explorer | all of the above |
//! | `cli` | the subcommands | everything but `tui` internals |
//!
//! Everything below the rim does no I/O, reads no clock, starts no thread and
//! uses no hash order: the same scenario and seed give the same event stream on
//! any machine and in any build profile.

#![forbid(unsafe_code)]

pub mod export;
pub mod import;
pub mod scenario;
pub mod session;
pub mod sim;

#[cfg(feature = "app")]
pub mod cli;
#[cfg(feature = "app")]
pub mod files;
#[cfg(feature = "app")]
pub mod tui;
