//! The doublewrite buffer as a managed switch.
//!
//! The rules are those that Alibaba Cloud publishes for its write optimisation: off only where the
//! storage writes pages whole, a switch is a restart, a replica is not switched off while its primary
//! is on (it would be ahead of what it is to replace), and new replicas and restores inherit. Here file
//! system and device have to promise whole pages together, or a crash test of the server has to have held with
//! rules that the storage below it is known to keep.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use weir_model::variables::{DOUBLEWRITE, FLUSH_METHOD, PAGES_CACHED_BECAUSE};
use weir_model::{Bytes, Doublewrite, Flavor, ServerVariables};

use weir_process::{PathError, append_json_line};

use crate::hidden_states::{unsaid_of_host, wants_direct_pages, writes_directly};
use crate::{PoolState, ServerError, Session};

/// Proof that pages are not torn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "proof")]
pub enum Proof {
    /// Nothing says so.
    None,
    /// Statement of the storage below the data directory about itself.
    Storage {
        /// Largest write that it never tears, all of it together; 0: none.
        largest: Bytes,
        /// Largest write that the device never tears if it reaches it in one piece. That proves nothing: the
        /// file system may cut a page.
        device: Bytes,
    },
    /// A crash test of this server and setting held, and the storage keeps the rules that it assumed.
    CrashTest {
        /// Crash states that were judged.
        states: u32,
        /// With 95 % confidence fewer than this share of all states are damaged.
        at_most: f64,
        /// The emulated drive that was cut.
        drive: String,
        /// The storage that keeps its rules; the proof holds there only.
        holds_on: String,
    },
}

impl Proof {
    /// Returns true if it covers pages of `page`.
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
    /// Name of the server.
    pub name: String,
    /// True if it is on.
    pub is_on: bool,
}

/// Checks that the switch may be set; the error names the reason and the remedy.
///
/// # Errors
///
/// The reason against it.
pub fn check_switch(
    wanted: bool,
    status: &DoublewriteStatus,
    proof: &Proof,
    primary: Option<&Relative>,
    replicas: &[Relative],
) -> Result<(), ServerError> {
    let refuse = |why, remedy: &str| Err(refused(wanted, why, remedy.to_owned()));
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
    check_proof(status.page, proof)?;
    let variables = status.meaning();
    if variables.writes_pages_directly() == Some(true) {
        return Ok(());
    }
    if let Some(why) = variables.get(PAGES_CACHED_BECAUSE) {
        return refuse(
            format!(
                "its data files go through the page cache ({why}), which tears pages when the process is killed"
            ),
            "keep it on, or move the data to a file system that takes O_DIRECT",
        );
    }
    refuse(
        format!(
            "{FLUSH_METHOD} = {} writes through the page cache, which tears pages when the process is killed",
            status.flush_method
        ),
        "set O_DIRECT first",
    )
}

/// Checks that pages of `page` are known to stay whole.
fn check_proof(page: Bytes, proof: &Proof) -> Result<(), ServerError> {
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
    Err(refused(
        false,
        why,
        "keep it on, or move the data to storage whose file system and device promise whole pages; a crash test \
         (--verdict FILE) counts where the storage keeps the rules that it assumed"
            .to_owned(),
    ))
}

/// The error that refuses the switch.
pub fn refused(wanted: bool, why: String, remedy: String) -> ServerError {
    ServerError::Doublewrite {
        wanted: if wanted { "ON" } else { "OFF" },
        why,
        remedy,
    }
}

/// Cost of a restart for the switch.
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
    /// Flavor whose words these are.
    pub flavor: Flavor,
    /// `innodb_doublewrite` as the server says it.
    pub value: String,
    /// `innodb_flush_method` as the server says it.
    pub flush_method: String,
    /// True where its data files are open past the page cache; `None`: its process cannot be looked at.
    pub writes_directly: Option<bool>,
    /// The server's page size.
    pub page: Bytes,
    /// Pages written to the doublewrite buffer since the start.
    pub pages_written: u64,
    /// Pages in one write of it, on average; 0 without writes.
    pub pages_per_write: f64,
    /// Cost of a restart now.
    pub restart: RestartCost,
    /// All that the server says of its variables, and its open files of them.
    #[serde(skip)]
    pub variables: BTreeMap<String, String>,
}

impl DoublewriteStatus {
    /// Reads it from a server of `flavor`, whose process on this host is `pid`.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn read(
        session: &mut Session,
        flavor: Flavor,
        pid: Option<u32>,
    ) -> Result<Self, ServerError> {
        let pool = session.pool()?;
        let mut variables = session.variables()?;
        let is_direct = wants_direct_pages(&variables);
        variables.extend(unsaid_of_host(is_direct, pid, None));
        let said = |name: &str| variables.get(name).cloned().unwrap_or_default();
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
            flavor,
            value: said(DOUBLEWRITE),
            flush_method: said(FLUSH_METHOD),
            writes_directly: pid.and_then(writes_directly),
            page: pool.page,
            pages_written: pages,
            pages_per_write: pages as f64 / writes.max(1) as f64,
            restart: RestartCost::new(&pool, count("Threads_connected").saturating_sub(1)),
            variables,
        })
    }

    /// The server's variables by their meaning.
    pub fn meaning(&self) -> ServerVariables<'_> {
        ServerVariables::said(self.flavor, &self.variables)
    }

    /// Returns true if it is on, or off, already; mere detection is neither.
    pub fn is(&self, on: bool) -> bool {
        let wanted = if on {
            Doublewrite::Repairs
        } else {
            Doublewrite::Off
        };
        self.meaning().doublewrite() == Some(wanted)
    }
}

