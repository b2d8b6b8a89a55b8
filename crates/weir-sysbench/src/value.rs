//! Option values as sysbench reads them.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;
use weir_mysql::OptionFileError;

/// A command line that cannot be understood. Exit status 1, as sysbench has it.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UsageError {
    /// No such option.
    #[error("invalid option: --{name}{}", hint(.nearest.as_deref()))]
    UnknownOption {
        /// As written.
        name: String,
        /// Name that may have been meant.
        nearest: Option<String>,
    },
    /// sysbench has it, this engine does not.
    #[error("option --{name} is sysbench's but not supported here ({why}); leave it out")]
    UnsupportedOption {
        /// The option.
        name: String,
        /// Reason.
        why: &'static str,
    },
    /// The value does not fit the option.
    #[error("invalid value for option --{name}: `{value}` ({expected})")]
    Value {
        /// The option.
        name: String,
        /// As written.
        value: String,
        /// Permitted values.
        expected: String,
    },
    /// The value does not fit an option of order entry.
    #[error("invalid value for option --{name}: {why}")]
    OrderEntry {
        /// The option.
        name: String,
        /// Permitted values.
        why: String,
    },
    /// An option of order entry with another workload.
    #[error(
        "option --{0} is one of order_entry; leave it out, or name order_entry as the workload"
    )]
    OfOrderEntry(String),
    /// Several options that cannot be understood, each with its reason.
    #[error("{0}")]
    Several(String),
    /// No workload of this name.
    #[error("{0}")]
    Workload(String),
    /// No command of this name.
    #[error("no command `{0}`; write prepare, prewarm, run, cleanup or help")]
    Command(String),
    /// More words than a workload and a command.
    #[error(
        "unexpected argument `{0}`; write WORKLOAD [--options] prepare|prewarm|run|cleanup|help"
    )]
    Argument(String),
    /// One of sysbench's tests of something else.
    #[error("`{0}` tests the host and not a database; run it with sysbench itself")]
    BuiltIn(String),
    /// A script.
    #[error("`{0}` is a Lua script and no native workload")]
    Script(String),
    /// An option file that cannot be used.
    #[error(transparent)]
    OptionFile(#[from] OptionFileError),
    /// Words are missing.
    #[error("no {0}; write WORKLOAD [--options] prepare|prewarm|run|cleanup|help")]
    Missing(&'static str),
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean --{name}?"))
}

/// An option's value, for messages and conversion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) name: &'a str,
    /// `None`: the option stood without `=`.
    pub(super) text: Option<&'a str>,
}

impl<'a> Value<'a> {
    /// Reads `--name=text` or `--name`; `None` for a word that is no option.
    pub(super) fn of_argument(argument: &'a str) -> Option<Self> {
        let option = argument.strip_prefix("--")?;
        let (name, text) = match option.split_once('=') {
            Some((name, text)) => (name, Some(text)),
            None => (option, None),
        };
        Some(Self { name, text })
    }
}

