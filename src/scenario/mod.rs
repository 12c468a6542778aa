//! Text of topologies, workloads and scenarios, and their validation.

pub mod units;
