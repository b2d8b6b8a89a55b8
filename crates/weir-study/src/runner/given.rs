//! The servers that the user gives: opened before anything is spent, and their tables.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use weir_model::{Bytes, Cell, Plan, ServerUrl};
use weir_server::GivenServer;

use super::RunOptions;
use super::data::make_tables;
use crate::{Event, StudyError};

/// Logs in to all of them, and checks that the study asks nothing of them that is not theirs to give.
pub(super) fn open(
    plan: &Plan,
    options: &RunOptions,
) -> Result<BTreeMap<ServerUrl, GivenServer>, StudyError> {
    let mut servers = BTreeMap::new();
    for cell in &plan.cells {
        let Some(url) = &cell.spec.primary().server.given else {
            continue;
        };
        check_design(cell, url)?;
        if !servers.contains_key(url) {
            let endpoint = weir_load::sysbench::endpoint(url, &options.surroundings);
            let endpoint = endpoint.map_err(|error| StudyError::Given {
                url: url.to_string(),
                why: error.to_string(),
            })?;
            servers.insert(url.clone(), GivenServer::open(url, endpoint)?);
        }
        let variables = &cell.spec.primary().variables;
        weir_server::check_config(&servers[url], variables, options.allow_config)?;
    }
    Ok(servers)
}

/// What only a server of Weir's own can have.
fn check_design(cell: &Cell, url: &ServerUrl) -> Result<(), StudyError> {
    let why = if cell.spec.primary().drive.is_some() {
        "its data stay where they are, so no drive is emulated below them; leave `drive` out"
    } else if !cell.spec.topology.is_plain() {
        "limits, replicas and the pool's state are its owner's; leave cpus, memory, replicas and pool out"
    } else {
        return Ok(());
    };
    Err(StudyError::Given {
        url: url.to_string(),
        why: why.to_owned(),
    })
}

/// Makes the tables of `cell` that are missing; what they occupy, or `None` if it was stopped. Tables
/// that are there with as many rows are used as they are, others are refused.
pub(super) fn load(
    cell: &Cell,
    server: &GivenServer,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<Option<Bytes>, StudyError> {
    let what = format!("the tables of `{}`", server.url);
    if make_tables(&cell.spec, server.endpoint.clone(), &what, stop, on_event)?.is_none() {
        return Ok(None);
    }
    let size = server.tables_size()?;
    on_event(&Event::DataReady {
        size,
        from_cache: false,
    });
    Ok(Some(size))
}
