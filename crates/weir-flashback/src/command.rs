//! `weir flashback`: tables as they were, what happened to a row, what changed since, and the way back.

mod answer;
mod arguments;
mod into;
mod log;
mod rows;
mod serve;
mod since;

use anyhow::{anyhow, bail};
use weir_model::ServerUrl;
use weir_server::ExternalServer;
use weir_terminal::{Outcome, external_server, interrupt};

pub use self::arguments::Arguments;
use self::arguments::{Command, Common};
use crate::{
    AsOfStatement, ColumnChange, FlashbackError, FlashbackPlan, LogFindings, LoggedValue, Moment,
    MomentRequest, Options, Source, Stop, TableName, usual_parent,
};

/// Does what the options ask for; prints answers and notes.
///
/// # Errors
///
/// A server that cannot be read, or a table that cannot be given back; nothing is left behind.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    // Stopping takes a moment; a second signal does not wait for it.
    let stop = Stop::when(interrupt::stop_flag_then_exit()?);
    match perform(arguments, stop) {
        Err(error) if stop.is_asked() => {
            match error.downcast_ref() {
                Some(FlashbackError::Stopped) => eprintln!("stopped: nothing of it is left"),
                _ => eprintln!("stopped: {error:#}"),
            }
            Ok(Outcome::Stopped)
        }
        done => done.map(|()| Outcome::Done),
    }
}

fn perform(arguments: &Arguments, stop: Stop) -> anyhow::Result<()> {
    if let Some(Command::Log(arguments)) = &arguments.command {
        return log::execute(arguments, stop);
    }
    let url = arguments.url.as_deref().unwrap_or_default();
    let server = open(url, &arguments.common)?;
    match (&arguments.into, &arguments.undo) {
        (Some(target), _) => into::execute(server, arguments, target, stop),
        (_, Some(file)) => since::undo(&server, arguments, file, stop),
        _ if arguments.diff => since::diff(&server, arguments, stop),
        _ if arguments.serve => serve::execute(&server, arguments, stop),
        _ => answer::execute(&server, arguments, stop),
    }
}

fn open(url: &str, common: &Common) -> anyhow::Result<ExternalServer> {
    let url: ServerUrl = url.parse().map_err(anyhow::Error::msg)?;
    let config = external_server::client_config(common.ask_password)?;
    external_server::open(&url, &config)
}

fn options(common: &Common, stop: Stop) -> Options {
    let mut options = Options::new(common.work.clone().unwrap_or_else(usual_parent));
    options.ignore_cascades = common.ignore_cascades;
    options.bytes_per_s = common.limit.map(|limit| limit.0);
    options.stop = stop;
    options
}

/// The moment of the options.
fn asked(arguments: &Arguments) -> anyhow::Result<MomentRequest> {
    let gtid = |text: &str| {
        text.parse()
            .map_err(|why: String| anyhow!("flashback: {why}"))
    };
    match (
        &arguments.as_of,
        &arguments.as_of_gtid,
        &arguments.before_gtid,
    ) {
        (Some(time), _, _) => Ok(MomentRequest::read(time)),
        (_, Some(text), _) => Ok(MomentRequest::After(gtid(text)?)),
        (_, _, Some(text)) => Ok(MomentRequest::Before(gtid(text)?)),
        _ => bail!("flashback: no time; pass --as-of, --as-of-gtid or --before-gtid"),
    }
}

/// The tables of the options, looked at.
fn prepare(
    server: &ExternalServer,
    arguments: &Arguments,
    stop: Stop,
) -> anyhow::Result<FlashbackPlan> {
    let schema = &server.endpoint.database;
    let names: Vec<_> = arguments
        .tables
        .iter()
        .map(|name| TableName::read(name, schema))
        .collect();
    let source = Source::new(server);
    let asked = asked(arguments)?;
    let prepared = FlashbackPlan::new(&source, &names, &asked, options(&arguments.common, stop))?;
    match prepared.tables.iter().find(|table| table.is_versioned) {
        Some(table) => bail!(
            "flashback: {} is system-versioned, and the server answers by itself; give a query with `FROM {} AS OF \
             TIMESTAMP '...'`",
            table.name,
            table.name
        ),
        None => Ok(prepared),
    }
}

