//! Waits by the tables of `performance_schema`: how many sessions wait for what, on average.
//!
//! Method: MySQL manual, "Wait Event Summary Tables". Counted are the instruments that are on. Waits of idle threads are
//! left out: sockets, and conditions on which background threads wait for work.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use super::reader::Reader;
use crate::ServerError;

const SUMMARY: &str = "performance_schema.events_waits_summary_global_by_event_name";
const PS_PER_S: f64 = 1e12;
/// Fewer sessions than this wait for nothing worth a line.
const SESSIONS_MIN: f64 = 0.005;
const SHOWN_MAX: usize = 6;

/// Words for events, by how their names begin.
const WORDS: &[(&str, &str)] = &[
    ("wait/io/file/innodb/innodb_data_file", "data files"),
    ("wait/io/file/innodb/innodb_log_file", "redo log"),
    ("wait/io/file/innodb/innodb_dblwr_file", "doublewrite files"),
    ("wait/io/file/innodb/innodb_temp_file", "temporary files"),
    ("wait/io/file/sql/binlog", "binary log"),
    ("wait/io/file/sql/relaylog", "relay log"),
    ("wait/io/file/", "other files"),
    (
        "wait/io/table/",
        "tables, with the reads and row locks of their rows",
    ),
    ("wait/lock/metadata/", "metadata locks"),
    ("wait/lock/table/", "table locks"),
    ("wait/synch/", "latches"),
];

/// A wait.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Wait {
    /// The server's event.
    pub event: String,
    /// Words for it.
    pub name: &'static str,
    /// Sessions and background threads that wait for it, on average.
    pub sessions: f64,
    /// Waits a second.
    pub per_second: f64,
    /// Mean of a wait, seconds.
    pub mean_s: f64,
}

/// Event -> waits and picoseconds.
type Sums = BTreeMap<String, (f64, f64)>;

/// Waits at the beginning of a window.
#[derive(Debug)]
pub(super) struct WaitEvents {
    before: Sums,
    at: Instant,
}

impl WaitEvents {
    /// Reads the waits; `None` where the server shows none, which is noted.
    pub(super) fn start(reader: &mut Reader, is_on: bool) -> Result<Option<Self>, ServerError> {
        let what = "waits";
        if !is_on {
            reader.note_schema_off(what);
            return Ok(None);
        }
        let instruments = "SELECT COUNT(*) FROM performance_schema.setup_instruments weir_look WHERE \
             (NAME LIKE 'wait/io/%' OR NAME LIKE 'wait/lock/%') AND ENABLED = 'YES' AND TIMED = 'YES' AND \
             (SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'global_instrumentation') = 'YES'";
        let grant = "GRANT SELECT ON performance_schema.* TO the account";
        let answer = reader.rows::<(u64,)>(instruments);
        let Some(count) = reader.if_permitted(what, grant, answer)? else {
            return Ok(None);
        };
        if count.first().is_none_or(|(count,)| *count == 0) {
            reader.note(
                what,
                "the instruments wait/io/% and wait/lock/% or the consumer global_instrumentation are off",
                "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE \
                 'wait/io/%' OR NAME LIKE 'wait/lock/%'",
            );
            return Ok(None);
        }
        let answer = read(reader);
        let before = reader.if_permitted(what, grant, answer)?;
        Ok(before.map(|before| Self {
            before,
            at: Instant::now(),
        }))
    }

    /// The waits since the beginning, the longest first.
    pub(super) fn end(&self, reader: &mut Reader) -> Result<Vec<Wait>, ServerError> {
        let after = read(reader)?;
        Ok(waits(&self.before, &after, self.at.elapsed().as_secs_f64()))
    }
}

fn read(reader: &mut Reader) -> Result<Sums, ServerError> {
    let query = format!(
        "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM {SUMMARY} weir_look WHERE COUNT_STAR > 0 AND \
         EVENT_NAME LIKE 'wait/%'"
    );
    let rows: Vec<(String, f64, f64)> = reader.rows(&query)?;
    Ok(rows
        .into_iter()
        .map(|(event, count, time_ps)| (event, (count, time_ps)))
        .collect())
}

fn waits(before: &Sums, after: &Sums, seconds: f64) -> Vec<Wait> {
    let mut waits: Vec<Wait> = after
        .iter()
        .filter_map(|(event, (count, time_ps))| {
            let (count_before, time_before) = before.get(event).copied().unwrap_or_default();
            let (count, time_s) = (count - count_before, (time_ps - time_before) / PS_PER_S);
            let name = words(event)?;
            (count > 0.0 && time_s / seconds >= SESSIONS_MIN).then(|| Wait {
                event: event.clone(),
                name,
                sessions: time_s / seconds,
                per_second: count / seconds,
                mean_s: time_s / count,
            })
        })
        .collect();
    waits.sort_by(|a, b| b.sessions.total_cmp(&a.sessions));
    waits.truncate(SHOWN_MAX);
    waits
}

/// Words for an event; `None` for one of idle threads.
fn words(event: &str) -> Option<&'static str> {
    let is_idle = ["wait/io/socket/", "wait/synch/cond/"]
        .iter()
        .any(|idle| event.starts_with(idle));
    let known = WORDS.iter().find(|(begin, _)| event.starts_with(begin));
    known.map(|(_, words)| *words).filter(|_| !is_idle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_seconds_of_waits_a_second_and_idle_threads_are_left_out() {
        let sums = |factor: f64| -> Sums {
            [
                ("wait/io/file/innodb/innodb_log_file", (100.0, 2e12)),
                ("wait/io/socket/sql/client_connection", (9.0, 9e13)),
                ("wait/synch/cond/sql/COND_queue", (9.0, 9e13)),
                ("wait/lock/metadata/sql/mdl", (1.0, 1e6)),
            ]
            .map(|(event, (count, time))| (event.to_owned(), (count * factor, time * factor)))
            .into()
        };
        let found = waits(&sums(1.0), &sums(2.0), 10.0);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].name, "redo log");
        assert!((found[0].sessions - 0.2).abs() < 1e-9 && (found[0].mean_s - 0.02).abs() < 1e-9);
    }
}
