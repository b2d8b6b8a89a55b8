//! What the server of the histories can do.

use weir_model::{Flavor, ServerVersion};

/// The first version of each flavour that has a feature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since {
    pub(crate) mysql: ServerVersion,
    pub(crate) mariadb: ServerVersion,
}

/// The flavour and the version of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    pub(crate) flavor: Flavor,
    pub(crate) version: ServerVersion,
}

const ALWAYS: ServerVersion = ServerVersion::new(0, 0, 0);
const NEVER: ServerVersion = ServerVersion::new(u32::MAX, 0, 0);

/// Default values that are expressions.
pub(crate) const DEFAULT_EXPRESSIONS: Since = Since::both((8, 0, 13), (10, 2, 1));
pub(crate) const INVISIBLE_COLUMNS: Since = Since::both((8, 0, 23), (10, 3, 3));
/// `SHOW BINARY LOG STATUS` and `RESET BINARY LOGS AND GTIDS` in place of older words.
pub(crate) const BINARY_LOG_WORDS: Since = Since::mysql(8, 2, 0);
pub(crate) const ROW_METADATA: Since = Since::both((8, 0, 1), (10, 5, 0));
/// Microseconds of commits in the log.
pub(crate) const COMMIT_TIMES: Since = Since::mysql(8, 0, 1);
/// New images without values that are those of the old one (`binlog_row_image = FULL_NODUP`).
pub(crate) const NEW_VALUES_ONLY: Since = Since::mariadb(11, 4, 0);
/// Statements that wait for no lock at all.
pub(crate) const NO_WAIT: Since = Since::mariadb(10, 3, 0);

impl Since {
    pub(crate) const ALWAYS: Self = Self {
        mysql: ALWAYS,
        mariadb: ALWAYS,
    };

    pub(crate) const fn both(mysql: (u32, u32, u32), mariadb: (u32, u32, u32)) -> Self {
        Self {
            mysql: ServerVersion::new(mysql.0, mysql.1, mysql.2),
            mariadb: ServerVersion::new(mariadb.0, mariadb.1, mariadb.2),
        }
    }

    pub(crate) const fn mysql(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            mysql: ServerVersion::new(major, minor, patch),
            mariadb: NEVER,
        }
    }

    pub(crate) const fn mariadb(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            mysql: NEVER,
            mariadb: ServerVersion::new(major, minor, patch),
        }
    }
}

impl Dialect {
    /// The dialect of the server that tests use.
    pub(crate) fn of_tests(flavor: Flavor) -> Self {
        let version = weir_testing::binary(flavor).version;
        Self { flavor, version }
    }

    pub(crate) fn has(self, feature: Since) -> bool {
        let since = match self.flavor {
            Flavor::Mysql => feature.mysql,
            Flavor::Mariadb => feature.mariadb,
        };
        self.version >= since
    }
}
