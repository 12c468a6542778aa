//! Results as table, JSON, CSV.
