//! Named random streams.
//!
//! Every purpose and owner has a stream of its own, derived from the seed: the
//! workload of one task, the dice of one CPU at one level, the cost of one
//! CPU's passes. So a change of policy never shifts what the workload draws,
//! and two runs can be compared on equal terms.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Durations and choices of one task's program.
    Workload = 1,
    /// NI_RANDOM's dice of one CPU and level.
    Dice = 2,
    /// Wakeup searches that pick at random; the stock one draws nothing.
    WakeScan = 3,
    /// Spread of the cost of balance passes of one CPU.
    Cost = 4,
    /// What the machine went through before the run.
    History = 5,
    /// Where in their interval the periodic balances stand as the run begins.
    Phase = 6,
}

/// A sequential stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(SplitMix64);

impl Stream {
    /// The stream of `purpose` that belongs to `owner`.
    pub fn new(seed: u64, purpose: Purpose, owner: u64) -> Self {
        Self(SplitMix64::seed_from_u64(key(seed, purpose, owner)))
    }

    /// Next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..bound`, every one equally likely up to 2^-32.
    pub fn below(&mut self, bound: u32) -> u32 {
        let product = (self.next_u64() >> 32) * u64::from(bound);
        (product >> 32) as u32
    }
}

/// The `index`-th draw of the stream of `purpose` and `owner`, without state.
///
/// Used where the draw must depend on its place alone: a dice value keyed on
/// (seed, CPU, level, call number) stays the same whatever other policies drew
/// in between (`balancing.md` 4.9).
pub fn draw_at(seed: u64, purpose: Purpose, owner: u64, index: u64) -> u64 {
    let stream = key(seed, purpose, owner);
    SplitMix64::seed_from_u64(stream.wrapping_add(index.wrapping_mul(GOLDEN))).next_u64()
}

/// 2^64 over the golden ratio: the increment of SplitMix64 itself.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes seed, purpose and owner into one number: one SplitMix64 round each,
/// so that neighbours give unrelated streams.
fn key(seed: u64, purpose: Purpose, owner: u64) -> u64 {
    let mut mixed = seed;
    for part in [purpose as u64, owner] {
        mixed = SplitMix64::seed_from_u64(mixed ^ part.wrapping_mul(GOLDEN)).next_u64();
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_purpose_or_owner_differ() {
        let first = |purpose, owner| Stream::new(1, purpose, owner).next_u64();
        let base = first(Purpose::Workload, 7);
        assert_ne!(base, first(Purpose::Dice, 7));
        assert_ne!(base, first(Purpose::Workload, 8));
        assert_eq!(base, first(Purpose::Workload, 7));
    }

    #[test]
    fn a_keyed_draw_depends_on_its_index_alone() {
        let draws: Vec<_> = (0..4).map(|i| draw_at(9, Purpose::Dice, 3, i)).collect();
        assert_eq!(draw_at(9, Purpose::Dice, 3, 2), draws[2]);
        let mut sorted = draws.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 4);
    }

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        let mut stream = Stream::new(3, Purpose::WakeScan, 0);
        let mut seen = [false; 6];
        for _ in 0..200 {
            seen[stream.below(6) as usize] = true;
        }
        assert_eq!(seen, [true; 6]);
    }
}
