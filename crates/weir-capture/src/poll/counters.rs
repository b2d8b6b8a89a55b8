//! Counters of a server at the beginning and at the end of a capture: digests, or the number of questions.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use weir_mysql::Connection;

use super::event::{EXECUTION, UNTOLD};
use super::mark::is_marked;
use super::setup::Setup;
use crate::{CaptureError, CountedKind};

/// A digest whose last statement is so much older than the capture is not read, seconds: servers round the time.
const OLDER_S: i64 = 2;
const DIGESTS: &str = "performance_schema.events_statements_summary_by_digest";

/// Key of a digest: the schema and the digest; both empty for those that have no room of their own.
pub(super) type DigestKey = (String, String);

/// Counters at the beginning.
#[derive(Debug)]
pub(super) enum Counters {
    /// Executions and picoseconds by digest.
    Digests {
        before: HashMap<DigestKey, (u64, u64)>,
        /// Executions of prepared statements are counted apart.
        has_untold: bool,
        has_samples: bool,
        began_s: i64,
    },
    /// The server has no digests.
    Questions(Questions),
}

/// Statements that clients have sent: all, and the poll's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Questions {
    all: u64,
    own: u64,
}

/// Growth of the counters up to the end.
#[derive(Debug, Default)]
pub(super) struct CountersAfter {
    /// Statements that clients sent.
    pub(super) questions: u64,
    /// Digests; `None`: the server has none.
    pub(super) digests: Option<Vec<DigestCount>>,
    /// A counter has become smaller: somebody emptied the table.
    pub(super) are_emptied: bool,
}

/// A digest's statements in the time of the capture.
#[derive(Debug)]
pub(super) struct DigestCount {
    pub(super) key: DigestKey,
    /// Text without literals; `None` for those without room of their own.
    pub(super) text: Option<String>,
    pub(super) count: u64,
    pub(super) took_ps: u64,
    pub(super) sample: Option<Vec<u8>>,
}

type Digest = (String, String, u64, u64, Option<String>, Option<Vec<u8>>);

impl Counters {
    pub(super) fn read(
        connection: &mut Connection,
        setup: &Setup,
        began_unix_us: i64,
    ) -> Result<Self, CaptureError> {
        if !setup.has_digests {
            return Questions::read(connection).map(Self::Questions);
        }
        let query = format!(
            "SELECT IFNULL(SCHEMA_NAME, '') weir_poll, IFNULL(DIGEST, ''), COUNT_STAR, SUM_TIMER_WAIT FROM {DIGESTS}{}",
            untold(setup.has_untold, "")
        );
        let mut before = HashMap::new();
        connection.each(&query, |(schema, digest, count, took_ps)| {
            before.insert((schema, digest), (count, took_ps));
        })?;
        Ok(Self::Digests {
            before,
            has_untold: setup.has_untold,
            has_samples: setup.has_samples,
            began_s: began_unix_us / 1_000_000,
        })
    }

    /// Reads the counters again, as they have grown.
    pub(super) fn read_again(
        &self,
        connection: &mut Connection,
    ) -> Result<CountersAfter, CaptureError> {
        let (before, has_untold, has_samples, began_s) = match self {
            Self::Digests {
                before,
                has_untold,
                has_samples,
                began_s,
            } => (before, *has_untold, *has_samples, *began_s),
            Self::Questions(before) => return before.read_again(connection),
        };
        let sample = if has_samples {
            "QUERY_SAMPLE_TEXT"
        } else {
            "NULL"
        };
        let query = format!(
            "SELECT IFNULL(SCHEMA_NAME, '') weir_poll, IFNULL(DIGEST, ''), COUNT_STAR, SUM_TIMER_WAIT, DIGEST_TEXT, \
             {sample} FROM {DIGESTS} WHERE UNIX_TIMESTAMP(LAST_SEEN) >= {}{}",
            began_s - OLDER_S,
            untold(has_untold, &format!(", '{UNTOLD}', NULL"))
        );
        let (mut digests, mut are_emptied) = (Vec::new(), false);
        connection.each(
            &query,
            |(schema, digest, count, took_ps, text, sample): Digest| {
                let key = (schema, digest);
                let (count_before, took_before) = before.get(&key).copied().unwrap_or_default();
                are_emptied |= count < count_before;
                let is_own = text
                    .as_deref()
                    .is_some_and(|text| is_marked(text.as_bytes()));
                if count > count_before && !is_own {
                    digests.push(DigestCount {
                        key,
                        text,
                        count: count - count_before,
                        took_ps: took_ps.saturating_sub(took_before),
                        sample: sample.filter(|text| !text.ends_with(b"...")),
                    });
                }
            },
        )?;
        Ok(CountersAfter {
            questions: 0,
            digests: Some(digests),
            are_emptied,
        })
    }
}

