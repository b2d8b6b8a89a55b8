//! Options of a study's runs.

use std::path::PathBuf;

use weir_model::Provenance;
use weir_mysql::ClientConfig;

/// Permissions of the user on the servers that a study only opens.
#[derive(Debug, Clone, Copy, Default)]
pub struct UserPermissions {
    /// Settings may be changed.
    pub config: bool,
    /// Tables may be written also where the server is a replica or read-only.
    pub replica: bool,
}

/// Options of a study's runs.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Folder of the result; made if need be.
    pub out: PathBuf,
    /// Go on with the result in `out` if there is one.
    pub resume: bool,
    /// Directory of data directories and mounts; by default in memory if they fit.
    pub work: Option<PathBuf>,
    /// The `weir` program, which the drives run in.
    pub weir: PathBuf,
    /// Emulate drives also below this machine's FUSE floor.
    pub below_floor: bool,
    /// Permissions on servers that the user gives.
    pub allowed: UserPermissions,
    /// Login to these: the user's option file and password.
    pub client: ClientConfig,
    /// Provenance for the result.
    pub provenance: Provenance,
}
