//! The server of a run, which an event may end and start again while others look at it.

mod failover;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use weir_model::{Endpoint, ServerRestart};
use weir_server::{PrivateServer, ServerBinary, ServerError, Session, StartOptions};

use crate::RunError;

/// Time limit for a server to shut down: it may have a full pool to write to a slow drive.
const SHUTDOWN: Duration = Duration::from_mins(5);

/// Bytes that are kept of the error log of a server that was ended.
const LOG_TAIL_BYTES: usize = 32 << 10;

/// Pause between two looks at whether the study is to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Way in which a server is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// At once, by `SIGKILL`.
    Kill,
    /// By a shutdown.
    Shutdown,
}

/// A handle of the server; all of them are of the same one.
#[derive(Clone)]
pub(crate) struct ServerHandle(Arc<HandleState>);

type Job = Box<dyn FnOnce() + Send>;

struct HandleState {
    /// `None` while it is down.
    server: Mutex<Option<PrivateServer>>,
    endpoint: Endpoint,
    pid: Arc<AtomicU32>,
    /// Words of servers before this one.
    earlier_log: Mutex<String>,
    /// The thread that starts servers: they die with the thread that started them, and an event's thread ends with the
    /// load. After the server in the order of drops.
    starter: Mutex<Option<Sender<Job>>>,
    binary: ServerBinary,
    options: StartOptions,
}

impl ServerHandle {
    /// Of `server`, which was started with these options.
    pub(super) fn new(server: PrivateServer, options: StartOptions) -> Self {
        Self(Arc::new(HandleState {
            endpoint: server.endpoint(),
            pid: Arc::new(AtomicU32::new(server.pid())),
            binary: server.binary().clone(),
            server: Mutex::new(Some(server)),
            earlier_log: Mutex::default(),
            starter: Mutex::default(),
            options,
        }))
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        self.0.endpoint.clone()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.pid.load(Ordering::Relaxed)
    }

    /// Returns its process id as it changes.
    pub(super) fn pids(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.0.pid)
    }

    pub(crate) fn session(&self) -> Result<Session, ServerError> {
        Session::open(&self.0.endpoint, &weir_mysql::Gate::own())
    }

    /// Returns the reason that its flushes hold up its writes, if they do.
    pub(super) fn flush_obstacle(&self) -> Option<String> {
        let server = lock(&self.0.server);
        Some(server.as_ref()?.flush_obstacle()?.to_string())
    }

    /// The ends of the error logs of all its processes.
    pub(super) fn log(&self) -> String {
        let now = lock(&self.0.server).as_ref().map(PrivateServer::log_tail);
        lock(&self.0.earlier_log).clone() + &now.unwrap_or_default()
    }

    pub(super) fn has_exited(&self) -> Option<String> {
        match lock(&self.0.server).as_mut() {
            Some(server) => server.has_exited(),
            None => Some("an event ended it, and it did not start again".to_owned()),
        }
    }

    /// Ends the server, leaves it down for so long, and starts it again. `stop` ends the waiting.
    ///
    /// # Errors
    ///
    /// A server that does not shut down or does not start.
    pub(crate) fn restart(
        &self,
        ending: Ending,
        down: Duration,
        stop: &AtomicBool,
    ) -> Result<ServerRestart, RunError> {
        let Some(server) = lock(&self.0.server).take() else {
            return Err(unable("another event has ended it already"));
        };
        let began = Instant::now();
        let log = server.error_log().to_owned();
        match ending {
            Ending::Kill => server.kill(),
            Ending::Shutdown => server.stop(SHUTDOWN)?,
        }
        let stop_s = began.elapsed().as_secs_f64();
        self.keep_log(&log);
        let until = Instant::now() + down;
        while Instant::now() < until && !stop.load(Ordering::Relaxed) {
            thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
        let began = Instant::now();
        let server = self.start(stop)?;
        self.0.pid.store(server.pid(), Ordering::Relaxed);
        *lock(&self.0.server) = Some(server);
        Ok(ServerRestart {
            stop_s,
            start_s: Some(began.elapsed().as_secs_f64()),
        })
    }

    /// Keeps the end of a log to which nothing is added any more: the new start makes a new one.
    fn keep_log(&self, log: &Path) {
        let text = fs::read(log).unwrap_or_default();
        let tail = &text[text.len().saturating_sub(LOG_TAIL_BYTES)..];
        let tail = String::from_utf8_lossy(tail);
        let tail = tail.replace(self.0.endpoint.password.reveal(), "***");
        lock(&self.0.earlier_log).push_str(&tail);
    }

    /// Starts it in the thread that lives as long as this handle.
    fn start(&self, stop: &AtomicBool) -> Result<PrivateServer, RunError> {
        let (binary, options) = (self.0.binary.clone(), self.0.options.clone());
        let (tell, started) = channel();
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&is_cancelled);
        self.in_starter(Box::new(move || {
            let server = PrivateServer::start_watched(&binary, &options, &mut |_| {
                if watched.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            // The event waits for it.
            let _ = tell.send(server);
        }))?;
        loop {
            match started.recv_timeout(LOOK) {
                Ok(server) => return Ok(server?),
                Err(RecvTimeoutError::Timeout) => {
                    is_cancelled.store(stop.load(Ordering::Relaxed), Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(unable("the thread that starts it has ended"));
                }
            }
        }
    }

    fn in_starter(&self, job: Job) -> Result<(), RunError> {
        let mut starter = lock(&self.0.starter);
        if starter.is_none() {
            *starter = Some(spawn_starter()?);
        }
        let sent = starter.as_ref().map(|jobs| jobs.send(job));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(unable("the thread that starts it has ended")),
        }
    }
}

fn spawn_starter() -> Result<Sender<Job>, RunError> {
    let (jobs, wanted) = channel::<Job>();
    let thread = thread::Builder::new().name("weir-server".to_owned());
    let spawned = thread.spawn(move || wanted.into_iter().for_each(|job| job()));
    match spawned {
        Ok(_) => Ok(jobs),
        Err(error) => Err(unable(&format!("no thread could be started ({error})"))),
    }
}

fn unable(why: &str) -> RunError {
    RunError::Restart {
        why: why.to_owned(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
