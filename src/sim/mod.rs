//! The machine: a deterministic discrete-event simulator of the Linux CPU
//! scheduler's balancing side.
//!
//! Nothing in here does I/O, reads a clock or starts a thread.

pub mod balance;
pub mod cost;
pub mod cpumask;
pub mod domain;
pub mod event;
pub mod ext;
pub mod fair;
pub mod gate;
pub mod idle;
pub mod pelt;
pub mod placement;
pub mod rng;
pub mod rules;
pub mod shape;
pub mod stats;
pub mod task;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
pub mod topology;
pub mod trace;
pub mod view;
pub mod waste;
pub mod workload;
pub mod world;

pub use cpumask::CpuMask;
pub use time::Ns;
pub use topology::{CpuId, Topology};
