//! Text of topologies, workloads and scenarios, and their validation.

pub mod locate;
pub mod problem;
pub mod topology;
pub mod units;
pub mod workload;

pub use problem::{Problem, Problems, Report};
