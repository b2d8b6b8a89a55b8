//! Full latency distributions of every interval, as an `HdrHistogram` interval log.
//!
//! The format is that of the Java implementation's `HistogramLogWriter`, which its plotters and
//! processors read: one V2-deflated histogram per line, in nanoseconds, with its start and length in
//! seconds. Lines without a tag hold all transactions; the tags `transaction:NAME` and
//! `statement:NAME` one kind each. Log lines merge by adding histograms of the same tag.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};

use crate::meter::Kind;
use crate::statistics::Interval;

/// A log that is written interval by interval.
pub struct HdrLog<W> {
    out: W,
    serializer: V2DeflateSerializer,
}

impl<W> fmt::Debug for HdrLog<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HdrLog").finish_non_exhaustive()
    }
}

impl<W: Write> HdrLog<W> {
    /// Begins a log on `out` for a measurement that began at `began`.
    ///
    /// # Errors
    ///
    /// An output that cannot be written.
    pub fn new(mut out: W, began: SystemTime) -> io::Result<Self> {
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            .add_comment("latency in nanoseconds; logged by weir load")
            .with_start_time(began)
            .with_base_time(began)
            .begin_log_with(&mut out, &mut serializer)?;
        Ok(Self { out, serializer })
    }

    /// Adds an interval; one of the warm-up is left out.
    ///
    /// # Errors
    ///
    /// An output that cannot be written.
    pub fn write(&mut self, interval: &Interval) -> io::Result<()> {
        let record = &interval.record;
        if record.time_s <= 0.0 {
            return Ok(());
        }
        let start = Duration::from_secs_f64((record.time_s - record.length_s).max(0.0));
        let length = Duration::from_secs_f64(record.length_s);
        let mut log =
            IntervalLogWriterBuilder::new().begin_log_with(&mut self.out, &mut self.serializer)?;
        let mut write = |histogram: &Histogram<u64>, tag: Option<&str>| {
            log.write_histogram(histogram, start, length, tag.and_then(Tag::new))
                .map_err(|error| match error {
                    IntervalLogWriterError::IoError(error) => error,
                    IntervalLogWriterError::SerializeError(error) => io::Error::other(error),
                })
        };
        write(interval.histogram_ns(), None)?;
        for (kind, name, histogram) in interval.kinds() {
            let what = match kind {
                Kind::Transaction(_) => "transaction",
                Kind::Statement(_) => "statement",
            };
            write(histogram, Some(&tag_of(what, name)))?;
        }
        self.out.flush()
    }
}

/// A tag may hold neither commas nor white space.
fn tag_of(what: &str, name: &str) -> String {
    let name = name.replace(|c: char| c == ',' || c.is_whitespace(), "_");
    format!("{what}:{name}")
}
