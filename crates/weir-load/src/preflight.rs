//! Checks before the load begins: tables, the server's limits, this process's limits.

mod new_numbers;
mod order_entry;
mod reach;
mod session_variables;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::LoadError;
use crate::connect::{Servers, UNSUPPORTED_AS_PREPARED};
use crate::plan::LoadPlan;
use crate::session::Work;
use weir_mysql::{ClientError, Connection, Deadline, Gate, Patience};
use weir_workload::{Script, table_name};

pub(crate) use reach::check as check_reach;
pub(crate) use session_variables::check_control;

/// Files that a process has open besides its connections, generously.
const OTHER_FILES: u64 = 64;
/// The server's word that a table does not exist (`ER_NO_SUCH_TABLE`).
const NO_SUCH_TABLE: u16 = 1146;
/// The server's word that a table does not have a column (`ER_BAD_FIELD_ERROR`).
const NO_SUCH_COLUMN: u16 = 1054;

/// Errors that answer a request to prepare that is not understood (`ER_UNKNOWN_COM_ERROR`, `ER_NOT_SUPPORTED_YET`).
const NO_PREPARE: [u16; 2] = [1047, 1235];

/// The variable of which 0 is a limit.
const PREPARED_STATEMENTS: &str = "max_prepared_stmt_count";
/// Keys that are looked for in each table.
const SAMPLED_KEYS: u64 = 20;
/// With fewer of them there, a run is warned about.
const ROWS_SHARE_MIN: f64 = 0.9;

/// Facts about the servers, found before a run.
#[derive(Debug, Default)]
pub(crate) struct PreflightResult {
    /// To the farthest one and back.
    pub(crate) round_trip: Duration,
    /// Warnings for its user, a sentence each; a run can do with them.
    pub(crate) warnings: Vec<String>,
}

/// Refuses a plan that is bound to fail.
pub(crate) fn check(
    plan: &LoadPlan,
    servers: &Servers,
    work: &Work<'_>,
    deadline: Deadline,
) -> Result<PreflightResult, LoadError> {
    let share = plan.share();
    let all = share.connections.len() + share.idle.len();
    raise_file_limit(all as u64 + OTHER_FILES)?;
    let mut checked = PreflightResult::default();
    let mut controls = Vec::new();
    let idle = servers.shares(&share.idle);
    for ((server, connections), (_, idle)) in servers.shares(&share.connections).zip(idle) {
        if connections + idle == 0 {
            continue;
        }
        let mut control = Connection::connect(server, true, Patience::Until(deadline))?;
        session_variables::check_script(work.script(), &mut control)?;
        check_connections(connections + idle, &mut control)?;
        checked.round_trip = checked.round_trip.max(control.round_trip()?);
        if connections > 0 {
            let changed = if work.is_compiled() {
                let warning = check_server(plan, work.script(), connections, &mut control)?;
                checked.warnings.extend(warning);
                tables_changed(work.script(), server.gate())
            } else {
                tables_in_reach(work, &mut control)?
            };
            reach::check(&changed, server, &mut control)?;
            controls.push(control);
        }
    }
    new_numbers::go_on(work.script(), &mut controls)?;
    new_numbers::share_out(work.script(), &share);
    Ok(checked)
}

/// Names of all tables that a source's sessions may change: those of the schema. The gate judges their
/// statements one by one.
fn tables_in_reach(
    work: &Work<'_>,
    control: &mut Connection,
) -> Result<BTreeSet<String>, LoadError> {
    if work.only_reads() || work.opens_connections() {
        return Ok(BTreeSet::new());
    }
    control.look_before_writing()?;
    let tables: Vec<String> = control
        .rows("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")?;
    Ok(tables.into_iter().collect())
}

/// Names of all tables that the statements of a load change.
fn tables_changed(script: &Script, gate: &Gate) -> BTreeSet<String> {
    texts(script)
        .flat_map(|sql| gate.tables_changed(&sql))
        .collect()
}

/// The texts of all statements on all their tables.
fn texts(script: &Script) -> impl Iterator<Item = String> {
    script
        .on_tables()
        .map(|(statement, table)| statement.sql(table))
}

