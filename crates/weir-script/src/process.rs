//! A script in a process of its own, as a study sees it: a fault in the script costs a run and not the study, and
//! its memory and processor time are counted apart.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use weir_load::{Frame, LoadError, LoadOutcome, LoadPlan, PartEnd, PartReady, PartStart};
use weir_model::{Endpoint, IntervalRecord, LoadSpec, RunSpec};
use weir_process::{Signal, ns_at, spawn_tied};

use crate::job::{Begin, Job, Order, ProcessMessage};

/// The exit code of a process that ended itself because its threads do not end.
pub(crate) const ABANDONED: u8 = 2;
/// Begin of the line that names a thread's position.
const STILL: &str = "a thread of the script is still";
/// The words by which the program becomes such a process.
pub const PROCESS_WORDS: [&str; 2] = ["load", "script-process"];
/// Time after its end for which a run's words may still be on their way, in a pipe.
const WORDS_LATE_MAX: Duration = Duration::from_secs(2);
/// Pause between two looks at whether the run is to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Time that a script may need beyond its run: connections, its last events, `thread_done`, `done`.
const GRACE: Duration = Duration::from_mins(2);
/// Time beyond its limit for which a share may be on its way to being ready: less than its caller waits.
const READY_LATE_MAX: Duration = Duration::from_secs(3);
/// The end of what a script has said that is kept.
const KEPT_BYTES: usize = 16 << 10;

/// The process of a script.
#[derive(Debug)]
pub struct ScriptProcess {
    child: Child,
    orders: UnixStream,
    told: BufReader<UnixStream>,
    /// A line that has come in part.
    line: Vec<u8>,
    said: Arc<Mutex<Vec<u8>>>,
    listeners: Vec<JoinHandle<()>>,
}

/// A script's interval as it ends, with the transactions that are under way.
pub type OnInterval<'a> = &'a mut dyn FnMut(&IntervalRecord, u64);

impl ScriptProcess {
    /// Starts the process; `weir` is the program. It dies with the calling thread.
    ///
    /// # Errors
    ///
    /// A program that cannot be started.
    pub fn start(weir: &Path) -> Result<Self, LoadError> {
        Self::spawn(weir).map_err(|error| LoadError::Host {
            what: "start the process of a script",
            why: error.to_string().to_lowercase(),
        })
    }

    fn spawn(weir: &Path) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(weir);
        command
            .args(PROCESS_WORDS)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawn_tied(&mut command, Signal::KILL)?;
        let said = Arc::default();
        let listeners = [
            child.stdout.take().map(|pipe| listen(pipe, &said)),
            child.stderr.take().map(|pipe| listen(pipe, &said)),
        ];
        ours.set_read_timeout(Some(LOOK))?;
        Ok(Self {
            child,
            orders: ours.try_clone()?,
            told: BufReader::new(ours),
            line: Vec::new(),
            said,
            listeners: listeners.into_iter().flatten().collect(),
        })
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets the script make its tables, with so many threads; `is_own`: on a server of Weir's own.
    ///
    /// # Errors
    ///
    /// A script that fails, with its words; `stop`.
    pub fn prepare(
        &mut self,
        spec: &RunSpec,
        endpoint: &Endpoint,
        (threads, seed): (u32, u64),
        is_own: bool,
        stop: &AtomicBool,
    ) -> Result<(), LoadError> {
        let spec = RunSpec {
            load: LoadSpec {
                connections: threads,
                ..LoadSpec::default()
            },
            ..spec.clone()
        };
        let script = spec.workload.to_string();
        let plan = LoadPlan::of_spec(&spec, 0, endpoint.clone());
        let mut plan = plan.map_err(|why| LoadError::Script {
            script: script.clone(),
            why,
        })?;
        plan.seed = seed;
        self.order(
            &Order::Work(Box::new(Job::new("prepare", &plan, is_own))),
            &script,
        )?;
        loop {
            if stop.load(Ordering::Relaxed) {
                // It has no end of its own; what it has made is thrown away.
                let _ = self.child.kill();
                return Err(LoadError::Interrupted("loading the tables"));
            }
            match self.next(&script)? {
                Some(ProcessMessage::Ended(0)) => return Ok(()),
                Some(ProcessMessage::Ended(_)) => return Err(self.failed(&script)),
                Some(ProcessMessage::Refused(why)) => {
                    return Err(LoadError::Script { script, why });
                }
                _ => {}
            }
        }
    }

