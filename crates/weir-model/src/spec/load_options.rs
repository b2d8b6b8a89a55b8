//! The options of a load, one table.
//!
//! A study's keys and factors, `weir load`'s options and help, the command that repeats a run, the set-up in a report,
//! what rules see as a difference, and `docs/study-reference.md` are made from it.

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::pace::{CLOSED_LOOP, NO_RAMP};
use super::{LoadSpec, RateRamp};
use crate::{Duration, UnitError};

/// An option of a load.
#[derive(Debug, Clone, Copy)]
pub struct LoadOption {
    /// Key in `[load]` and name as a factor.
    pub name: &'static str,
    /// Permitted values.
    pub kind: LoadOptionKind,
    /// The value that changes nothing.
    pub default: &'static str,
    /// Description in the help and in the reference.
    pub help: &'static str,
    /// Text in a report, with `{}` for the value.
    pub report_text: &'static str,
    /// True if `weir load` has it under the same name; if not, sysbench has options of its own for it.
    pub has_flag: bool,
    get: fn(&LoadSpec) -> String,
    set: fn(&mut LoadSpec, &str) -> Result<(), String>,
}

/// Permitted values of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadOptionKind {
    /// A length of time with its unit.
    Time,
    /// A whole number.
    Count,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Transactions per second, or a closed loop.
    Rate,
    /// Rates at the ends of a ramp and its length.
    Ramp,
    /// A key and its value.
    Label,
}

/// All labels of agents.
const ANY_LABEL: &str = "any";

