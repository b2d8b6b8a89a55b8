//! A running study on a terminal: one screen, drawn anew at each event.
//!
//! It is text and three escape sequences of ECMA-48 and xterm (alternate screen, cursor, clear to
//! the end), so it needs no library: ratatui would add 40 crates for a bar and a curve.

use std::fmt::Write as _;
use std::io::{self, Stderr, Write as _};
use std::panic;
use std::sync::Once;

use rustix::termios::tcgetwinsize;
use weir_report::{bottleneck_evidence, bottleneck_name, grouped};
use weir_store::progress::{FinishedRun, Limits, Progress, RunInProgress, Second, Step};

/// The alternate screen, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// For a terminal that does not know its size.
const SIZE: (usize, usize) = (80, 24);
/// Lines of the screen without those of finished runs.
const FIXED_LINES: usize = 16;

/// The terminal as it was comes back when this is dropped: also at an error, at a signal, which
/// ends the study in order, and at a panic, whose words would be lost with the screen.
pub(crate) struct Screen {
    terminal: Stderr,
}

impl Screen {
    pub(crate) fn open() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                put(&io::stderr(), LEAVE);
                before(panic);
            }));
        });
        let terminal = io::stderr();
        put(&terminal, ENTER);
        Self { terminal }
    }

    pub(crate) fn draw(&mut self, progress: &Progress) {
        let size = tcgetwinsize(&self.terminal).ok();
        let size = size.map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
        let (columns, rows) = size.filter(|size| size.0 > 0).unwrap_or(SIZE);
        let mut out = String::from("\x1b[H");
        for line in lines(progress, columns, rows).iter().take(rows) {
            let _ = write!(out, "{line}\x1b[K\r\n");
        }
        // Not the last line break: it would scroll a full screen.
        out.truncate(out.len() - 2);
        put(&self.terminal, &format!("{out}\x1b[J"));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        put(&self.terminal, LEAVE);
    }
}

/// Writes to the terminal; one that has gone needs nothing.
fn put(terminal: &Stderr, text: &str) {
    let mut terminal = terminal.lock();
    let _ = terminal.write_all(text.as_bytes());
    let _ = terminal.flush();
}

/// The screen's lines, none wider than `columns`.
fn lines(progress: &Progress, columns: usize, rows: usize) -> Vec<String> {
    let mut lines = vec![
        format!(" {}", progress.title),
        format!(" {}", progress.question),
        String::new(),
        overall(progress, columns),
        String::new(),
    ];
    match &progress.run {
        Some(run) => lines.extend(running(run, progress.step, columns)),
        None => lines.push(format!(" {}", step_words(progress.step, None))),
    }
    let room = rows.saturating_sub(FIXED_LINES);
    let skipped = progress.finished.len().saturating_sub(room);
    if !progress.finished.is_empty() && room > 0 {
        lines.extend([String::new(), " finished runs".to_owned()]);
        lines.extend(progress.finished[skipped..].iter().map(finished));
    }
    lines.push(String::new());
    lines.push(" Ctrl-C stops in order; complete runs are kept".to_owned());
    lines.iter().map(|line| fitted(line, columns)).collect()
}

/// ` run 3 of 12  [####--------]  17 %  6 min left`.
fn overall(progress: &Progress, columns: usize) -> String {
    let (done, total) = (progress.runs_done, progress.runs_total.max(1));
    let width = columns.saturating_sub(48).clamp(10, 60);
    let full = width * done.min(total) / total;
    let minutes = progress.time_left_s.div_ceil(60);
    format!(
        " {done} of {total} runs done  [{}{}] {} %  about {minutes} min left",
        "#".repeat(full),
        "-".repeat(width - full),
        100 * done.min(total) / total,
    )
}

