//! Pool, drive and connections together: the throughput at which misses, writes and queues agree.

use std::cell::OnceCell;

use crate::cleaning::CleaningModel;
use crate::network::Resource;
use crate::pool_model::{ListState, PoolModel};
use crate::queues::{Demands, Queues};
use crate::writes::{ChangedPages, WriteSettings, Writes};
use crate::{Discrepancy, DriveAbility, PoolUse, Popularity, PredictError, Residency};

/// Beyond this multiple of the measured connections nothing is predicted.
pub const CONNECTIONS_BEYOND: f64 = 1.5;

/// A workload on a server.
#[derive(Debug, Clone)]
pub struct System {
    /// Rates at which its pages are asked for.
    pub popularity: Popularity,
    /// Write settings.
    pub writes: WriteSettings,
    /// Use of its pool.
    pub pool_use: PoolUse,
    /// `innodb_old_blocks_time`, seconds.
    pub old_blocks_time_s: f64,
    /// Demands on the host.
    pub demands: Demands,
    /// Errors of the model, from its runs.
    pub discrepancy: Discrepancy,
}

/// Prediction for one pool, drive and number of connections.
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
    /// Bottleneck.
    pub limit: Resource,
    /// The state of the pool's list.
    pub list: ListState,
    /// Factor by which the model's throughput was multiplied, from runs in places that are alike.
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
    ///
    /// # Errors
    ///
    /// As [`Self::predict_each`].
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
    ///
    /// # Errors
    ///
    /// Beyond 1.5 times the connections that were measured.
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

    /// The queues of transactions that read `misses` pages each on `drive`.
    pub(crate) fn queues<'a>(&'a self, drive: &'a DriveAbility, misses: f64) -> Queues<'a> {
        Queues {
            demands: &self.demands,
            settings: &self.writes,
            drive,
            misses,
        }
    }
}

/// A throughput, and what is written at it.
#[derive(Clone, Copy)]
struct EquilibriumPoint {
    writes: Writes,
    transactions_per_s: f64,
}

/// A pool whose list is in one state, on a drive.
struct Branch<'a> {
    residency: Residency,
    changed: ChangedPages<'a>,
    cleaning: CleaningModel<'a>,
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
            cleaning: CleaningModel::new(
                system.queues(drive, residency.misses),
                connections.max(1),
            ),
        }
    }

    /// Finds the throughput and the writes that agree: each follows from the other.
    fn agreed(&self, connections: u32) -> EquilibriumPoint {
        let pace = |writes| self.cleaning.pace(writes, connections);
        let writes = self.changed.writes(pace);
        EquilibriumPoint {
            writes,
            transactions_per_s: pace(writes).transactions_per_s,
        }
    }

    fn prediction(
        &self,
        agreed: EquilibriumPoint,
        connections: u32,
        list: ListState,
    ) -> Prediction {
        let EquilibriumPoint {
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
