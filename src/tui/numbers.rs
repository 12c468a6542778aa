//! Numbers as people read them: fixed width, no decimals that mean nothing.

use crate::sim::Ns;

/// A count in at most five columns: `12345`, `1235k`, `124M`.
pub fn count(value: u64) -> String {
    match value {
        0..=99_999 => value.to_string(),
        100_000..=9_999_999 => format!("{}k", value / 1_000),
        10_000_000..=9_999_999_999 => format!("{}M", value / 1_000_000),
        _ => format!("{}G", value / 1_000_000_000),
    }
}

/// A value with three significant digits in at most five columns.
pub fn short(value: f64) -> String {
    let (scaled, suffix) = match value.abs() {
        v if v >= 9_999_500_000.0 => (value / 1e9, "G"),
        v if v >= 9_999_500.0 => (value / 1e6, "M"),
        v if v >= 99_999.5 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    if scaled >= 99.95 || scaled == 0.0 {
        format!("{scaled:.0}{suffix}")
    } else if scaled >= 9.995 {
        format!("{scaled:.1}{suffix}")
    } else {
        format!("{scaled:.2}{suffix}")
    }
}

/// A time in the largest unit that leaves a number of at least one: `1.25 ms`.
pub fn time(ns: Ns) -> String {
    let value = ns as f64;
    match ns {
        0..=999 => format!("{ns} ns"),
        1_000..=999_999 => format!("{} us", short(value / 1e3)),
        1_000_000..=999_999_999 => format!("{} ms", short(value / 1e6)),
        _ => format!("{} s", short(value / 1e9)),
    }
}

/// Microseconds without unit, for columns headed `us`.
pub fn micros(ns: Ns) -> String {
    short(ns as f64 / 1e3)
}

/// Simulated time with nanoseconds, in groups of three: `1.234 567 890 s`.
pub fn clock(now: Ns) -> String {
    let (seconds, rest) = (now / 1_000_000_000, now % 1_000_000_000);
    format!(
        "{seconds}.{:03} {:03} {:03} s",
        rest / 1_000_000,
        rest / 1_000 % 1_000,
        rest % 1_000
    )
}

/// Smallest of 1, 2, 5 times a power of ten that is not below `value`.
pub fn nice_ceil(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let mut step = 1.0;
    while step < value {
        step *= 10.0;
    }
    while step / 10.0 >= value {
        step /= 10.0;
    }
    [step / 5.0, step / 2.0, step]
        .into_iter()
        .find(|&candidate| candidate >= value)
        .unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_never_need_more_than_five_columns() {
        for value in [
            0,
            99_999,
            100_000,
            9_999_999,
            10_000_000,
            9_999_999_999,
            9_999_999_999_999,
        ] {
            assert!(count(value).len() <= 5, "{}", count(value));
        }
        assert_eq!(count(1_234_567), "1234k");
    }

    #[test]
    fn values_keep_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.234, "1.23"),
            (12.34, "12.3"),
            (99.97, "100"),
            (1234.5, "1234"),
            (123_456.0, "123k"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn times_have_a_unit_that_fits() {
        assert_eq!(time(999), "999 ns");
        assert_eq!(time(1_250), "1.25 us");
        assert_eq!(time(1_250_000), "1.25 ms");
        assert_eq!(clock(1_002_003_004), "1.002 003 004 s");
    }

    #[test]
    fn scales_end_at_round_numbers() {
        for (value, top) in [
            (0.0, 1.0),
            (0.3, 0.5),
            (1.0, 1.0),
            (1.1, 2.0),
            (37.0, 50.0),
            (5001.0, 10_000.0),
        ] {
            assert!((nice_ceil(value) - top).abs() < top * 1e-9, "{value}");
        }
    }
}
