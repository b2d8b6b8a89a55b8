//! Changes since a moment, and the script that takes them back.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use weir_process::create_private_file;
use weir_server::ExternalServer;
use weir_terminal::output;

use super::arguments::Arguments;
use super::{in_json, one_table, prepare, tell};
use crate::{
    Diff, Rehearsal, RehearsalResult, Script, State, Stop, TransactionFilter, Triggers, Undo,
    find_like, head, only_where,
};

pub(super) fn diff(
    server: &ExternalServer,
    arguments: &Arguments,
    stop: Stop,
) -> anyhow::Result<()> {
    if arguments.condition.is_some() {
        bail!("flashback: --diff shows all rows; --where goes with a query, --undo and --into");
    }
    let prepared = prepare(server, arguments, stop)?;
    let mut diff = Diff::default();
    let told = prepared.changes(&mut |change| diff.take(&prepared.tables[change.table], change))?;
    for line in diff.lines(&prepared.tables) {
        if arguments.common.json {
            let columns: Vec<_> = line.columns.iter().map(in_json).collect();
            output::line(serde_json::json!({
                "table": line.table,
                "key": line.key,
                "change": line.change,
                "columns": columns,
            }))?;
        } else {
            output::line(line)?;
        }
    }
    tell(&prepared, &told);
    Ok(())
}

pub(super) fn undo(
    server: &ExternalServer,
    arguments: &Arguments,
    file: &Path,
    stop: Stop,
) -> anyhow::Result<()> {
    let chosen = chosen(arguments)?;
    let prepared = prepare(server, arguments, stop)?;
    let binary = find_like(prepared.source(), arguments.common.server.as_deref())?;
    let triggers = Triggers::read(&prepared, arguments.with_triggers)?;
    let (mut undo, told) = Undo::read(&prepared, chosen)?;
    let now = prepared.start_private(&binary)?;
    let rehearsal = Rehearsal::new(&prepared, &now, triggers)?;
    if let Some(condition) = &arguments.condition {
        let table = one_table(&prepared, "--where")?;
        // Rows that meet it now, and those that did then: a row may be gone, or meet it no more.
        let then = prepared.make(&binary, State::Then, "")?;
        only_where(&mut undo, table, condition, [&then.private, &now])?;
    }
    let moment = prepared.moment.to_string();
    let head = head(&server.url.to_string(), &moment, &told);
    let (script, rehearsed) = rehearsal.perform(&mut undo, &head)?;
    write_script(file, &script)?;
    tell(&prepared, &told);
    for conflict in &script.conflicts {
        eprintln!("conflict: {conflict}");
    }
    for statement in &rehearsed.missed {
        eprintln!("does not apply any more: {statement}");
    }
    for difference in &rehearsed.differences {
        eprintln!("warning: after the script on a copy: {difference}");
    }
    print_script(arguments, file, &script, &rehearsed)
}

/// Which changes are taken back.
fn chosen(arguments: &Arguments) -> anyhow::Result<TransactionFilter> {
    let gtids = arguments.gtid.iter().map(|text| text.parse());
    let gtids: Result<Vec<_>, String> = gtids.collect();
    Ok(TransactionFilter {
        gtids: gtids.map_err(|why| anyhow!("flashback: {why}"))?,
        connection: arguments.connection,
        statement: arguments.statement.clone(),
    })
}

fn write_script(file: &Path, script: &Script) -> anyhow::Result<()> {
    // Values of the tables stand in it: it is for its owner alone.
    let written =
        create_private_file(file).and_then(|mut out| out.write_all(script.text.as_bytes()));
    written.with_context(|| {
        format!(
            "flashback: {} is not written; name a new file",
            file.display()
        )
    })
}

/// Says what the script does, and what it did on a copy of the tables as they are.
fn print_script(
    arguments: &Arguments,
    file: &Path,
    script: &Script,
    rehearsed: &RehearsalResult,
) -> anyhow::Result<()> {
    let changes = script.changes().len();
    let applied = changes.saturating_sub(rehearsed.missed.len());
    if arguments.common.json {
        return output::line(serde_json::json!({
            "file": file,
            "transactions": script.transactions,
            "statements": changes,
            "applied_on_a_copy": applied,
            "conflicts": script.conflicts,
            "differences_on_a_copy": rehearsed.differences,
        }));
    }
    output::line(format_args!(
        "{}: takes back {} rows of {} transactions; {} conflicts are left alone; tried on a copy: {} of {} statements apply, \
         {}. Nothing was changed: read it, then run it yourself",
        file.display(),
        changes,
        script.transactions,
        script.conflicts.len(),
        applied,
        changes,
        match rehearsed.differences.len() {
            0 => "and all rows are as before".to_owned(),
            some => format!("and {some} rows are not as before"),
        }
    ))
}
