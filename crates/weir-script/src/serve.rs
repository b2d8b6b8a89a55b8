//! The process of a study's script: it does jobs until their stream ends.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use weir_load::{Frame, Interval, LoadOutcome, LoadPlan, PartEnd, PartReady, PartStart, Totals};
use weir_model::{Address, DistributionOptions, LuaWorkload, WorkloadSpec};
use weir_mysql::{Gate, Permissions};
use weir_process::instant_at;

use crate::execute::execute;
use crate::find::Script;
use crate::job::{Begin, Job, Order, ProcessMessage};
use crate::log::Output;
use crate::process::ABANDONED;
use crate::world::{AWAY_MAX, DriverKind, Report, ScriptPlan};

/// The version that scripts of studies see.
const VERSION: &str = "1.0.20";
/// Time that the last events of a run may take beyond its end: a long transaction, and no loop without end.
const PATIENCE: Duration = Duration::from_secs(20);
/// Pause between two looks at whether a share that is ready is to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Reports are not wanted, errors are: the weight of alerts.
const VERBOSITY: u32 = 1;

/// Does the jobs that come over `stream`, one after the other; ends with the process that sends them.
///
/// # Errors
///
/// A stream that fails.
pub fn serve(stream: UnixStream) -> io::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let (begin_sender, begins) = channel();
    let teller = Teller {
        stream: Mutex::new(stream.try_clone()?),
        begins,
        stop: Arc::clone(&stop),
    };
    for job in jobs(stream, begin_sender, Arc::clone(&stop)) {
        let told = match work(job, &teller, &stop) {
            Ok(code) => ProcessMessage::Ended(code),
            Err(why) => ProcessMessage::Refused(why),
        };
        teller.tell::<Frame>(&told);
        stop.store(false, Ordering::Relaxed);
    }
    Ok(())
}

/// Jobs as they come; an order to begin is handed on, one to stop sets the flag.
fn jobs(stream: UnixStream, begins: Sender<Begin>, stop: Arc<AtomicBool>) -> Receiver<Job> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let is_heard = match line.ok().and_then(|line| serde_json::from_str(&line).ok()) {
                Some(Order::Work(job)) => sender.send(*job).is_ok(),
                Some(Order::Begin(begin)) => begins.send(begin).is_ok(),
                Some(Order::Stop) => {
                    stop.store(true, Ordering::Relaxed);
                    true
                }
                None => false,
            };
            if !is_heard {
                return;
            }
        }
    });
    receiver
}

fn work(job: Job, teller: &Teller, stop: &AtomicBool) -> Result<u8, String> {
    let (command, is_own) = (job.command.clone(), job.is_own);
    let load = job.plan()?;
    let WorkloadSpec::Lua(lua) = load.workload.spec() else {
        return Ok(1);
    };
    let gate = if is_own {
        Gate::own()
    } else {
        Gate::new(Permissions {
            schema: Some(load.endpoint.database.clone()),
            is_script: true,
            ..Permissions::default()
        })
    };
    let plan = plan(&lua, &command, load, gate);
    let unknown = options(&lua, &command);
    execute(plan, &unknown, teller, stop).map_err(|error| error.to_string())
}

/// The options that the study gives the script, without those of the program itself.
fn options(lua: &LuaWorkload, command: &str) -> Vec<(String, Option<String>)> {
    let options = match command {
        "run" => lua.run_options(),
        _ => lua.data_options.clone(),
    };
    options
        .into_iter()
        .filter(|(name, _)| !name.starts_with("rand_"))
        .map(|(name, value)| (name, Some(value)))
        .collect()
}

fn plan(lua: &LuaWorkload, command: &str, load: LoadPlan, gate: Gate) -> ScriptPlan {
    let modules: BTreeMap<_, _> = lua
        .modules
        .iter()
        .map(|module| (module.name.clone(), module.text.to_string()))
        .collect();
    let mut given = of_program(&load, lua);
    given.extend(options(lua, command));
    let distribution = lua.distribution;
    ScriptPlan {
        script: Script {
            path: lua.path.display().to_string(),
            text: lua.text.as_bytes().to_vec(),
        },
        command: Some(command.to_owned()),
        offers_profile: false,
        argv: argv(lua, command, &given),
        given,
        version: VERSION.to_owned(),
        keys: (
            distribution.name(),
            DistributionOptions::from_distribution(distribution),
        ),
        driving: DriverKind::Auto,
        luajit_command: None,
        report_interval_s: 0,
        percentile: 95,
        tells_statements: true,
        modules: Some(Arc::new(modules)),
        verbosity: VERBOSITY,
        patience: Some(PATIENCE),
        away_max: AWAY_MAX,
        abandon,
        load,
        gate,
        output: Output::new(say),
        remarks: Output::new(say),
    }
}

