//! Comments that a server executes, and question marks that have values.

use mysql_common::Value;

use weir_mysql::{Quoting, SqlScan, SqlTokenKind};

/// The text with its executed comments opened. The text in a comment stays if `executes` says so, and is left out
/// otherwise. `executes` gets whether the comment is MariaDB's alone (`/*M!`), and the version in it.
pub fn without_executed_comments(
    sql: &[u8],
    executes: &dyn Fn(bool, Option<u32>) -> bool,
) -> Vec<u8> {
    let mut text = Vec::with_capacity(sql.len());
    let (mut is_left_out, mut last_end) = (false, 0);
    for token in SqlScan::new(sql, Quoting::USUAL) {
        if !is_left_out {
            text.extend(&sql[last_end..token.start]);
        }
        last_end = token.end;
        if token.kind != SqlTokenKind::Executed {
            if !is_left_out {
                text.extend(token.text(sql));
            }
            continue;
        }
        let mark = token.text(sql);
        text.push(b' ');
        is_left_out = if mark == b"*/" {
            false
        } else {
            let is_of_mariadb = mark.starts_with(b"/*M!");
            let digits = mark.iter().filter(|byte| byte.is_ascii_digit());
            let version = digits.fold(None, |version: Option<u32>, digit| {
                let before = version.unwrap_or(0).saturating_mul(10);
                Some(before.saturating_add(u32::from(digit - b'0')))
            });
            !executes(is_of_mariadb, version)
        };
    }
    if !is_left_out {
        text.extend(&sql[last_end..]);
    }
    text
}

/// A prepared statement with its parameters in the places of its question marks; `None`: their numbers differ.
pub fn inlined(sql: &[u8], values: &[Value]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(sql.len() + 16 * values.len());
    let (mut values, mut last_end) = (values.iter(), 0);
    for token in SqlScan::new(sql, Quoting::USUAL) {
        text.extend(&sql[last_end..token.start]);
        last_end = token.end;
        if token.is_sign(sql, b'?') {
            text.extend(values.next()?.as_sql(false).into_bytes());
        } else {
            text.extend(token.text(sql));
        }
    }
    text.extend(&sql[last_end..]);
    values.next().is_none().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_where_their_marks_stood() {
        let values = [Value::Int(5), Value::Bytes(b"it's".to_vec())];
        let text = inlined(b"SELECT '?' FROM t WHERE a = ? AND b = ?", &values).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            r"SELECT '?' FROM t WHERE a = 5 AND b = 'it\'s'"
        );
        assert_eq!(inlined(b"SELECT ?", &values), None);
        assert_eq!(inlined(b"SELECT ?, ?, ?", &values), None);
    }
}
