//! Variants of real inputs.

use weir_workload::{Rng, seeded};

/// Bytes of a variant, at most.
const LENGTH_MAX: usize = 1 << 20;
/// Numbers that lengths and counts break at.
const NUMBERS: [u64; 12] = [
    0,
    1,
    0x7F,
    0x80,
    0xFB,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    u64::MAX,
];
/// The same as they are written in texts, and what else is hard to read.
const WORDS: [&str; 22] = [
    "0",
    "-1",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1e308",
    "1e-400",
    "nan",
    "inf",
    "0x",
    "''",
    "\"",
    "\\",
    "\0",
    "\r\n",
    "\u{feff}",
    "é",
    "[[",
    "{}",
    "=",
    "?",
    "/*!",
];

/// Makes variants.
pub(crate) struct Mutator {
    rng: Rng,
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    /// The seeds themselves come first.
    next_seed: usize,
}

impl Mutator {
    /// Variants of `seeds`, in which `words` mean something.
    pub(crate) fn new(seed: u64, seeds: Vec<Vec<u8>>, words: &[&str]) -> Self {
        let words = WORDS.iter().chain(words);
        Self {
            rng: seeded(seed, 0),
            words: words.map(|word| word.as_bytes().to_vec()).collect(),
            seeds,
            next_seed: 0,
        }
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        if let Some(seed) = self.seeds.get(self.next_seed) {
            self.next_seed += 1;
            return seed.clone();
        }
        let chosen = self.below(self.seeds.len());
        let mut input = self.seeds[chosen].clone();
        // Few changes mostly: many break the first thing that is read.
        let changes = 1 << self.below(5);
        for _ in 0..changes {
            self.change(&mut input);
        }
        input.truncate(LENGTH_MAX);
        input
    }

    fn below(&mut self, limit: usize) -> usize {
        self.rng.below(limit.max(1) as u64) as usize
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let scale = self.below(10);
        let length = self.below(1 << scale);
        let end = (at + length).min(input.len());
        match self.below(10) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => {
                let part = input[at..end].to_vec();
                let to = self.below(input.len() + 1);
                input.splice(to..to, part);
            }
            3 | 4 => {
                let word = self.below(self.words.len());
                let word = self.words[word].clone();
                let end = if self.below(2) == 0 { at } else { end };
                input.splice(at..end, word);
            }
            5 => {
                let other = self.below(self.seeds.len());
                let other = &self.seeds[other];
                let from = self.rng.below(other.len() as u64 + 1) as usize;
                let part = other[from..(from + length).min(other.len())].to_vec();
                input.splice(at..end, part);
            }
            6 | 7 => {
                let number = NUMBERS[self.below(NUMBERS.len())];
                let scale = self.below(4);
                let width = 1 << scale;
                let bytes = &number.to_le_bytes()[..width];
                let end = (at + width).min(input.len());
                input.splice(at..end, bytes.iter().copied());
            }
            8 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = self.rng.below(256) as u8;
                }
            }
            _ => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << self.rng.below(8);
                }
            }
        }
    }
}
