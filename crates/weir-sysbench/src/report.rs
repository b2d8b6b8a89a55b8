//! Reports in the words and columns of sysbench 1.0.20 and 1.1.

use std::fmt::Write as _;

use weir_load::{Interval, LoadOutcome, Totals};

use super::{Compat, Invocation};

/// Width of the bar of a histogram's fullest line.
const BAR_CHARACTERS: f64 = 40.0;

/// The answer to `--version`. `version` is Weir's.
pub fn version(compat: Compat, version: &str) -> String {
    format!("sysbench {} (weir {version})\n", compat.version())
}

/// Text that is printed when all connections are ready.
pub const THREADS_STARTED: &str = "Threads started!\n\n";

/// Returns the text that is printed before the connections are made. `version` is Weir's.
pub fn header(invocation: &Invocation, version: &str) -> String {
    let sysbench = invocation.compat.version();
    let options = options_header(invocation);
    format!("sysbench {sysbench} (weir {version}, native workloads)\n\n{options}")
}

/// The part of it that tells of options.
pub fn options_header(invocation: &Invocation) -> String {
    let mut text = format!(
        "Running the test with following options:\n\
         Number of threads: {}\n",
        invocation.plan.load.connections
    );
    let warmup_s = invocation.plan.load.warmup.least().as_secs_f64();
    if warmup_s > 0.0 {
        line(&mut text, format_args!("Warmup time: {warmup_s}s"));
    }
    if let Some(rate) = invocation.plan.load.pace.rate() {
        line(
            &mut text,
            format_args!("Target transaction rate: {}/sec", rate.per_s),
        );
    }
    if invocation.report_interval_s > 0 {
        let interval_s = invocation.report_interval_s;
        line(
            &mut text,
            format_args!("Report intermediate results every {interval_s} second(s)"),
        );
    }
    if !invocation.plan.checkpoints.is_empty() {
        let seconds = invocation.plan.checkpoints.iter();
        let seconds: Vec<_> = seconds.map(|time| time.as_secs().to_string()).collect();
        let seconds = seconds.join(", ");
        line(
            &mut text,
            format_args!("Report checkpoint(s) at {seconds} seconds"),
        );
    }
    if invocation.rand_seed == 0 {
        text.push_str("Initializing random number generator from current time\n\n\n");
    } else {
        let seed = invocation.rand_seed;
        line(
            &mut text,
            format_args!("Initializing random number generator from seed ({seed}).\n\n"),
        );
    }
    text.push_str("Initializing worker threads...\n\n");
    text
}

/// One line per interval, and a second one in an open loop; each with its end.
pub fn interval_line(invocation: &Invocation, interval: &Interval) -> String {
    let record = &interval.record;
    let per_s = |count: u64| per_second(count, record.length_s);
    let others = record.queries - record.reads - record.writes;
    let mut text = String::new();
    if !invocation.uses_sql {
        return interval_without_sql(invocation, interval);
    }
    line(
        &mut text,
        format_args!(
            "[ {:.0}s ] thds: {} tps: {:4.2} qps: {:4.2} (r/w/o: {:4.2}/{:4.2}/{:4.2}) \
         lat (ms,{}%): {:4.2} err/s: {:4.2} reconn/s: {:4.2}",
            record.time_s,
            invocation.plan.load.connections,
            per_s(record.transactions),
            per_s(record.queries),
            per_s(record.reads),
            per_s(record.writes),
            per_s(others),
            invocation.percentile,
            percentile_ms(invocation.percentile, |p| interval.latency_us(p)),
            per_s(record.errors),
            per_s(interval.reconnects),
        ),
    );
    if invocation.plan.load.pace.rate().is_some() {
        line(
            &mut text,
            format_args!(
                "[ {:.0}s ] queue length: {}, concurrency: {}",
                record.time_s, interval.queue_length, interval.concurrency
            ),
        );
    }
    text
}

/// The same of a script that asked for no database.
fn interval_without_sql(invocation: &Invocation, interval: &Interval) -> String {
    let record = &interval.record;
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "[ {:.0}s ] thds: {} eps: {:4.2} lat (ms,{}%): {:4.2}",
            record.time_s,
            invocation.plan.load.connections,
            per_second(record.transactions, record.length_s),
            invocation.percentile,
            percentile_ms(invocation.percentile, |p| interval.latency_us(p)),
        ),
    );
    if invocation.plan.load.pace.rate().is_some() {
        let (queue, concurrency) = (interval.queue_length, interval.concurrency);
        line(
            &mut text,
            format_args!(
                "[ {:.0}s ] queue length: {queue} concurrency: {concurrency}",
                record.time_s
            ),
        );
    }
    text
}

/// The report at a checkpoint, of what was done since the one before.
pub fn checkpoint_report(invocation: &Invocation, totals: &Totals) -> String {
    let mut text = String::new();
    let elapsed_s = totals.elapsed_s;
    line(
        &mut text,
        format_args!("[ {elapsed_s:.0}s ] Checkpoint report:"),
    );
    report(&mut text, invocation, totals);
    text
}

/// The report at the end: of the whole run or, as in sysbench, of what was done since the last
/// checkpoint.
pub fn final_report(invocation: &Invocation, outcome: &LoadOutcome) -> String {
    let mut text = String::new();
    match &outcome.since_checkpoint {
        Some(totals) => report(&mut text, invocation, totals),
        None => report(&mut text, invocation, &outcome.totals()),
    }
    text
}

