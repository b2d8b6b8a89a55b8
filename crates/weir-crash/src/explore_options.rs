//! How crash states are made and judged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use weir_server::ServerBinary;

use crate::cut::Cut;
use crate::device_rules::DeviceRules;
use crate::test_settings;

/// How states are made and judged.
#[derive(Clone, Debug)]
pub struct ExploreOptions {
    /// The server that recovers: the recorded one.
    pub server: ServerBinary,
    /// Its settings: the recorded ones.
    pub variables: BTreeMap<String, String>,
    /// What the device keeps.
    pub rules: DeviceRules,
    /// Power cut or process kill.
    pub cut: Cut,
    /// How many states.
    pub states: u32,
    /// Seed of places and outcomes.
    pub seed: u64,
    /// What `CHECK TABLE` says of the recorded database without any cut; it is not held against a state.
    pub own_complaints: Vec<String>,
    /// Where the states live; memory is best.
    pub work: PathBuf,
}

impl ExploreOptions {
    /// Bytes of the server's pages.
    pub(crate) fn page_bytes(&self) -> u64 {
        test_settings::page_bytes(self.server.flavor, &self.variables)
    }
}