fn running(run: &RunInProgress, step: Step, columns: usize) -> Vec<String> {
    let last = run.seconds.last();
    let width = columns.saturating_sub(30).clamp(10, 120);
    let curve = |title: &str, value: fn(&Second) -> f64| {
        let shown: Vec<_> = run
            .seconds
            .iter()
            .rev()
            .take(width)
            .rev()
            .map(value)
            .collect();
        let now = last.map_or("-".to_owned(), |second| grouped(value(second)));
        format!(" {title:<12} {now:>10}  {}", sparkline(&shown))
    };
    vec![
        format!(
            " run {}: {}, repetition {}",
            run.position, run.label, run.repetition
        ),
        format!(" {}", step_words(step, last)),
        String::new(),
        curve("queries/s", |second| second.queries_per_s),
        curve("p95, ms", |second| second.latency_ms_p95),
        curve("p99, ms", |second| second.latency_ms_p99),
        format!(" {:<12} {}", "limited by", limited_by(run.limits.as_ref())),
    ]
}

/// `flush: 13.2 of 16 connections waited for the logs`.
fn limited_by(limits: Option<&Limits>) -> String {
    let Some(Limits {
        bottleneck,
        utilization,
    }) = limits
    else {
        return "not known yet".to_owned();
    };
    format!(
        "{}: {}",
        bottleneck_name(*bottleneck),
        bottleneck_evidence(*bottleneck, utilization)
    )
}

fn step_words(step: Step, last: Option<&Second>) -> String {
    let time_s = last.map_or(0.0, |second| second.time_s);
    match step {
        Step::Preparing => "finding servers and drives".to_owned(),
        Step::Loading { rows_total: 0, .. } => {
            "the script loads its tables, once for all runs".to_owned()
        }
        Step::Loading {
            rows_done,
            rows_total,
        } => format!(
            "loading rows, once for all runs: {} of {}",
            grouped(rows_done as f64),
            grouped(rows_total as f64)
        ),
        Step::Changing => "changing the data, once for all runs".to_owned(),
        Step::Starting => "restoring the data, starting the server".to_owned(),
        Step::WarmingUp => "warming up".to_owned(),
        Step::Measuring => format!("measuring, second {time_s:.0}"),
    }
}

fn finished(run: &FinishedRun) -> String {
    format!(
        " {:>4}  {:>9} queries/s  p99 {:>7} ms  {}, repetition {}: {}",
        run.position,
        grouped(run.queries_per_s.round()),
        grouped(run.latency_ms_p99),
        run.label,
        run.repetition,
        bottleneck_name(run.bottleneck),
    )
}

/// Heights of `values` from zero, in eighths of a line.
fn sparkline(values: &[f64]) -> String {
    const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let step = |value: &f64| STEPS[((value / highest * 7.0).round() as usize).min(7)];
    values.iter().map(step).collect()
}

/// Cut to the width of the terminal; a control character in a title must not control it.
fn fitted(line: &str, columns: usize) -> String {
    let plain = line.chars().filter(|letter| !letter.is_control());
    plain.take(columns).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_begins_at_zero_and_ends_at_the_highest() {
        assert_eq!(sparkline(&[0.0, 50.0, 100.0]), "▁▅█");
        assert_eq!(sparkline(&[0.0, 0.0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
    }

    /// Not a test by itself: the one below runs it in a process of its own.
    #[test]
    #[ignore = "it fails on purpose"]
    fn panics_while_a_screen_is_open() {
        let _screen = Screen::open();
        panic!("on purpose");
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_says_why() {
        let name = "progress::screen::tests::panics_while_a_screen_is_open";
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--ignored", "--nocapture"])
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let place = |part: &str| {
            said.find(part)
                .unwrap_or_else(|| panic!("{part:?}: {said:?}"))
        };
        assert!(place(ENTER) < place(LEAVE) && place(LEAVE) < place("on purpose"));
    }

    #[test]
    fn what_limits_a_run_stands_with_its_evidence_as_soon_as_it_is_known() {
        assert_eq!(limited_by(None), "not known yet");
        let mut utilization = weir_model::Utilization::default();
        utilization.connections.all = 16.0;
        utilization.connections.flush = Some(13.2);
        let limits = Limits {
            bottleneck: weir_model::Bottleneck::Flush,
            utilization,
        };
        assert_eq!(
            limited_by(Some(&limits)),
            "flush: 13.2 of 16 connections waited for the logs"
        );
    }

    #[test]
    fn a_title_cannot_control_the_terminal_or_break_its_lines() {
        assert_eq!(fitted("a\x1b[2Jb\nc", 10), "a[2Jbc");
        assert_eq!(fitted("abcdef", 3), "abc");
    }
}
