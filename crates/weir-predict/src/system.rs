//! Pool, drive and connections together: the throughput at which misses, writes and queues agree.

use std::cell::OnceCell;

use crate::cleaning::Cleaning;
use crate::network::{Network, Resource, Station};
use crate::pool_model::{ListState, PoolModel};
use crate::writes::{ChangedPages, WriteSettings, Writes};
use crate::{Discrepancy, DriveAbility, PoolUse, Popularity, PredictError, Residency};

/// Beyond this multiple of the measured connections nothing is said.
pub const CONNECTIONS_BEYOND: f64 = 1.5;

/// What a transaction takes of the host, as a run has measured it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Demands {
    /// Cores that serve.
    pub cores: u32,
    /// Processor time of a transaction whose pages are all in the pool, seconds.
    pub cpu_s: f64,
    /// More of it for each page that is read, seconds.
    pub cpu_s_per_miss: f64,
    /// Processor time that an emulated drive takes of the same cores for each page that is read or written,
    /// seconds; 0 for a real one.
    pub emulation_s: f64,
    /// Time that a transaction waits for neither processor nor drive, seconds.
    pub wait_s: f64,
    /// The most connections that were measured.
    pub connections_max: u32,
}

/// A workload on a server.
#[derive(Debug, Clone)]
pub struct System {
    /// Its pages.
    pub popularity: Popularity,
    /// How it writes.
    pub writes: WriteSettings,
    /// How it uses its pool.
    pub pool_use: PoolUse,
    /// `innodb_old_blocks_time`, seconds.
    pub old_blocks_time_s: f64,
    /// What it takes of the host.
    pub demands: Demands,
    /// What its runs say of the model's errors.
    pub discrepancy: Discrepancy,
}

/// What is predicted of one pool, drive and number of connections.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Prediction {
    /// Connections.
    pub connections: u32,
    /// Transactions per second.
    pub transactions_per_s: f64,
    /// Mean time of a transaction, seconds.
    pub response_s: f64,
    /// Share of page references that miss.
    pub miss_ratio: f64,
    /// Pages that a transaction reads.
    pub reads: f64,
    /// Pages that are written for a transaction.
    pub page_writes: f64,
    /// Share of them that the page cleaner writes in batches.
    pub cleaned: f64,
    /// What limits.
    pub limit: Resource,
    /// The state of the pool's list.
    pub list: ListState,
    /// What runs in places that are alike have the model's throughput multiplied by, which was done.
    pub corrected_by: f64,
}

impl Prediction {
    /// The same with its throughput multiplied by `factor`.
    #[must_use]
    pub fn corrected(self, factor: f64) -> Self {
        Self {
            transactions_per_s: self.transactions_per_s * factor,
            response_s: self.response_s / factor,
            corrected_by: self.corrected_by * factor,
            ..self
        }
    }
}

