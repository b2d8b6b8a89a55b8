//! Orders of a conductor to the host of a study's server, and the role that answers there.
//!
//! The steps are those of a run's server: see whether all is there, make the data, restore them and start, look, end.
//! A [`ServerRole`] does them; it is given to an agent, which knows no servers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use weir_model::{
    Bytes, Cell, DriveProfile, DriveStatistics, Plan, Secret, ServerChoice, ServerVersion,
};
use weir_probe::Probe;

/// A step of a server's life on the host of an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerStep {
    /// See whether the programs, variables and drives of a plan are there; nothing is started.
    Open {
        /// The plan, with the cells of this host.
        plan: Box<Plan>,
        /// Emulate drives also below the host's FUSE floor.
        below_floor: bool,
    },
    /// Make the data of the plan's cells that are missing.
    Prepare,
    /// Restore the data of this cell, mount its drive and start its server. A server of an earlier step ends
    /// first. The password of the load's account comes with the step.
    Begin {
        /// The cell.
        cell: Box<Cell>,
    },
    /// Sample what can be looked at, from now on.
    Watch,
    /// Tell the server's variables.
    Variables,
    /// Tell what the drive has counted.
    DriveStatistics,
    /// Tell the end of the error log.
    Log,
    /// Tell why the server no longer runs.
    Exit,
    /// End the server, unmount its drive and remove its data.
    End,
}

/// Reply to a step.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerReply {
    /// All is there.
    Opened {
        /// The versions of the programs that will serve.
        servers: Vec<(ServerChoice, ServerVersion)>,
        /// The drives as the host knows them.
        drives: Vec<DriveProfile>,
    },
    /// The data are there.
    Prepared {
        /// Size of each data set, and whether it was there before.
        ready: Vec<(Bytes, bool)>,
        /// Size of the first cell's tables.
        tables: Bytes,
    },
    /// The server answers.
    Begun(Box<BegunServer>),
    /// Variables of the server, and states that no variable shows.
    Variables(BTreeMap<String, String>),
    /// Counters of its drive, if there is one that answers.
    DriveStatistics(Option<Box<DriveStatistics>>),
    /// Lines of its error log.
    Log(String),
    /// In the server's words; `None`: it runs.
    Exit(Option<String>),
    /// Done.
    Done,
}

/// Address of a server that was started on another host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BegunServer {
    /// The address that the host's owner named.
    pub address: String,
    /// The port.
    pub port: u16,
    /// The load's account; its password is the one that came with the step.
    pub user: String,
    /// The schema of the tables.
    pub database: String,
    /// The authority of the server's certificate, PEM.
    pub authority: String,
    /// The block device below the data.
    pub device: Option<String>,
    /// The commands that brought it up, free of the run's own paths.
    pub commands: Vec<String>,
}

/// Outcome of a step in a role.
pub enum ServerOutcome {
    /// An answer to the conductor.
    Reply(ServerReply),
    /// These are asked once a second.
    Probes(Vec<Box<dyn Probe>>),
}

impl fmt::Debug for ServerOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply(reply) => write!(f, "{reply:?}"),
            Self::Probes(probes) => write!(f, "{} probes", probes.len()),
        }
    }
}

/// Rows that a step has made and is to make, for a conductor that waits.
#[derive(Debug, Clone, Default)]
pub struct RowsMade(Arc<(AtomicU64, AtomicU64)>);

impl RowsMade {
    /// So many of so many.
    pub fn set(&self, done: u64, total: u64) {
        self.0.0.store(done, Ordering::Relaxed);
        self.0.1.store(total, Ordering::Relaxed);
    }

    /// Rows so far, and all.
    pub(crate) fn get(&self) -> (u64, u64) {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (get(&self.0.0), get(&self.0.1))
    }
}

type Answer = Box<dyn FnOnce(Result<ServerOutcome, String>) + Send>;

/// A step that is to be done now.
pub struct ServerWork {
    /// Step of the work.
    pub step: ServerStep,
    /// The password of the load's account, with [`ServerStep::Begin`].
    pub password: Option<Secret>,
    /// The process that loads the server, if it is on this host.
    pub client: Option<u32>,
    /// Progress of the rows.
    pub rows: RowsMade,
    answer: Mutex<Option<Answer>>,
}

impl fmt::Debug for ServerWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerWork({:?})", self.step)
    }
}

impl ServerWork {
    pub(crate) fn new(
        step: ServerStep,
        (password, client): (Option<Secret>, Option<u32>),
        rows: RowsMade,
        answer: impl FnOnce(Result<ServerOutcome, String>) + Send + 'static,
    ) -> Self {
        Self {
            step,
            password,
            client,
            rows,
            answer: Mutex::new(Some(Box::new(answer))),
        }
    }

    /// Answers it; the first answer counts.
    pub fn answer(&self, outcome: Result<ServerOutcome, String>) {
        let answer = self
            .answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(answer) = answer {
            answer(outcome);
        }
    }
}

/// Starts and ends servers of studies on an agent's host.
pub trait ServerRole: fmt::Debug + Send + Sync {
    /// Does the steps of one conductor until there are no more. Whatever was started is gone when this returns. `stop`
    /// becomes true when the conductor is gone or wants an end: the step in hand ends early.
    fn serve(&self, steps: &Receiver<ServerWork>, stop: &AtomicBool);
}
