//! Plan of a load.

mod endpoint_message;
mod message;
mod of_spec;

use std::collections::BTreeSet;
use std::time::Duration;

use weir_model::{Address, Endpoint, LoadSpec, Pace};

use crate::LoadError;
use crate::reactor_kind::{RING_CONNECTIONS_MIN, ReactorKind};
use crate::share::Share;
use weir_mysql::Compression;
use weir_workload::{Rng, Script, ScriptInputs, Table, TableOptions, Workload, seeded};

pub use endpoint_message::EndpointMessage;
pub use message::PlanMessage;

/// Beyond what any server or client does.
const RATE_PER_S_MAX: f64 = 1e7;
/// Transactions must be able to complete within the 3 s after the measurement.
const RTT_MAX: Duration = Duration::from_secs(1);
/// Connections from which on a second reactor is worth its thread.
const TWO_REACTORS_CONNECTIONS_MIN: u32 = 8;
/// Processors that the server gets for each reactor of many connections.
const PROCESSORS_PER_REACTOR: u32 = 4;

/// Returns the number of reactors that drive `connections` best on this machine.
///
/// With few connections two are better than one: all wait while the only thread waits for a
/// processor. With many, one that answers in rounds costs least
/// (docs/decisions/0001-load-reactors.md), until the server has so many processors that one cannot feed them.
pub fn reactors_for(connections: u32) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    match connections {
        ..TWO_REACTORS_CONNECTIONS_MIN => 1,
        _ if connections < RING_CONNECTIONS_MIN => processors.min(2),
        _ => (processors / PROCESSORS_PER_REACTOR).clamp(1, connections / RING_CONNECTIONS_MIN),
    }
}

/// Error codes of clients for a lost connection: `CR_SERVER_GONE_ERROR`, `CR_SERVER_LOST`, `CR_SERVER_LOST_EXTENDED`.
const LOSSES: [u16; 3] = [2006, 2013, 2055];
/// The server's words that it is about to close: `ER_SERVER_SHUTDOWN`, `ER_NORMAL_SHUTDOWN`,
/// MariaDB's `ER_CONNECTION_KILLED`, `ER_CLIENT_INTERACTION_TIMEOUT`.
const FAREWELLS: [u16; 4] = [1053, 1077, 1927, 4031];

/// Errors that are counted and tried again instead of ending the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToleratedErrors {
    /// These codes.
    Codes(Vec<u16>),
    /// Every code.
    All,
}

impl ToleratedErrors {
    /// Returns true if it contains `code`.
    pub fn contains(&self, code: u16) -> bool {
        match self {
            Self::Codes(codes) => codes.contains(&code),
            Self::All => true,
        }
    }

    /// Returns true if lost connections are among them, under any of their codes: they are made
    /// again.
    pub fn survives_loss(&self) -> bool {
        let mut codes = LOSSES.iter().chain(&FAREWELLS);
        codes.any(|code| self.contains(*code))
    }

    /// Returns true if this error announces that the connection is about to be closed.
    pub(crate) fn is_farewell(code: u16) -> bool {
        FAREWELLS.contains(&code)
    }
}

impl Default for ToleratedErrors {
    /// Deadlock, a record that changed since it was read, and lock timeout: sysbench's default.
    fn default() -> Self {
        Self::Codes(vec![1213, 1020, 1205])
    }
}

/// A load on tables that [`prepare`](crate::prepare) has made.
#[derive(Debug, Clone)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub struct LoadPlan {
    /// The server.
    pub endpoint: Endpoint,
    /// More servers with the same accounts, schema and tables: connections are dealt over all of
    /// them in turn.
    pub more_addresses: Vec<Address>,
    /// Transactions of the load.
    pub workload: Workload,
    /// Number of tables.
    pub tables: u32,
    /// Rows of each table.
    pub rows: u64,
    /// Pace and length of the load. It begins with its least warm-up.
    pub load: LoadSpec,
    /// Threads that drive them.
    pub reactors: u32,
    /// Kind of the reactors.
    pub reactor: ReactorKind,
    /// Length of an interval.
    pub interval: Duration,
    /// Times after the beginning of the measurement at which the totals since the one before are
    /// wanted, see [`run_observed`](crate::run_observed).
    pub checkpoints: Vec<Duration>,
    /// Transactions after which the load ends, warm-up included.
    pub max_events: Option<u64>,
    /// Seed of keys and values.
    pub seed: u64,
    /// The tables choose the keys of new rows themselves.
    pub auto_increment: bool,
    /// Errors that don't end the run.
    pub tolerated: ToleratedErrors,
    /// Prepare statements; otherwise they are sent as text, with their values as literals.
    pub prepared_statements: bool,
    /// Make lost connections again and go on, instead of ending the run. A transaction under way is
    /// tried again, without knowing whether the server had done it: in `bulk_insert` that may end
    /// the run with a duplicate key.
    pub reconnect: bool,
    /// Leave and connect again after so many transactions of a connection; what that takes is in the
    /// latency of the transaction that follows.
    pub reconnect_every: Option<u64>,
    /// The load is complete when its sessions have ended by themselves, also before its time is over.
    pub ends_with_sessions: bool,
    /// Count tenths of a second of the measurement as well.
    pub short_intervals: bool,
    /// Changes of an open loop's rate: when, after the beginning of the measurement, and transactions per second from
    /// then on.
    pub rate_changes: Vec<(Duration, f64)>,
    /// Longest time from the first connection to the last, checks before them included.
    pub init_timeout: Duration,
    /// Share of this process; `None`: all.
    pub share: Option<Share>,
}