fn argv(lua: &LuaWorkload, command: &str, given: &[(String, Option<String>)]) -> Vec<String> {
    let mut argv = vec!["sysbench".to_owned(), lua.path.display().to_string()];
    let options = given.iter();
    argv.extend(options.map(|(name, value)| match value {
        Some(value) => format!("--{name}={value}"),
        None => format!("--{name}"),
    }));
    argv.push(command.to_owned());
    argv
}

/// The program's own options, as the script sees them in `sysbench.opt`.
fn of_program(load: &LoadPlan, lua: &LuaWorkload) -> Vec<(String, Option<String>)> {
    let endpoint = &load.endpoint;
    let mut given = vec![
        ("threads", load.load.connections.to_string()),
        ("time", load.load.measure.as_secs_f64().to_string()),
        ("rand-type", lua.distribution.name().as_str().to_owned()),
        ("rand-seed", load.seed.to_string()),
        ("mysql-user", endpoint.user.clone()),
        ("mysql-db", endpoint.database.clone()),
    ];
    match &endpoint.address {
        Address::Socket(path) => given.push(("mysql-socket", path.display().to_string())),
        Address::Tcp(host, port) => given.extend([
            ("mysql-host", host.clone()),
            ("mysql-port", port.to_string()),
        ]),
    }
    if let Some(rate) = load.load.pace.rate_per_s() {
        given.push(("rate", rate.to_string()));
    }
    let given = given.into_iter();
    given
        .map(|(name, value)| (name.to_owned(), Some(value)))
        .collect()
}

/// Words go where the parent process looks when this one fails.
fn say(text: &str) {
    crate::lua::flush_output();
    // Where no process reads, there is none to tell.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[allow(
    clippy::exit,
    reason = "the function that should return waits in a script for ever"
)]
fn abandon() -> ! {
    crate::lua::flush_output();
    std::process::exit(ABANDONED.into())
}

/// Tells the study, or the agent.
#[derive(Debug)]
struct Teller {
    stream: Mutex<UnixStream>,
    /// Begin of the share that is ready.
    begins: Receiver<Begin>,
    stop: Arc<AtomicBool>,
}

impl Teller {
    fn tell<F: Serialize>(&self, told: &ProcessMessage<F>) {
        if let Ok(mut line) = serde_json::to_vec(told) {
            line.push(b'\n');
            let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
            // A study that has ended ends this process, too.
            let _ = stream.write_all(&line);
        }
    }
}

impl Report for Teller {
    fn began(&self, measured_from: Instant) {
        let left = measured_from.saturating_duration_since(Instant::now());
        self.tell::<Frame>(&ProcessMessage::Began {
            in_s: left.as_secs_f64(),
        });
    }

    fn measured(&self, interval: &Interval) {
        self.tell::<Frame>(&ProcessMessage::Interval {
            record: interval.record,
            concurrency: interval.concurrency,
        });
    }

    fn completed(&self, outcome: &LoadOutcome) {
        let from = outcome.measured_from;
        self.tell::<Frame>(&ProcessMessage::Completed {
            outcome: Box::new(outcome.clone()),
            histogram: outcome.histogram.clone(),
            measured_from_s: from.map_or(0.0, |from| from.elapsed().as_secs_f64()),
        });
    }

    fn ready(&self, ready: PartReady) -> Option<PartStart> {
        self.tell::<Frame>(&ProcessMessage::Ready {
            reporters: ready.reporters,
            warnings: ready.warnings,
        });
        loop {
            match self.begins.recv_timeout(LOOK) {
                Ok(begin) => {
                    return Some(PartStart {
                        at: instant_at(begin.at_ns),
                        reporters_before: begin.reporters_before,
                    });
                }
                Err(RecvTimeoutError::Timeout) if !self.stop.load(Ordering::Relaxed) => {}
                Err(_) => return None,
            }
        }
    }

    fn frame(&self, frame: &Frame) {
        self.tell(&ProcessMessage::Frame(frame));
    }

    fn share_ended(&self, end: PartEnd) {
        self.tell::<Frame>(&ProcessMessage::ShareEnded {
            idle_connections: end.idle_connections,
            began_late_ns: end.began_late.as_nanos() as u64,
        });
    }

    fn header(&self) -> String {
        String::new()
    }

    fn started(&self) -> String {
        String::new()
    }

    fn interval(&self, _: &Interval, _: bool) -> String {
        String::new()
    }

    fn checkpoint(&self, _: &Totals, _: bool) -> String {
        String::new()
    }

    fn whole(&self, _: &LoadOutcome, _: bool) -> String {
        String::new()
    }
}
