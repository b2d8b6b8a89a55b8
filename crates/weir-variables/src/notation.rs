//! Numbers as people write them, in the notation that servers read.
//!
//! Servers know whole numbers with one letter for a power of 1024. They read `1e9` as one exabyte, without a word,
//! and refuse `2 GB` and `1.5G` (MySQL 9.7.4 and MariaDB 10.11.19).

use weir_model::Bytes;

/// `value` as a plain number if it is written in one of these ways; all else stays as it is.
pub(super) fn plain(value: &str) -> String {
    if !value.starts_with(|first: char| first.is_ascii_digit()) {
        return value.to_owned();
    }
    scientific(value)
        .or_else(|| size(value))
        .unwrap_or_else(|| value.to_owned())
}

/// `1e9` and `2.5e3`, if they are whole.
fn scientific(value: &str) -> Option<String> {
    let (mantissa, exponent) = value.split_once(['e', 'E'])?;
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if !digits(exponent.trim_start_matches('+'))
        || !mantissa.chars().all(|c| c.is_ascii_digit() || c == '.')
    {
        return None;
    }
    let number: f64 = value.parse().ok()?;
    // Above, not every whole number is one of these.
    let is_whole = number.fract() == 0.0 && number < (1_u64 << 53) as f64;
    is_whole.then(|| (number as u64).to_string())
}

/// `2 GB`, `2GiB` and `1.5G`: what has a unit and is not written as servers write it.
fn size(value: &str) -> Option<String> {
    let has_unit = value.ends_with(|last: char| last.is_ascii_alphabetic());
    let (number, unit) = value.split_at(value.len().checked_sub(1)?);
    let is_plain = number.chars().all(|c| c.is_ascii_digit()) && !unit.eq_ignore_ascii_case("b");
    if !has_unit || is_plain {
        return None;
    }
    let bytes: Bytes = value.parse().ok()?;
    Some(bytes.0.to_string())
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn numbers_are_what_people_mean() {
        for (written, told) in [
            ("1e9", "1000000000"),
            ("2.5E3", "2500"),
            ("2 GB", "2147483648"),
            ("2GiB", "2147483648"),
            ("1.5G", "1610612736"),
            ("2 g", "2147483648"),
            ("2G", "2G"),
            ("1E", "1E"),
            ("128k", "128k"),
            ("0.5", "0.5"),
            ("1.5e0", "1.5e0"),
            ("1e400", "1e400"),
            ("10.11.4-MariaDB", "10.11.4-MariaDB"),
            ("127.0.0.1", "127.0.0.1"),
            ("ibdata1:12M:autoextend", "ibdata1:12M:autoextend"),
            ("ON", "ON"),
            ("", ""),
        ] {
            assert_eq!(plain(written), told, "{written}");
        }
    }
}
