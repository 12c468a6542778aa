//! Results as table, JSON, CSV.

pub mod csv;
pub mod domain_json;
pub mod schedstat;
pub mod summary;
pub mod topology_tree;
