//! The pages that a server holds, as it writes them down itself.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::Session;
use weir_process::PathError;

use crate::pool_pages::{PoolError, PoolServer};

const PERCENT: &str = "innodb_buffer_pool_dump_pct";
/// The list of a large pool is written in seconds.
const LIMIT: Duration = Duration::from_mins(10);
const PAUSE: Duration = Duration::from_millis(10);

/// A page of a tablespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId {
    /// The tablespace, by the server's own number.
    pub space: u32,
    /// The page.
    pub page: u32,
}

/// A list of pages as a server wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dump {
    /// The pages, the most recently used first, for each instance of the pool.
    pub pages: Vec<PageId>,
    /// Lines that are no pages.
    pub ignored: u64,
}

impl Dump {
    /// Reads a list, a line `space,page` for each page. Other lines are counted.
    pub fn parse(text: &str) -> Self {
        let mut dump = Self::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match page(line) {
                Some(page) => dump.pages.push(page),
                None => dump.ignored += 1,
            }
        }
        dump
    }
}

fn page(line: &str) -> Option<PageId> {
    let (space, page) = line.split_once(',')?;
    Some(PageId {
        space: space.trim().parse().ok()?,
        page: page.trim().parse().ok()?,
    })
}

impl PoolServer {
    /// The pages that the server holds now: `percent` of them, the most recently used. MySQL counts them of the pages that are in
    /// the pool, `MariaDB` of those that it can hold. The server's list of pages is locked while it copies their numbers.
    ///
    /// # Errors
    ///
    /// What the server says, a list that it does not write, and variables that could not be put back.
    pub fn resident_pages(&self, percent: u8) -> Result<Dump, PoolError> {
        let wanted = [(PERCENT, percent.to_string())];
        let text = self.with_own_list(&wanted, |file, session| {
            session.run(
                "dump the buffer pool",
                "SET GLOBAL innodb_buffer_pool_dump_now = ON",
            )?;
            self.wait_for(file, session)?;
            let text = fs::read_to_string(file);
            Ok(text.map_err(PathError::on("read", file))?)
        });
        Ok(Dump::parse(&text?))
    }

    /// Waits until the server has written `file`, which it renames into place when it is complete.
    fn wait_for(&self, file: &Path, session: &mut Session) -> Result<(), PoolError> {
        let deadline = Instant::now() + LIMIT;
        while !file.exists() {
            let told = session.variable_of_status("Innodb_buffer_pool_dump_status")?;
            let has_failed = told.contains("Cannot") || told.contains("ailed");
            if has_failed || Instant::now() >= deadline {
                return Err(PoolError::Pool {
                    name: self.name().to_owned(),
                    what: "dumped",
                    told,
                });
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_pages_are_counted() {
        let text = "5,17\n\n 5 , 18\nrubbish\n5\n5,-1\n99999999999,1\n0,0\n";
        let dump = Dump::parse(text);
        let page = |space, page| PageId { space, page };
        assert_eq!(dump.pages, [page(5, 17), page(5, 18), page(0, 0)]);
        assert_eq!(dump.ignored, 4);
    }
}
