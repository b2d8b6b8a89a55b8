//! Options by which crash states are made and judged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use weir_server::ServerBinary;

use crate::cut::Cut;
use crate::device_rules::DeviceRules;
use crate::test_settings;

/// Options by which states are made and judged.
#[derive(Clone, Debug)]
pub struct ExploreOptions {
    /// The server that recovers: the recorded one.
    pub server: ServerBinary,
    /// Recorded settings of the server.
    pub variables: BTreeMap<String, String>,
    /// Rules of the device.
    pub rules: DeviceRules,
    /// Power cut or process kill.
    pub cut: Cut,
    /// Number of states.
    pub states: u32,
    /// Seed of places and outcomes.
    pub seed: u64,
    /// Complaints of `CHECK TABLE` about the recorded database without any cut; they are not held against a state.
    pub own_complaints: Vec<String>,
    /// Directory of the states; memory is best.
    pub work: PathBuf,
}

impl ExploreOptions {
    /// Bytes of the server's pages.
    pub(crate) fn page_bytes(&self) -> u64 {
        test_settings::page_bytes(self.server.flavor, &self.variables)
    }
}
