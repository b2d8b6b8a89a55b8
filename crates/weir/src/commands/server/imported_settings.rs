//! `weir server up --option-file`: the settings of a server that the user runs elsewhere.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use weir_model::{Flavor, set_options};
use weir_mysql::{OptionFile, OptionFileSetting};
use weir_server::{ServerBinary, check_variables, known_variables, translate};

/// Settings that make an instance private, and its paths: Weir's to set.
const OWN: [&str; 17] = [
    "basedir",
    "bind-address",
    "datadir",
    "innodb-data-home-dir",
    "innodb-doublewrite-dir",
    "innodb-log-group-home-dir",
    "innodb-temp-tablespaces-dir",
    "innodb-undo-directory",
    "log-error",
    "mysqlx-port",
    "mysqlx-socket",
    "pid-file",
    "port",
    "skip-networking",
    "socket",
    "tmpdir",
    "user",
];

/// The server's settings in the file at `path`, in its own names; one that it does not have is refused
/// with its place.
pub(in crate::commands) fn variables(
    binary: &ServerBinary,
    path: &Path,
) -> anyhow::Result<BTreeMap<String, String>> {
    let file = OptionFile::read(path)?;
    for warning in &file.warnings {
        eprintln!("WARNING: {warning}");
    }
    let known = known_variables(binary)?;
    let mut variables = BTreeMap::new();
    let mut left_out = Vec::new();
    for setting in file
        .settings
        .iter()
        .filter(|setting| is_of(binary, setting))
    {
        if OWN.contains(&setting.name.as_str()) {
            left_out.push(setting.name.as_str());
            continue;
        }
        let one = [(setting.name.clone(), value(setting))].into();
        let native = translate(binary.flavor, binary.version, &one);
        let native = native.with_context(|| format!("cannot use {}", setting.place))?;
        let names: Vec<_> = native.keys().map(String::as_str).collect();
        check_variables(&known, &names).with_context(|| format!("cannot use {}", setting.place))?;
        // As for the server, of two lines the later counts.
        set_options(&mut variables, native);
    }
    if !left_out.is_empty() {
        eprintln!(
            "note: {} of `{}` are left out: a private server has its own",
            left_out.join(", "),
            path.display()
        );
    }
    Ok(variables)
}

/// Returns true if the server reads the group that a setting stands in. Sources: MySQL manual,
/// "Using Option Files"; MariaDB Knowledge Base, "Configuring MariaDB with Option Files".
fn is_of(binary: &ServerBinary, setting: &OptionFileSetting) -> bool {
    let series = format!("{}.{}", binary.version.major, binary.version.minor);
    let groups: &[&str] = match binary.flavor {
        Flavor::Mysql => &["mysqld", "server"],
        Flavor::Mariadb => &["mysqld", "server", "mariadb", "mariadbd"],
    };
    groups
        .iter()
        .any(|group| match setting.group.strip_prefix(group) {
            Some("") => true,
            Some(rest) => rest.strip_prefix('-') == Some(&series),
            None => false,
        })
}

/// A name alone switches on; a binary log also has a name, which is then the servers' usual one.
fn value(setting: &OptionFileSetting) -> String {
    let default = if setting.name == "log-bin" {
        "binlog"
    } else {
        "1"
    };
    setting.value.clone().unwrap_or_else(|| default.to_owned())
}
