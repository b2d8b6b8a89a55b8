//! Progress of `weir load prepare`: a bar with the time left on a terminal, else plain lines.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

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
