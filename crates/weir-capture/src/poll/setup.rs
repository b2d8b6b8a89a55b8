//! Statements that a server remembers, and those that it would if its owner turned on more.

use std::collections::BTreeMap;

use weir_model::Flavor;
use weir_mysql::Connection;

use crate::CaptureError;
use crate::head::CaptureSource;

/// Longest text that servers without the variable keep, bytes.
const TEXT_BYTES_MAX: usize = 1024;
const LONG: &str = "events_statements_history_long";
const HISTORY: &str = "events_statements_history";
const CURRENT: &str = "events_statements_current";
const DIGESTS: &str = "statements_digest";
const INSTRUMENTATION: [&str; 2] = ["global_instrumentation", "thread_instrumentation"];

/// Table with statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    HistoryLong,
    History,
    /// Only the last statement of each session.
    Current,
    Processlist,
    /// No statements; digests alone.
    None,
}

impl Table {
    pub(super) fn source(self) -> CaptureSource {
        match self {
            Self::HistoryLong => CaptureSource::PolledHistoryLong,
            Self::History | Self::Current => CaptureSource::PolledHistory,
            Self::Processlist => CaptureSource::PolledProcesslist,
            Self::None => CaptureSource::Digests,
        }
    }
}

/// Tables and counters that can be polled.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) table: Table,
    /// The server counts its statements by digests.
    pub(super) has_digests: bool,
    /// Digests have a statement each.
    pub(super) has_samples: bool,
    /// Executions of prepared statements have no digest, and no text.
    pub(super) has_untold: bool,
    /// Texts of this length end before their end, bytes.
    pub(super) text_bytes_max: usize,
    /// Consumers that are off, and what each would give.
    pub(super) remarks: Vec<String>,
}

/// Settings of `performance_schema`, by their names.
type Names = BTreeMap<String, String>;

impl Setup {
    pub(super) fn read(connection: &mut Connection, flavor: Flavor) -> Result<Self, CaptureError> {
        let variables = "SHOW GLOBAL VARIABLES LIKE 'performance_schema%'";
        let variables: Names = connection.rows(variables)?.into_iter().collect();
        let is_on = variables
            .get("performance_schema")
            .is_some_and(|value| value == "ON");
        let consumers: Names = if is_on {
            let query = "SELECT NAME weir_poll, ENABLED FROM performance_schema.setup_consumers";
            connection.rows(query)?.into_iter().collect()
        } else {
            Names::new()
        };
        let table = table(&consumers, flavor);
        let has_digests =
            is_enabled(&consumers, INSTRUMENTATION[0]) && is_enabled(&consumers, DIGESTS);
        if table == Table::None && !has_digests {
            return Err(nothing(is_on));
        }
        if table == Table::Processlist && !sees_all(connection)? {
            return Err(CaptureError::NotPolled {
                why: "the account sees its own sessions only".to_owned(),
                remedy: "GRANT PROCESS ON *.* TO the account",
            });
        }
        let text_bytes_max = variables.get("performance_schema_max_sql_text_length");
        Ok(Self {
            table,
            has_digests,
            has_samples: has_digests && has_samples(connection)?,
            has_untold: has_digests && flavor == Flavor::Mariadb,
            text_bytes_max: text_bytes_max
                .and_then(|text| text.parse().ok())
                .unwrap_or(TEXT_BYTES_MAX),
            remarks: remarks(table, &variables, (is_on, has_digests), flavor),
        })
    }
}

fn is_enabled(consumers: &Names, name: &str) -> bool {
    consumers.get(name).is_some_and(|enabled| enabled == "YES")
}

/// The table that has most.
fn table(consumers: &Names, flavor: Flavor) -> Table {
    let is_on = |name: &str| is_enabled(consumers, name);
    let is_watched = INSTRUMENTATION.iter().all(|name| is_on(name)) && is_on(CURRENT);
    match (is_watched, flavor) {
        (true, _) if is_on(LONG) => Table::HistoryLong,
        (true, _) if is_on(HISTORY) => Table::History,
        (true, _) => Table::Current,
        (false, Flavor::Mariadb) => Table::Processlist,
        (false, Flavor::Mysql) => Table::None,
    }
}

fn nothing(is_on: bool) -> CaptureError {
    let (why, remedy) = if is_on {
        (
            "the consumers events_statements_current and statements_digest are off",
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ('events_statements_current', \
             'events_statements_history', 'statements_digest')",
        )
    } else {
        (
            "performance_schema is off",
            "set performance_schema = ON in its option file and restart it",
        )
    };
    CaptureError::NotPolled {
        why: why.to_owned(),
        remedy,
    }
}

