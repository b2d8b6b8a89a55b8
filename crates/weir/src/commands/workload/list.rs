//! `weir workload list`.

use std::path::Path;

use anyhow::Context as _;
use serde_json::json;
use weir_model::{OrderEntryWorkload, WorkloadName};
use weir_workload::{ScriptInputs, Workload};

use crate::cli::WorkloadListArguments;
use crate::{Outcome, output};

/// A workload, in a line.
struct Line {
    name: String,
    what: String,
    /// It cannot be used.
    is_wrong: bool,
}

pub(super) fn execute(arguments: &WorkloadListArguments) -> anyhow::Result<Outcome> {
    let mut lines: Vec<Line> = WorkloadName::ALL
        .iter()
        .map(|name| known(&name.to_string()))
        .collect();
    lines.push(known(OrderEntryWorkload::NAME));
    if arguments.folder.is_dir() {
        lines.extend(files(&arguments.folder)?);
    }
    if arguments.json {
        let lines = lines
            .iter()
            .map(|line| json!({ "name": line.name, "what": line.what, "wrong": line.is_wrong }));
        output::line(serde_json::Value::from(lines.collect::<Vec<_>>()))?;
        return Ok(Outcome::Done);
    }
    for line in lines {
        output::line(format_args!("{:<28} {}", line.name, line.what))?;
    }
    Ok(Outcome::Done)
}

fn known(name: &str) -> Line {
    line(name, Workload::read(name))
}

/// The workload files of a folder, by name.
fn files(folder: &Path) -> anyhow::Result<Vec<Line>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path().to_string_lossy().into_owned()));
    let mut paths: Vec<String> = paths.filter(|path| Workload::is_file(path)).collect();
    paths.sort();
    Ok(paths
        .iter()
        .map(|path| line(path, Workload::read(path)))
        .collect())
}

fn line(name: &str, workload: Result<Workload, String>) -> Line {
    let described = workload.map(|workload| what(&workload));
    Line {
        name: name.to_owned(),
        is_wrong: described.is_err(),
        what: described.unwrap_or_else(|why| format!("cannot be used: {why}")),
    }
}

/// Returns the description of a workload: its kind of access, its tables, and its transactions.
fn what(workload: &Workload) -> String {
    let changes = if workload.only_reads() {
        "reads"
    } else {
        "reads and writes"
    };
    let sizes = workload.table_sizes();
    let tables = if sizes.is_empty() {
        String::new()
    } else {
        let rows: u64 = sizes.iter().map(|size| size.rows).sum();
        format!(", {} tables with {rows} rows", sizes.len())
    };
    let inputs = ScriptInputs {
        tables: 1,
        rows: 1_000,
        connections: 1,
        seed: 1,
        auto_increment: true,
    };
    let names: Vec<String> = match workload.script(&inputs) {
        Ok(script) => script
            .transactions
            .iter()
            .map(|transaction| transaction.name.clone())
            .collect(),
        Err(_) => Vec::new(),
    };
    let transactions = match names.len() {
        0 | 1 => String::new(),
        _ => format!(", transactions: {}", names.join(", ")),
    };
    format!("{changes}{tables}{transactions}")
}
