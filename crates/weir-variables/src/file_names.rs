//! Options that want the name of a file, a directory or a statement, where people write a switch.
//!
//! `log_bin = OFF` makes a binary log whose files are called OFF, and says `log_bin = ON` ever after; so do 0
//! and FALSE, in both flavours (MySQL manual, "Binary Logging Options and Variables"; MariaDB Knowledge Base,
//! "`log_bin`"; tried on MySQL 9.7.4 and MariaDB 10.11.19). Here OFF is off.

use super::SettingError;
use weir_model::option_variable;
use weir_model::switch;
use weir_model::variables::LOG_BIN;

/// The name of a binary log that is only switched on: `MySQL`'s default, and the same on every host.
const LOG_NAME: &str = "binlog";

/// The option that switches the binary log off.
const NO_LOG: &str = "skip_log_bin";

/// Options whose value is a name, with what to write for a switch.
const NAMES: &[(&[&str], &str)] = &[
    (
        &["general_log_file"],
        "`general_log` switches the log on or off",
    ),
    (
        &["slow_query_log_file", "log_slow_query_file"],
        "`slow_query_log` switches the log on or off",
    ),
    (
        &["log_bin_index", "log_bin_basename", "log_basename"],
        "`log_bin` switches the log on or off",
    ),
    (
        &["relay_log", "relay_log_index", "relay_log_info_file"],
        "a server that follows no other has no relay log; leave it out",
    ),
    (
        &["log_error", "log_tc", "log_isam", "init_file"],
        "leave it out for none",
    ),
    (
        &["init_connect", "init_slave", "init_replica"],
        "it is a statement; leave it out for none",
    ),
    (
        &["innodb_buffer_pool_filename"],
        "`innodb_buffer_pool_dump_at_shutdown` and `innodb_buffer_pool_load_at_startup` are the switches",
    ),
    (
        &["innodb_doublewrite_dir"],
        "`innodb_doublewrite` is the switch",
    ),
    (
        &["innodb_undo_directory"],
        "`innodb_undo_tablespaces` is their number",
    ),
    (
        &["server_audit_file_path", "audit_log_file"],
        "`server_audit_logging` is the switch",
    ),
    (
        &[
            "aria_log_dir_path",
            "basedir",
            "character_sets_dir",
            "datadir",
            "innodb_data_file_path",
            "innodb_data_home_dir",
            "innodb_directories",
            "innodb_log_group_home_dir",
            "innodb_redo_log_archive_dirs",
            "innodb_temp_data_file_path",
            "innodb_temp_tablespaces_dir",
            "innodb_tmpdir",
            "lc_messages_dir",
            "pid_file",
            "plugin_dir",
            "replica_load_tmpdir",
            "secure_file_priv",
            "slave_load_tmpdir",
            "socket",
            "tmpdir",
        ],
        "leave it out for the default",
    ),
];

/// The option that does what `name = value` means, in the spelling of an option file.
pub(super) fn option(name: String, value: &str) -> Result<(String, String), SettingError> {
    if let Some(option) = binary_log(&name, value) {
        return Ok(option);
    }
    let variable = option_variable(&name);
    let wants = NAMES.iter().find(|(names, _)| names.contains(&&*variable));
    let Some((_, instead)) = wants else {
        return Ok((name, value.to_owned()));
    };
    // Of an option without a switch, `skip_` makes one that is called 0.
    let has_prefix = name.trim_start_matches("loose_") != variable;
    if has_prefix || switch(value).is_some() {
        let why = if has_prefix {
            format!("`{variable}` is no switch, so it cannot be skipped; {instead}")
        } else {
            format!("the server would take it for a name; {instead}")
        };
        return Err(SettingError {
            value: value.to_owned(),
            name,
            why,
        });
    }
    Ok((name, value.to_owned()))
}

/// Returns the option that switches the binary log as `name = value` asks for; `None`: it is not asked for, or is
/// given a name.
fn binary_log(name: &str, value: &str) -> Option<(String, String)> {
    if option_variable(name) != LOG_BIN {
        return None;
    }
    let plain = name.trim_start_matches("loose_") == LOG_BIN;
    let on = match (switch(value), plain) {
        (Some(on), true) => on,
        (None, true) if value.is_empty() => true,
        (None, true) => return None,
        // `skip_log_bin = 0` switches it on; `enable_log_bin` is no skipping.
        (said, false) => {
            let skips = !name.contains("enable_");
            (said != Some(false)) != skips
        }
    };
    Some(if on {
        (LOG_BIN.to_owned(), LOG_NAME.to_owned())
    } else {
        (NO_LOG.to_owned(), "1".to_owned())
    })
}
