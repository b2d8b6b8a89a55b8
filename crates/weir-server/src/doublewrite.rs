//! The doublewrite buffer as a managed switch.
//!
//! The rules are those that Alibaba Cloud publishes for its write optimisation: off only where the
//! storage writes pages whole, a switch is a restart, a replica is not switched off while its primary
//! is on (it would be ahead of what it is to replace), and new replicas and restores inherit. Here file
//! system and device have to promise whole pages together, or a crash test has to have been made.

use std::path::{Path, PathBuf};

use serde::Serialize;
use weir_model::Bytes;

use crate::change_log::append;
use crate::{PoolState, ServerError, Session};

/// The variable.
pub const DOUBLEWRITE: &str = "innodb_doublewrite";

/// The variable that says in which pieces pages are written.
const FLUSH_METHOD: &str = "innodb_flush_method";

/// Why pages would not be torn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "proof")]
pub enum Proof {
    /// Nothing says so.
    None,
    /// What the storage below the data directory says of itself.
    Storage {
        /// Largest write that it never tears, all of it together; 0: none.
        largest: Bytes,
        /// Largest write that the device never tears if it reaches it in one piece. That proves nothing: the
        /// file system may cut a page.
        device: Bytes,
    },
    /// A crash test of this setting held.
    CrashTest {
        /// Crash states that were judged.
        states: u32,
        /// The drive that was cut.
        drive: String,
    },
}

impl Proof {
    /// Whether it covers pages of `page`.
    fn covers(&self, page: Bytes) -> bool {
        match self {
            Self::None => false,
            Self::Storage { largest, .. } => *largest >= page,
            Self::CrashTest { states, .. } => *states > 0,
        }
    }
}

/// A server on the other side of replication, and whether its doublewrite buffer is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relative {
    /// Its name.
    pub name: String,
    /// Whether it is on.
    pub is_on: bool,
}

/// Whether the switch may be set; the error says why not and what to do.
pub fn check_switch(
    wanted: bool,
    page: Bytes,
    proof: &Proof,
    primary: Option<&Relative>,
    replicas: &[Relative],
) -> Result<(), ServerError> {
    let refuse = |why: String, remedy: &str| {
        Err(ServerError::Doublewrite {
            wanted: if wanted { "ON" } else { "OFF" },
            why,
            remedy: remedy.to_owned(),
        })
    };
    if wanted {
        let behind = replicas.iter().find(|replica| !replica.is_on);
        return match behind {
            Some(replica) => refuse(
                format!("its replica `{}` has it off", replica.name),
                "switch the replicas on first: a replica is not to be less safe than its primary",
            ),
            None => Ok(()),
        };
    }
    if let Some(primary) = primary.filter(|primary| primary.is_on) {
        return refuse(
            format!("its primary `{}` has it on", primary.name),
            "switch the primary off first: replicas are switched after it",
        );
    }
    if proof.covers(page) {
        return Ok(());
    }
    let why = match proof {
        Proof::Storage { device, .. } if *device >= page => format!(
            "the device writes {device} whole, but the file system does not promise that a page of {page} \
             reaches it in one piece"
        ),
        Proof::Storage { largest, .. } if largest.0 > 0 => {
            format!("the storage writes {largest} whole, the server's pages are {page}")
        }
        _ => format!("nothing proves that the storage writes pages of {page} whole"),
    };
    refuse(
        why,
        "show a crash test that held with --verdict FILE (`weir crash-test --doublewrite off --json`), or \
         keep it on",
    )
}

/// Whether a value of the variable means that pages are written twice.
pub fn is_on(value: &str) -> bool {
    !matches!(
        value.to_ascii_uppercase().as_str(),
        "OFF" | "0" | "FALSE" | "DETECT_ONLY"
    )
}

/// What a restart for the switch costs.
#[derive(Debug, Clone, Serialize)]
pub struct RestartCost {
    /// Dirty pages that the shutdown writes.
    pub write_bytes: Bytes,
    /// Pages that have to be read again, unless the pool is dumped and loaded.
    pub reread_bytes: Bytes,
    /// Connections that end.
    pub connections: u64,
}

/// The switch on a running server.
#[derive(Debug, Clone, Serialize)]
pub struct DoublewriteStatus {
    /// `innodb_doublewrite` as the server says it.
    pub value: String,
    /// `innodb_flush_method` as the server says it.
    pub flush_method: String,
    /// The server's page size.
    pub page: Bytes,
    /// Pages written to the doublewrite buffer since the start.
    pub pages_written: u64,
    /// Pages in one write of it, on average; 0 without writes.
    pub pages_per_write: f64,
    /// What a restart would cost now.
    pub restart: RestartCost,
}

