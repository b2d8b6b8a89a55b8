//! The servers of a study that the host of an agent starts: found, and their data made, before the first run.

use std::collections::BTreeMap;
use std::rc::Rc;

use weir_agent::{Crew, ServerReply, ServerSession, ServerStep};
use weir_model::{Bytes, Cell, DriveProfile, Plan, ServerChoice, ServerVersion};
use weir_progress::Event;

use crate::cancel::{Cancel, Control};
use crate::target::RemoteTarget;
use crate::{RunError, RunOptions};

/// The agent that starts the servers of a study.
pub(crate) struct RemoteServers {
    session: Rc<ServerSession>,
    servers: BTreeMap<ServerChoice, ServerVersion>,
    drives: Vec<DriveProfile>,
    /// What the tables of the first cell occupy.
    tables: Bytes,
}

impl RemoteServers {
    /// Takes the agent that the cells of `plan` name, if they do, and lets it see whether all is there.
    pub(crate) fn open(
        plan: &Plan,
        options: &RunOptions,
        cancel: Cancel<'_>,
    ) -> Result<Option<Self>, RunError> {
        let mut agents = plan
            .cells
            .iter()
            .filter_map(|cell| cell.spec.primary().hosting_agent());
        let Some(agent) = agents.next() else {
            return Ok(None);
        };
        let commit = &options.provenance.weir_commit;
        let session = ServerSession::join(&Crew::usual_file(), commit, agent)?;
        let step = ServerStep::Open {
            plan: Box::new(of_agent(plan)),
            below_floor: options.below_floor,
        };
        let opened = session.step(step, None, cancel.flag(), &mut |_, _| ())?;
        let ServerReply::Opened { servers, drives } = opened else {
            return Err(RunError::wrong_answer());
        };
        Ok(Some(Self {
            session: Rc::new(session),
            servers: servers.into_iter().collect(),
            drives,
            tables: Bytes(0),
        }))
    }

    /// Lets the agent make the data that are missing.
    pub(crate) fn prepare(&mut self, control: &mut Control<'_>) -> Result<(), RunError> {
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

    /// The drives as the agent's host knows them.
    pub(crate) fn drives(&self) -> &[DriveProfile] {
        &self.drives
    }

    /// What the tables of the first cell occupy.
    pub(crate) fn tables(&self) -> Bytes {
        self.tables
    }
}

/// The part of `plan` that is the agent's.
fn of_agent(plan: &Plan) -> Plan {
    let mut part = plan.clone();
    part.cells
        .retain(|cell| cell.spec.primary().hosting_agent().is_some());
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
