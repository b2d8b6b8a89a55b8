//! Steps of a measurement within its budget, and the most that it writes.

use std::time::Duration;

use weir_model::{Bytes, Nanoseconds};

use crate::measure::MeasureError;

/// Shortest budget, seconds.
const BUDGET_S_MIN: f64 = 5.0;
/// Rounds: each measures everything once, so that the spread between them is an interval.
const ROUNDS_MIN: u32 = 3;
const ROUNDS_MAX: u32 = 10;
/// Length of a round where the budget allows it, seconds.
const ROUND_S: f64 = 20.0;
/// Smallest file that says anything.
const FILE_BYTES_MIN: u64 = 64 << 20;

/// Shares of the time: the first write of the file, the long go of reads, the rounds, random writes at the end.
const FILL_SHARE: f64 = 0.12;
const LONG_READS_SHARE: f64 = 0.05;
const ROUNDS_SHARE: f64 = 0.55;
const RANDOM_SHARE: f64 = 0.25;

/// Shares of the writes likewise; random writes have the rest.
const FILL_WRITES: f64 = 0.25;
const ROUNDS_WRITES: f64 = 0.4;

/// Limits that the user sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasureOptions {
    /// About how long it may take.
    pub budget: Duration,
    /// The most that it writes.
    pub write_limit: Bytes,
    /// The most that its file takes.
    pub size: Bytes,
}

/// Steps of a measurement in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Number of times that everything is measured.
    pub rounds: u32,
    /// Bytes of the file, if the drive is fast enough to write them in time.
    pub file_bytes: u64,
    /// Longest time of the first write of the file.
    pub fill_ns: Nanoseconds,
    /// Length of the long go of reads.
    pub long_reads_ns: Nanoseconds,
    /// Length of a round.
    pub round_ns: Nanoseconds,
    /// Most bytes that a round writes.
    pub round_write_bytes: u64,
    /// Length of the random writes at the end.
    pub random_ns: Nanoseconds,
    /// Most bytes that they write.
    pub random_write_bytes: u64,
}

impl Plan {
    /// For a storage with `free_bytes`.
    ///
    /// # Errors
    /// If the budget is too short, or there is no room for a file.
    pub fn new(options: &MeasureOptions, free_bytes: u64) -> Result<Self, MeasureError> {
        let budget_s = options.budget.as_secs_f64();
        if budget_s < BUDGET_S_MIN {
            return Err(MeasureError::Budget(budget_s));
        }
        let share = |share: f64| (budget_s * share * 1e9) as Nanoseconds;
        let writes = |share: f64| (options.write_limit.0 as f64 * share) as u64;
        let wanted = options.size.0.min(writes(FILL_WRITES));
        // The file system keeps most of what it has: other programs write there, too.
        let file_bytes = wanted.min(free_bytes / 4) >> 20 << 20;
        if file_bytes < FILE_BYTES_MIN {
            return Err(MeasureError::NoRoom { free: file_bytes });
        }
        let rounds = (budget_s * ROUNDS_SHARE / ROUND_S) as u32;
        let rounds = rounds.clamp(ROUNDS_MIN, ROUNDS_MAX);
        let round_write_bytes = writes(ROUNDS_WRITES) / u64::from(rounds);
        let rest_bytes = options.write_limit.0 - file_bytes - round_write_bytes * u64::from(rounds);
        Ok(Self {
            rounds,
            file_bytes,
            fill_ns: share(FILL_SHARE),
            round_ns: share(ROUNDS_SHARE) / u64::from(rounds),
            long_reads_ns: share(LONG_READS_SHARE),
            round_write_bytes,
            random_ns: share(RANDOM_SHARE),
            random_write_bytes: rest_bytes,
        })
    }

    /// The most that is written, bytes.
    pub fn write_bytes_max(&self) -> u64 {
        self.file_bytes + u64::from(self.rounds) * self.round_write_bytes + self.random_write_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seconds: u64, write_limit: u64, free: u64) -> Result<Plan, MeasureError> {
        let options = MeasureOptions {
            budget: Duration::from_secs(seconds),
            write_limit: Bytes(write_limit),
            size: Bytes(8 << 30),
        };
        Plan::new(&options, free)
    }

    #[test]
    fn a_plan_keeps_to_its_limits() {
        for (seconds, write_limit, free) in [(5, 1 << 30, 1 << 40), (600, 32 << 30, 10 << 30)] {
            let plan = plan(seconds, write_limit, free).unwrap();
            assert!(plan.write_bytes_max() <= write_limit);
            assert!(plan.file_bytes <= free / 4);
            let rounds_ns = plan.round_ns * u64::from(plan.rounds);
            let ns = plan.fill_ns + plan.long_reads_ns + rounds_ns + plan.random_ns;
            assert!(ns <= seconds * 1_000_000_000);
        }
    }

    #[test]
    fn too_little_time_or_room_is_refused() {
        assert!(matches!(
            plan(4, 1 << 30, 1 << 40),
            Err(MeasureError::Budget(_))
        ));
        assert!(matches!(
            plan(60, 1 << 30, 100 << 20),
            Err(MeasureError::NoRoom { .. })
        ));
    }
}
