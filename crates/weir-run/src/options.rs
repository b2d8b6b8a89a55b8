//! Options of a study's runs.

use std::path::PathBuf;

use weir_model::Provenance;
use weir_mysql::ClientConfig;

/// Permissions of the user on the servers that a study only opens.
#[derive(Debug, Clone, Default)]
pub struct UserPermissions {
    /// Settings may be changed.
    pub config: bool,
    /// Tables may be written also where the server is a replica or read-only.
    pub replica: bool,
    /// File that also gets the way back of each changed setting, such as one on another host.
    pub note_to: Option<PathBuf>,
}

/// Options of a study's runs.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Folder of the result; made if need be.
    pub out: PathBuf,
    /// Go on with the result in `out` if there is one.
    pub resume: bool,
    /// Directory of data directories and mounts; by default a temporary one on a disk, or memory for emulated drives if
    /// the data fit there.
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
