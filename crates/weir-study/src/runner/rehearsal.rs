//! What a study would change on the servers that the user gives, told instead of done.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use weir_model::Plan;
use weir_server::set_statements;

use super::RunOptions;
use super::given;
use super::stage::load_plan;
use crate::StudyError;

/// Statements that [`run`](super::run) would send to servers of the user's, in words where they are
/// many; nothing is changed. A study on servers of Weir's own has none.
///
/// # Errors
///
/// What would refuse the study itself: a login, a setting that is not allowed, tables in the way.
pub fn rehearse(plan: &Plan, options: &RunOptions) -> Result<Vec<String>, StudyError> {
    let mut lines = Vec::new();
    let mut prepared = BTreeSet::new();
    for (url, mut server) in given::log_in(plan, options)? {
        server.rehearse();
        lines.push(format!("-- {url}"));
        for cell in &plan.cells {
            if plan.server_of(cell).given.as_ref() != Some(&url) {
                continue;
            }
            let native = weir_server::native_config(
                &server,
                &plan.variables_of(cell),
                options.allow_config,
            )?;
            given::permit_tables(plan, cell, &mut server, options)?;
            let data = plan.data_of(cell);
            let key = (data.workload.as_str(), data.tables, data.rows);
            if prepared.insert(key) {
                let never = AtomicBool::new(false);
                let endpoint = server.endpoint.clone();
                super::data::make_tables(data, endpoint, server.gate(), "", &never, &mut |_| {})?;
                lines.extend(server.gate().rehearsed());
                let remarks = server.gate().remarks().into_iter();
                lines.extend(remarks.map(|remark| format!("-- {remark}")));
            }
            lines.push(format!("-- each run of `{}`", cell.label()));
            lines.extend(set_statements(&native));
            let load = load_plan(plan, cell, server.endpoint.clone());
            let sent = weir_load::statements(&load).map_err(|source| StudyError::Load {
                run: cell.label(),
                source: Box::new(source),
                server: String::new(),
            })?;
            lines.extend(sent);
            if !native.is_empty() {
                lines.push("-- and each setting back to what it is now".to_owned());
            }
        }
    }
    Ok(lines)
}
