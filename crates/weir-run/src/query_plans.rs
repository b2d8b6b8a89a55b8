//! Plans of captured statements on a run's server: EXPLAIN of one of each kind, after the run.

use std::time::Duration;

use weir_model::{Endpoint, ReplayRecord};
use weir_mysql::{ClientError, Connection, Connector, Deadline, Gate, Patience, Row};
use weir_replay::Example;

/// Kinds of statements that are explained: those that took the most time in the capture.
const KINDS_MAX: usize = 100;
/// Time that the server may need for all of them together.
const PATIENCE: Duration = Duration::from_secs(30);
/// Words of EXPLAIN's extras that make a plan another one; the rest repeats the statement.
const TOLD: [&str; 6] = [
    "filesort",
    "temporary",
    "using index",
    "join buffer",
    "index condition",
    "union",
];

/// Adds the plans of the server's EXPLAIN. Statements that it does not explain have none.
pub(crate) fn add(
    record: &mut ReplayRecord,
    examples: &[Example],
    endpoint: &Endpoint,
    gate: &Gate,
) {
    let Ok(mut connection) = connect(endpoint, gate) else {
        return;
    };
    for found in record.fingerprints.iter_mut().take(KINDS_MAX) {
        let of_kind = |example: &&Example| example.fingerprint == found.fingerprint;
        if let Some(example) = examples.iter().find(of_kind) {
            found.plan = plan(&mut connection, &example.text);
        }
    }
}

/// Into the schema of the statements: they name their tables without it.
fn connect(endpoint: &Endpoint, gate: &Gate) -> Result<Connection, ClientError> {
    let connector = Connector::new(endpoint.clone(), None, gate.clone())?;
    let patience = Patience::Until(Deadline::after(PATIENCE));
    Connection::connect(&connector, true, patience)
}

/// No value of the statement is in it: only names of tables and indexes, and words of the server's own.
fn plan(connection: &mut Connection, text: &str) -> Option<String> {
    let text = text.trim_end().trim_end_matches(';');
    let rows: Vec<Row> = connection
        .rows(format!("EXPLAIN FORMAT=TRADITIONAL {text}"))
        .ok()?;
    let tables: Vec<_> = rows.iter().filter_map(of_table).collect();
    (!tables.is_empty()).then(|| tables.join("; "))
}

/// `orders: ref by customer_id (using filesort)`.
fn of_table(row: &Row) -> Option<String> {
    let text = |name: &str| row.get_opt::<Option<String>, _>(name)?.ok()?;
    let table = text("table")?;
    let access = text("type").unwrap_or_else(|| "-".to_owned());
    let key = text("key").map_or_else(String::new, |key| format!(" by {key}"));
    let extra = text("Extra").unwrap_or_default().to_ascii_lowercase();
    let told = extra
        .split("; ")
        .filter(|part| TOLD.iter().any(|word| part.contains(word)));
    let told = told.collect::<Vec<_>>().join(", ");
    let told = if told.is_empty() {
        told
    } else {
        format!(" ({told})")
    };
    Some(format!("{table}: {access}{key}{told}"))
}
