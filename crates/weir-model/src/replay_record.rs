//! Record of a replay in a run: its fidelity, and the times and results of each kind of statement.

use serde::{Deserialize, Serialize};

use crate::LatencySummary;

/// Record of a replay.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayRecord {
    /// Fidelity of the replay.
    pub fidelity: ReplayFidelity,
    /// Each kind of statement, the one that took the most time in the capture first.
    pub fingerprints: Vec<FingerprintRecord>,
}

/// Fidelity of a replay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayFidelity {
    /// Sessions in the capture.
    pub sessions: u64,
    /// Sessions that the capture lacks, whole or from some point on.
    #[serde(default)]
    pub sessions_missing: u64,
    /// Statements of these sessions that were seen and not captured, and those that no poll of the server saw.
    #[serde(default)]
    pub statements_missing: u64,
    /// The capture has no end: it is cut or damaged, or its writer was killed.
    #[serde(default)]
    pub is_cut: bool,
    /// Sessions that were let in.
    pub sessions_joined: u64,
    /// Reason that a session was not joined, if one was not.
    pub not_joined_why: Option<String>,
    /// Connections that were lost.
    pub connections_lost: u64,
    /// Statements in the capture.
    pub captured: u64,
    /// Statements that were sent.
    pub sent: u64,
    /// Statements that were not.
    pub not_sent: NotSent,
    /// Time that the statements took in the capture, as far as it knows, microseconds.
    #[serde(default)]
    pub captured_us: u64,
    /// Time that those of them took in the capture that were sent.
    #[serde(default)]
    pub captured_us_sent: u64,
    /// Statements that were due while their session still waited, for its last answer or for other sessions.
    pub busy: u64,
    /// Lateness of the others, after they were due.
    pub late_us: LatenessUs,
    /// Ends of transactions that waited for those of other sessions that came before them in the capture.
    #[serde(default)]
    pub order_waits: u64,
    /// Those that did not wait longer, and went before others.
    #[serde(default)]
    pub order_given_up: u64,
    /// Errors in the capture, of statements that were sent again.
    pub errors_captured: u64,
    /// Errors in the replay.
    pub errors: u64,
    /// Statements whose errors are known on both sides.
    pub errors_compared: u64,
    /// Those that differ.
    pub errors_differ: u64,
    /// Lock wait timeouts and deadlocks in the replay of statements that had none in the capture.
    #[serde(default)]
    pub lock_errors_new: u64,
    /// Statements whose numbers of rows are known on both sides.
    pub rows_compared: u64,
    /// Those that differ.
    pub rows_differ: u64,
    /// Statements whose numbers of changed rows are known on both sides.
    pub affected_compared: u64,
    /// Those that differ.
    pub affected_differ: u64,
    /// Statements for which an `AUTO_INCREMENT` column gave a number in the capture, and which did not fail in the replay.
    #[serde(default)]
    pub insert_ids_compared: u64,
    /// Those that got another number, so that their rows differ.
    #[serde(default)]
    pub insert_ids_differ: u64,
}

/// Statements that were not sent, by their reasons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Their session has a character set in which they cannot be sent to this server, and they are not plain ASCII.
    #[serde(default)]
    pub character_set: u64,
}

