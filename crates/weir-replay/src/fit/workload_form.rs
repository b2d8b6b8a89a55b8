//! A workload's statement as the capture had it: the expressions that a fit writes in the place of a value, evaluated.

use weir_mysql::{SqlWord, sql_words};

/// A value of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expression {
    /// The next parameter.
    Parameter,
    /// It and so much.
    Plus(i64),
    /// It and the one after it.
    Sum,
    /// An integer that stands in the text.
    Constant(i64),
    /// Something else that depends on no parameter.
    Fixed,
}

/// A statement's text with one mark for each value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) fingerprint: String,
    pub(crate) values: Vec<Expression>,
}

/// Takes a workload's statement apart.
pub(crate) fn form(sql: &str) -> Form {
    let words = sql_words(sql);
    let mut text = String::with_capacity(sql.len());
    let mut values = Vec::new();
    let (mut at, mut copied) = (0, 0);
    while at < words.len() {
        let Some((expression, length)) = expression_at(sql, &words[at..]) else {
            at += 1;
            continue;
        };
        text += &sql[copied..words[at].start];
        text.push('?');
        values.push(expression);
        at += length;
        copied = words[at - 1].end;
    }
    text += &sql[copied..];
    Form {
        fingerprint: weir_capture::fingerprint(text.as_bytes()),
        values,
    }
}

/// An expression that a fit writes, and of how many words it is. A fit puts each into parentheses, so that a call of the
/// capture's own statement is none.
fn expression_at(sql: &str, words: &[SqlWord<'_>]) -> Option<(Expression, usize)> {
    let is = |at: usize, sign: char| words.get(at).is_some_and(|word| word.is_sign(sign));
    let text = |at: usize| words.get(at).map_or("", |word| &sql[word.start..word.end]);
    if is(0, '?') {
        return Some((Expression::Parameter, 1));
    }
    if let Some(literal) = literal_at(text(0)) {
        return Some(literal);
    }
    if !is(0, '(') {
        return None;
    }
    if is(1, '?') && is(4, ')') {
        let number = text(3).parse::<i64>().ok();
        return match (text(2), number) {
            ("+", Some(number)) => Some((Expression::Plus(number), 5)),
            ("-", Some(number)) => Some((Expression::Plus(-number), 5)),
            ("+", None) if is(3, '?') => Some((Expression::Sum, 5)),
            ("/" | "*", Some(_)) => Some((Expression::Parameter, 5)),
            _ => None,
        };
    }
    let name = words.get(1)?;
    if name.is("NULL") && is(2, ')') {
        return Some((Expression::Fixed, 3));
    }
    if name.is("LAST_INSERT_ID") && is(3, ')') && is(4, ')') {
        return Some((Expression::Fixed, 5));
    }
    if name.is("NOW") && words.get(5)?.is("INTERVAL") && is(8, ')') {
        return Some((Expression::Fixed, 9));
    }
    if name.is("FROM_UNIXTIME") && is(3, '?') && is(4, ')') && is(5, ')') {
        return Some((Expression::Parameter, 6));
    }
    if name.is("CONCAT") && is(2, '(') {
        let end = words.iter().take(9).position(|word| word.is_sign(')'))?;
        let marks = words[..end].iter().filter(|word| word.is_sign('?')).count();
        return (marks == 1 && is(end + 1, ')')).then_some((Expression::Parameter, end + 2));
    }
    None
}

/// A number or a string that stands in the text, and of how many words it is.
fn literal_at(word: &str) -> Option<(Expression, usize)> {
    let constant = word.parse::<u64>().ok();
    let constant = constant.and_then(|number| i64::try_from(number).ok());
    if let Some(number) = constant {
        return Some((Expression::Constant(number), 1));
    }
    let is_number =
        word.starts_with(|c: char| c.is_ascii_digit() || c == '.') && word.parse::<f64>().is_ok();
    (is_number || word.starts_with(['\'', '"'])).then_some((Expression::Fixed, 1))
}

#[cfg(test)]
mod tests {
    use super::Expression::{Constant, Fixed, Parameter, Plus, Sum};
    use super::*;

    #[test]
    fn expressions_of_a_fit_are_one_value_each() {
        let found = form(
            "SELECT a FROM t WHERE a BETWEEN ? AND (? + 99) AND b > (FROM_UNIXTIME(?)) AND c LIKE (CONCAT(?, '%')) \
             AND d < (NOW() - INTERVAL 60 MINUTE) AND e = (? / 100) AND f BETWEEN ? AND (? + ?) AND g = (? - 5) \
             AND h = (LAST_INSERT_ID())",
        );
        assert_eq!(
            found.fingerprint,
            "select a from t where a between ? and ? and b > ? and c like ? and d < ? and e = ? and f between ? and ? \
             and g = ? and h = ?"
        );
        assert_eq!(
            found.values,
            [
                Parameter,
                Plus(99),
                Parameter,
                Parameter,
                Fixed,
                Parameter,
                Parameter,
                Sum,
                Plus(-5),
                Fixed
            ]
        );
        assert_eq!(form("SELECT COUNT(*) FROM t1").values, []);
        let found = form("INSERT INTO t VALUES (?, (NULL), 7, 'x', 1.5) LIMIT 20, ?");
        let expected = [
            Parameter,
            Fixed,
            Constant(7),
            Fixed,
            Fixed,
            Constant(20),
            Parameter,
        ];
        assert_eq!(found.values, expected);
    }
}
