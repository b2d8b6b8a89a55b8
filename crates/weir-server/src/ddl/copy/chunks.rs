//! Ranges of the primary key, copied one after the other. The size of a range follows the time that it takes.

use std::time::{Duration, Instant};

use weir_mysql::Connection;

use super::layout::Layout;
use super::leftover::Names;
use super::persist;
use crate::ddl::DdlError;

/// Rows of the first chunk.
const FIRST_ROWS: f64 = 1_000.0;
/// Rows of any chunk.
const ROWS_MAX: f64 = 100_000.0;
/// Weight of a new rate against the earlier ones.
const WEIGHT: f64 = 0.5;

/// Chunks that are left to copy.
pub(super) struct Chunks {
    /// The statement without its limits.
    copy: String,
    /// The query for the end of a chunk, without its limits.
    end: String,
    key: String,
    /// The last key that was copied; `None`: before the first.
    last: Option<String>,
    /// The highest key when the copy began: rows above are changes.
    highest: Option<String>,
    rows: f64,
    aim: Duration,
}

impl Chunks {
    pub(super) fn new(
        connection: &mut Connection,
        names: &Names,
        layout: &Layout,
        aim: Duration,
    ) -> Result<Self, DdlError> {
        let Layout { key, columns, .. } = layout;
        let columns = columns.join(", ");
        // A locking read: it waits for a last row whose transaction is in the log and not yet committed.
        let highest = format!(
            "SELECT CAST(MAX({key}) AS CHAR) FROM {} LOCK IN SHARE MODE",
            names.table
        );
        Ok(Self {
            // Rows are read as they are now, and held until the chunk is written.
            copy: format!(
                "INSERT IGNORE INTO {} ({columns}) SELECT {columns} FROM {}",
                names.new, names.table
            ),
            end: format!("SELECT CAST({key} AS CHAR) FROM {}", names.table),
            key: key.clone(),
            last: None,
            highest: persist(|| connection.first::<Option<String>>(&highest))?.flatten(),
            rows: FIRST_ROWS,
            aim,
        })
    }

    /// Copies the next chunk; its rows, or `None` when there is none.
    pub(super) fn next(&mut self, connection: &mut Connection) -> Result<Option<u64>, DdlError> {
        let Some(highest) = self.highest.clone() else {
            return Ok(None);
        };
        if self.last.as_ref() == Some(&highest) {
            return Ok(None);
        }
        let Self { key, copy, end, .. } = self;
        let after = match &self.last {
            Some(last) => format!("{key} > {last} AND "),
            None => String::new(),
        };
        let query = format!(
            "{end} WHERE {after}{key} <= {highest} ORDER BY {key} LIMIT {}, 1",
            self.rows as u64 - 1
        );
        let upper: Option<String> = connection.first(query)?;
        let upper = upper.unwrap_or(highest);
        let statement = format!("{copy} WHERE {after}{key} <= {upper} LOCK IN SHARE MODE");
        let began = Instant::now();
        let done = persist(|| connection.run(&statement))?;
        self.last = Some(upper);
        self.follow(done.affected_rows, began.elapsed());
        Ok(Some(done.affected_rows))
    }

    /// The next chunk is as large as this rate allows.
    fn follow(&mut self, rows: u64, took: Duration) {
        if rows == 0 {
            return;
        }
        let fitting = rows as f64 * self.aim.as_secs_f64() / took.as_secs_f64().max(1e-4);
        let next = self.rows * (1.0 - WEIGHT) + fitting * WEIGHT;
        self.rows = next.clamp(1.0, ROWS_MAX);
    }
}
