//! A replica whose primary is gone, made a primary: it applies all that it has received, and takes writes.

use std::thread;
use std::time::{Duration, Instant};

use weir_model::{Endpoint, Flavor};
use weir_mysql::{Gate, Value};

use super::Words;
use crate::{ServerBinary, ServerError, Session};

/// Afterwards `STOP REPLICA` waits for it.
const COORDINATOR_LIMIT: Duration = Duration::from_secs(10);
const PROMOTE: &str = "make the replica a primary";

/// Durations of the steps of a promotion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promotion {
    /// Until the replica had applied all that it had received.
    pub applied: Duration,
    /// From then until it takes writes.
    pub promoted: Duration,
}

/// Makes the replica at `endpoint` a primary. Transactions that it has not received from its old primary are lost.
///
/// # Errors
///
/// What the server says, and a replica that has not applied all within `limit`.
pub fn promote(
    binary: &ServerBinary,
    endpoint: &Endpoint,
    limit: Duration,
) -> Result<Promotion, ServerError> {
    let words = Words::for_server(binary);
    let began = Instant::now();
    // The wait itself keeps the connection silent.
    let patience = limit + Duration::from_secs(10);
    let mut session = Session::open_patient(endpoint, &Gate::own(), patience)?;
    let replica = words.replica;
    session.run(PROMOTE, &format!("STOP {replica} IO_THREAD"))?;
    apply_received(binary.flavor, &mut session, words, limit)?;
    let applied = began.elapsed();
    if binary.flavor == Flavor::Mysql {
        end_coordinator(&mut session, words)?;
    }
    let statements = [
        format!("STOP {replica}"),
        format!("RESET {replica} ALL"),
        "SET GLOBAL read_only = OFF".to_owned(),
    ];
    for statement in &statements {
        session.run(PROMOTE, statement)?;
    }
    Ok(Promotion {
        applied,
        promoted: began.elapsed().saturating_sub(applied),
    })
}

/// Ends the thread that gives transactions to `MySQL`'s parallel appliers. All that were received whole are applied. If a
/// part of one more was received when the primary died, `STOP REPLICA` would wait a minute for the rest of it, which
/// never comes (bug #96400), and its locks would stay. Ended, the server rolls that part back.
fn end_coordinator(session: &mut Session, words: Words) -> Result<(), ServerError> {
    type Process = (
        u64,
        String,
        Value,
        Value,
        Value,
        Value,
        Option<String>,
        Value,
    );
    let deadline = Instant::now() + COORDINATOR_LIMIT;
    while applies(session, words)? && Instant::now() < deadline {
        let processes: Vec<Process> = session.rows(PROMOTE, "SHOW PROCESSLIST")?;
        for (id, user, .., state, _) in processes {
            // It has that state while it waits for the rest; at other moments it is not to be told from the appliers.
            if user == "system user" && state.unwrap_or_default().contains("relay log") {
                session.run(PROMOTE, &format!("KILL {id}"))?;
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Returns true if the replica still applies.
fn applies(session: &mut Session, words: Words) -> Result<bool, ServerError> {
    Ok(words.status(session)?.applies() == "Yes")
}

/// Waits until all that was received is applied.
fn apply_received(
    flavor: Flavor,
    session: &mut Session,
    words: Words,
    limit: Duration,
) -> Result<(), ServerError> {
    let status = words.status(session)?;
    let (received, wait) = match flavor {
        Flavor::Mysql => ("Retrieved_Gtid_Set", "WAIT_FOR_EXECUTED_GTID_SET"),
        Flavor::Mariadb => ("Gtid_IO_Pos", "MASTER_GTID_WAIT"),
    };
    let received = status.column([received; 2]).replace(['\n', '\r', '\''], "");
    if received.is_empty() {
        return Ok(());
    }
    let wait = format!("SELECT {wait}('{received}', {})", limit.as_secs());
    let answer: Option<i64> = session.value("wait for the replica", &wait)?;
    if answer == Some(0) {
        return Ok(());
    }
    Err(ServerError::Replication {
        what: "has not applied what it received",
        words: format!("no end within {} s", limit.as_secs()),
    })
}
