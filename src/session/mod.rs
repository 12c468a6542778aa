//! One world and the log of what the user changed.
//!
//! The explorer and headless runs drive a world only through a [`Session`], so
//! they cannot differ.