/// In the order in which they are to be set: what belongs to a rate comes after it.
pub const LOAD_OPTIONS: &[LoadOption] = &[
    LoadOption {
        name: "rate",
        kind: LoadOptionKind::Rate,
        default: CLOSED_LOOP,
        help: "transactions per second of an open loop, whose latency counts from when they are due",
        report_text: "{} transactions/s due",
        has_flag: false,
        get: |load| {
            let per_s = load.pace.rate_per_s();
            per_s.map_or_else(|| CLOSED_LOOP.to_owned(), |per_s| per_s.to_string())
        },
        set: |load, value| load.pace.set_rate(value),
    },
    LoadOption {
        name: "rate_ramp",
        kind: LoadOptionKind::Ramp,
        default: NO_RAMP,
        help: "a rate that changes evenly, such as 100..5000:60s, warm-up included, and then stays",
        report_text: "a ramp of {}",
        has_flag: true,
        get: |load| {
            let ramp = load.pace.rate().and_then(|rate| {
                let RateRamp { from_per_s, length } = rate.ramp?;
                Some(format!("{from_per_s}..{}:{length}", rate.per_s))
            });
            ramp.unwrap_or_else(|| NO_RAMP.to_owned())
        },
        set: |load, value| load.pace.set_ramp(value),
    },
    LoadOption {
        name: "rate_arrivals",
        kind: LoadOptionKind::Word(&["poisson", "constant"]),
        default: "poisson",
        help: "when the transactions of a rate are due",
        report_text: "{} arrivals",
        has_flag: true,
        get: |load| {
            word(
                &load
                    .pace
                    .rate()
                    .map(|rate| rate.arrivals)
                    .unwrap_or_default(),
            )
        },
        set: |load, value| {
            load.pace.rate_mut()?.arrivals = of_word(value)?;
            Ok(())
        },
    },
    LoadOption {
        name: "think_time",
        kind: LoadOptionKind::Time,
        default: "0s",
        help: "mean pause of a connection after each transaction, in no latency; excludes a rate",
        report_text: "{} of think time",
        has_flag: true,
        get: |load| load.pace.closed_loop().think.mean.to_string(),
        set: |load, value| {
            let mean = time(value)?;
            load.pace.set_closed(|closed| closed.think.mean = mean)
        },
    },
    LoadOption {
        name: "think_kind",
        kind: LoadOptionKind::Word(&["constant", "exponential"]),
        default: "constant",
        help: "distribution of the think time",
        report_text: "{} think times",
        has_flag: true,
        get: |load| word(&load.pace.closed_loop().think.kind),
        set: |load, value| {
            let kind = of_word(value)?;
            load.pace.set_closed(|closed| closed.think.kind = kind)
        },
    },
    LoadOption {
        name: "pacing",
        kind: LoadOptionKind::Time,
        default: "0s",
        help: "time between the starts of two transactions of a connection; the next starts at once if the first took \
               longer; excludes a rate",
        report_text: "each connection begins a transaction every {}",
        has_flag: true,
        get: |load| load.pace.closed_loop().pacing.to_string(),
        set: |load, value| {
            let pacing = time(value)?;
            load.pace.set_closed(|closed| closed.pacing = pacing)
        },
    },
    LoadOption {
        name: "threads_ramp",
        kind: LoadOptionKind::Time,
        default: "0s",
        help: "connections begin one after the other, evenly over this time",
        report_text: "connections begin within {}",
        has_flag: true,
        get: |load| load.connection_ramp.to_string(),
        set: |load, value| {
            load.connection_ramp = time(value)?;
            Ok(())
        },
    },
    LoadOption {
        name: "idle_connections",
        kind: LoadOptionKind::Count,
        default: "0",
        help: "additional connections that only stay open",
        report_text: "idle connections beside: {}",
        has_flag: true,
        get: |load| load.idle_connections.to_string(),
        set: |load, value| {
            load.idle_connections = value.parse().map_err(|_| "must be a whole number")?;
            Ok(())
        },
    },
    LoadOption {
        name: "compression",
        kind: LoadOptionKind::Word(&["uncompressed", "zlib", "zstd"]),
        default: "uncompressed",
        help: "how packets are compressed; zstd is MySQL's alone",
        report_text: "packets compressed by {}",
        has_flag: false,
        get: |load| word(&load.compression),
        set: |load, value| {
            load.compression = of_word(value)?;
            Ok(())
        },
    },
    LoadOption {
        name: "tls",
        kind: LoadOptionKind::Word(&[
            "disabled",
            "preferred",
            "required",
            "verify_ca",
            "verify_identity",
        ]),
        default: "disabled",
        help: "how connections are encrypted",
        report_text: "TLS {}",
        has_flag: false,
        get: |load| word(&load.tls),
        set: |load, value| {
            load.tls = of_word(value)?;
            Ok(())
        },
    },
    LoadOption {
        name: "rtt",
        kind: LoadOptionKind::Time,
        default: "0s",
        help: "round-trip time that is added to each request, such as 500us; 1 s at most",
        report_text: "{} of round trip added",
        has_flag: true,
        get: |load| load.rtt.to_string(),
        set: |load, value| {
            load.rtt = time(value)?;
            Ok(())
        },
    },
    LoadOption {
        name: "agents",
        kind: LoadOptionKind::Count,
        default: "0",
        help: "load hosts that share the connections, of those that `weir agents list` shows; 0: this process",
        report_text: "load hosts: {}",
        has_flag: true,
        get: |load| load.agents.to_string(),
        set: |load, value| {
            load.agents = value.parse().map_err(|_| "must be a whole number")?;
            Ok(())
        },
    },
    LoadOption {
        name: "agent_label",
        kind: LoadOptionKind::Label,
        default: ANY_LABEL,
        help: "only load hosts whose agents have this label, such as zone=b; any: all",
        report_text: "load hosts with {}",
        has_flag: true,
        get: |load| {
            if load.agent_label.is_empty() {
                ANY_LABEL.to_owned()
            } else {
                load.agent_label.clone()
            }
        },
        set: |load, value| {
            let label = if value == ANY_LABEL { "" } else { value };
            label.clone_into(&mut load.agent_label);
            Ok(())
        },
    },
    LoadOption {
        name: "profile",
        kind: LoadOptionKind::Word(&["off", "on"]),
        default: "off",
        help: "stacks of the server's process 49 times a second of its CPU time, drawn as flame graphs",
        report_text: "stacks of the server sampled: {}",
        has_flag: false,
        get: |load| if load.profile { "on" } else { "off" }.to_owned(),
        set: |load, value| {
            load.profile = value == "on";
            Ok(())
        },
    },
];

