//! Progress of a study on standard error: a bar with the time left on a terminal, else one plain
//! line per step.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use weir_model::Plan;
use weir_study::Event;

/// Shows the events of one study.
pub(crate) struct Progress<'a> {
    bar: Option<ProgressBar>,
    plan: &'a Plan,
    loading_announced: bool,
}

impl<'a> Progress<'a> {
    /// For the study of `plan`.
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self {
            bar,
            plan,
            loading_announced: false,
        }
    }

    /// Shows one event.
    pub(crate) fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Loading {
                rows_done,
                rows_total,
            } => self.loading(*rows_done, *rows_total),
            Event::DataReady { size, from_cache } => {
                self.loading_announced = false;
                let origin = if *from_cache {
                    "kept from an earlier study"
                } else {
                    "loaded"
                };
                self.line(&format!("data set: {size} {origin}"));
            }
            Event::RunStarted {
                position,
                total,
                label,
                repetition,
            } => {
                self.run_started(
                    *position,
                    *total,
                    &format!("{label}, repetition {repetition}"),
                );
            }
            Event::Interval(interval) => {
                if let Some(bar) = &self.bar {
                    let phase = if interval.time_s > 0.0 {
                        "measuring"
                    } else {
                        "warming up"
                    };
                    bar.set_message(format!(
                        "{phase}: {:.0} queries/s, p99 {:.1} ms",
                        interval.queries as f64 / interval.length_s,
                        interval.latency_us_p99 / 1e3
                    ));
                }
            }
            Event::RunFinished {
                position,
                total,
                label,
                record,
            } => self.line(&format!(
                "run {position} of {total}: {label}, repetition {}: {:.0} queries/s, p99 {:.1} ms, \
                 limited by {} ({})",
                record.repetition,
                record.queries_per_s,
                record.latency.us_p99 / 1e3,
                weir_report::limiter_name(record.limiter),
                weir_report::limiter_evidence(record)
            )),
        }
    }

    fn loading(&mut self, rows_done: u64, rows_total: u64) {
        if let Some(bar) = &self.bar {
            bar.set_style(style("loading data {wide_bar} {percent} %, {eta} left"));
            bar.set_length(rows_total);
            bar.set_position(rows_done);
        } else if !self.loading_announced {
            self.loading_announced = true;
            self.line(&format!("loading {rows_total} rows, once for all runs"));
        }
    }

    fn run_started(&self, position: usize, total: usize, label: &str) {
        if let Some(bar) = &self.bar {
            let left = weir_study::run_time(self.plan, total + 1 - position);
            let minutes = left.0.as_secs().div_ceil(60);
            bar.set_style(style("{spinner} {prefix}  {msg}"));
            bar.set_prefix(format!(
                "run {position}/{total}, {minutes} min left: {label}"
            ));
            bar.set_message("starting");
        }
    }

    /// A line that stays, above the bar if there is one.
    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how far the loading of tables has come: rows per second and the time left on a terminal,
/// else a line for every tenth.
pub(crate) struct LoadingProgress {
    bar: Option<ProgressBar>,
    tenths_told: u64,
}

impl LoadingProgress {
    /// Before anything is loaded.
    pub(crate) fn new() -> Self {
        let template = "{wide_bar} {human_pos} of {human_len} rows, {per_sec}, {eta} left";
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            bar.set_style(style(template));
            bar
        });
        Self {
            bar,
            tenths_told: 0,
        }
    }

    /// So many of the rows are there.
    pub(crate) fn show(&mut self, rows_done: u64, rows_total: u64) {
        if let Some(bar) = &self.bar {
            if bar.length() == Some(0) {
                // Rows that an earlier loading left are no speed of this one.
                bar.set_length(rows_total);
                bar.set_position(rows_done);
                bar.reset_eta();
            }
            bar.set_position(rows_done);
            return;
        }
        let tenths = rows_done * 10 / rows_total.max(1);
        if tenths > self.tenths_told {
            self.tenths_told = tenths;
            eprintln!("{rows_done} of {rows_total} rows");
        }
    }
}

impl Drop for LoadingProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("invariant: the templates are constants")
}
