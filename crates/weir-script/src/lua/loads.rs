//! Files that a script loads by name: read from its text, since nothing of it may run before the user wants that.

use std::path::Path;

/// A module or file that a text of Lua names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) name: String,
    /// Line from 1.
    pub(crate) line: u32,
    /// A file, by `dofile` or `loadfile`; else a module.
    pub(crate) is_file: bool,
    /// By `pcall(require, ...)`: the script goes on without it.
    pub(crate) is_optional: bool,
}

impl Load {
    /// One that the user names: a file, if its name ends as one does.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            line: 0,
            is_file: Path::new(name).extension().is_some(),
            is_optional: false,
        }
    }
}

/// Returns the loads of `text`: arguments of `require`, `dofile` and `loadfile` that are written as
/// strings.
pub(crate) fn loads(text: &[u8]) -> Vec<Load> {
    let tokens = Tokens::new(text).collect::<Vec<_>>();
    let mut loads = Vec::new();
    for (at, (token, line)) in tokens.iter().enumerate() {
        let Token::Word(word) = token else {
            continue;
        };
        let rest = &tokens[at + 1..];
        let found = match word.as_str() {
            "require" => required(rest).map(|(name, is_optional)| (name, false, is_optional)),
            "dofile" | "loadfile" => file(rest).map(|name| (name, true, false)),
            _ => None,
        };
        if let Some((name, is_file, is_optional)) = found {
            loads.push(Load {
                name,
                line: *line,
                is_file,
                is_optional,
            });
        }
    }
    loads
}

/// The module after `require`, and whether `pcall` is given both.
fn required(rest: &[(Token, u32)]) -> Option<(String, bool)> {
    let token = |at: usize| rest.get(at).map(|(token, _)| token);
    match (token(0)?, token(1)) {
        (Token::Text(name), _) | (Token::Sign(b'('), Some(Token::Text(name))) => {
            Some((name.clone(), false))
        }
        (Token::Sign(b','), Some(Token::Text(name))) => Some((name.clone(), true)),
        _ => None,
    }
}

/// The last string of the argument: what stands before it is the folder.
fn file(rest: &[(Token, u32)]) -> Option<String> {
    if let Some((Token::Text(name), _)) = rest.first() {
        return Some(name.clone());
    }
    let arguments = rest
        .iter()
        .take_while(|(token, _)| *token != Token::Sign(b')'));
    let texts = arguments.filter_map(|(token, _)| match token {
        Token::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.last()
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Sign(u8),
}

/// Words, strings and signs of Lua; comments and white space are left out.
struct Tokens<'a> {
    rest: &'a [u8],
    line: u32,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            line: 1,
        }
    }

    /// Takes so many bytes, and counts their lines.
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        let lines = taken.split(|byte| *byte == b'\n').count() - 1;
        self.line += lines as u32;
        self.rest = rest;
        taken
    }

    /// Length of `[[...]]` with any number of `=`, and of its brackets; nothing if that is not what comes.
    fn long_bracket(&self) -> Option<(usize, usize)> {
        let equals = self.rest.get(1..)?.iter().take_while(|b| **b == b'=');
        let bracket = equals.count() + 2;
        if self.rest[0] != b'[' || self.rest.get(bracket - 1) != Some(&b'[') {
            return None;
        }
        let end = [b"]", "=".repeat(bracket - 2).as_bytes(), b"]"].concat();
        let found = self.rest.windows(bracket).position(|window| window == end);
        Some((found.map_or(self.rest.len(), |at| at + bracket), bracket))
    }

    fn comment(&mut self) {
        self.take(2);
        let long = self.rest.first().and_then(|_| self.long_bracket());
        let to_end = || self.rest.iter().take_while(|byte| **byte != b'\n').count();
        let length = long.map_or_else(to_end, |(length, _)| length);
        self.take(length);
    }

    fn quoted(&mut self, quote: u8) -> String {
        let mut text = Vec::new();
        let mut at = 1;
        while let Some(byte) = self.rest.get(at) {
            match *byte {
                byte if byte == quote => break,
                b'\\' => {
                    at += 1;
                    text.extend(self.rest.get(at));
                }
                byte => text.push(byte),
            }
            at += 1;
        }
        self.take(at + 1);
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Iterator for Tokens<'_> {
    type Item = (Token, u32);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let first = *self.rest.first()?;
            let line = self.line;
            let token = match first {
                b'-' if self.rest.starts_with(b"--") => {
                    self.comment();
                    continue;
                }
                b'\'' | b'"' => Token::Text(self.quoted(first)),
                b'[' if self.long_bracket().is_some() => {
                    let (length, bracket) = self.long_bracket().unwrap_or((1, 0));
                    let text = self.take(length);
                    let inner = text.get(bracket..text.len().saturating_sub(bracket));
                    Token::Text(String::from_utf8_lossy(inner.unwrap_or_default()).into_owned())
                }
                _ if first == b'_' || first.is_ascii_alphanumeric() => {
                    let is_word = |byte: &&u8| **byte == b'_' || byte.is_ascii_alphanumeric();
                    let length = self.rest.iter().take_while(is_word).count();
                    Token::Word(String::from_utf8_lossy(self.take(length)).into_owned())
                }
                _ => {
                    self.take(1);
                    if first.is_ascii_whitespace() {
                        continue;
                    }
                    Token::Sign(first)
                }
            };
            return Some((token, line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, u32)> {
        let loads = loads(text.as_bytes()).into_iter();
        loads.map(|load| (load.name, load.line)).collect()
    }

    #[test]
    fn what_a_script_loads_is_read_from_its_text() {
        let text = "require('a') local b = require \"b.c\"\n\
                    -- require('no')\n--[==[ require('no')\n]==]\n\
                    x = 'require(\"no\")' y = [[\nrequire('no')]]\n\
                    require[[d]] pcall(require, 'e')\n\
                    dofile(pathtest .. 'common.lua') loadfile 'f.lua'\n\
                    require(name)";
        let expected = [
            ("a", 1),
            ("b.c", 1),
            ("d", 7),
            ("e", 7),
            ("common.lua", 8),
            ("f.lua", 8),
        ];
        assert_eq!(
            names(text),
            expected.map(|(name, line)| (name.to_owned(), line))
        );
        let found = loads(text.as_bytes());
        assert!(found[3].is_optional && !found[2].is_optional);
        assert!(found[4].is_file && !found[0].is_file);
    }

    #[test]
    fn texts_that_end_early_are_read_to_their_end() {
        for text in ["require('a", "--[[ x", "require [[a", "'\\", "[=", "-"] {
            let _ = loads(text.as_bytes());
        }
    }
}
