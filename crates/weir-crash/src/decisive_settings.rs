//! Settings on which it depends what a power cut does to a server's pages: a verdict holds for these.

use weir_model::variables::{
    DATA_FILE_BUFFERING, DOUBLEWRITE, FLUSH_LOG_AT_COMMIT, FLUSH_METHOD, FORCE_RECOVERY,
    LOG_FILE_SIZE, LOG_FILES_IN_GROUP, PAGE_SIZE, REDO_LOG_CAPACITY,
};
use weir_model::{Flavor, ServerVariables};

use crate::test_settings::Variables;

/// Their names; a server has those of its flavour and version.
///
/// Page size, flush method and the redo log as a whole, and checksums, which find a torn page. Also those that
/// decide how a page reaches the drive. Native AIO writes each page by itself; the simulated one joins neighbours
/// to larger writes. A log that is written past the page cache tears at other places.
pub const DECISIVE_SETTINGS: [&str; 19] = [
    DOUBLEWRITE,
    PAGE_SIZE,
    FLUSH_METHOD,
    FLUSH_LOG_AT_COMMIT,
    REDO_LOG_CAPACITY,
    LOG_FILE_SIZE,
    LOG_FILES_IN_GROUP,
    FORCE_RECOVERY,
    DATA_FILE_BUFFERING,
    "innodb_checksum_algorithm",
    "innodb_data_file_write_through",
    "innodb_log_checksums",
    "innodb_log_file_buffering",
    "innodb_log_file_mmap",
    "innodb_log_file_write_through",
    "innodb_log_write_ahead_size",
    "innodb_use_atomic_writes",
    "innodb_use_fdatasync",
    "innodb_use_native_aio",
];

/// Of all that a server says, what is decisive.
pub(crate) fn decisive(mut said: Variables) -> Variables {
    said.retain(|name, _| DECISIVE_SETTINGS.contains(&name.as_str()));
    said
}

/// A decisive setting in which a server differs from a tested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingDifference {
    /// Name of the setting.
    pub name: &'static str,
    /// As the tested server said it; `None`: it has none.
    pub tested: Option<String>,
    /// As the server says it.
    pub found: Option<String>,
}

/// In which decisive settings two servers of `flavor` differ, apart from the doublewrite buffer itself.
pub(crate) fn differences(
    flavor: Flavor,
    tested: &Variables,
    found: &Variables,
) -> Vec<SettingDifference> {
    let [tested, found] = [tested, found].map(|said| ServerVariables::said(flavor, said));
    let names = DECISIVE_SETTINGS
        .into_iter()
        .filter(|name| *name != DOUBLEWRITE && tested.meant(name) != found.meant(name));
    let said = |of: &ServerVariables<'_>, name: &str| of.get(name).map(str::to_owned);
    names
        .map(|name| SettingDifference {
            name,
            tested: said(&tested, name),
            found: said(&found, name),
        })
        .collect()
}

impl SettingDifference {
    /// In words.
    pub(crate) fn words(&self) -> String {
        let name = self.name;
        match (&self.tested, &self.found) {
            (Some(tested), Some(found)) => format!("{name} is {found}, the test had {tested}"),
            (None, Some(found)) => format!("{name} is {found}, the test does not say its own"),
            (Some(tested), None) => format!("the server has no {name}, the test had {tested}"),
            (None, None) => String::new(),
        }
    }

    /// The option of `weir crash-test` that makes a test of what the server has.
    pub(crate) fn option(&self) -> Option<String> {
        let found = self.found.as_deref()?;
        Some(match self.name {
            // It also says whether a lost commit is a failure.
            FLUSH_LOG_AT_COMMIT => format!("--flush-log-at-trx-commit {found}"),
            name => format!("--set {name}={found}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_settings::variables;

    #[test]
    fn settings_differ_by_meaning_and_only_where_they_decide() {
        let tested = variables(&[
            (DOUBLEWRITE, "OFF"),
            (FLUSH_METHOD, "O_DIRECT"),
            (REDO_LOG_CAPACITY, "10485760"),
            ("innodb_io_capacity", "200"),
        ]);
        let found = variables(&[
            (DOUBLEWRITE, "ON"),
            (FLUSH_METHOD, "4"),
            (REDO_LOG_CAPACITY, "104857600"),
            ("innodb_io_capacity", "400"),
        ]);
        let words: Vec<_> = differences(Flavor::Mysql, &tested, &found)
            .iter()
            .map(SettingDifference::words)
            .collect();
        let expected = "innodb_redo_log_capacity is 104857600, the test had 10485760";
        assert_eq!(words, [expected]);
        assert_eq!(decisive(tested).len(), 3);
    }
}