impl LoadPlan {
    /// A plan with sysbench's defaults: one connection, one table of 10,000 rows, ten seconds.
    pub fn new(endpoint: Endpoint, workload: impl Into<Workload>) -> Self {
        Self {
            endpoint,
            more_addresses: Vec::new(),
            workload: workload.into(),
            tables: 1,
            rows: 10_000,
            load: LoadSpec::default(),
            reactors: 1,
            reactor: ReactorKind::default(),
            interval: Duration::from_secs(1),
            checkpoints: Vec::new(),
            max_events: None,
            seed: 1,
            auto_increment: true,
            tolerated: ToleratedErrors::default(),
            prepared_statements: true,
            reconnect: false,
            reconnect_every: None,
            ends_with_sessions: false,
            short_intervals: false,
            rate_changes: Vec::new(),
            init_timeout: Duration::from_secs(30),
            share: None,
        }
    }

    /// Refuses what cannot be run.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        for (setting, value) in [
            ("tables", self.tables),
            ("connections", self.load.connections),
            ("reactors", self.reactors),
        ] {
            if value == 0 {
                return Err(LoadError::Setting {
                    setting,
                    value: value.to_string(),
                    why: "must be at least 1",
                });
            }
        }
        if self.interval.is_zero() {
            return Err(LoadError::Setting {
                setting: "interval",
                value: "0s".to_owned(),
                why: "must be above 0",
            });
        }
        if self.load.rtt.0 > RTT_MAX {
            return Err(LoadError::Setting {
                setting: "rtt",
                value: format!("{}s", self.load.rtt.as_secs_f64()),
                why: "must be no more than 1 s",
            });
        }
        self.check_order_entry()?;
        let Some(rate) = self.load.pace.rate() else {
            return Ok(());
        };
        if rate
            .ramp
            .is_some_and(|ramp| !(0.0..=RATE_PER_S_MAX).contains(&ramp.from_per_s))
        {
            return Err(LoadError::Setting {
                setting: "rate ramp",
                value: rate.ramp.map_or(0.0, |ramp| ramp.from_per_s).to_string(),
                why: "must begin at 0 to 10 million per second",
            });
        }
        if !(rate.per_s > 0.0 && rate.per_s <= RATE_PER_S_MAX) {
            return Err(LoadError::Setting {
                setting: "rate",
                value: rate.per_s.to_string(),
                why: "must be above 0 and no more than 10 million per second",
            });
        }
        if self.workload.is_bulk() {
            return Err(LoadError::Setting {
                setting: "rate",
                value: rate.per_s.to_string(),
                why: "bulk_insert has no rate: its rows come as fast as statements are full",
            });
        }
        Ok(())
    }

    /// Users who take their time say already when transactions begin.
    fn check_order_entry(&self) -> Result<(), LoadError> {
        let waits = self.workload.order_entry();
        if !waits.is_some_and(|workload| workload.keying_and_think_time)
            || self.load.pace == Pace::default()
        {
            return Ok(());
        }
        Err(LoadError::Setting {
            setting: "keying_and_think_time",
            value: "on".to_owned(),
            why: "it says when transactions begin; leave out rate and think time",
        })
    }

    /// All that it asks for, to be dealt to several processes.
    pub fn whole(&self) -> Share {
        Share::whole(
            self.load.connections,
            self.load.idle_connections,
            self.max_events,
        )
    }

    /// Returns the share of this process.
    pub fn share(&self) -> Share {
        self.share.clone().unwrap_or_else(|| self.whole())
    }

    /// Returns the script of its connections.
    pub(crate) fn script(&self) -> Result<Script, LoadError> {
        let mut script = self.workload.script(&ScriptInputs {
            tables: self.tables,
            rows: self.rows,
            connections: self.load.connections,
            seed: self.seed,
            auto_increment: self.auto_increment,
        })?;
        if !self.prepared_statements {
            script.send_as_text();
        }
        Ok(script)
    }

    /// The random numbers of connection `number` of the run, in whichever process it is.
    pub(crate) fn random_of(&self, number: u32) -> Rng {
        seeded(self.seed, u64::from(number))
    }

    /// Returns the begin of connection `number`, nanoseconds into the run.
    pub(crate) fn begins_ns(&self, number: u32) -> u64 {
        let share = f64::from(number) / f64::from(self.load.connections);
        (self.load.connection_ramp.0.as_nanos() as f64 * share) as u64
    }
}

