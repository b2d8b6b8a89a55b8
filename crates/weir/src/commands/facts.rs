//! `weir facts ddl`.

use std::collections::BTreeMap;
use std::env::temp_dir;
use std::fs;

use anyhow::{Context as _, bail};
use serde_json::json;
use weir_report::table;
use weir_server::Stop;
use weir_server::ddl::{Algorithm, DdlError, FactCheck, Facts, Lock, TrialServer};
use weir_server::{ServerBinary, ServerError, find};

use crate::cli::{FactsCommand, FactsDdlArguments};
use crate::{Outcome, interrupt, output};

pub(crate) fn execute(command: &FactsCommand) -> anyhow::Result<Outcome> {
    let FactsCommand::Ddl(arguments) = command;
    let stop = Stop::when(interrupt::stop_flag_then_exit()?);
    match check_all(arguments, stop) {
        Err(error) if matches!(error.downcast_ref(), Some(DdlError::Stopped)) => {
            eprintln!("{error}");
            Ok(Outcome::Stopped)
        }
        done => done,
    }
}

/// [`Outcome::Failed`] if a row differs.
fn check_all(arguments: &FactsDdlArguments, stop: Stop) -> anyhow::Result<Outcome> {
    let facts = match &arguments.table {
        None => Facts::of_weir()?,
        Some(path) => {
            let text = fs::read_to_string(path);
            let text = text.with_context(|| {
                format!("facts: {} cannot be read; name a TOML file", path.display())
            })?;
            Facts::read(&text)?
        }
    };
    let mut checked = Vec::new();
    for binary in servers(arguments)? {
        eprintln!(
            "{} {} at {}",
            binary.flavor,
            binary.version,
            binary.path.display()
        );
        let none = BTreeMap::new();
        let server = TrialServer::start(&binary, &temp_dir(), &none, &none, stop)?;
        let rows = facts.check(&server, binary.version)?;
        checked.push((binary, rows));
    }
    if arguments.json {
        print_json(&checked)?;
    } else {
        print(&checked)?;
    }
    let all = checked.iter().flat_map(|(_, rows)| rows);
    Ok(match all.filter(|row| row.differs.is_some()).count() {
        0 => Outcome::Done,
        _ => Outcome::Failed,
    })
}

fn servers(arguments: &FactsDdlArguments) -> anyhow::Result<Vec<ServerBinary>> {
    let named = arguments.server.iter().map(|path| ServerBinary::at(path));
    let named = named.collect::<Result<Vec<_>, ServerError>>()?;
    let servers = if named.is_empty() { find(None)? } else { named };
    if servers.is_empty() {
        bail!("facts: no server on this machine; run scripts/setup.sh, or pass --server PATH");
    }
    Ok(servers)
}

fn print(checked: &[(ServerBinary, Vec<FactCheck>)]) -> anyhow::Result<()> {
    let cells = |binary: &ServerBinary, row: &FactCheck| {
        let way = row.way.as_ref();
        vec![
            row.operation.clone(),
            format!("{} {}", binary.flavor, binary.version),
            way.and_then(|way| way.algorithm)
                .map_or("-", Algorithm::name)
                .to_owned(),
            way.and_then(|way| way.lock)
                .map_or("-", Lock::name)
                .to_owned(),
            way.map_or("-", |way| way.work.name()).to_owned(),
            row.differs.clone().unwrap_or_else(|| "holds".to_owned()),
        ]
    };
    let rows: Vec<_> = checked
        .iter()
        .flat_map(|(binary, rows)| rows.iter().map(|row| cells(binary, row)))
        .collect();
    let heads = [
        "operation",
        "server",
        "algorithm",
        "lock",
        "work",
        "Weir's table",
    ];
    output::text(table(&heads, &rows))
}

fn print_json(checked: &[(ServerBinary, Vec<FactCheck>)]) -> anyhow::Result<()> {
    let servers: Vec<_> = checked
        .iter()
        .map(|(binary, rows)| {
            json!({
                "server": binary.flavor,
                "version": binary.version.to_string(),
                "path": binary.path,
                "rows": rows,
            })
        })
        .collect();
    output::line(serde_json::to_string_pretty(&servers)?)
}
