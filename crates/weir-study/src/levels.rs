//! Levels of a factor as written: lists, and ranges with steps or on a logarithmic scale.

use std::fmt::Display;
use std::str::FromStr;

use weir_model::Bytes;

use crate::file::{LevelList, LevelSetting};
use crate::setting::Setting;

/// Levels of one range at most: more is a mistake, or a search.
const LEVELS_MAX: u64 = 1_000;

/// One level: its label and the settings that make it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Level {
    pub(crate) label: String,
    pub(crate) settings: Vec<(String, String)>,
}

/// The levels of factor `name`; an error says what is wrong with which text.
pub(crate) fn levels(name: &str, list: &LevelList) -> Result<Vec<Level>, (String, String)> {
    let one = |value: String| Level {
        label: value.clone(),
        settings: vec![(name.to_owned(), value)],
    };
    match list {
        LevelList::Range(text) => {
            let values = range(text).map_err(|why| (format!("`{text}`"), why))?;
            Ok(values.into_iter().map(one).collect())
        }
        LevelList::List(levels) => Ok(levels
            .iter()
            .map(|level| match level {
                LevelSetting::One(setting) => one(setting.text()),
                LevelSetting::Together(settings) => together(settings),
            })
            .collect()),
    }
}

/// Settings that move together; `name` is their label, else all of them are.
fn together(settings: &std::collections::BTreeMap<String, Setting>) -> Level {
    let named = settings.get("name").map(Setting::text);
    let settings: Vec<_> = settings
        .iter()
        .filter(|(key, _)| *key != "name")
        .map(|(key, value)| (key.clone(), value.text()))
        .collect();
    let joined = || {
        let parts = settings.iter().map(|(key, value)| format!("{key} {value}"));
        parts.collect::<Vec<_>>().join(", ")
    };
    Level {
        label: named.unwrap_or_else(joined),
        settings,
    }
}

/// `1G..22G step 1G` counts, `2..3000 log 12` spreads twelve levels evenly on a logarithmic scale.
pub(crate) fn range(text: &str) -> Result<Vec<String>, String> {
    let wrong = || "must be a range such as `1G..22G step 1G` or `2..3000 log 12`".to_owned();
    let (low, rest) = text.split_once("..").ok_or_else(wrong)?;
    let words: Vec<_> = rest.split_whitespace().collect();
    let &[high, way, by] = words.as_slice() else {
        return Err(wrong());
    };
    let low = low.trim();
    let sizes = is_size(low) || is_size(high);
    let (low, high) = (number(low)?, number(high)?);
    if low > high {
        return Err("must rise".to_owned());
    }
    let values = match way {
        "step" => steps(low, high, number(by)?)?,
        "log" => spread(low, high, number(by)?)?,
        _ => return Err(wrong()),
    };
    let text = |value: u64| {
        if sizes {
            size_text(value)
        } else {
            value.to_string()
        }
    };
    Ok(values.into_iter().map(text).collect())
}

/// Both ends of `A..B`, and whether they are sizes.
pub(crate) fn ends(text: &str) -> Result<(u64, u64, bool), String> {
    let wrong = || "must be a range such as `1G..22G` or `2..3000`".to_owned();
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let (low, high) = (low.trim(), high.trim());
    let sizes = is_size(low) || is_size(high);
    Ok((number(low)?, number(high)?, sizes))
}

/// A size that reads back as the same number: `128M`, or bytes when no suffix is exact.
pub(crate) fn size_text(bytes: u64) -> String {
    let text = Bytes(bytes).to_string();
    if Bytes::from_str(&text) == Ok(Bytes(bytes)) {
        text
    } else {
        bytes.to_string()
    }
}

fn steps(low: u64, high: u64, step: u64) -> Result<Vec<u64>, String> {
    if step == 0 || (high - low) / step >= LEVELS_MAX {
        return Err(too_many("step"));
    }
    Ok((0..=(high - low) / step)
        .map(|index| low + index * step)
        .collect())
}

fn spread(low: u64, high: u64, count: u64) -> Result<Vec<u64>, String> {
    if low == 0 {
        return Err("a logarithmic scale has no 0; begin above it".to_owned());
    }
    if !(2..=LEVELS_MAX).contains(&count) {
        return Err(too_many("log"));
    }
    let ratio = high as f64 / low as f64;
    let value = |index| low as f64 * ratio.powf(index as f64 / (count - 1) as f64);
    let mut values: Vec<u64> = (0..count)
        .map(|index| value(index).round() as u64)
        .collect();
    values.dedup();
    Ok(values)
}

fn too_many(word: impl Display) -> String {
    format!("`{word}` must make 2 to {LEVELS_MAX} levels")
}

fn is_size(text: &str) -> bool {
    text.ends_with(|letter: char| letter.is_ascii_alphabetic())
}

fn number(text: &str) -> Result<u64, String> {
    let bytes = Bytes::from_str(text).map_err(|error| error.to_string())?;
    Ok(bytes.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_in_steps_or_spread_on_a_logarithmic_scale() {
        assert_eq!(range("1G..4G step 1G").unwrap(), ["1G", "2G", "3G", "4G"]);
        assert_eq!(range("512M..1G step 256M").unwrap(), ["512M", "768M", "1G"]);
        assert_eq!(range("10..25 step 10").unwrap(), ["10", "20"]);
        let threads = range("2..3000 log 12").unwrap();
        assert_eq!(
            (threads.len(), threads[0].as_str(), threads[11].as_str()),
            (12, "2", "3000")
        );
        // Neighbours that round to the same number are one level.
        assert_eq!(range("1..4 log 9").unwrap(), ["1", "2", "3", "4"]);
    }

    #[test]
    fn a_level_s_text_is_exactly_its_number() {
        for text in range("1G..2G log 7").unwrap() {
            assert!(
                !text.contains('.'),
                "{text} would be rounded when it is read again"
            );
        }
    }

    #[test]
    fn senseless_ranges_say_why() {
        for (text, why) in [
            ("1..2", "must be a range"),
            ("1 to 2 step 3", "must be a range"),
            ("2..1 step 1", "must rise"),
            ("1..9 step 0", "levels"),
            ("1..9000 step 1", "levels"),
            ("0..9 log 3", "no 0"),
            ("1..9 log 1", "levels"),
            ("a..9 log 3", "not a size"),
        ] {
            let found = range(text).unwrap_err();
            assert!(found.contains(why), "{text}: {found}");
        }
    }

    #[test]
    fn settings_that_move_together_are_one_level() {
        #[derive(serde::Deserialize)]
        struct File {
            arm: LevelList,
        }
        let text =
            r#"arm = [ { name = "CSD", drive = "a", b = false }, { drive = "c", b = true } ]"#;
        let file: File = toml::from_str(text).unwrap();
        let found = levels("arm", &file.arm).unwrap();
        assert_eq!(found[0].label, "CSD");
        assert_eq!(found[1].label, "b ON, drive c");
        assert_eq!(found[1].settings[0], ("b".to_owned(), "ON".to_owned()));
    }
}
