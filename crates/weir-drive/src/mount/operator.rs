//! What a mounted drive does when it is asked through its control socket.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use weir_model::Faults;

use crate::control::{Answer, Request};
use crate::engine::Engine;
use crate::stop::Stop;
use crate::store::Store;

/// The parts of a drive that can be operated.
#[derive(Debug)]
pub(super) struct Operator<'a> {
    pub(super) store: &'a Arc<Store>,
    pub(super) engine: &'a Engine,
    pub(super) stop: &'a Stop,
}

impl Operator<'_> {
    pub(super) fn answer(&self, request: Request) -> Answer {
        match request {
            Request::Statistics => value(&self.engine.statistics(self.store.space())),
            Request::Unmount => {
                self.stop.request();
                value(&())
            }
            Request::Set(settings) => self.set(&settings),
            Request::Reset => self.replace_faults(Faults::default()),
            Request::StartTrace(path) => self.start_trace(&path),
            Request::StopTrace => match self.engine.tracer().stop() {
                Some(Ok(summary)) => value(&summary),
                Some(Err(error)) => Err(format!("the trace is not whole ({error})")),
                None => Err("no trace is being recorded".to_owned()),
            },
        }
    }

    /// All of `settings` or none of them.
    fn set(&self, settings: &[(String, String)]) -> Answer {
        let mut faults = self.engine.faults();
        for (key, value) in settings {
            faults = faults.with(key, value).map_err(|error| error.to_string())?;
        }
        self.replace_faults(faults.clone())?;
        value(&faults)
    }

    fn replace_faults(&self, faults: Faults) -> Answer {
        let set = self.engine.set_faults(faults, self.store.space());
        set.map_err(|error| error.to_string())?;
        value(&())
    }

    fn start_trace(&self, path: &Path) -> Answer {
        let store = Arc::clone(self.store);
        let path_of = Box::new(move |inode| store.path_of(inode));
        let started = self.engine.tracer().start(path, path_of);
        started.map_err(|error| format!("cannot record in `{}` ({error})", path.display()))?;
        value(&())
    }
}

fn value(answer: &impl Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|error| error.to_string())
}
