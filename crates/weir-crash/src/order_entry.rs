//! Order entry beside the clients: a second judge, by the twelve conditions of its specification.
//!
//! The ledger knows what each of its rows must hold. The conditions know no single row. They say what transactions
//! that read before they write leave consistent over nine tables, in every state that a crash may leave.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use weir_load::{LoadError, LoadPlan, PreparePlan, check_conditions, prepare};
use weir_model::{Duration, Endpoint, LoadSpec, OrderEntryWorkload};
use weir_mysql::{ClientError, Connection, Gate};

use crate::connection::{connect, is_broken};
use crate::error::CrashError;

/// A schema of its own: the ledger has a table `history`, too.
const SCHEMA: &str = "order_entry";
/// Connections that load and run it.
const CONNECTIONS: u32 = 4;
/// Fewer than in the specification, since each state is a copy of all tables.
const ITEMS: u32 = 2_000;
const CUSTOMERS: u32 = 100;

fn workload(warehouses: u32) -> OrderEntryWorkload {
    OrderEntryWorkload {
        warehouses,
        items: ITEMS,
        customers: CUSTOMERS,
        ..OrderEntryWorkload::default()
    }
}

fn endpoint(server: &Endpoint) -> Endpoint {
    Endpoint {
        database: SCHEMA.to_owned(),
        ..server.clone()
    }
}

/// Makes and fills its tables.
pub(crate) fn load(
    server: &Endpoint,
    warehouses: u32,
    stop: &AtomicBool,
) -> Result<(), CrashError> {
    let plan = PreparePlan {
        threads: CONNECTIONS,
        ..PreparePlan::new(endpoint(server), workload(warehouses))
    };
    match prepare(&plan, &Gate::own(), stop, &mut |_, _| {}) {
        Err(LoadError::Interrupted(_)) => Err(CrashError::Stopped),
        loaded => Ok(loaded?),
    }
}

/// Runs its transactions until `stop`; how many there were.
pub(crate) fn run(
    server: &Endpoint,
    warehouses: u32,
    seed: u64,
    stop: &AtomicBool,
) -> Result<u64, CrashError> {
    let plan = LoadPlan {
        load: LoadSpec {
            connections: CONNECTIONS,
            measure: Duration::default(),
            ..LoadSpec::default()
        },
        seed,
        ..LoadPlan::new(endpoint(server), workload(warehouses))
    };
    match weir_load::run(&plan, &Gate::own(), stop, &mut |_| {}) {
        Ok(outcome) => Ok(outcome.counts_whole_run.transactions),
        Err(LoadError::Interrupted(_)) => Ok(0),
        Err(LoadError::Client(error)) if is_broken(&error) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// A connection to its schema, and the tables there.
pub(crate) fn tables(server: &Endpoint) -> Result<(Connection, Vec<String>), ClientError> {
    let mut connection = connect(&endpoint(server))?;
    let tables = connection.rows("SHOW TABLES")?;
    Ok((connection, tables))
}

/// The conditions that do not hold, each with the first place; a table that is missing is an error.
pub(crate) fn broken_conditions(connection: &mut Connection) -> Result<Vec<String>, ClientError> {
    let mut broken = Vec::new();
    check_conditions(connection, &mut |checked| {
        if let Some(found) = &checked.broken {
            let place = &found.place;
            broken.push(format!(
                "condition {}: {}: {place}",
                checked.number, checked.says
            ));
        }
        ControlFlow::Continue(())
    })
    .map(|_| broken)
}
