//! Work of this host for studies of others: nothing that reaches beyond the work folder.

use weir_model::{Cell, option_variable};

use crate::RunError;

/// Ends of names of variables that are paths, commands or other programs' files.
const ENDINGS: [&str; 9] = [
    "_file",
    "dir",
    "_directory",
    "_path",
    "_index",
    "_cmd",
    "_basename",
    "_fname",
    "filename",
];
/// Beginnings of names of variables that load code, open the server to others or change its account.
const BEGINNINGS: [&str; 16] = [
    "plugin",
    "early_plugin",
    "init_",
    "ssl",
    "tls",
    "admin_",
    "mysqlx",
    "wsrep",
    "keyring",
    "component",
    "mandatory_roles",
    "proxy_protocol",
    "authentication",
    "caching_sha2",
    "require_secure",
    "secure_",
];
/// Other variables that the host's owner or the study's conductor decides.
const NAMES: [&str; 9] = [
    "bind_address",
    "chroot",
    "grant_tables",
    "log_error",
    "log_raw",
    "networking",
    "port",
    "socket",
    "user",
];

/// Refuses a run that would reach beyond what the host's owner named.
pub(super) fn check(cell: &Cell) -> Result<(), RunError> {
    let node = cell.spec.primary();
    let refused = |what: &str, value: &str, why| RunError::NotOnAgent {
        what: what.to_owned(),
        value: value.to_owned(),
        why,
    };
    if let Some(url) = &node.server.given {
        let why = "a server of its owner is none that an agent starts";
        return Err(refused("server", &url.to_string(), why));
    }
    if let Some(why) = weir_study::refused_on_agent(&cell.spec) {
        return Err(refused("cell", &cell.label(), why));
    }
    for (name, value) in &node.variables {
        if is_owners(name) {
            let why =
                "the owner of the server's host decides on files, code and access; leave it out";
            return Err(refused(name, value, why));
        }
        if value.contains('/') || value.contains("..") {
            let why = "a path of the server's host is its owner's; leave it out";
            return Err(refused(name, value, why));
        }
    }
    Ok(())
}

fn is_owners(option: &str) -> bool {
    let variable = option_variable(option);
    // Some options keep the prefix in the variable's name.
    let name = variable.strip_prefix("skip_").unwrap_or(&variable);
    NAMES.contains(&name)
        || ENDINGS.iter().any(|end| name.ends_with(end))
        || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str, value: &str) -> Cell {
        let mut cell = Cell::default();
        let node = cell.spec_mut().primary_mut();
        node.variables.insert(name.to_owned(), value.to_owned());
        cell
    }

    #[test]
    fn what_reaches_beyond_the_server_is_refused_in_every_spelling() {
        for (name, value) in [
            ("innodb_buffer_pool_size", "96M"),
            ("innodb_doublewrite", "OFF"),
            ("skip_log_bin", "1"),
            ("innodb_flush_method", "O_DIRECT"),
            ("innodb-log-file-size", "64M"),
            ("innodb_log_buffer_size", "8M"),
            ("sync_binlog", "1"),
            ("innodb_file_per_table", "ON"),
            ("general_log", "ON"),
        ] {
            check(&cell(name, value)).unwrap();
        }
        for (name, value) in [
            ("plugin-load-add", "evil.so"),
            ("loose_plugin_load", "evil.so"),
            ("init_file", "x.sql"),
            ("log-bin", "/etc/cron.d/x"),
            ("innodb_data_file_path", "../x:12M"),
            ("Slow_Query_Log_File", "x"),
            ("skip-grant-tables", "1"),
            ("wsrep_notify_cmd", "sh"),
            ("secure-file-priv", ""),
            ("bind-address", "0.0.0.0"),
            ("datadir", "x"),
            ("tmpdir", "x"),
        ] {
            let refused = check(&cell(name, value)).unwrap_err().to_string();
            assert!(refused.contains("leave it out"), "{name}: {refused}");
        }
    }
}
