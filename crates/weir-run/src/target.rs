//! Targets that serve the runs of a study, as the runner sees them.

mod external;
mod private;
mod remote;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weir_model::{
    Bytes, Cell, DriveProfile, DriveStatistics, Endpoint, Flavor, ServerHost, ServerVersion,
};
use weir_mysql::Gate;
use weir_probe::Probe;
use weir_server::ConfigChanges;

use crate::RunError;
use crate::cancel::{Cancel, Control};

pub(crate) use self::external::ExternalTarget;
pub(crate) use self::private::{
    Ending, ListenAddress, LoadAccount, PrivateTarget, ServerHandle, Successor,
};
pub(crate) use self::remote::RemoteTarget;

/// Actions of events on a server of Weir's own beside statements.
#[derive(Clone)]
pub(crate) struct OwnServer {
    pub(crate) server: ServerHandle,
    /// Mountpoint of its emulated drive.
    pub(crate) drive: Option<PathBuf>,
    /// The replica that takes over after a failover.
    pub(crate) successor: Option<Successor>,
    /// The run's directory.
    pub(crate) home: PathBuf,
}

/// A server that is ready for a load, with all that it stands on. Dropping it takes down what was started.
pub(crate) trait Target {
    /// Returns the endpoint for the load.
    fn endpoint(&self) -> Endpoint;

    /// Returns the gate for all statements.
    fn gate(&self) -> Gate;

    /// The server's variables, free of a run's own paths, and what makes it less durable than they say.
    fn variables(&self) -> Result<BTreeMap<String, String>, RunError>;

    /// For changing variables of a server that the user gives, which puts them back; `None`: it is Weir's own.
    fn changes(&self) -> Option<ConfigChanges>;

    /// Returns the actions of events beside statements; `None`: the server is the user's.
    fn own(&self) -> Option<OwnServer> {
        None
    }

    /// Everything that can be looked at from here; `client`: the id of the process that loads it.
    fn probes(&self, client: u32) -> Vec<Box<dyn Probe>>;

    /// Id of the server's process; `None` on another host.
    fn server_pid(&self) -> Option<u32> {
        None
    }

    /// A directory on the storage that the data lie on; `None` on another host.
    fn directory(&self) -> Option<&Path>;

    /// The block device below the data, as the probes name it, if there is one.
    fn device(&self) -> Option<String> {
        match self.server_host() {
            Some(host) => host.device,
            None => self.directory().and_then(weir_probe::block_device),
        }
    }

    /// The server's host, if its figures are those of an agent there.
    fn server_host(&self) -> Option<ServerHost> {
        None
    }

    /// Returns true if the data lie on an emulated drive.
    fn has_drive(&self) -> bool;

    /// The counters of the emulated drive, if there is one and it answers.
    fn drive_statistics(&self) -> Option<DriveStatistics>;

    /// The commands that brought it up or statements that set it up, in order.
    fn commands(&self) -> &[String];

    /// The server's error log of this run, free of a run's own paths; empty where it cannot be read.
    fn log(&self) -> Result<String, RunError>;

    /// Returns the reason that the server no longer runs, in its own words, as far as Weir can
    /// know.
    fn has_exited(&mut self) -> Option<String>;

    /// Ends what was started, or puts back what was changed.
    fn end(self: Box<Self>) -> Result<(), RunError>;
}

/// Source of a study's targets.
pub(crate) trait Targets {
    /// Makes the data of all `cells` that are missing.
    ///
    /// # Errors
    ///
    /// [`RunError::Interrupted`], or why the data cannot be made.
    fn prepare(&mut self, cells: &[Cell], control: &mut Control<'_>) -> Result<(), RunError>;

    /// Restores the data of `cell` and starts its server, on the host of `repetition` if there are several, or takes
    /// the one that the user gives.
    ///
    /// # Errors
    ///
    /// [`RunError::Interrupted`], or why there is no server; nothing is left running.
    fn begin(
        &mut self,
        cell: &Cell,
        repetition: u32,
        cancel: Cancel<'_>,
    ) -> Result<Box<dyn Target>, RunError>;

    /// Returns the description of all its runs for the result; the servers and tables are those of the first cell.
    fn describe(&self, cells: &[Cell]) -> Description;

    /// Returns remarks on parts of the user's servers that could not be looked at, and of upgrades that could not be made,
    /// a line each.
    fn remarks(&self) -> Vec<String>;
}

/// Description of a study's servers and drives for the result.
pub(crate) struct Description {
    pub(crate) flavor: Flavor,
    pub(crate) version: ServerVersion,
    pub(crate) drives: Vec<DriveProfile>,
    /// Size of the workload's tables.
    pub(crate) tables: Bytes,
    /// Where the data of private servers lie, in words.
    pub(crate) data_place: Option<String>,
}
