//! The world of one interpreter whose thread waits by blocking.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::lua::{Counter, Failure, Host, Level, RandomKind, Refusal, Reply, Request};
use weir_load::{Counts, StatementKind, ThreadMeter};
use weir_model::DistributionName;
use weir_mysql::ServerError;
use weir_workload::{Keys, Rng, seeded};

use crate::connect::{Link, gone};
use crate::profile::Profile;
use crate::statement_kinds::StatementKinds;
use crate::world::{ScriptPlan, World};

/// Pause between two tries to connect again, as in sysbench.
const PAUSE: Duration = Duration::from_millis(1);
/// Streams of random numbers of scripts: apart from those of native workloads and their tables.
const STREAM: u64 = 1 << 62;
/// Distributions over ranges of numbers that are kept.
const KEYS_MAX: usize = 64;

/// Data that an interpreter and its runner share.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a state of its own")]
pub(crate) struct Share {
    /// A thread's part in a run, once it has begun.
    pub(crate) meter: Option<ThreadMeter>,
    /// The connection that an engine drives.
    pub(crate) driven: Option<u32>,
    /// The engine has made the driven connection again.
    pub(crate) is_renewed: bool,
    /// Counts beside the requests that the engine sends.
    pub(crate) counted: Counts,
    /// Statements that the driven connection is to forget with its next request.
    pub(crate) forgotten: Vec<u32>,
    /// The reply that is being counted is one that the engine counts.
    pub(crate) is_counted: bool,
    /// The events are under way in an engine.
    pub(crate) is_running: bool,
    /// Requests that were waited for in place although others had to wait with them.
    pub(crate) waited_in_place: u64,
    /// One was within this turn.
    pub(crate) has_waited: bool,
    /// The last error of a server that was not counted.
    pub(crate) last_error: Option<ServerError>,
    /// Errors of connections that the engine does not drive.
    pub(crate) failed: Vec<ServerError>,
    /// Connections by their numbers.
    pub(crate) links: BTreeMap<u32, Link>,
}

impl Share {
    /// Drops what was counted and not told.
    pub(crate) fn forget_counts(&mut self) {
        self.counted = Counts::default();
        self.failed.clear();
    }

    /// Keeps a server's error, which the interpreter counts.
    pub(crate) fn note_error(&mut self, answer: &Result<Reply, Failure>) {
        if let Err(Failure::Refused(refusal)) = answer {
            self.last_error = Some(ServerError {
                code: refusal.code,
                state: refusal.state.clone(),
                message: refusal.message.clone(),
            });
        }
    }
}

/// The same, in both hands.
pub(crate) type Part = Rc<RefCell<Share>>;

/// The world of one interpreter.
#[derive(Debug)]
pub(crate) struct ThreadHost {
    world: Arc<World>,
    part: Part,
    next_link: u32,
    rng: Rng,
    keys: HashMap<(RandomKind, u64), Keys>,
    kinds: StatementKinds,
}

impl ThreadHost {
    pub(crate) fn new(world: Arc<World>, thread: u32, part: Part) -> Self {
        let kinds = StatementKinds::new(&world);
        Self {
            rng: seeded(world.plan.load.seed, STREAM + u64::from(thread)),
            world,
            part,
            next_link: 1,
            keys: HashMap::new(),
            kinds,
        }
    }

    fn part<T>(&self, otherwise: T, act: impl FnOnce(&mut ThreadMeter) -> T) -> T {
        self.part.borrow_mut().meter.as_mut().map_or(otherwise, act)
    }

    /// Answers a request to the driven connection beside the engine's; `None`: the link knows.
    fn request_of_driven(
        &self,
        connection: u32,
        request: Request<'_>,
    ) -> Option<Result<Reply, Failure>> {
        match request {
            Request::NextResult => None,
            Request::Close(statement) => {
                let mut share = self.part.borrow_mut();
                share.forgotten.push(statement);
                Some(Ok(Reply::Done {
                    affected_rows: 0,
                    has_more: false,
                }))
            }
            // In a finaliser, in `require`, in the comparison of a sort: others cannot have their turn.
            _ if self.has_twin(connection) => None,
            _ => {
                self.world.log.fatal(&format!(
                    "connection {connection} was asked where the script cannot wait for the others' turn; run it \
                     with --lua-threads=os"
                ));
                Some(Err(Failure::Stopped))
            }
        }
    }

