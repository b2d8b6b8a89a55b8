//! Head and tail of a capture: where it comes from and what that source guarantees.

use serde::{Deserialize, Serialize};
use weir_model::Flavor;

use crate::{Literals, ServerCounters};

/// Where the statements come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureSource {
    /// Weir's proxy.
    Proxy,
    /// The slow log of a `MySQL` server with `log_slow_extra`.
    SlowLogExtra,
    /// The slow log of a `MySQL` server.
    SlowLog,
    /// The extended slow log of Percona Server.
    SlowLogPercona,
    /// The slow log of a `MariaDB` server.
    SlowLogMariadb,
    /// The table `mysql.slow_log` of either server.
    SlowLogTable,
    /// The general log of either server.
    GeneralLog,
    /// Packets that a network interface saw.
    Pcap,
    /// Polls of `performance_schema.events_statements_history_long`.
    PolledHistoryLong,
    /// Polls of `performance_schema.events_statements_history` and `events_statements_current`.
    PolledHistory,
    /// Polls of the processlist.
    PolledProcesslist,
    /// Digests of statements: no statement itself.
    Digests,
}

/// Limits of statements that `performance_schema` remembers.
const POLLED: &str = "When sessions connected and left is not known to less than the time between two polls. Texts end at \
     performance_schema_max_sql_text_length bytes; parameters of prepared statements are not known.";

impl CaptureSource {
    /// Returns the source's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::SlowLogExtra => "MySQL slow log with log_slow_extra",
            Self::SlowLog => "MySQL slow log",
            Self::SlowLogPercona => "extended slow log of Percona Server",
            Self::SlowLogMariadb => "MariaDB slow log",
            Self::SlowLogTable => "table mysql.slow_log",
            Self::GeneralLog => "general log",
            Self::Pcap => "packets of the network",
            Self::PolledHistoryLong => "polls of events_statements_history_long",
            Self::PolledHistory => "polls of events_statements_history",
            Self::PolledProcesslist => "polls of the processlist",
            Self::Digests => "digests of statements",
        }
    }

    /// Returns what is known and what is not, a sentence each.
    pub fn guarantees(self) -> &'static [&'static str] {
        match self {
            Self::Proxy => &[
                "Every statement of every session that came through the proxy, with start and end to the microsecond.",
                "Rows, affected rows, errors, prepared statements and their parameters are those of the server.",
            ],
            Self::SlowLogExtra => &[
                "Start and end to the microsecond, rows sent and errors, of what long_query_time let through.",
                "When sessions connected and left is not known; affected rows are not.",
                "A session without a schema counts to that of the entry before it.",
            ],
            Self::SlowLog => &[
                "The end to the microsecond; the start is the end less the query time.",
                "When sessions connected and left is not known; errors and affected rows are not.",
                "A session without a schema counts to that of the entry before it.",
            ],
            Self::SlowLogPercona => &[
                "The end to the microsecond; the start is the end less the query time.",
                "Rows, affected rows and errors are those of the server; when sessions connected and left is not known.",
            ],
            Self::SlowLogMariadb => &[
                "The end to the second: starts are known to about 1 s, in the order of ends.",
                "When sessions connected and left is not known; errors are not.",
                "Affected rows are known if the log's first lines name MariaDB 10.11.19, 11.4.5, 11.8.9 or newer of these \
                 series: older versions add rows of triggers.",
            ],
            Self::SlowLogTable => &[
                "MySQL: the end to the microsecond, and the start is the end less the query time; MariaDB: the start.",
                "When sessions connected and left is not known; errors and affected rows are not.",
                "MariaDB's table has `?` or an escape for bytes that are no characters, and for characters of four bytes.",
            ],
            Self::GeneralLog => &[
                "The start to the microsecond (MariaDB: to the second); connections as they came and went.",
                "Durations, rows and errors are not known.",
                "The log has statements of procedures beside their CALL; those without a variable cannot be told from the client's.",
            ],
            Self::Pcap => &[
                "Every statement of the sessions that connected while packets were written, with start and end to the microsecond.",
                "Encrypted sessions are left out; a session of which a packet is missing ends there.",
            ],
            Self::PolledHistoryLong => &[
                "The statements that the server still remembered at a poll, with start and end to the microsecond, rows and errors.",
                POLLED,
            ],
            Self::PolledHistory => &[
                "A sample: the last statements of each session at a poll, with start and end to the microsecond, rows and errors. \
                 Sessions that left before a poll are missing, and transactions have gaps.",
                POLLED,
            ],
            Self::PolledProcesslist => &[
                "A sample: the statements that ran at a poll. Starts are known to about 1 ms; ends, rows and errors are not.",
                "Long statements are in it, short ones by chance: their kinds and times are no picture of the load.",
            ],
            Self::Digests => &[
                "Kinds of statements with counts and times, some with an example: no session, and no statement in time. It cannot be replayed.",
            ],
        }
    }

    /// Returns true if the source shows the answer to each command.
    pub(crate) fn knows_answers(self) -> bool {
        matches!(self, Self::Proxy | Self::Pcap)
    }

    /// Returns true if the source shows when sessions connect and leave.
    pub fn knows_sessions(self) -> bool {
        matches!(self, Self::Proxy | Self::GeneralLog | Self::Pcap)
    }
}

