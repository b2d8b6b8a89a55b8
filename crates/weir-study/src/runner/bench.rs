//! What all runs of a study share: the server programs, the servers that the user gives, the drives, the
//! place to work in.
//!
//! Everything that can be found wrong without starting a server is found here, before the first
//! minute is spent.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{Bytes, Cell, Flavor, Plan, Probe, ServerChoice, ServerUrl, ServerVersion};
use weir_server::{GivenServer, ServerBinary};

use super::RunOptions;
use super::drives::Drives;
use super::given;
use crate::resolve::probe_cell;
use crate::{StudyError, target};

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
        let servers = servers(&plan)?;
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

/// The programs of all cells.
fn servers(plan: &Plan) -> Result<BTreeMap<ServerChoice, ServerBinary>, StudyError> {
    let choices = plan.cells.iter().map(|cell| &cell.spec.primary().server);
    let choices: BTreeSet<_> = choices.filter(|choice| choice.given.is_none()).collect();
    if choices.is_empty() {
        return Ok(BTreeMap::new());
    }
    let installed = weir_server::find(None)?;
    let chosen = choices.into_iter().map(|choice| {
        let server = match &choice.binary {
            Some(path) => ServerBinary::at(path)?,
            None => newest(&installed, choice)?,
        };
        Ok((choice.clone(), server))
    });
    chosen.collect()
}

/// The newest installed server of the flavour and, if one is asked for, the version.
fn newest(installed: &[ServerBinary], choice: &ServerChoice) -> Result<ServerBinary, StudyError> {
    let Some(wanted) = &choice.version else {
        return Ok(weir_server::choose(installed, choice.flavor)?.clone());
    };
    let of_flavor = installed
        .iter()
        .filter(|server| server.flavor == choice.flavor);
    let fits = |server: &ServerBinary| {
        let version = server.version.to_string();
        let rest = version.strip_prefix(wanted.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let fitting: Vec<_> = of_flavor
        .clone()
        .filter(|server| fits(server))
        .cloned()
        .collect();
    if fitting.is_empty() {
        let installed: Vec<_> = of_flavor.map(|server| server.version.to_string()).collect();
        return Err(StudyError::NoSuchVersion {
            flavor: choice.flavor,
            version: wanted.clone(),
            installed: if installed.is_empty() {
                "none".into()
            } else {
                installed.join(", ")
            },
        });
    }
    Ok(weir_server::choose(&fitting, choice.flavor)?.clone())
}

/// Every variable of every cell must be one of its server's.
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
    Ok(())
}
