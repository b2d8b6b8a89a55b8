//! Variables of a server that are no settings, but belong to one instance or one moment.

use std::collections::BTreeMap;
use std::path::Path;

/// Stands for a run's own directory in the values of variables. So two runs with equal settings have equal
/// variables, and no result tells where a disk is mounted.
pub const RUN_DIRECTORY: &str = "(run)";

/// Variables that differ between two starts of one server, or two moments of one start.
const NOT_SETTINGS: [&str; 14] = [
    "gtid_binlog_state",
    "gtid_owned",
    "gtid_purged",
    "gtid_slave_pos",
    "port",
    "report_port",
    "gtid_binlog_pos",
    "gtid_current_pos",
    "gtid_executed",
    "pseudo_thread_id",
    "server_uid",
    "server_uuid",
    "socket",
    "timestamp",
];

/// Returns true if `name` is a setting: equal in two runs unless it was changed.
pub fn is_setting(name: &str) -> bool {
    !NOT_SETTINGS.contains(&name)
}

/// `variables` without the run's own `directory` in their values.
pub fn without_directory(
    variables: BTreeMap<String, String>,
    directory: &Path,
) -> BTreeMap<String, String> {
    let own = directory.display().to_string();
    let shortened = |(name, value): (String, String)| (name, value.replace(&own, RUN_DIRECTORY));
    variables.into_iter().map(shortened).collect()
}

/// `value` as if each run were on an emulated drive: files on the host's own storage are in another folder of the
/// run's directory, and the storage is declared already.
pub(crate) fn on_any_storage(value: &str) -> String {
    let of_host = format!("{RUN_DIRECTORY}/backing/");
    value.replace(&of_host, &format!("{RUN_DIRECTORY}/drive/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_two_runs_make_no_difference() {
        let variables = |directory: &str| {
            let values = [
                ("datadir", format!("{directory}/drive/data/")),
                ("port", "0".into()),
            ];
            let values = values.map(|(name, value)| (name.to_owned(), value));
            without_directory(values.into(), Path::new(directory))
        };
        let first = variables("/dev/shm/weir-run-1-0");
        assert_eq!(first["datadir"], "(run)/drive/data/");
        assert_eq!(first, variables("/dev/shm/weir-run-2-0"));
        assert_eq!(on_any_storage("(run)/backing/data/"), first["datadir"]);
    }
}