/// Handling of loaded rows by the server's binary log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BinaryLog {
    /// As all other statements: replicas, connected or not, need it.
    #[default]
    On,
    /// It does not; the gate and the account must allow it, and no replica be connected.
    Off,
}

/// Tables to be made.
#[derive(Debug, Clone)]
pub struct PreparePlan {
    /// The server; its schema is made if it is missing.
    pub endpoint: Endpoint,
    /// Workload of the tables.
    pub workload: Workload,
    /// Number, size and options of the tables.
    pub tables: TableOptions,
    /// Connections that load in parallel, each one table at a time.
    pub threads: u32,
    /// Seed of the values.
    pub seed: u64,
    /// Handling of the rows by the server's binary log.
    pub binary_log: BinaryLog,
    /// Compression of all connections, if any.
    pub compression: Option<Compression>,
    /// Those of the tables that this process makes, by their numbers from 0; `None`: all.
    pub only: Option<BTreeSet<usize>>,
}

impl PreparePlan {
    /// A plan with sysbench's defaults: one table of 10,000 rows.
    pub fn new(endpoint: Endpoint, workload: impl Into<Workload>) -> Self {
        Self {
            endpoint,
            workload: workload.into(),
            tables: TableOptions::default(),
            threads: 1,
            seed: 1,
            binary_log: BinaryLog::On,
            compression: None,
            only: None,
        }
    }

    /// The tables to be made and filled by this process.
    pub(crate) fn own_tables(&self) -> Result<Vec<Table>, LoadError> {
        let mut tables = self.workload.tables(&self.tables)?;
        if let Some(only) = &self.only {
            let mut number = 0..;
            tables.retain(|_| number.next().is_some_and(|number| only.contains(&number)));
        }
        Ok(tables)
    }

    /// This in `parts` plans with about as many rows each, of whole tables: at most as many as there are tables. The
    /// rows of a table follow from seed and table alone, so that all together make what one process would make.
    ///
    /// # Errors
    ///
    /// A workload whose tables cannot be made.
    pub fn deal(&self, parts: u32) -> Result<Vec<Self>, LoadError> {
        let tables = self.own_tables()?;
        let parts = (parts as usize).clamp(1, tables.len().max(1));
        let mut dealt = vec![(0_u64, BTreeSet::new()); parts];
        let mut by_size: Vec<_> = tables.iter().map(|table| table.rows).enumerate().collect();
        by_size.sort_by_key(|(number, rows)| (std::cmp::Reverse(*rows), *number));
        for (number, rows) in by_size {
            // The largest first, each to who has least (Graham 1969): at most a third more than the best deal.
            let least = dealt.iter_mut().min_by_key(|(rows, _)| *rows);
            let (sum, own) = least.expect("invariant: there is a part");
            *sum += rows.max(1);
            own.insert(number);
        }
        let threads = self.threads.div_ceil(parts as u32).max(1);
        let plans = dealt.into_iter().map(|(_, own)| Self {
            only: Some(own),
            threads,
            ..self.clone()
        });
        Ok(plans.collect())
    }
}

#[cfg(test)]
mod tests {
    use weir_model::{ArrivalKind, Rate, Secret, WorkloadName};

    use super::*;

    fn plan(workload: WorkloadName) -> LoadPlan {
        let endpoint = Endpoint {
            address: Address::Socket("/nowhere".into()),
            user: "weir".to_owned(),
            password: Secret::new(""),
            database: "sbtest".to_owned(),
            tls: weir_model::Tls::default(),
        };
        LoadPlan::new(endpoint, workload)
    }

    #[test]
    fn rates_and_ways_that_no_load_can_have_are_refused() {
        let with_rate = |workload, per_s| LoadPlan {
            load: LoadSpec {
                pace: Some(Rate {
                    per_s,
                    arrivals: ArrivalKind::Poisson,
                    ramp: None,
                })
                .into(),
                ..plan(workload).load
            },
            ..plan(workload)
        };
        for per_s in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e7] {
            let refused = with_rate(WorkloadName::OltpReadOnly, per_s).check();
            assert!(refused.is_err(), "{per_s}");
        }
        assert!(with_rate(WorkloadName::OltpReadOnly, 0.1).check().is_ok());
        assert!(with_rate(WorkloadName::BulkInsert, 0.1).check().is_err());
        let far = LoadPlan {
            load: LoadSpec {
                rtt: Duration::from_secs(2).into(),
                ..plan(WorkloadName::OltpReadOnly).load
            },
            ..plan(WorkloadName::OltpReadOnly)
        };
        assert!(far.check().is_err());
    }

    #[test]
    fn reactors_are_few() {
        assert_eq!(reactors_for(1), 1);
        assert!(reactors_for(8) <= 2);
        assert!((1..=2).contains(&reactors_for(64)));
        assert!(reactors_for(100_000) <= 100_000 / RING_CONNECTIONS_MIN);
    }
}