fn report(text: &mut String, invocation: &Invocation, totals: &Totals) {
    if invocation.histogram {
        histogram(text, totals);
    }
    if invocation.uses_sql {
        statistics(text, totals);
    }
    match invocation.compat {
        Compat::Release => general(text, totals),
        Compat::Development => throughput(text, totals),
    }
    latency(text, invocation.percentile, totals);
    let fairness = &totals.fairness;
    line(
        text,
        format_args!(
            "Threads fairness:\n    \
             events (avg/stddev):           {:.4}/{:3.2}\n    \
             execution time (avg/stddev):   {:.4}/{:3.2}\n",
            fairness.transactions_mean,
            fairness.transactions_deviation,
            fairness.busy_s_mean,
            fairness.busy_s_deviation,
        ),
    );
}

fn statistics(text: &mut String, totals: &Totals) {
    let counts = &totals.counts;
    text.push_str("SQL statistics:\n    queries performed:\n");
    for (label, count) in [
        ("read:", counts.reads),
        ("write:", counts.writes),
        ("other:", counts.others),
        ("total:", counts.queries),
    ] {
        line(text, format_args!("        {label:<32} {count}"));
    }
    let per_s = |count: u64| per_second(count, totals.length_s);
    for (label, count) in [
        ("transactions:", counts.transactions),
        ("queries:", counts.queries),
        ("ignored errors:", counts.errors),
        ("reconnects:", counts.reconnects),
    ] {
        line(
            text,
            format_args!("    {label:<36} {count:<6} ({:.2} per sec.)", per_s(count)),
        );
    }
}

fn general(text: &mut String, totals: &Totals) {
    line(
        text,
        format_args!(
            "\nGeneral statistics:\n    \
             total time:                          {:.4}s\n    \
             total number of events:              {}\n",
            totals.elapsed_s, totals.counts.transactions
        ),
    );
}

/// Adds the lines that 1.1 has in its place.
fn throughput(text: &mut String, totals: &Totals) {
    let events = totals.counts.transactions;
    line(
        text,
        format_args!(
            "\nThroughput:\n    \
             events/s (eps):                      {:.4}\n    \
             time elapsed:                        {:.4}s\n    \
             total number of events:              {events}\n",
            per_second(events, totals.length_s),
            totals.elapsed_s,
        ),
    );
}

pub(super) fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

fn latency(text: &mut String, percentile: u32, totals: &Totals) {
    let summary = &totals.latency;
    text.push_str("Latency (ms):\n");
    for (label, ms) in [
        ("min:", summary.us_min / 1e3),
        ("avg:", summary.us_mean / 1e3),
        ("max:", summary.us_max / 1e3),
    ] {
        line(text, format_args!("         {label} {ms:>39.2}"));
    }
    if percentile == 0 {
        text.push_str("         percentile stats:               disabled\n");
    } else {
        let ms = percentile_ms(percentile, |p| totals.latency_us(p));
        line(
            text,
            format_args!("        {percentile:3}th percentile: {ms:>27.2}"),
        );
    }
    let sum_ms = totals.latency_s_sum * 1e3;
    line(text, format_args!("         sum: {sum_ms:>39.2}\n"));
}

/// A percentile in milliseconds; 0 when percentiles are off.
fn percentile_ms(percentile: u32, latency_us: impl Fn(f64) -> f64) -> f64 {
    if percentile == 0 {
        return 0.0;
    }
    latency_us(f64::from(percentile)) / 1e3
}

/// Latencies and bars. sysbench groups into 1,024 logarithmic buckets over 0.001 to 100,000 ms.
fn histogram(text: &mut String, totals: &Totals) {
    let lines = group(totals.latencies_us());
    let most = lines.iter().map(|(_, count)| *count).max().unwrap_or(1);
    text.push_str("Latency histogram (values are in milliseconds)\n");
    text.push_str("       value  ------------- distribution ------------- count\n");
    for (ms, count) in lines {
        let bar = "*".repeat((count as f64 / most as f64 * BAR_CHARACTERS).round() as usize);
        line(text, format_args!("{ms:12.3} |{bar:<40} {count}"));
    }
    text.push_str(" \n");
}

/// Sums ascending latencies in microseconds by sysbench's buckets; milliseconds and counts.
fn group(latencies_us: impl Iterator<Item = (f64, u64)>) -> Vec<(f64, u64)> {
    let low_ms = 0.001_f64;
    let step = (100_000.0 / low_ms).ln() / 1023.0;
    let mut lines: Vec<(f64, u64)> = Vec::new();
    for (us, count) in latencies_us {
        let bucket = ((us / 1e3).max(low_ms) / low_ms).ln() / step;
        let ms = low_ms * (bucket.floor() * step).exp();
        match lines.last_mut() {
            Some((last_ms, sum)) if (*last_ms - ms).abs() < f64::EPSILON * ms => *sum += count,
            _ => lines.push((ms, count)),
        }
    }
    lines
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    writeln!(text, "{arguments}").expect("invariant: writing into a string cannot fail");
}

#[cfg(test)]
mod tests;
