//! The sums by which placement decides, apart from where their terms come from.

/// Capacity and utilisation of a whole CPU.
const SCALE: u64 = 1_024;

/// Whether a waker and wakee switch partners so often that pulling the wakee
/// near would crowd the LLC. `flips` are the two tasks' `wakee_flips` (which one
/// is whose does not matter), `llc_size` the CPUs in the waker's LLC.
/// Source: placement-and-pick.md 1.3.
#[must_use]
pub fn wake_wide(flips: [u64; 2], llc_size: u64) -> bool {
    let (low, high) = (flips[0].min(flips[1]), flips[0].max(flips[1]));
    low >= llc_size && high >= low.saturating_mul(llc_size)
}

/// Terms of [`wake_affine_weight`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AffineLoads {
    /// `load_avg` of the waker's runqueue.
    pub this_load: i64,
    /// `load_avg` of the runqueue the wakee ran on.
    pub prev_load: i64,
    /// Load of the wakee.
    pub wakee_load: i64,
    /// Load of the waker, which is about to sleep if `sync`.
    pub waker_load: i64,
    /// Capacity of the waker's CPU.
    pub this_capacity: i64,
    /// Capacity of the CPU the wakee ran on.
    pub prev_capacity: i64,
    /// `imbalance_pct` of the domain that spans both.
    pub imbalance_pct: i64,
    /// The wakeup is a sync one.
    pub sync: bool,
}

/// Whether load speaks for the waker's CPU. Source: placement-and-pick.md 1.4.
#[must_use]
pub fn wake_affine_weight(l: AffineLoads) -> bool {
    let mut this = l.this_load;
    if l.sync {
        if l.waker_load > this {
            return true;
        }
        this -= l.waker_load;
    }
    this = (this + l.wakee_load) * 100 * l.prev_capacity;
    // A bias for the waker's CPU of half the imbalance that balancing tolerates.
    let bias = 100 + (l.imbalance_pct - 100) / 2;
    let prev = (l.prev_load - l.wakee_load) * bias * l.this_capacity;
    this < prev + i64::from(l.sync)
}

/// `nr_idle_scan`: how many CPUs of an LLC a search for an idle one may look at
/// (`SIS_UTIL`), falling with the square of the LLC's utilisation. `sum_util` is
/// the sum of its CPUs' utilisation. Source: placement-and-pick.md 2.5.
#[must_use]
pub fn nr_idle_scan(llc_weight: u32, sum_util: u64, imbalance_pct: u64) -> u32 {
    let weight = u64::from(llc_weight.max(1));
    let biased = sum_util / weight * imbalance_pct;
    let busy = (biased * biased / (100 * 100 * SCALE)).min(SCALE);
    (weight * (SCALE - busy) / SCALE) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_scan_ends_at_85_percent_and_earlier_in_small_llcs() {
        assert_eq!(nr_idle_scan(16, 0, 117), 16);
        assert_eq!(nr_idle_scan(1_000, 875 * 1_000, 117), 0);
        assert_eq!(nr_idle_scan(16, 16 * 840 * 1_024 / 1_000, 117), 0);
        assert_eq!(nr_idle_scan(16, 16 * 800 * 1_024 / 1_000, 117), 2);
    }

    #[test]
    fn a_waker_that_is_about_to_sleep_counts_as_gone() {
        let loads = AffineLoads {
            this_load: 1_000,
            prev_load: 1_000,
            wakee_load: 0,
            waker_load: 1_001,
            this_capacity: 1_024,
            prev_capacity: 1_024,
            imbalance_pct: 100,
            sync: true,
        };
        assert!(wake_affine_weight(loads));
        let equal = AffineLoads {
            waker_load: 0,
            ..loads
        };
        assert!(wake_affine_weight(equal), "equal loads: sync decides");
        assert!(!wake_affine_weight(AffineLoads {
            sync: false,
            ..equal
        }));
    }

    #[test]
    fn wide_needs_both_sides_to_flip() {
        assert!(wake_wide([16, 256], 16));
        assert!(!wake_wide([15, u64::MAX], 16));
        assert!(!wake_wide([255, 16], 16));
    }
}
