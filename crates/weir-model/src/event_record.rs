//! What became of an event of a run's timeline.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::EventDetail;

/// An event that began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventRecord {
    /// What the study calls it.
    pub name: String,
    /// Its kind, by its word in a study file.
    pub kind: String,
    /// When it began, seconds since the measurement began.
    pub began_s: f64,
    /// When it ended. A variable that is set stays so until the run is over, and a mark has no length.
    pub ended_s: f64,
    /// How often its statement was sent.
    pub tries: u32,
    /// How long its statement waited for locks, in all tries, by looks at the process list, seconds.
    pub lock_wait_s: f64,
    /// How it ended.
    pub ending: EventEnding,
    /// Variables of its session that the study sets, as the server says them.
    pub session: BTreeMap<String, String>,
    /// What else was seen of it.
    #[serde(default, skip_serializing_if = "EventDetail::is_empty")]
    pub detail: EventDetail,
}

/// How an event ended.
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
        /// Its text.
        message: String,
    },
    /// It was not over when the load was; Weir ended it.
    CutOff,
}
