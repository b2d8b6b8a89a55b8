//! A query on tables as they were.

use anyhow::{Context as _, bail};
use weir_mysql::Connection;
use weir_server::ExternalServer;

use super::arguments::Arguments;
use super::rows::print;
use super::{clause, options, prepare, statement, tell};
use crate::{AsOfStatement, FlashbackError, FlashbackPlan, Source, State, Stop, find_like};

/// The private server lacks a table: the query named it without a time (`ER_NO_SUCH_TABLE`, `ER_BAD_DB_ERROR`).
const NOT_THERE: [u16; 2] = [1146, 1049];

pub(super) fn execute(
    server: &ExternalServer,
    arguments: &Arguments,
    stop: Stop,
) -> anyhow::Result<()> {
    let asked = statement(server, arguments)?;
    let Some(sql) = &arguments.sql else {
        bail!(
            "flashback: nothing to do with the tables; give a query, --serve, --diff, --undo FILE or --into \
             SCHEMA.TABLE"
        );
    };
    let prepared = match &asked {
        Some(asked) => FlashbackPlan::new(
            &Source::new(server),
            &asked.tables,
            &asked.asked,
            options(&arguments.common, stop),
        )?,
        None => prepare(server, arguments, stop)?,
    };
    if let Some(asked) = &asked
        && prepared.tables.iter().any(|table| table.is_versioned)
    {
        return natively(server, &prepared, asked, arguments.common.json);
    }
    let binary = find_like(prepared.source(), arguments.common.server.as_deref())?;
    let clause = match &asked {
        Some(asked) => asked.clause(&times(&prepared)),
        None => clause(arguments)?,
    };
    let made = prepared.make(&binary, State::Then, &clause)?;
    tell(&prepared, &made.told);
    for (table, (rows, keys)) in prepared.tables.iter().zip(&made.counts) {
        eprintln!(
            "note: {}: {rows} rows read, {keys} keys changed since",
            table.name
        );
    }
    let schema = &prepared.tables[0].name.schema;
    let usual = &server.endpoint.database;
    let is_there = prepared
        .tables
        .iter()
        .any(|table| table.name.schema == *usual);
    let schema = if is_there { usual } else { schema };
    let mut connection = made.private.connect_reading(schema)?;
    connection.run(prepared.session_settings()?)?;
    let plain = asked.as_ref().map_or(sql, |asked| &asked.plain);
    let asking = connection.id();
    let end = || made.private.end(asking);
    let printed = stop.during(end, || print(&mut connection, plain, arguments.common.json));
    if stop.is_asked() {
        return Err(FlashbackError::Stopped.into());
    }
    match printed {
        Err(error) if is_missing_table(&error) => {
            Err(error).context("flashback: a table of the query is not as of the time; write AS OF TIMESTAMP after each")
        }
        other => other,
    }
}

fn is_missing_table(error: &anyhow::Error) -> bool {
    let client = error.downcast_ref::<weir_mysql::ClientError>();
    let code = client.and_then(weir_mysql::ClientError::code);
    code.is_some_and(|code| NOT_THERE.contains(&code))
}

/// Columns that a session's time zone shows otherwise.
fn times(prepared: &FlashbackPlan) -> Vec<&str> {
    let columns = prepared.tables.iter().flat_map(|table| &table.columns);
    columns
        .filter(|column| column.data_type == "timestamp")
        .map(|column| column.name.as_str())
        .collect()
}

/// Tables that keep their own past answer by themselves.
fn natively(
    server: &ExternalServer,
    prepared: &FlashbackPlan,
    asked: &AsOfStatement,
    is_json: bool,
) -> anyhow::Result<()> {
    if !prepared.is_versioned() {
        bail!(
            "flashback: some tables are system-versioned and others not; ask for them in two queries"
        );
    }
    eprintln!(
        "note: answered by the server itself (FOR SYSTEM_TIME AS OF): the tables are system-versioned"
    );
    let mut connection = Connection::connect(
        &weir_mysql::Connector::new(server.endpoint.clone(), None, weir_mysql::Gate::reading())?,
        true,
        weir_mysql::Patience::Endless,
    )?;
    print(&mut connection, &asked.versioned, is_json)
}
