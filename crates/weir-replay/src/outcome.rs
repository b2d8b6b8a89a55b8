//! Result of a replay.

use weir_load::{LoadError, LoadOutcome};
use weir_model::ReplayRecord;

use crate::data_sources::DataReason;

/// Result of a replay.
#[derive(Debug)]
pub struct ReplayOutcome {
    /// Record of how faithful the replay was, and then of each kind of statement.
    pub record: ReplayRecord,
    /// Results that the load engine measured.
    pub load: LoadOutcome,
    /// Reason that defaults, triggers, routines and views of the data were not all read, so that they give no reasons.
    pub objects_unread: Option<String>,
    /// Reasons that objects of the data give each kind of statement, in the record's order.
    pub(crate) data_reasons: Vec<Vec<DataReason>>,
}

impl ReplayOutcome {
    /// Passes if each statement of the capture was sent, or left out by the options or the rights of the replay.
    ///
    /// # Errors
    ///
    /// [`LoadError::Incomplete`]: statements whose sessions the server did not let in, or that were not reached.
    pub fn check(&self) -> Result<(), LoadError> {
        let told = &self.record.fidelity;
        let is_complete = told.not_sent.no_connection == 0 && self.reached() >= told.captured;
        let why = told.not_joined_why.as_deref();
        let why = why.unwrap_or("others had no connection, or were not reached");
        if is_complete {
            Ok(())
        } else {
            Err(self.shortfall(why))
        }
    }

    /// Statements that were sent, or that the replay has a reason not to send.
    fn reached(&self) -> u64 {
        let told = &self.record.fidelity;
        told.sent + told.not_sent.all()
    }

    /// An error that tells how many statements had a server.
    pub(crate) fn shortfall(&self, why: &str) -> LoadError {
        let told = &self.record.fidelity;
        LoadError::Incomplete {
            what: "statements".to_owned(),
            asked: told.captured as f64,
            done: (self.reached() - told.not_sent.no_connection) as f64,
            why: why.to_owned(),
        }
    }
}
