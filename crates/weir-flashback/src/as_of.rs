//! `AS OF TIMESTAMP` in a statement: found, and taken out or turned into what `MariaDB` says.
//!
//! Only these clauses are read; the rest goes to a server as it is.

use weir_mysql::{SqlWord, sql_words};

use crate::moment::MomentRequest;
use crate::{FlashbackError, TableName};

/// Functions and variables that say something else each time: a condition with one is not used to read less.
const CHANGING: [&str; 14] = [
    "RAND",
    "UUID",
    "UUID_SHORT",
    "NOW",
    "SYSDATE",
    "CURDATE",
    "CURTIME",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "UNIX_TIMESTAMP",
    "FROM_UNIXTIME",
];
/// Words that end a condition.
const AFTER_CONDITION: [&str; 10] = [
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "WINDOW",
    "UNION",
    "FOR",
    "INTO",
    "PROCEDURE",
    "EXCEPT",
];

/// A statement on tables as of a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsOfStatement {
    /// Without the clauses.
    pub plain: String,
    /// The moment; all clauses name the same.
    pub asked: MomentRequest,
    /// The tables, each once.
    pub tables: Vec<TableName>,
    /// With `FOR SYSTEM_TIME` before each clause, as `MariaDB` wants it for versioned tables.
    pub versioned: String,
    /// The condition of a statement on one table and nothing else, with the alias before it.
    condition: Option<Condition>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    alias: String,
    text: String,
    names: Vec<String>,
}

impl AsOfStatement {
    /// Reads `sql`; tables without a schema are of `schema`.
    ///
    /// # Errors
    ///
    /// No clause, or several moments.
    pub fn read(sql: &str, schema: &str) -> Result<Self, FlashbackError> {
        let words = sql_words(sql);
        if words.iter().any(SqlWord::is_unreadable) {
            return Err(statement(
                "has a quote that does not close or an executed comment",
            ));
        }
        let mut found: Vec<Clause> = Vec::new();
        for at in 0..words.len().saturating_sub(2) {
            let is_clause = words[at].is("AS") && words[at + 1].is("OF");
            if is_clause && words[at + 2].is("TIMESTAMP") {
                found.push(Clause::read(sql, &words, at, schema)?);
            }
        }
        let Some(first) = found.first() else {
            return Err(statement("says of no table AS OF TIMESTAMP"));
        };
        if found.iter().any(|clause| clause.asked != first.asked) {
            return Err(statement("names several times, and an answer is as of one"));
        }
        let mut plain = sql.to_owned();
        let mut versioned = sql.to_owned();
        for clause in found.iter().rev() {
            plain.replace_range(clause.start..clause.end, "");
            versioned.insert_str(clause.start, "FOR SYSTEM_TIME ");
        }
        let mut tables: Vec<TableName> = found.iter().map(|clause| clause.table.clone()).collect();
        tables.sort();
        tables.dedup();
        Ok(Self {
            condition: condition(sql, &words, &found),
            plain,
            versioned,
            asked: first.asked.clone(),
            tables,
        })
    }

    /// Returns the text to add to a query of the only table so that it reads no more rows than the statement needs. The
    /// text is empty if that is not certain. A row that the log does not have meets the condition now if it did then.
    pub fn clause(&self, times: &[&str]) -> String {
        let Some(condition) = &self.condition else {
            return String::new();
        };
        // Its session may have another time zone than the statement's.
        let is_of_time = |name: &String| times.iter().any(|time| time.eq_ignore_ascii_case(name));
        if condition.names.iter().any(is_of_time) {
            return String::new();
        }
        format!(" {} WHERE {}", condition.alias, condition.text)
    }
}

struct Clause {
    table: TableName,
    asked: MomentRequest,
    start: usize,
    end: usize,
    /// The number of the word after it.
    next: usize,
}

