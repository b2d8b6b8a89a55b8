//! Variables that a `SET` statement sets (MySQL manual, "SET Syntax for Variable Assignment").
//!
//! An assignment is read from its first word to its last. One that cannot be read so is forbidden: it may set
//! anything.

use super::effect::{Effect, forbidden};
use super::tokens::Token;

/// Objects of `SET` beside variables: accounts, roles, resources, the next statement.
const OTHERS: [&str; 7] = [
    "PASSWORD",
    "ROLE",
    "DEFAULT",
    "RESOURCE",
    "STATEMENT",
    "PERSIST",
    "PERSIST_ONLY",
];
/// Variables of a session that decide what replicas get, or what the server's log of statements does not, by how
/// their names begin.
const OF_REPLICATION: [&str; 12] = [
    "gtid_",
    "server_id",
    "skip_replication",
    "skip_parallel_replication",
    "binlog_",
    "wsrep_",
    "pseudo_",
    "original_",
    "immediate_",
    "require_row_format",
    "sql_log_off",
    "debug",
];
/// Encodings in which no part of a character looks like a quote. The server's default may be another.
const ENCODINGS: [&str; 7] = [
    "utf8", "utf8mb3", "utf8mb4", "latin1", "ascii", "binary", "cp1252",
];
/// Levels of isolation at which a read locks no row.
const LOCKLESS: [&str; 3] = ["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ"];
const NO_NAME: &str =
    "it sets something whose name cannot be read; write SET [GLOBAL | SESSION] name = value";

/// Scope in which a variable is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Session,
    Global,
}

/// The target of one assignment.
#[derive(Debug, PartialEq, Eq)]
enum AssignmentTarget {
    /// Something of the connection's.
    Own,
    /// The choice of what the connection writes to the binary log.
    BinaryLog,
    /// The isolation level at which each read locks its rows, or one that cannot be read.
    LockingReads,
    Global(String),
}

/// Returns the effect of the words after `SET`.
pub(super) fn of_set(words: &[Token<'_>]) -> Effect {
    if let Some(effect) = of_characteristics(words) {
        return effect;
    }
    let (mut globals, mut skips, mut locks) = (Vec::new(), false, false);
    // A scope holds for all that follow without one of their own.
    let mut scope = Scope::Session;
    for words in assignments(words) {
        match assignment(words, &mut scope) {
            Ok(AssignmentTarget::Own) => {}
            Ok(AssignmentTarget::BinaryLog) => skips = true,
            Ok(AssignmentTarget::LockingReads) => locks = true,
            Ok(AssignmentTarget::Global(name)) => globals.push(name),
            Err(why) => return forbidden(&why),
        }
    }
    match (globals.is_empty(), skips, locks) {
        (true, false, false) => Effect::None,
        (true, true, false) => Effect::SkipBinaryLog,
        (true, false, true) => Effect::Write(Vec::new()),
        (false, false, false) => Effect::Global(globals),
        _ => {
            forbidden("it sets several things that have to be allowed; write a statement for each")
        }
    }
}

/// The effect of `SET [scope] TRANSACTION ...`.
fn of_characteristics(words: &[Token<'_>]) -> Option<Effect> {
    let (is_global, rest) = match words {
        [scope, rest @ ..] if scope.is("GLOBAL") => (true, rest),
        [scope, rest @ ..] if scope.is_any(&["SESSION", "LOCAL"]) => (false, rest),
        rest => (false, rest),
    };
    let [first, rest @ ..] = rest else {
        return None;
    };
    if !first.is("TRANSACTION") || rest.first() == Some(&Token::Sign('=')) {
        return None;
    }
    let has = |word: &str| rest.iter().any(|token| token.is(word));
    if is_global {
        let named = [
            ("ISOLATION", "isolation"),
            ("ONLY", "read_only"),
            ("WRITE", "read_only"),
        ];
        let named = named.iter().filter(|(word, _)| has(word));
        let names = named.map(|(_, name)| format!("transaction_{name}"));
        return Some(Effect::Global(names.collect()));
    }
    Some(if has("SERIALIZABLE") {
        Effect::Write(Vec::new())
    } else {
        Effect::None
    })
}

/// The parts between commas outside of parentheses.
fn assignments<'t, 'a>(words: &'t [Token<'a>]) -> impl Iterator<Item = &'t [Token<'a>]> {
    let mut depth = 0_usize;
    words.split(move |token| {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        *token == Token::Sign(',') && depth == 0
    })
}

