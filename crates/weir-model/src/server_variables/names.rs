//! Names of the server variables that Weir judges by, as `SHOW VARIABLES` prints them.

/// Doublewrite buffer.
pub const DOUBLEWRITE: &str = "innodb_doublewrite";
/// Time at which the redo log is flushed: 0, 1 or 2, on `MariaDB` also 3.
pub const FLUSH_LOG_AT_COMMIT: &str = "innodb_flush_log_at_trx_commit";
/// Method by which InnoDB opens and flushes its files.
pub const FLUSH_METHOD: &str = "innodb_flush_method";
/// Bytes of a page.
pub const PAGE_SIZE: &str = "innodb_page_size";
/// Bytes of the buffer pool.
pub const BUFFER_POOL_SIZE: &str = "innodb_buffer_pool_size";
/// Bytes of the whole redo log: `MySQL` from 8.0.30 on.
pub const REDO_LOG_CAPACITY: &str = "innodb_redo_log_capacity";
/// Bytes of a file of the redo log: all others.
pub const LOG_FILE_SIZE: &str = "innodb_log_file_size";
/// Files of the redo log, where there may be several.
pub const LOG_FILES_IN_GROUP: &str = "innodb_log_files_in_group";
/// Binary log: a switch; as an option its name, or a switch.
pub const LOG_BIN: &str = "log_bin";
/// Commits after which the binary log is flushed; 0: never.
pub const SYNC_BINLOG: &str = "sync_binlog";
/// Level of checks and threads that a damaged server is started without: 0 to 6.
pub const FORCE_RECOVERY: &str = "innodb_force_recovery";
/// Switch for data files to go through the page cache (`MariaDB` from 11.0 on).
pub const DATA_FILE_BUFFERING: &str = "innodb_data_file_buffering";

/// `MySQL`'s status variable that no variable says: `ALTER INSTANCE DISABLE INNODB REDO_LOG` makes it OFF. It is
/// kept among a run's variables.
pub const REDO_LOG_ENABLED: &str = "Innodb_redo_log_enabled";
/// Prefix of the names that Weir gives to facts that no server shows.
pub const NO_VARIABLE: &str = "weir: ";
/// Not a server's variable: a library in its process that makes flushes do nothing.
pub const FLUSHES_DISABLED_BY: &str = "weir: flushes disabled by";
/// Not a server's variable: why its data do not survive a power cut whatever it flushes.
pub const DATA_LOST_BECAUSE: &str = "weir: data lost because";
/// Not a server's variable: engines of the workload's tables other than InnoDB.
pub const OTHER_ENGINES: &str = "weir: other engines";

/// Not a server's variable: why its pages go through the page cache against its setting.
pub const PAGES_CACHED_BECAUSE: &str = "weir: pages cached because";

/// Not a server's variable: why its flushes hold up writes to the same file on an emulated drive, as they would not on
/// the drive itself.
pub const FLUSHES_HOLD_WRITES: &str = "weir: flushes hold up writes";

/// Settings that make a server less durable and are no variables of it.
pub const UNSAID: [&str; 4] = [
    REDO_LOG_ENABLED,
    FLUSHES_DISABLED_BY,
    DATA_LOST_BECAUSE,
    OTHER_ENGINES,
];
