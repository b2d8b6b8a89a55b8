//! Waits of the server by class: `performance_schema.events_waits_summary_global_by_event_name`
//! (MySQL manual, "Wait Event Summary Tables"), of the instruments that are on. Latches
//! (`synch/...`) are off by default in MySQL; everything is in MariaDB.

use std::collections::BTreeMap;

use weir_model::metrics;
use weir_mysql::Connection;

use super::{number, rows, text};
use crate::probe_parts::Part;
use crate::{ProbeError, Readings};

const INSTRUMENTS: &str = "SELECT NAME FROM performance_schema.setup_instruments \
    WHERE NAME LIKE 'wait/%' AND ENABLED = 'YES' AND TIMED = 'YES'";
const WAITS: &str = "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT \
    FROM performance_schema.events_waits_summary_global_by_event_name";

/// So many instruments are asked for by name, since the server adds up all threads and tables for each
/// of its rows: the 54 that MySQL 9.7 has on take half the time of all 500. More than these are asked for
/// together.
const NAMED_MAX: usize = 100;

/// Counts and times of waits, by class.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Asks for the instruments that were on at the first sample; made then.
    statement: Option<String>,
    /// Class -> count and picoseconds; kept from sample to sample for its memory only.
    sums: BTreeMap<String, (f64, f64)>,
}

impl Part<Connection> for Waits {
    fn name(&self) -> &'static str {
        "performance_schema waits"
    }

    fn read(
        &mut self,
        connection: &mut Connection,
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        let statement = match &self.statement {
            Some(statement) => statement,
            None => &*self.statement.insert(statement(connection)?),
        };
        self.sums.values_mut().for_each(|sums| *sums = (0.0, 0.0));
        for row in rows(connection, statement)? {
            let Some(class) = text(&row, 0).and_then(class) else {
                continue;
            };
            if !self.sums.contains_key(class) {
                self.sums.insert(class.to_owned(), (0.0, 0.0));
            }
            if let Some((count, time)) = self.sums.get_mut(class) {
                *count += number(&row, 1).unwrap_or(0.0);
                *time += number(&row, 2).unwrap_or(0.0);
            }
        }
        for (class, (count, time)) in &self.sums {
            readings.add_of(metrics::WAIT_COUNT, class, *count);
            readings.add_of(metrics::WAIT_TIME, class, time * 1e-12);
        }
        Ok(())
    }
}

fn statement(connection: &mut Connection) -> Result<String, ProbeError> {
    let instruments = rows(connection, INSTRUMENTS)?;
    let names = instruments.iter().filter_map(|row| text(row, 0));
    let names: Vec<_> = names.map(|name| format!("'{name}'")).collect();
    Ok(if names.is_empty() || names.len() > NAMED_MAX {
        format!("{WAITS} WHERE COUNT_STAR > 0")
    } else {
        format!("{WAITS} WHERE EVENT_NAME IN ({})", names.join(", "))
    })
}

/// `wait/io/file/innodb/innodb_data_file` is of class `io/file`. An idle connection is no wait.
fn class(event: &str) -> Option<&str> {
    let rest = event.strip_prefix("wait/")?;
    let (end, _) = rest.match_indices('/').nth(1)?;
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn a_class_is_two_words_after_wait() {
        assert_eq!(class("wait/io/file/sql/binlog"), Some("io/file"));
        assert_eq!(
            class("wait/synch/mutex/innodb/trx_mutex"),
            Some("synch/mutex")
        );
        assert_eq!(class("wait/lock/metadata/sql/mdl"), Some("lock/metadata"));
        assert_eq!(class("idle"), None);
    }
}
