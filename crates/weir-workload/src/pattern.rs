//! Strings by a pattern, in the notation of sysbench's scripts: `#` is a digit, `@` a letter, and
//! every other character stands for itself.

use super::Rng;

/// A pattern.
#[derive(Debug)]
pub struct Pattern(Vec<u8>);

impl Pattern {
    pub fn new(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }

    /// Appends a string of this pattern.
    pub fn write(&self, rng: &mut Rng, out: &mut Vec<u8>) {
        out.extend(self.0.iter().map(|byte| match byte {
            b'#' => b'0' + rng.below(10) as u8,
            b'@' => b'a' + rng.below(26) as u8,
            other => *other,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded;

    #[test]
    fn digits_and_letters_stand_where_the_pattern_wants_them() {
        let pattern = Pattern::new("+49 ###-@@é");
        let mut out = Vec::new();
        pattern.write(&mut seeded(1, 1), &mut out);
        let text = String::from_utf8(out).unwrap();
        let parts: Vec<_> = text.split(['-', ' ']).collect();
        assert_eq!((parts.len(), parts[0]), (3, "+49"), "{text}");
        assert!(parts[1].len() == 3 && parts[1].bytes().all(|b| b.is_ascii_digit()));
        let letters = parts[2].strip_suffix('é').unwrap();
        assert!(letters.len() == 2 && letters.bytes().all(|b| b.is_ascii_lowercase()));
    }
}