/// The only table, for what is done with one.
fn one_table<'a>(prepared: &'a FlashbackPlan, what: &str) -> anyhow::Result<&'a crate::Table> {
    match prepared.tables.as_slice() {
        [table] => Ok(table),
        _ => bail!("flashback: {what} is of one table; name one with --tables"),
    }
}

/// The condition of the options, as a clause.
fn clause(arguments: &Arguments) -> anyhow::Result<String> {
    match &arguments.condition {
        None => Ok(String::new()),
        Some(_) if arguments.tables.len() != 1 => {
            bail!("flashback: --where is about one table; name one with --tables")
        }
        Some(condition) => Ok(format!(" WHERE ({condition})")),
    }
}

/// Says where the log was cut, so that it can be compared with what is remembered.
fn tell(prepared: &FlashbackPlan, told: &LogFindings) {
    let moment = &prepared.moment;
    tell_unlogged(prepared);
    if told.pending > 0 {
        eprintln!(
            "note: {} transactions of two phases (XA) are prepared and have not ended; their changes are left out",
            told.pending
        );
    }
    if let Some((name, time)) = &told.last_before {
        eprintln!("note: as of {moment}: the last transaction before it is {name}, {time}");
    }
    match &told.first {
        Some((name, place, time)) => {
            eprintln!("note: the first one after it is {name} at {place}, {time}");
        }
        None => eprintln!("note: no transaction came after {moment}"),
    }
    if matches!(moment, Moment::Time(_)) {
        tell_second(told);
    }
    if told.is_in_seconds {
        eprintln!(
            "note: this server logs whole seconds, in which the last statement of a transaction began; --before-gtid is exact"
        );
    }
    if told.late > 0 {
        eprintln!(
            "note: {} later transactions in the log have an earlier time; they count as after it",
            told.late
        );
    }
    eprintln!(
        "note: {} transactions since, {} changes of rows, {:.1} MB of log read",
        told.transactions,
        told.changes,
        told.log_bytes as f64 / 1e6
    );
}

/// Names the transactions that a time alone may put on the wrong side, or counts them if they are many.
fn tell_second(told: &LogFindings) {
    let [before, after] = told.counts_within_second;
    let named = told.within_second.iter().map(|(name, is_after)| {
        let side = if *is_after { "after" } else { "before" };
        format!("{name} ({side} it)")
    });
    let all = match before + after {
        0 => {
            eprintln!("note: no transaction lies within the second of that time");
            return;
        }
        count if count == told.within_second.len() as u64 => named.collect::<Vec<_>>().join(", "),
        _ => format!("{before} transactions before it and {after} after it"),
    };
    eprintln!("note: within the second of that time: {all}; --before-gtid is exact");
}

/// Says what the log lacks, if that was to be ignored.
fn tell_unlogged(prepared: &FlashbackPlan) {
    for what in prepared
        .tables
        .iter()
        .filter_map(|table| table.unlogged.as_ref())
    {
        eprintln!("warning: {what}: such changes are missed");
    }
}

/// A column that changed, for `--json`; a side that is not there or not logged has no key.
fn in_json(column: &ColumnChange) -> serde_json::Value {
    let mut fields = serde_json::Map::new();
    fields.insert("column".to_owned(), column.column.as_str().into());
    for (name, value) in [("before", column.before()), ("after", column.after())] {
        if let Some(value) = value {
            let value = match value {
                LoggedValue::Null => serde_json::Value::Null,
                LoggedValue::Text(text) => text.as_str().into(),
            };
            fields.insert(name.to_owned(), value);
        }
    }
    fields.into()
}

/// Reads the statement of the command line, if it has one with a time.
fn statement(
    server: &ExternalServer,
    arguments: &Arguments,
) -> anyhow::Result<Option<AsOfStatement>> {
    match &arguments.sql {
        Some(sql) if arguments.tables.is_empty() => {
            Ok(Some(AsOfStatement::read(sql, &server.endpoint.database)?))
        }
        _ => Ok(None),
    }
}
