//! Columns of a row that the parameters of an `INSERT` become.

use super::StatementText;
use crate::gate::Token;

/// A parameter whose value becomes that of a column, as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertedColumn {
    /// The table; its schema is the connection's.
    pub table: String,
    /// The column.
    pub column: String,
    /// Position of the parameter, from 0.
    pub parameter: usize,
}

impl StatementText {
    /// The parameters that an `INSERT` with named columns puts into rows; none of other statements, or of a table
    /// whose schema is named.
    pub fn inserted_columns(&self) -> Vec<InsertedColumn> {
        let tokens = self.tokens();
        let is_insert = tokens.first().is_some_and(|token| token.is("INSERT"));
        if !is_insert {
            return Vec::new();
        }
        of_insert(&tokens).unwrap_or_default()
    }
}

/// Words between `INSERT` and the table.
const MODIFIERS: [&str; 5] = ["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "INTO"];

fn of_insert(tokens: &[Token<'_>]) -> Option<Vec<InsertedColumn>> {
    let is_modifier = |token: &&Token<'_>| token.is_any(&MODIFIERS);
    let start = 1 + tokens[1..].iter().take_while(is_modifier).count();
    let table = tokens.get(start)?.name()?;
    let rest = &tokens[start + 1..];
    let inserted = |(column, parameter): (&str, usize)| InsertedColumn {
        table: table.to_owned(),
        column: column.to_owned(),
        parameter,
    };
    let pairs = match rest {
        [Token::Sign('('), rest @ ..] => of_rows(rest)?,
        [set, rest @ ..] if set.is("SET") => of_assignments(rest),
        _ => return None,
    };
    Some(pairs.into_iter().map(inserted).collect())
}

/// `a, b) VALUES (?, ?), (?, ?)`: columns with the parameters that stand alone in their place.
fn of_rows<'a>(tokens: &[Token<'a>]) -> Option<Vec<(&'a str, usize)>> {
    let end = tokens.iter().position(|token| *token == Token::Sign(')'))?;
    let names = tokens[..end].iter().filter_map(|token| token.name());
    let columns: Vec<_> = names.collect();
    let (values, rows) = tokens[end + 1..].split_first()?;
    if !values.is_any(&["VALUES", "VALUE"]) {
        return None;
    }
    let mut pairs = Vec::new();
    let (mut depth, mut column, mut parameter) = (0_u32, 0, 0);
    for (at, token) in rows.iter().enumerate() {
        match token {
            Token::Sign('(') => {
                depth += 1;
                column = if depth == 1 { 0 } else { column };
            }
            Token::Sign(')') => depth = depth.checked_sub(1)?,
            Token::Sign(',') if depth == 1 => column += 1,
            Token::Sign('?') => {
                let is_alone = at > 0
                    && matches!(rows[at - 1], Token::Sign('(' | ','))
                    && matches!(rows.get(at + 1), Some(Token::Sign(')' | ',')));
                if let (true, 1, Some(name)) = (is_alone, depth, columns.get(column)) {
                    pairs.push((*name, parameter));
                }
                parameter += 1;
            }
            // What follows the rows is not theirs.
            Token::Word(_) if depth == 0 => break,
            _ => {}
        }
    }
    Some(pairs)
}

/// `a = ?, b = ? + 1`: columns with the parameters that stand alone.
fn of_assignments<'a>(tokens: &[Token<'a>]) -> Vec<(&'a str, usize)> {
    let mut pairs = Vec::new();
    let mut parameter = 0;
    for (at, token) in tokens.iter().enumerate() {
        if *token != Token::Sign('?') {
            continue;
        }
        let is_last = tokens
            .get(at + 1)
            .is_none_or(|next| *next == Token::Sign(','));
        let name = at.checked_sub(2).and_then(|before| tokens[before].name());
        let is_assigned = at > 0 && tokens[at - 1] == Token::Sign('=');
        if let (true, true, Some(name)) = (is_last, is_assigned, name) {
            pairs.push((name, parameter));
        }
        parameter += 1;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserted(sql: &str) -> Vec<(String, String, usize)> {
        let found = StatementText::read(sql).inserted_columns().into_iter();
        found.map(|c| (c.table, c.column, c.parameter)).collect()
    }

    fn expected(table: &str, columns: &[(&str, usize)]) -> Vec<(String, String, usize)> {
        let columns = columns.iter();
        columns
            .map(|(column, parameter)| (table.to_owned(), (*column).to_owned(), *parameter))
            .collect()
    }

    #[test]
    fn parameters_that_stand_alone_are_values_of_columns() {
        let found = inserted("INSERT INTO t (id, k, c) VALUES (?, ? + 1, ?)");
        assert_eq!(found, expected("t", &[("id", 0), ("c", 2)]));
        let found = inserted("insert ignore into `t` (`a b`, c) values (f(?, 2), ?), (?, ?);");
        assert_eq!(found, expected("t", &[("c", 1), ("a b", 2), ("c", 3)]));
        let found = inserted("INSERT t SET id = ?, k = ? + 1, c = ?");
        assert_eq!(found, expected("t", &[("id", 0), ("c", 2)]));
        let found = inserted("INSERT INTO t (id) VALUES (?) ON DUPLICATE KEY UPDATE id = ?");
        assert_eq!(found, expected("t", &[("id", 0)]));
    }

    #[test]
    fn other_statements_have_none() {
        for sql in [
            "UPDATE t SET id = ?",
            "INSERT INTO other.t (id) VALUES (?)",
            "INSERT INTO t VALUES (?)",
            "INSERT INTO t (id) SELECT ?",
            "INSERT",
            "INSERT INTO t (",
            "INSERT INTO t (id) VALUES )",
            "",
        ] {
            assert_eq!(inserted(sql), [], "{sql}");
        }
    }
}
