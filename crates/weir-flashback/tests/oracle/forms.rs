//! Settings of servers that write their logs in different forms and cannot change them while they run.

use tempfile::TempDir;
use weir_model::Flavor;
use weir_server::ServerBinary;

use crate::dialect::{Dialect, NEW_VALUES_ONLY};

/// Histories that happen on one server.
const HISTORIES: u64 = 200;

/// The settings of a server.
#[derive(Debug, Default)]
pub(crate) struct Form {
    pub(crate) number: u64,
    pub(crate) variables: Vec<(&'static str, String)>,
    /// Where the key of an encrypted log is.
    keys: Option<TempDir>,
    /// The server to start, if not the usual one.
    pub(crate) program: Option<ServerBinary>,
}

impl Form {
    /// The number of the form in which the history of this seed happens.
    pub(crate) fn number_of(seed: u64) -> u64 {
        seed / HISTORIES
    }

    pub(crate) fn new(flavor: Flavor, number: u64) -> Self {
        let mut form = Self {
            number,
            ..Self::default()
        };
        let variables: &[(&str, &str)] = match (flavor, number % 4) {
            (Flavor::Mysql, 1) => &[("gtid_mode", "OFF"), ("enforce_gtid_consistency", "OFF")],
            (Flavor::Mysql, 2) => &[
                ("gtid_mode", "ON"),
                ("enforce_gtid_consistency", "ON"),
                ("binlog_row_event_max_size", "256"),
            ],
            (Flavor::Mysql, 3) => {
                form.encrypt_by_keyring();
                &[("gtid_mode", "ON"), ("enforce_gtid_consistency", "ON")]
            }
            (Flavor::Mysql, _) => &[("gtid_mode", "ON"), ("enforce_gtid_consistency", "ON")],
            (Flavor::Mariadb, 1) => {
                form.encrypt();
                &[]
            }
            (Flavor::Mariadb, 0) if Dialect::of_tests(flavor).has(NEW_VALUES_ONLY) => {
                &[("binlog_row_image", "FULL_NODUP")]
            }
            (Flavor::Mariadb, 2) => &[("binlog_row_event_max_size", "256")],
            (Flavor::Mariadb, 3) => &[("lower_case_table_names", "1")],
            (Flavor::Mariadb, _) => &[],
        };
        let variables = variables
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        form.variables.extend(variables);
        form
    }

    fn encrypt_by_keyring(&mut self) {
        if let Some((program, folder)) = weir_testing::keyring_server() {
            self.variables = vec![("binlog_encryption", "ON".to_owned())];
            (self.program, self.keys) = (Some(program), Some(folder));
        }
    }

    fn encrypt(&mut self) {
        let Some(plugins) = weir_testing::key_management() else {
            return;
        };
        let keys = tempfile::tempdir().unwrap();
        let file = keys.path().join("keys");
        std::fs::write(&file, "1;770A8A65DA156D24EE2A093277530142\n").unwrap();
        self.variables = vec![
            ("encrypt_binlog", "ON".to_owned()),
            ("plugin_dir", plugins.display().to_string()),
            ("plugin_load_add", "file_key_management".to_owned()),
            ("file_key_management_filename", file.display().to_string()),
        ];
        self.keys = Some(keys);
    }
}
