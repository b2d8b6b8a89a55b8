//! `weir server snapshot`.

use std::time::SystemTime;

use serde_json::{Value, json};
use weir_model::Bytes;
use weir_report::table;
use weir_server::{Instances, SnapshotInfo, Snapshots, cache_directory};

use crate::cli::SnapshotCommand;
use crate::output;

pub(super) fn execute(command: &SnapshotCommand) -> anyhow::Result<()> {
    let snapshots = Snapshots::open(&cache_directory())?;
    match command {
        SnapshotCommand::Take { name, label, json } => {
            let label = label.as_ref().unwrap_or(name);
            let taken = Instances::open()?.take_snapshot(name, &snapshots, label)?;
            if *json {
                return output::line(serde_json::to_string_pretty(&value(&taken))?);
            }
            output::line(format_args!("snapshot {}: {}", taken.name, taken.size))
        }
        SnapshotCommand::List(arguments) => list(&snapshots, arguments.json),
        SnapshotCommand::Rm { names } => names.iter().try_for_each(|name| {
            snapshots.remove(name)?;
            output::line(format_args!("removed {name}"))
        }),
    }
}

fn list(snapshots: &Snapshots, json: bool) -> anyhow::Result<()> {
    let kept = snapshots.list()?;
    if json {
        let all: Vec<_> = kept.iter().map(value).collect();
        return output::line(serde_json::to_string_pretty(&all)?);
    }
    if kept.is_empty() {
        return output::line(
            "no snapshots; studies keep the data that they load, and `weir server snapshot take` a \
             server's",
        );
    }
    let rows: Vec<_> = kept.iter().map(row).collect();
    output::text(table(
        &["size", "last used", "server", "contents", "name"],
        &rows,
    ))?;
    let total: u64 = kept.iter().map(|snapshot| snapshot.size.0).sum();
    output::line(format_args!(
        "{} of at most {} (WEIR_SNAPSHOT_LIMIT); beyond that, the least recently used go first",
        Bytes(total),
        snapshots.limit()
    ))
}

fn row(snapshot: &SnapshotInfo) -> Vec<String> {
    let key = &snapshot.key;
    let used = if snapshot.in_use {
        "in use now".to_owned()
    } else {
        age(snapshot.used)
    };
    vec![
        snapshot.size.to_string(),
        used,
        format!("{} {}", key.flavor, key.version),
        contents(snapshot),
        snapshot.name.clone(),
    ]
}

/// Returns the origin of a snapshot, in a DBA's words.
fn contents(snapshot: &SnapshotInfo) -> String {
    let key = &snapshot.key;
    let pages = if key.page_bytes == 16_384 {
        String::new()
    } else {
        format!(", pages of {}", Bytes(key.page_bytes.into()))
    };
    match key.tables {
        0 => format!("{}{pages}", key.workload),
        1 => format!("{}: 1 table of {} rows{pages}", key.workload, key.rows),
        tables => format!(
            "{}: {tables} tables of {} rows{pages}",
            key.workload, key.rows
        ),
    }
}

fn age(used: SystemTime) -> String {
    let minutes = used.elapsed().unwrap_or_default().as_secs() / 60;
    match minutes {
        0 => "just now".to_owned(),
        1..=119 => format!("{minutes} min ago"),
        120..=2879 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1440),
    }
}

fn value(snapshot: &SnapshotInfo) -> Value {
    let used = snapshot.used.duration_since(SystemTime::UNIX_EPOCH);
    let mut value = json!({
        "name": snapshot.name,
        "bytes": snapshot.size,
        "used_unix_s": used.unwrap_or_default().as_secs(),
        "in_use": snapshot.in_use,
    });
    value["key"] = serde_json::to_value(&snapshot.key).unwrap_or_default();
    value
}
