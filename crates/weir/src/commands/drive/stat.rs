//! `weir drive stat`: what a mounted drive is doing.

use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use weir_model::{
    Bytes, DriveStatistics, FileKindLatencies, FileKindStatistics, Latencies, SpaceState,
};
use weir_report::{file_kind_name, table};

use crate::{interrupt, output};

const INTERVAL: Duration = Duration::from_secs(1);
/// ECMA-48: cursor to the upper left, erase to the end of the screen.
const HOME_AND_CLEAR: &str = "\x1b[H\x1b[J";

pub(super) fn execute(dir: &Path, json: bool, once: bool) -> anyhow::Result<()> {
    if json {
        let statistics = weir_drive::statistics(dir)?;
        return output::line(serde_json::to_string(&statistics)?);
    }
    if once || !std::io::stdout().is_terminal() {
        let statistics = weir_drive::statistics(dir)?;
        return output::text(page(&statistics, &statistics, "since the mount"));
    }
    live(dir)
}

fn live(dir: &Path) -> anyhow::Result<()> {
    let stop = interrupt::stop_flag()?;
    let mut before = weir_drive::statistics(dir)?;
    while !stop.load(std::sync::atomic::Ordering::SeqCst) {
        std::thread::sleep(INTERVAL);
        let now = weir_drive::statistics(dir)?;
        let page = page(&now.since(&before), &now, "in the last second; Ctrl-C ends");
        output::text(format_args!("{HOME_AND_CLEAR}{page}"))?;
        before = now;
    }
    Ok(())
}

/// `span`: what was counted in the span that `of` names; `now`: since the mount.
fn page(span: &DriveStatistics, now: &DriveStatistics, of: &str) -> String {
    let mut lines = vec![format!(
        "mounted {:.0} s; figures {of}\n\n{}",
        now.uptime_s,
        traffic(span)
    )];
    lines.push(device(span, now));
    lines.push(space(now));
    lines.extend(cache(span));
    lines.extend(faults(now));
    lines.push(emulation(now));
    lines.join("\n") + "\n"
}

fn traffic(span: &DriveStatistics) -> String {
    let header = [
        "files", "read/s", "MB/s", "p50 us", "p99 us", "write/s", "MB/s", "p50 us", "p99 us",
        "flush/s", "p99 us",
    ];
    let mut rows = Vec::new();
    let mut total = (FileKindStatistics::default(), FileKindLatencies::default());
    for (kind, counted) in &span.by_kind {
        let latencies = span.latencies.get(kind).cloned().unwrap_or_default();
        total.0 = total.0.plus(counted);
        total.1.merge(&latencies);
        rows.push(row(
            file_kind_name(*kind),
            counted,
            &latencies,
            span.uptime_s,
        ));
    }
    rows.push(row("total", &total.0, &total.1, span.uptime_s));
    table(&header, &rows)
}

fn row(
    name: &str,
    counted: &FileKindStatistics,
    latencies: &FileKindLatencies,
    seconds: f64,
) -> Vec<String> {
    let rate = |count: u64| format!("{:.0}", count as f64 / seconds);
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6 / seconds);
    let quantile = |of: &Latencies, quantile| match of.quantile_us(quantile) {
        Some(latency) => format!("{latency:.0}"),
        None => "-".to_owned(),
    };
    vec![
        name.to_owned(),
        rate(counted.reads),
        megabytes(counted.read_bytes),
        quantile(&latencies.reads, 0.5),
        quantile(&latencies.reads, 0.99),
        rate(counted.writes),
        megabytes(counted.write_bytes),
        quantile(&latencies.writes, 0.5),
        quantile(&latencies.writes, 0.99),
        rate(counted.flushes),
        quantile(&latencies.flushes, 0.99),
    ]
}

fn device(span: &DriveStatistics, now: &DriveStatistics) -> String {
    let busy = |seconds: f64| (100.0 * seconds / span.uptime_s).min(100.0);
    let amplification = match span.host_written_bytes {
        0 => "-".to_owned(),
        host => format!("{:.2}", span.media_written_bytes as f64 / host as f64),
    };
    format!(
        "\ndevice: {} in flight; reads {:.0} % busy, writes {:.0} % busy; {} to flash or platters, \
         {amplification} for each byte written",
        now.queue_depth,
        busy(span.read_busy_s),
        busy(span.write_busy_s),
        Bytes(span.media_written_bytes),
    )
}

fn space(now: &DriveStatistics) -> String {
    let written = format!(
        "space: {} used, written at {:.2} : 1",
        Bytes(now.used_bytes),
        1.0 / now.compressed_fraction.max(f64::MIN_POSITIVE),
    );
    let flash = (now.physical_capacity_bytes > 0).then(|| {
        let state = match now.space_state {
            SpaceState::Normal => "",
            SpaceState::Warning => ", WARNING: above its first threshold",
            SpaceState::Critical => ", CRITICAL: nearly full",
            SpaceState::Full => ", FULL",
        };
        let (used, capacity) = (now.physical_used_bytes, now.physical_capacity_bytes);
        format!("{} of {} of flash{state}", Bytes(used), Bytes(capacity))
    });
    let life = now
        .endurance_used
        .map(|used| format!("{:.6} % of its life used", used * 100.0));
    let host = format!(
        "{} left on the host below it",
        Bytes(now.backing_free_bytes)
    );
    let parts = [Some(written), flash, life, Some(host)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn cache(span: &DriveStatistics) -> Option<String> {
    let cache = span.cache?;
    let hits = match cache.hit_ratio() {
        Some(ratio) => format!("{:.1} % of the reads hit", ratio * 100.0),
        None => "no reads".to_owned(),
    };
    Some(format!(
        "cache: {hits}; {:.0} % filled, {:.0} % dirty, {} destaged",
        cache.filled_share * 100.0,
        cache.dirty_share * 100.0,
        Bytes(cache.destaged_bytes)
    ))
}

fn faults(now: &DriveStatistics) -> Option<String> {
    let faults = now.faults.as_ref()?;
    let state = if faults.set.are_none() {
        "none now"
    } else {
        "SET, see --json"
    };
    Some(format!(
        "faults: {state}; so far {} errors, {} spikes, {} flipped bits",
        faults.errors, faults.spikes, faults.flipped_bits
    ))
}

fn emulation(now: &DriveStatistics) -> String {
    let verdict = if now.is_on_time() {
        "on time"
    } else {
        "NOT ON TIME: this host is too slow or too busy for this drive"
    };
    format!(
        "emulation: completions late by {:.0} us (median), {:.0} us (p99), {:.1} % late and {:.1} % \
         early by more than 10 us and 5 %; {verdict}",
        now.lateness_us_p50,
        now.lateness_us_p99,
        now.late_share * 100.0,
        now.early_share * 100.0
    )
}
