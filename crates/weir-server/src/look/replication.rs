//! Replication: threads and lag of a replica, and how many replicas read from this server.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weir_model::Flavor;

use super::finding::{CounterValue, Finding, Unit, Weight};
use super::reader::Reader;
use crate::ServerError;

/// Larger lags are a problem, seconds.
const LAG_MAX_S: f64 = 10.0;

/// Reads the state of each channel, and counts replicas.
pub(super) fn look(reader: &mut Reader) -> Result<Vec<Finding>, ServerError> {
    let (statement, privilege) = match reader.flavor {
        Flavor::Mariadb => ("SHOW ALL SLAVES STATUS", "SLAVE MONITOR"),
        Flavor::Mysql if reader.is_mysql_from((8, 0, 22)) => {
            ("SHOW REPLICA STATUS", "REPLICATION CLIENT")
        }
        Flavor::Mysql => ("SHOW SLAVE STATUS", "REPLICATION CLIENT"),
    };
    let answer = reader.named_rows(statement);
    let grant = format!("GRANT {privilege} ON *.* TO the account");
    let channels = reader
        .if_permitted("replication", &grant, answer)?
        .unwrap_or_default();
    let mut findings: Vec<Finding> = channels.iter().map(|row| channel(row, statement)).collect();
    findings.extend(replicas(reader)?);
    Ok(findings)
}

/// A column by its name of today or of before.
fn column<'a>(row: &'a BTreeMap<String, String>, names: [&str; 2]) -> &'a str {
    let found = names.iter().find_map(|name| row.get(*name));
    found.map_or("", String::as_str)
}

fn channel(row: &BTreeMap<String, String>, statement: &str) -> Finding {
    let receiver = column(row, ["Replica_IO_Running", "Slave_IO_Running"]);
    let applier = column(row, ["Replica_SQL_Running", "Slave_SQL_Running"]);
    let source = column(row, ["Source_Host", "Master_Host"]);
    let port = column(row, ["Source_Port", "Master_Port"]);
    let lag = column(row, ["Seconds_Behind_Source", "Seconds_Behind_Master"]);
    let lag_s: Option<f64> = lag.parse().ok();
    let errors: Vec<_> = ["Last_IO_Error", "Last_SQL_Error"]
        .iter()
        .filter_map(|name| row.get(*name).filter(|error| !error.is_empty()))
        .map(|error| error.replace('\n', " "))
        .collect();
    let is_running = receiver == "Yes" && applier == "Yes";
    let is_behind = lag_s.is_some_and(|lag_s| lag_s > LAG_MAX_S);
    let weight = if is_running && !is_behind && errors.is_empty() {
        Weight::Fact
    } else {
        Weight::Problem
    };
    let mut text = format!("follows {source}:{port}: receiver {receiver}, applier {applier}");
    for error in errors {
        let _ = write!(text, "; {error}");
    }
    let readings =
        lag_s.map(|lag_s| CounterValue::new("Seconds_Behind_Source", lag_s, Unit::Seconds));
    Finding::new(
        "replica",
        weight,
        text,
        readings.into_iter().collect(),
        statement,
    )
}

/// Replicas that read the binary log now.
fn replicas(reader: &mut Reader) -> Result<Option<Finding>, ServerError> {
    let source = "information_schema.PROCESSLIST";
    let query =
        format!("SELECT COUNT(*) FROM {source} weir_look WHERE COMMAND LIKE 'Binlog Dump%'");
    // MySQL writes a warning to its log for each use of the old table, from 8.0.35 on.
    let query = if reader.is_mysql_from((8, 0, 0)) {
        "SELECT COUNT(*) FROM performance_schema.threads weir_look WHERE PROCESSLIST_COMMAND LIKE 'Binlog Dump%'".to_owned()
    } else {
        query
    };
    let answer = reader.rows::<(f64,)>(&query);
    let grant = "GRANT PROCESS ON *.* and SELECT ON performance_schema.* TO the account";
    let rows = reader.if_permitted("replicas of this server", grant, answer)?;
    let count = rows.and_then(|rows| rows.first().map(|(count,)| *count));
    Ok(count.filter(|count| *count > 0.0).map(|count| {
        let readings = vec![CounterValue::new("Binlog Dump", count, Unit::Count)];
        Finding::new(
            "replicas",
            Weight::Fact,
            "read the binary log of this server",
            readings,
            "the processlist",
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_stopped_or_late_replica_is_a_problem_under_old_and_new_names() {
        let state = |running: &str, lag: &str| {
            [
                ("Slave_IO_Running", "Yes"),
                ("Slave_SQL_Running", running),
                ("Seconds_Behind_Master", lag),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
        };
        let weight = |row: &BTreeMap<String, String>| channel(row, "SHOW SLAVE STATUS").weight;
        assert_eq!(weight(&state("Yes", "0")), Weight::Fact);
        assert_eq!(weight(&state("Yes", "900")), Weight::Problem);
        assert_eq!(weight(&state("No", "")), Weight::Problem);
        let new = row(&[
            ("Replica_IO_Running", "Connecting"),
            ("Replica_SQL_Running", "Yes"),
            ("Source_Host", "db1"),
            ("Source_Port", "3306"),
            ("Last_IO_Error", "error connecting"),
        ]);
        let found = channel(&new, "SHOW REPLICA STATUS");
        assert_eq!(found.weight, Weight::Problem);
        assert_eq!(
            found.text,
            "follows db1:3306: receiver Connecting, applier Yes; error connecting"
        );
    }
}
