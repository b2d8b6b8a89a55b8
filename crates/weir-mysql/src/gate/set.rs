//! What a `SET` statement sets (MySQL manual, "SET Syntax for Variable Assignment").

use super::effect::{Effect, forbidden};
use super::tokens::Token;

/// What `SET` does beside assigning variables: accounts, roles, resources, the next statement.
const OTHERS: [&str; 7] = [
    "PASSWORD",
    "ROLE",
    "DEFAULT",
    "RESOURCE",
    "STATEMENT",
    "PERSIST",
    "PERSIST_ONLY",
];
/// Variables of a session that decide what replicas get, or what the server's log of statements does not.
const OF_REPLICATION: [&str; 12] = [
    "gtid_next",
    "gtid_seq_no",
    "gtid_domain_id",
    "server_id",
    "skip_replication",
    "binlog_format",
    "wsrep_on",
    "pseudo_slave_mode",
    "pseudo_replica_mode",
    "sql_log_off",
    "debug",
    "debug_sync",
];
/// Encodings in which no part of a character looks like a quote.
const ENCODINGS: [&str; 8] = [
    "utf8", "utf8mb3", "utf8mb4", "latin1", "ascii", "binary", "default", "cp1252",
];

/// Where a variable is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Session,
    Global,
}

/// What the words after `SET` do.
pub(super) fn of_set(words: &[Token<'_>]) -> Effect {
    let (mut globals, mut skips) = (Vec::new(), false);
    // A scope holds for all that follow without one of their own.
    let mut scope = Scope::Session;
    for assignment in assignments(words) {
        let rest = match assignment {
            [first, rest @ ..] if first.is("GLOBAL") => {
                scope = Scope::Global;
                rest
            }
            [first, rest @ ..] if first.is_any(&["SESSION", "LOCAL"]) => {
                scope = Scope::Session;
                rest
            }
            rest => rest,
        };
        if let Some(other) = rest.first().filter(|word| word.is_any(&OTHERS)) {
            let name = other.name().unwrap_or_default();
            return forbidden(&format!(
                "SET {name} is nothing that Weir sends to a server of yours"
            ));
        }
        let Some((own, name)) = variable(rest, scope) else {
            return forbidden("a variable has no name");
        };
        match own {
            None => return forbidden("PERSIST outlasts the server's restart"),
            Some(Scope::Global) => globals.push(name),
            Some(Scope::Session) if OF_REPLICATION.contains(&&*name) => {
                return forbidden(&format!(
                    "{name} changes replication or the server's logs; leave it out"
                ));
            }
            Some(Scope::Session) if sets_encoding(&name) && !is_encoding(rest) => {
                return forbidden("an encoding is set in which quotes cannot be told; use utf8mb4");
            }
            Some(Scope::Session) => skips |= name == "sql_log_bin",
        }
    }
    match (globals.is_empty(), skips) {
        (false, _) => Effect::Global(globals),
        (true, true) => Effect::SkipBinaryLog,
        (true, false) => Effect::None,
    }
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

/// The scope and name of the variable that an assignment begins with; no scope for one that persists.
fn variable(words: &[Token<'_>], scope: Scope) -> Option<(Option<Scope>, String)> {
    let first = words.first()?.name()?;
    let normal = |name: &str| name.to_ascii_lowercase().replace('-', "_");
    let Some(system) = first.strip_prefix("@@") else {
        // A user's own variable is the connection's.
        let scope = if first.starts_with('@') {
            Scope::Session
        } else {
            scope
        };
        if scope == Scope::Global && first.eq_ignore_ascii_case("TRANSACTION") {
            return Some((Some(scope), "transaction_isolation".to_owned()));
        }
        return Some((Some(scope), normal(first)));
    };
    let of_path = || words.get(2).and_then(|word| word.name()).map(normal);
    match normal(system).as_str() {
        "global" => Some((Some(Scope::Global), of_path()?)),
        "session" | "local" => Some((Some(Scope::Session), of_path()?)),
        "persist" | "persist_only" => Some((None, of_path()?)),
        name => Some((Some(Scope::Session), name.to_owned())),
    }
}

fn sets_encoding(name: &str) -> bool {
    matches!(
        name,
        "names" | "charset" | "character" | "character_set_client"
    )
}

/// Whether the encoding that an assignment ends with, or that stands before `COLLATE`, is a plain one.
fn is_encoding(assignment: &[Token<'_>]) -> bool {
    let end = assignment.iter().position(|word| word.is("COLLATE"));
    let value = assignment[..end.unwrap_or(assignment.len())].last();
    let Some(Token::Text(text) | Token::Word(text) | Token::Double(text)) = value else {
        return false;
    };
    ENCODINGS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(text))
}
