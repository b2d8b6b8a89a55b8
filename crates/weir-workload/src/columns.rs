//! Column that each question mark of a statement is compared with, or put into.
//!
//! Read from the words alone, without a parser: a value whose column is not found has none.

use std::collections::HashMap;

use weir_mysql::{SqlWord, StatementText, sql_words};

/// Purpose of a value for its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Rows that have it are looked for.
    Equal,
    /// One end of a range.
    Bound,
    /// The second end of `BETWEEN`.
    SecondBound,
    /// It comes into a new row.
    Inserted,
    /// It comes into rows that are there.
    Assigned,
}

/// A mark and what stands around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkUse {
    /// The table, if it is known.
    pub table: Option<String>,
    /// The column, if the mark has one.
    pub column: Option<(String, Purpose)>,
    /// True if its text is part of the statement's form, such as a JSON path.
    pub is_structure: bool,
    /// It stands where no parameter may: after a type or a character set.
    pub is_bound: bool,
}

/// Keywords that end a list of tables.
const NO_ALIAS: [&str; 24] = [
    "WHERE",
    "SET",
    "ON",
    "USING",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "CROSS",
    "STRAIGHT_JOIN",
    "NATURAL",
    "ORDER",
    "GROUP",
    "HAVING",
    "LIMIT",
    "FOR",
    "UNION",
    "VALUES",
    "VALUE",
    "SELECT",
    "FORCE",
    "USE",
    "IGNORE",
    "LOCK",
];

/// Tables that a statement names, in order.
pub fn tables_of(sql: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (_, table) in tables(&sql_words(sql)) {
        if !names.contains(&table) {
            names.push(table);
        }
    }
    names
}

/// The uses of a statement's question marks, in order.
pub fn mark_uses(sql: &str) -> Vec<MarkUse> {
    let words = sql_words(sql);
    let tables = tables(&words);
    let aliases: HashMap<String, String> = tables.iter().cloned().collect();
    let single = match tables.as_slice() {
        [(_, table)] => Some(table.clone()),
        _ => None,
    };
    let marks = words
        .iter()
        .enumerate()
        .filter(|(_, word)| word.is_sign('?'));
    let mut uses: Vec<MarkUse> = marks
        .map(|(at, _)| {
            let found = column_before(&words, at);
            let column = found
                .as_ref()
                .map(|(_, column, purpose)| (column.clone(), *purpose));
            let table = match &found {
                Some((Some(qualifier), ..)) => aliases.get(qualifier).cloned(),
                _ => single.clone(),
            };
            MarkUse {
                table,
                column,
                is_structure: is_structure(&words, at),
                is_bound: is_bound(&words, at),
            }
        })
        .collect();
    for inserted in StatementText::read(sql).inserted_columns() {
        if let Some(found) = uses.get_mut(inserted.parameter) {
            found.table = Some(inserted.table);
            found.column = Some((inserted.column, Purpose::Inserted));
        }
    }
    uses
}

/// Names in the statement with the tables that they stand for.
fn tables(words: &[SqlWord<'_>]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        // `FOR UPDATE` and `ON DUPLICATE KEY UPDATE` name none.
        let is_clause = at > 0 && words[at - 1].is_any(&["FOR", "KEY"]);
        let begins = words[at].is_any(&["FROM", "JOIN", "INTO"])
            || words[at].is("UPDATE") && !is_clause
            || words[at].is("REPLACE") && at == 0;
        at += 1;
        if !begins {
            continue;
        }
        while let Some((name, alias, next)) = table_at(words, at) {
            found.push((alias.unwrap_or_else(|| name.clone()), name));
            at = next;
            if !words.get(at).is_some_and(|word| word.is_sign(',')) {
                break;
            }
            at += 1;
        }
    }
    found
}

