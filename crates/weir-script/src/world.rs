//! Data that all interpreters of a script share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::lua::{Errors, Identity, Refusal};
use weir_load::{
    FoundStatements, Frame, Interval, LoadError, LoadOutcome, LoadPlan, PartEnd, PartReady,
    PartStart, Share, Totals,
};
use weir_model::{Address, DistributionName, DistributionOptions, Endpoint};
use weir_mysql::{Compression, Connector, Gate};

use crate::find::Script;
use crate::given_options::GivenOptions;
use crate::log::{Log, Output};
use crate::profile::Profile;

/// The command that tells which lines of the script waited.
pub(crate) const PROFILE: &str = "profile";

/// Time for which a server may be away outside of a run, for users.
pub const AWAY_MAX: Duration = Duration::from_mins(2);

/// A script and what is asked of it.
#[derive(Debug, Clone)]
pub struct ScriptPlan {
    /// The script.
    pub script: Script,
    /// Command of the script; without one, only its body runs.
    pub command: Option<String>,
    /// The command `profile` runs the events and tells which lines waited, unless the script has one of this name.
    pub offers_profile: bool,
    /// The words as typed, the program's name first.
    pub argv: Vec<String>,
    /// Options as typed or read from a file, in their order: name, and value if there is one.
    pub given: Vec<(String, Option<String>)>,
    /// The load: threads, limits, servers, errors that are ignored.
    pub load: LoadPlan,
    /// The version that scripts see.
    pub version: String,
    /// Keys of the default distribution, and of all others.
    pub keys: (DistributionName, DistributionOptions),
    /// Driver of the connections.
    pub driving: DriverKind,
    /// As `LuaJIT`'s `-j`, in every interpreter before the script.
    pub luajit_command: Option<String>,
    /// Seconds between reports; 0 for none.
    pub report_interval_s: u32,
    /// Percentile of latency in reports.
    pub percentile: u32,
    /// True if latencies are kept by statement.
    pub tells_statements: bool,
    /// All modules and files that the script may load, by name; `None`: those that are found.
    pub modules: Option<Arc<BTreeMap<String, String>>>,
    /// Least weight of what is printed, as sysbench counts.
    pub verbosity: u32,
    /// Time for which threads may go on that are still in an event 3 s after the end of a run. Then the program is
    /// abandoned. `None`: for ever.
    pub patience: Option<Duration>,
    /// Time for which a lost connection is tried again outside of a run, which has an end.
    pub away_max: Duration,
    /// Ends the program now: threads do not end by themselves, and that is an error.
    pub abandon: fn() -> !,
    /// Gate for all statements.
    pub gate: Gate,
    /// Destination of the script's output and the report.
    pub output: Output,
    /// Destination of messages that sysbench does not have.
    pub remarks: Output,
}

/// Driver of a script's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DriverKind {
    /// All in few threads, where the script can wait for others' turns.
    #[default]
    Auto,
    /// A thread of the system for each.
    Threads,
    /// All in few threads, and a remark has the reason if that cannot be.
    Reactor,
}

/// The words of a report; `uses_sql`: whether the script asked for a database.
pub trait Report {
    /// The load begins; its measurement does at this moment.
    fn began(&self, _measured_from: Instant) {}
    /// An interval has ended, whatever is printed of it.
    fn measured(&self, _interval: &Interval) {}
    /// The run is complete, before anything is printed of it.
    fn completed(&self, _outcome: &LoadOutcome) {}
    /// A share of a run has its connections, and waits for the others: when it begins; `None`: not at all.
    fn ready(&self, _ready: PartReady) -> Option<PartStart> {
        None
    }
    /// Receives the counts of a reporter of a share.
    fn frame(&self, _frame: &Frame) {}
    /// A share is complete.
    fn share_ended(&self, _end: PartEnd) {}
    /// Before the threads begin.
    fn header(&self) -> String;
    /// Returns the text for their begin.
    fn started(&self) -> String;
    /// Of an interval.
    fn interval(&self, interval: &Interval, uses_sql: bool) -> String;
    /// Of the time since the last checkpoint.
    fn checkpoint(&self, totals: &Totals, uses_sql: bool) -> String;
    /// Of the whole run.
    fn whole(&self, outcome: &LoadOutcome, uses_sql: bool) -> String;
}

/// Data that all interpreters share.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) plan: ScriptPlan,
    /// Options as given that the program does not know.
    pub(crate) unknown: Vec<(String, Option<String>)>,
    /// Options as given, with those of files, once the script's are known.
    expanded: OnceLock<Vec<(String, Option<String>)>>,
    pub(crate) log: Log,
    servers: Vec<Connector>,
    next_server: AtomicU32,
    next_unique: AtomicU32,
    /// Processes that share the run.
    share_count: u32,
    uses_sql: AtomicBool,
    /// States are made to be coroutines of an engine.
    is_driven: AtomicBool,
    /// Profile of waits, for the command `profile`.
    pub(crate) profile: Option<Profile>,
    /// The run has ended, and all that was in it.
    is_over: AtomicBool,
    /// The time of the run is over, or it is to stop: lost connections are made again no more.
    is_ending: AtomicBool,
    /// A server that stays away has been told.
    is_away_told: AtomicBool,
    /// Statements that have turned up.
    pub(crate) found: Arc<FoundStatements>,
}

