//! How early a server writes changed pages that nobody waits for.
//!
//! Once a second its page cleaner asks two questions and takes the larger answer: how much of the pool is
//! changed, and how much of the redo log the oldest change keeps in use. Below a low-water mark each answer is
//! nothing. In steady state the cleaner's averages of what it wrote and of what the log asks for equal what it
//! writes, and drop out. (`af_get_pct_for_dirty`, `af_get_pct_for_lsn` in storage/innobase/buf/buf0flu.cc of
//! `MySQL` 8.0 and `MariaDB` 10.5 and later.) Pages leave in the order of their oldest change.

/// What the page cleaner goes by; shares are of 1.
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
    /// Share of its answer that it goes by.
    pub asked: f64,
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
        asked: 1.0,
    };
    /// [`Self::asked`] of a `MySQL` that has been changing pages for less than `innodb_flushing_avg_loops` seconds:
    /// it takes the mean of its answer and of the averages of what it wrote and of what the log asks for, which
    /// are 0 until then.
    pub const BEFORE_AVERAGES: f64 = 1.0 / 3.0;

    /// Pages per second that it writes when such a share of the pool is changed and such a share of the redo
    /// log is in use.
    pub fn pages_per_s(&self, dirty: f64, log: f64) -> f64 {
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
        (by_dirty.max(by_log) * self.asked).min(self.io_capacity_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_below_the_marks_and_more_with_each_share() {
        let rate = |dirty, log| Flushing::MYSQL.pages_per_s(dirty, log);
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
        assert!(mariadb.pages_per_s(0.8, 0.0).abs() < 1e-9);
    }
}
