//! Tools with command lines and reports of their own: a client in Go, `mysqlslap`, and go-tpc.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::Context as _;
use weir_workload::seeded;

use crate::cases::{Arm, Sample, TABLES, number_after};
use crate::child;
use crate::server::{ACCOUNT, Server};

/// Queries that `mysqlslap` is given to repeat, and how many of them a second it is asked for: it has no limit of time.
const SLAP_TEXTS: u32 = 2_000;
const SLAP_PER_S: u32 = 20_000;
/// Begin of go-tpc's lines of a transaction's totals, and of those that failed.
const SUMMARY: &str = "[Summary] ";
const FAILED: &str = "_ERR";
/// The schema of go-tpc's tables: they have the names of Weir's.
const GO_TPC_SCHEMA: &str = "go_tpc";

/// Point selects by the client in Go: it prints sysbench's labels.
pub(crate) fn go_client(
    arm: &Arm,
    server: &Server,
    (rows, connections, time_s): (u32, u32, u32),
) -> anyhow::Result<Sample> {
    let mut command = Command::new(&arm.program);
    command
        .arg(format!("-dsn={}", arm.way.for_go(server)))
        .arg(format!("-tables={TABLES}"))
        .arg(format!("-table-size={rows}"))
        .arg(format!("-threads={connections}"))
        .arg(format!("-time={time_s}s"))
        .args(&arm.options);
    let done = child::run(&mut command)?;
    let count = number_after(&done.output, "queries:")?;
    let seconds = number_after(&done.output, "total time:")?;
    Ok(Sample::new(arm, &done, count, seconds))
}

/// Point selects by `mysqlslap`, as texts.
pub(crate) fn slap(
    arm: &Arm,
    server: &Server,
    (rows, connections, time_s): (u32, u32, u32),
) -> anyhow::Result<Sample> {
    let mut rng = seeded(1, 0);
    let mut texts = String::new();
    for _ in 0..SLAP_TEXTS {
        let table = 1 + rng.below(u64::from(TABLES));
        let id = 1 + rng.below(u64::from(rows));
        writeln!(texts, "SELECT c FROM sbtest{table} WHERE id={id};")?;
    }
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), texts)?;
    // Each client sends as many.
    let queries = (SLAP_PER_S * time_s).next_multiple_of(connections);
    let mut command = Command::new(&arm.program);
    command
        .args([
            "--no-defaults",
            "--no-drop",
            "--iterations=1",
            "--delimiter=;",
        ])
        .arg(format!("--user={ACCOUNT}"))
        .arg(format!("--create-schema={}", server.schema()))
        .arg(format!("--concurrency={connections}"))
        .arg(format!("--number-of-queries={queries}"))
        .arg(format!("--query={}", file.path().display()))
        .args(&arm.options);
    arm.way.for_slap(&mut command, server);
    let done = child::run(&mut command)?;
    let seconds = number_after(
        &done.output,
        "Average number of seconds to run all queries:",
    )?;
    Ok(Sample::new(arm, &done, f64::from(queries), seconds))
}

/// Point selects by the program that does nothing else, with as many threads as Weir has reactors.
pub(crate) fn floor(
    arm: &Arm,
    server: &Server,
    (rows, connections, time_s): (u32, u32, u32),
) -> anyhow::Result<Sample> {
    let mut command = Command::new(&arm.program);
    command
        .arg(format!("--user={ACCOUNT}"))
        .arg(format!("--schema={}", server.schema()))
        .arg(format!("--tables={TABLES}"))
        .arg(format!("--table-size={rows}"))
        .arg(format!("--threads={connections}"))
        .arg(format!("--time={time_s}"))
        .arg(format!("--loops={}", weir_load::reactors_for(connections)))
        .args(&arm.options);
    arm.way.for_floor(&mut command, server);
    let done = child::run(&mut command)?;
    let count = number_after(&done.output, "queries:")?;
    let seconds = number_after(&done.output, "total time:")?;
    Ok(Sample::new(arm, &done, count, seconds))
}

/// A command of go-tpc with TPC-C's tables, over TCP: it knows no sockets.
fn go_tpc(arm: &Arm, server: &Server, warehouses: u32, threads: u32) -> Command {
    let mut command = Command::new(&arm.program);
    command
        .args(["tpcc", "--host=127.0.0.1"])
        .arg(format!("--port={}", server.port()))
        .arg(format!("--user={ACCOUNT}"))
        .arg(format!("--db={GO_TPC_SCHEMA}"))
        .arg(format!("--warehouses={warehouses}"))
        .arg(format!("--threads={threads}"))
        .args(&arm.options);
    command
}

/// Makes go-tpc's tables anew; how many rows they have.
pub(crate) fn go_tpc_prepare(
    arm: &Arm,
    server: &Server,
    warehouses: u32,
    threads: u32,
) -> anyhow::Result<(child::ToolOutput, u64)> {
    server.query(&format!("DROP DATABASE IF EXISTS {GO_TPC_SCHEMA}"))?;
    server.query(&format!("CREATE DATABASE {GO_TPC_SCHEMA}"))?;
    let mut command = go_tpc(arm, server, warehouses, threads);
    let done = child::run(command.args(["prepare", "--no-check"]))?;
    let tables = crate::order_entry::TABLES.iter();
    let counts = tables.map(|table| server.count(&format!("{GO_TPC_SCHEMA}.{table}")));
    Ok((done, counts.sum::<anyhow::Result<u64>>()?))
}

/// Transactions of go-tpc.
pub(crate) fn go_tpc_run(
    arm: &Arm,
    server: &Server,
    warehouses: u32,
    (connections, time_s): (u32, u32),
) -> anyhow::Result<Sample> {
    let mut command = go_tpc(arm, server, warehouses, connections);
    let done = child::run(command.arg("run").arg(format!("--time={time_s}s")))?;
    let (count, seconds) = go_tpc_totals(&done.output)?;
    Ok(Sample::new(arm, &done, count, seconds))
}

/// Transactions that did not fail, and how long they took.
fn go_tpc_totals(output: &str) -> anyhow::Result<(f64, f64)> {
    let mut totals = (0.0, 0.0_f64);
    for line in output.lines().filter_map(|line| line.strip_prefix(SUMMARY)) {
        let (name, _) = line.split_once(' ').context("a total without a name")?;
        if name.ends_with(FAILED) {
            continue;
        }
        totals.0 += number_after(line, "Count:")?;
        totals.1 = totals.1.max(number_after(line, "Takes(s):")?);
    }
    anyhow::ensure!(totals.0 > 0.0, "go-tpc tells no transactions:\n{output}");
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_go_tpc_leave_out_what_failed() {
        let output = "[Current] PAYMENT - Takes(s): 1.0, Count: 900, TPM: 1.0\n\
                      [Summary] NEW_ORDER - Takes(s): 3.9, Count: 344, TPM: 5231.3, Sum(ms): 8486.7\n\
                      [Summary] NEW_ORDER_ERR - Takes(s): 3.9, Count: 2, TPM: 30.4\n\
                      [Summary] PAYMENT - Takes(s): 4.0, Count: 356, TPM: 5409.8\n\
                      tpmC: 5231.1, efficiency: 40677.3%\n";
        assert_eq!(go_tpc_totals(output).unwrap(), (700.0, 4.0));
        assert!(go_tpc_totals("nothing").is_err());
    }
}
