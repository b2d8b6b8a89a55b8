//! Random statements whose strings and comments look like a log's lines.

use weir_testing::Random;

/// A piece of a statement's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// Blanks, which a capture writes in another way.
    Blank(&'static str),
    /// A comment, which a capture leaves out.
    Comment(Vec<u8>),
    /// It stays as it is.
    Word(Vec<u8>),
    /// The value of a parameter: `?` in the text that is prepared, and a string in the log.
    Value(Vec<u8>),
}

/// A statement's text.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) Vec<Token>);

impl std::fmt::Debug for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let values = self.values();
        let values: Vec<_> = values
            .iter()
            .map(|value| String::from_utf8_lossy(value))
            .collect();
        write!(
            formatter,
            "{:?} {values:?}",
            String::from_utf8_lossy(&self.sent())
        )
    }
}

const BLANKS: [&str; 7] = [" ", "\n", "\t", "\r\n", "\n\n", " \n\t\t", "\n  "];

/// Pieces of strings and block comments: each may stand within `'`, `"` and `/* */`.
const PIECES: [&str; 26] = [
    "nail",
    "\r\n",
    "\n",
    ";",
    ";\n",
    "\\\\",
    "\\'",
    "\\\"",
    "-- ",
    "caf\u{e9} \u{1f600}",
    "\n#\n",
    "\n# a comment\n",
    "\n# Time: now\n",
    "\n# Time: 2026-11-25T14:00:00.123456Z\n",
    "\n# User@Host: of nobody\n",
    "\n# User@Host: app[app] @ localhost []  Id:     8\n",
    "\n# administrator command: Quit;\n",
    "\nuse other;\n",
    "\nSET timestamp=5;\n",
    ";\n# Time: 2026-11-25T14:00:00.123456Z\n# User@Host: app[app] @ localhost []  Id:     8\n\
     # Query_time: 0.000100  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1795600800;\n\
     DROP TABLE item;\n",
    ";\n# User@Host: app[app] @ localhost []\n# Thread_id: 8  Schema: shop  QC_hit: No\n\
     # Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n\
     # Rows_affected: 0  Bytes_sent: 60\nSET timestamp=1795600800;\nDROP TABLE item;\n",
    "\n2026-11-25T14:00:00.123456Z\t    8 Query\tDROP TABLE item",
    "\n261125 14:00:00\t     9 Quit\t\n",
    "\n\t\t    10 Query\tDROP TABLE item\n",
    "\n/usr/sbin/mysqld, Version: 8.4.3 (x). started with:\nTcp port: 3306  Unix socket: /x\n\
     Time                 Id Command    Argument\n",
    "Version: 8.4.3 started with:\n",
];

/// Some pieces, one after the other.
fn pieces(random: &mut Random) -> String {
    let count = random.below(4);
    (0..count).map(|_| random.one_of(&PIECES)).collect()
}

/// A string as a statement writes it.
fn literal(random: &mut Random) -> Vec<u8> {
    match random.below(12) {
        0 => b"_binary'\x80\xff\xfe \x01'".to_vec(),
        1 => b"''".to_vec(),
        2 => format!("'it''s {}'", pieces(random)).into_bytes(),
        3 => format!("\"{}\"\"x\"", pieces(random)).into_bytes(),
        4 => format!("'{}{}'", "x".repeat(3_000), pieces(random)).into_bytes(),
        _ => format!("'{}'", pieces(random)).into_bytes(),
    }
}

/// The value of a parameter.
fn value(random: &mut Random) -> Vec<u8> {
    let plain = ["nail", "it's", "a\\b", "\"", "\0\u{1a}", ""];
    format!("{}{}", random.one_of(&plain), pieces(random)).into_bytes()
}

impl Text {
    /// Words of a statement, in which `'` stands for a random string and `?` for the value of a parameter.
    pub(crate) fn new(random: &mut Random, words: &str) -> Self {
        let mut tokens = Vec::new();
        for word in words.split(' ') {
            if !tokens.is_empty() {
                tokens.push(Token::Blank(random.one_of(&BLANKS)));
                tokens.extend(comment(random));
            }
            tokens.push(match word {
                "'" => Token::Word(literal(random)),
                "?" => Token::Value(value(random)),
                _ => Token::Word(word.as_bytes().to_vec()),
            });
        }
        Self(tokens)
    }

