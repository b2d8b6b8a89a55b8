//! Tokens beside real servers: what stands right behind a number or a string is an alias, or a part of a name.
//!
//! A server names a column by its alias, else by its text, and names a column that it does not find. Both say where
//! it has ended the token before.

use std::time::{Duration, Instant};

use weir_model::Flavor;
use weir_mysql::{ClientError, Connection, Quoting, Row, SqlScan, SqlToken, SqlTokenKind};
use weir_testing::{Random, shrink};

use super::{seconds, seed};

/// Characters of which numbers, names and what is neither are made; those of numbers more often.
const CHARACTERS: &[u8] = b"00112..eeEE+-xXbBaf_$'\"`";
const LENGTH_MAX: usize = 8;
const UNKNOWN_COLUMN: u16 = 1054;

pub(crate) fn tokens_end_where_the_server_ends_them(flavor: Flavor) {
    let (server, _directory) = weir_testing::start(flavor);
    let mut connection = weir_testing::connect(&server.endpoint());
    let (seconds, seed) = (seconds(2), seed());
    println!("{flavor:?}: WEIR_GATE_SEED={seed}, {seconds} s");
    let mut random = Random::new(seed);
    let (mut judged, mut sent) = (0_u32, 0_u32);
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until || judged < 500 {
        let length = 1 + random.below(LENGTH_MAX);
        let text: Vec<u8> = (0..length)
            .map(|_| CHARACTERS[random.below(CHARACTERS.len())])
            .collect();
        sent += 1;
        match agrees(&mut connection, &text) {
            None => {}
            Some(true) => judged += 1,
            Some(false) => {
                let short = shrink(text, &mut |text| {
                    agrees(&mut connection, text) == Some(false)
                });
                panic!("SELECT {}", String::from_utf8_lossy(&short));
            }
        }
        assert!(
            sent < 20_000 || judged > sent / 50,
            "{judged} of {sent} were judged"
        );
    }
    println!("{judged} of {sent} texts were judged");
}

/// Returns true if the server ends the tokens of `SELECT text` where the scanner does; `None`: its answer does not say.
fn agrees(connection: &mut Connection, text: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(text).ok()?;
    let tokens: Vec<_> = SqlScan::new(text.as_bytes(), Quoting::USUAL).collect();
    match connection.first::<Row>(&format!("SELECT {text}")) {
        Ok(row) => {
            let name = row?.columns_ref()[0].name_str().into_owned();
            match answer(text, &tokens)? {
                Answer::Refused => Some(false),
                Answer::Column(expected) => Some(name == expected),
            }
        }
        Err(ClientError::Statement { code, message, .. }) if code == UNKNOWN_COLUMN => {
            let (column, _) = message
                .strip_prefix("Unknown column '")?
                .rsplit_once("' in ")?;
            // With the name of its table before it, if it has one.
            let is_first = |token| match column.strip_prefix(bare(text, token).as_str()) {
                Some(rest) => rest.is_empty() || rest.starts_with('.'),
                None => false,
            };
            Some(tokens.iter().any(is_first))
        }
        Err(_) => None,
    }
}

/// Answer of a server that reads the same tokens.
enum Answer {
    /// A column that no table has is asked for.
    Refused,
    /// One row, whose column has this name.
    Column(String),
}

/// The answer by the tokens: the column's name is its alias, else its text. `None` where that is not so simple.
fn answer(text: &str, tokens: &[SqlToken]) -> Option<Answer> {
    use SqlTokenKind::{Name, Number, Sign, Text, Word};
    let kinds = [Name, Number, Sign, Text, Word];
    if !tokens.iter().all(|token| kinds.contains(&token.kind)) {
        return None;
    }
    let (value, alias) = match tokens {
        [value @ .., before, last] if is_alias(text, before, last) => {
            (&tokens[..=value.len()], Some(last))
        }
        _ => (tokens, None),
    };
    let names_column = |at: usize| {
        let next = value.get(at + 1);
        let is_name = matches!(value[at].kind, Word | Name);
        is_name && next.is_none_or(|next| !is_prefix(text, &value[at], next))
    };
    if (0..value.len()).any(names_column) {
        return Some(Answer::Refused);
    }
    match alias {
        Some(alias) => Some(Answer::Column(bare(text, alias))),
        // A string names its column by what is in it, a plus before a value is left out.
        None if text.starts_with('+') || value.iter().any(|token| token.kind == Text) => None,
        None => Some(Answer::Column(text.to_owned())),
    }
}

/// Returns true if `last` is an alias of what ends with `before`.
fn is_alias(text: &str, before: &SqlToken, last: &SqlToken) -> bool {
    use SqlTokenKind::{Name, Sign, Text, Word};
    match (before.kind, last.kind) {
        // Two strings are one.
        (Sign, _) | (Text, Text) => false,
        (_, Text) => !is_prefix(text, before, last),
        (_, kind) => matches!(kind, Word | Name),
    }
}

/// Returns true for the beginning of a string of bytes or bits: `x'41'`, `b'1'`.
fn is_prefix(text: &str, before: &SqlToken, string: &SqlToken) -> bool {
    let word = &text[before.start..before.end];
    string.kind == SqlTokenKind::Text
        && before.end == string.start
        && ["b", "B", "x", "X"].contains(&word)
}

/// The text of a token without its quotes.
fn bare(text: &str, token: &SqlToken) -> String {
    let text = &text[token.start..token.end];
    match token.kind {
        SqlTokenKind::Name => text[1..text.len() - 1].replace("``", "`"),
        SqlTokenKind::Text => {
            let quote = &text[..1];
            text[1..text.len() - 1].replace(&quote.repeat(2), quote)
        }
        _ => text.to_owned(),
    }
}
