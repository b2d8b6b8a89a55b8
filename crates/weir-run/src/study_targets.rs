//! The targets of a study on real servers: private ones on restored data, here or on the host of an agent, and those
//! that the user gives.

use weir_model::{Cell, Plan};

use crate::cancel::{Cancel, Control};
use crate::context::StudyContext;
use crate::data::DataSets;
use crate::remote_servers::{RemoteServer, RemoteServers};
use crate::target::{Description, ExternalTarget, PrivateTarget, Target, Targets};
use crate::{RunError, RunOptions};

pub(crate) struct StudyTargets<'a> {
    context: StudyContext<'a>,
    data: DataSets,
    /// The agents that start servers, if cells name some.
    remote: RemoteServers,
}

impl<'a> StudyTargets<'a> {
    /// Finds what can be found wrong without starting a server.
    pub(crate) fn open(
        plan: &Plan,
        options: &'a RunOptions,
        cancel: Cancel<'_>,
    ) -> Result<Self, RunError> {
        Ok(Self {
            context: StudyContext::new(plan, options)?,
            data: DataSets::default(),
            remote: RemoteServers::open(plan, options, cancel)?,
        })
    }

    /// The agent that starts the server of `cell` in a repetition.
    fn remote_of(&self, cell: &Cell, repetition: u32) -> Option<&RemoteServer> {
        let node = cell.spec.primary();
        node.hosting_agents()?;
        self.remote.by_name(node.agent_of(repetition)?)
    }
}

impl Targets for StudyTargets<'_> {
    fn prepare(&mut self, cells: &[Cell], control: &mut Control<'_>) -> Result<(), RunError> {
        self.remote.prepare(control)?;
        let is_here = |cell: &&Cell| cell.spec.primary().hosting_agents().is_none();
        let here: Vec<Cell> = cells.iter().filter(is_here).cloned().collect();
        self.data = DataSets::prepare(&self.context, &here, control)?;
        Ok(())
    }

    fn begin(
        &mut self,
        cell: &Cell,
        repetition: u32,
        cancel: Cancel<'_>,
    ) -> Result<Box<dyn Target>, RunError> {
        if let Some(remote) = self.remote_of(cell, repetition) {
            return Ok(Box::new(remote.begin(cell, cancel)?));
        }
        let context = &self.context;
        if let Some(server) = context.external_of(cell) {
            let allowed = context.options.allowed.config;
            let host = context.host_of(cell);
            let taken = ExternalTarget::take(cell, server, host, allowed)?;
            return Ok(Box::new(taken));
        }
        let data = self.data.for_cell(cell);
        Ok(Box::new(PrivateTarget::start(
            context, cell, data, None, cancel,
        )?))
    }

    fn describe(&self, cells: &[Cell]) -> Description {
        let first = &cells[0];
        let remote = self.remote_of(first, 1);
        let on_agent = remote.and_then(|remote| {
            let version = remote.version_of(first)?;
            Some((first.spec.primary().server.flavor, version, remote.tables()))
        });
        let (flavor, version, tables) = on_agent.unwrap_or_else(|| {
            let (flavor, version) = self.context.version_of(first);
            (flavor, version, self.data.tables(&self.context, first))
        });
        let mut drives = self.context.drives.profiles();
        drives.extend_from_slice(self.remote.drives());
        Description {
            flavor,
            version,
            drives,
            tables,
            data_place: self.context.data_place(cells, tables),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.context.remarks();
        remarks.extend(self.data.remarks());
        remarks
    }
}
