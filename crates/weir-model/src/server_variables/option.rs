//! An option as people write it: dashes for underscores, prefixes, and values by word or number.
//!
//! From "Program Option Modifiers" of the `MySQL` manual, which `MariaDB` shares; tried on `MySQL` 9.7.4 and
//! `MariaDB` 10.11.19 (docs/servers.md).

use std::collections::BTreeMap;

use super::names::{DOUBLEWRITE, LOG_BIN};

/// Variables whose own name begins like a prefix.
const OWN_SKIP: [&str; 9] = [
    "skip_external_locking",
    "skip_grant_tables",
    "skip_host_cache",
    "skip_name_resolve",
    "skip_networking",
    "skip_parallel_replication",
    "skip_replica_start",
    "skip_show_database",
    "skip_slave_start",
];

/// An option's name in the spelling of `SHOW VARIABLES`: lower case, underscores. Prefixes stay.
pub fn option_spelling(name: &str) -> String {
    name.trim().replace('-', "_").to_ascii_lowercase()
}

/// The variable that an option of this name sets: `skip-innodb-doublewrite` and
/// `loose_innodb_doublewrite` set `innodb_doublewrite`.
pub fn option_variable(name: &str) -> String {
    Name::parse(name).variable
}

/// Adds `others` to `options`; each takes the place of every spelling of its variable.
pub fn set_options(
    options: &mut BTreeMap<String, String>,
    others: impl IntoIterator<Item = (String, String)>,
) {
    for (name, value) in others {
        let variable = option_variable(&name);
        options.retain(|name, _| option_variable(name) != variable);
        options.insert(name, value);
    }
}

/// Variable and value that an option stands for: `skip_innodb_doublewrite` is `innodb_doublewrite = OFF`.
/// Without a value it is switched on.
pub(super) fn setting(name: &str, value: &str) -> (String, String) {
    let Name { variable, switches } = Name::parse(name);
    let value = value.trim();
    let value = match switches {
        // As an option it is the name of the log; a switch is taken for one (`super::native`).
        None if variable == LOG_BIN && switch(value) != Some(false) => "ON".to_owned(),
        None if variable == LOG_BIN => "OFF".to_owned(),
        None if value.is_empty() && variable == DOUBLEWRITE => "ON".to_owned(),
        None => value.to_owned(),
        // `skip_log_bin = 0` switches the log on.
        Some(on) => {
            let asked = value.is_empty() || switch(value) != Some(false);
            if asked == on { "ON" } else { "OFF" }.to_owned()
        }
    };
    (variable, value)
}

/// On or off, as servers read a value; `None`: neither.
pub fn switch(value: &str) -> Option<bool> {
    match value.trim().to_ascii_uppercase().as_str() {
        "ON" | "1" | "TRUE" => Some(true),
        "OFF" | "0" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Parts of an option's name.
struct Name {
    variable: String,
    /// A prefix that switches it on or off.
    switches: Option<bool>,
}

impl Name {
    fn parse(name: &str) -> Self {
        let spelled = option_spelling(name);
        let plain = spelled.strip_prefix("loose_").unwrap_or(&spelled);
        let prefixes = [("skip_", false), ("disable_", false), ("enable_", true)];
        let prefixed = prefixes.iter().find_map(|(prefix, on)| {
            let variable = plain.strip_prefix(prefix)?;
            Some((variable.to_owned(), *on))
        });
        match prefixed.filter(|_| !OWN_SKIP.contains(&plain)) {
            Some((variable, on)) => Self {
                variable,
                switches: Some(on),
            },
            None => Self {
                variable: plain.to_owned(),
                switches: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_option_takes_the_place_of_every_spelling() {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut options = [("skip-log-bin", "1"), ("sync_binlog", "0")]
            .map(pair)
            .into();
        set_options(&mut options, [pair(("log_bin", "binlog"))]);
        let expected = [("log_bin", "binlog"), ("sync_binlog", "0")].map(pair);
        assert_eq!(options, expected.into());
    }

    #[test]
    fn options_stand_for_a_variable_and_a_value() {
        for (name, value, variable, meant) in [
            ("innodb-doublewrite", "0", DOUBLEWRITE, "0"),
            ("INNODB_DOUBLEWRITE", " OFF ", DOUBLEWRITE, "OFF"),
            ("skip-innodb-doublewrite", "", DOUBLEWRITE, "OFF"),
            ("skip_innodb_doublewrite", "0", DOUBLEWRITE, "ON"),
            ("disable_innodb_doublewrite", "1", DOUBLEWRITE, "OFF"),
            ("loose-skip-innodb-doublewrite", "1", DOUBLEWRITE, "OFF"),
            ("enable_innodb_doublewrite", "", DOUBLEWRITE, "ON"),
            ("loose_innodb_doublewrite", "OFF", DOUBLEWRITE, "OFF"),
            ("skip_log_bin", "1", LOG_BIN, "OFF"),
            ("skip_log_bin", "0", LOG_BIN, "ON"),
            ("log-bin", "OFF", LOG_BIN, "OFF"),
            ("log-bin", "off", LOG_BIN, "OFF"),
            ("log-bin", "shop", LOG_BIN, "ON"),
            ("log_bin", "", LOG_BIN, "ON"),
            ("skip-name-resolve", "0", "skip_name_resolve", "0"),
        ] {
            let expected = (variable.to_owned(), meant.to_owned());
            assert_eq!(setting(name, value), expected, "{name} = {value}");
        }
    }
}
