//! Text of topologies, workloads and scenarios, and their validation.

pub mod locate;
pub mod policy;
pub mod problem;
pub mod rules;
pub mod script;
pub mod topology;
pub mod units;
pub mod workload;

pub use problem::{Problem, Problems, Report};
