//! Comma-separated values (RFC 4180, with plain newlines).

use std::io::{self, Write};

/// Writes one row; values that need it are quoted.
///
/// # Errors
///
/// Those of the writer.
pub fn row<S: AsRef<str>>(
    out: &mut impl Write,
    values: impl IntoIterator<Item = S>,
) -> io::Result<()> {
    for (index, value) in values.into_iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let value = value.as_ref();
        if value.contains([',', '"', '\n', '\r']) {
            write!(out, "{comma}\"{}\"", value.replace('"', "\"\""))?;
        } else {
            write!(out, "{comma}{value}")?;
        }
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn only_values_that_need_it_are_quoted() {
        let mut out = Vec::new();
        row(&mut out, ["a", "b,c", "say \"x\"", ""]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a,\"b,c\",\"say \"\"x\"\"\",\n"
        );
    }
}
