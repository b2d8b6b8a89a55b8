//! Text that compresses as English does.
//!
//! Words by rank: the commonest are real ones, those after them are made of syllables, and their
//! frequencies follow Zipf's law with Mandelbrot's shift (1953), as those of English do. Sentences
//! are wrapped at the width of a book's lines. How well pages of a table with such lines compress,
//! compared with a real book's, was measured: docs/decisions/0006-drive-model-and-compression.md.

use super::{Rng, seeded};

/// Lines of the text, about as many as a long novel has.
const LINES: usize = 20_000;
/// Longest line, characters: the width at which books are wrapped.
const WIDTH: usize = 72;
/// The text is always the same, as a book is.
const SEED: u64 = 1;
/// Words that there are.
const WORDS: usize = 6_000;
/// Mandelbrot's shift of the ranks.
const SHIFT: f64 = 2.7;
/// Zipf's exponent.
const EXPONENT: f64 = 1.0;

/// The commonest words of English prose, in about this order.
const COMMON: &str = "the of and to in a that is was it for his with as he be on at by not this \
    but from are have had which or they an were one all there so him their when we her who no \
    them if she my more will what would been its you into me some than then time out these up \
    other any our may such about said only man now very could do upon like great should after \
    made over two before must little can how where most did those own without through first \
    make see down good being many well long might every shall same us long day here much men \
    even never under know part while old come way again between still against another light \
    house whole place work world hand nothing because water three life therefore things people \
    though thing back left once right always too found head side does came last went small \
    during whether far both each thought eye present set almost against white body near few \
    among enough often half rather given given matter name heard less several seen quite";

/// Beginnings, middles and ends of the rarer words.
const ONSETS: [&str; 30] = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "pr",
    "ch", "sh", "con", "re", "de", "in", "ex", "dis", "com", "un", "pl", "gr",
];
const VOWELS: [&str; 12] = [
    "a", "e", "i", "o", "u", "ea", "ou", "e", "a", "i", "o", "ai",
];
const CODAS: [&str; 20] = [
    "n", "r", "s", "t", "l", "d", "m", "nd", "st", "ct", "rt", "ck", "ss", "ll", "nt", "p", "v",
    "c", "g", "r",
];
const ENDINGS: [&str; 16] = [
    "", "", "", "ed", "ing", "s", "er", "ly", "tion", "ness", "ment", "e", "able", "ous", "es",
    "al",
];

/// The text's lines.
pub(super) fn lines() -> Vec<String> {
    let mut rng = seeded(SEED, 0);
    let mut writer = Writer::new(&mut rng);
    let mut lines = Vec::with_capacity(LINES);
    let mut line = String::new();
    while lines.len() < LINES {
        let word = writer.word(&mut rng);
        if line.len() + 1 + word.len() > WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
        if writer.ends_paragraph(&mut rng) {
            lines.push(std::mem::take(&mut line));
        }
    }
    lines
}

/// Words in sentences in paragraphs.
struct Writer {
    words: Vec<String>,
    frequency_up_to: Vec<u64>,
    begins_sentence: bool,
}

impl Writer {
    fn new(rng: &mut Rng) -> Self {
        let mut words: Vec<String> = COMMON.split_whitespace().map(str::to_owned).collect();
        while words.len() < WORDS {
            words.push(rare_word(rng));
        }
        let mut sum = 0;
        let frequency_up_to = (1..=words.len())
            .map(|rank| {
                sum += (1e9 / (rank as f64 + SHIFT).powf(EXPONENT)) as u64;
                sum
            })
            .collect();
        Self {
            words,
            frequency_up_to,
            begins_sentence: true,
        }
    }

    /// The next word, with the punctuation after it.
    fn word(&mut self, rng: &mut Rng) -> String {
        let number = rng.choose_by_weight(&self.frequency_up_to);
        let mut word = self.words[number].clone();
        if std::mem::take(&mut self.begins_sentence)
            && let Some(first) = word.get_mut(..1)
        {
            first.make_ascii_uppercase();
        }
        match rng.below(100) {
            0..8 => word.push(','),
            8..12 => {
                word.push('.');
                self.begins_sentence = true;
            }
            12 => word.push(';'),
            _ => {}
        }
        word
    }

    fn ends_paragraph(&self, rng: &mut Rng) -> bool {
        self.begins_sentence && rng.below(4) == 0
    }
}

fn rare_word(rng: &mut Rng) -> String {
    let mut any = |parts: &[&'static str]| parts[rng.below(parts.len() as u64) as usize];
    let mut word = String::new();
    for part in [ONSETS.as_slice(), &VOWELS, &CODAS] {
        word.push_str(any(part));
    }
    if any(&["once", "twice"]) == "twice" {
        word.push_str(any(&VOWELS));
        word.push_str(any(&CODAS));
    }
    word.push_str(any(&ENDINGS));
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_always_the_same_and_look_like_a_books() {
        let (one, other) = (lines(), lines());
        assert!(one.iter().eq(other.iter()));
        let lengths: Vec<_> = one.iter().map(String::len).collect();
        assert_eq!(lengths.len(), LINES);
        assert!(lengths.iter().all(|length| *length <= WIDTH));
        let mean = lengths.iter().sum::<usize>() as f64 / LINES as f64;
        assert!((60.0..70.0).contains(&mean), "{mean}");
    }
}
