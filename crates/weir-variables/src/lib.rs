//! Names and values of server variables, as each flavour and version has them: the one place that translates.
//! Change here: a variable that was renamed or removed: `history.rs`; names that mean one variable: `synonyms.rs`; the redo log's size: `redo_log.rs`.
//!
//! A study says `innodb_redo_log_capacity`, MySQL's word since 8.0.30 (MySQL manual,
//! "InnoDB Startup Options and System Variables"); MariaDB's for the same bytes is
//! `innodb_log_file_size` (MariaDB Knowledge Base, "InnoDB System Variables").

mod file_names;
mod history;
mod notation;
mod redo_log;
mod synonyms;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use history::Instead;
pub use synonyms::one_variable;
use weir_model::variables::DOUBLEWRITE;
use weir_model::{Flavor, ServerVersion};
use weir_model::{ServerVariables, option_spelling, option_variable};

/// Major, minor, patch.
type Version = (u32, u32, u32);

/// A setting that a flavour or version does not take.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{name}` = `{value}` ({why})")]
pub struct SettingError {
    /// The option, as it was written.
    pub name: String,
    /// Value of the variable.
    pub value: String,
    /// Reason and remedy.
    pub why: String,
}

/// `options` in the names and values of one server.
///
/// Names may have dashes for underscores; the result has underscores, and values without blanks around
/// them. Numbers are plain ones: servers read the `e` of `1e9` as exabytes. Names and values that the version is
/// known not to have are replaced by its own, or refused with the reason. Two spellings of one variable are refused,
/// and a switch where the server wants the name of a file. The server judges all others.
///
/// # Errors
///
/// The first setting that the server would not take, or would take for something else.
pub fn native_options(
    flavor: Flavor,
    version: ServerVersion,
    options: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, SettingError> {
    check_spellings(options)?;
    let mut wanted = BTreeMap::new();
    for (name, value) in options {
        let value = notation::plain(value.trim());
        let (name, value) = file_names::option(option_spelling(name), &value)?;
        put(&mut wanted, name, value)?;
    }
    let mut translated = redo_log::translate(flavor, version, &mut wanted)?;
    for (name, value) in wanted {
        if name == DOUBLEWRITE {
            check_doublewrite(flavor, version, &value)?;
        }
        let (name, value) = native(flavor, version, name, value)?;
        put(&mut translated, name, value)?;
    }
    Ok(translated)
}

/// Returns the variables that a server would show of `options` if it took them all as they are.
///
/// # Errors
///
/// As [`native_options`].
pub fn native_variables(
    flavor: Flavor,
    version: ServerVersion,
    options: &BTreeMap<String, String>,
) -> Result<ServerVariables<'static>, SettingError> {
    let native = native_options(flavor, version, options)?;
    let written = ServerVariables::written(flavor, &native);
    let shown = written.values().iter().map(|(name, value)| {
        let name = synonyms::shown_as(flavor, version, name);
        (name.to_owned(), value.clone())
    });
    Ok(ServerVariables::written(flavor, &BTreeMap::new()).with(shown.collect::<Vec<_>>()))
}

/// Names under which a server says what the option `name` of any version sets; the name itself where it is
/// no known option.
pub fn shown_names(flavor: Flavor, version: ServerVersion, name: &str) -> BTreeSet<String> {
    let variable = option_variable(name);
    let one = native(flavor, version, variable.clone(), "1".to_owned());
    let native = one.map_or_else(|_| variable.clone(), |(name, _)| name);
    let synonyms = [&variable, &native].map(|name| synonyms::names_of(name));
    let synonyms = synonyms.into_iter().flatten().map(str::to_owned);
    let mut names: BTreeSet<_> = synonyms.collect();
    names.extend(redo_log::names_of(flavor, version, &native));
    names.extend([variable, native]);
    names
}

/// Returns the value that `variables`, of a server of `version`, have for the setting `name`: in one spelling for all
/// that mean the same. Options of any version may name it.
pub fn meaning(
    variables: &ServerVariables<'_>,
    version: ServerVersion,
    name: &str,
) -> Option<String> {
    let names = shown_names(variables.flavor(), version, name);
    names.iter().find_map(|name| variables.meant(name))
}

/// Adds a variable; one that is there already has two spellings.
fn put(
    variables: &mut BTreeMap<String, String>,
    name: String,
    value: String,
) -> Result<(), SettingError> {
    match variables.insert(name.clone(), value.clone()) {
        None => Ok(()),
        Some(before) => Err(SettingError {
            name,
            value,
            why: format!("also set to `{before}` under another spelling; keep one"),
        }),
    }
}

/// A variable in the version's own name and unit.
fn native(
    flavor: Flavor,
    version: ServerVersion,
    name: String,
    value: String,
) -> Result<(String, String), SettingError> {
    let Some((instead, when)) = history::instead_of(flavor, version, &name) else {
        return Ok((name, value));
    };
    match instead {
        // The other name may be younger than this version: MariaDB's threads are MySQL 8.0.26's
        // replica workers and the slave workers of those before it.
        Instead::Name(other) => native(flavor, version, other.to_owned(), value),
        Instead::Times(other, factor) => {
            let number: Option<u64> = value.trim().parse().ok();
            let Some(number) = number else {
                let why = format!("{when}; {other} needs a whole number");
                return Err(SettingError { name, value, why });
            };
            let value = number.saturating_mul(factor).to_string();
            Ok((other.to_owned(), value))
        }
        Instead::Nothing(words) => {
            let why = format!("{when}: {words}; leave it out");
            Err(SettingError { name, value, why })
        }
    }
}

/// A variable has one spelling: of `innodb_doublewrite` and `skip-innodb-doublewrite` the server would take
/// whichever comes later.
fn check_spellings(options: &BTreeMap<String, String>) -> Result<(), SettingError> {
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    for (name, value) in options {
        let variable = one_variable(&option_variable(name)).to_owned();
        if let Some(other) = seen.insert(variable, name) {
            return Err(SettingError {
                name: name.clone(),
                value: value.clone(),
                why: format!("`{other}` sets the same variable; keep one"),
            });
        }
    }
    Ok(())
}

fn check_doublewrite(
    flavor: Flavor,
    version: ServerVersion,
    value: &str,
) -> Result<(), SettingError> {
    let number = (version.major, version.minor, version.patch);
    let upper = value.to_ascii_uppercase();
    let mut allowed = vec!["ON", "OFF"];
    match flavor {
        Flavor::Mysql if number >= (8, 0, 30) => {
            allowed.extend(["DETECT_ONLY", "DETECT_AND_RECOVER"]);
        }
        // MDEV-33545, first released in 11.0.6.
        Flavor::Mariadb if number >= (11, 0, 6) => allowed.push("FAST"),
        _ => {}
    }
    let is_boolean = ["0", "1", "TRUE", "FALSE"].contains(&upper.as_str());
    if is_boolean || allowed.contains(&upper.as_str()) {
        return Ok(());
    }
    Err(SettingError {
        name: DOUBLEWRITE.to_owned(),
        value: value.to_owned(),
        why: format!("{flavor} {version} knows {}", allowed.join(", ")),
    })
}
