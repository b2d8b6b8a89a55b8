//! Advice as lines for a terminal.

use std::fmt::Write as _;

use weir_model::Bytes;
use weir_server::ddl::{Advice, Algorithm, Lock, Way, Work};

/// The lines.
pub(super) fn advice_lines(advice: &Advice) -> String {
    let way = &advice.trial.way;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    line("table", &table(advice));
    line("tried on", &format!("{}, an empty copy", advice.tried_on));
    line(
        "algorithm",
        way.algorithm
            .map_or("chosen by the server", Algorithm::name),
    );
    line("lock", lock(way.lock));
    line("work", &work(way));
    line("space", &space(advice));
    for refused in &advice.trial.refused {
        let lock = refused
            .lock
            .map_or_else(String::new, |lock| format!(" LOCK={}", lock.name()));
        let name = refused.algorithm.name();
        line("not", &format!("{name}{lock}: {}", refused.why));
    }
    for obstacle in &advice.obstacles {
        line(obstacle.severity.name(), &obstacle.text);
    }
    line("statement", &way.statement);
    text
}

fn table(advice: &Advice) -> String {
    format!(
        "{} on {}: about {} rows, {} of data, {} of indexes",
        advice.table,
        advice.server,
        advice.rows,
        Bytes(advice.data_bytes),
        Bytes(advice.index_bytes)
    )
}

fn lock(lock: Option<Lock>) -> &'static str {
    match lock {
        None => "not known: the statement takes no LOCK",
        Some(Lock::None) => "NONE: others read and write meanwhile",
        Some(Lock::Shared) => "SHARED: others read, writes wait until it is done",
        Some(Lock::Exclusive) => "EXCLUSIVE: reads and writes wait until it is done",
    }
}

fn work(way: &Way) -> String {
    match way.work {
        Work::Metadata => "metadata only".to_owned(),
        Work::Index if way.indexes_built == 1 => "reads the table and builds an index".to_owned(),
        Work::Index => format!("reads the table and builds {} indexes", way.indexes_built),
        Work::Rebuild => "rebuilds the table and its indexes".to_owned(),
    }
}

fn space(advice: &Advice) -> String {
    let space = &advice.space;
    let mut parts = Vec::new();
    if space.new_bytes > 0 {
        parts.push(format!("up to {} beside the table", Bytes(space.new_bytes)));
    }
    if space.sort_bytes > 0 {
        let directory = &space.temporary_dir;
        parts.push(format!(
            "up to {} of sort files in {directory}",
            Bytes(space.sort_bytes)
        ));
    }
    if space.row_log_bytes > 0 {
        parts.push(format!("up to {} of row log", Bytes(space.row_log_bytes)));
    }
    match parts.as_slice() {
        [] => "none".to_owned(),
        parts => parts.join(", "),
    }
}
