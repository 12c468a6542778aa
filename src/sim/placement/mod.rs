//! Which CPU a woken, forked or exec'ed task is put on.

pub mod arith;