impl NotSent {
    /// All of them with their names.
    pub fn reasons(&self) -> [(&'static str, u64); 7] {
        [
            ("secret, cut or without values", self.unusable),
            ("ask for a file of the client's", self.asks_for_file),
            ("of another schema", self.other_schema),
            ("prepared before the capture", self.not_prepared),
            ("not allowed on this server", self.not_allowed),
            ("without a connection", self.no_connection),
            ("of another character set", self.character_set),
        ]
    }

    /// Their number.
    pub fn all(&self) -> u64 {
        self.reasons().iter().map(|(_, count)| count).sum()
    }
}

/// Lateness of statements, microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// A kind of statement in a replay.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FingerprintRecord {
    /// Text that the statements have in common.
    pub fingerprint: String,
    /// Number of such statements in the capture.
    pub captured: u64,
    /// Mean time in the capture, microseconds; `None` if it is not known.
    pub captured_us_mean: Option<f64>,
    /// Number of sent statements.
    pub sent: u64,
    /// Latency within the measurement, if they are among those that are timed by themselves.
    pub latency: Option<LatencySummary>,
    /// Number of refused statements.
    #[serde(default)]
    pub errors: u64,
    /// Rows that all of them returned.
    #[serde(default)]
    pub rows: u64,
    /// Rows that all of them changed.
    #[serde(default)]
    pub affected: u64,
    /// Warnings that the server counted for all of them.
    #[serde(default)]
    pub warnings: u64,
    /// Digest of all rows that they returned, in any order, hexadecimal; empty without rows.
    #[serde(default)]
    pub results: String,
    /// The same, with the order of the rows of each; empty in older results, too.
    #[serde(default)]
    pub results_in_order: String,
    /// Number that returned another number of rows than in the capture.
    pub rows_differ: u64,
    /// Number that changed another number of rows.
    pub affected_differ: u64,
    /// Number that had another error, or none.
    pub errors_differ: u64,
    /// Reasons in the text by which the outcome can differ on the same data; none in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub difference_reasons: Vec<DifferenceReason>,
    /// Plan of one of them after the run: table by table, in the words of EXPLAIN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

/// Reason that a statement can have another outcome on the same data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DifferenceReason {
    /// The part of the statement and its meaning: `now() is the time of the execution`.
    pub words: String,
    /// Only the order of the rows can differ.
    #[serde(default)]
    pub is_of_order: bool,
}

/// Two arms of a replay, kind of statement by kind of statement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayComparison {
    /// Fidelity of both arms, a sentence each.
    pub fidelity: Vec<String>,
    /// Those that are surely worse first, by the time that they cost; then those that are surely better, then
    /// those that are equal, then all others.
    pub fingerprints: Vec<FingerprintComparison>,
}

/// A kind of statement on two arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FingerprintComparison {
    /// Text that the statements have in common.
    pub fingerprint: String,
    /// The verdict on their time.
    pub verdict: FingerprintVerdict,
    /// Mean number that a run of the baseline sent.
    pub count: f64,
    /// Their share of the time of all statements of the baseline.
    pub share: f64,
    /// Mean time of one on the baseline, over the runs, microseconds.
    pub baseline_us: f64,
    /// Mean time of one on the level, microseconds.
    pub level_us: f64,
    /// Mean latency, level / baseline, geometric mean over pairs of runs; `None` where either has none.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval; `None` with too few runs.
    pub ratio_low: Option<f64>,
    /// Upper end.
    pub ratio_high: Option<f64>,
    /// p99, level / baseline.
    pub p99_ratio: Option<f64>,
    /// Probability of such a ratio if the arms were alike.
    pub p_value: Option<f64>,
    /// The same, corrected for all kinds of statements (Benjamini and Hochberg).
    pub p_value_adjusted: Option<f64>,
    /// Probability of a ratio this close to 1 if the true one were 5 % away or farther: two one-sided tests, corrected
    /// for all kinds of statements. `None` with too few runs or statements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal_p_value_adjusted: Option<f64>,
    /// Differences in their results: numbers of rows, changed rows, errors, contents.
    pub differs: Vec<String>,
    /// Plan on the baseline.
    pub baseline_plan: Option<String>,
    /// Plan on the level.
    pub level_plan: Option<String>,
}

impl FingerprintComparison {
    /// Stands between the plans of an arm whose runs have several.
    pub const OR: &str = ", or ";

    /// Returns true if no run of the level finds the rows as a run of the baseline does.
    pub fn changes_plan(&self) -> bool {
        let plans = self.baseline_plan.as_ref().zip(self.level_plan.as_ref());
        plans.is_some_and(|(baseline, level)| {
            let mut all = level.split(Self::OR);
            all.all(|plan| !baseline.split(Self::OR).any(|before| before == plan))
        })
    }
}

/// The verdict on the time of a kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FingerprintVerdict {
    /// It takes longer on the level, also after the correction for many.
    SurelyWorse,
    /// It takes less.
    SurelyBetter,
    /// It takes the same within 5 %, also after the correction for many.
    Equal,
    /// None of them was shown.
    NotShown,
}

impl FingerprintVerdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::SurelyWorse => "surely worse",
            Self::SurelyBetter => "surely better",
            Self::Equal => "equal within 5 %",
            Self::NotShown => "not shown",
        }
    }
}
