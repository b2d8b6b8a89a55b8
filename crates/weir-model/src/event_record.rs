//! Record of an event of a run's timeline.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::EventDetail;

/// An event that began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventRecord {
    /// Name in the study.
    pub name: String,
    /// Kind, by its word in a study file.
    pub kind: String,
    /// Begin of the event, seconds since the measurement began.
    pub began_s: f64,
    /// End of the event, seconds since the measurement began. A variable that is set stays so until the run is over,
    /// and a mark has no length.
    pub ended_s: f64,
    /// Number of times that its statement was sent.
    pub tries: u32,
    /// Time for which its statement waited for locks, in all tries, by looks at the process list, seconds.
    pub lock_wait_s: f64,
    /// Ending of the event.
    pub ending: EventEnding,
    /// Variables of its session that the study sets, as the server says them.
    pub session: BTreeMap<String, String>,
    /// Other details of the event.
    #[serde(default, skip_serializing_if = "EventDetail::is_empty")]
    pub detail: EventDetail,
}

/// Ending of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventEnding {
    /// As it should.
    Done,
    /// The server refused it, or the connection was lost.
    Refused {
        /// The server's number of the error.
        code: Option<u16>,
        /// Text of the error.
        message: String,
    },
    /// It was not over when the load was; Weir ended it.
    CutOff,
}
