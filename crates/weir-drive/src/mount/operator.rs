//! Answers of a mounted drive to requests through its control socket.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use weir_model::{DriveProfile, DriveStatistics, Faults};

use crate::MountOptions;
use crate::control::{Answer, Cut, Request};
use crate::engine::Engine;
use crate::recording::Recorder;
use crate::stop::Stop;
use crate::store::Store;

/// The parts of a drive that can be operated.
#[derive(Debug)]
pub(super) struct Operator<'a> {
    pub(super) store: &'a Arc<Store>,
    pub(super) engine: &'a Engine,
    pub(super) recorder: &'a Recorder,
    pub(super) options: &'a MountOptions,
    pub(super) profile: &'a DriveProfile,
    pub(super) stop: &'a Stop,
}

impl Operator<'_> {
    pub(super) fn answer(&self, request: Request) -> Answer {
        match request {
            Request::Statistics => value(&DriveStatistics {
                backing_free_bytes: self.store.host_free_bytes(),
                ..self.engine.statistics(self.store.space())
            }),
            Request::Profile => value(self.profile),
            Request::Unmount => {
                self.stop.request();
                value(&())
            }
            Request::Cut => self.cut(),
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

    /// Cuts the power: the recording ends here, and so does the drive.
    fn cut(&self) -> Answer {
        let recording = self.options.recording.as_ref();
        let Some(recording) = recording.filter(|recording| recording.base().is_dir()) else {
            return Err(
                "it was mounted without a copy of its files, so no cut can be made; mount it \
                        with --record DIR --record-base"
                    .to_owned(),
            );
        };
        if !self.recorder.is_running() {
            return Err(
                "its recording has ended at its limit; mount it with a larger \
                        --record-limit"
                    .to_owned(),
            );
        }
        self.engine.cut();
        let recorded = self.recorder.finish();
        self.stop.request();
        recorded.map_err(|error| error.to_string())?;
        value(&Cut {
            recording: absolute(&recording.directory)?,
            base: absolute(&recording.base())?,
            profile: self.profile.clone(),
        })
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

fn absolute(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|error| error.to_string())
}

fn value(answer: &impl Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|error| error.to_string())
}
