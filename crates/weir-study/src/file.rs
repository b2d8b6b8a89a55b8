//! The study file as the user wrote it: every key that exists, nothing filled in.

use std::collections::BTreeMap;

use serde::Deserialize;
use weir_model::{DistributionName, Duration, Price, Scale, parse_toml};

use crate::StudyError;
use crate::declared::{ClaimSection, NegativeControlSection};

/// A study file. Unknown keys are errors: a misspelt setting must not be silently a default.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyFile {
    /// What the study asks.
    pub(crate) study: StudySection,
    /// Which server, and what all cells share.
    pub(crate) server: ServerSection,
    /// The data.
    pub(crate) data: DataSection,
    /// The load.
    pub(crate) load: LoadSection,
    /// Factor -> levels: `drive`, `threads`, or a server variable.
    #[serde(default)]
    pub(crate) factors: BTreeMap<String, Vec<Setting>>,
    /// Repetitions.
    #[serde(default)]
    pub(crate) repeat: RepeatSection,
    /// Published claims.
    #[serde(default)]
    pub(crate) claims: Vec<ClaimSection>,
    /// Places where a factor cannot have an effect.
    #[serde(default)]
    pub(crate) negative_controls: Vec<NegativeControlSection>,
    /// Prices of levels.
    #[serde(default)]
    pub(crate) prices: BTreeMap<String, Price>,
}

impl StudyFile {
    /// Reads the text of the study file called `name`.
    pub fn parse(name: &str, text: &str) -> Result<Self, StudyError> {
        parse_toml(text).map_err(|message| StudyError::Syntax {
            file: name.to_owned(),
            message,
        })
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudySection {
    pub(crate) title: String,
    pub(crate) question: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerSection {
    /// `mysql`, `mariadb`, or the path of a server program.
    #[serde(default = "mysql")]
    pub(crate) flavor: String,
    #[serde(default)]
    pub(crate) config: BTreeMap<String, Setting>,
}

fn mysql() -> String {
    "mysql".to_owned()
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataSection {
    pub(crate) workload: String,
    #[serde(default = "one")]
    pub(crate) tables: u32,
    pub(crate) rows: u64,
    #[serde(default)]
    pub(crate) scale: ScaleSetting,
}

fn one() -> u32 {
    1
}

/// `scale = "1/500"` for data and drive alike, or a scale for each: data shrink to fit the
/// machine's memory, a drive shrinks to fit its cores, and the two need not be equal.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(
    untagged,
    expecting = "not a scale; write `\"1/500\"`, or `{ data = \"1/500\", drive = \"1/25\" }`, \
                 from above 0 to 1"
)]
pub(crate) enum ScaleSetting {
    Both(Scale),
    Each(EachScale),
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EachScale {
    #[serde(default)]
    pub(crate) data: Scale,
    #[serde(default)]
    pub(crate) drive: Scale,
}

impl Default for ScaleSetting {
    fn default() -> Self {
        Self::Both(Scale::FULL)
    }
}

impl ScaleSetting {
    pub(crate) fn each(self) -> EachScale {
        match self {
            Self::Both(scale) => EachScale {
                data: scale,
                drive: scale,
            },
            Self::Each(each) => each,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadSection {
    pub(crate) threads: OneOrMore,
    pub(crate) warmup: Duration,
    pub(crate) measure: Duration,
    #[serde(default)]
    pub(crate) distribution: DistributionName,
}

/// `threads = 32` or `threads = [2, 32]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "not a number of connections, such as `32` or `[2, 32]`"
)]
pub(crate) enum OneOrMore {
    One(u32),
    More(Vec<u32>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepeatSection {
    #[serde(default = "three")]
    pub(crate) runs: u32,
    /// Of the order of runs and the keys; by default from the clock, and printed.
    #[serde(default)]
    pub(crate) seed: Option<u64>,
}

fn three() -> u32 {
    3
}

impl Default for RepeatSection {
    fn default() -> Self {
        Self {
            runs: three(),
            seed: None,
        }
    }
}

/// A value of a server variable or a factor's level, as TOML has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "not a value; write text, a number, or true or false"
)]
pub(crate) enum Setting {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Setting {
    /// As an option file has it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Bool(true) => "ON".to_owned(),
            Self::Bool(false) => "OFF".to_owned(),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}