/// Returns true if the account sees the sessions of others in the processlist: without the privilege the server shows
/// only the account's own ones, and says nothing.
fn sees_all(connection: &mut Connection) -> Result<bool, CaptureError> {
    let grants: Vec<(String,)> = connection.rows("SHOW GRANTS")?;
    Ok(grants.iter().any(|(grant,)| {
        let of_all = grant
            .split_once(" ON *.* ")
            .map(|(privileges, _)| privileges);
        of_all.is_some_and(|privileges| {
            privileges.contains("ALL PRIVILEGES") || privileges.contains("PROCESS")
        })
    }))
}

/// Returns true if digests have texts with literals, as `MySQL` has them from 8.0 on.
fn has_samples(connection: &mut Connection) -> Result<bool, CaptureError> {
    let query = "SHOW COLUMNS FROM performance_schema.events_statements_summary_by_digest LIKE 'QUERY_SAMPLE_TEXT'";
    let mut found = false;
    connection.each(query, |_: weir_mysql::Row| found = true)?;
    Ok(found)
}

fn remarks(
    table: Table,
    variables: &Names,
    (is_on, has_digests): (bool, bool),
    flavor: Flavor,
) -> Vec<String> {
    let size = |name: &str| variables.get(name).map_or("?", String::as_str).to_owned();
    let turn_on = |names: &str| {
        format!(
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ({names})"
        )
    };
    let of_session = || size("performance_schema_events_statements_history_size");
    let of_all = || size("performance_schema_events_statements_history_long_size");
    let mut remarks = vec![match table {
        Table::HistoryLong => format!("The server remembers the last {} statements of all sessions.", of_all()),
        Table::History => format!(
            "The server remembers the last {} statements of each session. The consumer {LONG} is off: on, it has the last {} \
             of all sessions, also of those that left ({}).",
            of_session(),
            of_all(),
            turn_on("'events_statements_history_long'")
        ),
        Table::Current => format!(
            "The server remembers the last statement of each session. The consumers {HISTORY} and {LONG} are off: on, they \
             have the last {} of each and the last {} of all ({}).",
            of_session(),
            of_all(),
            turn_on("'events_statements_history', 'events_statements_history_long'")
        ),
        Table::Processlist if is_on => format!(
            "The consumer {CURRENT} is off: on, with {HISTORY} and {LONG}, statements that have ended are seen, too ({}).",
            turn_on("'events_statements_current', 'events_statements_history', 'events_statements_history_long'")
        ),
        Table::Processlist => "performance_schema is off: on (at the server's start), statements that have ended are seen, too, \
                               and their times."
            .to_owned(),
        Table::None => format!(
            "The consumer {CURRENT} is off: on, with {HISTORY}, statements are seen, too ({}).",
            turn_on("'events_statements_current', 'events_statements_history'")
        ),
    }];
    if is_on && flavor == Flavor::Mariadb {
        remarks.push(
            "Of executions of prepared statements the server keeps neither text nor digest: all stand as `EXECUTE ?`.".to_owned(),
        );
    }
    if is_on && !has_digests {
        remarks.push(format!(
            "The consumer {DIGESTS} is off: on, it tells the kinds of statements that no poll saw, and the share by time ({}).",
            turn_on("'statements_digest'")
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consumers(names: &[&str]) -> Names {
        let on = names
            .iter()
            .map(|name| ((*name).to_owned(), "YES".to_owned()));
        on.collect()
    }

    #[test]
    fn the_fullest_table_whose_consumers_are_all_on_is_polled() {
        let all = [
            INSTRUMENTATION[0],
            INSTRUMENTATION[1],
            CURRENT,
            HISTORY,
            LONG,
        ];
        for (count, expected) in [
            (5, Table::HistoryLong),
            (4, Table::History),
            (3, Table::Current),
            (2, Table::None),
            (0, Table::None),
        ] {
            let found = table(&consumers(&all[..count]), Flavor::Mysql);
            assert_eq!(found, expected, "{count}");
        }
        // A history is not filled while the consumer above it is off.
        let without_current = consumers(&[all[0], all[1], HISTORY, LONG]);
        assert_eq!(table(&without_current, Flavor::Mysql), Table::None);
        assert_eq!(table(&without_current, Flavor::Mariadb), Table::Processlist);
    }
}
