//! A list of pages brought into a server's pool by the server itself, in slices.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::Session;
use weir_process::{PathError, write_private};

use crate::pool_pages::dump::PageId;
use crate::pool_pages::own_list::beside;
use crate::pool_pages::{PoolError, PoolServer};

/// Slices of a list that is loaded without a limit: the server sorts each by number, so that between them the
/// most recently used stay the first.
const SLICES: usize = 4;
const LOAD: &str = "load the buffer pool";
const STATUS: &str = "Innodb_buffer_pool_load_status";
/// The server's status has whole seconds: two loads within one look the same.
const SAME_SECOND: Duration = Duration::from_millis(1_200);
const PAUSE: Duration = Duration::from_millis(10);

/// Rate at which a list is loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// Pages a second; `None`: as fast as the server does it.
    pub pages_per_second: Option<u64>,
}

impl Pace {
    /// Pages of a slice of `pages`.
    fn slice(self, pages: usize) -> usize {
        let quarter = pages.div_ceil(SLICES);
        let second = self.pages_per_second.map_or(usize::MAX, |pages| {
            usize::try_from(pages).unwrap_or(usize::MAX)
        });
        quarter.min(second).max(1)
    }

    /// Returns the least time that `pages` may take.
    pub(crate) fn least(self, pages: usize) -> Duration {
        self.pages_per_second.map_or(Duration::ZERO, |rate| {
            Duration::from_secs_f64(pages as f64 / rate.max(1) as f64)
        })
    }
}

impl PoolServer {
    /// Lets the server read `pages`, the first ones first; `go_on` is asked between slices, with the pages that
    /// were read.
    ///
    /// # Errors
    ///
    /// What the server says, a load that was aborted or interrupted, and variables that could not be put back.
    pub fn load(
        &self,
        pages: &[PageId],
        pace: Pace,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), PoolError> {
        let began = Instant::now();
        self.with_own_list(&[], |file, session| {
            let mut done = 0;
            for slice in pages.chunks(pace.slice(pages.len())) {
                write(file, slice)?;
                self.load_slice(session)?;
                done += slice.len();
                if !Self::wait_until(began + pace.least(done), &mut || go_on(done)) {
                    return Err(PoolError::Interrupted {
                        name: self.name().to_owned(),
                    });
                }
            }
            Ok(())
        })
    }

    fn wait_until(until: Instant, go_on: &mut dyn FnMut() -> bool) -> bool {
        loop {
            if !go_on() {
                return false;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(Duration::from_millis(100)));
        }
    }

    fn load_slice(&self, session: &mut Session) -> Result<(), PoolError> {
        let before = session.variable_of_status(STATUS)?;
        let began = Instant::now();
        session.run(LOAD, "SET GLOBAL innodb_buffer_pool_load_now = ON")?;
        loop {
            let told = session.variable_of_status(STATUS)?;
            let is_new = told != before || began.elapsed() >= SAME_SECOND;
            if is_new && told.contains("completed") {
                return Ok(());
            }
            let is = |words: &[&str]| is_new && words.iter().any(|word| told.contains(word));
            if is(&["aborted", "interrupted"]) {
                return Err(PoolError::Aborted {
                    name: self.name().to_owned(),
                });
            }
            if is(&["not found", "Cannot", "Error", "failed"]) {
                return Err(PoolError::Pool {
                    name: self.name().to_owned(),
                    what: "loaded",
                    told,
                });
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Tells `server` to stop a load that is going on.
///
/// # Errors
///
/// What the server says.
pub fn abort(server: &PoolServer) -> Result<(), PoolError> {
    let statement = "SET GLOBAL innodb_buffer_pool_load_abort = ON";
    Ok(server.session()?.run("abort the load", statement)?)
}

/// Writes a list beside its place, and moves it there.
fn write(file: &Path, pages: &[PageId]) -> Result<(), PoolError> {
    let mut text = String::with_capacity(pages.len() * 12);
    for PageId { space, page } in pages {
        let _ = writeln!(text, "{space},{page}");
    }
    let beside = beside(file, "incomplete");
    write_private(&beside, &text)?;
    Ok(fs::rename(&beside, file).map_err(PathError::on("write", file))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_quarters_or_seconds() {
        let limited = Pace {
            pages_per_second: Some(100),
        };
        assert_eq!(Pace::default().slice(1_000), 250);
        assert_eq!(limited.slice(1_000), 100);
        assert_eq!(limited.least(250), Duration::from_millis(2_500));
        assert_eq!(Pace::default().slice(0), 1);
    }
}
