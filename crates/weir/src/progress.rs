//! Progress on standard error: of a study as a full screen on a terminal, else one plain line per
//! step; of the loading of tables as a bar.

mod loading;
mod screen;

use std::io::IsTerminal;

use weir_store::progress::{Event, Progress};

pub(crate) use loading::LoadingProgress;

use self::screen::Screen;

/// Shows one study while it runs.
pub(crate) enum StudyView {
    Screen(Screen),
    Lines(Lines),
}

impl StudyView {
    /// A screen where standard error is a terminal that can show one, else lines.
    pub(crate) fn new() -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if std::io::stderr().is_terminal() && !is_dumb {
            Self::Screen(Screen::open())
        } else {
            Self::Lines(Lines::default())
        }
    }

    /// Shows `event`, after which the study is where `progress` says.
    pub(crate) fn show(&mut self, event: &Event<'_>, progress: &Progress) {
        match self {
            Self::Screen(screen) => screen.draw(progress),
            Self::Lines(lines) => lines.show(event),
        }
    }
}

/// One plain line per step.
#[derive(Default)]
pub(crate) struct Lines {
    loading_announced: bool,
}

impl Lines {
    fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Loading { rows_total, .. } => {
                if !self.loading_announced {
                    self.loading_announced = true;
                    match rows_total {
                        0 => eprintln!("the script loads its tables, once for all runs"),
                        _ => eprintln!("loading {rows_total} rows, once for all runs"),
                    }
                }
            }
            Event::Changing { change } => eprintln!("data, once for all runs: {change}"),
            Event::DataReady { size, from_cache } => {
                self.loading_announced = false;
                let origin = if *from_cache {
                    "kept from an earlier study"
                } else {
                    "loaded"
                };
                eprintln!("data set: {size} {origin}");
            }
            Event::RunStarted { .. } | Event::Interval(_) | Event::Bottleneck(..) => {}
            Event::RunFinished {
                position,
                total,
                label,
                record,
            } => eprintln!(
                "run {position} of {total}: {label}, repetition {}: {:.0} queries/s, p99 {:.1} ms, \
                 limited by {} ({})",
                record.repetition,
                record.queries_per_s,
                record.latency.us_p99 / 1e3,
                weir_report::bottleneck_name(record.bottleneck),
                weir_report::bottleneck_evidence(record.bottleneck, &record.utilization)
            ),
            Event::RunFailed {
                position,
                total,
                why,
            } => eprintln!("run {position} of {total} failed: {why}"),
        }
    }
}
