//! The servers of a study that hosts of agents start: found, and their data made, before the first run.

use std::collections::BTreeMap;
use std::rc::Rc;

use weir_agent::{AgentPool, ServerReply, ServerSession, ServerStep};
use weir_model::{Bytes, Cell, DriveProfile, Plan, ServerAgents, ServerChoice, ServerVersion};
use weir_store::progress::Event;

use crate::cancel::{Cancel, Control};
use crate::target::RemoteTarget;
use crate::{RunError, RunOptions};

/// The agents that start servers of a study.
#[derive(Default)]
pub(crate) struct RemoteServers(Vec<RemoteServer>);

impl RemoteServers {
    /// Takes the agents that the cells of `plan` name, and lets each see whether all is there. None are named: none.
    pub(crate) fn open(
        plan: &Plan,
        options: &RunOptions,
        cancel: Cancel<'_>,
    ) -> Result<Self, RunError> {
        let mut cells = plan.cells.iter();
        // All cells have the same: the study's.
        let agents = cells.find_map(|cell| cell.spec.primary().hosting_agents());
        let names = agents.map_or(&[][..], ServerAgents::all);
        let mut opened = Self::default();
        for name in names {
            let commit = &options.provenance.weir_commit;
            let session = ServerSession::join(&AgentPool::usual_file(), commit, name)?;
            opened.check_other_host(name, &session)?;
            let remote = RemoteServer::open(name, session, plan, options, cancel)?;
            opened.0.push(remote);
        }
        opened.check_programs()?;
        Ok(opened)
    }

    /// Two names may be of one agent.
    fn check_other_host(&self, name: &str, session: &ServerSession) -> Result<(), RunError> {
        let agent = session.agent();
        let is_it = |other: &&RemoteServer| other.session.agent() == agent;
        self.0.iter().find(is_it).map_or(Ok(()), |other| {
            Err(RunError::NotOnAgent {
                what: "server.agent".to_owned(),
                value: format!("`{}` and `{name}` are both {agent}", other.name),
                why: "name each agent once",
            })
        })
    }

    /// Runs of different programs are no repetitions of each other.
    fn check_programs(&self) -> Result<(), RunError> {
        let mut remotes = self.0.iter();
        let Some(first) = remotes.next() else {
            return Ok(());
        };
        let differs = |other: &&RemoteServer| other.servers != first.servers;
        remotes.find(differs).map_or(Ok(()), |other| {
            Err(RunError::NotOnAgent {
                what: "server.agent".to_owned(),
                value: format!("{}; {}", first.programs(), other.programs()),
                why: "install the same version on all hosts, or name it in server.flavor",
            })
        })
    }

    /// Lets the agents make the data that are missing, one after the other.
    pub(crate) fn prepare(&mut self, control: &mut Control<'_>) -> Result<(), RunError> {
        for remote in &mut self.0 {
            remote.prepare(control)?;
        }
        Ok(())
    }

    /// The agent that the study calls `name`.
    pub(crate) fn by_name(&self, name: &str) -> Option<&RemoteServer> {
        self.0.iter().find(|remote| remote.name == name)
    }

    /// The drives as the agents' hosts know them.
    pub(crate) fn drives(&self) -> &[DriveProfile] {
        self.0.first().map_or(&[], |remote| &remote.drives)
    }
}

/// An agent that starts servers of a study.
pub(crate) struct RemoteServer {
    /// As the study names it.
    name: String,
    session: Rc<ServerSession>,
    servers: BTreeMap<ServerChoice, ServerVersion>,
    drives: Vec<DriveProfile>,
    /// Size of the first cell's tables.
    tables: Bytes,
}

impl RemoteServer {
    /// Lets the agent see whether all is there.
    fn open(
        name: &str,
        session: ServerSession,
        plan: &Plan,
        options: &RunOptions,
        cancel: Cancel<'_>,
    ) -> Result<Self, RunError> {
        let step = ServerStep::Open {
            plan: Box::new(of_agent(plan)),
            below_floor: options.below_floor,
        };
        let opened = session.step(step, None, cancel.flag(), &mut |_, _| ())?;
        let ServerReply::Opened { servers, drives } = opened else {
            return Err(RunError::wrong_answer());
        };
        Ok(Self {
            name: name.to_owned(),
            session: Rc::new(session),
            servers: servers.into_iter().collect(),
            drives,
            tables: Bytes(0),
        })
    }

    /// `mysql 8.4.5 on db1`.
    fn programs(&self) -> String {
        let versions = self.servers.iter();
        let versions: Vec<_> = versions
            .map(|(server, version)| format!("{} {version}", server.flavor))
            .collect();
        format!("{} on {}", versions.join(", "), self.name)
    }

    /// Lets the agent make the data that are missing.
    fn prepare(&mut self, control: &mut Control<'_>) -> Result<(), RunError> {
        let stop = control.cancel.flag();
        let mut on_rows = |rows_done, rows_total| {
            control.tell(&Event::Loading {
                rows_done,
                rows_total,
            });
        };
        let prepared = self
            .session
            .step(ServerStep::Prepare, None, stop, &mut on_rows)?;
        let ServerReply::Prepared { ready, tables } = prepared else {
            return Err(RunError::wrong_answer());
        };
        for (size, from_cache) in ready {
            control.tell(&Event::DataReady { size, from_cache });
        }
        self.tables = tables;
        Ok(())
    }

    /// Lets the agent start the server of `cell`.
    pub(crate) fn begin(&self, cell: &Cell, cancel: Cancel<'_>) -> Result<RemoteTarget, RunError> {
        RemoteTarget::start(&self.session, &on_its_host(cell), cancel)
    }

    /// The version of the program that serves `cell`.
    pub(crate) fn version_of(&self, cell: &Cell) -> Option<ServerVersion> {
        self.servers.get(&cell.spec.primary().server).copied()
    }

    /// Returns the size of the first cell's tables.
    pub(crate) fn tables(&self) -> Bytes {
        self.tables
    }
}

/// The part of `plan` that is the agent's.
fn of_agent(plan: &Plan) -> Plan {
    let mut part = plan.clone();
    part.cells
        .retain(|cell| cell.spec.primary().hosting_agents().is_some());
    if part.cells.len() < plan.cells.len() {
        // It names its cells by their numbers.
        part.search = None;
    }
    part.cells = part.cells.iter().map(on_its_host).collect();
    part
}

/// `cell` as the agent sees it: its server is on this host.
fn on_its_host(cell: &Cell) -> Cell {
    let mut cell = cell.clone();
    cell.spec_mut().primary_mut().agent = None;
    cell
}