    /// Without anything random in it.
    pub(crate) fn plain(words: &str) -> Self {
        let words = words
            .split(' ')
            .map(|word| Token::Word(word.as_bytes().to_vec()));
        Self(words.flat_map(|word| [word, Token::Blank(" ")]).collect())
    }

    /// The text as a client sends it.
    pub(crate) fn sent(&self) -> Vec<u8> {
        let bytes = self.0.iter().map(|token| match token {
            Token::Blank(blank) => blank.as_bytes(),
            Token::Comment(bytes) | Token::Word(bytes) => bytes,
            Token::Value(_) => b"?",
        });
        bytes.collect::<Vec<_>>().concat()
    }

    /// Returns true if a word of it is this one.
    pub(crate) fn has_word(&self, word: &[u8]) -> bool {
        let is_it = |token: &Token| matches!(token, Token::Word(bytes) if bytes == word);
        self.0.iter().any(is_it)
    }

    /// The values of its parameters.
    pub(crate) fn values(&self) -> Vec<&[u8]> {
        let values = self.0.iter().filter_map(|token| match token {
            Token::Value(value) => Some(&**value),
            _ => None,
        });
        values.collect()
    }

    /// Returns true if a captured text is this one, but for blanks and comments.
    pub(crate) fn is(&self, captured: &[u8]) -> bool {
        let mut rest = captured;
        for token in &self.0 {
            rest = rest.trim_ascii_start();
            let after = match token {
                Token::Blank(_) | Token::Comment(_) => Some(rest),
                Token::Word(word) => rest.strip_prefix(&**word),
                Token::Value(value) => after_value(rest, value),
            };
            let Some(after) = after else { return false };
            rest = after;
        }
        matches!(rest.trim_ascii(), b"" | b";")
    }
}

fn comment(random: &mut Random) -> Option<Token> {
    let text = match random.below(20) {
        0 => format!("/* {} */", pieces(random)),
        1 => "/* it's */".to_owned(),
        2 => "\n# User@Host: app[app] @ localhost []\n".to_owned(),
        3 => "\n# it's\n".to_owned(),
        4 => "-- it's\n".to_owned(),
        _ => return None,
    };
    Some(Token::Comment(text.into_bytes()))
}

/// Text after a string that is this value.
fn after_value<'a>(text: &'a [u8], value: &[u8]) -> Option<&'a [u8]> {
    let introduced = text.iter().position(|byte| *byte == b'\'')?;
    let is_introducer = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if !text[..introduced].iter().all(is_introducer) {
        return None;
    }
    let (mut at, mut found) = (introduced + 1, Vec::new());
    loop {
        match text.get(at..)? {
            [b'\\', escaped, ..] => {
                found.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b'0' => 0,
                    b'Z' => 0x1a,
                    other => *other,
                });
                at += 2;
            }
            [b'\'', b'\'', ..] => {
                found.push(b'\'');
                at += 2;
            }
            [b'\'', after @ ..] => return (found == value).then_some(after),
            [byte, ..] => {
                found.push(*byte);
                at += 1;
            }
            [] => return None,
        }
    }
}

#[test]
fn a_captured_text_is_the_one_that_was_sent_or_not() {
    let text = Text(vec![
        Token::Word(b"SELECT".to_vec()),
        Token::Comment(b"/* x */".to_vec()),
        Token::Word(b"'a\r\nb'".to_vec()),
        Token::Value(b"it's".to_vec()),
    ]);
    assert!(text.is(b"SELECT  'a\r\nb' 'it\\'s'"));
    assert!(text.is(b"SELECT 'a\r\nb'_utf8mb4'it''s'"));
    assert!(!text.is(b"SELECT 'a\nb' 'it''s'"));
    assert!(!text.is(b"SELECT 'a\r\nb' 'its'"));
    assert!(!text.is(b"SELECT 'a\r\nb' 'it''s' x"));
}