impl LoadOption {
    /// The option of this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        LOAD_OPTIONS.iter().find(|option| option.name == name)
    }

    /// Returns the name on the command line of `weir load`.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Returns the value in `load`, as one writes it; `None`: as usual.
    pub fn written(&self, load: &LoadSpec) -> Option<String> {
        let value = (self.get)(load);
        (value != self.default).then_some(value)
    }

    /// Checks `value` by itself; an error says what it must be.
    ///
    /// # Errors
    /// If the value is none of the option.
    pub fn check(&self, value: &str) -> Result<(), String> {
        self.meant(value).map(|_| ())
    }

    /// Gives `load` this value; an error says what it must be, or which other option forbids it.
    ///
    /// # Errors
    /// If the value is none of the option, or another option forbids it.
    pub fn set(&self, load: &mut LoadSpec, value: &str) -> Result<(), String> {
        (self.set)(load, &self.meant(value)?)
    }

    /// The value in the spelling that `set` knows.
    fn meant(&self, value: &str) -> Result<String, String> {
        let plain = value.trim().replace('_', "");
        let meant = match self.kind {
            LoadOptionKind::Time => time(value).ok().map(|_| value.to_owned()),
            LoadOptionKind::Count => plain.parse().ok().map(|number: u32| number.to_string()),
            LoadOptionKind::Word(words) => {
                let is_meant = |word: &&&str| word.eq_ignore_ascii_case(value);
                words.iter().find(is_meant).map(|word| (*word).to_owned())
            }
            LoadOptionKind::Rate if value == CLOSED_LOOP => Some(plain),
            LoadOptionKind::Rate => {
                let rate = plain.parse().ok();
                let is_rate = |rate: &f64| *rate > 0.0 && rate.is_finite();
                rate.filter(is_rate).map(|rate| rate.to_string())
            }
            LoadOptionKind::Ramp if value == NO_RAMP => Some(plain),
            LoadOptionKind::Label if value == ANY_LABEL => Some(value.to_owned()),
            LoadOptionKind::Label => is_label(value).then(|| value.to_owned()),
            LoadOptionKind::Ramp => RateRamp::parse(value).ok().map(|_| value.to_owned()),
        };
        meant.ok_or_else(|| self.kind.expected())
    }
}

/// Returns true if it is `KEY=VALUE` of letters, digits, dots, dashes and underscores.
pub fn is_label(text: &str) -> bool {
    let is_plain = |part: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        !part.is_empty() && part.chars().all(fits)
    };
    let parts = text.split_once('=');
    parts.is_some_and(|(key, value)| is_plain(key) && is_plain(value))
}

/// By name: there is one of each.
impl PartialEq for LoadOption {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for LoadOption {}

impl LoadOptionKind {
    /// A value as one writes it, and no option's default.
    pub fn example(self) -> &'static str {
        match self {
            Self::Time => "20ms",
            Self::Count => "7",
            Self::Word(words) => words.last().copied().unwrap_or_default(),
            Self::Rate => "250",
            Self::Ramp => "100..5000:60s",
            Self::Label => "zone=b",
        }
    }

    /// Returns the description of permitted values.
    fn expected(self) -> String {
        let example = self.example();
        match self {
            Self::Time => format!("must be a length of time with its unit, such as {example}"),
            Self::Count => "must be a whole number".to_owned(),
            Self::Word(words) => format!("must be {}", listed(words)),
            Self::Rate => format!("must be transactions per second, or `{CLOSED_LOOP}`"),
            Self::Label => format!("must be a label such as {example}, or `{ANY_LABEL}`"),
            Self::Ramp => format!(
                "must be like {example}: rates per second and the ramp's length; or `{NO_RAMP}`"
            ),
        }
    }
}

/// `a, b or c`.
fn listed(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.join(", "),
    }
}

fn time(value: &str) -> Result<Duration, String> {
    value.parse().map_err(|error: UnitError| error.to_string())
}

/// The word that stands for `value` in a spec.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

fn of_word<T: DeserializeOwned>(word: &str) -> Result<T, String> {
    serde_json::from_value(Value::String(word.to_owned())).map_err(|error| error.to_string())
}
