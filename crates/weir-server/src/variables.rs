//! Names and values of server variables, as each flavour and version has them.
//!
//! A study says `innodb_redo_log_capacity`, MySQL's word since 8.0.30 (MySQL manual,
//! "InnoDB Startup Options and System Variables"); MariaDB's for the same bytes is
//! `innodb_log_file_size` (MariaDB Knowledge Base, "InnoDB System Variables").

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use weir_model::{Bytes, Flavor, ServerVersion, nearest};

use crate::run::run_within;
use crate::{ServerBinary, ServerError};

const REDO_CAPACITY: &str = "innodb_redo_log_capacity";
const LOG_FILE_SIZE: &str = "innodb_log_file_size";

/// `variables` in the names and values of one server.
///
/// Names may have dashes for underscores; the result has underscores. Values that the version is
/// known not to take are refused; all else is the server's to judge.
pub fn translate(
    flavor: Flavor,
    version: ServerVersion,
    variables: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ServerError> {
    let mut translated = BTreeMap::new();
    for (name, value) in variables {
        let name = normalize(name);
        if name == "innodb_doublewrite" {
            check_doublewrite(flavor, version, value)?;
        }
        let (name, value) = if name == REDO_CAPACITY || name == LOG_FILE_SIZE {
            redo_size(flavor, version, &name, value)?
        } else {
            (name, value.clone())
        };
        if let Some(before) = translated.insert(name.clone(), value.clone()) {
            return Err(ServerError::Value {
                name,
                value,
                why: format!("also set to `{before}` under another spelling; keep one"),
            });
        }
    }
    Ok(translated)
}

/// A variable's name as `SHOW VARIABLES` prints it.
fn normalize(name: &str) -> String {
    name.trim().replace('-', "_").to_ascii_lowercase()
}

/// The redo log's size under the name that the server has for it.
///
/// Before MySQL 8.0.30 and MariaDB 10.5 the log was two files of `innodb_log_file_size` each.
fn redo_size(
    flavor: Flavor,
    version: ServerVersion,
    name: &str,
    value: &str,
) -> Result<(String, String), ServerError> {
    let number = (version.major, version.minor, version.patch);
    let (native, files) = match flavor {
        Flavor::Mysql if number >= (8, 0, 30) => (REDO_CAPACITY, 1),
        Flavor::Mariadb if number >= (10, 5, 0) => (LOG_FILE_SIZE, 1),
        _ => (LOG_FILE_SIZE, 2),
    };
    if name == native {
        return Ok((native.to_owned(), value.to_owned()));
    }
    let bytes: Bytes = value.parse().map_err(|error| ServerError::Value {
        name: name.to_owned(),
        value: value.to_owned(),
        why: format!("{error}"),
    })?;
    // From the size of one of two files to the whole, or from the whole to one file.
    let native_bytes = if native == REDO_CAPACITY {
        bytes.0.saturating_mul(2)
    } else {
        bytes.0 / files
    };
    Ok((native.to_owned(), native_bytes.to_string()))
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
        name: "innodb_doublewrite".to_owned(),
        value: value.to_owned(),
        why: format!("{flavor} {version} knows {}", allowed.join(", ")),
    })
}

/// Checks that the server knows each of `wanted`; the error names the nearest that it knows.
///
/// `known` is what `SHOW GLOBAL VARIABLES` or [`known_variables`] gave. Options that are not
/// variables (`skip_...`, `loose_...`, `disable_...`, `enable_...` forms) follow their variable.
pub fn check_variables(
    known: &BTreeMap<String, String>,
    wanted: &[&str],
) -> Result<(), ServerError> {
    for name in wanted {
        let normal = normalize(name);
        if normal.starts_with("loose_") || known.contains_key(&normal) {
            continue;
        }
        let stem = ["skip_", "disable_", "enable_", "maximum_"]
            .iter()
            .find_map(|prefix| normal.strip_prefix(prefix));
        if stem.is_some_and(|stem| known.contains_key(stem)) {
            continue;
        }
        return Err(ServerError::UnknownVariable {
            name: (*name).to_owned(),
            suggestion: nearest(&normal, known.keys().map(String::as_str)).map(str::to_owned),
        });
    }
    Ok(())
}

