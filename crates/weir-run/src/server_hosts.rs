//! The hosts of servers that the user gives, where agents there sample them: found before anything is spent.

use std::collections::BTreeMap;

use weir_agent::{AgentPool, RemoteHost};
use weir_model::{Plan, ServerUrl};
use weir_server::{ExternalServer, ServerIdentity};

use crate::{RunError, RunOptions};

/// Finds all that the cells of `plan` name.
pub(crate) fn find(
    plan: &Plan,
    servers: &BTreeMap<ServerUrl, ExternalServer>,
    options: &RunOptions,
) -> Result<BTreeMap<(ServerUrl, String), RemoteHost>, RunError> {
    let mut hosts = BTreeMap::new();
    for cell in &plan.cells {
        let node = cell.spec.primary();
        let (Some(url), Some(agent)) = (&node.server.given, &node.agent) else {
            continue;
        };
        let key = (url.clone(), agent.to_string());
        let Some(server) = servers.get(url).filter(|_| !hosts.contains_key(&key)) else {
            continue;
        };
        let identity = ServerIdentity::ask(&mut server.session()?)?;
        let commit = &options.provenance.weir_commit;
        let host = RemoteHost::find(&AgentPool::usual_file(), commit, &key.1, identity);
        let host = host.map_err(|error| RunError::ServerHost {
            url: url.to_string(),
            why: error.to_string(),
        })?;
        hosts.insert(key, host);
    }
    Ok(hosts)
}
