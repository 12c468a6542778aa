//! Simulated time.

/// Simulated time or a span of it, in nanoseconds.
///
/// 64 bits hold 584 years, so sums of times never overflow in practice and
/// plain arithmetic is used.
pub type Ns = u64;

/// One microsecond in [`Ns`].
pub const US: Ns = 1_000;
/// One millisecond in [`Ns`].
pub const MS: Ns = 1_000_000;
/// One second in [`Ns`].
pub const SEC: Ns = 1_000_000_000;

/// Ticks per second of the modelled kernel.
pub const HZ: u64 = 1_000;
/// Length of one tick (jiffy).
pub const TICK_NS: Ns = SEC / HZ;

/// Tick counter at time `now`.
pub const fn jiffies(now: Ns) -> u64 {
    now / TICK_NS
}

/// Whole ticks in `ms` milliseconds, rounded up.
pub const fn msecs_to_jiffies(ms: u64) -> u64 {
    (ms * HZ).div_ceil(1_000)
}
