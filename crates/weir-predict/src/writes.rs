//! Pages that have to be written, and when.
//!
//! A page that is changed is written when it leaves the pool or when the redo log is about to
//! overwrite its oldest change, whichever comes first; all changes in between cost one write:
//! `sum (1 - e^(-rate T)) / T` with the shorter `T` of both. A huge pool and log write every page
//! that is changed at all, once a cycle; a tiny pool writes once per eviction of a changed page.

use crate::{PAGE_BYTES, Popularity};

/// Share of the redo log at whose age changed pages are written: the point of adaptive flushing in
/// `MySQL` and `MariaDB` where its speed is that of the log.
const LOG_SHARE: f64 = 0.75;

/// The redo log and the doublewrite buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteSettings {
    /// Capacity of the redo log, bytes.
    pub redo_capacity_bytes: f64,
    /// Redo of a transaction, bytes.
    pub redo_bytes: f64,
    /// Each page is written to the doublewrite buffer first.
    pub doublewrite: bool,
    /// Commits wait until their redo is on the drive.
    pub durable_commits: bool,
}

/// What a transaction writes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Writes {
    /// Pages, to their places.
    pub pages: f64,
    /// Bytes that go in sequence: doublewrite and redo.
    pub sequential_bytes: f64,
}

impl WriteSettings {
    /// What a transaction writes when an unused page stays `stay` transactions in the pool.
    pub fn writes(&self, popularity: &Popularity, stay: f64) -> Writes {
        let cycle = stay.min(LOG_SHARE * self.redo_capacity_bytes / self.redo_bytes.max(1e-9));
        let pages = popularity.sum(|group| {
            if cycle.is_finite() {
                -(-group.write_rate * cycle).exp_m1() / cycle
            } else {
                0.0
            }
        });
        let again = if self.doublewrite { PAGE_BYTES } else { 0.0 };
        Writes {
            pages,
            sequential_bytes: pages * again + self.redo_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageGroup;

    const SETTINGS: WriteSettings = WriteSettings {
        redo_capacity_bytes: 1e9,
        redo_bytes: 5_000.0,
        doublewrite: true,
        durable_commits: true,
    };

    fn pages() -> Popularity {
        Popularity::new([PageGroup {
            pages: 10_000.0,
            rate: 4.0 / 10_000.0,
            write_rate: 2.0 / 10_000.0,
        }])
    }

    #[test]
    fn a_small_pool_writes_at_every_eviction_and_a_large_log_seldom() {
        // Hardly a page is changed twice while it stays.
        let small = SETTINGS.writes(&pages(), 100.0);
        assert!((small.pages - 2.0).abs() < 0.03, "{small:?}");
        assert!((small.sequential_bytes - small.pages * 16_384.0 - 5_000.0).abs() < 1e-6);
        // 150,000 transactions a cycle: every page once.
        let large = SETTINGS.writes(&pages(), f64::INFINITY);
        assert!(
            (large.pages - 10_000.0 / 150_000.0).abs() < 1e-3,
            "{large:?}"
        );
        // A log ten times larger writes a tenth of that.
        let settings = WriteSettings {
            redo_capacity_bytes: 1e10,
            ..SETTINGS
        };
        let rare = settings.writes(&pages(), f64::INFINITY);
        assert!((rare.pages / large.pages - 0.1).abs() < 1e-3);
    }
}
