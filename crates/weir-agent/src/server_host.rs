//! The host of a server, as its agent sees it: what a conductor asks once a second.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use weir_model::{AGENT_AUTO, Bytes, ServerHost};
use weir_probe::{Probe, ProbeError, Readings};
use weir_server::ServerIdentity;

use crate::agent_pool::{AgentPool, PROMPT, unexpected};
use crate::allowance::Permission;
use crate::error::AgentError;
use crate::line::Line;
use crate::messages::{ActiveWatch, Answer, Facts, Order, ProcessId, Sample, WatchOrder};
use crate::own_process::own_process;

/// A server's host with an agent that may read its figures.
#[derive(Debug, Clone)]
pub struct RemoteHost {
    line: Arc<Line>,
    order: WatchOrder,
    /// Time at which the server showed its uptime.
    said_at: Instant,
    host: ServerHost,
    states: BTreeMap<String, String>,
}

impl RemoteHost {
    /// The host of `server`, by the agent that `wanted` names: the agent's name, its host's, or `auto`.
    ///
    /// # Errors
    ///
    /// A bus that cannot be joined; no such agent, one that may not, or one that does not find the server there.
    pub fn find(
        join_file: &Path,
        version: &str,
        wanted: &str,
        server: ServerIdentity,
    ) -> Result<Self, AgentError> {
        let crew = AgentPool::join(join_file, version)?;
        let order = WatchOrder {
            version: version.to_owned(),
            server,
            client: own_process(),
        };
        let said_at = Instant::now();
        let (agent, facts, watched) = crew.runtime.block_on(crew.find_server(wanted, &order))?;
        let (line, _) = Line::open(crew, agent.clone(), None)?;
        Ok(Self {
            line: Arc::new(line),
            host: host(agent, facts, watched.device.clone(), &order.client),
            states: watched.states,
            order,
            said_at,
        })
    }

    /// Returns the host for the result.
    pub fn host(&self) -> &ServerHost {
        &self.host
    }

    /// States of the server that only its host can tell, by the names of [`weir_model::variables`].
    pub fn states(&self) -> &BTreeMap<String, String> {
        &self.states
    }

    /// Returns a probe of its figures from now on. An agent that is not there is a gap in them.
    pub fn probe(&self) -> RemoteHostProbe {
        RemoteHostProbe {
            // Before the first sample is due: to find the process takes longer than one.
            watch: self.watch().ok(),
            host: self.clone(),
        }
    }

    /// Lets the agent find the server's process again; the name of the watch.
    fn watch(&self) -> Result<String, AgentError> {
        let mut order = self.order.clone();
        order.server.uptime_s += self.said_at.elapsed().as_secs();
        let order = Order::Watch(Box::new(order));
        let answer = self.line.ask(order, "watch", PROMPT)?;
        watching(&self.host.agent, answer).map(|watched| watched.watch)
    }
}

/// Returns the host of an agent for a result; `client`: the process that loads the server.
pub(crate) fn host(
    agent: String,
    facts: Facts,
    device: Option<String>,
    client: &ProcessId,
) -> ServerHost {
    ServerHost {
        agent,
        host: facts.host,
        processor: facts.processor,
        cores: facts.cores,
        memory: Bytes(facts.memory_bytes),
        kernel: facts.kernel,
        device,
        is_apart: !facts.process.shares_kernel_with(client),
    }
}

/// Asks the agent of a server's host for its figures.
#[derive(Debug)]
pub struct RemoteHostProbe {
    host: RemoteHost,
    /// One a run: counters of processes begin with it, and would go back with a second one.
    watch: Option<String>,
}

impl RemoteHostProbe {
    fn ask(&mut self) -> Result<Sample, AgentError> {
        let watch = match self.watch.take() {
            Some(watch) => watch,
            None => self.host.watch()?,
        };
        self.host.line.sample(self.watch.insert(watch))
    }
}

impl Probe for RemoteHostProbe {
    fn name(&self) -> &'static str {
        ServerHost::SOURCE
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        let name = self.host.host.name();
        let sample = self.ask();
        read(readings, &name, sample)
    }
}

/// Adds a sample of the agent called `name` to the readings.
pub(crate) fn read(
    readings: &mut Readings,
    name: &str,
    sample: Result<Sample, AgentError>,
) -> Result<(), ProbeError> {
    let failed = |why: String| ProbeError::Agent {
        agent: name.to_owned(),
        why,
    };
    let sample = sample.map_err(|error| failed(error.to_string()))?;
    let values = sample.values.iter();
    readings.add_named(values.map(|(metric, of, value)| (&**metric, &**of, *value)));
    for (source, why) in sample.lost {
        let source = format!("{}: {source}", ServerHost::SOURCE);
        readings.lose(&source, failed(why));
    }
    Ok(())
}

impl AgentPool {
    /// The agent that `wanted` means, and that finds the server on its host.
    async fn find_server(
        &self,
        wanted: &str,
        order: &WatchOrder,
    ) -> Result<(String, Facts, ActiveWatch), AgentError> {
        let none = |why: String| AgentError::NoServerHost {
            wanted: wanted.to_owned(),
            why,
        };
        let (mut found, mut refusals) = (Vec::new(), Vec::new());
        for (name, facts) in self.meant(wanted).await? {
            let may = facts.allows.contains(&Permission::Probe);
            // One that is named says itself why it does not.
            if wanted == AGENT_AUTO && !may {
                continue;
            }
            match self.watch(&name, order).await {
                Ok(watched) => found.push((name, facts, watched)),
                Err(AgentError::Refused { agent, why }) => refusals.push(format!("{agent}: {why}")),
                Err(error) => return Err(error),
            }
        }
        if found.len() > 1 {
            let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
            let names = names.join(" and ");
            return Err(none(format!(
                "{names} both find the server; name one of them"
            )));
        }
        if let Some(found) = found.pop() {
            return Ok(found);
        }
        Err(none(if refusals.is_empty() {
            "no such agent is there".to_owned()
        } else {
            refusals.join("; ")
        }))
    }

    /// Lets an agent find a server on its host.
    async fn watch(&self, agent: &str, order: &WatchOrder) -> Result<ActiveWatch, AgentError> {
        let order = Order::Watch(Box::new(order.clone()));
        watching(agent, self.ask(agent, "watch", &order, PROMPT).await?)
    }
}

fn watching(agent: &str, answer: Answer) -> Result<ActiveWatch, AgentError> {
    match answer {
        Answer::Watching(watched) => Ok(watched),
        answer => Err(unexpected(agent, &answer)),
    }
}
