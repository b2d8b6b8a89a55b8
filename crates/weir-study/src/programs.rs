//! The installed programs that serve a plan's cells.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{Plan, Probe, ServerChoice};
use weir_server::ServerBinary;

use crate::installed::program_of;
use crate::resolve::probe_cell;
use crate::settings_preview::preview_settings;
use crate::{StudyError, target};

/// The programs of all cells whose servers Weir starts on this host. Each takes what its cells set.
///
/// # Errors
///
/// A program that is not there, and a variable that it does not have or a value that it refuses.
pub fn server_programs(plan: &Plan) -> Result<BTreeMap<ServerChoice, ServerBinary>, StudyError> {
    let servers = of_plan(plan)?;
    check_variables(plan, &servers)?;
    Ok(servers)
}

/// The programs of all cells whose servers Weir starts on this host.
fn of_plan(plan: &Plan) -> Result<BTreeMap<ServerChoice, ServerBinary>, StudyError> {
    let nodes = plan.cells.iter().map(|cell| cell.spec.primary());
    let nodes = nodes.filter(|node| node.server.given.is_none() && node.agent.is_none());
    let choices: BTreeSet<_> = nodes.map(|node| &node.server).collect();
    if choices.is_empty() {
        return Ok(BTreeMap::new());
    }
    let installed = weir_server::find(None)?;
    let chosen = choices
        .into_iter()
        .map(|choice| Ok((choice.clone(), program_of(&installed, choice)?)));
    chosen.collect()
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
    preview_settings(plan).map(drop)
}
