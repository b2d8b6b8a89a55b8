//! Tables made anew: by a tool's `prepare`, or by the server alone.

use std::thread;
use std::time::Instant;

use crate::cases::{Arm, Sample, Tool, table_options};
use crate::child::{self, ToolOutput};
use crate::server::Server;

/// Number of tables that `prepare` makes when it is the case.
const TABLES: u32 = 4;
const ROWS: u32 = 200_000;
pub(crate) const THREADS: u32 = 2;

/// Makes the rows that the server copies, with `arm`.
pub(crate) fn begin(arm: &Arm, server: &Server) -> anyhow::Result<()> {
    by_tool(arm, server)?;
    for table in 1..=TABLES {
        server.query(&format!("RENAME TABLE sbtest{table} TO source{table}"))?;
    }
    Ok(())
}

/// Makes the tables by `arm`.
pub(crate) fn sample(arm: &Arm, server: &Server) -> anyhow::Result<Sample> {
    let done = match arm.tool {
        Tool::ServerAlone => by_the_server(server)?,
        _ => by_tool(arm, server)?,
    };
    let rows = f64::from(TABLES * ROWS);
    Ok(Sample::new(arm, &done, rows, done.wall_s))
}

fn by_tool(arm: &Arm, server: &Server) -> anyhow::Result<ToolOutput> {
    tables(arm, server, &table_options(TABLES, ROWS, THREADS))
}

/// Makes the tables of `options` by a tool.
pub(crate) fn tables(arm: &Arm, server: &Server, options: &[String]) -> anyhow::Result<ToolOutput> {
    drop_tables(server)?;
    child::run(&mut arm.command(server, "oltp_read_write", "prepare", options))
}

fn drop_tables(server: &Server) -> anyhow::Result<()> {
    (1..=TABLES).try_for_each(|table| server.query(&format!("DROP TABLE IF EXISTS sbtest{table}")))
}

/// The floor: the server copies tables that it has, with as many threads, and the index after the rows. No client sends
/// rows, and none are parsed.
fn by_the_server(server: &Server) -> anyhow::Result<ToolOutput> {
    drop_tables(server)?;
    let began = Instant::now();
    thread::scope(|scope| {
        let threads = (1..=THREADS).map(|first| {
            scope.spawn(move || {
                let mut tables = (first..=TABLES).step_by(THREADS as usize);
                tables.try_for_each(|table| copy(server, table))
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().try_for_each(|thread| {
            let copied = thread.join();
            copied.expect("invariant: a copy does not panic")
        })
    })?;
    Ok(ToolOutput {
        output: String::new(),
        wall_s: began.elapsed().as_secs_f64(),
        cpu_s: 0.0,
        resident_bytes_max: 0,
    })
}

fn copy(server: &Server, table: u32) -> anyhow::Result<()> {
    server.run(&[
        &format!("CREATE TABLE sbtest{table} LIKE source{table}"),
        &format!("ALTER TABLE sbtest{table} DROP INDEX k_{table}"),
        &format!("INSERT INTO sbtest{table} SELECT * FROM source{table}"),
        &format!("ALTER TABLE sbtest{table} ADD INDEX k_{table} (k)"),
    ])
}
