//! Versions that have a variable, and its substitute in the others.
//!
//! From MySQL's "Server Version Reference" (Option and Variable Changes for 8.0 to 8.4) and MariaDB's
//! "Server System Variables" and "InnoDB System Variables" with their change histories. What is not
//! here is asked of the server program itself (`weir-server`).

use weir_model::{Flavor, ServerVersion};

use super::Version;
use super::synonyms::old_word;

/// Substitute in a version that does not have a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instead {
    /// The same under another name.
    Name(&'static str),
    /// The same under another name and in another unit: so many of it are one.
    Times(&'static str, u64),
    /// Nothing that takes the same value; in words.
    Nothing(&'static str),
}

/// The versions of one flavour that have a variable, from the first to before the last.
struct Span {
    flavor: Flavor,
    names: &'static [&'static str],
    from: Version,
    until: Version,
    instead: Instead,
}

const ALWAYS: Version = (0, 0, 0);
const NEVER: Version = (0, 0, 0);
const STILL: Version = (u32::MAX, 0, 0);

/// From `from` on.
const fn since(
    flavor: Flavor,
    from: Version,
    names: &'static [&'static str],
    instead: Instead,
) -> Span {
    Span {
        flavor,
        names,
        from,
        until: STILL,
        instead,
    }
}

/// Before `until`; with [`NEVER`] in no version.
const fn before(
    flavor: Flavor,
    until: Version,
    names: &'static [&'static str],
    instead: Instead,
) -> Span {
    Span {
        flavor,
        names,
        from: ALWAYS,
        until,
        instead,
    }
}

use Flavor::{Mariadb, Mysql};
use Instead::{Name, Nothing, Times};

