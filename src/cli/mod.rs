//! The subcommands.

pub mod verify_domains;
pub mod verify_pick;
