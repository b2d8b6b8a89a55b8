//! Statements at random, from a grammar of both servers' and with changes at places where their lexers differ.

use std::collections::HashMap;

use weir_testing::Random;

/// Deepest nesting of rules; beyond it the first alternative is taken.
const DEPTH_MAX: usize = 24;
/// `rule: alternatives divided by |`. `<x>` is a rule; `~` joins its neighbours without a blank.
const RULES: &str = include_str!("grammar.txt");

/// The rules, by name.
#[derive(Debug)]
pub(crate) struct Grammar(HashMap<&'static str, Vec<&'static str>>);

impl Grammar {
    /// # Panics
    /// If a rule uses one that is not there.
    pub(crate) fn new() -> Self {
        let lines = RULES.lines().filter(|line| !line.trim().is_empty());
        let rules: HashMap<_, Vec<_>> = lines
            .map(|line| {
                let (name, alternatives) = line.split_once(": ").expect("a rule has a name");
                let alternatives = alternatives.split(" | ").map(str::trim);
                (name, alternatives.collect())
            })
            .collect();
        let uses = rules.values().flatten().flat_map(|text| text.split(' '));
        for used in uses.filter_map(rule) {
            assert!(rules.contains_key(used), "no rule `{used}`");
        }
        Self(rules)
    }

    /// A statement, in pieces that make its text one after the other.
    pub(crate) fn statement(&self, random: &mut Random) -> Vec<String> {
        let mut words = Vec::new();
        self.expand("statement", random, 0, &mut words);
        let mut pieces = spaced(words, random);
        for _ in 0..3 {
            if random.once_in(4) {
                change(&mut pieces, random);
            }
        }
        pieces
    }

    fn expand(&self, name: &str, random: &mut Random, depth: usize, words: &mut Vec<String>) {
        let alternatives = &self.0[name];
        let chosen = if depth > DEPTH_MAX {
            alternatives[0]
        } else {
            alternatives[random.below(alternatives.len())]
        };
        for word in chosen.split(' ').filter(|word| !word.is_empty()) {
            match rule(word) {
                Some(name) => self.expand(name, random, depth + 1, words),
                None => words.push(word.replace('\u{b7}', " ").replace('\u{a6}', "|")),
            }
        }
    }
}

fn rule(word: &str) -> Option<&str> {
    let name = word.strip_prefix('<')?.strip_suffix('>')?;
    name.starts_with(|c: char| c.is_ascii_lowercase())
        .then_some(name)
}

/// The words with what stands between them: mostly a blank.
fn spaced(words: Vec<String>, random: &mut Random) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut joins = true;
    for word in words {
        if word == "~" {
            joins = true;
            continue;
        }
        let is_usual = !random.once_in(40);
        if joins != is_usual {
            let blanks = [
                " ",
                "/**/",
                "\n",
                "\t",
                " /* ' */ ",
                "-- \n",
                "--\n",
                "#`\n",
                "/*+ x */",
                "\u{a0}",
                "",
            ];
            let blank = if is_usual {
                " "
            } else {
                random.one_of(&blanks)
            };
            pieces.push(blank.to_owned());
        }
        pieces.push(word);
        joins = false;
    }
    pieces
}

/// Changes one piece at random.
fn change(pieces: &mut [String], random: &mut Random) {
    let at = random.below(pieces.len().max(1));
    let Some(piece) = pieces.get(at).cloned() else {
        return;
    };
    let bare = piece.trim_matches(['`', '"', '\'']);
    let new = match random.below(14) {
        0 => format!("`{bare}`"),
        1 => format!("\"{bare}\""),
        2 => format!("'{bare}'"),
        3 => piece.to_ascii_lowercase(),
        4 => format!("/*! {piece} */"),
        5 => format!("/*!50000 {piece}*/"),
        6 => format!("/*!99999 {piece} */"),
        7 => format!("/*M! {piece} */"),
        8 => format!("/* {piece} */"),
        9 => format!(
            "{piece}{}",
            random.one_of(&[
                "'", "\"", "`", "\\", "/*", "*/", ";", "@", ".", "(", ")", "--", "#"
            ])
        ),
        10 => String::new(),
        11 => format!("{piece} {piece}"),
        12 => {
            let other = random.below(pieces.len());
            pieces.swap(at, other);
            return;
        }
        _ => random
            .one_of(&[
                r"'\'",
                r#""\""#,
                r"'\\'",
                r"'a''b'",
                "'\\' '",
                "`a``b`",
                r"'\', '",
                "N'x'",
                "_gbk'\\'",
                "x'41'",
                "$$ ' $$",
                "\u{bf}\\'",
            ])
            .to_owned(),
    };
    pieces[at] = new;
}
