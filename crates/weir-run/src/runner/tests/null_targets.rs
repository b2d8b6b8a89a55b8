//! Targets for tests: each is a null server of its own, which answers at once and stores nothing.

use std::cell::{Cell as Counter, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use weir_load::{Fault, NullServer, NullServerBehavior};
use weir_model::{Bytes, Cell, DriveProfile, DriveStatistics, Endpoint, Flavor, ServerVersion};
use weir_mysql::Gate;
use weir_probe::Probe;
use weir_server::ConfigChanges;

use crate::RunError;
use crate::cancel::{Cancel, Control};
use crate::target::{Description, Target, Targets};

/// Injected failure.
#[derive(Clone, Copy)]
pub(super) enum Trouble {
    /// The user stops it while the data are made.
    StoppedEarly,
    /// The target that is begun after so many others does not start.
    NoStart(usize),
    /// The server of the target that is begun after so many others closes all connections.
    Dies(usize),
}

/// Counts what was begun and what was ended, over all runs of a test.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) begun: RefCell<Vec<String>>,
    pub(super) ended: Counter<usize>,
    pub(super) prepared: Counter<usize>,
}

impl Ledger {
    /// Returns true if everything that was begun has ended.
    pub(super) fn is_balanced(&self) -> bool {
        self.ended.get() == self.begun.borrow().len()
    }
}

pub(super) struct NullTargets<'a> {
    pub(super) sockets: &'a Path,
    pub(super) ledger: Rc<Ledger>,
    pub(super) trouble: Option<Trouble>,
    /// Of the servers that are begun, in turn.
    pub(super) delays_ms: &'a [u64],
    /// A setting whose value 1 spares them 4 ms.
    pub(super) fast_with: Option<&'static str>,
}

impl Targets for NullTargets<'_> {
    fn prepare(&mut self, _: &[Cell], control: &mut Control<'_>) -> Result<(), RunError> {
        control.cancel.check()?;
        if let Some(Trouble::StoppedEarly) = self.trouble {
            return Err(RunError::Interrupted);
        }
        self.ledger.prepared.set(self.ledger.prepared.get() + 1);
        Ok(())
    }

    fn begin(
        &mut self,
        cell: &Cell,
        _repetition: u32,
        cancel: Cancel<'_>,
    ) -> Result<Box<dyn Target>, RunError> {
        cancel.check()?;
        let before = self.ledger.begun.borrow().len();
        if let Some(Trouble::NoStart(number)) = self.trouble
            && number == before
        {
            return Err(RunError::SnapshotRemoved {
                name: "of this test".to_owned(),
            });
        }
        let dies = matches!(self.trouble, Some(Trouble::Dies(number)) if number == before);
        let is_slow = self
            .fast_with
            .is_some_and(|name| cell.spec.variable(name) != Some("1"));
        let delay_ms = self.delays_ms[before % self.delays_ms.len()] + if is_slow { 4 } else { 0 };
        let behavior = NullServerBehavior {
            delay: Duration::from_millis(delay_ms),
            fault: dies.then_some(Fault::CloseAfter(3)),
            ..NullServerBehavior::default()
        };
        let socket = self.sockets.join(format!("{before}.sock"));
        let server = NullServer::start(&socket, behavior).unwrap();
        self.ledger.begun.borrow_mut().push(cell.label());
        Ok(Box::new(NullTarget {
            server,
            socket,
            dies,
            ledger: Rc::clone(&self.ledger),
        }))
    }

    fn describe(&self, _: &[Cell]) -> Description {
        Description {
            flavor: Flavor::Mysql,
            version: ServerVersion {
                major: 9,
                minor: 7,
                patch: 0,
            },
            drives: Vec::<DriveProfile>::new(),
            tables: Bytes(1 << 20),
            data_place: None,
        }
    }

    fn remarks(&self) -> Vec<String> {
        vec!["a null server keeps nothing".to_owned()]
    }
}

/// It is gone when it is dropped, which the ledger counts.
struct NullTarget {
    server: NullServer,
    socket: PathBuf,
    dies: bool,
    ledger: Rc<Ledger>,
}

impl Drop for NullTarget {
    fn drop(&mut self) {
        self.ledger.ended.set(self.ledger.ended.get() + 1);
    }
}

impl Target for NullTarget {
    fn endpoint(&self) -> Endpoint {
        self.server.endpoint()
    }

    fn gate(&self) -> Gate {
        Gate::own()
    }

    fn variables(&self) -> Result<BTreeMap<String, String>, RunError> {
        let buffer_pool = ("innodb_buffer_pool_size", "134217728");
        Ok([buffer_pool]
            .map(|(name, value)| (name.into(), value.into()))
            .into())
    }

    fn changes(&self) -> Option<ConfigChanges> {
        None
    }

    fn probes(&self, _: u32) -> Vec<Box<dyn Probe>> {
        Vec::new()
    }

    fn directory(&self) -> Option<&Path> {
        self.socket.parent()
    }

    fn has_drive(&self) -> bool {
        false
    }

    fn drive_statistics(&self) -> Option<DriveStatistics> {
        None
    }

    fn commands(&self) -> &[String] {
        &[]
    }

    fn log(&self) -> Result<String, RunError> {
        Ok("ready for connections".to_owned())
    }

    fn has_exited(&mut self) -> Option<String> {
        self.dies.then(|| "it closed its connections".to_owned())
    }

    fn end(self: Box<Self>) -> Result<(), RunError> {
        Ok(())
    }
}
