//! Rehearsal of a study on the servers that the user gives: changes are listed instead of made.

use std::sync::atomic::AtomicBool;

use weir_load::LoadPlan;
use weir_model::{Plan, WorkloadSpec};
use weir_server::set_statements;
use weir_store::progress::Event;

use crate::cancel::Control;
use crate::{RunError, RunOptions, external_servers, tables};

/// Statements that [`run`](crate::run) would send to servers of the user's, in words where they are
/// many; nothing is changed. A study on servers of Weir's own has none.
///
/// # Errors
///
/// What would refuse the study itself: a login, a setting that is not allowed, tables in the way.
pub fn rehearse(plan: &Plan, options: &RunOptions) -> Result<Vec<String>, RunError> {
    let mut lines = Vec::new();
    for (url, mut server) in external_servers::log_in(plan, options)? {
        lines.push(format!("-- {url}"));
        let mut prepared = Vec::new();
        for cell in &plan.cells {
            let node = cell.spec.primary();
            if node.server.given.as_ref() != Some(&url) {
                continue;
            }
            let native =
                weir_server::native_config(&server, &node.variables, options.allowed.config)?;
            if !prepared.contains(&&cell.spec.data.source) {
                prepared.push(&cell.spec.data.source);
                external_servers::permit_tables(cell, &mut server, options)?;
                server.rehearse();
                let never = AtomicBool::new(false);
                let (endpoint, gate) = (server.endpoint.clone(), server.gate());
                let mut ignore = |_: &Event<'_>| {};
                let control = &mut Control::new(&never, &mut ignore);
                tables::make_tables(&cell.spec, endpoint, gate, "", control)?;
                lines.extend(gate.rehearsed());
                let remarks = gate.remarks().into_iter();
                lines.extend(remarks.map(|remark| format!("-- {remark}")));
            }
            lines.push(format!("-- each run of `{}`", cell.label()));
            lines.extend(set_statements(&native));
            let set = external_servers::variables_set(cell);
            external_servers::check_allowed(&server, &set, options.allowed.config)?;
            lines.extend(set_statements(&set));
            if let WorkloadSpec::Lua(lua) = &cell.spec.workload {
                let script = lua.path.display();
                lines.push(format!(
                    "-- {script}: what it sends is known only when it runs"
                ));
                continue;
            }
            let load = LoadPlan::of_spec(&cell.spec, 1, server.endpoint.clone());
            let load = load.map_err(RunError::Workload)?;
            let sent = weir_load::statements(&load).map_err(|source| RunError::Load {
                run: cell.label(),
                source: Box::new(source),
                server: String::new(),
            })?;
            lines.extend(sent);
            if !native.is_empty() || !set.is_empty() {
                lines.push("-- and each setting back to its present value".to_owned());
            }
        }
    }
    Ok(lines)
}
