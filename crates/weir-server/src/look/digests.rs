//! Statements by digest: the growth of `events_statements_summary_by_digest` within the window.
//!
//! Method: MySQL manual, "Statement Summary Tables"; MariaDB Knowledge Base, "Performance Schema
//! `events_statements_summary_by_digest` Table".

use std::collections::HashMap;
use std::time::Instant;

use serde::Serialize;

use super::reader::Reader;
use crate::ServerError;

const DIGESTS: &str = "performance_schema.events_statements_summary_by_digest";
const SUMS: &str = "COUNT_STAR, SUM_TIMER_WAIT, SUM_ROWS_EXAMINED, SUM_ROWS_SENT, SUM_ROWS_AFFECTED, \
     SUM_NO_INDEX_USED, SUM_LOCK_TIME, SUM_ERRORS";
const PS_PER_S: f64 = 1e12;
/// Forms that a report has.
pub(super) const SHOWN_MAX: usize = 8;
/// A digest that was seen last before the window by more than this has not grown, seconds.
const OLDER_S: u32 = 5;
/// Alias of the look's own statements.
const MARK: &str = "weir_look";

/// Statements of one form, within the window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DigestUse {
    /// Schema of the sessions; empty: none.
    pub schema: String,
    /// The server's name for the form.
    pub digest: String,
    /// The form, without values.
    pub text: String,
    /// Part of the time of all statements.
    pub share: f64,
    /// Executions a second; here and below: if the server counts them.
    pub per_second: Option<f64>,
    /// Mean time of one, seconds.
    pub mean_s: Option<f64>,
    /// Rows that were examined for each row that was sent or changed.
    pub examined_per_row: Option<f64>,
    /// Part of the executions that used no index.
    pub no_index: Option<f64>,
    /// Part of the executions that failed.
    pub errors: Option<f64>,
    /// A statement of this form, if the server keeps one.
    #[serde(skip)]
    pub(super) sample: Option<String>,
}

/// Statements of the window.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Statements {
    /// Table or statement of the server that tells them.
    pub source: &'static str,
    /// Statements that ran at the same time, on average.
    pub running: f64,
    /// Executions a second, if the server counts them.
    pub per_second: Option<f64>,
    /// Forms that took the most time, the longest first.
    pub digests: Vec<DigestUse>,
}

/// Sums of a digest, in the order of [`SUMS`].
type Sums = [f64; 8];
type Key = (String, String);

/// Digests at the beginning of a window.
#[derive(Debug)]
pub(super) struct Digests {
    before: HashMap<Key, Sums>,
    /// The server keeps a statement of each digest.
    pub(super) has_samples: bool,
    at: Instant,
    at_unix_s: u64,
}

/// A digest with its growth.
struct Growth {
    key: Key,
    sums: Sums,
    text: String,
    sample: Option<String>,
}

impl Digests {
    /// Reads the digests; `None` where the server has none, which is noted.
    pub(super) fn start(reader: &mut Reader, is_on: bool) -> Result<Option<Self>, ServerError> {
        let what = "counts of statements";
        if !is_on {
            reader.note_schema_off(what);
            return Ok(None);
        }
        let grant = "GRANT SELECT ON performance_schema.* TO the account";
        let consumers = "SELECT NAME, ENABLED FROM performance_schema.setup_consumers weir_look WHERE NAME IN \
             ('statements_digest', 'global_instrumentation', 'thread_instrumentation')";
        let answer = reader.pairs(consumers);
        let Some(consumers) = reader.if_permitted(what, grant, answer)? else {
            return Ok(None);
        };
        if consumers.values().any(|enabled| enabled != "YES") {
            reader.note(
                what,
                "a consumer of performance_schema is off",
                "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ('statements_digest', \
                 'global_instrumentation', 'thread_instrumentation')",
            );
            return Ok(None);
        }
        let has_samples = reader.is_mysql_from((8, 0, 3));
        let clock: Vec<(u64,)> = reader.rows("SELECT UNIX_TIMESTAMP() weir_look")?;
        let query = format!(
            "SELECT IFNULL(SCHEMA_NAME, ''), IFNULL(DIGEST, ''), {SUMS} FROM {DIGESTS} {MARK}"
        );
        let answer = rows(reader, &query);
        let before = reader.if_permitted(what, grant, answer)?;
        Ok(before.map(|before| Self {
            before: before.into_iter().map(|row| (row.key, row.sums)).collect(),
            has_samples,
            at: Instant::now(),
            at_unix_s: clock.first().map_or(0, |(now,)| *now),
        }))
    }

