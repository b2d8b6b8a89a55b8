//! Counts of a replay, and a comparison of the outcomes of statements with the captured ones.

use hdrhistogram::Histogram;
use weir_capture::CommandEnd;

use crate::item::Reason;
use weir_model::{LatenessUs, NotSent, ReplayFidelity};
use weir_mysql::AnswerDigest;

/// Longest lateness that is counted exactly: an hour, microseconds.
const LATENESS_US_MAX: u64 = 3_600_000_000;

/// A lock wait timeout, and a deadlock.
const LOCK_ERRORS: [u16; 2] = [1205, 1213];

/// Outcome of a statement in the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReplayedStatement {
    pub(crate) fingerprint: usize,
    pub(crate) rows: Option<u64>,
    pub(crate) affected: Option<u64>,
    pub(crate) error: u16,
    /// Digest of the rows that were returned.
    pub(crate) digest: AnswerDigest,
}

/// Counts of a replay.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) fidelity: ReplayFidelity,
    /// Statements that the server has answered.
    pub(crate) answered: u64,
    lateness_us: Option<Histogram<u64>>,
    pub(crate) fingerprints: Vec<FingerprintTally>,
}

/// Counts of a fingerprint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FingerprintTally {
    pub(crate) sent: u64,
    pub(crate) rows_differ: u64,
    pub(crate) affected_differ: u64,
    pub(crate) errors_differ: u64,
    pub(crate) errors: u64,
    pub(crate) rows: u64,
    pub(crate) affected: u64,
    /// Sums of the digests of their answers.
    pub(crate) digest: AnswerDigest,
}

impl Tally {
    pub(crate) fn new(fingerprints: usize) -> Self {
        Self {
            fidelity: ReplayFidelity::default(),
            answered: 0,
            lateness_us: Histogram::new_with_bounds(1, LATENESS_US_MAX, 3).ok(),
            fingerprints: vec![FingerprintTally::default(); fingerprints],
        }
    }

    /// A statement was sent so much after it was due, by a session that was free then.
    pub(crate) fn sent(&mut self, fingerprint: usize, late_us: Option<u64>) {
        self.fidelity.sent += 1;
        self.fingerprints[fingerprint].sent += 1;
        match (late_us, &mut self.lateness_us) {
            (Some(late_us), Some(histogram)) => histogram.saturating_record(late_us.max(1)),
            (None, _) => self.fidelity.busy += 1,
            _ => {}
        }
    }

    /// A statement's preparation was sent for it and refused, so that it had no time of its own.
    pub(crate) fn sent_without_time(&mut self, fingerprint: usize) {
        self.fidelity.sent += 1;
        self.fingerprints[fingerprint].sent += 1;
    }

    /// A statement was not sent.
    pub(crate) fn not_sent(&mut self, reason: Reason) {
        let NotSent {
            unusable,
            asks_for_file,
            other_schema,
            not_prepared,
            not_allowed,
            no_connection,
            character_set,
        } = &mut self.fidelity.not_sent;
        *match reason {
            Reason::Unusable => unusable,
            Reason::AsksForFile => asks_for_file,
            Reason::OtherSchema => other_schema,
            Reason::NotPrepared => not_prepared,
            Reason::NotAllowed => not_allowed,
            Reason::NoConnection => no_connection,
            Reason::CharacterSet => character_set,
        } += 1;
    }

    /// Counts the outcome of a statement in the replay.
    pub(crate) fn came(&mut self, came: ReplayedStatement) {
        self.answered += 1;
        let of_fingerprint = &mut self.fingerprints[came.fingerprint];
        let is_error = u64::from(came.error != 0);
        self.fidelity.errors += is_error;
        of_fingerprint.errors += is_error;
        of_fingerprint.rows += came.rows.unwrap_or(0);
        of_fingerprint.affected += came.affected.unwrap_or(0);
        let digest = &mut of_fingerprint.digest;
        digest.rows = digest.rows.wrapping_add(came.digest.rows);
        digest.rows_in_order = digest.rows_in_order.wrapping_add(came.digest.rows_in_order);
        digest.warnings += came.digest.warnings;
    }

    /// Adds the time that a statement took in the capture, by whether it was sent.
    pub(crate) fn took(&mut self, captured_us: u64, is_sent: bool) {
        self.fidelity.captured_us += captured_us;
        self.fidelity.captured_us_sent += if is_sent { captured_us } else { 0 };
    }

    pub(crate) fn compare(&mut self, ended: CommandEnd, came: ReplayedStatement) {
        let fidelity = &mut self.fidelity;
        let of_fingerprint = &mut self.fingerprints[came.fingerprint];
        if let Some(error) = ended.error {
            fidelity.errors_captured += u64::from(error != 0);
            let differs = error != came.error;
            fidelity.errors_compared += 1;
            fidelity.errors_differ += u64::from(differs);
            let is_new = differs && error == 0 && LOCK_ERRORS.contains(&came.error);
            fidelity.lock_errors_new += u64::from(is_new);
            of_fingerprint.errors_differ += u64::from(differs);
        }
        if let (Some(captured), Some(replayed)) = (ended.rows, came.rows) {
            fidelity.rows_compared += 1;
            fidelity.rows_differ += u64::from(captured != replayed);
            of_fingerprint.rows_differ += u64::from(captured != replayed);
        }
        if let (Some(captured), Some(_)) = (ended.insert_id, came.affected) {
            fidelity.insert_ids_compared += 1;
            fidelity.insert_ids_differ += u64::from(captured != came.digest.insert_id);
        }
        if let (Some(captured), Some(replayed)) = (ended.affected, came.affected) {
            fidelity.affected_compared += 1;
            fidelity.affected_differ += u64::from(captured != replayed);
            of_fingerprint.affected_differ += u64::from(captured != replayed);
        }
    }

    /// Returns how late statements were.
    pub(crate) fn lateness(&self) -> LatenessUs {
        let Some(histogram) = self.lateness_us.as_ref().filter(|all| !all.is_empty()) else {
            return LatenessUs::default();
        };
        let quantile = |share| histogram.value_at_quantile(share).min(histogram.max());
        LatenessUs {
            p50: quantile(0.5),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: histogram.max(),
        }
    }
}
