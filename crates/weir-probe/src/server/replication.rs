//! Lag of a replica: `SHOW REPLICA STATUS` (MySQL 8.0.22 and later), `SHOW SLAVE STATUS` (before),
//! or `SHOW ALL SLAVES STATUS`. MariaDB has the latter for every channel.

use std::str::FromStr as _;

use weir_model::{ServerVersion, metrics};
use weir_mysql::{Connection, Row};

use super::{number, rows, text};
use crate::probe_parts::Part;
use crate::{ProbeError, Readings};

/// Replication, if the server is a replica when it is first asked.
#[derive(Debug, Default)]
pub(super) struct Replication {
    /// The replica's name, if more than one server is looked at.
    name: String,
    statement: Option<&'static str>,
    is_none: bool,
}

impl Replication {
    /// Of the replica called `name`.
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Reads every channel.
    pub(super) fn sample(
        &mut self,
        connection: &mut Connection,
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        let statement = match self.statement {
            Some(statement) => statement,
            None => *self.statement.insert(statement(connection)?),
        };
        let channels = rows(connection, statement)?;
        self.is_none = channels.is_empty();
        for channel in &channels {
            add_channel(channel, &self.name, readings);
        }
        Ok(())
    }
}

impl Part<Connection> for Replication {
    fn name(&self) -> &'static str {
        "replication"
    }

    fn read(
        &mut self,
        connection: &mut Connection,
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        if self.is_none {
            return Ok(());
        }
        self.sample(connection, readings)
    }
}

fn statement(connection: &mut Connection) -> Result<&'static str, ProbeError> {
    let version: Option<String> = connection
        .first("SELECT VERSION()")
        .map_err(ProbeError::server)?;
    let version = version.unwrap_or_default();
    if version.contains("MariaDB") {
        return Ok("SHOW ALL SLAVES STATUS");
    }
    let of = ServerVersion::from_str(&version).ok();
    let of = of.map(|version| (version.major, version.minor, version.patch));
    Ok(match of {
        Some(old) if old < (8, 0, 22) => "SHOW SLAVE STATUS",
        _ => "SHOW REPLICA STATUS",
    })
}

fn add_channel(row: &Row, server: &str, readings: &mut Readings) {
    let column = |names: [&str; 2]| {
        let columns = row.columns_ref().iter();
        let mut columns = columns.map(weir_mysql::Column::name_str);
        columns.position(|column| names.contains(&&*column))
    };
    let channel = column(["Channel_Name", "Connection_name"])
        .and_then(|column| text(row, column))
        .unwrap_or_default();
    let channel = match (server, channel) {
        ("", channel) => channel.to_owned(),
        (server, "") => server.to_owned(),
        (server, channel) => format!("{server} {channel}"),
    };
    let runs = |names| column(names).and_then(|column| text(row, column)) == Some("Yes");
    let receives = runs(["Replica_IO_Running", "Slave_IO_Running"]);
    let applies = runs(["Replica_SQL_Running", "Slave_SQL_Running"]);
    let is_running = if receives && applies { 1.0 } else { 0.0 };
    readings.add_of(metrics::REPLICATION_RUNNING, &channel, is_running);
    // NULL when it does not run: how far behind it is then is unknown.
    let lag = column(["Seconds_Behind_Source", "Seconds_Behind_Master"]);
    if let Some(lag_s) = lag.and_then(|column| number(row, column)) {
        readings.add_of(metrics::REPLICATION_LAG, &channel, lag_s);
    }
}
