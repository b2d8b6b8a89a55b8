//! Lines of the log and texts of the report, in sysbench's form, one after the other.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::lua::Level;

/// sysbench's reports are notices.
const NOTICE: u32 = 3;

/// Destination of text.
#[derive(Clone)]
pub struct Output(Arc<dyn Fn(&str) + Send + Sync>);

impl Output {
    /// Text goes to this function, piece by piece.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

/// Log of a script's run.
#[derive(Debug)]
pub(crate) struct Log {
    output: Output,
    /// Messages of what is printed for the user and not for a program that reads the report.
    remarks: Output,
    verbosity: u32,
    last: Mutex<Last>,
}

/// The line that was written last, and how often it came again.
#[derive(Debug, Default)]
struct Last {
    line: String,
    repeated: u32,
}

impl Last {
    fn end(&mut self) -> String {
        self.line.clear();
        match std::mem::take(&mut self.repeated) {
            0 => String::new(),
            times => format!("(last message repeated {times} times)\n"),
        }
    }
}

impl Log {
    pub(crate) fn new(output: Output, remarks: Output, verbosity: u32) -> Self {
        Self {
            output,
            remarks,
            verbosity,
            last: Mutex::default(),
        }
    }

    /// A line of the log; one that comes again is counted.
    pub(crate) fn line(&self, level: Level, text: &str) {
        let (prefix, number) = match level {
            Level::Fatal => ("FATAL: ", 0),
            Level::Alert => ("ALERT: ", 1),
            Level::Warning => ("WARNING: ", 2),
            Level::Notice => ("", NOTICE),
        };
        if number > self.verbosity {
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{prefix}{text}\n");
        if last.line == line {
            last.repeated += 1;
            return;
        }
        let end = last.end();
        (self.output.0)(&format!("{end}{line}"));
        last.line = line;
    }

    pub(crate) fn fatal(&self, text: &str) {
        self.line(Level::Fatal, text);
    }

    /// A text of the report.
    pub(crate) fn report(&self, text: &str) {
        if self.verbosity < NOTICE || text.is_empty() {
            return;
        }
        self.end();
        (self.output.0)(text);
    }

    /// Prints a remark for the user, a line.
    pub(crate) fn remark(&self, line: &str) {
        (self.remarks.0)(&format!("{line}\n"));
    }

    /// Says how often the last line came again.
    pub(crate) fn end(&self) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let end = last.end();
        if !end.is_empty() {
            (self.output.0)(&end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_comes_again_is_counted() {
        let text = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&text);
        let output = Output::new(move |piece| kept.lock().unwrap().push_str(piece));
        let log = Log::new(output.clone(), output, 3);
        for line in ["a", "a", "a", "b"] {
            log.fatal(line);
        }
        log.line(Level::Notice, "c");
        log.report("d\n");
        log.fatal("e");
        log.fatal("e");
        log.end();
        assert_eq!(
            *text.lock().unwrap(),
            "FATAL: a\n(last message repeated 2 times)\nFATAL: b\nc\nd\nFATAL: e\n\
             (last message repeated 1 times)\n"
        );
    }
}