    /// The statements since the beginning.
    pub(super) fn end(&self, reader: &mut Reader) -> Result<Statements, ServerError> {
        let seconds = self.at.elapsed().as_secs_f64();
        let sample = if self.has_samples {
            "QUERY_SAMPLE_TEXT"
        } else {
            "NULL"
        };
        let query = format!(
            "SELECT IFNULL(SCHEMA_NAME, ''), IFNULL(DIGEST, ''), {SUMS}, DIGEST_TEXT, {sample} FROM {DIGESTS} {MARK} \
             WHERE LAST_SEEN >= FROM_UNIXTIME({})",
            self.at_unix_s.saturating_sub(u64::from(OLDER_S))
        );
        let mut grown = rows(reader, &query)?;
        for row in &mut grown {
            let before = self.before.get(&row.key).copied().unwrap_or_default();
            // Another session may have emptied the table.
            if row.sums[0] >= before[0] {
                for (sum, before) in row.sums.iter_mut().zip(before) {
                    *sum = (*sum - before).max(0.0);
                }
            }
        }
        grown.retain(|row| row.sums[0] > 0.0 && !is_own(&row.text));
        Ok(statements(grown, seconds))
    }
}

fn rows(reader: &mut Reader, query: &str) -> Result<Vec<Growth>, ServerError> {
    let rows: Vec<weir_mysql::Row> = reader.rows(query)?;
    let text = |row: &weir_mysql::Row, at: usize| -> Option<String> {
        let bytes: Option<Vec<u8>> = row.get_opt(at)?.ok()?;
        bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let number = |row: &weir_mysql::Row, at: usize| -> f64 {
        row.get_opt(at).and_then(Result::ok).unwrap_or_default()
    };
    Ok(rows
        .iter()
        .map(|row| Growth {
            key: (
                text(row, 0).unwrap_or_default(),
                text(row, 1).unwrap_or_default(),
            ),
            sums: std::array::from_fn(|sum| number(row, sum + 2)),
            text: text(row, 10).unwrap_or_default(),
            // A text that is cut is no statement.
            sample: text(row, 11).filter(|text| !text.ends_with("...")),
        })
        .collect())
}

/// Returns true for a statement of the look.
fn is_own(text: &str) -> bool {
    text.contains(MARK) || matches!(text, "SHOW FULL PROCESSLIST" | "SHOW FULL PROCESSLIST ")
}

fn statements(grown: Vec<Growth>, seconds: f64) -> Statements {
    // The sum of nothing is -0.
    let total = grown.iter().map(|row| row.sums[1]).sum::<f64>() + 0.0;
    let count = grown.iter().map(|row| row.sums[0]).sum::<f64>() + 0.0;
    let mut digests: Vec<DigestUse> = grown
        .into_iter()
        .map(|row| {
            let [
                count,
                time,
                examined,
                sent,
                affected,
                no_index,
                _lock,
                errors,
            ] = row.sums;
            DigestUse {
                schema: row.key.0,
                digest: row.key.1,
                text: row.text,
                share: if total > 0.0 { time / total } else { 0.0 },
                per_second: Some(count / seconds),
                mean_s: Some(time / PS_PER_S / count),
                // MariaDB 10.2 has 0 rows for statements that read some.
                examined_per_row: (examined > 0.0 || no_index == 0.0)
                    .then(|| examined / (sent + affected).max(1.0)),
                no_index: Some(no_index / count),
                errors: Some(errors / count),
                sample: row.sample,
            }
        })
        .collect();
    digests.sort_by(|a, b| b.share.total_cmp(&a.share));
    digests.truncate(SHOWN_MAX);
    Statements {
        source: DIGESTS,
        running: total / PS_PER_S / seconds,
        per_second: Some(count / seconds),
        digests,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_comes_first_with_its_part_of_the_time() {
        let row = |digest: &str, count: f64, time_ps: f64| Growth {
            key: ("shop".to_owned(), digest.to_owned()),
            sums: [count, time_ps, 100.0 * count, count, 0.0, count, 0.0, 0.0],
            text: digest.to_owned(),
            sample: None,
        };
        let found = statements(
            vec![row("short", 100.0, 1e12), row("long", 10.0, 3e12)],
            10.0,
        );
        assert!((found.running - 0.4).abs() < 1e-9);
        assert_eq!(found.per_second, Some(11.0));
        let long = &found.digests[0];
        assert_eq!(long.text, "long");
        assert!((long.share - 0.75).abs() < 1e-9);
        assert_eq!(
            (long.mean_s, long.examined_per_row, long.no_index),
            (Some(0.3), Some(100.0), Some(1.0))
        );
    }
}