/// Returns a further row of a query of digests, for executions of prepared statements.
fn untold(is_wanted: bool, columns: &str) -> String {
    if !is_wanted {
        return String::new();
    }
    format!(
        " UNION ALL SELECT '', '{UNTOLD}', COUNT_STAR, SUM_TIMER_WAIT{columns} \
         FROM performance_schema.events_statements_summary_global_by_event_name WHERE EVENT_NAME = '{EXECUTION}'"
    )
}

/// Returns the key of a statement's digest.
pub(super) fn digest_key(schema: &str, digest: &str) -> DigestKey {
    let schema = if digest == UNTOLD { "" } else { schema };
    (schema.to_owned(), digest.to_owned())
}

impl Questions {
    fn read(connection: &mut Connection) -> Result<Self, CaptureError> {
        let mut read = |scope: &str| {
            let found: Option<(String, u64)> =
                connection.first(format!("SHOW {scope} STATUS LIKE 'Questions'"))?;
            Ok::<_, CaptureError>(found.map_or(0, |(_, count)| count))
        };
        Ok(Self {
            all: read("GLOBAL")?,
            own: read("SESSION")?,
        })
    }

    fn read_again(self, connection: &mut Connection) -> Result<CountersAfter, CaptureError> {
        let after = Self::read(connection)?;
        let all = after.all.checked_sub(self.all);
        Ok(CountersAfter {
            questions: all.unwrap_or(0).saturating_sub(after.own - self.own),
            digests: None,
            are_emptied: all.is_none(),
        })
    }
}

impl DigestCount {
    /// Returns a text with the form of its statements: one that was seen, the sample, or the one without literals.
    pub(super) fn form<'a>(&'a self, seen: Option<&'a [u8]>) -> Cow<'a, [u8]> {
        match (seen.or(self.sample.as_deref()), &self.text) {
            (Some(statement), _) => Cow::Borrowed(statement),
            (None, Some(text)) => Cow::Owned(without_marks(text).into_bytes()),
            (None, None) => Cow::Borrowed(b"(statements without a digest of their own)"),
        }
    }
}

/// The text of a digest as a statement: plain names without quotes, and a list of values for `(...)`.
fn without_marks(digest: &str) -> String {
    let mut text = String::with_capacity(digest.len());
    let is_plain = |name: &str| {
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        name.starts_with(is_first) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    for (position, part) in digest.split('`').enumerate() {
        if position % 2 == 0 {
            let part = part.replace(" , ...", "").replace(", ...", "");
            text += &part.replace("(...)", "(?)");
        } else if is_plain(part) {
            text += part;
        } else {
            text.extend(["`", part, "`"]);
        }
    }
    text
}

/// Kinds of one text and schema as one.
pub(super) fn merged(kinds: Vec<CountedKind>) -> Vec<CountedKind> {
    let mut all: BTreeMap<(String, String), CountedKind> = BTreeMap::new();
    for kind in kinds {
        let key = (kind.text.clone(), kind.schema.clone());
        match all.get_mut(&key) {
            Some(found) => found.add(&kind),
            None => {
                all.insert(key, kind);
            }
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;

    #[test]
    fn a_digest_reads_like_its_statements() {
        for (digest, sql) in [
            (
                "SELECT `c` FROM `sbtest1` WHERE `id` = ?",
                "SELECT c FROM sbtest1 WHERE id = 5",
            ),
            (
                "SELECT * FROM `t` WHERE `a` IN (...)",
                "SELECT * FROM t WHERE a IN (1, 2)",
            ),
            (
                "INSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */",
                "INSERT INTO t (a, b) VALUES (1, 2), (3, 4)",
            ),
            (
                "SELECT `order`.`a b` FROM `order`",
                "SELECT order.`a b` FROM order",
            ),
        ] {
            let found = fingerprint(without_marks(digest).as_bytes());
            assert_eq!(found, fingerprint(sql.as_bytes()), "{digest}");
        }
    }
}
