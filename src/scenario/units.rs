//! Quantities as users write them: times with an SI suffix.

use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::sim::Ns;

/// What a time must look like; ends every message about a bad one.
pub const TIME_FORM: &str =
    "a time is a string of a number and a suffix, such as \"500us\" (ns, us, ms, s)";

/// Suffixes and their length in nanoseconds, shortest first.
const SUFFIXES: [(&str, Ns); 4] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

/// A time or a span of it, written like `"500us"`, `"1.5ms"`, `"2s"`, `"0ns"`.
///
/// Never negative and never finer than a nanosecond: what is read is exactly
/// what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub Ns);

/// Reads a time such as `1.5ms`; the error says what is wrong and what is
/// allowed.
pub fn parse_time(text: &str) -> Result<Ns, String> {
    let text = text.trim();
    let bad = |why: &str| Err(format!("`{text}` {why}; {TIME_FORM}"));
    if text.starts_with('-') {
        return bad("is negative, and a time cannot be");
    }
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(text.len());
    let (number, suffix) = (text[..split].replace('_', ""), text[split..].trim());
    let Some(&(_, unit)) = SUFFIXES.iter().find(|(name, _)| *name == suffix) else {
        return bad(if suffix.is_empty() {
            "lacks a suffix"
        } else {
            "has an unknown suffix"
        });
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if !number.starts_with(|c: char| c.is_ascii_digit()) || number.ends_with('.') {
        return bad("does not start with a number");
    }
    let Some(whole) = whole
        .parse::<Ns>()
        .ok()
        .and_then(|whole| whole.checked_mul(unit))
    else {
        return bad("is longer than the 584 years that can be counted");
    };
    let mut rest = 0;
    let mut place = unit;
    for digit in fraction.chars() {
        let Some(digit) = digit.to_digit(10) else {
            return bad("has two decimal points");
        };
        if digit > 0 && place % 10 != 0 {
            return bad("is finer than a nanosecond");
        }
        place /= 10;
        rest += place * u64::from(digit);
    }
    match whole.checked_add(rest) {
        Some(time) => Ok(time),
        None => bad("is longer than the 584 years that can be counted"),
    }
}

/// The shortest exact form: `1500000` prints as `1.5ms`.
pub fn format_time(time: Ns) -> String {
    let longest = SUFFIXES.iter().rev().find(|(_, unit)| time >= *unit);
    let &(name, unit) = longest.unwrap_or(&SUFFIXES[0]);
    let fraction = format!("{:0>1$}", time % unit, unit.ilog10() as usize);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        format!("{}{name}", time / unit)
    } else {
        format!("{}.{fraction}{name}", time / unit)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_time(self.0))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_time(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimeVisitor)
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a time such as \"500us\" (suffixes: ns, us, ms, s)")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Time, E> {
        parse_time(text).map(Time).map_err(E::custom)
    }

    // A bare number is the commonest slip; say the unit is missing, not just
    // that the type is wrong.
    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Time, E> {
        Err(E::custom(format!("`{number}` lacks a unit; {TIME_FORM}")))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Time, E> {
        Err(E::custom(format!("`{number}` lacks a unit; {TIME_FORM}")))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Time, E> {
        Err(E::custom(format!("`{number}` lacks a unit; {TIME_FORM}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, ns) in [
            ("500us", 500_000),
            ("2s", 2_000_000_000),
            ("1.5ms", 1_500_000),
            ("0ns", 0),
            ("0.7 us", 700),
            ("1_000ns", 1_000),
            ("1.50us", 1_500),
        ] {
            assert_eq!(parse_time(text), Ok(ns), "{text}");
            assert_eq!(parse_time(&format_time(ns)), Ok(ns), "{text}");
        }
        assert_eq!(format_time(1_500_000), "1.5ms");
        assert_eq!(format_time(0), "0ns");
    }

    #[test]
    fn refuses_with_the_reason_and_the_allowed_form() {
        for (text, why) in [
            ("-1ms", "negative"),
            ("5", "lacks a suffix"),
            ("5 hours", "unknown suffix"),
            ("us", "does not start with a number"),
            (".5us", "does not start with a number"),
            ("5.us", "does not start with a number"),
            ("", "lacks a suffix"),
            ("1.2.3s", "two decimal points"),
            ("0.5ns", "finer than a nanosecond"),
            ("1.2345us", "finer than a nanosecond"),
            ("99999999999s", "584 years"),
            ("18446744073.9s", "584 years"),
            ("99999999999999999999999ns", "584 years"),
        ] {
            let error = parse_time(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
            assert!(error.contains("ns, us, ms, s"), "{text}: {error}");
        }
    }

    #[test]
    fn ron_reads_a_string_and_asks_for_a_unit_on_a_bare_number() {
        assert_eq!(ron::from_str::<Time>("\"30ns\""), Ok(Time(30)));
        let error = ron::from_str::<Time>("30").expect_err("no unit");
        assert!(error.to_string().contains("lacks a unit"), "{error}");
    }
}