impl System {
    /// A pool with frames for `pages` of the data's pages.
    pub fn pool(&self, pages: f64) -> PoolModel<'_> {
        PoolModel::new(
            &self.popularity,
            pages,
            self.pool_use,
            self.old_blocks_time_s,
        )
    }

    /// The prediction for one pool, drive and number of connections; see [`Self::predict_each`].
    pub fn predict(
        &self,
        pool: &PoolModel<'_>,
        drive: &DriveAbility,
        connections: u32,
    ) -> Result<Prediction, PredictError> {
        let found = self.predict_each(pool, drive, &[connections])?;
        Ok(found[0])
    }

    /// The predictions for one pool and drive at each of `connections`; beyond 1.5 times the connections that were
    /// measured an error.
    pub fn predict_each(
        &self,
        pool: &PoolModel<'_>,
        drive: &DriveAbility,
        connections: &[u32],
    ) -> Result<Vec<Prediction>, PredictError> {
        let most = connections.iter().copied().max().unwrap_or(1);
        let measured = self.demands.connections_max;
        if f64::from(most) > CONNECTIONS_BEYOND * f64::from(measured) {
            return Err(PredictError::Concurrency {
                wanted: most,
                measured,
            });
        }
        let branch = |residency| Branch::new(self, drive, (pool.pages(), residency), most);
        let promoting = branch(pool.promoting());
        // Most pools never freeze.
        let frozen = OnceCell::new();
        let pages = pool.pages().min(self.popularity.pages());
        let correction = |connections| self.discrepancy.factor(&drive.name, pages, connections);
        let predict = |connections: u32| {
            let clients = connections.max(1);
            let agreed = promoting.agreed(clients);
            let list = pool.state_at(agreed.transactions_per_s);
            let prediction = match list {
                ListState::Frozen => {
                    let frozen = frozen.get_or_init(|| branch(pool.frozen()));
                    let slower = frozen.agreed(clients);
                    if pool.thaws_at(slower.transactions_per_s) {
                        promoting.prediction(agreed, clients, ListState::NearFreezing)
                    } else {
                        frozen.prediction(slower, clients, list)
                    }
                }
                _ => promoting.prediction(agreed, clients, list),
            };
            prediction.corrected(correction(clients))
        };
        Ok(connections.iter().copied().map(predict).collect())
    }

    /// The queues of a transaction that reads `misses` pages and writes `writes`.
    pub(crate) fn network(&self, drive: &DriveAbility, misses: f64, writes: Writes) -> Network {
        let demands = &self.demands;
        let saturated_s = drive.busy_s(misses, writes.pages, writes.sequential_bytes)
            + writes.log_writes * drive.log_write_s;
        let reading_s = misses * drive.read_s;
        // As many servers as let the idle drive take its latency and the saturated one its
        // throughput; what is left over is time beside the queue.
        let servers = (reading_s / saturated_s.max(f64::MIN_POSITIVE))
            .floor()
            .max(1.0);
        let on_drive_s = servers * saturated_s;
        // An emulated drive works within the latency that it gives: others have the core no sooner, but who
        // reads waits no longer.
        let emulation_s = (misses + writes.pages) * demands.emulation_s;
        Network {
            stations: vec![
                Station {
                    resource: Resource::Processor,
                    servers: demands.cores,
                    demand_s: demands.cpu_s + misses * demands.cpu_s_per_miss + emulation_s,
                    variability: 1.0,
                },
                Station {
                    resource: Resource::Drive,
                    servers: servers as u32,
                    demand_s: on_drive_s,
                    // A drive's service is the same for each page.
                    variability: 0.0,
                },
            ],
            delay_s: demands.wait_s - emulation_s
                + self.beside_queue_s(misses, reading_s, on_drive_s),
            commit_s: if self.writes.durable_commits && self.writes.redo_bytes > 0.0 {
                drive.commit_s
            } else {
                0.0
            },
        }
    }

    /// Time of the reads that the drive's queue does not have.
    ///
    /// It is below zero where a limit of the rate is slower than the latency: an operation is over
    /// before the next one may begin, and what the connection does in between, for an exponential
    /// time, is not waited for.
    fn beside_queue_s(&self, misses: f64, reading_s: f64, on_drive_s: f64) -> f64 {
        if reading_s >= on_drive_s || misses <= 0.0 {
            return reading_s - on_drive_s;
        }
        let gap_s = (on_drive_s - reading_s) / misses;
        let used_s = |mean_s: f64| mean_s * -(-gap_s / mean_s.max(f64::MIN_POSITIVE)).exp_m1();
        let slice_s = self.demands.cpu_s / (misses + 1.0);
        // One of the pauses between reads is that between two transactions.
        let between = misses.min(1.0);
        -(misses - between) * used_s(slice_s)
            - between * used_s(2.0 * slice_s + self.demands.wait_s)
    }
}

/// A throughput, and what is written at it.
#[derive(Clone, Copy)]
struct Agreed {
    writes: Writes,
    transactions_per_s: f64,
}

/// A pool whose list is in one state, on a drive.
struct Branch<'a> {
    residency: Residency,
    changed: ChangedPages<'a>,
    cleaning: Cleaning<'a>,
}

impl<'a> Branch<'a> {
    /// With up to so many connections.
    fn new(
        system: &'a System,
        drive: &'a DriveAbility,
        (pages, residency): (f64, Residency),
        connections: u32,
    ) -> Self {
        let settings = &system.writes;
        Self {
            residency,
            changed: settings.changed_pages(&system.popularity, pages, residency),
            cleaning: Cleaning::new(system, drive, residency.misses, connections.max(1)),
        }
    }

    /// What is written and the throughput say each other: both are taken where they agree.
    fn agreed(&self, connections: u32) -> Agreed {
        let pace = |writes| self.cleaning.pace(writes, connections);
        let writes = self.changed.writes(pace);
        Agreed {
            writes,
            transactions_per_s: pace(writes).transactions_per_s,
        }
    }

    fn prediction(&self, agreed: Agreed, connections: u32, list: ListState) -> Prediction {
        let Agreed {
            writes,
            transactions_per_s,
        } = agreed;
        Prediction {
            connections,
            transactions_per_s,
            response_s: f64::from(connections) / transactions_per_s,
            miss_ratio: self.residency.miss_ratio,
            reads: self.residency.misses,
            page_writes: writes.pages,
            cleaned: writes.cleaned,
            limit: self.cleaning.network(writes).limit(transactions_per_s),
            list,
            corrected_by: 1.0,
        }
    }
}
