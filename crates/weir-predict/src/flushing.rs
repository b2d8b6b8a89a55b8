//! Time at which a server writes changed pages that no transaction waits for.
//!
//! Once a second its page cleaner asks two questions and takes the larger answer: how much of the pool is
//! changed, and how much of the redo log the oldest change keeps in use. Below a low-water mark each answer is
//! nothing. (`af_get_pct_for_dirty`, `af_get_pct_for_lsn` in storage/innobase/buf/buf0flu.cc of `MySQL` 8.0 and
//! `MariaDB` 10.5 and later.) Pages leave in the order of their oldest change.
//!
//! What it asks for is the mean of that answer and of two averages, of what it wrote in a second and of what the log asked
//! for. They begin at nothing and come half as near each `innodb_flushing_avg_loops` seconds; once they equal what is
//! written, they drop out.
//!
//! A request that takes less than its second leaves the drive alone for the rest. After a longer one the next is made
//! at once, and `MySQL` drops it if pages of the last batch are still on their way to the drive (`buf_flush_start`): then a
//! whole second passes in which nothing is cleaned.

/// [`Flushing::dropped`] of `MySQL` on drives that may answer a write of the log before the pages that were asked for earlier: counted
/// were 10 of 25 on a P3700 and 8 of 45 on a Fusion-io ioDrive. On an ESSD PL1, which lets one after the other through, it was none of 40.
const DROPPED: f64 = 18.0 / 70.0;
/// The least share of the time in which a cleaner is taken to rest.
const REST_MIN: f64 = 1e-3;

/// Parameters of the page cleaner; shares are of 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flushing {
    /// `innodb_io_capacity`, pages per second.
    pub io_capacity: f64,
    /// `innodb_io_capacity_max`, pages per second.
    pub io_capacity_max: f64,
    /// `innodb_max_dirty_pages_pct_lwm`; 0: the changed pages' number does not count until there are too many.
    pub dirty_low_water: f64,
    /// `innodb_max_dirty_pages_pct`.
    pub dirty_max: f64,
    /// `innodb_adaptive_flushing_lwm`, of the redo log.
    pub log_low_water: f64,
    /// Pages that it writes at once and waits for: `innodb_doublewrite_pages`.
    pub batch_pages: f64,
    /// Nearness of its averages to their limits: 1 in steady state.
    pub averaged: f64,
    /// True if a request that comes while pages of the last one are on their way is dropped.
    pub drops: bool,
}

impl Flushing {
    /// The defaults of `MySQL` 8.4 and 9.
    pub const MYSQL: Self = Self {
        io_capacity: 10_000.0,
        io_capacity_max: 20_000.0,
        dirty_low_water: 0.1,
        dirty_max: 0.9,
        log_low_water: 0.1,
        batch_pages: 128.0,
        averaged: 1.0,
        drops: true,
    };

    /// [`Self::log_low_water`] of a `MariaDB` without a low-water mark for changed pages, its default. Its page cleaner
    /// sleeps until the log is nearly full. (`page_cleaner_wakeup` in storage/innobase/buf/buf0flu.cc of 10.6 and
    /// later: "adaptive flushing is enabled" if that mark is not 0.)
    pub const LOG_UNASKED: f64 = 1.0;

    /// [`Self::averaged`] after so many times `innodb_flushing_avg_loops` seconds.
    pub fn averaged_after(periods: f64) -> f64 {
        1.0 - 0.5_f64.powf(periods.floor())
    }

    /// Share of the requests that take more than a second after which one is dropped, on a drive that answers `in_order`.
    ///
    /// Before it asks again the cleaner waits for the log; requests before the last pages are written are dropped.
    pub fn dropped(&self, in_order: bool) -> f64 {
        if self.drops && !in_order {
            DROPPED
        } else {
            0.0
        }
    }

    /// The answer to both questions, in pages, with which `pages_per_s` are written. The cleaner is then `busy` for
    /// that share of the time, and that share of its requests is [`dropped`](Self::dropped).
    ///
    /// It asks for n pages in each cycle of C seconds, n = (answer + 2 averaged n/C) / 3. C is 1 where that leaves it a
    /// part of each second to rest; else what the request takes, and `dropped` seconds.
    pub fn answer_for(&self, pages_per_s: f64, busy: f64, dropped: f64) -> f64 {
        let longer_s = dropped / (1.0 - busy).max(REST_MIN);
        let cycle_s = if longer_s < 1.0 + dropped {
            1.0
        } else {
            longer_s
        };
        pages_per_s * (3.0 * cycle_s - 2.0 * self.averaged)
    }

    /// Returns its rate, in pages, when such a share of the pool is changed and such a share of the redo log is in
    /// use.
    pub fn answer(&self, dirty: f64, log: f64) -> f64 {
        let by_dirty = if self.dirty_low_water > 0.0 && dirty >= self.dirty_low_water {
            self.io_capacity * dirty / (self.dirty_max + 0.01)
        } else if dirty >= self.dirty_max {
            self.io_capacity
        } else {
            0.0
        };
        let by_log = if log >= self.log_low_water {
            let percent = 100.0 * log;
            self.io_capacity_max * percent * percent.sqrt() / 750.0
        } else {
            0.0
        };
        by_dirty.max(by_log).min(self.io_capacity_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_to_be_answered_before_averages_and_where_requests_are_dropped() {
        let steady = Flushing::MYSQL;
        assert!((steady.answer_for(500.0, 0.5, 0.2) - 500.0).abs() < 1e-9);
        let new = Flushing {
            averaged: Flushing::averaged_after(0.9),
            ..steady
        };
        assert!((new.answer_for(500.0, 0.5, 0.2) - 1_500.0).abs() < 1e-9);
        assert!((Flushing::averaged_after(2.5) - 0.75).abs() < 1e-9);
        // Cycles of 4 s, of which the cleaner rests for 0.2.
        assert!((steady.answer_for(500.0, 0.95, 0.2) - 5_000.0).abs() < 1e-6);
        assert!((steady.answer_for(500.0, 0.95, 0.0) - 500.0).abs() < 1e-9);
    }

    #[test]
    fn requests_are_dropped_where_the_log_may_overtake_pages() {
        let mysql = Flushing::MYSQL;
        assert!(mysql.dropped(true).abs() < 1e-9 && mysql.dropped(false) > 0.2);
        let mariadb = Flushing {
            drops: false,
            ..mysql
        };
        assert!(mariadb.dropped(false).abs() < 1e-9);
    }

    #[test]
    fn nothing_below_the_marks_and_more_with_each_share() {
        let rate = |dirty, log| Flushing::MYSQL.answer(dirty, log);
        assert!(rate(0.09, 0.09).abs() < 1e-9);
        // 10,000 x 10 / 91, and 20,000 x 10 x sqrt 10 / 750.
        assert!((rate(0.1, 0.0) - 1098.9).abs() < 0.1, "{}", rate(0.1, 0.0));
        assert!((rate(0.0, 0.1) - 843.3).abs() < 0.1, "{}", rate(0.0, 0.1));
        assert!(rate(0.5, 0.1) > rate(0.2, 0.1));
        assert!((rate(0.9, 1.0) - 20_000.0).abs() < 1e-9);
        // MariaDB's default: changed pages stay until the log wants them.
        let mariadb = Flushing {
            dirty_low_water: 0.0,
            ..Flushing::MYSQL
        };
        assert!(mariadb.answer(0.8, 0.0).abs() < 1e-9);
    }
}
