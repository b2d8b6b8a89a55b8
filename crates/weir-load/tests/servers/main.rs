//! The engine on real servers of both flavours.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod compression;
mod found_tables;
mod name_case;
mod new_numbers;
mod no_room;
mod order_entry;
mod pace;
mod refusals;
mod restarts;
mod sessions;
mod settings;
mod settings_at_start;
mod tables;
mod text;
mod workloads;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tempfile::TempDir;
use weir_load::{LoadError, LoadOutcome, LoadPlan, PreparePlan, TableOptions, prepare, run};
use weir_model::{Distribution, Flavor, LoadSpec, SysbenchWorkload, WorkloadName};
use weir_mysql::{Connection, FromValue, Gate, Permissions};
use weir_server::PrivateServer;

const TABLES: u32 = 2;
const ROWS: u64 = 3_000;

/// A server with loaded tables. The server goes before its directory.
struct Bench {
    server: PrivateServer,
    directory: TempDir,
}

impl Bench {
    fn empty(flavor: Flavor) -> Self {
        let (server, directory) = weir_testing::start(flavor);
        Self { server, directory }
    }

    fn loaded(flavor: Flavor) -> Self {
        let bench = Self::empty(flavor);
        let mut progress = Vec::new();
        prepare(
            &bench.tables(),
            &users_gate(),
            &AtomicBool::new(false),
            &mut |done, total| {
                progress.push((done, total));
            },
        )
        .unwrap();
        let all = u64::from(TABLES) * ROWS;
        assert_eq!(progress.last(), Some(&(all, all)));
        bench
    }

    fn tables(&self) -> PreparePlan {
        PreparePlan {
            threads: 2,
            tables: TableOptions {
                tables: TABLES,
                rows: ROWS,
                ..TableOptions::default()
            },
            ..PreparePlan::new(self.server.endpoint(), WorkloadName::OltpReadWrite)
        }
    }

    fn plan(&self, workload: WorkloadName) -> LoadPlan {
        LoadPlan {
            tables: TABLES,
            rows: ROWS,
            load: LoadSpec {
                connections: 4,
                measure: Duration::from_secs(1).into(),
                ..LoadSpec::default()
            },
            ..LoadPlan::new(self.server.endpoint(), uniform(workload))
        }
    }

    fn oracle(&self) -> Connection {
        weir_testing::connect(&self.server.endpoint())
    }

    /// The value that a query has.
    fn value<T: FromValue>(&self, sql: &str) -> T {
        let row: Option<(T,)> = self.oracle().first(sql).unwrap();
        row.unwrap().0
    }

    fn counter(&self, name: &str) -> u64 {
        status(&self.server.status().unwrap(), name)
    }
}

/// A workload that asks for all rows alike.
fn uniform(name: WorkloadName) -> SysbenchWorkload {
    SysbenchWorkload {
        distribution: Distribution::Uniform,
        ..name.into()
    }
}

/// As for a server of the user's: nothing that a load sends is held back there.
fn users_gate() -> Gate {
    gate_of(weir_server::DATABASE)
}

fn gate_of(schema: &str) -> Gate {
    Gate::new(Permissions {
        schema: Some(schema.to_owned()),
        skips_binary_log: true,
        ..Permissions::default()
    })
}

/// Prepares tables as on a server of the user's.
fn make(tables: &PreparePlan) -> Result<(), LoadError> {
    prepare(
        tables,
        &users_gate(),
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
}

fn status(status: &BTreeMap<String, String>, name: &str) -> u64 {
    status[name].parse().unwrap()
}

fn go(plan: &LoadPlan) -> Result<LoadOutcome, LoadError> {
    let gate = gate_of(&plan.endpoint.database);
    run(plan, &gate, &AtomicBool::new(false), &mut |_| {})
}

fn checksum(oracle: &mut Connection, table: &str) -> (String, Option<u64>) {
    let sql = format!("CHECKSUM TABLE {table} EXTENDED");
    oracle.first(sql).unwrap().unwrap()
}
