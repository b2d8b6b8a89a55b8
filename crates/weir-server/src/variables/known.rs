//! Variables that a server has.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use weir_model::{nearest, option_spelling};

use crate::find::Defaults;
use crate::helper_process::run_within;
use crate::{ServerBinary, ServerError};

/// Checks that the server knows each of `wanted`; the error names the nearest that it knows.
///
/// `known` comes from `SHOW GLOBAL VARIABLES` or [`known_variables`]. Options that are not
/// variables (`skip_...`, `loose_...`, `disable_...`, `enable_...` forms) follow their variable.
///
/// # Errors
///
/// A variable that the server does not know, with the nearest that it knows.
pub fn check_variables(
    known: &BTreeMap<String, String>,
    wanted: &[&str],
) -> Result<(), ServerError> {
    for name in wanted {
        let normal = option_spelling(name);
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
/// `--verbose --help` lists them in both flavours after a ruler; names come with underscores.
///
/// # Errors
///
/// A program that does not list its options.
pub fn known_variables(server: &ServerBinary) -> Result<BTreeMap<String, String>, ServerError> {
    let not_a_server = |why: String| ServerError::NotAServer {
        path: server.path.clone(),
        why,
    };
    let mut command = server.command(&Defaults::None);
    command.args(["--verbose", "--help"]);
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

pub(super) fn parse_help(printed: &str) -> BTreeMap<String, String> {
    printed
        .lines()
        .skip_while(|line| !line.starts_with("Variables (--variable-name=value)"))
        .skip_while(|line| !line.starts_with("-----"))
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter_map(|line| {
            let (name, value) = line.split_once(char::is_whitespace)?;
            Some((option_spelling(name), value.trim().to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "the server has no variable `inodb_doublewrite`; did you mean `innodb_doublewrite`?"
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