const SPANS: &[Span] = &[
    before(
        Mysql,
        (8, 0, 3),
        &[
            "query_cache_type",
            "query_cache_size",
            "query_cache_limit",
            "query_cache_min_res_unit",
            "query_cache_wlock_invalidate",
        ],
        Nothing("there is no query cache any more"),
    ),
    before(
        Mysql,
        (8, 0, 0),
        &[
            "innodb_file_format",
            "innodb_file_format_check",
            "innodb_file_format_max",
            "innodb_large_prefix",
        ],
        Nothing("tables have the format Barracuda, with long index prefixes"),
    ),
    before(
        Mysql,
        (8, 0, 0),
        &["innodb_support_xa"],
        Nothing("two-phase commit is always on"),
    ),
    before(
        Mysql,
        (8, 0, 2),
        &["innodb_undo_logs"],
        Name("innodb_rollback_segments"),
    ),
    before(
        Mysql,
        (8, 0, 3),
        &["tx_isolation"],
        Name("transaction_isolation"),
    ),
    before(
        Mysql,
        (8, 0, 3),
        &["tx_read_only"],
        Name("transaction_read_only"),
    ),
    before(
        Mysql,
        (8, 0, 3),
        &["log_warnings"],
        Nothing("set log_error_verbosity, 2 for log_warnings = 1 and 3 for 2"),
    ),
    before(
        Mysql,
        (8, 2, 0),
        &["expire_logs_days"],
        Times("binlog_expire_logs_seconds", 86_400),
    ),
    before(
        Mysql,
        (8, 3, 0),
        &["master_info_repository", "relay_log_info_repository"],
        Nothing("positions are kept in tables"),
    ),
    before(
        Mysql,
        (8, 4, 0),
        &["default_authentication_plugin"],
        Nothing("set authentication_policy"),
    ),
    before(
        Mysql,
        (8, 4, 0),
        &["binlog_transaction_dependency_tracking"],
        Nothing("dependencies are always those of WRITESET"),
    ),
    before(
        Mysql,
        NEVER,
        &["slave_parallel_threads"],
        Name("replica_parallel_workers"),
    ),
    before(
        Mysql,
        NEVER,
        &["innodb_log_file_buffering", "innodb_data_file_buffering"],
        Nothing("set innodb_flush_method"),
    ),
    since(
        Mysql,
        (8, 0, 1),
        &["binlog_expire_logs_seconds"],
        Nothing("set expire_logs_days"),
    ),
    since(
        Mysql,
        (8, 0, 3),
        &["innodb_dedicated_server"],
        Nothing("set pool, redo log and flush method each"),
    ),
    since(
        Mysql,
        (8, 0, 20),
        &[
            "innodb_doublewrite_pages",
            "innodb_doublewrite_files",
            "innodb_doublewrite_dir",
            "innodb_doublewrite_batch_size",
        ],
        Nothing("the doublewrite buffer lies in the system tablespace, with a fixed size"),
    ),
    since(
        Mysql,
        (8, 0, 22),
        &["innodb_log_writer_threads"],
        Nothing("log writer threads cannot be switched off"),
    ),
    since(
        Mysql,
        (8, 0, 26),
        &["innodb_use_fdatasync"],
        Nothing("files are flushed with fsync"),
    ),
    before(
        Mariadb,
        NEVER,
        &["tx_isolation"],
        Name("transaction_isolation"),
    ),
    before(
        Mariadb,
        NEVER,
        &["tx_read_only"],
        Name("transaction_read_only"),
    ),
    before(
        Mariadb,
        NEVER,
        &["replica_parallel_workers"],
        Name("slave_parallel_threads"),
    ),
    before(
        Mariadb,
        NEVER,
        &["log_error_verbosity"],
        Nothing("set log_warnings"),
    ),
    before(
        Mariadb,
        NEVER,
        &["default_authentication_plugin", "authentication_policy"],
        Nothing("accounts say themselves how they log in"),
    ),
    before(
        Mariadb,
        NEVER,
        &[
            "innodb_doublewrite_pages",
            "innodb_doublewrite_files",
            "innodb_doublewrite_dir",
            "innodb_doublewrite_batch_size",
        ],
        Nothing("the doublewrite buffer lies in the system tablespace, with a fixed size"),
    ),
    before(
        Mariadb,
        NEVER,
        &[
            "innodb_dedicated_server",
            "innodb_use_fdatasync",
            "innodb_log_writer_threads",
        ],
        Nothing("it is MySQL's alone"),
    ),
    before(
        Mariadb,
        (10, 5, 0),
        &["innodb_rollback_segments"],
        Nothing("there are always 128"),
    ),
    before(
        Mariadb,
        (10, 6, 0),
        &["innodb_undo_logs"],
        Nothing("there are always 128"),
    ),
    before(
        Mariadb,
        (10, 6, 0),
        &["innodb_buffer_pool_instances", "innodb_page_cleaners"],
        Nothing("there is always one"),
    ),
    before(
        Mariadb,
        (10, 6, 0),
        &[
            "innodb_thread_concurrency",
            "innodb_commit_concurrency",
            "innodb_concurrency_tickets",
            "innodb_thread_sleep_delay",
            "innodb_adaptive_max_sleep_delay",
        ],
        Nothing("InnoDB no longer limits threads; thread_pool_size does"),
    ),
    before(
        Mariadb,
        (10, 6, 0),
        &[
            "innodb_file_format",
            "innodb_file_format_check",
            "innodb_file_format_max",
            "innodb_large_prefix",
        ],
        Nothing("tables have the format Barracuda, with long index prefixes"),
    ),
    before(
        Mariadb,
        (11, 0, 0),
        &["innodb_change_buffering", "innodb_change_buffer_max_size"],
        Nothing("there is no change buffer any more"),
    ),
    before(Mysql, NEVER, &["log_slow_query"], Name("slow_query_log")),
    before(
        Mysql,
        NEVER,
        &["log_slow_query_file"],
        Name("slow_query_log_file"),
    ),
    before(
        Mysql,
        NEVER,
        &["log_slow_query_time"],
        Name("long_query_time"),
    ),
    before(
        Mysql,
        NEVER,
        &["log_slow_min_examined_row_limit"],
        Name("min_examined_row_limit"),
    ),
    before(
        Mysql,
        NEVER,
        &["tmp_memory_table_size"],
        Name("tmp_table_size"),
    ),
    before(
        Mysql,
        (5, 7, 5),
        &["storage_engine"],
        Name("default_storage_engine"),
    ),
    before(
        Mysql,
        NEVER,
        &["max_statement_time"],
        Nothing("set max_execution_time, in milliseconds, for SELECT only"),
    ),
    before(
        Mysql,
        NEVER,
        &[
            "thread_handling",
            "thread_pool_size",
            "thread_pool_max_threads",
        ],
        Nothing("a thread pool is a plugin of MySQL Enterprise and of Percona Server"),
    ),
    before(
        Mysql,
        NEVER,
        &["innodb_use_atomic_writes", "innodb_buffer_pool_size_max"],
        Nothing("it is MariaDB's alone"),
    ),
    since(
        Mariadb,
        (10, 11, 0),
        &["log_slow_query"],
        Name("slow_query_log"),
    ),
    since(
        Mariadb,
        (10, 11, 0),
        &["log_slow_query_file"],
        Name("slow_query_log_file"),
    ),
    since(
        Mariadb,
        (10, 11, 0),
        &["log_slow_query_time"],
        Name("long_query_time"),
    ),
    since(
        Mariadb,
        (10, 11, 0),
        &["log_slow_min_examined_row_limit"],
        Name("min_examined_row_limit"),
    ),
    before(
        Mariadb,
        NEVER,
        &["max_execution_time"],
        Nothing("set max_statement_time, in seconds"),
    ),
    since(
        Mariadb,
        (10, 6, 1),
        &["binlog_expire_logs_seconds"],
        Nothing("set expire_logs_days"),
    ),
];

/// Returns the substitute of `name` in a version that does not have it, and the time at which it
/// came or went. `None` if the version has it, as far as is known.
pub(super) fn instead_of(
    flavor: Flavor,
    version: ServerVersion,
    name: &str,
) -> Option<(Instead, String)> {
    let number = (version.major, version.minor, version.patch);
    let mut of_flavor = SPANS.iter().filter(|span| span.flavor == flavor);
    let Some(span) = of_flavor.find(|span| span.names.contains(&name)) else {
        let old = old_word(flavor, number, name)?;
        return Some((Name(old), format!("{flavor} {version} has the older word")));
    };
    let text = |(major, minor, patch): Version| format!("{major}.{minor}.{patch}");
    if number < span.from {
        return Some((span.instead, format!("new in {flavor} {}", text(span.from))));
    }
    if span.until == NEVER {
        return Some((span.instead, format!("{flavor} has none")));
    }
    let gone = || format!("removed in {flavor} {}", text(span.until));
    (number >= span.until).then(|| (span.instead, gone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name stands once for each flavour, and leads to one that does not lead on.
    #[test]
    fn the_table_has_no_circles_and_no_doubles() {
        for (index, span) in SPANS.iter().enumerate() {
            for name in span.names {
                let doubles = SPANS[index + 1..]
                    .iter()
                    .filter(|other| other.flavor == span.flavor && other.names.contains(name));
                assert_eq!(doubles.count(), 0, "{name}");
            }
            assert!(span.from <= span.until || span.until == NEVER);
        }
    }
}
