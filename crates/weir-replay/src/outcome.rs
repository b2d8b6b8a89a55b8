//! What came of a replay: how faithful it was, first, and then what each kind of statement took.

use serde::Serialize;
use weir_load::LoadOutcome;
use weir_model::LatencySummary;

/// What came of a replay.
#[derive(Debug)]
pub struct ReplayOutcome {
    /// How faithful it was.
    pub fidelity: Fidelity,
    /// Each kind of statement, the one that took the most time in the capture first.
    pub fingerprints: Vec<FingerprintOutcome>,
    /// What the load engine measured.
    pub load: LoadOutcome,
}

/// How faithful a replay was.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Fidelity {
    /// Sessions in the capture.
    pub sessions: u64,
    /// Sessions that were let in.
    pub sessions_joined: u64,
    /// Why one was not, if one was not.
    pub not_joined_why: Option<String>,
    /// Connections that were lost.
    pub connections_lost: u64,
    /// Statements in the capture.
    pub captured: u64,
    /// Statements that were sent.
    pub sent: u64,
    /// Statements that were not.
    pub not_sent: NotSent,
    /// Statements whose session was still waiting for its last answer when they were due.
    pub busy: u64,
    /// How late the others were, after they were due.
    pub late_us: LatenessUs,
    /// Errors in the capture, of statements that were sent again.
    pub errors_captured: u64,
    /// Errors in the replay.
    pub errors: u64,
    /// Statements whose errors are known on both sides.
    pub errors_compared: u64,
    /// Those that differ.
    pub errors_differ: u64,
    /// Statements whose numbers of rows are known on both sides.
    pub rows_compared: u64,
    /// Those that differ.
    pub rows_differ: u64,
    /// Statements whose numbers of changed rows are known on both sides.
    pub affected_compared: u64,
    /// Those that differ.
    pub affected_differ: u64,
}

/// Statements that were not sent, by their reasons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct NotSent {
    /// Secret, cut in the log, or without their values.
    pub unusable: u64,
    /// They ask for a file of the client's.
    pub asks_for_file: u64,
    /// About another schema.
    pub other_schema: u64,
    /// Executions of statements whose preparation is not in the capture.
    pub not_prepared: u64,
    /// They may not be sent to this server.
    pub not_allowed: u64,
    /// Their session was not let in, or has lost its connection within a transaction.
    pub no_connection: u64,
}

impl NotSent {
    /// All of them with their names.
    pub fn reasons(&self) -> [(&'static str, u64); 6] {
        [
            ("secret, cut or without values", self.unusable),
            ("ask for a file of the client's", self.asks_for_file),
            ("of another schema", self.other_schema),
            ("prepared before the capture", self.not_prepared),
            ("not allowed on this server", self.not_allowed),
            ("without a connection", self.no_connection),
        ]
    }

    /// Their number.
    pub fn all(&self) -> u64 {
        self.reasons().iter().map(|(_, count)| count).sum()
    }
}

/// How late statements were, microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LatenessUs {
    /// The median.
    pub p50: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The 99.9th.
    pub p999: u64,
    /// The latest.
    pub max: u64,
}

/// A kind of statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FingerprintOutcome {
    /// What they have in common.
    pub fingerprint: String,
    /// How many the capture has.
    pub captured: u64,
    /// What they took there, mean, microseconds; `None` if it is not known.
    pub captured_us_mean: Option<f64>,
    /// How many were sent.
    pub sent: u64,
    /// What they took, if they are among those that are timed by themselves.
    pub latency: Option<LatencySummary>,
    /// How many returned another number of rows.
    pub rows_differ: u64,
    /// How many changed another number of rows.
    pub affected_differ: u64,
    /// How many had another error, or none.
    pub errors_differ: u64,
}
