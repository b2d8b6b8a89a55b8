//! History of one row.

use weir_terminal::output;

use super::arguments::LogArguments;
use super::{in_json, open, options, tell_unlogged};
use crate::{
    FlashbackError, FlashbackPlan, Moment, MomentRequest, Source, Stop, TableName, line, read_key,
};

pub(super) fn execute(arguments: &LogArguments, stop: Stop) -> anyhow::Result<()> {
    let server = open(&arguments.url, &arguments.common)?;
    let source = Source::new(&server);
    let name = TableName::read(&arguments.table, &server.endpoint.database);
    let from = match &arguments.from {
        Some(time) => MomentRequest::read(time),
        None => MomentRequest::Start,
    };
    let mut options = options(&arguments.common, stop);
    // What the log has is shown; what it has not is not asked for.
    options.ignore_cascades = true;
    let prepared = FlashbackPlan::new(&source, &[name], &from, options)?;
    let until = match &arguments.to {
        Some(time) => Some(Moment::resolve(
            &MomentRequest::read(time),
            &mut source.open()?,
        )?),
        None => None,
    };
    let table = &prepared.tables[0];
    let key = read_key(table, &arguments.key)?;
    let mut printed = Ok(());
    let mut count = 0_u64;
    let told = prepared.known_changes(&mut |change| {
        let is_late = match &until {
            Some(Moment::Time(us)) => change.transaction.start.committed_us > *us,
            _ => false,
        };
        if is_late || printed.is_err() {
            return Ok::<(), FlashbackError>(());
        }
        if let Some(found) = line(table, &key, change)? {
            count += 1;
            printed = if arguments.common.json {
                print_json(&found)
            } else {
                print(&found)
            };
        }
        Ok(())
    })?;
    printed?;
    tell_unlogged(&prepared);
    for statement in &told.statements {
        eprintln!("note: {statement}");
    }
    eprintln!(
        "note: {count} changes of the row, {:.1} MB of log read",
        told.log_bytes as f64 / 1e6
    );
    Ok(())
}

fn print(found: &crate::HistoryLine) -> anyhow::Result<()> {
    let connection = found
        .connection
        .map_or_else(String::new, |id| format!("  connection {id}"));
    output::line(format_args!(
        "{}  {}  {}{connection}  {}",
        found.time, found.transaction, found.place, found.kind
    ))?;
    for column in &found.columns {
        output::line(format_args!("    {column}"))?;
    }
    if let Some(statement) = &found.statement {
        output::line(format_args!("    {}", statement.replace('\n', " ")))?;
    }
    Ok(())
}

fn print_json(found: &crate::HistoryLine) -> anyhow::Result<()> {
    let columns: Vec<_> = found.columns.iter().map(in_json).collect();
    output::line(serde_json::json!({
        "time": found.time,
        "transaction": found.transaction,
        "place": found.place,
        "connection": found.connection,
        "change": found.kind,
        "columns": columns,
        "statement": found.statement,
    }))
}