/// Checks one server, which is to have so many of the connections.
fn check_server(
    plan: &LoadPlan,
    script: &Script,
    connections: u32,
    control: &mut Connection,
) -> Result<Option<String>, LoadError> {
    check_statements(script, connections, control)?;
    if script.is_bulk() {
        check_bulk_tables(plan, control)?;
        for number in 1..=plan.load.connections {
            // No connection prepares it.
            control.admit_only(&format!("INSERT INTO {} VALUES ...", table_name(number)))?;
        }
        return Ok(None);
    }
    if let Some(workload) = plan.workload.order_entry() {
        order_entry::check(&workload, &plan.endpoint.database, control)?;
    }
    let mut warning = None;
    if plan.workload.is_on_sbtest() {
        warning = check_tables(plan, control)?;
    }
    check_texts(plan, script, control)?;
    Ok(warning)
}

/// Checks that the tables have the columns that the statements need and the account the privileges.
/// Connections that prepare them would notice, but not those that send them as text.
fn check_texts(
    plan: &LoadPlan,
    script: &Script,
    control: &mut Connection,
) -> Result<(), LoadError> {
    let texts: Vec<_> = texts(script).collect();
    if !plan.prepared_statements {
        // Nothing is prepared, as a proxy between may not know how.
        let mut texts = texts.iter();
        return texts.try_for_each(|sql| Ok(control.admit_only(sql)?));
    }
    let answers = control.check_all(&texts)?;
    script
        .on_tables()
        .zip(answers)
        .try_for_each(|((_, table), answer)| check_answer(plan, table, answer))
}