/// All options that `server` takes, with their defaults, without starting it: 0.1 s.
///
/// `--verbose --help` lists them in both flavours after a ruler; names come with dashes.
pub fn known_variables(server: &ServerBinary) -> Result<BTreeMap<String, String>, ServerError> {
    let not_a_server = |why: String| ServerError::NotAServer {
        path: server.path.clone(),
        why,
    };
    let mut command = Command::new(&server.path);
    command.args(["--no-defaults", "--verbose", "--help"]);
    if rustix::process::geteuid().is_root() {
        command.arg("--user=root");
    }
    command.stderr(Stdio::null());
    let printed = run_within(&mut command, Vec::new(), Duration::from_secs(30))
        .map_err(|error| not_a_server(error.to_string()))?
        .output;
    let known = parse_help(&printed);
    if known.is_empty() {
        return Err(not_a_server("`--verbose --help` lists no variables".into()));
    }
    Ok(known)
}

fn parse_help(printed: &str) -> BTreeMap<String, String> {
    printed
        .lines()
        .skip_while(|line| !line.starts_with("Variables (--variable-name=value)"))
        .skip_while(|line| !line.starts_with("-----"))
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter_map(|line| {
            let (name, value) = line.split_once(char::is_whitespace)?;
            Some((normalize(name), value.trim().to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(
        flavor: Flavor,
        version: &str,
        pair: (&str, &str),
    ) -> Result<BTreeMap<String, String>, ServerError> {
        let variables = BTreeMap::from([(pair.0.to_owned(), pair.1.to_owned())]);
        translate(flavor, version.parse().unwrap(), &variables)
    }

    #[test]
    fn the_redo_size_takes_the_name_that_the_server_has() {
        let cases = [
            (
                Flavor::Mysql,
                "9.7.4",
                REDO_CAPACITY,
                "2G",
                REDO_CAPACITY,
                "2G",
            ),
            (
                Flavor::Mysql,
                "9.7.4",
                LOG_FILE_SIZE,
                "1G",
                REDO_CAPACITY,
                "2147483648",
            ),
            (
                Flavor::Mysql,
                "8.0.28",
                REDO_CAPACITY,
                "2G",
                LOG_FILE_SIZE,
                "1073741824",
            ),
            (
                Flavor::Mariadb,
                "10.11.19",
                REDO_CAPACITY,
                "2G",
                LOG_FILE_SIZE,
                "2147483648",
            ),
            (
                Flavor::Mariadb,
                "10.4.1",
                REDO_CAPACITY,
                "2G",
                LOG_FILE_SIZE,
                "1073741824",
            ),
            (
                Flavor::Mariadb,
                "10.11.19",
                LOG_FILE_SIZE,
                "2G",
                LOG_FILE_SIZE,
                "2G",
            ),
        ];
        for (flavor, version, name, value, native, native_value) in cases {
            let result = translated(flavor, version, (name, value)).unwrap();
            let expected = BTreeMap::from([(native.to_owned(), native_value.to_owned())]);
            assert_eq!(result, expected, "{flavor} {version} {name}");
        }
    }

    #[test]
    fn doublewrite_values_are_those_of_the_version() {
        for (flavor, version, value, allowed) in [
            (Flavor::Mysql, "9.7.4", "DETECT_ONLY", true),
            (Flavor::Mysql, "8.0.28", "DETECT_ONLY", false),
            (Flavor::Mariadb, "10.11.19", "DETECT_ONLY", false),
            (Flavor::Mariadb, "11.4.3", "fast", true),
            (Flavor::Mariadb, "10.11.19", "off", true),
        ] {
            let result = translated(flavor, version, ("innodb-doublewrite", value));
            assert_eq!(result.is_ok(), allowed, "{flavor} {version} {value}");
        }
    }

    #[test]
    fn two_spellings_of_one_variable_are_refused() {
        let variables = BTreeMap::from([
            ("sync-binlog".to_owned(), "1".to_owned()),
            ("sync_binlog".to_owned(), "0".to_owned()),
        ]);
        assert!(translate(Flavor::Mysql, "9.7.4".parse().unwrap(), &variables).is_err());
    }

    #[test]
    fn an_unknown_variable_is_answered_with_the_nearest() {
        let known = BTreeMap::from([
            ("innodb_doublewrite".to_owned(), "ON".to_owned()),
            ("name_resolve".to_owned(), "ON".to_owned()),
        ]);
        check_variables(
            &known,
            &["innodb-doublewrite", "skip_name_resolve", "loose_x"],
        )
        .unwrap();
        let error = check_variables(&known, &["inodb_doublewrite"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the server has no variable `inodb_doublewrite`; did you mean `innodb_doublewrite`"
        );
    }

    #[test]
    fn the_list_of_variables_ends_at_the_first_empty_line() {
        let printed = "--a=#\n\nVariables (--variable-name=value)\nand boolean options\n\
                       ------ -----\nsync-binlog     1\nuser     (No default value)\n\nTo see more\n";
        let known = parse_help(printed);
        assert_eq!(known.len(), 2);
        assert_eq!(known["sync_binlog"], "1");
    }
}
