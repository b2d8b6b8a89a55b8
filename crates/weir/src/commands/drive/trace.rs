//! `weir drive trace`: recording what a drive is asked, and reading such a recording.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::bail;
use weir_drive::{TraceOperation, TraceReader, TraceSummary};
use weir_model::{Bytes, FileKind, Latencies, OpKind};
use weir_report::{file_kind_name, table};

use crate::cli::TraceArguments;
use crate::{interrupt, output};

/// Interval of looks for the end of a recording.
const POLL: Duration = Duration::from_millis(50);

pub(super) fn execute(arguments: &TraceArguments) -> anyhow::Result<()> {
    if let Some(out) = &arguments.out {
        return record(&arguments.from, out, arguments.seconds);
    }
    if arguments.stop {
        return say(&weir_drive::stop_trace(&arguments.from)?);
    }
    if arguments.from.is_dir() {
        bail!(
            "nothing to do with the drive at `{}`; name a file to record into with --out",
            arguments.from.display()
        );
    }
    let trace = TraceReader::open(&arguments.from)?;
    if arguments.print {
        print(trace)
    } else {
        summarise(trace)
    }
}

fn record(dir: &Path, out: &Path, seconds: Option<f64>) -> anyhow::Result<()> {
    let until = match seconds {
        None => None,
        Some(seconds) if seconds > 0.0 && seconds.is_finite() => {
            Some(Instant::now() + Duration::from_secs_f64(seconds))
        }
        Some(seconds) => bail!("--seconds {seconds}: must be above 0"),
    };
    let stop = interrupt::stop_flag()?;
    weir_drive::start_trace(dir, out)?;
    if until.is_none() {
        eprintln!("recording into {}; Ctrl-C ends it", out.display());
    }
    let is_over = || until.is_some_and(|until| Instant::now() >= until);
    while !stop.load(Ordering::SeqCst) && !is_over() {
        if !weir_drive::is_mounted(dir) {
            return output::line(format_args!(
                "the drive was unmounted; {} ends with its last operation",
                out.display()
            ));
        }
        std::thread::sleep(POLL);
    }
    say(&weir_drive::stop_trace(dir)?)
}

fn say(summary: &TraceSummary) -> anyhow::Result<()> {
    output::line(format_args!(
        "{} operations recorded, {} lost",
        summary.operations, summary.lost
    ))
}

fn print(mut trace: TraceReader) -> anyhow::Result<()> {
    output::line("at_us\tlatency_us\toperation\toffset\tbytes\tkind\tfile")?;
    while let Some(operation) = trace.next() {
        let TraceOperation {
            at_ns,
            latency_ns,
            what,
            file_kind,
            file,
            offset,
            bytes,
        } = operation?;
        output::line(format_args!(
            "{:.3}\t{:.3}\t{}\t{offset}\t{bytes}\t{}\t{}",
            at_ns as f64 / 1e3,
            f64::from(latency_ns) / 1e3,
            name(what),
            file_kind_name(file_kind),
            trace.path(file).unwrap_or("-"),
        ))?;
    }
    Ok(())
}

#[derive(Default)]
struct Sum {
    operations: u64,
    bytes: u64,
    latencies: Vec<u64>,
}

fn summarise(mut trace: TraceReader) -> anyhow::Result<()> {
    let mut sums = BTreeMap::<(FileKind, &'static str), Sum>::new();
    let (mut first_ns, mut last_ns) = (u64::MAX, 0);
    for operation in trace.by_ref() {
        let operation = operation?;
        first_ns = first_ns.min(operation.at_ns);
        last_ns = last_ns.max(operation.at_ns);
        let key = (operation.file_kind, name(operation.what));
        let sum = sums.entry(key).or_default();
        sum.operations += 1;
        sum.bytes += operation.bytes;
        sum.latencies.resize(Latencies::BUCKETS, 0);
        sum.latencies[Latencies::bucket(u64::from(operation.latency_ns))] += 1;
    }
    let row = |((kind, what), sum): ((FileKind, &str), Sum)| {
        let latencies = Latencies::from_counts(sum.latencies);
        let quantile = |q| format!("{:.0}", latencies.quantile_us(q).unwrap_or(0.0));
        vec![
            file_kind_name(kind).to_owned(),
            what.to_owned(),
            sum.operations.to_string(),
            Bytes(sum.bytes).to_string(),
            quantile(0.5),
            quantile(0.99),
        ]
    };
    let rows: Vec<_> = sums.into_iter().map(row).collect();
    let header = ["files", "operation", "count", "bytes", "p50 us", "p99 us"];
    output::text(table(&header, &rows))?;
    output::line(format_args!(
        "{:.1} s recorded, {} operations lost",
        last_ns.saturating_sub(first_ns) as f64 / 1e9,
        trace.lost()
    ))
}

fn name(what: OpKind) -> &'static str {
    match what {
        OpKind::Read => "read",
        OpKind::Write => "write",
        OpKind::Flush => "flush",
        OpKind::Discard => "discard",
    }
}
