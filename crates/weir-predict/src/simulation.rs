//! Connections, cores, log and drive, event by event, in virtual time.
//!
//! What means cannot say: percentiles, and how far the means themselves are off. The drive is the
//! same object that the emulated drive asks in real time. A transaction is slices of processor time
//! with page reads or the turns from one statement to the next between them, then a commit that shares the next write
//! of the log with all who wait. What it waits for beside that is in its turns. Pages are written behind its back, in the page cleaner's batches or, if
//! they are evicted, one by one; when too many are under way, it waits for one of them, as a server does that finds no free page.

mod cleaner;
mod events;
mod log;

use std::collections::VecDeque;

use weir_model::{DeviceModel, FileKind, Latencies, LatencySummary, Nanoseconds, Op, OpKind};

use self::cleaner::Cleaner;
use self::events::{Agenda, Event, Random, Worker};
use self::log::Log;

const PAGE: u64 = 16_384;
/// Evicted pages that are written to the doublewrite buffer at a time.
const DOUBLEWRITE_PAGES: u64 = 64;
/// Page writes under way at which transactions wait.
const WRITES_WAITING_MAX: u32 = 256;
/// Share of the transactions that only fill the queues.
const WARM_UP: f64 = 0.2;

/// Scenario of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Connections, each with one transaction at a time.
    pub connections: u32,
    /// Cores.
    pub cores: u32,
    /// Processor time of a transaction, seconds.
    pub cpu_s: f64,
    /// Of the drive's emulation for each page that is read or written, seconds; 0 for a real drive.
    pub emulation_s: f64,
    /// Time that it waits for nothing that others use, seconds.
    pub wait_s: f64,
    /// Statements: after each it leaves the core.
    pub statements: f64,
    /// Pages that it reads.
    pub reads: f64,
    /// Pages that are written for it.
    pub page_writes: f64,
    /// Share of them that the page cleaner writes.
    pub cleaned: f64,
    /// Pages that it writes at once and waits for.
    pub batch_pages: u64,
    /// Each page goes to the doublewrite buffer as well.
    pub doublewrite: bool,
    /// Bytes of redo.
    pub redo_bytes: f64,
    /// It waits until its redo is on the drive.
    pub durable_commits: bool,
    /// Pages of the data file.
    pub data_pages: u64,
    /// Compressed size / size of pages, on a drive that compresses.
    pub compressed_fraction: f64,
    /// Transactions to simulate.
    pub transactions: u64,
    /// Seed of all that is random.
    pub seed: u64,
}

/// Result of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationResult {
    /// Transactions per second.
    pub transactions_per_s: f64,
    /// Mean time of a transaction, seconds.
    pub response_s: f64,
    /// Times of the transactions.
    pub latencies: Latencies,
}

impl SimulationResult {
    /// The times of the transactions as results have them.
    pub fn latency(&self) -> LatencySummary {
        let us = |quantile| self.latencies.quantile_us(quantile).unwrap_or(0.0);
        LatencySummary {
            us_min: us(0.0),
            us_mean: self.response_s * 1e6,
            us_p50: us(0.5),
            us_p95: us(0.95),
            us_p99: us(0.99),
            us_p999: us(0.999),
            us_max: us(1.0),
        }
    }
}

/// Runs `scenario` on `drive`, which should be idle at time 0.
pub fn simulate(scenario: &Scenario, drive: &mut dyn DeviceModel) -> SimulationResult {
    let mut world = World::new(scenario, drive);
    for client in 0..scenario.connections.max(1) {
        world.begin(client, 0);
    }
    while world.completed < scenario.transactions {
        let Some((now, event)) = world.agenda.next() else {
            break;
        };
        world.happen(event, now);
    }
    world.outcome()
}

/// A connection's transaction.
#[derive(Debug, Clone, Copy, Default)]
struct Client {
    began: Nanoseconds,
    reads_left: u32,
    /// To the next statement; the turn to the commit is not counted.
    turns_left: u32,
}

