//! A profile with some of its figures replaced: what `--set KEY=VALUE` and the factors of a study do.

use toml::{Table, Value};

use super::{DriveProfile, ProfileError};

impl DriveProfile {
    /// This profile with `key`, dotted as in its file (`flash.fill`), set to `value`, written as
    /// in its file; text may do without quotes.
    ///
    /// # Errors
    /// If the key is unknown, or the value is out of its range.
    pub fn with(&self, key: &str, value: &str) -> Result<Self, ProfileError> {
        let syntax = |message: String| ProfileError::Syntax {
            name: self.name.clone(),
            message: format!("`{key} = {value}`: {message}"),
        };
        let mut profile = Table::try_from(self).map_err(|error| syntax(error.to_string()))?;
        let mut steps = key.split('.');
        let last = steps.next_back().unwrap_or(key);
        let mut section = &mut profile;
        for step in steps {
            let entry = section.entry(step).or_insert_with(|| Table::new().into());
            section = entry
                .as_table_mut()
                .ok_or_else(|| syntax(format!("`{step}` is not a section")))?;
        }
        section.insert(last.to_owned(), parse_value(value));
        let text = toml::to_string(&profile).map_err(|error| syntax(error.to_string()))?;
        Self::parse(&self.name, &text).map_err(|error| match error {
            // The line would be one of the text that was just made.
            ProfileError::Syntax { message, .. } => syntax(without_line(&message)),
            value @ ProfileError::Value { .. } => value,
        })
    }
}

pub(super) fn parse_value(value: &str) -> Value {
    let parsed = toml::from_str::<Table>(&format!("value = {value}"));
    let found = parsed.ok().and_then(|mut table| table.remove("value"));
    found.unwrap_or_else(|| Value::String(value.to_owned()))
}

pub(super) fn without_line(message: &str) -> String {
    let rest = message
        .strip_prefix("line ")
        .and_then(|rest| rest.split_once(": "));
    rest.map_or(message, |(_, rest)| rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;

    fn profile() -> DriveProfile {
        let text = include_str!("../../../../drives/consumer-tlc.toml");
        DriveProfile::parse("consumer-tlc", text).unwrap()
    }

    #[test]
    fn a_setting_replaces_one_figure() {
        let set = profile().with("flash.fill", "0.5").unwrap();
        assert!((set.flash.as_ref().unwrap().fill - 0.5).abs() < 1e-9);
        let set = set.with("capacity", "20G").unwrap();
        assert_eq!(set.capacity, Bytes(20 << 30));
        let set = set.with("write.cache", "power-protected").unwrap();
        assert_eq!(set.write.cache, crate::WriteCache::PowerProtected);
        assert_eq!(set.name, "consumer-tlc");
    }

    #[test]
    fn a_section_that_was_left_out_can_be_set() {
        let set = profile().with("endurance", "{ drive_writes_per_day = 3, years = 5 }");
        assert!((set.unwrap().endurance.unwrap().years - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_wrong_key_or_figure_is_refused_in_one_line() {
        let error = profile().with("flash.fil", "0.5").unwrap_err().to_string();
        assert!(
            error.contains("did you mean `fill`?") && !error.contains("line "),
            "{error}"
        );
        let error = profile().with("flash.fill", "7").unwrap_err().to_string();
        assert!(error.contains("`flash.fill` = 7"), "{error}");
        let error = profile().with("title.x", "7").unwrap_err().to_string();
        assert!(error.contains("`title` is not a section"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}