    /// Runs the script's events as `plan` says. `stop` ends the run early; `on_began` is called when the measurement begins.
    ///
    /// # Errors
    ///
    /// A script that fails, with its words, or does not end; a process that dies.
    pub fn run(
        &mut self,
        plan: &LoadPlan,
        is_own: bool,
        stop: &AtomicBool,
        on_began: &dyn Fn(Instant),
        on_interval: OnInterval<'_>,
    ) -> Result<LoadOutcome, LoadError> {
        let mut completed = None;
        self.follow(plan, is_own, None, stop, &mut |told| {
            match told {
                ProcessMessage::Began { in_s } => {
                    on_began(Instant::now() + Duration::from_secs_f64(in_s.max(0.0)));
                }
                ProcessMessage::Interval {
                    record,
                    concurrency,
                } => on_interval(&record, concurrency),
                ProcessMessage::Completed {
                    outcome,
                    histogram,
                    measured_from_s,
                } => {
                    let age = Duration::from_secs_f64(measured_from_s.max(0.0));
                    let mut outcome = *outcome;
                    outcome.histogram = histogram;
                    outcome.measured_from = Instant::now().checked_sub(age);
                    completed = Some(outcome);
                }
                _ => {}
            }
            None
        })?;
        completed.ok_or_else(|| self.failed(&plan.workload.to_string()))
    }

    /// Does the share of `plan` on a server of the user's, as [`weir_load::run_part`] does.
    ///
    /// # Errors
    ///
    /// As [`Self::run`].
    pub fn run_share(
        &mut self,
        plan: &LoadPlan,
        stop: &AtomicBool,
        start: &mut dyn FnMut(PartReady) -> Option<PartStart>,
        on_frame: &mut dyn FnMut(&Frame),
    ) -> Result<PartEnd, LoadError> {
        let mut ended = None;
        let ready_within = Some(plan.init_timeout + READY_LATE_MAX);
        self.follow(plan, false, ready_within, stop, &mut |told| {
            match told {
                ProcessMessage::Ready {
                    reporters,
                    warnings,
                } => {
                    let ready = PartReady {
                        reporters,
                        warnings,
                    };
                    // Without a start, the run was given up.
                    return Some(start(ready).map_or(Order::Stop, |start| {
                        Order::Begin(Begin {
                            at_ns: ns_at(start.at),
                            reporters_before: start.reporters_before,
                        })
                    }));
                }
                ProcessMessage::Frame(frame) => on_frame(&frame),
                ProcessMessage::ShareEnded {
                    idle_connections,
                    began_late_ns,
                } => {
                    ended = Some(PartEnd {
                        idle_connections,
                        began_late: Duration::from_nanos(began_late_ns),
                    });
                }
                _ => {}
            }
            None
        })?;
        ended.ok_or_else(|| self.failed(&plan.workload.to_string()))
    }

    /// Orders a run and hands over what the process tells until its good end; `on_told` may have an order for it. A script
    /// that is not ready in time is ended.
    fn follow(
        &mut self,
        plan: &LoadPlan,
        is_own: bool,
        ready_within: Option<Duration>,
        stop: &AtomicBool,
        on_told: &mut dyn FnMut(ProcessMessage) -> Option<Order>,
    ) -> Result<(), LoadError> {
        let script = plan.workload.to_string();
        self.order(
            &Order::Work(Box::new(Job::new("run", plan, is_own))),
            &script,
        )?;
        let (began, mut is_stopping) = (Instant::now(), false);
        let mut until = length_max(plan).map(|length| began + length);
        let ready_until = ready_within.map(|within| began + within);
        let mut is_ready = false;
        loop {
            let is_late = ready_until.is_some_and(|until| Instant::now() > until);
            if is_late && !is_ready {
                let _ = self.child.kill();
                let why = format!(
                    "it is not ready after {} s; look at its `init` and `thread_init`",
                    plan.init_timeout.as_secs()
                );
                return Err(LoadError::Script { script, why });
            }
            if stop.load(Ordering::Relaxed) && !is_ready {
                // Nothing of it has begun.
                let _ = self.child.kill();
                return Err(LoadError::Interrupted("the script's start"));
            }
            if stop.load(Ordering::Relaxed) && !is_stopping {
                is_stopping = true;
                let soon = Instant::now() + GRACE;
                until = Some(until.map_or(soon, |until| until.min(soon)));
                self.order(&Order::Stop, &script)?;
            }
            if until.is_some_and(|until| Instant::now() > until) {
                let _ = self.child.kill();
                let why = "its threads did not end after the run; it waits or loops".to_owned();
                return Err(LoadError::Script { script, why });
            }
            match self.next(&script)? {
                None => {}
                Some(ProcessMessage::Refused(why)) => {
                    return Err(LoadError::Script { script, why });
                }
                Some(ProcessMessage::Ended(0)) => return Ok(()),
                Some(ProcessMessage::Ended(_)) => return Err(self.failed(&script)),
                Some(told) => {
                    is_ready = true;
                    if let Some(order) = on_told(told) {
                        self.order(&order, &script)?;
                    }
                }
            }
        }
    }

    fn order(&mut self, order: &Order, script: &str) -> Result<(), LoadError> {
        let written = serde_json::to_vec(order).map_err(io::Error::from);
        let sent = written.and_then(|mut line| {
            line.push(b'\n');
            self.orders.write_all(&line)
        });
        sent.map_err(|_| self.died(script))
    }

