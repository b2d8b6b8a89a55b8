//! Order entry: the native workload beside a script of the same transactions and tables under sysbench.

use std::fmt;
use std::path::Path;

use anyhow::Context as _;

use crate::cases::{Arm, Sample, Tool, in_turns, number_after};
use crate::server::Server;
use crate::{child, others};

const WAREHOUSES: u32 = 4;
/// Warehouses that are loaded when loading is the case, and the connections that do it.
const PREPARED_WAREHOUSES: u32 = 2;
const PREPARE_THREADS: u32 = 2;
/// Name of the native workload, and its tables, those that others need last.
const NATIVE: &str = "order_entry";
pub(crate) const TABLES: [&str; 9] = [
    "order_line",
    "new_order",
    "orders",
    "stock",
    "history",
    "customer",
    "item",
    "district",
    "warehouse",
];

/// Something that both tools do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OrderEntryCase {
    /// Transactions with so many connections.
    Run(u32),
    /// The loading of the tables.
    Prepare,
}

impl fmt::Display for OrderEntryCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(connections) => write!(f, "{NATIVE}/{connections}"),
            Self::Prepare => write!(f, "{NATIVE} prepare"),
        }
    }
}

impl OrderEntryCase {
    pub(crate) const ALL: [Self; 3] = [Self::Run(16), Self::Run(64), Self::Prepare];

    /// Runs all arms in turn, `turns` times. What is loaded for the runs, and what they leave, is checked by `weir`.
    pub(crate) fn measure(
        self,
        (arms, weir, script): (&[Arm], &Arm, &Path),
        server: &Server,
        turns: usize,
        time_s: u32,
    ) -> anyhow::Result<Vec<Sample>> {
        if let Self::Run(_) = self {
            prepare(weir, server, script, WAREHOUSES)?;
            for arm in arms.iter().filter(|arm| arm.tool == Tool::GoTpc) {
                others::go_tpc_prepare(arm, server, WAREHOUSES, PREPARE_THREADS)?;
            }
            self.sample(&arms[0], server, script, 2)?;
        }
        let samples = in_turns(arms, turns, |arm| {
            self.sample(arm, server, script, time_s)
                .with_context(|| format!("while {} ran {self}", arm.name))
        })?;
        if let Self::Run(_) = self {
            child::run(&mut weir.command(server, NATIVE, "check", &[]))
                .context("while checking what both tools have left")?;
        }
        Ok(samples)
    }

    fn sample(
        self,
        arm: &Arm,
        server: &Server,
        script: &Path,
        time_s: u32,
    ) -> anyhow::Result<Sample> {
        if arm.tool == Tool::GoTpc {
            return self.sample_of_go_tpc(arm, server, time_s);
        }
        let (done, count, seconds) = match self {
            Self::Run(connections) => {
                let mut options = options(WAREHOUSES, connections);
                options.push(format!("--time={time_s}"));
                let workload = workload(arm, script)?;
                let done = child::run(&mut arm.command(server, workload, "run", &options))?;
                let count = number_after(&done.output, "transactions:")?;
                let seconds = number_after(&done.output, "total time:")?;
                (done, count, seconds)
            }
            Self::Prepare => {
                let done = prepare(arm, server, script, PREPARED_WAREHOUSES)?;
                let wall_s = done.wall_s;
                (done, rows(server)? as f64, wall_s)
            }
        };
        Ok(Sample::new(arm, &done, count, seconds))
    }

    fn sample_of_go_tpc(self, arm: &Arm, server: &Server, time_s: u32) -> anyhow::Result<Sample> {
        match self {
            Self::Run(connections) => {
                others::go_tpc_run(arm, server, WAREHOUSES, (connections, time_s))
            }
            Self::Prepare => {
                let made =
                    others::go_tpc_prepare(arm, server, PREPARED_WAREHOUSES, PREPARE_THREADS)?;
                let (done, rows) = made;
                let wall_s = done.wall_s;
                Ok(Sample::new(arm, &done, rows as f64, wall_s))
            }
        }
    }
}

/// Makes the tables anew.
fn prepare(
    arm: &Arm,
    server: &Server,
    script: &Path,
    warehouses: u32,
) -> anyhow::Result<child::ToolOutput> {
    for table in TABLES {
        server.query(&format!("DROP TABLE IF EXISTS {table}"))?;
    }
    let options = options(warehouses, PREPARE_THREADS);
    child::run(&mut arm.command(server, workload(arm, script)?, "prepare", &options))
}

/// The rows of all tables.
fn rows(server: &Server) -> anyhow::Result<u64> {
    TABLES.iter().map(|table| server.count(table)).sum()
}

fn workload<'a>(arm: &Arm, script: &'a Path) -> anyhow::Result<&'a str> {
    if arm.tool == Tool::Weir {
        return Ok(NATIVE);
    }
    script.to_str().context("the path of the script is no text")
}

fn options(warehouses: u32, threads: u32) -> Vec<String> {
    vec![
        format!("--warehouses={warehouses}"),
        format!("--threads={threads}"),
    ]
}
