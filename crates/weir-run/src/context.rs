//! What all runs of a study share: the server programs, the servers that the user gives, the drives, the
//! place to work in.
//!
//! Everything that can be found wrong without starting a server is found here, before the first
//! minute is spent.

use std::collections::BTreeMap;

use weir_model::{Bytes, Cell, Flavor, Plan, Probe, ServerChoice, ServerUrl, ServerVersion};
use weir_server::{GivenServer, ServerBinary};

use super::RunOptions;
use super::drives::Drives;
use super::given;
use crate::resolve::probe_cell;
use crate::{StudyError, programs, target};

/// The test bench.
pub(super) struct Bench<'a> {
    /// The plan; a search adds cells to it.
    pub(super) plan: Plan,
    pub(super) options: &'a RunOptions,
    servers: BTreeMap<ServerChoice, ServerBinary>,
    given: BTreeMap<ServerUrl, GivenServer>,
    pub(super) drives: Drives,
}

impl<'a> Bench<'a> {
    pub(super) fn new(plan: Plan, options: &'a RunOptions) -> Result<Self, StudyError> {
        let servers = programs::of_plan(&plan)?;
        check_variables(&plan, &servers)?;
        let given = given::open(&plan, options)?;
        let drives = Drives::of(&plan, options)?;
        Ok(Self {
            plan,
            options,
            servers,
            given,
            drives,
        })
    }

    /// Adds the cell of a place where a search measures, and returns its index.
    pub(super) fn add_probe(&mut self, probe: Probe) -> usize {
        let search = self.plan.search.as_ref();
        let search = search.expect("invariant: only a search has probes");
        let cell = probe_cell(&self.plan, search, probe);
        self.plan.cells.push(cell);
        self.plan.cells.len() - 1
    }

    /// The program that serves `cell`, where Weir starts it.
    pub(super) fn server_of(&self, cell: &Cell) -> &ServerBinary {
        &self.servers[&cell.spec.primary().server]
    }

    /// The server of `cell`, where the user gives it.
    pub(super) fn given_of(&self, cell: &Cell) -> Option<&GivenServer> {
        let url = cell.spec.primary().server.given.as_ref()?;
        self.given.get(url)
    }

    /// What could not be looked at on the servers that the user gives.
    pub(super) fn remarks(&self) -> Vec<String> {
        let servers = self.given.values();
        servers.flat_map(|server| server.gate().remarks()).collect()
    }

    /// What serves `cell`.
    pub(super) fn version_of(&self, cell: &Cell) -> (Flavor, ServerVersion) {
        if let Some(given) = self.given_of(cell) {
            return (given.url.flavor, given.version);
        }
        let binary = self.server_of(cell);
        (binary.flavor, binary.version)
    }

    /// The drive of `cell` must hold the data; what a run adds to them is the server's to complain
    /// about.
    pub(super) fn check_capacity(&self, cell: &Cell, needed: Bytes) -> Result<(), StudyError> {
        let Some(drive) = self.drives.of_cell(cell) else {
            return Ok(());
        };
        let scale = cell.spec.data.data_scale;
        let capacity = Bytes(scale.apply(drive.capacity.0));
        if capacity < needed {
            return Err(StudyError::DriveTooSmall {
                name: drive.name.clone(),
                capacity,
                scale,
                needed,
            });
        }
        Ok(())
    }
}

/// Every variable of every cell must be one of its server's, with a value that it takes.
fn check_variables(
    plan: &Plan,
    servers: &BTreeMap<ServerChoice, ServerBinary>,
) -> Result<(), StudyError> {
    for (choice, server) in servers {
        let mut known = weir_server::known_variables(server)?;
        // Names of other factors are suggested as well; as variables they do not come here.
        known.extend(target::own_names().map(|name| (name.to_owned(), String::new())));
        let searched = plan.search.iter().map(|search| {
            let probe = Probe {
                of_cell: 0,
                place: search.low,
                confirms: false,
            };
            probe_cell(plan, search, probe)
        });
        let cells = plan.cells.iter().cloned().chain(searched);
        for cell in cells.filter(|cell| cell.spec.primary().server == *choice) {
            let all = &cell.spec.primary().variables;
            let translated = weir_server::translate(server.flavor, server.version, all)?;
            let names: Vec<_> = translated.keys().map(String::as_str).collect();
            weir_server::check_variables(&known, &names)?;
        }
    }
    crate::foresee(plan).map(drop)
}
