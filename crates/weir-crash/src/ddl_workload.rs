//! The DDL workload beside the clients' transactions, with undo logs that grow and are truncated.
//!
//! No client's rows depend on it; it is there so that crash states lie in the middle of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use weir_model::{Endpoint, Flavor};
use weir_mysql::Connection;

use crate::connection::{connect, is_broken};
use crate::error::CrashError;

/// Between two changes: now and then, not instead of everything else.
const PAUSE: Duration = Duration::from_millis(50);
/// Rows of the table whose updates fill the undo log: some 4 MiB each time.
const BALLAST_ROWS: u32 = 16_384;

/// Changes tables and truncates undo logs until `stop`.
pub(crate) fn run(
    endpoint: &Endpoint,
    flavor: Flavor,
    stop: &AtomicBool,
) -> Result<(), CrashError> {
    let mut connection = connect(endpoint).map_err(CrashError::statement("connect"))?;
    let mut is_over = |statement: &str| is_over(&mut connection, statement, stop);
    for number in 0.. {
        for statement in tables_changed(number).iter().chain(&undo_truncated(flavor)) {
            if is_over(statement)? {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
    }
    Ok(())
}

/// Runs `statement`; whether the work is over, since it was stopped or the server is gone.
fn is_over(
    connection: &mut Connection,
    statement: &str,
    stop: &AtomicBool,
) -> Result<bool, CrashError> {
    if stop.load(Ordering::Relaxed) {
        return Ok(true);
    }
    match connection.run(statement) {
        Err(error) if is_broken(&error) => Ok(true),
        changed => {
            changed.map_err(CrashError::statement("change tables"))?;
            Ok(false)
        }
    }
}

/// A table is created, filled, changed, emptied, renamed and dropped.
fn tables_changed(number: u32) -> [String; 6] {
    [
        format!(
            "CREATE TABLE side{number} (id INT PRIMARY KEY, text VARCHAR(100)) ENGINE = InnoDB"
        ),
        format!("INSERT INTO side{number} VALUES (1, REPEAT('a', 100)), (2, REPEAT('b', 100))"),
        format!("ALTER TABLE side{number} ADD INDEX text (text)"),
        format!("TRUNCATE TABLE side{number}"),
        format!("RENAME TABLE side{number} TO side_renamed{number}"),
        format!("DROP TABLE side_renamed{number}"),
    ]
}

/// Returns the statements that truncation needs, made with the loaded data: rows to change.
pub(crate) fn prepared(flavor: Flavor) -> Vec<String> {
    match flavor {
        Flavor::Mysql => Vec::new(),
        Flavor::Mariadb => vec![
            "CREATE TABLE ballast (id INT PRIMARY KEY, text VARCHAR(255) NOT NULL) ENGINE = InnoDB"
                .to_owned(),
            format!(
                "INSERT INTO ballast SELECT seq, REPEAT('a', 240) FROM seq_1_to_{BALLAST_ROWS}"
            ),
        ],
    }
}

/// `MariaDB` truncates an undo tablespace that has grown beyond `innodb_max_undo_log_size`. MySQL's begin
/// with 16 MiB and grow beyond that in long recordings only; making one inactive truncates it at once, but
/// one of 60 states hung then, and why is not known yet (docs/decisions/0007-crash-lab.md).
fn undo_truncated(flavor: Flavor) -> Vec<String> {
    match flavor {
        Flavor::Mysql => Vec::new(),
        Flavor::Mariadb => {
            vec![
                "UPDATE ballast SET text = REVERSE(CONCAT(text, id % 10)), text = LEFT(text, 240)"
                    .to_owned(),
            ]
        }
    }
}
