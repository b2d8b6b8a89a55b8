//! `[load]`: the keys that a study needs, and whatever the table of a load's options has.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use weir_model::{
    DistributionName, Duration, LOAD_OPTIONS, LoadOption, REPLAY_OPTIONS, ReplayOption,
};

use super::{Setting, Threads, Warmup};

/// The section as it is written.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadSection {
    pub(crate) threads: Option<Threads>,
    pub(crate) warmup: Option<Warmup>,
    pub(crate) measure: Option<Duration>,
    pub(crate) distribution: DistributionName,
    /// Options of the workload by sysbench's names, or of a Lua script's run.
    pub(crate) options: BTreeMap<String, Setting>,
    /// Of order entry, as the next.
    pub(crate) keying_and_think_time: Option<Setting>,
    pub(crate) fixed_warehouses: Option<Setting>,
    /// The path of a capture.
    pub(crate) replay: Option<String>,
    /// Options of its replay by the names in their table.
    pub(crate) of_replay: BTreeMap<&'static str, Setting>,
    /// Options of the load by the names in their table.
    pub(crate) of_table: BTreeMap<&'static str, Setting>,
}

/// Keys that are not in the table.
const OTHER_KEYS: [&str; 8] = [
    "replay",
    "threads",
    "warmup",
    "measure",
    "distribution",
    "keying_and_think_time",
    "fixed_warehouses",
    "options",
];

impl<'de> Deserialize<'de> for LoadSection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Section)
    }
}

struct Section;

impl<'de> Visitor<'de> for Section {
    type Value = LoadSection;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut keys: A) -> Result<LoadSection, A::Error> {
        let mut load = LoadSection::default();
        while let Some(key) = keys.next_key()? {
            match key {
                Key::Other("replay") => load.replay = Some(keys.next_value()?),
                Key::Other("threads") => load.threads = Some(keys.next_value()?),
                Key::Other("warmup") => load.warmup = Some(keys.next_value()?),
                Key::Other("measure") => load.measure = Some(keys.next_value()?),
                Key::Other("distribution") => load.distribution = keys.next_value()?,
                Key::Other("keying_and_think_time") => {
                    load.keying_and_think_time = Some(keys.next_value()?);
                }
                Key::Other("fixed_warehouses") => {
                    load.fixed_warehouses = Some(keys.next_value()?);
                }
                Key::Other(_) => load.options = keys.next_value()?,
                Key::OfReplay(option) => {
                    load.of_replay.insert(option.name, keys.next_value()?);
                }
                Key::OfTable(option) => {
                    load.of_table.insert(option.name, keys.next_value()?);
                }
            }
        }
        Ok(load)
    }
}

enum Key {
    Other(&'static str),
    OfReplay(&'static ReplayOption),
    OfTable(&'static LoadOption),
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if let Some(option) = LoadOption::by_name(&name) {
            return Ok(Self::OfTable(option));
        }
        if let Some(option) = ReplayOption::by_name(&name) {
            return Ok(Self::OfReplay(option));
        }
        let other = OTHER_KEYS.into_iter().find(|key| *key == name);
        other.map(Self::Other).ok_or_else(|| unknown(&name))
    }
}

/// In serde's words, from which the nearest name is suggested.
fn unknown<E: Error>(name: &str) -> E {
    let of_table = LOAD_OPTIONS.iter().map(|option| option.name);
    let of_replay = REPLAY_OPTIONS.iter().map(|option| option.name);
    let known: Vec<_> = OTHER_KEYS
        .into_iter()
        .chain(of_table)
        .chain(of_replay)
        .collect();
    E::custom(format!(
        "unknown field `{name}`, expected one of `{}`",
        known.join("`, `")
    ))
}