/// Checks the server's answer to a statement on a table.
fn check_answer(
    plan: &LoadPlan,
    table: u32,
    answer: Result<(), ClientError>,
) -> Result<(), LoadError> {
    match answer {
        Err(ClientError::Statement { code, .. }) if NO_PREPARE.contains(&code) => {
            Err(LoadError::Setting {
                setting: "--db-ps-mode",
                value: "auto".to_owned(),
                why: "the server, or a proxy before it, prepares no statements; use --db-ps-mode=disable",
            })
        }
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
    // The control connection counts while this is asked.
    match known_limit(
        "max_user_connections",
        control.first("SELECT @@max_user_connections")?,
    ) {
        Some(value) if value < u64::from(connections) => Err(LoadError::Limit {
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
        PREPARED_STATEMENTS,
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
    match known_limit(variable, control.first(&sql)?) {
        Some(value) if value < needed => Err(LoadError::Limit {
            variable,
            value,
            needed,
            why,
        }),
        _ => Ok(()),
    }
}

/// The limit that a server's answer names. Servers and proxies that speak the protocol answer -1 for none, and 0
/// connections; no prepared statements at all are a limit.
fn known_limit(variable: &str, answer: Option<i64>) -> Option<u64> {
    let value = u64::try_from(answer?).ok()?;
    (value > 0 || variable == PREPARED_STATEMENTS).then_some(value)
}

/// A status counter; 0 if the server does not have it.
fn status(control: &mut Connection, name: &str) -> Result<u64, LoadError> {
    let sql = format!("SHOW GLOBAL STATUS LIKE '{name}'");
    let row = control.first::<(String, u64)>(&sql)?;
    Ok(row.map_or(0, |(_, value)| value))
}

/// The highest key is about a table's number of rows, also after a run that deleted some; counting them
/// would read the whole table into the buffer pool and change what is measured. A few keys of each tell how many are
/// left.
fn check_tables(plan: &LoadPlan, control: &mut Connection) -> Result<Option<String>, LoadError> {
    let names: Vec<_> = (1..=plan.tables).map(table_name).collect();
    for (name, highest) in names.iter().zip(highest_keys(&names, control)?) {
        check_table(plan, name, highest)?;
    }
    rows_gone(plan, &names, control)
}

/// A warning if many rows of the tables are gone.
fn rows_gone(
    plan: &LoadPlan,
    names: &[String],
    control: &mut Connection,
) -> Result<Option<String>, LoadError> {
    let sampled = SAMPLED_KEYS.min(plan.rows);
    let keys: Vec<_> = (0..sampled)
        .map(|index| (1 + index * plan.rows / sampled).to_string())
        .collect();
    if keys.is_empty() {
        return Ok(None);
    }
    let keys = keys.join(", ");
    let queries: Vec<_> = names
        .iter()
        .map(|name| format!("SELECT COUNT(*) FROM {name} WHERE id IN ({keys})"))
        .collect();
    let mut found = 0;
    for answer in control.first_of_each::<u64>(&queries)? {
        found += answer?.unwrap_or(0);
    }
    let share = found as f64 / (sampled * names.len() as u64) as f64;
    Ok((share < ROWS_SHARE_MIN).then(|| {
        format!(
            "about {:.0} % of the {} rows of a table are there, by {sampled} keys of each; \
             run cleanup and prepare to have them all",
            100.0 * share,
            plan.rows
        )
    }))
}

/// The highest key of each table, all asked for at once.
#[allow(
    clippy::type_complexity,
    reason = "an answer for each, which may be that it has none"
)]
fn highest_keys(
    names: &[String],
    control: &mut Connection,
) -> Result<Vec<Result<Option<u64>, ClientError>>, ClientError> {
    let queries: Vec<_> = names
        .iter()
        .map(|name| format!("SELECT MAX(id) FROM {name}"))
        .collect();
    let answers = control.first_of_each::<Option<u64>>(&queries)?;
    let flat = |answer: Result<Option<Option<u64>>, _>| answer.map(Option::flatten);
    Ok(answers.into_iter().map(flat).collect())
}

fn check_table(
    plan: &LoadPlan,
    name: &str,
    highest: Result<Option<u64>, ClientError>,
) -> Result<(), LoadError> {
    let refused = |why: String| LoadError::Table {
        table: format!("{}.{name}", plan.endpoint.database),
        why,
    };
    let highest = match highest {
        Ok(highest) => highest.unwrap_or(0),
        Err(ClientError::Statement {
            code: NO_SUCH_TABLE,
            ..
        }) => {
            return Err(refused(format!(
                "does not exist, but {} tables are asked for",
                plan.tables
            )));
        }
        Err(error) => return Err(error.into()),
    };
    if (highest as f64) < ROWS_SHARE_MIN * plan.rows as f64 {
        return Err(refused(format!(
            "has rows up to id {highest}, but {} are asked for",
            plan.rows
        )));
    }
    Ok(())
}

/// Rows are numbered from 1 whenever a run begins, so those of another run would be in the way.
fn check_bulk_tables(plan: &LoadPlan, control: &mut Connection) -> Result<(), LoadError> {
    let names: Vec<_> = (1..=plan.load.connections).map(table_name).collect();
    let columns: HashMap<String, u64> = control
        .rows::<(String, u64)>(
            "SELECT table_name, COUNT(*) FROM information_schema.columns \
             WHERE table_schema = DATABASE() GROUP BY table_name",
        )?
        .into_iter()
        .collect();
    let refused = |name: &str, why: &str| LoadError::Table {
        table: format!("{}.{name}", plan.endpoint.database),
        why: why.to_owned(),
    };
    for name in &names {
        match columns.get(name) {
            Some(2) => {}
            None => {
                let needed = plan.load.connections;
                let why = format!("does not exist, but {needed} connections need a table each");
                return Err(refused(name, &why));
            }
            Some(_) => return Err(refused(name, "is not a table of bulk_insert")),
        }
    }
    for (name, highest) in names.iter().zip(highest_keys(&names, control)?) {
        if highest?.is_some() {
            return Err(refused(
                name,
                "has rows, but bulk_insert fills empty tables",
            ));
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_no_limit_refuses_nothing() {
        for none in [None, Some(-1), Some(0)] {
            assert_eq!(known_limit("max_connections", none), None);
        }
        assert_eq!(known_limit("max_connections", Some(151)), Some(151));
        assert_eq!(known_limit(PREPARED_STATEMENTS, Some(-1)), None);
        assert_eq!(known_limit(PREPARED_STATEMENTS, Some(0)), Some(0));
    }
}
