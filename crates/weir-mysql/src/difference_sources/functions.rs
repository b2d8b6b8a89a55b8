//! Functions whose value is not that of their arguments.

/// A function.
pub(super) struct Function {
    /// Name of it, in lower case.
    pub(super) name: &'static str,
    /// Form of the calls that count.
    pub(super) form: CallForm,
    /// Meaning of its value, a phrase.
    pub(super) why: &'static str,
}

/// Form of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallForm {
    /// Without arguments: with some it depends on these alone, or the word is the name of a table.
    Empty,
    /// With or without arguments.
    Any,
    /// Without arguments, and with some where it is called for each of several rows.
    OfRows,
}

const TIME: &str = "is the time of the execution";
const RANDOM: &str = "is random";
const UNIQUE: &str = "is another value in each call";
const SESSION: &str = "depends on the session";
const ACCOUNT: &str = "is the session's account";
const LOCK: &str = "depends on the locks of other sessions";
const SEQUENCE: &str = "is a number of a sequence, which sessions share";
const POSITION: &str = "waits for replication";

const fn empty(name: &'static str, why: &'static str) -> Function {
    Function {
        name,
        form: CallForm::Empty,
        why,
    }
}

const fn any(name: &'static str, why: &'static str) -> Function {
    Function {
        name,
        form: CallForm::Any,
        why,
    }
}

/// All of them. With an argument, `rand` gives a series, which follows the order of rows,
/// `unix_timestamp` converts, and `last_insert_id` gives back its argument.
pub(super) const FUNCTIONS: [Function; 50] = [
    any("now", TIME),
    any("sysdate", TIME),
    any("current_timestamp", TIME),
    any("localtime", TIME),
    any("localtimestamp", TIME),
    any("curtime", TIME),
    any("current_time", TIME),
    any("utc_time", TIME),
    any("utc_timestamp", TIME),
    empty("curdate", TIME),
    empty("current_date", TIME),
    empty("utc_date", TIME),
    empty("unix_timestamp", TIME),
    Function {
        name: "rand",
        form: CallForm::OfRows,
        why: RANDOM,
    },
    any("random_bytes", RANDOM),
    any("encrypt", RANDOM),
    empty("uuid", UNIQUE),
    empty("uuid_short", UNIQUE),
    empty("uuid_v4", UNIQUE),
    empty("uuid_v7", UNIQUE),
    empty("sys_guid", UNIQUE),
    empty("connection_id", SESSION),
    empty("ps_current_thread_id", SESSION),
    empty("last_insert_id", "is the number of the session's last row"),
    empty("found_rows", "counts rows of the statement before"),
    empty("row_count", "counts rows of the statement before"),
    empty("user", ACCOUNT),
    empty("current_user", ACCOUNT),
    empty("session_user", ACCOUNT),
    empty("system_user", ACCOUNT),
    empty("current_role", ACCOUNT),
    empty("roles_graphml", ACCOUNT),
    empty("database", "is the session's schema"),
    empty("schema", "is the session's schema"),
    empty("version", "is the server's version"),
    any("sleep", "waits, and can be ended before its time"),
    any("get_lock", LOCK),
    any("release_lock", LOCK),
    empty("release_all_locks", LOCK),
    any("is_free_lock", LOCK),
    any("is_used_lock", LOCK),
    any("nextval", SEQUENCE),
    any("lastval", SEQUENCE),
    any("setval", SEQUENCE),
    any("load_file", "is a file of the server's host"),
    any("master_pos_wait", POSITION),
    any("source_pos_wait", POSITION),
    any("master_gtid_wait", POSITION),
    any("wait_for_executed_gtid_set", POSITION),
    any("any_value", "is the value of any row"),
];

/// Functions that are called without parentheses, too: reserved words, which name no column without quotes.
pub(super) const RESERVED_WORDS: [(&str, &str); 10] = [
    ("current_date", TIME),
    ("current_time", TIME),
    ("current_timestamp", TIME),
    ("localtime", TIME),
    ("localtimestamp", TIME),
    ("utc_date", TIME),
    ("utc_time", TIME),
    ("utc_timestamp", TIME),
    ("current_user", ACCOUNT),
    ("current_role", ACCOUNT),
];

/// Schemas that are not of a user's data.
pub(super) const SYSTEM_SCHEMAS: [&str; 4] =
    ["information_schema", "performance_schema", "mysql", "sys"];
