//! Choice of the agent that starts the servers of a study.

use crate::agent_pool::AgentPool;
use crate::allowance::Permission;
use crate::error::AgentError;
use crate::messages::Facts;

impl AgentPool {
    /// The agent that `wanted` means and that may start servers.
    pub(super) async fn server_agent(&self, wanted: &str) -> Result<(String, Facts), AgentError> {
        let none = |why: String| AgentError::NoServerRole {
            wanted: wanted.to_owned(),
            why,
        };
        let (mut found, mut refused) = (Vec::new(), Vec::new());
        for (name, facts) in self.meant(wanted).await? {
            if facts.allows.contains(&Permission::Server) {
                found.push((name, facts));
            } else {
                refused.push(name);
            }
        }
        if found.len() > 1 {
            let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
            return Err(none(format!(
                "{} may start it; name one of them",
                names.join(" and ")
            )));
        }
        let Some((agent, facts)) = found.pop() else {
            return Err(none(match refused.as_slice() {
                [] => "no such agent is there".to_owned(),
                names => format!("the owner of {} does not allow `server`", names.join(", ")),
            }));
        };
        if facts.version != self.version {
            return Err(AgentError::Version {
                agent,
                theirs: facts.version,
                ours: self.version.clone(),
            });
        }
        Ok((agent, facts))
    }
}