    /// A request is waited for in place: within the events of an engine, others wait with it.
    fn note_wait(&self) {
        let mut share = self.part.borrow_mut();
        if share.is_running {
            share.waited_in_place += 1;
            share.has_waited = true;
        }
    }

    /// Returns true if the engine sends this connection's requests itself.
    fn is_driven(&self, connection: u32) -> bool {
        self.part.borrow().driven == Some(connection)
    }

    /// Tries once to open a connection under its number.
    fn opened_again(&self, connection: u32) -> Result<(), Refusal> {
        let mut share = self.part.borrow_mut();
        if let Some(link) = share.links.get_mut(&connection) {
            return link.reopen();
        }
        let link = Link::open(self.world.next_server(), self.world.is_driven())?;
        share.links.insert(connection, link);
        Ok(())
    }

    /// Returns true if a server that has been away since then is waited for no more: not beyond the end of the run.
    fn gives_up(&self, since: Instant) -> bool {
        let share = self.part.borrow();
        let is_in_run = share.is_running || share.meter.is_some();
        if is_in_run {
            return self.world.is_ending();
        }
        since.elapsed() > self.world.plan.away_max
    }

    fn has_twin(&self, connection: u32) -> bool {
        let share = self.part.borrow();
        share.links.get(&connection).is_some_and(Link::has_twin)
    }

    /// Counts where an engine runs the events.
    fn count_beside(&self, counter: Counter) {
        let mut share = self.part.borrow_mut();
        if std::mem::take(&mut share.is_counted) {
            return;
        }
        if matches!(counter, Counter::Error | Counter::Reconnect)
            && let Some(error) = share.last_error.take()
            && counter == Counter::Error
        {
            share.failed.push(error);
            return;
        }
        let counts = &mut share.counted;
        match counter {
            Counter::Read => counts.reads += 1,
            Counter::Write => counts.writes += 1,
            Counter::Other => counts.others += 1,
            Counter::Event => counts.transactions += 1,
            Counter::Error => counts.errors += 1,
            Counter::Reconnect => counts.reconnects += 1,
        }
        counts.queries = counts.reads + counts.writes + counts.others;
    }
}

/// The distribution over so many numbers.
fn keys<'a>(
    known: &'a mut HashMap<(RandomKind, u64), Keys>,
    plan: &ScriptPlan,
    kind: RandomKind,
    count: u64,
) -> Option<&'a Keys> {
    // Ranges that change from call to call must not fill the memory.
    if known.len() > KEYS_MAX && !known.contains_key(&(kind, count)) {
        known.clear();
    }
    match known.entry((kind, count)) {
        Entry::Occupied(entry) => Some(entry.into_mut()),
        Entry::Vacant(entry) => {
            let (default, options) = &plan.keys;
            let name = match kind {
                RandomKind::Default => *default,
                RandomKind::Uniform => DistributionName::Uniform,
                RandomKind::Gaussian => DistributionName::Gaussian,
                RandomKind::Special => DistributionName::Special,
                RandomKind::Pareto => DistributionName::Pareto,
                RandomKind::Zipfian => DistributionName::Zipfian,
            };
            Some(entry.insert(Keys::new(options.distribution(name), count).ok()?))
        }
    }
}

impl Host for ThreadHost {
    fn connect(&mut self) -> Result<u32, Failure> {
        let is_driven = self.world.is_driven();
        let link = Link::open(self.world.next_server(), is_driven).map_err(Failure::Refused)?;
        let number = self.next_link;
        self.next_link += 1;
        let mut share = self.part.borrow_mut();
        share.has_waited = share.is_running;
        share.links.insert(number, link);
        Ok(number)
    }

