//! A row for each interval of the measurement, as CSV. The rows' counts add up to the report's.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use weir_load::{Counts, Interval, LoadOutcome};

const HEADER: &str = "time_s,length_s,transactions,queries,reads,writes,others,errors,reconnects,concurrency,\
                      queue_length,latency_us_p50,latency_us_p95,latency_us_p99,latency_us_max";

/// The file, and what it has so far.
pub(super) struct CsvFile {
    path: PathBuf,
    file: File,
    written: Counts,
}

impl CsvFile {
    /// Makes the file with its header.
    ///
    /// # Errors
    /// A file that cannot be made or written.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path);
        let file = file.with_context(|| format!("while creating {}", path.display()))?;
        let mut csv = Self {
            path: path.to_owned(),
            file,
            written: Counts::default(),
        };
        csv.line(HEADER)?;
        Ok(csv)
    }

    /// Adds an interval; one of the warm-up is left out.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn interval(&mut self, interval: &Interval) -> anyhow::Result<()> {
        let record = &interval.record;
        if record.time_s <= 0.0 {
            return Ok(());
        }
        let counts = Counts {
            transactions: record.transactions,
            queries: record.queries,
            reads: record.reads,
            writes: record.writes,
            others: record.queries - record.reads - record.writes,
            errors: record.errors,
            reconnects: interval.reconnects,
        };
        let (us_p50, us_p95) = (record.latency_us_p50, record.latency_us_p95);
        let (us_p99, us_max) = (record.latency_us_p99, record.latency_us_max);
        let (concurrency, queue_length) = (interval.concurrency, interval.queue_length);
        self.row(
            (record.time_s, record.length_s),
            &counts,
            &format!("{concurrency},{queue_length},{us_p50},{us_p95},{us_p99},{us_max}"),
        )
    }

    /// Adds a row of length 0 for what came after its interval was closed, if anything did.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn complete(&mut self, outcome: &LoadOutcome) -> anyhow::Result<()> {
        let (all, written) = (&outcome.counts, &self.written);
        let late = Counts {
            transactions: all.transactions.saturating_sub(written.transactions),
            queries: all.queries.saturating_sub(written.queries),
            reads: all.reads.saturating_sub(written.reads),
            writes: all.writes.saturating_sub(written.writes),
            others: all.others.saturating_sub(written.others),
            errors: all.errors.saturating_sub(written.errors),
            reconnects: all.reconnects.saturating_sub(written.reconnects),
        };
        if late == Counts::default() {
            return Ok(());
        }
        self.row((outcome.measured_s, 0.0), &late, ",,,,,")
    }

    /// Puts another file in its place.
    #[cfg(test)]
    pub(super) fn fill(&mut self, full: File) {
        self.file = full;
    }

    fn row(
        &mut self,
        (time_s, length_s): (f64, f64),
        counts: &Counts,
        rest: &str,
    ) -> anyhow::Result<()> {
        let Counts {
            transactions,
            queries,
            reads,
            writes,
            others,
            errors,
            reconnects,
        } = counts;
        let sum = &mut self.written;
        sum.transactions += transactions;
        sum.queries += queries;
        sum.reads += reads;
        sum.writes += writes;
        sum.others += others;
        sum.errors += errors;
        sum.reconnects += reconnects;
        self.line(&format!(
            "{time_s},{length_s},{transactions},{queries},{reads},{writes},{others},{errors},{reconnects},{rest}"
        ))
    }

    /// Writes at once, so that others can follow the file.
    fn line(&mut self, line: &str) -> anyhow::Result<()> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error: io::Error| {
            let path = self.path.display();
            anyhow!(
                "cannot write --csv file `{path}` ({error}); free some space, or name another file"
            )
        })
    }
}
