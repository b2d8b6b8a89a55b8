//! Columns of a table by which a statement filters, read from its text.

use weir_mysql::{SqlWord, sql_words};

/// Table of a plan's row, and the columns that the statement compares with something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filter {
    /// Schema, if the statement names it.
    pub(super) schema: Option<String>,
    pub(super) table: String,
    /// Columns compared for equality, then at most one with a range. None if the filter has an `OR` or another query.
    pub(super) columns: Vec<String>,
}

/// Words that end a filter.
const ENDS: [&str; 7] = [
    "GROUP",
    "ORDER",
    "LIMIT",
    "HAVING",
    "UNION",
    "WINDOW",
    "PROCEDURE",
];
/// Words that no alias is.
const NO_ALIAS: [&str; 14] = [
    "WHERE",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "CROSS",
    "STRAIGHT_JOIN",
    "NATURAL",
    "ON",
    "USING",
    "FORCE",
    "USE",
    "IGNORE",
    "PARTITION",
];

/// The table that the statement calls `alias`; `None` if it is not found.
pub(super) fn filter_columns(statement: &str, alias: &str) -> Option<Filter> {
    let words = sql_words(statement);
    let (schema, table) = (0..words.len())
        .filter(|at| {
            words[*at].is_any(&["FROM", "JOIN", "STRAIGHT_JOIN"]) || words[*at].is_sign(',')
        })
        .find_map(|at| named_table(&words[at + 1..], alias))?;
    Some(Filter {
        schema,
        table,
        columns: columns(&words, alias).unwrap_or_default(),
    })
}

/// `[schema.]table [[AS] alias]`.
fn named_table(words: &[SqlWord<'_>], alias: &str) -> Option<(Option<String>, String)> {
    let first = words.first()?.name()?;
    let (schema, table, rest) = match words {
        [_, dot, table, rest @ ..] if dot.is_sign('.') => (Some(first), table.name()?, rest),
        _ => (None, first, &words[1..]),
    };
    let rest = match rest {
        [word, rest @ ..] if word.is("AS") => rest,
        rest => rest,
    };
    let is_alias = |word: &&SqlWord<'_>| !word.is_any(&NO_ALIAS) && !word.is_any(&ENDS);
    let own = rest.first().filter(is_alias).and_then(SqlWord::name);
    let name = own.unwrap_or_else(|| table.clone());
    name.eq_ignore_ascii_case(alias).then_some((schema, table))
}

/// Columns of the filter; `None` where an index on them may not help.
fn columns(words: &[SqlWord<'_>], alias: &str) -> Option<Vec<String>> {
    let start = words.iter().position(|word| word.is("WHERE"))?;
    let filter = &words[start + 1..];
    let end = filter
        .iter()
        .position(|word| word.is_any(&ENDS))
        .unwrap_or(filter.len());
    let filter = &filter[..end];
    if filter
        .iter()
        .any(|word| word.is_any(&["OR", "SELECT", "NOT"]))
    {
        return None;
    }
    let is_joined = words
        .iter()
        .any(|word| word.is_any(&["JOIN", "STRAIGHT_JOIN"]));
    let (mut equal, mut range) = (Vec::new(), None);
    for (at, pair) in filter.windows(2).enumerate() {
        let Some(column) = pair[0].name().filter(|_| !pair[0].is("AND")) else {
            continue;
        };
        let qualifier = match at.checked_sub(2).map(|from| &filter[from..at]) {
            Some([name, dot]) if dot.is_sign('.') => name.name(),
            _ => None,
        };
        let is_own = match &qualifier {
            Some(qualifier) => qualifier.eq_ignore_ascii_case(alias),
            None => !is_joined,
        };
        if !is_own {
            continue;
        }
        if pair[1].is_sign('=') || pair[1].is_any(&["IN", "IS"]) {
            if !equal.contains(&column) {
                equal.push(column);
            }
        } else if pair[1].is_sign('<') || pair[1].is_sign('>') || pair[1].is("BETWEEN") {
            range.get_or_insert(column);
        }
    }
    let range = range.filter(|range| !equal.contains(range));
    equal.extend(range);
    Some(equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(statement: &str, alias: &str) -> (String, Vec<String>) {
        let filter = filter_columns(statement, alias).unwrap();
        let schema = filter.schema.map(|schema| schema + ".").unwrap_or_default();
        (schema + &filter.table, filter.columns)
    }

    fn found(table: &str, columns: &[&str]) -> (String, Vec<String>) {
        let columns = columns.iter().map(|name| (*name).to_owned());
        (table.to_owned(), columns.collect())
    }

    #[test]
    fn columns_of_equality_come_before_one_of_a_range() {
        let read = |sql| filter(sql, "orders");
        assert_eq!(
            read(
                "SELECT * FROM orders WHERE total > 5 AND status = 'new' AND `customer` IN (1, 2) ORDER BY id"
            ),
            found("orders", &["status", "customer", "total"])
        );
        assert_eq!(
            read("SELECT id FROM shop.orders WHERE day BETWEEN 1 AND 2 AND total < 4"),
            found("shop.orders", &["day"])
        );
        assert_eq!(
            read("SELECT id FROM orders WHERE lower(status) = 'new'"),
            found("orders", &[])
        );
        assert_eq!(read("SELECT id FROM orders"), found("orders", &[]));
    }

    #[test]
    fn a_join_counts_what_names_its_table() {
        let sql = "SELECT 1 FROM customers AS c JOIN shop.orders o ON o.customer = c.id WHERE o.status = 1 AND c.city = 'a' AND x = 3";
        assert_eq!(filter(sql, "o"), found("shop.orders", &["status"]));
        assert_eq!(filter(sql, "c"), found("customers", &["city"]));
        assert_eq!(filter_columns(sql, "<derived2>"), None);
    }

    #[test]
    fn a_filter_that_one_index_does_not_serve_has_no_columns() {
        for filtered in ["a = 1 OR b = 2", "a IN (SELECT 1)", "NOT a = 1"] {
            let sql = format!("SELECT 1 FROM t WHERE {filtered}");
            assert_eq!(filter(&sql, "t"), found("t", &[]), "{sql}");
        }
    }
}