impl DoublewriteStatus {
    /// Reads it.
    pub fn read(session: &mut Session) -> Result<Self, ServerError> {
        let pool = session.pool()?;
        let status = session.status()?;
        let count = |name: &str| -> u64 {
            let value = status.get(name).and_then(|value| value.parse().ok());
            value.unwrap_or(0)
        };
        let (pages, writes) = (
            count("Innodb_dblwr_pages_written"),
            count("Innodb_dblwr_writes"),
        );
        Ok(Self {
            value: session.variable(DOUBLEWRITE)?.unwrap_or_default(),
            flush_method: session.variable(FLUSH_METHOD)?.unwrap_or_default(),
            page: pool.page,
            pages_written: pages,
            pages_per_write: pages as f64 / writes.max(1) as f64,
            restart: RestartCost::of(&pool, count("Threads_connected").saturating_sub(1)),
        })
    }
}

impl RestartCost {
    fn of(pool: &PoolState, connections: u64) -> Self {
        Self {
            write_bytes: Bytes(pool.pages_dirty * pool.page.0),
            reread_bytes: Bytes(pool.pages_data * pool.page.0),
            connections,
        }
    }
}

/// A change of the switch, as it is logged.
#[derive(Debug, Serialize)]
pub struct SwitchRecord<'a> {
    /// When: ISO 8601.
    pub at: String,
    /// Which server.
    pub server: &'a str,
    /// The value before.
    pub from: &'a str,
    /// The value after.
    pub to: &'a str,
    /// What was shown for it.
    #[serde(flatten)]
    pub proof: &'a Proof,
}

/// The log of all changes: only ever appended to.
pub fn switch_log() -> PathBuf {
    crate::state_directory().join("doublewrite.log")
}

/// Appends a change to the log, a line of JSON.
pub fn log_switch(path: &Path, record: &SwitchRecord<'_>) -> Result<(), ServerError> {
    append(path, record)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Bytes = Bytes(16_384);

    fn relative(is_on: bool) -> Relative {
        Relative {
            name: "other".to_owned(),
            is_on,
        }
    }

    fn off(proof: &Proof, primary: Option<bool>) -> Result<(), ServerError> {
        let primary = primary.map(relative);
        check_switch(false, PAGE, proof, primary.as_ref(), &[])
    }

    #[test]
    fn off_needs_a_proof_that_covers_the_page() {
        let held = Proof::CrashTest {
            states: 300,
            drive: "intel-p4610".to_owned(),
        };
        let storage = |largest, device| Proof::Storage {
            largest: Bytes(largest),
            device: Bytes(device),
        };
        assert!(off(&held, None).is_ok());
        assert!(off(&storage(16_384, 16_384), None).is_ok());
        for (none, why) in [
            (Proof::None, "nothing proves"),
            (storage(0, 4096), "nothing proves"),
            (storage(4096, 4096), "the storage writes 4K whole"),
            (
                storage(4096, 65_536),
                "the device writes 64K whole, but the file system",
            ),
        ] {
            let error = off(&none, None).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert!(error.contains("--verdict FILE"), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
    }

    #[test]
    fn a_replica_is_never_less_safe_than_its_primary() {
        let storage = Proof::Storage {
            largest: PAGE,
            device: PAGE,
        };
        let error = off(&storage, Some(true)).unwrap_err().to_string();
        assert!(error.contains("primary `other` has it on"), "{error}");
        assert!(off(&storage, Some(false)).is_ok());

        let on = |replica| check_switch(true, PAGE, &Proof::None, None, &[relative(replica)]);
        assert!(on(false).is_err() && on(true).is_ok());
    }

    #[test]
    fn values_that_write_pages_once_are_off() {
        for (value, expected) in [
            ("ON", true),
            ("DETECT_AND_RECOVER", true),
            ("fast", true),
            ("OFF", false),
            ("DETECT_ONLY", false),
        ] {
            assert_eq!(is_on(value), expected, "{value}");
        }
    }

    #[test]
    fn the_log_is_appended_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state/doublewrite.log");
        for to in ["OFF", "ON"] {
            let record = SwitchRecord {
                at: "2026-11-20T18:00:00Z".to_owned(),
                server: "shop",
                from: "ON",
                to,
                proof: &Proof::None,
            };
            log_switch(&path, &record).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains("\"proof\":\"none\""), "{text}");
    }
}
