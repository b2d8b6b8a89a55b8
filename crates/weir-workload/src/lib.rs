//! Workloads: which statements a transaction has, in which order, with which parameters, and the
//! tables that they work on.
//!
//! A workload becomes a [`Script`]: kinds of transactions with weights, each a list of steps over
//! shared [`Statement`]s, whose parameters come from [`Generator`]s. Drivers know nothing else.

mod bulk;
mod choice;
mod distribution;
mod english;
mod file;
mod generator;
mod lines;
mod oltp;
mod part;
mod pattern;
mod rng;
mod sbtest;
mod script;
mod statement;
mod table;
mod text;

pub use choice::Workload;
pub use distribution::KeyStream;
pub use oltp::STATEMENTS_PER_TABLE_MAX;

pub(crate) use bulk::BulkText;
pub(crate) use distribution::Keys;
pub(crate) use generator::{Drawer, Generator, Unique, Value, put_integer};
pub(crate) use lines::Lines;
pub(crate) use part::Parts;
pub(crate) use pattern::Pattern;
pub(crate) use rng::{Rng, seeded};
pub(crate) use sbtest::create_bulk_table;
pub(crate) use script::{Execution, Script, Step};
pub(crate) use statement::{Parameter, Sending, Statement, between_marks};
pub(crate) use table::{Table, table_name};
pub(crate) use text::{C_BYTES, PAD_BYTES, write_groups};

/// What tests of other modules need.
#[cfg(test)]
pub(crate) mod testing {
    use weir_model::{Address, Endpoint, Secret, Tls, WorkloadName};

    use super::{Table, Workload};
    use crate::plan::PreparePlan;

    /// Where no server is.
    pub(crate) fn nowhere() -> Endpoint {
        Endpoint {
            address: Address::Socket("/nowhere".into()),
            user: "weir".to_owned(),
            password: Secret::new(""),
            database: "sbtest".to_owned(),
            tls: Tls::default(),
        }
    }

    /// sysbench's first table with so many rows.
    pub(crate) fn table(rows: u64) -> Table {
        let workload = Workload::from(WorkloadName::OltpReadWrite);
        let plan = PreparePlan {
            rows,
            ..PreparePlan::new(nowhere(), workload.clone())
        };
        workload.tables(&plan).unwrap().remove(0)
    }
}