/// A table's name with its alias and what comes next.
fn table_at(words: &[SqlWord<'_>], mut at: usize) -> Option<(String, Option<String>, usize)> {
    if words
        .get(at)?
        .is_any(&["DUAL", "UPDATE", "INTO", "LOW_PRIORITY", "IGNORE"])
    {
        return None;
    }
    let mut name = words.get(at)?.name()?;
    at += 1;
    if words.get(at).is_some_and(|word| word.is_sign('.')) {
        name = words.get(at + 1)?.name()?;
        at += 2;
    }
    if words.get(at).is_some_and(|word| word.is("AS")) {
        at += 1;
    }
    let alias = words.get(at).filter(|word| !word.is_any(&NO_ALIAS));
    match alias.and_then(SqlWord::name) {
        Some(alias) => Some((name, Some(alias), at + 1)),
        None => Some((name, None, at)),
    }
}

type ColumnMatch = (Option<String>, String, Purpose);

/// The column that stands before the mark at `at`.
fn column_before(words: &[SqlWord<'_>], at: usize) -> Option<ColumnMatch> {
    let before = words.get(at.checked_sub(1)?)?;
    let is_comparison =
        |word: &SqlWord<'_>| ['=', '<', '>', '!'].iter().any(|sign| word.is_sign(*sign));
    if is_comparison(before) {
        let signs = words[..at]
            .iter()
            .rev()
            .take_while(|word| is_comparison(word));
        let signs: Vec<_> = signs.collect();
        let (qualifier, column) = name_ending_at(words, at - signs.len())?;
        let is_equal = signs.len() == 1 && before.is_sign('=');
        let purpose = match (is_equal, is_assignment(words, at)) {
            (true, true) => Purpose::Assigned,
            (true, false) => Purpose::Equal,
            (false, _) => Purpose::Bound,
        };
        return Some((qualifier, column, purpose));
    }
    if before.is_any(&["BETWEEN", "LIKE"]) {
        let purpose = if before.is("LIKE") {
            Purpose::Equal
        } else {
            Purpose::Bound
        };
        return name_ending_at(words, at - 1)
            .map(|(qualifier, column)| (qualifier, column, purpose));
    }
    if before.is("AND") && at >= 3 && words[at - 3].is("BETWEEN") {
        let (qualifier, column) = name_ending_at(words, at - 3)?;
        return Some((qualifier, column, Purpose::SecondBound));
    }
    let in_list = |word: &&SqlWord<'_>| word.is_sign(',') || word.is_sign('?');
    let list = words[..at].iter().rev().take_while(in_list).count();
    let open = at.checked_sub(list + 1)?;
    if words[open].is_sign('(') && open >= 1 && words[open - 1].is("IN") {
        let end = if open >= 2 && words[open - 2].is("NOT") {
            open - 2
        } else {
            open - 1
        };
        let (qualifier, column) = name_ending_at(words, end)?;
        return Some((qualifier, column, Purpose::Equal));
    }
    None
}

/// `column` or `t.column` that ends before `end`.
fn name_ending_at(words: &[SqlWord<'_>], end: usize) -> Option<(Option<String>, String)> {
    let column = words.get(end.checked_sub(1)?)?.name()?;
    let is_qualified = end >= 3 && words[end - 2].is_sign('.');
    let qualifier = is_qualified.then(|| words[end - 3].name()).flatten();
    Some((qualifier, column))
}

/// Returns true if a mark stands in the list after `SET`.
fn is_assignment(words: &[SqlWord<'_>], at: usize) -> bool {
    let clause = words[..at]
        .iter()
        .rev()
        .find(|word| word.is_any(&["SET", "WHERE", "ON", "HAVING", "UPDATE"]));
    let is_insert = words.first().is_some_and(|word| word.is("INSERT"));
    clause.is_some_and(|word| word.is("SET") || is_insert && word.is("UPDATE"))
}

fn is_structure(words: &[SqlWord<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &words[before]) else {
        return false;
    };
    let is_arrow = before.is_sign('>')
        && (1..=2).any(|back| {
            at.checked_sub(back + 1)
                .is_some_and(|sign| words[sign].is_sign('-'))
        });
    let is_length = before.is_sign('(')
        && at >= 2
        && words[at - 2].is_any(&["CHAR", "BINARY", "DECIMAL", "DATETIME", "TIME", "NCHAR"]);
    is_arrow || is_length || before.is_any(&["SEPARATOR", "ESCAPE", "AS", "BY"])
}

fn is_bound(words: &[SqlWord<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &words[before]) else {
        return false;
    };
    let is_introducer = before
        .name()
        .is_some_and(|name| name.starts_with('_') && !name.contains('.'));
    let is_glued = before.end == words[at].start && before.is_any(&["X", "B", "N"]);
    is_introducer || is_glued || before.is_any(&["DATE", "TIME", "TIMESTAMP"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sql: &str) -> Vec<String> {
        let uses = mark_uses(sql).into_iter();
        uses.map(|found| match (found.table, found.column) {
            (Some(table), Some((column, purpose))) => format!("{table}.{column} {purpose:?}"),
            (None, Some((column, purpose))) => format!("{column} {purpose:?}"),
            _ if found.is_structure => "structure".to_owned(),
            _ if found.is_bound => "bound".to_owned(),
            _ => "-".to_owned(),
        })
        .collect()
    }

    #[test]
    fn marks_find_their_columns() {
        for (sql, expected) in [
            (
                "SELECT c FROM item WHERE id = ? AND n >= ? LIMIT ?",
                &["item.id Equal", "item.n Bound", "-"][..],
            ),
            (
                "SELECT 1 FROM a x JOIN shop.b AS y ON x.i = y.i WHERE y.k IN (?, ?) AND x.m LIKE ?",
                &["b.k Equal", "b.k Equal", "a.m Equal"],
            ),
            (
                "SELECT 1 FROM t WHERE id BETWEEN ? AND ?",
                &["t.id Bound", "t.id SecondBound"],
            ),
            (
                "UPDATE `t` SET a = ?, b = b + ? WHERE id = ?",
                &["t.a Assigned", "-", "t.id Equal"],
            ),
            (
                "INSERT INTO t (a, b) VALUES (?, ?), (?, NOW())",
                &["t.a Inserted", "t.b Inserted", "t.a Inserted"],
            ),
            ("DELETE FROM t WHERE id = ?", &["t.id Equal"]),
            (
                "SELECT a FROM t WHERE id = ? FOR UPDATE SKIP LOCKED",
                &["t.id Equal"],
            ),
            (
                "INSERT INTO t (a) VALUES (?) ON DUPLICATE KEY UPDATE b = ?",
                &["t.a Inserted", "t.b Assigned"],
            ),
            (
                "SELECT a->>? , GROUP_CONCAT(b SEPARATOR ?) FROM t ORDER BY ?",
                &["structure"; 3],
            ),
            ("SELECT X?, _utf8mb4 ?, DATE ?", &["bound"; 3]),
        ] {
            assert_eq!(found(sql), expected, "{sql}");
        }
        assert_eq!(
            tables_of("SELECT 1 FROM a, b c JOIN d USING (x)"),
            ["a", "b", "d"]
        );
    }
}
