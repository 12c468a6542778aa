//! NI_RANDOM's dice (`balancing.md` 4.1).

use super::{Verdict, success_value};

/// Runs `weight + 1` of the 1024 equally likely rolls.
pub(super) fn throw(weight: u32, roll: u32) -> Verdict {
    // `>` and not `>=`: a domain at ratio 0 (weight 1) still searches twice in
    // 1024 calls, and so can recover.
    if roll > weight {
        Verdict::Skip
    } else {
        Verdict::Search {
            weight: success_value(weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rolls_run_and_are_worth_as_much_as_the_reference_says() {
        // balancing.md 4.1: ratio, rolls of 1024 that run, success value.
        for (ratio, runs, value) in [
            (0, 2, 1024),
            (1, 3, 512),
            (2, 4, 341),
            (63, 65, 16),
            (291, 293, 4),
            (292, 294, 3),
            (408, 410, 3),
            (409, 411, 2),
            (681, 683, 2),
            (682, 684, 1),
            (1022, 1024, 1),
            (1023, 1024, 1),
            (2047, 1024, 1),
            (2048, 1024, 0),
        ] {
            let verdicts: Vec<_> = (0..1024).map(|roll| throw(ratio + 1, roll)).collect();
            let ran = verdicts.iter().filter(|&&v| v != Verdict::Skip);
            assert_eq!(ran.count(), runs, "ratio {ratio}");
            assert_eq!(verdicts[0], Verdict::Search { weight: value });
        }
    }
}