struct World<'a> {
    scenario: &'a Scenario,
    drive: &'a mut dyn DeviceModel,
    agenda: Agenda,
    random: Random,
    clients: Vec<Client>,
    cores_free: u32,
    /// Workers that wait for a core.
    ready: VecDeque<Worker>,
    log: Log,
    cleaner: Cleaner,
    writes_under_way: u32,
    /// Clients that wait for a page write to end, or for the page cleaner.
    waiting_for_writes: VecDeque<u32>,
    doublewrite_pages: u64,
    completed: u64,
    measured_from: Nanoseconds,
    last: Nanoseconds,
    latency_ns_sum: u128,
    counts: Vec<u64>,
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, drive: &'a mut dyn DeviceModel) -> Self {
        Self {
            scenario,
            drive,
            agenda: Agenda::default(),
            random: Random::seeded(scenario.seed),
            clients: vec![Client::default(); scenario.connections.max(1) as usize],
            cores_free: scenario.cores.max(1),
            ready: VecDeque::new(),
            log: Log::default(),
            cleaner: Cleaner::new(scenario.batch_pages),
            writes_under_way: 0,
            waiting_for_writes: VecDeque::new(),
            doublewrite_pages: 0,
            completed: 0,
            measured_from: 0,
            last: 0,
            latency_ns_sum: 0,
            counts: vec![0; Latencies::BUCKETS],
        }
    }

    fn begin(&mut self, client: u32, now: Nanoseconds) {
        let reads_left = self.random.poisson(self.scenario.reads);
        self.clients[client as usize] = Client {
            began: now,
            reads_left,
            turns_left: self.turns(),
        };
        self.want_core(Worker::Client(client), now);
    }

    fn turns(&self) -> u32 {
        (self.scenario.statements.round() as u32).saturating_sub(1)
    }

    /// Draws the time that a turn waits.
    fn turn(&mut self) -> Nanoseconds {
        let turns = f64::from(self.turns()) + 1.0;
        self.random.exponential_ns(self.scenario.wait_s / turns)
    }

    fn want_core(&mut self, worker: Worker, now: Nanoseconds) {
        if self.cores_free == 0 {
            self.ready.push_back(worker);
            return;
        }
        self.cores_free -= 1;
        let slice_s = match worker {
            Worker::Drive => self.scenario.emulation_s,
            Worker::Client(_) => {
                let between = self.scenario.reads + f64::from(self.turns());
                self.scenario.cpu_s / (between + 1.0)
            }
        };
        let slice = self.random.exponential_ns(slice_s);
        self.agenda.add(now + slice, Event::SliceOver(worker));
    }

    fn happen(&mut self, event: Event, now: Nanoseconds) {
        self.last = now;
        match event {
            Event::SliceOver(worker) => {
                self.cores_free += 1;
                if let Some(next) = self.ready.pop_front() {
                    self.want_core(next, now);
                }
                if let Worker::Client(client) = worker {
                    self.after_slice(client, now);
                }
            }
            Event::ReadOver(client) | Event::TurnOver(client) => {
                self.want_core(Worker::Client(client), now);
            }
            Event::WaitOver(client) => self.commit(client, now),
            Event::LogTaken => {
                let done = self.log.flush(self.drive, now);
                self.agenda.add(done, Event::LogWritten);
            }
            Event::LogWritten => self.log_written(now),
            Event::CopiesWritten => self.write_batch(now),
            Event::BatchPageWritten => {
                self.cleaner.written();
                self.clean(now);
            }
            Event::PageWritten => {
                self.writes_under_way -= 1;
                if let Some(client) = self.waiting_for_writes.pop_front() {
                    self.complete(client, now);
                }
            }
        }
    }

    fn after_slice(&mut self, client: u32, now: Nanoseconds) {
        let Client {
            reads_left,
            turns_left,
            ..
        } = self.clients[client as usize];
        if reads_left > 0 && (turns_left == 0 || self.random.chooses(reads_left, turns_left)) {
            self.clients[client as usize].reads_left -= 1;
            let done = self.submit_page(OpKind::Read, now);
            self.agenda.add(done, Event::ReadOver(client));
        } else {
            self.clients[client as usize].turns_left = turns_left.saturating_sub(1);
            let next = match turns_left {
                0 => Event::WaitOver(client),
                _ => Event::TurnOver(client),
            };
            let turn = self.turn();
            self.agenda.add(now + turn, next);
        }
    }

    fn commit(&mut self, client: u32, now: Nanoseconds) {
        if self.scenario.redo_bytes <= 0.0 {
            self.complete(client, now);
            return;
        }
        self.log.add(self.scenario.redo_bytes);
        if self.scenario.durable_commits {
            self.log.wait(client);
            if let Some(done) = self.log.begin(self.drive, now) {
                self.agenda.add(done, Event::LogTaken);
            }
        } else {
            self.log.drain(self.drive, now);
            self.complete(client, now);
        }
    }

    fn log_written(&mut self, now: Nanoseconds) {
        for client in self.log.end() {
            self.complete(client, now);
        }
        if let Some(done) = self.log.begin(self.drive, now) {
            self.agenda.add(done, Event::LogTaken);
        }
    }

    /// The transaction is over, unless too many pages are being written.
    fn complete(&mut self, client: u32, now: Nanoseconds) {
        if self.writes_under_way >= WRITES_WAITING_MAX || self.cleaner.is_behind() {
            self.waiting_for_writes.push_back(client);
            return;
        }
        for _ in 0..self.random.poisson(self.scenario.page_writes) {
            if self.random.happens(self.scenario.cleaned) {
                self.cleaner.add();
            } else {
                self.write_page(now);
            }
        }
        self.count(client, now);
        self.begin(client, now);
        self.clean(now);
    }

    /// The page cleaner begins its next batch, if it has one and has written the one before.
    fn clean(&mut self, now: Nanoseconds) {
        let Some((pages, place)) = self.cleaner.begin() else {
            return;
        };
        if self.scenario.doublewrite {
            let done = self.copy(pages, place, now);
            self.agenda.add(done, Event::CopiesWritten);
        } else {
            self.write_batch(now);
        }
        for client in std::mem::take(&mut self.waiting_for_writes) {
            self.complete(client, now);
        }
    }

    fn write_batch(&mut self, now: Nanoseconds) {
        for _ in 0..self.cleaner.pages() {
            let done = self.submit_page(OpKind::Write, now);
            self.agenda.add(done, Event::BatchPageWritten);
        }
    }

    /// Returns the time at which the copies of so many pages are written.
    fn copy(&mut self, pages: u64, place: u64, now: Nanoseconds) -> Nanoseconds {
        let bytes = pages * PAGE;
        let op = Op {
            file: 2,
            file_kind: FileKind::Doublewrite,
            offset: place * bytes,
            bytes,
            ..self.page(OpKind::Write)
        };
        self.drive.submit(&op, now)
    }

    fn write_page(&mut self, now: Nanoseconds) {
        if self.scenario.doublewrite {
            self.doublewrite_pages += 1;
            if self.doublewrite_pages.is_multiple_of(DOUBLEWRITE_PAGES) {
                let place = self.doublewrite_pages / DOUBLEWRITE_PAGES % 2;
                self.copy(DOUBLEWRITE_PAGES, place, now);
            }
        }
        let done = self.submit_page(OpKind::Write, now);
        self.writes_under_way += 1;
        self.agenda.add(done, Event::PageWritten);
    }

    /// Returns the time at which the drive is done with a page of the data.
    fn submit_page(&mut self, kind: OpKind, now: Nanoseconds) -> Nanoseconds {
        if self.scenario.emulation_s > 0.0 {
            self.want_core(Worker::Drive, now);
        }
        let op = self.page(kind);
        self.drive.submit(&op, now)
    }

    fn page(&mut self, kind: OpKind) -> Op {
        Op {
            kind,
            file: 1,
            file_kind: FileKind::Data,
            offset: self.random.below(self.scenario.data_pages.max(1)) * PAGE,
            bytes: PAGE,
            compressed_fraction: if kind == OpKind::Write {
                self.scenario.compressed_fraction
            } else {
                1.0
            },
        }
    }

    fn count(&mut self, client: u32, now: Nanoseconds) {
        self.completed += 1;
        let warm_up = (self.scenario.transactions as f64 * WARM_UP) as u64;
        if self.completed <= warm_up {
            self.measured_from = now;
            return;
        }
        let latency = now - self.clients[client as usize].began;
        self.latency_ns_sum += u128::from(latency);
        self.counts[Latencies::bucket(latency)] += 1;
    }

    fn outcome(self) -> SimulationResult {
        let latencies = Latencies::from_counts(self.counts);
        let measured = latencies.count().max(1) as f64;
        let seconds = (self.last - self.measured_from).max(1) as f64 / 1e9;
        SimulationResult {
            transactions_per_s: measured / seconds,
            response_s: self.latency_ns_sum as f64 / 1e9 / measured,
            latencies,
        }
    }
}

#[cfg(test)]
mod tests;