impl Clause {
    /// The clause whose `AS` is the word `at`; before it stands the table.
    fn read(
        sql: &str,
        words: &[SqlWord<'_>],
        at: usize,
        schema: &str,
    ) -> Result<Self, FlashbackError> {
        let named = |at: usize| words.get(at).and_then(SqlWord::name);
        let name = at.checked_sub(1).and_then(named);
        let name =
            name.ok_or_else(|| statement("has AS OF TIMESTAMP without a table before it"))?;
        let schema = match at {
            3.. if words[at - 2].is_sign('.') => named(at - 3).unwrap_or_default(),
            _ => schema.to_owned(),
        };
        let (asked, next) = moment(sql, words, at + 3)?;
        Ok(Self {
            table: TableName {
                schema,
                table: name,
            },
            asked,
            start: words[at].start,
            end: words[next - 1].end,
            next,
        })
    }
}

/// Parses the moment after `TIMESTAMP`: a string, or `NOW() - INTERVAL 5 MINUTE`, or an expression in parentheses.
fn moment(
    sql: &str,
    words: &[SqlWord<'_>],
    at: usize,
) -> Result<(MomentRequest, usize), FlashbackError> {
    let no_moment = || statement("does not say a time after AS OF TIMESTAMP");
    let first = words.get(at).ok_or_else(no_moment)?;
    if let Some(text) = first.text() {
        return Ok((MomentRequest::read(text), at + 1));
    }
    let text =
        |end: usize| MomentRequest::Expression(sql[first.start..words[end - 1].end].to_owned());
    if first.is_sign('(') {
        let end = after_parentheses(words, at).ok_or_else(no_moment)?;
        return Ok((text(end), end));
    }
    let has_call = words.get(at + 1).is_some_and(|word| word.is_sign('('));
    if first.name().is_none() || !has_call {
        return Err(no_moment());
    }
    let end = after_parentheses(words, at + 1).ok_or_else(no_moment)?;
    let is_shifted = words.get(end).is_some_and(|word| word.is_sign('-'))
        && words.get(end + 1).is_some_and(|word| word.is("INTERVAL"));
    let end = if is_shifted { end + 4 } else { end };
    if end > words.len() {
        return Err(no_moment());
    }
    Ok((text(end), end))
}

/// The number of the word after the parenthesis that closes the one at `at`.
fn after_parentheses(words: &[SqlWord<'_>], at: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (number, word) in words.iter().enumerate().skip(at) {
        if word.is_sign('(') {
            depth += 1;
        } else if word.is_sign(')') {
            depth -= 1;
            if depth == 0 {
                return Some(number + 1);
            }
        }
    }
    None
}

/// The condition, if the statement is `SELECT ... FROM one table AS OF ... [alias] WHERE condition ...`.
fn condition(sql: &str, words: &[SqlWord<'_>], clauses: &[Clause]) -> Option<Condition> {
    let [only] = clauses else { return None };
    let count = |keyword: &str| words.iter().filter(|word| word.is(keyword)).count();
    let is_simple = count("SELECT") == 1
        && count("FROM") == 1
        && count("WHERE") == 1
        && !words
            .iter()
            .any(|word| word.is_any(&["JOIN", "TABLE", "WITH"]));
    let at = words.iter().position(|word| word.is("WHERE"))?;
    // Between the clause and WHERE stands an alias at most.
    let between = words.get(only.next..at)?;
    let alias = match between {
        [] => String::new(),
        [alias] => sql[alias.start..alias.end].to_owned(),
        [word, alias] if word.is("AS") => sql[alias.start..alias.end].to_owned(),
        _ => return None,
    };
    let rest = &words[at + 1..];
    let end = rest
        .iter()
        .position(|word| word.is_any(&AFTER_CONDITION) || word.is_sign(';'))
        .unwrap_or(rest.len());
    let chosen = rest.get(..end)?;
    let is_steady = !chosen
        .iter()
        .any(|word| word.is_any(&CHANGING) || sql[word.start..word.end].starts_with('@'));
    // The query that reads has no schema of its own: a qualified column would need the alias.
    let is_qualified = alias.is_empty() && chosen.iter().any(|word| word.is_sign('.'));
    let (first, last) = (chosen.first()?, chosen.last()?);
    (is_simple && is_steady && !is_qualified).then(|| Condition {
        alias,
        text: sql[first.start..last.end].to_owned(),
        names: chosen.iter().filter_map(SqlWord::name).collect(),
    })
}

fn statement(why: &str) -> FlashbackError {
    FlashbackError::Statement {
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str) -> AsOfStatement {
        AsOfStatement::read(sql, "shop").unwrap()
    }

    #[test]
    fn clauses_are_taken_out_and_the_rest_stays() {
        let one = read(
            "SELECT id FROM crm.orders AS OF TIMESTAMP '2026-11-24 14:02:00' o WHERE o.id BETWEEN 7 AND 90 LIMIT 5",
        );
        assert_eq!(
            one.plain,
            "SELECT id FROM crm.orders  o WHERE o.id BETWEEN 7 AND 90 LIMIT 5"
        );
        assert_eq!(one.tables[0].to_string(), "crm.orders");
        assert_eq!(
            one.asked,
            MomentRequest::Time("2026-11-24 14:02:00".to_owned())
        );
        assert_eq!(one.clause(&[]), " o WHERE o.id BETWEEN 7 AND 90");
        assert_eq!(one.clause(&["ID"]), "");
        assert!(
            one.versioned
                .contains("orders FOR SYSTEM_TIME AS OF TIMESTAMP '")
        );
        let two = read(
            "SELECT * FROM `a` AS OF TIMESTAMP NOW() - INTERVAL 5 MINUTE JOIN b AS OF TIMESTAMP NOW() - INTERVAL 5 MINUTE x USING (id) WHERE 1",
        );
        assert_eq!(two.plain, "SELECT * FROM `a`  JOIN b  x USING (id) WHERE 1");
        assert_eq!(
            two.asked,
            MomentRequest::Expression("NOW() - INTERVAL 5 MINUTE".to_owned())
        );
        assert_eq!(two.tables.len(), 2);
        assert_eq!(two.clause(&[]), "");
    }

    #[test]
    fn conditions_are_used_only_where_that_is_certain() {
        for (sql, clause) in [
            (
                "SELECT 1 FROM t AS OF TIMESTAMP 'x' WHERE a IN (1, 2) ORDER BY a",
                " WHERE a IN (1, 2)",
            ),
            ("SELECT 1 FROM t AS OF TIMESTAMP 'x'", ""),
            ("SELECT 1 FROM t AS OF TIMESTAMP 'x' WHERE a < RAND()", ""),
            ("SELECT 1 FROM t AS OF TIMESTAMP 'x' WHERE a = @b", ""),
            ("SELECT 1 FROM t AS OF TIMESTAMP 'x', u WHERE a = 1", ""),
            (
                "SELECT 1 FROM t AS OF TIMESTAMP 'x' WHERE a = (SELECT 1 FROM t)",
                "",
            ),
            ("SELECT 1 FROM t AS OF TIMESTAMP 'x' WHERE t.a = 1", ""),
        ] {
            assert_eq!(
                read(sql).clause(&[]).trim_start(),
                clause.trim_start(),
                "{sql}"
            );
        }
    }

    #[test]
    fn what_names_no_moment_or_several_is_refused() {
        for sql in [
            "SELECT 1 FROM t",
            "SELECT 1 FROM t AS OF TIMESTAMP",
            "SELECT 1 FROM t AS OF TIMESTAMP 5",
            "SELECT 1 FROM t AS OF TIMESTAMP 'a' JOIN u AS OF TIMESTAMP 'b'",
            "SELECT 1 FROM t AS OF TIMESTAMP 'a",
        ] {
            let error = AsOfStatement::read(sql, "shop").unwrap_err().to_string();
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