/// The target of one assignment; `carried`: the scope of those before it, and then of those after it.
fn assignment(words: &[Token<'_>], carried: &mut Scope) -> Result<AssignmentTarget, String> {
    if let Some(encoding) = encoding(words) {
        return own_encoding(encoding);
    }
    let (is_scoped, words) = match words {
        [scope, rest @ ..] if scope.is("GLOBAL") => {
            *carried = Scope::Global;
            (true, rest)
        }
        [scope, rest @ ..] if scope.is_any(&["SESSION", "LOCAL"]) => {
            *carried = Scope::Session;
            (true, rest)
        }
        rest => (false, rest),
    };
    if let Some(other) = words.first().filter(|word| word.is_any(&OTHERS)) {
        let name = other.name().unwrap_or_default();
        return Err(format!(
            "SET {name} is nothing that Weir sends to a server of yours"
        ));
    }
    let (target, value) = sides(words).ok_or(NO_NAME)?;
    if !is_scoped && is_users(target) {
        return Ok(AssignmentTarget::Own);
    }
    let (scope, name) = match target {
        [name] if !has_at(*name) => (*carried, *name),
        path if !is_scoped && *carried == Scope::Session => system(path)?,
        _ => return Err(NO_NAME.to_owned()),
    };
    let name = plain(name).ok_or(NO_NAME)?;
    match scope {
        Scope::Global => Ok(AssignmentTarget::Global(name)),
        Scope::Session => of_session(&name, value),
    }
}

/// The two sides of `=` or `:=`.
fn sides<'t, 'a>(words: &'t [Token<'a>]) -> Option<(&'t [Token<'a>], &'t [Token<'a>])> {
    let at = words.iter().position(|word| *word == Token::Sign('='))?;
    let target = &words[..at];
    let target = target.strip_suffix(&[Token::Sign(':')]).unwrap_or(target);
    Some((target, &words[at + 1..]))
}

fn has_at(token: Token<'_>) -> bool {
    matches!(token, Token::Word(word) if word.starts_with('@'))
}

/// True of a variable of the user's, which is the connection's: `@a`, `@a.b`, `` @`a` ``.
fn is_users(target: &[Token<'_>]) -> bool {
    match target {
        [
            Token::Word("@"),
            Token::Text(_) | Token::Quoted(_) | Token::Double(_),
        ] => true,
        [Token::Word(first), rest @ ..] => {
            let name = first.strip_prefix('@');
            let is_name = name.is_some_and(|name| !name.is_empty() && !name.starts_with('@'));
            let is_rest = |token: &Token<'_>| matches!(token, Token::Word(_) | Token::Sign('.'));
            is_name && rest.iter().all(is_rest)
        }
        _ => false,
    }
}

/// The scope and the name of a variable after `@@`.
fn system<'a>(path: &[Token<'a>]) -> Result<(Scope, Token<'a>), String> {
    let [Token::Word(first), rest @ ..] = path else {
        return Err(NO_NAME.to_owned());
    };
    let first = first.strip_prefix("@@").ok_or(NO_NAME)?;
    match (first, rest) {
        ("", [name @ (Token::Quoted(_) | Token::Double(_))]) => Ok((Scope::Session, *name)),
        ("", _) => Err(NO_NAME.to_owned()),
        (name, []) => Ok((Scope::Session, Token::Word(name))),
        (scope, [Token::Sign('.'), name]) => match scope.to_ascii_lowercase().as_str() {
            "global" => Ok((Scope::Global, *name)),
            "session" | "local" => Ok((Scope::Session, *name)),
            "persist" | "persist_only" => Err("PERSIST outlasts the server's restart".to_owned()),
            _ => Err(NO_NAME.to_owned()),
        },
        _ => Err(NO_NAME.to_owned()),
    }
}

/// The name of a variable in lower case, if it can be one.
fn plain(name: Token<'_>) -> Option<String> {
    let name = name.name()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_plain)).then(|| name.to_ascii_lowercase())
}

fn of_session(name: &str, value: &[Token<'_>]) -> Result<AssignmentTarget, String> {
    if OF_REPLICATION.iter().any(|begin| name.starts_with(begin)) {
        return Err(format!(
            "{name} changes replication or the server's logs; leave it out"
        ));
    }
    let text = match value {
        [Token::Text(text) | Token::Word(text) | Token::Double(text)] => *text,
        _ => "",
    };
    let is_one_of = |known: &[&str]| known.iter().any(|known| known.eq_ignore_ascii_case(text));
    match name {
        "sql_log_bin" => Ok(AssignmentTarget::BinaryLog),
        "character_set_client" => own_encoding(value),
        "transaction_isolation" | "tx_isolation" if !is_one_of(&LOCKLESS) => {
            Ok(AssignmentTarget::LockingReads)
        }
        _ => Ok(AssignmentTarget::Own),
    }
}

/// The words after `NAMES` and `CHARACTER SET`.
fn encoding<'t, 'a>(words: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    let is_name = |word: &Token<'_>| word.is_any(&["NAMES", "CHARSET"]);
    match words {
        [_, Token::Sign('=' | ':'), ..] => None,
        [names, rest @ ..] if is_name(names) => Some(rest),
        [character, set, rest @ ..]
            if character.is_any(&["CHARACTER", "CHAR"]) && set.is("SET") =>
        {
            Some(rest)
        }
        _ => None,
    }
}

/// An encoding of the connection, if quotes can be told in it: its name alone, or before `COLLATE`.
fn own_encoding(value: &[Token<'_>]) -> Result<AssignmentTarget, String> {
    let name = match value {
        [name] => Some(name),
        [name, collate, _] if collate.is("COLLATE") => Some(name),
        _ => None,
    };
    let is_known = |text: &str| {
        ENCODINGS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(text))
    };
    match name {
        Some(Token::Text(text) | Token::Word(text) | Token::Double(text)) if is_known(text) => {
            Ok(AssignmentTarget::Own)
        }
        _ => Err("an encoding is set in which quotes cannot be told; use utf8mb4".to_owned()),
    }
}
