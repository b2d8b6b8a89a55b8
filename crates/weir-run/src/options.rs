//! Where and how a study runs.

use std::path::PathBuf;

use weir_model::Provenance;
use weir_mysql::ClientConfig;

/// What the user allows on the servers that a study only opens.
#[derive(Debug, Clone, Copy, Default)]
pub struct UserPermissions {
    /// Settings may be changed.
    pub config: bool,
    /// Tables may be written also where the server is a replica or read-only.
    pub replica: bool,
}

/// Where and how a study runs.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Folder of the result; made if need be.
    pub out: PathBuf,
    /// Go on with the result in `out` if there is one.
    pub resume: bool,
    /// Where data directories and mounts are put; by default in memory if they fit.
    pub work: Option<PathBuf>,
    /// The `weir` program, which the drives run in.
    pub weir: PathBuf,
    /// Emulate drives also below this machine's FUSE floor.
    pub below_floor: bool,
    /// Permissions on servers that the user gives.
    pub allowed: UserPermissions,
    /// Login to these: the user's option file and password.
    pub client: ClientConfig,
    /// What the result says of where it comes from.
    pub provenance: Provenance,
}
