//! The only file input and output.
