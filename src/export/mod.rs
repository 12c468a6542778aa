//! Results as table, JSON, CSV.

pub mod csv;
pub mod summary;