    /// Returns the next message of the process; nothing within a moment.
    fn next(&mut self, script: &str) -> Result<Option<ProcessMessage>, LoadError> {
        match self.told.read_until(b'\n', &mut self.line) {
            Ok(_) if self.line.last() == Some(&b'\n') => {
                let line = std::mem::take(&mut self.line);
                let told = serde_json::from_slice(&line);
                told.map(Some).map_err(|error| LoadError::Script {
                    script: script.to_owned(),
                    why: format!("its process told what is not understood ({error})"),
                })
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(None)
            }
            _ => Err(self.died(script)),
        }
    }

    /// The process has ended by itself.
    fn died(&mut self, script: &str) -> LoadError {
        let status = self.child.wait();
        for listener in self.listeners.drain(..) {
            let _ = listener.join();
        }
        let code = status.as_ref().ok().and_then(ExitStatus::code);
        let how = status.map_or_else(|error| error.to_string(), how);
        let why = match self.last_words() {
            // It has ended itself, and said why.
            Some(words) if code == Some(ABANDONED.into()) => words,
            Some(words) => format!("its process {how}; it said last: {words}"),
            None => format!("its process {how}"),
        };
        LoadError::Script {
            script: script.to_owned(),
            why,
        }
    }

    /// The script says why itself.
    fn failed(&self, script: &str) -> LoadError {
        // Pipes are read by others, who may be behind.
        let late = Instant::now() + WORDS_LATE_MAX;
        std::thread::sleep(2 * LOOK);
        while !self.has_told_fatal() && Instant::now() < late {
            std::thread::sleep(LOOK);
        }
        let words = self.last_words();
        LoadError::Script {
            script: script.to_owned(),
            why: words.unwrap_or_else(|| "it failed without a word".to_owned()),
        }
    }

    fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).into_owned()
    }

    fn has_told_fatal(&self) -> bool {
        self.said().lines().any(|line| fatal(line).is_some())
    }

    fn last_words(&self) -> Option<String> {
        last_words(&self.said())
    }
}

/// Returns the longest time of a run with all that belongs to it; `None`: until it is stopped, or has done its events.
fn length_max(plan: &LoadPlan) -> Option<Duration> {
    let measure = plan.load.measure.0;
    let around = plan.load.warmup.least().0 + plan.init_timeout + GRACE;
    (!measure.is_zero()).then(|| measure + around)
}

/// Returns the message of a line that reports the end.
fn fatal(line: &str) -> Option<&str> {
    line.trim().strip_prefix("FATAL: ")
}

/// The first error of these lines, and where a thread still is; else the last line. Output and errors come by two
/// pipes, so their order says nothing.
fn last_words(said: &str) -> Option<String> {
    let (places, errors): (Vec<_>, Vec<_>) = said
        .lines()
        .filter_map(fatal)
        .partition(|line| line.starts_with(STILL));
    let told: Vec<_> = errors
        .first()
        .into_iter()
        .chain(places.first())
        .copied()
        .collect();
    if told.is_empty() {
        let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        return lines.next_back().map(str::to_owned);
    }
    Some(told.join("; "))
}

impl Drop for ScriptProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn how(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(11), _) => "crashed (signal 11: memory that is not its own)".to_owned(),
        (Some(signal), _) => format!("was ended by signal {signal}"),
        (None, Some(code)) => format!("left with exit code {code}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Keeps the end of what comes.
fn listen(mut pipe: impl Read + Send + 'static, said: &Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    let said = Arc::clone(said);
    std::thread::spawn(move || {
        let mut buffer = vec![0; KEPT_BYTES];
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.extend_from_slice(&buffer[..length]);
            let excess = said.len().saturating_sub(KEPT_BYTES);
            said.drain(..excess);
        }
    })
}

#[cfg(test)]
mod tests {
    use weir_model::{Address, Secret, Tls, WorkloadName};

    use super::*;

    #[test]
    fn an_error_stands_before_the_place_in_whatever_order_they_come() {
        let error = "FATAL: 1 threads are still in an event 23 s after the end of the run";
        let place = "FATAL: a thread of the script is still at loop.lua:4";
        let words = "1 threads are still in an event 23 s after the end of the run; a thread of the script is still at loop.lua:4";
        for said in [
            format!("{error}\n{place}\n"),
            format!("x\n{place}\n{error}\ny\n"),
        ] {
            assert_eq!(last_words(&said).unwrap(), words);
        }
        assert_eq!(last_words("one\ntwo\n \n").unwrap(), "two");
        assert_eq!(last_words(" \n"), None);
    }

    #[test]
    fn a_run_without_an_end_has_no_limit() {
        let endpoint = Endpoint {
            address: Address::Socket("/nowhere".into()),
            user: String::new(),
            password: Secret::new(String::new()),
            database: String::new(),
            tls: Tls::default(),
        };
        let mut plan = LoadPlan::new(endpoint, WorkloadName::OltpReadOnly);
        plan.load.measure = Duration::from_secs(10).into();
        plan.init_timeout = Duration::from_secs(5);
        let least = Duration::from_secs(15);
        assert!(length_max(&plan).unwrap() >= least);
        plan.load.measure = Duration::ZERO.into();
        assert_eq!(length_max(&plan), None);
    }
}
