//! The targets of a study on real servers: private ones on restored data, and those that the user gives.

use weir_model::{Cell, Plan};

use crate::cancel::{Cancel, Control};
use crate::context::StudyContext;
use crate::data::DataSets;
use crate::target::{Description, ExternalTarget, PrivateTarget, Target, Targets};
use crate::{RunError, RunOptions};

pub(crate) struct StudyTargets<'a> {
    context: StudyContext<'a>,
    data: DataSets,
}

impl<'a> StudyTargets<'a> {
    /// Finds what can be found wrong without starting a server.
    pub(crate) fn open(plan: &Plan, options: &'a RunOptions) -> Result<Self, RunError> {
        Ok(Self {
            context: StudyContext::new(plan, options)?,
            data: DataSets::default(),
        })
    }
}

impl Targets for StudyTargets<'_> {
    fn prepare(&mut self, cells: &[Cell], control: &mut Control<'_>) -> Result<(), RunError> {
        self.data = DataSets::prepare(&self.context, cells, control)?;
        Ok(())
    }

    fn begin(&mut self, cell: &Cell, cancel: Cancel<'_>) -> Result<Box<dyn Target>, RunError> {
        let context = &self.context;
        if let Some(server) = context.external_of(cell) {
            let allowed = context.options.allowed.config;
            let host = context.host_of(cell);
            let taken = ExternalTarget::take(cell, server, host, allowed)?;
            return Ok(Box::new(taken));
        }
        let data = self.data.of(cell);
        Ok(Box::new(PrivateTarget::start(context, cell, data, cancel)?))
    }

    fn describe(&self, first: &Cell) -> Description {
        let (flavor, version) = self.context.version_of(first);
        Description {
            flavor,
            version,
            drives: self.context.drives.profiles(),
            tables: self.data.tables(&self.context, first),
        }
    }

    fn remarks(&self) -> Vec<String> {
        self.context.remarks()
    }
}
