//! What can be known before the load begins: tables, the server's limits, this process's limits.

mod reach;

use std::collections::BTreeSet;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::LoadError;
use crate::connect::{Servers, UNSUPPORTED_AS_PREPARED};
use crate::plan::LoadPlan;
use crate::session::Work;
use weir_mysql::{ClientError, Connection, Deadline, Gate, Patience};
use weir_workload::{Script, Statement, table_name};

pub(crate) use reach::check as check_reach;

/// Files that a process has open besides its connections, generously.
const OTHER_FILES: u64 = 64;
/// The server's word that a table does not exist (`ER_NO_SUCH_TABLE`).
const NO_SUCH_TABLE: u16 = 1146;
/// The server's word that a table does not have a column (`ER_BAD_FIELD_ERROR`).
const NO_SUCH_COLUMN: u16 = 1054;

/// Refuses a plan that is bound to fail.
pub(crate) fn check(
    plan: &LoadPlan,
    servers: &Servers,
    work: &Work<'_>,
    deadline: Deadline,
) -> Result<(), LoadError> {
    let all = plan
        .load
        .connections
        .saturating_add(plan.load.idle_connections);
    raise_file_limit(u64::from(all) + OTHER_FILES)?;
    // Dealt in turn: the servers of the working connections are the first of all.
    let mut working = servers.shares(plan.load.connections);
    for (server, all) in servers.shares(all) {
        let mut control = Connection::connect(server, true, Patience::Until(deadline))?;
        check_connections(all, &mut control)?;
        let Some((_, connections)) = working.next() else {
            continue;
        };
        let changed = if work.is_compiled() {
            check_server(plan, &work.script, connections, &mut control)?;
            tables_changed(&work.script, server.gate())
        } else {
            tables_in_reach(work, &mut control)?
        };
        reach::check(&changed, server, &mut control)?;
    }
    Ok(())
}

/// Names of all tables that a source's sessions may change: those of the schema. The gate judges their
/// statements one by one.
fn tables_in_reach(
    work: &Work<'_>,
    control: &mut Connection,
) -> Result<BTreeSet<String>, LoadError> {
    if work.only_reads() {
        return Ok(BTreeSet::new());
    }
    control.look_before_writing()?;
    let tables: Vec<String> = control
        .rows("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")?;
    Ok(tables.into_iter().collect())
}

/// Names of all tables that the statements of a load change.
fn tables_changed(script: &Script, gate: &Gate) -> BTreeSet<String> {
    let each = |statement: &Statement| {
        let tables = 0..statement.tables;
        let sql = tables.map(|table| statement.sql(table)).collect::<Vec<_>>();
        sql.into_iter().flat_map(|sql| gate.tables_changed(&sql))
    };
    script.statements.iter().flat_map(each).collect()
}

/// Checks one server, which is to have so many of the connections.
fn check_server(
    plan: &LoadPlan,
    script: &Script,
    connections: u32,
    control: &mut Connection,
) -> Result<(), LoadError> {
    check_statements(script, connections, control)?;
    if script.is_bulk() {
        for number in 1..=plan.load.connections {
            check_bulk_table(plan, number, control)?;
            // No connection prepares it.
            control.admit_only(&format!("INSERT INTO {} VALUES ...", table_name(number)))?;
        }
        return Ok(());
    }
    if plan.workload.is_on_sbtest() {
        for number in 1..=plan.tables {
            check_table(plan, number, control)?;
        }
    }
    for statement in &script.statements {
        for table in 0..statement.tables {
            check_statement(plan, &statement.sql(table), table, control)?;
        }
    }
    Ok(())
}

/// Whether the tables have the columns that a statement needs and the account the privilege.
/// Connections that prepare it would notice, but not those that send it as text.
fn check_statement(
    plan: &LoadPlan,
    sql: &str,
    table: u32,
    control: &mut Connection,
) -> Result<(), LoadError> {
    match control.check(sql) {
        Err(ClientError::Statement { code, .. })
            if code == UNSUPPORTED_AS_PREPARED || plan.tolerated.contains(code) =>
        {
            Ok(())
        }
        Err(ClientError::Statement {
            code: NO_SUCH_COLUMN,
            message,
            ..
        }) => Err(LoadError::Table {
            table: format!("{}.{}", plan.endpoint.database, table_name(table + 1)),
            why: format!("is not one of this workload ({})", message.to_lowercase()),
        }),
        result => Ok(result?),
    }
}

