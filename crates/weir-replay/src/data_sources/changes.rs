//! Changes of tables that a statement or a routine's text makes, as far as its words say.

use weir_mysql::SqlWord;

/// Words between the verb and the table.
const MODIFIERS: [&str; 8] = [
    "LOW_PRIORITY",
    "HIGH_PRIORITY",
    "DELAYED",
    "IGNORE",
    "QUICK",
    "INTO",
    "FROM",
    "TABLE",
];

/// Event of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeEvent {
    Insert,
    Update,
    Delete,
}

impl ChangeEvent {
    /// Reads the server's word.
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word.to_ascii_uppercase().as_str() {
            "INSERT" => Some(Self::Insert),
            "UPDATE" => Some(Self::Update),
            "DELETE" => Some(Self::Delete),
            _ => None,
        }
    }
}

/// A change of one table, or of one of several.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    events: Vec<ChangeEvent>,
    /// Names in the place of the table, in lower case: of schemas, tables and aliases.
    tables: Vec<String>,
    /// Names of the columns that an INSERT gives; `None`: all of them.
    given: Option<Vec<String>>,
    /// Names behind `UPDATE ... SET`, in lower case.
    assigned: Vec<String>,
    has_default: bool,
}

impl Change {
    /// Returns true if it is one of this table.
    pub(super) fn is_of(&self, table: &str) -> bool {
        self.tables.iter().any(|known| known == table)
    }

    /// Returns true if it fires triggers of this event.
    pub(super) fn has(&self, event: ChangeEvent) -> bool {
        self.events.contains(&event)
    }

    /// Returns true if new rows get the column's default.
    pub(super) fn takes_default(&self, column: &str) -> bool {
        let is_left_out = match &self.given {
            None => false,
            Some(given) => !given.iter().any(|name| name == column),
        };
        self.has(ChangeEvent::Insert) && (is_left_out || self.has_default)
    }

    /// Returns true if an update names the column.
    pub(super) fn assigns(&self, column: &str) -> bool {
        self.assigned.iter().any(|name| name == column)
    }
}

/// The changes in a text, statement by statement.
pub(super) fn changes(words: &[SqlWord<'_>]) -> Vec<Change> {
    let statements = words.split(|word| word.is_sign(';'));
    statements.filter_map(change).collect()
}

fn change(words: &[SqlWord<'_>]) -> Option<Change> {
    let verbs = ["INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD"];
    let is_call = |at: usize| words.get(at + 1).is_some_and(|word| word.is_sign('('));
    let is_lock = |at: usize| at > 0 && words[at - 1].is("FOR");
    let verb =
        (0..words.len()).find(|at| words[*at].is_any(&verbs) && !is_call(*at) && !is_lock(*at))?;
    let rest = &words[verb + 1..];
    let word = &words[verb];
    Some(if word.is("UPDATE") {
        let (tables, sets) = parted(rest, &["SET"]);
        let (sets, _) = parted(sets, &["WHERE", "ORDER", "LIMIT"]);
        Change {
            events: vec![ChangeEvent::Update],
            tables: names(tables),
            assigned: assigned(sets),
            ..Change::default()
        }
    } else if word.is("DELETE") {
        let (tables, _) = parted(rest, &["WHERE", "ORDER", "LIMIT", "RETURNING"]);
        Change {
            events: vec![ChangeEvent::Delete],
            tables: names(tables),
            ..Change::default()
        }
    } else if word.is("LOAD") {
        let (_, into) = parted(rest, &["INTO"]);
        insertion(into, vec![ChangeEvent::Insert])
    } else if word.is("REPLACE") {
        insertion(rest, vec![ChangeEvent::Insert, ChangeEvent::Delete])
    } else {
        insertion(rest, vec![ChangeEvent::Insert])
    })
}

/// An INSERT or a REPLACE behind its verb.
fn insertion(words: &[SqlWord<'_>], mut events: Vec<ChangeEvent>) -> Change {
    let begin = words.iter().position(|word| !word.is_any(&MODIFIERS));
    let mut rest = &words[begin.unwrap_or(words.len())..];
    let mut tables = Vec::new();
    while let Some(name) = rest.first().and_then(SqlWord::name) {
        tables.push(name.to_lowercase());
        rest = &rest[1..];
        if !rest.first().is_some_and(|word| word.is_sign('.')) {
            break;
        }
        rest = &rest[1..];
    }
    if rest.first().is_some_and(|word| word.is("PARTITION")) {
        rest = parted_at(rest, |word| word.is_sign(')')).1;
    }
    let (rows, updates) = parted(rest, &["DUPLICATE"]);
    if !updates.is_empty() {
        events.push(ChangeEvent::Update);
    }
    Change {
        events,
        tables,
        given: given(rows),
        assigned: assigned(updates),
        has_default: rows.iter().any(|word| word.is("DEFAULT")),
    }
}

/// Columns that an INSERT names behind its table; `None`: it names none, and gives all.
fn given(rows: &[SqlWord<'_>]) -> Option<Vec<String>> {
    let first = rows.first()?;
    if first.is("SET") {
        return Some(assigned(rows));
    }
    let is_query = |word: &SqlWord<'_>| word.is_any(&["SELECT", "WITH", "TABLE", "VALUES"]);
    if !first.is_sign('(') || rows.get(1).is_some_and(is_query) {
        return None;
    }
    Some(names(parted_at(rows, |word| word.is_sign(')')).0))
}

/// Names before a single `=`.
fn assigned(words: &[SqlWord<'_>]) -> Vec<String> {
    let pairs = words.windows(2).filter(|pair| pair[1].is_sign('='));
    let names = pairs.filter_map(|pair| pair[0].name());
    names.map(|name| name.to_lowercase()).collect()
}

fn names(words: &[SqlWord<'_>]) -> Vec<String> {
    let names = words.iter().filter_map(SqlWord::name);
    names.map(|name| name.to_lowercase()).collect()
}

/// The words before the first of these keywords, and those behind it.
fn parted<'a, 'b>(
    words: &'b [SqlWord<'a>],
    keywords: &[&str],
) -> (&'b [SqlWord<'a>], &'b [SqlWord<'a>]) {
    parted_at(words, |word| word.is_any(keywords))
}

/// The words before the first one that `is_it`, and those behind it; all and none without it.
fn parted_at<'a, 'b>(
    words: &'b [SqlWord<'a>],
    is_it: impl Fn(&SqlWord<'a>) -> bool,
) -> (&'b [SqlWord<'a>], &'b [SqlWord<'a>]) {
    match words.iter().position(is_it) {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[]),
    }
}
