//! Last names of customers, made of three syllables (clause 4.3.2.3 of the specification).

const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];

/// Bytes of the longest name.
pub const LAST_NAME_BYTES_MAX: usize = 15;

/// Appends the last name of a number from 0 to 999: a syllable for each of its digits.
pub fn put_last_name(out: &mut Vec<u8>, number: u32) {
    for digit in [number / 100 % 10, number / 10 % 10, number % 10] {
        out.extend_from_slice(SYLLABLES[digit as usize].as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_specification() {
        let name = |number| {
            let mut out = Vec::new();
            put_last_name(&mut out, number);
            String::from_utf8(out).unwrap()
        };
        // The specification's own example.
        assert_eq!(name(371), "PRICALLYOUGHT");
        assert_eq!(name(0), "BARBARBAR");
        let longest = (0..1_000).map(|number| name(number).len()).max();
        assert_eq!(longest, Some(LAST_NAME_BYTES_MAX));
    }
}