/// The beginning of a capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureHead {
    /// Where it comes from.
    pub source: CaptureSource,
    /// The guarantees of the source.
    pub guarantees: Vec<String>,
    /// The server's flavour.
    pub flavor: Option<Flavor>,
    /// The server's version, in its own words.
    pub version: Option<String>,
    /// Treatment of literals.
    pub literals: Literals,
    /// When it began, microseconds since 1970-01-01 UTC; times of records count from here.
    pub began_unix_us: i64,
}

impl CaptureHead {
    /// Of a source, for a capture that begins then.
    pub fn new(source: CaptureSource, literals: Literals, began_unix_us: i64) -> Self {
        let guarantees = source.guarantees().iter();
        Self {
            source,
            guarantees: guarantees.map(|line| (*line).to_owned()).collect(),
            flavor: None,
            version: None,
            literals,
            began_unix_us,
        }
    }
}

/// The end of a capture, if it was ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureTail {
    /// When it ended, microseconds since its beginning.
    pub ended_us: u64,
    /// Content of the capture.
    pub written: CaptureCounts,
    /// Content that is missing, by the reason.
    pub losses: Losses,
    /// Counters of the server, if the source holds a part of its statements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<ServerCounters>,
    /// Why the file ends before its source did, such as a full disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Counts of a capture's content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureCounts {
    /// Sessions.
    pub sessions: u64,
    /// Commands that were sent: statements, and preparations and executions of them.
    pub events: u64,
}

/// Counts of the content that a capture lacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Sessions that could not be read any further.
    pub sessions: u64,
    /// Statements that were cut where they were written down.
    pub truncated: u64,
    /// Statements about accounts and other secrets, of which the first words are kept.
    pub secret: u64,
    /// Statements that are too long to be kept.
    pub too_long: u64,
    /// Entries that began so much earlier than others before them that they are out of order.
    pub out_of_order: u64,
    /// Lines of a log that belong to no entry.
    pub unread_lines: u64,
    /// Sessions that are encrypted.
    #[serde(default)]
    pub sessions_encrypted: u64,
    /// Sessions that are compressed, in captures of earlier versions, which did not read them.
    #[serde(default)]
    pub sessions_compressed: u64,
    /// Sessions that began before the capture.
    #[serde(default)]
    pub sessions_joined_late: u64,
    /// Commands of sessions above that were seen and not written, since the file was too slow or its disk was full.
    #[serde(default)]
    pub statements: u64,
    /// Bytes of these commands.
    #[serde(default)]
    pub statement_bytes: u64,
    /// Entries of a slow log whose times did not fit their neighbours; they stand beside these.
    #[serde(default)]
    pub out_of_place: u64,
    /// Bulk executions (`COM_STMT_BULK_EXECUTE`) whose parameters could not be read.
    #[serde(default)]
    pub bulk_executions: u64,
    /// Executions of prepared statements whose parameters are not known.
    #[serde(default)]
    pub without_values: u64,
    /// Statements that the server counted and no poll saw.
    #[serde(default)]
    pub unseen: u64,
    /// Statements of functions, procedures and triggers that a general log has beside the one that ran them; only that one
    /// is in the capture.
    #[serde(default)]
    pub of_routines: u64,
    /// Commands that the capture shows without an answer: their connection ended before it. Closing a prepared statement
    /// has none by its nature, and is not counted.
    #[serde(default)]
    pub unanswered: u64,
    /// Sessions of these commands.
    #[serde(default)]
    pub sessions_unanswered: u64,
}

impl Losses {
    /// Sessions that are missing, whole or from some point on.
    pub fn sessions_missing(&self) -> u64 {
        self.sessions
            + self.sessions_encrypted
            + self.sessions_compressed
            + self.sessions_joined_late
    }
}