impl Value<'_> {
    pub(super) fn wrong(&self, expected: impl Into<String>) -> UsageError {
        UsageError::Value {
            name: self.name.to_owned(),
            value: self.text.unwrap_or_default().to_owned(),
            expected: expected.into(),
        }
    }

    /// Any text.
    pub(super) fn text(&self) -> Result<String, UsageError> {
        self.text
            .map(str::to_owned)
            .ok_or_else(|| self.wrong("needs a value"))
    }

    /// One or more values separated by commas.
    pub(super) fn list<T>(&self, one: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, UsageError> {
        self.list_or_none(one).and_then(|list| {
            if list.is_empty() {
                return Err(self.wrong("needs a value"));
            }
            Ok(list)
        })
    }

    /// Any number of values separated by commas.
    pub(super) fn list_or_none<T>(
        &self,
        one: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, UsageError> {
        self.text()?
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(one)
            .collect::<Option<_>>()
            .ok_or_else(|| self.wrong("must be values in range, separated by commas"))
    }

    /// A path; empty for none.
    pub(super) fn path(&self) -> Result<Option<PathBuf>, UsageError> {
        let text = self.text()?;
        Ok((!text.is_empty()).then(|| PathBuf::from(text)))
    }

    /// A whole number: `1000000`, `1_000_000` or `1e6`, or with K, M, G or T for powers of 1,024 as in sysbench.
    pub(super) fn number(&self, min: u64, max: u64) -> Result<u64, UsageError> {
        // A larger bound is the type's, not the option's.
        let expected = if max < u64::from(u32::MAX) {
            format!("must be a whole number from {min} to {max}")
        } else {
            format!("must be a whole number of at least {min}")
        };
        let text = self.text.unwrap_or_default();
        let (digits, shift) = match text.char_indices().last() {
            Some((end, 'K' | 'k')) => (&text[..end], 10),
            Some((end, 'M' | 'm')) => (&text[..end], 20),
            Some((end, 'G' | 'g')) => (&text[..end], 30),
            Some((end, 'T' | 't')) => (&text[..end], 40),
            _ => (text, 0),
        };
        whole(digits)
            .and_then(|number| number.checked_mul(1 << shift))
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| self.wrong(expected))
    }

    /// A number that fits 32 bits.
    pub(super) fn small(&self, min: u32) -> Result<u32, UsageError> {
        self.number(u64::from(min), u64::from(u32::MAX))
            .map(|number| number as u32)
    }

    /// A fraction.
    pub(super) fn real(&self) -> Result<f64, UsageError> {
        let number = self.text.unwrap_or_default().parse::<f64>();
        number
            .ok()
            .filter(|number| number.is_finite())
            .ok_or_else(|| self.wrong("must be a number"))
    }

    /// A rate per second; 0 for none.
    pub(super) fn rate(&self) -> Result<f64, UsageError> {
        self.real()
            .ok()
            .filter(|rate| *rate >= 0.0)
            .ok_or_else(|| self.wrong("must be a number that is not negative"))
    }

    /// A length of time in seconds, also with decimals. sysbench knows whole seconds only.
    pub(super) fn seconds(&self) -> Result<Duration, UsageError> {
        let seconds = self.real().ok();
        seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .filter(|time| u32::try_from(time.as_secs()).is_ok())
            .ok_or_else(|| self.wrong("must be a number of seconds that is not negative"))
    }

    /// A switch; bare means on.
    pub(super) fn switch(&self) -> Result<bool, UsageError> {
        match self.text {
            None | Some("on" | "true" | "1") => Ok(true),
            Some("off" | "false" | "0") => Ok(false),
            Some(_) => Err(self.wrong("must be on or off")),
        }
    }
}

/// A whole number in digits, with underscores between them, or with a power of ten: `1.5e6`.
fn whole(text: &str) -> Option<u64> {
    let is_grouped = text.starts_with(|c: char| c.is_ascii_digit()) && !text.ends_with('_');
    let text = if is_grouped {
        text.replace('_', "")
    } else {
        text.to_owned()
    };
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return text.parse().ok();
    };
    let exponent: u32 = exponent.trim_start_matches('+').parse().ok()?;
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let zeros = exponent.checked_sub(after.len() as u32)?;
    let digits: u64 = format!("{before}{after}").parse().ok()?;
    digits.checked_mul(10_u64.checked_pow(zeros)?)
}

#[cfg(test)]
mod tests {
    use super::Value;

    fn value(text: Option<&str>) -> Value<'_> {
        Value { name: "x", text }
    }

    #[test]
    fn sizes_take_suffixes() {
        for (text, number) in [
            ("10", 10),
            ("2K", 2048),
            ("1m", 1 << 20),
            ("1G", 1 << 30),
            ("1e6", 1_000_000),
            ("1.5E+3", 1_500),
            ("1_000_000", 1_000_000),
        ] {
            assert_eq!(value(Some(text)).number(0, u64::MAX), Ok(number));
        }
        for text in [
            "",
            "K",
            "-1",
            "1.5",
            "1X",
            "99999999999T",
            "1.55e1",
            "e6",
            "_1",
            "1_",
            "1e99",
        ] {
            assert!(value(Some(text)).number(0, u64::MAX).is_err(), "{text}");
        }
        assert!(value(None).number(0, 1).is_err());
    }

    #[test]
    fn switches_are_on_when_bare() {
        assert_eq!(value(None).switch(), Ok(true));
        assert_eq!(value(Some("off")).switch(), Ok(false));
        assert!(value(Some("yes")).switch().is_err());
    }
}
