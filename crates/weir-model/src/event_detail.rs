//! Details of an event beyond its times: effects of its statement, waits, the way a server came back.

use serde::{Deserialize, Serialize};

/// Details of an event beyond its times. Each kind of event has its own part of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EventDetail {
    /// States of its statement, by looks at the process list; one after the other and without gaps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<EventPhase>,
    /// Longest time without a completed statement of the load while it lasted, seconds; a millisecond or two too short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_pause_s: Option<f64>,
    /// End and return of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<ServerRestart>,
    /// Takeover by a replica.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failover: Option<FailoverRecord>,
    /// Temporary files of the server meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporary: Option<TemporaryFiles>,
}

impl EventDetail {
    /// Returns true if there are no details.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Time for which its statement waited for locks before it began its work, and after, seconds.
    pub fn lock_wait_s(&self) -> (f64, f64) {
        let (mut at_start, mut at_end, mut has_worked) = (0.0, 0.0, false);
        for phase in &self.phases {
            match (phase.waits_for_lock, has_worked) {
                (true, false) => at_start += phase.length_s(),
                (true, true) => at_end += phase.length_s(),
                (false, _) => has_worked |= phase.is_work(),
            }
        }
        (at_start, at_end)
    }

    /// Returns the connections that held it up, each once, the first first.
    pub fn blockers(&self) -> Vec<&Blocker> {
        let mut blockers: Vec<&Blocker> = Vec::new();
        for blocker in self.phases.iter().flat_map(|phase| &phase.blockers) {
            if !blockers
                .iter()
                .any(|known| known.connection == blocker.connection)
            {
                blockers.push(blocker);
            }
        }
        blockers
    }
}

/// A part of a statement's time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventPhase {
    /// The server's word for it in its process list; empty: none.
    pub state: String,
    /// Seconds since the measurement began.
    pub from_s: f64,
    /// Seconds since the measurement began.
    pub to_s: f64,
    /// True if the statement waited for a lock.
    #[serde(default)]
    pub waits_for_lock: bool,
    /// Holders of that lock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
}

impl EventPhase {
    /// Returns the length, seconds.
    pub fn length_s(&self) -> f64 {
        self.to_s - self.from_s
    }

    /// Returns true if the server was at the table's rows or index: states of `ALTER TABLE` of both servers.
    fn is_work(&self) -> bool {
        const WORK: [&str; 7] = [
            "preparing for alter table",
            "altering table",
            "alter table",
            "copy to tmp table",
            "committing alter table",
            "rename result table",
            "enabling keys",
        ];
        let state = self.state.to_ascii_lowercase();
        WORK.iter().any(|word| state.starts_with(word))
    }
}

/// A connection that held a lock for which an event's statement waited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blocker {
    /// Number in the server's process list.
    pub connection: u64,
    /// The event of the same run whose connection it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Time for which it had been idle when it was seen, seconds; `None`: it was doing something.
    pub idle_s: Option<f64>,
    /// Statement of the connection, or its last one where the server keeps that.
    pub statement: Option<String>,
}

/// End and return of a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerRestart {
    /// From the order to the end of its process, seconds.
    pub stop_s: f64,
    /// From the start of its program to its first answer, recovery included, seconds; `None`: it did not answer.
    pub start_s: Option<f64>,
}

/// Takeover by a replica, and the way it had been kept warm.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailoverRecord {
    /// Until the replica had applied what it had received, seconds.
    pub applied_s: f64,
    /// From then until it took writes, seconds.
    pub promoted_s: f64,
    /// Shipments of the primary's pool that were complete before.
    pub shipments: u32,
    /// Pages of the last one.
    pub shipped_pages: u64,
    /// Time from the last complete shipment to the event, seconds; `None`: there was none.
    pub shipment_age_s: Option<f64>,
    /// Reason that the replica could not be kept warm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Temporary files of the server while an event lasted, as `/proc/PID/fd` shows them, deleted ones too.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TemporaryFiles {
    /// Most bytes that they had together in the server's temporary directory.
    pub peak_bytes: u64,
    /// Most bytes of open files that lay neither on the drive nor among the server's own logs; `None`: no drive is
    /// emulated.
    pub off_drive_peak_bytes: Option<u64>,
    /// Folders of these files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub off_drive: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(state: &str, from_s: f64, to_s: f64) -> EventPhase {
        EventPhase {
            state: state.to_owned(),
            from_s,
            to_s,
            waits_for_lock: state.starts_with("Waiting"),
            blockers: Vec::new(),
        }
    }

    #[test]
    fn waits_at_the_start_and_at_the_end_are_apart() {
        let detail = EventDetail {
            phases: vec![
                phase("Opening tables", 1.0, 1.5),
                phase("Waiting for table metadata lock", 1.5, 3.5),
                phase("alter table (read PK and internal sort)", 3.5, 5.0),
                phase("Waiting for table metadata lock", 5.0, 5.5),
            ],
            ..EventDetail::default()
        };
        assert_eq!(detail.lock_wait_s(), (2.0, 0.5));
    }
}
