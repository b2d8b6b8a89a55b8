//! Statements that run when the processlist is looked at, once a second: those that take the time are seen most often.
//!
//! It stands in where the server counts no statements by digest, and gives an example of those that it counts.

use std::collections::BTreeMap;

use weir_mysql::sql_words;

use super::digests::{DigestUse, SHOWN_MAX, Statements};
use super::reader::Reader;
use super::runnable::statement;
use crate::ServerError;

const SOURCE: &str = "SHOW FULL PROCESSLIST";

/// Statements by schema and form.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    looks: f64,
    seen: BTreeMap<(String, String), SeenForm>,
}

/// Statements of one form.
#[derive(Debug, Default)]
struct SeenForm {
    times: f64,
    sample: String,
}

impl Sightings {
    /// Returns true if the account sees the sessions of others; noted where it does not.
    pub(super) fn are_possible(reader: &mut Reader) -> bool {
        let is_permitted = reader.is_granted("PROCESS");
        if !is_permitted {
            reader.note(
                "statements of other accounts",
                "the account sees its own sessions only",
                "GRANT PROCESS ON *.* TO the account",
            );
        }
        is_permitted
    }

    /// Notes what runs now.
    pub(super) fn look(&mut self, reader: &mut Reader) -> Result<(), ServerError> {
        self.looks += 1.0;
        for row in reader.named_rows(SOURCE)? {
            let column = |name: &str| row.get(name).map_or("", String::as_str);
            let (command, info) = (column("Command"), column("Info"));
            if matches!(command, "Query" | "Execute")
                && !info.is_empty()
                && !info.starts_with(SOURCE)
            {
                self.add(column("db"), info);
            }
        }
        Ok(())
    }

    fn add(&mut self, schema: &str, text: &str) {
        let key = (schema.to_owned(), form(text));
        let sighted = self.seen.entry(key).or_default();
        sighted.times += 1.0;
        if sighted.sample.is_empty() {
            text.clone_into(&mut sighted.sample);
        }
    }

    /// A statement with the form of a digest.
    pub(super) fn sample(&self, schema: &str, digest: &str) -> Option<String> {
        let key = (schema.to_owned(), form(digest));
        Some(self.seen.get(&key)?.sample.clone())
    }

    /// The statements with their parts of all sightings.
    pub(super) fn statements(&self) -> Statements {
        // The sum of nothing is -0.
        let times = self.seen.values().map(|sighted| sighted.times);
        let total = times.sum::<f64>() + 0.0;
        let mut digests: Vec<DigestUse> = self
            .seen
            .iter()
            .map(|((schema, form), sighted)| DigestUse {
                schema: schema.clone(),
                digest: String::new(),
                text: form.clone(),
                share: sighted.times / total,
                per_second: None,
                mean_s: None,
                examined_per_row: None,
                no_index: None,
                errors: None,
                sample: Some(sighted.sample.clone()),
            })
            .collect();
        digests.sort_by(|a, b| b.share.total_cmp(&a.share));
        digests.truncate(SHOWN_MAX);
        Statements {
            source: SOURCE,
            running: total / self.looks.max(1.0),
            per_second: None,
            digests,
        }
    }
}

/// A statement, or the text of a digest, without values, quotes of names and lengths of lists.
fn form(text: &str) -> String {
    let statement = statement(text);
    let mut words: Vec<String> = Vec::new();
    for word in sql_words(statement) {
        let text = &statement[word.start..word.end];
        let is_value =
            text.starts_with(|first: char| first.is_ascii_digit() || "'\"?".contains(first));
        if !is_value {
            words.push(text.trim_matches('`').to_ascii_lowercase());
        } else if words.len() >= 2 && words[words.len() - 1] == "," && words[words.len() - 2] == "?"
        {
            words.pop();
        } else {
            words.push("?".to_owned());
        }
    }
    words.join(" ").replace("( . . . )", "( ? )")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_the_form_of_its_digest() {
        for (statement, digest) in [
            (
                "SELECT SUM(total) FROM orders WHERE status = 'x1' AND total > 7",
                "SELECT SUM ( `total` ) FROM `orders` WHERE STATUS = ? AND `total` > ?",
            ),
            (
                "select a from t where b in (1, 2,3)",
                "SELECT `a` FROM `t` WHERE `b` IN (...)",
            ),
        ] {
            assert_eq!(form(statement), form(digest));
        }
    }

    #[test]
    fn what_is_seen_most_often_comes_first() {
        let mut seen = Sightings {
            looks: 4.0,
            ..Sightings::default()
        };
        seen.add("shop", "SELECT 1");
        seen.add("shop", "SELECT a FROM t WHERE b = 5");
        seen.add("shop", "SELECT a FROM t WHERE b = 6");
        let found = seen.statements();
        assert_eq!(found.digests[0].text, "select a from t where b = ?");
        assert!((found.digests[0].share - 2.0 / 3.0).abs() < 1e-9);
        assert!((found.running - 0.75).abs() < 1e-9);
        let sample = seen.sample("shop", "SELECT `a` FROM `t` WHERE `b` = ?");
        assert_eq!(sample.as_deref(), Some("SELECT a FROM t WHERE b = 5"));
    }
}