impl World {
    pub(crate) fn new(
        plan: ScriptPlan,
        unknown: &[(String, Option<String>)],
    ) -> Result<Self, LoadError> {
        let share = plan.load.share();
        let is_profiled = plan.offers_profile && plan.command.as_deref() == Some(PROFILE);
        let addresses = std::iter::once(&plan.load.endpoint.address);
        let servers = addresses
            .chain(&plan.load.more_addresses)
            .map(|address| {
                let endpoint = Endpoint {
                    address: address.clone(),
                    ..plan.load.endpoint.clone()
                };
                let compression = Compression::from_protocol(plan.load.load.compression);
                let connector = Connector::new(endpoint, compression, plan.gate.clone())?;
                Ok(connector.with_several_results())
            })
            .collect::<Result<_, LoadError>>()?;
        Ok(Self {
            log: Log::new(plan.output.clone(), plan.remarks.clone(), plan.verbosity),
            servers,
            next_server: AtomicU32::new(0),
            // Where numbers begin is the seed's.
            next_unique: AtomicU32::new((plan.load.seed as u32).wrapping_add(share.part)),
            share_count: share.parts,
            uses_sql: AtomicBool::new(false),
            is_driven: AtomicBool::new(false),
            profile: is_profiled.then(Profile::new),
            is_over: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            is_away_told: AtomicBool::new(false),
            found: Arc::default(),
            unknown: unknown.to_vec(),
            expanded: OnceLock::new(),
            plan,
        })
    }

    /// The server of the next connection, in turn.
    pub(crate) fn next_server(&self) -> &Connector {
        let number = self.next_server.fetch_add(1, Ordering::Relaxed) as usize;
        &self.servers[number % self.servers.len()]
    }

    /// A number that no other thread gets, until all of 32 bits are used up.
    pub(crate) fn unique(&self) -> u32 {
        // Processes that share a run have every so-many-th number each.
        let mut number = self
            .next_unique
            .fetch_add(self.share_count, Ordering::Relaxed);
        // Each step can be undone, so that no two numbers become one (Wellons 2018, "Prospecting for
        // hash functions").
        number ^= number >> 16;
        number = number.wrapping_mul(0x7FEB_352D);
        number ^= number >> 15;
        number = number.wrapping_mul(0x846C_A68B);
        number ^ number >> 16
    }

    pub(crate) fn note_sql(&self) {
        self.uses_sql.store(true, Ordering::Relaxed);
    }

    pub(crate) fn uses_sql(&self) -> bool {
        self.uses_sql.load(Ordering::Relaxed)
    }

    /// From here on, states are made for an engine, or for threads of their own.
    pub(crate) fn set_driven(&self, is_driven: bool) {
        self.is_driven.store(is_driven, Ordering::Relaxed);
    }

    /// The run has ended, and all that was in it.
    pub(crate) fn set_over(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The time of the run is over, or it is to stop: lost connections are made again no more.
    pub(crate) fn set_ending(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Says once that a server stays away: all threads notice.
    pub(crate) fn tell_away(&self, refusal: &Refusal, away: Duration) {
        if self.is_away_told.swap(true, Ordering::Relaxed) {
            return;
        }
        let (place, code, message) = (&refusal.place, refusal.code, &refusal.message);
        self.log.fatal(&format!(
            "no connection to MySQL server {place} for {} s (error {code}: {message}); start the server, and run again",
            away.as_secs()
        ));
    }

    /// Returns true if states are made for an engine.
    pub(crate) fn is_driven(&self) -> bool {
        self.is_driven.load(Ordering::Relaxed)
    }

    /// Threads of the whole run.
    pub(crate) fn threads(&self) -> u32 {
        self.plan.load.load.connections
    }

    /// Returns true if other processes do the rest of the run.
    pub(crate) fn is_share(&self) -> bool {
        self.plan.load.share.is_some()
    }

    /// Returns the share of this process.
    pub(crate) fn share(&self) -> Share {
        self.plan.load.share()
    }

    /// Returns the identity that the interpreter of this thread shows its script.
    pub(crate) fn identity(&self, thread: u32) -> Identity {
        let plan = &self.plan;
        Identity {
            thread,
            version: plan.version.clone(),
            argv: plan.argv.clone(),
            command: plan.command.clone(),
            script_path: plan.script.path.clone(),
            sends_text: !plan.load.prepared_statements,
            errors: match &plan.load.tolerated {
                weir_load::ToleratedErrors::All => Errors::All,
                weir_load::ToleratedErrors::Codes(codes) => Errors::Codes(codes.clone()),
            },
            luajit_command: plan.luajit_command.clone(),
            is_coroutine: self.is_driven(),
            is_profiled: self.profile.is_some(),
            modules: plan.modules.clone(),
        }
    }

    /// The options as given, by name.
    pub(crate) fn given(&self) -> GivenOptions<'_> {
        GivenOptions::new(self.expanded.get().unwrap_or(&self.plan.given))
    }

    /// From here on, these are the options as given.
    pub(crate) fn set_given(&self, given: Vec<(String, Option<String>)>) {
        self.expanded.get_or_init(|| given);
    }

    /// Returns the address of a server in sysbench's words.
    pub(crate) fn place(address: &Address) -> String {
        match address {
            Address::Socket(path) => format!("on socket '{}'", path.display()),
            Address::Tcp(host, port) => format!("on host '{host}', port {port}"),
        }
    }
}
