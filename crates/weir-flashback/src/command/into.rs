//! A table as it was, as a new table on the user's server.

use anyhow::bail;
use weir_server::ExternalServer;
use weir_terminal::external_server::tell_remarks;
use weir_terminal::output;

use super::arguments::Arguments;
use super::{clause, one_table, prepare, tell};
use crate::{State, Stop, TableName, TableRows, find_like, into};

pub(super) fn execute(
    mut server: ExternalServer,
    arguments: &Arguments,
    target: &str,
    stop: Stop,
) -> anyhow::Result<()> {
    if !arguments.allow_write {
        bail!(
            "flashback: --into makes the table {target} on a server of yours; pass --allow-write to let it, and nothing \
             else is changed"
        );
    }
    let prepared = prepare(&server, arguments, stop)?;
    let table = one_table(&prepared, "--into")?;
    let target = TableName::read(target, &server.endpoint.database);
    // Looked at before the work: this server may be one that takes no writes.
    server.endpoint.database.clone_from(&target.schema);
    server.permit_schema();
    if arguments.allow_replica {
        server.permit_replica();
    } else {
        server.look_before_writing()?;
    }
    let binary = find_like(prepared.source(), arguments.common.server.as_deref())?;
    let clause = clause(arguments)?;
    let made = prepared.make(&binary, State::Then, &clause)?;
    tell(&prepared, &made.told);
    let rows = into(
        &made.private,
        TableRows {
            table,
            clause: &clause,
        },
        &target,
        &server.endpoint,
        server.gate(),
        stop,
    )?;
    tell_remarks(server.gate());
    if arguments.common.json {
        return output::line(serde_json::json!({
            "table": target.to_string(),
            "rows": rows,
            "of": table.name.to_string(),
            "as_of": prepared.moment.to_string(),
        }));
    }
    output::line(format_args!(
        "{target}: {rows} rows of {} as of {}",
        table.name, prepared.moment
    ))
}
