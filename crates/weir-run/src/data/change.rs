//! Changes between data as they were made and data as a run finds them: an upgrade to the cell's server, then statements of
//! `[[data.before]]`. They are made once, and kept as a snapshot of their own.

use std::time::Duration;

use weir_model::{Bytes, Cell, DataChange, Flavor, ServerVersion};
use weir_process::WorkDirectory;
use weir_server::{PrivateServer, Session, SnapshotKey, Snapshots, StartOptions, UpgradeWay};
use weir_store::progress::Event;

use super::loading_variables;
use crate::RunError;
use crate::cancel::Control;
use crate::context::StudyContext;
use crate::working_directory::{self, StorageKind};

/// Time limit for a server to write all that the changes left in memory.
const STOP_LIMIT: Duration = Duration::from_mins(30);

/// Changes of a cell's data.
pub(super) struct Changes<'a> {
    way: Option<UpgradeWay>,
    statements: Vec<&'a DataChange>,
    server: (Flavor, ServerVersion),
}

impl<'a> Changes<'a> {
    /// Changes from the data of `made` to those of `cell`.
    pub(super) fn new(
        context: &StudyContext<'_>,
        cell: &'a Cell,
        made: &SnapshotKey,
    ) -> Result<Self, RunError> {
        let server = context.server_of(cell);
        let way = UpgradeWay::find((made.flavor, made.version), server)?;
        let changes = cell.spec.data.before.iter();
        Ok(Self {
            way,
            statements: changes.filter(|change| !change.is_of_each_run()).collect(),
            server: (server.flavor, server.version),
        })
    }

    /// Key of the data of `made` after them.
    pub(super) fn key(&self, made: &SnapshotKey) -> SnapshotKey {
        let way = self.way.iter().flat_map(UpgradeWay::words);
        let statements = self
            .statements
            .iter()
            .map(|change| change.statement.clone());
        made.after(
            self.server.0,
            self.server.1,
            way.chain(statements).collect(),
        )
    }

    /// Returns the steps of the upgrade that leave something as it was.
    pub(super) fn remarks(&self) -> Vec<String> {
        let remarks = self.way.iter().flat_map(UpgradeWay::remarks);
        remarks.map(|step| format!("data: {step}")).collect()
    }

    /// Makes them on a copy of the snapshot of `made`, off the drives, and keeps it.
    pub(super) fn make(
        &self,
        context: &StudyContext<'_>,
        cell: &Cell,
        (snapshots, made): (&Snapshots, &SnapshotKey),
        control: &mut Control<'_>,
    ) -> Result<(), RunError> {
        let key = self.key(made);
        if key == *made {
            return Ok(());
        }
        let hold = snapshots.hold(made)?;
        let size = hold.map(|hold| weir_server::space_occupied(hold.data_dir()));
        let size = size.transpose()?.unwrap_or_default();
        let place =
            working_directory::choose(context.options.work.as_deref(), size, StorageKind::Memory)?;
        let home = WorkDirectory::create(&place, "change")?;
        let data = home.path().join("data");
        snapshots.restore(made, &data)?;
        if let Some(way) = &self.way {
            let words = way.words().join(", ");
            control.tell(&Event::Changing { change: &words });
            let beside = home.path().join("upgrade");
            let page_size = Bytes(made.page_bytes.into());
            way.go(&data, &beside, page_size, &mut control.cancel.watching())?;
        }
        if !self.statements.is_empty() {
            let mut options = StartOptions::new(&data, home.path().join("server"));
            options.variables = loading_variables(&cell.spec);
            let watch = &mut control.cancel.watching();
            let server = PrivateServer::start_watched(context.server_of(cell), &options, watch)?;
            let mut session = server.session()?;
            for change in &self.statements {
                control.tell(&Event::Changing {
                    change: &change.statement,
                });
                run(&mut session, change)?;
                control.cancel.check()?;
            }
            drop(session);
            server.stop(STOP_LIMIT)?;
        }
        Ok(snapshots.store(&key, &data)?)
    }
}

/// Runs what a server forgets at its end, on the server of a run.
pub(crate) fn run_each_time(server: &PrivateServer, cell: &Cell) -> Result<(), RunError> {
    let changes = cell.spec.data.before.iter();
    for change in changes.filter(|change| change.is_of_each_run()) {
        run(&mut server.session()?, change)?;
    }
    Ok(())
}

fn run(session: &mut Session, change: &DataChange) -> Result<(), RunError> {
    let error_row = session.run_maintenance("change the data", &change.statement);
    let why = match error_row {
        Ok(None) => return Ok(()),
        Ok(Some(text)) => text,
        Err(error) => error.to_string(),
    };
    Err(RunError::Change {
        name: change.name.clone(),
        why,
    })
}
