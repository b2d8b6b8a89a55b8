//! The buffer pool's state on purpose: what is in it, dumped, loaded, and its size changed online.
//!
//! MySQL manual, "Saving and Restoring the Buffer Pool State" and "Configuring InnoDB Buffer Pool Size";
//! MariaDB has the same variables.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use weir_model::Bytes;
use weir_process::PathError;

use crate::{ServerError, Session};

/// Reading a pool's pages from a slow drive takes its time.
const LIMIT: Duration = Duration::from_mins(30);

/// A change of size that has not begun by then was none.
const SETTLED: Duration = Duration::from_secs(1);

/// Time between looks at the status, short enough not to delay a caller.
const PAUSE: Duration = Duration::from_millis(20);

const DUMP: &str = "dump the buffer pool";
const DUMP_NOW: &str = "SET GLOBAL innodb_buffer_pool_dump_now = ON";

/// Content of a buffer pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolState {
    /// Size of the pool.
    pub size: Bytes,
    /// Size of a page.
    pub page: Bytes,
    /// Pages that it can hold.
    pub pages: u64,
    /// Pages that hold data.
    pub pages_data: u64,
    /// Of these, pages that are not yet written.
    pub pages_dirty: u64,
}

impl Session {
    /// Returns the present content of the buffer pool.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn pool(&mut self) -> Result<PoolState, ServerError> {
        let status = self.status()?;
        let number = |name: &str| status.get(name).and_then(|value| value.parse().ok());
        let count = |name: &str| number(name).unwrap_or(0);
        Ok(PoolState {
            size: Bytes(self.pool_size()?),
            page: Bytes(count("Innodb_page_size")),
            pages: count("Innodb_buffer_pool_pages_total"),
            pages_data: count("Innodb_buffer_pool_pages_data"),
            pages_dirty: count("Innodb_buffer_pool_pages_dirty"),
        })
    }

    /// Writes down which pages are in the pool, all of them, to the file that the server loads.
    ///
    /// # Errors
    ///
    /// A server that refuses, is gone, or does not write the file in time.
    pub fn dump_pool(&mut self) -> Result<(), ServerError> {
        self.run(DUMP, "SET GLOBAL innodb_buffer_pool_dump_pct = 100")?;
        self.run(DUMP, DUMP_NOW)?;
        self.wait_for("Innodb_buffer_pool_dump_status", "dump")
    }

    /// The pages that are in the pool now, tablespace and number, as the server writes them down
    /// (`innodb_buffer_pool_filename`; only here can the file be read). Its list of pages is locked for as long as
    /// copying their numbers takes. How many of them: `innodb_buffer_pool_dump_pct`.
    ///
    /// # Errors
    ///
    /// As [`Self::dump_pool`], and a file that cannot be read.
    pub fn resident_pages(&mut self) -> Result<Vec<(u32, u32)>, ServerError> {
        let file = self.dump_file()?;
        let written = |path: &Path| {
            fs::metadata(path)
                .and_then(|metadata| metadata.modified())
                .ok()
        };
        let before = written(&file);
        self.run(DUMP, DUMP_NOW)?;
        let deadline = Instant::now() + LIMIT;
        // The status may still be that of the dump before; the file is renamed into place.
        while written(&file) == before && Instant::now() < deadline {
            // A server that is gone writes nothing.
            self.variable_of_status("Innodb_buffer_pool_dump_status")?;
            thread::sleep(PAUSE);
        }
        self.wait_for("Innodb_buffer_pool_dump_status", "dump")?;
        let text = fs::read_to_string(&file).map_err(PathError::on("read", &file))?;
        let page = |line: &str| {
            let (space, page) = line.split_once(',')?;
            Some((space.trim().parse().ok()?, page.trim().parse().ok()?))
        };
        Ok(text.lines().filter_map(page).collect())
    }

    fn dump_file(&mut self) -> Result<PathBuf, ServerError> {
        let name = |found: Option<String>| found.unwrap_or_default();
        let directory = name(self.variable("datadir")?);
        let file = name(self.variable("innodb_buffer_pool_filename")?);
        let file = Path::new(&directory).join(file);
        // Before the server is asked for anything.
        fs::metadata(&directory).map_err(PathError::on("read", Path::new(&directory)))?;
        Ok(file)
    }

    /// Reads the pages that were written down into the pool, as many as it holds, and waits until
    /// that is done.
    ///
    /// # Errors
    ///
    /// A server that refuses, is gone, or does not read the pages in time.
    pub fn load_pool(&mut self) -> Result<(), ServerError> {
        let action = "load the buffer pool";
        self.run(action, "SET GLOBAL innodb_buffer_pool_load_now = ON")?;
        self.wait_for("Innodb_buffer_pool_load_status", "load")
    }

    /// Changes the pool's size while the server runs, and reads it back: what it then is.
    ///
    /// Servers round up to whole chunks. `MariaDB` caps at `innodb_buffer_pool_size_max` with a
    /// warning at most, which is an error here.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone, and a size that is not what was wanted.
    pub fn resize_pool(&mut self, wanted: Bytes) -> Result<Bytes, ServerError> {
        let statement = format!("SET GLOBAL innodb_buffer_pool_size = {}", wanted.0);
        let before = self.pool_size()?;
        self.run("resize the buffer pool", &statement)?;
        self.await_resize(wanted, before)
    }

    /// Waits until the pool, which had the size `before` bytes, has the one that was set.
    pub(crate) fn await_resize(
        &mut self,
        wanted: Bytes,
        before: u64,
    ) -> Result<Bytes, ServerError> {
        let began = Instant::now();
        loop {
            let size = self.pool_size()?;
            let told = self.variable_of_status("Innodb_buffer_pool_resize_status")?;
            let told = told.to_ascii_lowercase();
            let words = ["complet", "already", "did not change"];
            let is_done = told.is_empty() || words.iter().any(|word| told.contains(word));
            let has_failed = told.contains("fail") || told.contains("abort");
            // The status of an earlier change stands until this one begins.
            let is_settled = size != before || began.elapsed() >= SETTLED;
            if has_failed || (is_done && is_settled) {
                return self.judge_size(wanted, Bytes(size), has_failed, &told);
            }
            if began.elapsed() >= LIMIT {
                return Err(ServerError::PoolWait {
                    what: "resized",
                    seconds: LIMIT.as_secs(),
                    told,
                });
            }
            thread::sleep(PAUSE);
        }
    }

    fn judge_size(
        &mut self,
        wanted: Bytes,
        actual: Bytes,
        has_failed: bool,
        told: &str,
    ) -> Result<Bytes, ServerError> {
        if !has_failed && actual >= wanted {
            return Ok(actual);
        }
        let largest = self.variable("innodb_buffer_pool_size_max")?;
        let largest = largest.and_then(|value| value.parse().ok()).map(Bytes);
        let why = match largest {
            Some(largest) => {
                format!("innodb_buffer_pool_size_max is {largest}, and changes with a restart only")
            }
            None => format!("the server says `{told}`"),
        };
        Err(ServerError::PoolSize {
            wanted,
            actual,
            why,
        })
    }

    pub(crate) fn pool_size(&mut self) -> Result<u64, ServerError> {
        let query = "SELECT @@GLOBAL.innodb_buffer_pool_size";
        let size = self.value("read the buffer pool's size", query)?;
        Ok(size.unwrap_or(0))
    }

    /// Waits until the status `name` says that it is completed.
    fn wait_for(&mut self, name: &str, what: &'static str) -> Result<(), ServerError> {
        let deadline = Instant::now() + LIMIT;
        loop {
            let told = self.variable_of_status(name)?;
            if told.contains("completed") {
                return Ok(());
            }
            let failed = ["not found", "Cannot", "aborted", "interrupted"];
            if failed.iter().any(|word| told.contains(word)) || Instant::now() >= deadline {
                return Err(ServerError::PoolWait {
                    what: if what == "load" { "loaded" } else { "dumped" },
                    seconds: LIMIT.as_secs(),
                    told,
                });
            }
            thread::sleep(PAUSE);
        }
    }
}
