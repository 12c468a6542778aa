//! The subcommands.

pub mod verify_domains;
