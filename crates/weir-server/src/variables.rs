//! Names and values of server variables, as each flavour and version has them.
//!
//! A study says `innodb_redo_log_capacity`, MySQL's word since 8.0.30 (MySQL manual,
//! "InnoDB Startup Options and System Variables"); MariaDB's for the same bytes is
//! `innodb_log_file_size` (MariaDB Knowledge Base, "InnoDB System Variables").

mod ask;
mod history;
mod known;
mod redo_log;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use weir_model::variables::DOUBLEWRITE;
use weir_model::{Flavor, ServerVersion, option_spelling, option_variable};

use crate::ServerError;
pub use ask::{ServerAnswer, ask};
use history::Instead;
pub use known::{check_variables, known_variables};

/// `variables` in the names and values of one server.
///
/// Names may have dashes for underscores; the result has underscores, and values without blanks around
/// them. Names and values that the version is known not to have are replaced by its own, or refused with the
/// reason, as are two spellings of one variable; all else is the server's to judge.
pub fn translate(
    flavor: Flavor,
    version: ServerVersion,
    variables: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ServerError> {
    check_spellings(variables)?;
    let mut wanted = BTreeMap::new();
    for (name, value) in variables {
        put(&mut wanted, option_spelling(name), value.trim().to_owned())?;
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

/// Adds a variable; one that is there already has two spellings.
fn put(
    variables: &mut BTreeMap<String, String>,
    name: String,
    value: String,
) -> Result<(), ServerError> {
    match variables.insert(name.clone(), value.clone()) {
        None => Ok(()),
        Some(before) => Err(ServerError::Value {
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
) -> Result<(String, String), ServerError> {
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
                return Err(ServerError::Value { name, value, why });
            };
            let value = number.saturating_mul(factor).to_string();
            Ok((other.to_owned(), value))
        }
        Instead::Nothing(words) => {
            let why = format!("{when}: {words}; leave it out");
            Err(ServerError::Value { name, value, why })
        }
    }
}

/// A variable has one spelling: of `innodb_doublewrite` and `skip-innodb-doublewrite` the server would take
/// whichever comes later.
fn check_spellings(variables: &BTreeMap<String, String>) -> Result<(), ServerError> {
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    for (name, value) in variables {
        if let Some(other) = seen.insert(option_variable(name), name) {
            return Err(ServerError::Value {
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
) -> Result<(), ServerError> {
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
    Err(ServerError::Value {
        name: DOUBLEWRITE.to_owned(),
        value: value.to_owned(),
        why: format!("{flavor} {version} knows {}", allowed.join(", ")),
    })
}
