//! Counters that rose in stalls.

use serde::Serialize;

use super::series::{Series, deviation, median};
use super::stalls::Stall;

/// Least rise, as a multiple of the usual value and in deviations of it.
const TIMES_MIN: f64 = 2.0;
const DEVIATIONS_MIN: f64 = 6.0;
/// A counter has to rise in this part of the stalls.
const STALLS_PART: f64 = 2.0 / 3.0;
/// Counters that are named at most.
const NAMED_MAX: usize = 4;

/// Counters that may tell a stall's cause, and the least value that counts, 1/s.
pub(super) const COUNTERS: &[(&str, f64)] = &[
    ("Com_alter_table", 0.1),
    ("Com_analyze", 0.1),
    ("Com_flush", 0.1),
    ("Com_lock_tables", 0.1),
    ("Com_truncate", 0.1),
    ("Connections", 5.0),
    ("Created_tmp_disk_tables", 5.0),
    ("Handler_read_rnd_next", 10_000.0),
    ("Innodb_buffer_pool_pages_flushed", 100.0),
    ("Innodb_buffer_pool_reads", 50.0),
    ("Innodb_buffer_pool_wait_free", 1.0),
    ("Innodb_data_fsyncs", 50.0),
    ("Innodb_log_waits", 1.0),
    ("Innodb_rows_deleted", 500.0),
    ("Innodb_rows_updated", 500.0),
    ("Innodb_row_lock_time", 100.0),
    ("Opened_tables", 5.0),
    ("Select_scan", 20.0),
    ("Sort_merge_passes", 5.0),
    ("Table_locks_waited", 1.0),
    ("Threads_created", 2.0),
];

/// Levels that may tell it, and the least value that counts.
pub(super) const LEVELS: &[(&str, f64)] = &[
    ("Innodb_buffer_pool_pages_dirty", 500.0),
    ("Innodb_checkpoint_age", 1e6),
    ("Innodb_row_lock_current_waits", 2.0),
    ("Threads_connected", 10.0),
    ("Threads_running", 4.0),
];

/// A counter that rose in stalls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MovedCounter {
    /// The server's name.
    pub name: String,
    /// Median outside of stalls: 1/s of a counter, the value of a level.
    pub usual: f64,
    /// Mean of the largest values of the stalls.
    pub in_stalls: f64,
    /// True for a rate, false for a level.
    pub is_rate: bool,
}

/// The counters that rose most, the largest rise first.
pub(super) fn moved(series: &Series, stalls: &[Stall]) -> Vec<MovedCounter> {
    if stalls.is_empty() {
        return Vec::new();
    }
    let rates = COUNTERS.iter().filter_map(|(name, least)| {
        rise(&series.rates(name)?, stalls, *least).map(|rise| (*name, rise, true))
    });
    let levels = LEVELS.iter().filter_map(|(name, least)| {
        rise(series.levels(name)?, stalls, *least).map(|rise| (*name, rise, false))
    });
    let mut found: Vec<_> = rates
        .chain(levels)
        .map(|(name, (usual, in_stalls), is_rate)| MovedCounter {
            name: name.to_owned(),
            usual,
            in_stalls,
            is_rate,
        })
        .collect();
    let times = |moved: &MovedCounter| moved.in_stalls / moved.usual.max(1e-3);
    found.sort_by(|a, b| times(b).total_cmp(&times(a)));
    found.truncate(NAMED_MAX);
    found
}

/// The usual value and the mean of the stalls' largest ones, if the counter rose in most stalls.
fn rise(values: &[f64], stalls: &[Stall], least: f64) -> Option<(f64, f64)> {
    // The second before a stall often has the cause, and the one after it what was waiting.
    let near = |stall: &Stall| {
        let from = stall.intervals.start.saturating_sub(1);
        from..(stall.intervals.end + 1).min(values.len())
    };
    let outside: Vec<f64> = (0..values.len())
        .filter(|at| !stalls.iter().any(|stall| near(stall).contains(at)))
        .map(|at| values[at])
        .collect();
    let usual = median(&outside);
    let limit = (usual * TIMES_MIN)
        .max(usual + DEVIATIONS_MIN * deviation(&outside))
        .max(usual + least);
    let tops: Vec<f64> = stalls
        .iter()
        .map(|stall| values[near(stall)].iter().copied().fold(0.0, f64::max))
        .collect();
    let risen = tops.iter().filter(|top| **top > limit).count();
    let is_risen = risen as f64 >= STALLS_PART * stalls.len() as f64;
    is_risen.then(|| (usual, tops.iter().sum::<f64>() / tops.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::super::stalls::search;
    use super::super::stalls::tests::noisy;
    use super::*;

    /// An hour in which a flush of pages stops the load every 20 minutes; other counters have noise alone.
    #[test]
    fn the_counter_that_moves_with_the_stalls_is_named_and_the_others_are_not() {
        for seed in 0..8_u64 {
            let mut questions = noisy(seed, 3600, 900.0, 0.1);
            let mut flushed = noisy(seed + 100, 3600, 300.0, 0.3);
            let reads = noisy(seed + 200, 3600, 200.0, 0.3);
            for second in [600, 1800, 3000] {
                for at in second..second + 5 {
                    questions[at] *= 0.1;
                    flushed[at] = 4000.0;
                }
            }
            let mut sums = [0.0; 3];
            let mut series = Series::default();
            let names = [
                "Questions",
                "Innodb_buffer_pool_pages_flushed",
                "Innodb_buffer_pool_reads",
            ];
            for second in 0..=3600 {
                series.push(second as f64, &names, |name| {
                    names
                        .iter()
                        .position(|known| *known == name)
                        .map(|at| sums[at])
                });
                if second < 3600 {
                    sums[0] += questions[second];
                    sums[1] += flushed[second];
                    sums[2] += reads[second];
                }
            }
            let times: Vec<f64> = (0..=3600).map(f64::from).collect();
            let found = search(&series.rates("Questions").unwrap(), &times);
            assert_eq!(found.stalls.len(), 3, "seed {seed}");
            let names: Vec<_> = moved(&series, &found.stalls)
                .into_iter()
                .map(|moved| moved.name)
                .collect();
            assert_eq!(names, ["Innodb_buffer_pool_pages_flushed"], "seed {seed}");
        }
    }
}