    fn disconnect(&mut self, connection: u32) {
        if self.is_driven(connection) {
            // The engine closes it at the end of the run.
            self.part.borrow_mut().driven = None;
        }
        let link = self.part.borrow_mut().links.remove(&connection);
        if let Some(mut link) = link {
            link.close();
        }
    }

    fn reconnect(&mut self, connection: u32) -> Result<(), Failure> {
        if self.is_driven(connection) {
            let mut share = self.part.borrow_mut();
            if std::mem::take(&mut share.is_renewed) {
                if let Some(link) = share.links.get_mut(&connection) {
                    link.forget_twin();
                }
                return Ok(());
            }
            // One that the script makes again is no longer the engine's.
            share.driven = None;
        }
        let began = Instant::now();
        loop {
            let Err(refusal) = self.opened_again(connection) else {
                return Ok(());
            };
            if self.gives_up(began) {
                self.world.tell_away(&refusal, began.elapsed());
                return Err(Failure::Stopped);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn request(&mut self, connection: u32, request: Request<'_>) -> Result<Reply, Failure> {
        if self.is_driven(connection)
            && let Some(answer) = self.request_of_driven(connection, request)
        {
            return answer;
        }
        if !matches!(request, Request::Close(_) | Request::NextResult) {
            self.note_wait();
        }
        let mut share = self.part.borrow_mut();
        let Some(link) = share.links.get_mut(&connection) else {
            return Err(gone());
        };
        let kind = self.kinds.of_request(&request);
        let began = kind.map(|kind| (kind, Instant::now()));
        let answer = link.ask(request);
        if let (Some((kind, began)), Some(meter), Ok(_)) = (began, &share.meter, &answer) {
            meter.answered(kind, began.elapsed());
        }
        share.note_error(&answer);
        answer
    }

    fn log(&mut self, level: Level, line: &str) {
        self.world.log.line(level, line);
    }

    fn uses_sql(&mut self) {
        self.world.note_sql();
    }

    fn count(&mut self, counter: Counter) {
        if self.part.borrow().meter.is_none() {
            self.count_beside(counter);
            return;
        }
        let error = match counter {
            Counter::Error => self.part.borrow_mut().last_error.take(),
            _ => None,
        };
        self.part((), |part| match counter {
            Counter::Read => part.statement(StatementKind::Read),
            Counter::Write => part.statement(StatementKind::Write),
            Counter::Other => part.statement(StatementKind::Other),
            Counter::Event => part.event(),
            Counter::Reconnect => part.reconnected(),
            Counter::Error => part.error(&error.unwrap_or_else(|| ServerError {
                code: 0,
                state: String::new(),
                message: "counted by the script".to_owned(),
            })),
        });
    }

    fn has_more_events(&mut self) -> bool {
        self.part(false, ThreadMeter::has_more_events)
    }

    fn begin_event(&mut self) {
        self.part((), ThreadMeter::begin_event);
    }

    fn end_event(&mut self) {
        self.part((), ThreadMeter::end_event);
    }

    fn clock_s(&mut self) -> f64 {
        let profile = self.world.profile.as_ref();
        profile.map_or(0.0, Profile::clock_s)
    }

    fn waited(&mut self, place: &str, call: &str, seconds: f64) {
        if let Some(profile) = &self.world.profile {
            profile.waited(place, call, seconds);
        }
    }

    fn random(&mut self, kind: RandomKind, low: u32, high: u32) -> u32 {
        let count = u64::from(high.saturating_sub(low)) + 1;
        if kind == RandomKind::Uniform {
            return low + self.rng.below(count) as u32;
        }
        match keys(&mut self.keys, &self.world.plan, kind, count) {
            Some(keys) => low + (keys.next(&mut self.rng) - 1),
            None => low + self.rng.below(count) as u32,
        }
    }

    fn random_bits(&mut self) -> u64 {
        self.rng.bits()
    }

    fn unique(&mut self) -> u32 {
        self.world.unique()
    }
}
