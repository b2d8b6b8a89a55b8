//! Keys of an event as names and values: factors set them, and two cells are compared by them.

use std::str::FromStr;

use super::{EventKind, TimelineEvent};
use crate::Duration;

impl TimelineEvent {
    /// Gives the event's `key` another value; a key that is none of its own is a variable of its session. `false`: it
    /// has no such key.
    ///
    /// # Errors
    ///
    /// A value that the key cannot have.
    pub fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        if key == "at" {
            self.at = duration(value)?;
            return Ok(true);
        }
        match &mut self.kind {
            EventKind::Statement(statement) | EventKind::Ddl(statement) => match key {
                "statement" => value.clone_into(&mut statement.statement),
                "algorithm" => statement.algorithm = Some(value.to_owned()),
                "lock" => statement.lock = Some(value.to_owned()),
                "copy" => statement.copy = Some(value.parse()?),
                "tool" => statement.tool = Some(value.to_owned()),
                "retries" => {
                    let number = value.parse();
                    statement.retries = number.map_err(|_| "must be a number of tries")?;
                }
                "for" | "table" | "variable" | "value" => return Ok(false),
                variable => {
                    let value = value.to_owned();
                    statement.session.insert(variable.to_owned(), value);
                }
            },
            EventKind::Hold { table, length } => match key {
                "table" => value.clone_into(table),
                "for" => *length = duration(value)?,
                _ => return Ok(false),
            },
            EventKind::Set {
                variable,
                value: held,
            } => match key {
                "variable" => value.clone_into(variable),
                "value" => value.clone_into(held),
                _ => return Ok(false),
            },
            EventKind::Kill { down } | EventKind::Restart { down } => match key {
                "for" => *down = duration(value)?,
                _ => return Ok(false),
            },
            EventKind::Failover { warm } => match key {
                "warm" => *warm = value.parse()?,
                _ => return Ok(false),
            },
            EventKind::Rate { rate } => match key {
                "rate" => *rate = rate_per_s(value)?,
                _ => return Ok(false),
            },
            EventKind::Drive { settings, length } => match key {
                "for" => *length = Some(duration(value)?),
                key => match settings.get_mut(key) {
                    Some(setting) => value.clone_into(setting),
                    None => return Ok(false),
                },
            },
            EventKind::Pool { action, size } => match key {
                "action" => *action = value.parse()?,
                "size" => *size = Some(value.parse().map_err(|_| "must be a size such as 64M")?),
                _ => return Ok(false),
            },
            EventKind::Mark => return Ok(false),
        }
        Ok(true)
    }

    /// Returns its keys and their values, by the names that [`TimelineEvent::set`] knows.
    pub(in crate::spec) fn keys(&self) -> Vec<(String, String)> {
        let mut keys = vec![
            ("at".to_owned(), self.at.to_string()),
            ("kind".to_owned(), self.kind.name().to_owned()),
        ];
        let mut put = |key: &str, value: &str| keys.push((key.to_owned(), value.to_owned()));
        match &self.kind {
            EventKind::Mark => {}
            EventKind::Statement(statement) | EventKind::Ddl(statement) => {
                put("statement", &statement.statement);
                for (key, value) in [
                    ("algorithm", &statement.algorithm),
                    ("lock", &statement.lock),
                ] {
                    if let Some(value) = value {
                        put(key, value);
                    }
                }
                put("retries", &statement.retries.to_string());
                if let Some(way) = statement.copy {
                    put("copy", way.name());
                }
                if let Some(tool) = &statement.tool {
                    put("tool", tool);
                }
                for (variable, value) in &statement.session {
                    put(variable, value);
                }
            }
            EventKind::Hold { table, length } => {
                put("table", table);
                put("for", &length.to_string());
            }
            EventKind::Set { variable, value } => {
                put("variable", variable);
                put("value", value);
            }
            EventKind::Kill { down } | EventKind::Restart { down } => {
                put("for", &down.to_string());
            }
            EventKind::Failover { warm } => put("warm", &warm.to_string()),
            EventKind::Rate { rate } => put("rate", &rate.to_string()),
            EventKind::Drive { settings, length } => {
                for (key, value) in settings {
                    put(key, value);
                }
                if let Some(length) = length {
                    put("for", &length.to_string());
                }
            }
            EventKind::Pool { action, size } => {
                put("action", action.name());
                if let Some(size) = size {
                    put("size", &size.to_string());
                }
            }
        }
        keys
    }
}

fn duration(value: &str) -> Result<Duration, String> {
    Duration::from_str(value).map_err(|error| error.to_string())
}

fn rate_per_s(value: &str) -> Result<f64, String> {
    let rate = value.parse().ok();
    let rate = rate.filter(|rate: &f64| *rate > 0.0 && rate.is_finite());
    rate.ok_or_else(|| "must be transactions per second, above 0".to_owned())
}