fn check_connections(connections: u32, control: &mut Connection) -> Result<(), LoadError> {
    let used = status(control, "Threads_connected")?;
    // The control connection is among those and will be gone.
    let needed = u64::from(connections) + used.saturating_sub(1);
    check_limit(
        control,
        "max_connections",
        needed,
        format!(
            "{connections} connections beside the server's {} others need",
            used.saturating_sub(1)
        ),
    )?;
    // 0 is no limit. The control connection counts while this is asked.
    match control.first::<u64>("SELECT @@max_user_connections")? {
        Some(value @ 1..) if value < u64::from(connections) => Err(LoadError::Limit {
            variable: "max_user_connections",
            value,
            needed: u64::from(connections),
            why: "the connections need".to_owned(),
        }),
        _ => Ok(()),
    }
}

fn check_statements(
    script: &Script,
    connections: u32,
    control: &mut Connection,
) -> Result<(), LoadError> {
    let used = status(control, "Prepared_stmt_count")?;
    let each = script.prepared_statements();
    let needed = u64::from(connections) * each + used;
    check_limit(
        control,
        "max_prepared_stmt_count",
        needed,
        format!("{connections} connections with {each} prepared statements each need"),
    )
}

fn check_limit(
    control: &mut Connection,
    variable: &'static str,
    needed: u64,
    why: String,
) -> Result<(), LoadError> {
    let sql = format!("SELECT @@GLOBAL.{variable}");
    let value = control.first::<u64>(&sql)?.unwrap_or(u64::MAX);
    if value < needed {
        return Err(LoadError::Limit {
            variable,
            value,
            needed,
            why,
        });
    }
    Ok(())
}

/// A status counter; 0 if the server does not have it.
fn status(control: &mut Connection, name: &str) -> Result<u64, LoadError> {
    let sql = format!("SHOW GLOBAL STATUS LIKE '{name}'");
    let row = control.first::<(String, u64)>(&sql)?;
    Ok(row.map_or(0, |(_, value)| value))
}

/// The highest key is a table's number of rows unless rows were deleted by hand; counting them
/// would read the whole table into the buffer pool and change what is measured.
fn check_table(plan: &LoadPlan, number: u32, control: &mut Connection) -> Result<(), LoadError> {
    let name = table_name(number);
    let table = || format!("{}.{name}", plan.endpoint.database);
    let highest = match control.first::<Option<u64>>(&format!("SELECT MAX(id) FROM {name}")) {
        Ok(row) => row.flatten().unwrap_or(0),
        Err(ClientError::Statement {
            code: NO_SUCH_TABLE,
            ..
        }) => {
            return Err(LoadError::Table {
                table: table(),
                why: format!("does not exist, but {} tables are asked for", plan.tables),
            });
        }
        Err(error) => return Err(error.into()),
    };
    if highest < plan.rows {
        return Err(LoadError::Table {
            table: table(),
            why: format!(
                "has rows up to id {highest}, but {} are asked for",
                plan.rows
            ),
        });
    }
    Ok(())
}

/// Rows are numbered from 1 whenever a run begins, so those of another run would be in the way.
fn check_bulk_table(
    plan: &LoadPlan,
    number: u32,
    control: &mut Connection,
) -> Result<(), LoadError> {
    let name = table_name(number);
    let refused = |why: String| LoadError::Table {
        table: format!("{}.{name}", plan.endpoint.database),
        why,
    };
    let columns = control.first::<u64>(&format!(
        "SELECT COUNT(*) FROM information_schema.columns \
         WHERE table_schema = DATABASE() AND table_name = '{name}'"
    ))?;
    match columns.unwrap_or(0) {
        2 => {}
        0 => {
            return Err(refused(format!(
                "does not exist, but {} connections need a table each",
                plan.load.connections
            )));
        }
        _ => return Err(refused("is not a table of bulk_insert".to_owned())),
    }
    let highest = control.first::<Option<u64>>(&format!("SELECT MAX(id) FROM {name}"))?;
    match highest.flatten() {
        None => Ok(()),
        Some(_) => Err(refused(
            "has rows, but bulk_insert fills empty tables".to_owned(),
        )),
    }
}

/// Makes room for `needed` open files, as far as this process may.
fn raise_file_limit(needed: u64) -> Result<(), LoadError> {
    let limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current.filter(|current| *current < needed) else {
        return Ok(());
    };
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let maximum = limit.maximum.unwrap_or(u64::MAX);
    if maximum < needed || setrlimit(Resource::Nofile, raised).is_err() {
        return Err(LoadError::Limit {
            variable: "ulimit -n",
            value: maximum.max(current),
            needed,
            why: "the connections and other open files need".to_owned(),
        });
    }
    Ok(())
}
