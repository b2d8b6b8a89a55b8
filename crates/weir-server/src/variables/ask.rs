//! Settings as a server program takes them, asked without starting it on data.
//!
//! `--verbose --help` reads the option file as a start would and prints what came of it: words for numbers,
//! what was capped, and on standard error what it refuses. What a server decides only when it starts is not in
//! it: `innodb_flush_method` where it is not set (`MySQL`), and whether there is a binary log (docs/studies.md). `MySQL`'s
//! pool in whole chunks is foretold by the manual's rule; whether `MariaDB` takes a small pool is tried.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::process::Stdio;
use std::time::Duration;

use weir_model::option_variable;
use weir_process::{PathError, WorkDirectory, runtime_directory, write_private};

use super::known::parse_help;
use super::translate;
use crate::find::Defaults;
use crate::helper_process::run_within;
use crate::option_file_writer::OptionFileWriter;
use crate::{ServerBinary, ServerError};

/// It takes some 50 ms.
const PATIENCE: Duration = Duration::from_secs(10);

/// Text that servers print for a variable that has no value.
const NO_VALUE: &str = "(No default value)";

/// Follow-ups of a refusal, which name no setting.
const CONSEQUENCES: [&str; 4] = [
    "Parsing options for plugin",
    "Failed to initialize",
    "Unknown/unsupported storage engine",
    "Aborting",
];

/// Answer of a server program about settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerAnswer {
    /// All its variables with these settings, by name; empty for those that have no value.
    pub values: BTreeMap<String, String>,
    /// Settings that it does not take, in its own words, one line each.
    pub refused: Vec<String>,
}

/// Asks `server` what it makes of `variables`, in any flavour's names that [`translate`] knows.
///
/// # Errors
///
/// A variable that [`translate`] refuses, or a program that cannot be asked.
pub fn ask(
    server: &ServerBinary,
    variables: &BTreeMap<String, String>,
) -> Result<ServerAnswer, ServerError> {
    let variables = translate(server.flavor, server.version, variables)?;
    let home = WorkDirectory::create(&runtime_directory()?, "ask")?;
    let (options, errors) = (home.path().join("my.cnf"), home.path().join("errors"));
    let mut file = OptionFileWriter::new();
    file.set_path("datadir", home.path())?;
    if rustix::process::geteuid().is_root() {
        file.set("user", "root")?;
    }
    file.set_all(&variables)?;
    write_private(&options, file.text())?;
    let stderr = File::create(&errors).map_err(PathError::on("create", &errors))?;
    let mut command = server.command(&Defaults::File(&options));
    command
        .args(["--verbose", "--help"])
        .current_dir(home.path())
        .stderr(Stdio::from(stderr));
    let not_a_server = |why: String| ServerError::NotAServer {
        path: server.path.clone(),
        why,
    };
    let finished = run_within(&mut command, Vec::new(), PATIENCE)
        .map_err(|error| not_a_server(error.to_string()))?;
    let said = fs::read(&errors).map_err(PathError::on("read", &errors))?;
    let mut refused = refusals(&String::from_utf8_lossy(&said), &variables);
    let mut values = parse_help(&finished.output);
    for value in values.values_mut().filter(|value| *value == NO_VALUE) {
        value.clear();
    }
    super::at_start::complete(server, &mut values);
    refused.extend(super::at_start::refused_pool(server, &values, home.path())?);
    if values.is_empty() && refused.is_empty() {
        refused.push("it does not say why".to_owned());
    }
    Ok(ServerAnswer { values, refused })
}

/// The lines of a server's standard error that refuse one of `variables`.
fn refusals(said: &str, variables: &BTreeMap<String, String>) -> Vec<String> {
    let refuses = |line: &&str| {
        line.contains("[ERROR]")
            || line.contains("due to invalid value")
            || line.contains("unknown variable")
            || line.contains("unknown option")
    };
    let mut found: BTreeMap<Option<String>, String> = BTreeMap::new();
    for line in said.lines().filter(refuses) {
        let words = words(line);
        if CONSEQUENCES.iter().any(|start| words.starts_with(start)) {
            continue;
        }
        let spelled = words.replace('-', "_");
        let named = variables
            .iter()
            .filter(|(name, _)| spelled.contains(&option_variable(name)));
        // Of names that contain each other the longest is meant.
        let of = named.max_by_key(|(name, _)| name.len());
        let line = match of {
            Some((name, value)) => format!("{name} = {value}: {words}"),
            None => words.to_owned(),
        };
        // The first line on a setting says most.
        found
            .entry(of.map(|(name, _)| name.clone()))
            .or_insert(line);
    }
    found.into_values().collect()
}

/// Returns a line's message without time, thread, codes and the program's path.
fn words(line: &str) -> &str {
    let after_marks = line.rsplit_once("] ").map_or(line, |(_, rest)| rest);
    let without_path = match after_marks.split_once(": ") {
        Some((path, rest)) if path.starts_with('/') => rest,
        _ => after_marks,
    };
    without_path.trim().trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(said: &str, name: &str, value: &str) -> Vec<String> {
        let variables = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        refusals(said, &variables)
    }

    #[test]
    fn a_refusal_is_one_line_that_names_the_setting() {
        let mysql = "2026-11-25T01:17:18Z 0 [ERROR] [MY-000077] [Server] /opt/mysqld: Error while setting value 'bogus' to 'innodb-doublewrite'.\n\
                     2026-11-25T01:17:18Z 0 [ERROR] [MY-010746] [Server] Parsing options for plugin 'InnoDB' failed.\n";
        assert_eq!(
            refused(mysql, "innodb_doublewrite", "bogus"),
            [
                "innodb_doublewrite = bogus: Error while setting value 'bogus' to 'innodb-doublewrite'"
            ]
        );
        let mariadb = "2026-11-25  1:17:19 0 [Warning] Could not increase number of max_open_files\n\
                       2026-11-25  1:17:19 0 [Warning] /usr/sbin/mariadbd: ignoring option '--innodb-doublewrite' due to invalid value 'bogus'\n";
        assert_eq!(
            refused(mariadb, "innodb_doublewrite", "bogus"),
            [
                "innodb_doublewrite = bogus: ignoring option '--innodb-doublewrite' due to invalid value 'bogus'"
            ]
        );
        assert!(refused("0 [Warning] CA certificate is self signed\n", "a", "1").is_empty());
    }
}
