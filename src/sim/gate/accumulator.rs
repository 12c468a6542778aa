//! The Bresenham accumulator: the dice's share of calls, evenly spread
//! (`balancing.md` 4.7).

use super::{FULL_RATIO, Verdict, success_value};

/// Adds this call's weight; a full 1024 is spent on a search.
pub(super) fn step(window_pos: &mut u32, weight: u32) -> Verdict {
    // Wraps like the kernel's unsigned int; only a user's combination without
    // clamp, full-ratio rule and reset can get there.
    *window_pos = window_pos.wrapping_add(weight);
    if *window_pos < FULL_RATIO {
        return Verdict::Skip;
    }
    *window_pos -= FULL_RATIO;
    Verdict::Search {
        weight: success_value(weight),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(weight: u32, calls: usize) -> Vec<usize> {
        let mut pos = 0;
        (1..=calls)
            .filter(|_| step(&mut pos, weight) != Verdict::Skip)
            .collect()
    }

    #[test]
    fn a_window_of_512_calls_runs_half_the_weight_evenly() {
        assert_eq!(runs(256, 16), [4, 8, 12, 16]);
        assert_eq!(runs(768, 10), [2, 3, 4, 6, 7, 8, 10]);
        for weight in [1, 2, 3, 255, 256, 513, 1023] {
            assert_eq!(runs(weight, 512).len() as u32, weight / 2);
        }
    }

    #[test]
    fn ratio_zero_never_fills_the_accumulator_within_one_window() {
        assert!(runs(1, 512).is_empty());
        assert_eq!(runs(2, 512), [512]);
    }
}