impl Relative {
    /// A server called `name` with these variables. Doublewrite is on unless they say otherwise.
    pub fn new(name: impl Into<String>, variables: &ServerVariables<'_>) -> Self {
        let doublewrite = variables.doublewrite().unwrap_or(Doublewrite::Repairs);
        Self {
            name: name.into(),
            is_on: doublewrite == Doublewrite::Repairs,
        }
    }
}

impl RestartCost {
    fn new(pool: &PoolState, connections: u64) -> Self {
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
    /// Time: ISO 8601.
    pub at: String,
    /// Name of the server.
    pub server: &'a str,
    /// The value before.
    pub from: &'a str,
    /// The value after.
    pub to: &'a str,
    /// Proof that was given for it.
    #[serde(flatten)]
    pub proof: &'a Proof,
}

/// The log of all changes: only ever appended to.
pub fn switch_log() -> PathBuf {
    crate::state_directory().join("doublewrite.log")
}

/// Appends a change to the log, a line of JSON.
///
/// # Errors
///
/// A log that cannot be written.
pub fn log_switch(path: &Path, record: &SwitchRecord<'_>) -> Result<(), ServerError> {
    let written = append_json_line(path, record, true);
    Ok(written.map_err(PathError::on("write", path))?)
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

    /// A server with pages of 16 KiB that writes past the page cache.
    fn status(doublewrite: &str, flush_method: &str) -> DoublewriteStatus {
        let variables = [(DOUBLEWRITE, doublewrite), (FLUSH_METHOD, flush_method)];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        DoublewriteStatus {
            flavor: Flavor::Mysql,
            value: doublewrite.to_owned(),
            flush_method: flush_method.to_owned(),
            writes_directly: None,
            page: PAGE,
            pages_written: 0,
            pages_per_write: 0.0,
            restart: RestartCost {
                write_bytes: Bytes(0),
                reread_bytes: Bytes(0),
                connections: 0,
            },
            variables: variables.into(),
        }
    }

    fn off(proof: &Proof, primary: Option<bool>) -> Result<(), ServerError> {
        let primary = primary.map(relative);
        check_switch(
            false,
            &status("ON", "O_DIRECT"),
            proof,
            primary.as_ref(),
            &[],
        )
    }

    #[test]
    fn off_needs_a_proof_that_covers_the_page() {
        let held = Proof::CrashTest {
            states: 300,
            at_most: 0.01,
            drive: "intel-p4610".to_owned(),
            holds_on: "the storage of /data".to_owned(),
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

        let status = status("OFF", "O_DIRECT");
        let on = |replica| check_switch(true, &status, &Proof::None, None, &[relative(replica)]);
        assert!(on(false).is_err() && on(true).is_ok());
    }

    #[test]
    fn a_page_cache_tears_pages_whatever_the_storage_promises() {
        let storage = Proof::Storage {
            largest: PAGE,
            device: PAGE,
        };
        let off = |method| check_switch(false, &status("ON", method), &storage, None, &[]);
        assert!(off("O_DIRECT_NO_FSYNC").is_ok() && off("4").is_ok());
        for buffered in ["fsync", "O_DSYNC", "nosync", ""] {
            let error = off(buffered).unwrap_err().to_string();
            assert!(error.contains("set O_DIRECT first"), "{error}");
        }
    }

    #[test]
    fn o_direct_that_was_refused_is_no_o_direct() {
        let storage = Proof::Storage {
            largest: PAGE,
            device: PAGE,
        };
        let mut status = status("ON", "O_DIRECT");
        let why = "O_DIRECT was refused for ibdata1 (ramfs)".to_owned();
        status
            .variables
            .insert(PAGES_CACHED_BECAUSE.to_owned(), why);
        let error = check_switch(false, &status, &storage, None, &[]).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("refused for ibdata1 (ramfs)"), "{error}");
    }

    #[test]
    fn a_switch_is_seen_in_every_spelling() {
        for (value, is_on, is_off) in [
            ("ON", true, false),
            ("DETECT_AND_RECOVER", true, false),
            ("TRUE", true, false),
            ("FALSE", false, true),
            ("DETECT_ONLY", false, false),
        ] {
            let status = status(value, "O_DIRECT");
            assert_eq!(
                (status.is(true), status.is(false)),
                (is_on, is_off),
                "{value}"
            );
            assert_eq!(
                Relative::new("other", &status.meaning()).is_on,
                is_on,
                "{value}"
            );
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
