//! Settings that users' servers have: each loads, or ends in one line that names the variable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use weir_load::{LoadError, LoadPlan, PreparePlan, cleanup};
use weir_model::{Endpoint, Flavor, Secret, WorkloadName};
use weir_server::Session;

use super::{Bench, go, make, users_gate};

weir_testing::on_both_flavors! {
    every_setting_loads_or_is_named
    every_setting_of_its_own_loads_or_is_named
    every_setting_goes_all_ways_or_is_named
}

/// Settings of both flavours.
const OF_BOTH: &[(&str, &str)] = &[
    ("sql_mode", "''"),
    ("sql_mode", "'ANSI'"),
    ("sql_mode", "'ANSI_QUOTES'"),
    ("sql_mode", "'HIGH_NOT_PRECEDENCE'"),
    ("sql_mode", "'IGNORE_SPACE'"),
    ("sql_mode", "'NO_AUTO_VALUE_ON_ZERO'"),
    ("sql_mode", "'NO_BACKSLASH_ESCAPES'"),
    ("sql_mode", "'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'"),
    ("sql_mode", "'NO_DIR_IN_CREATE'"),
    ("sql_mode", "'NO_UNSIGNED_SUBTRACTION'"),
    ("sql_mode", "'ONLY_FULL_GROUP_BY'"),
    ("sql_mode", "'PAD_CHAR_TO_FULL_LENGTH'"),
    ("sql_mode", "'PIPES_AS_CONCAT'"),
    ("sql_mode", "'REAL_AS_FLOAT'"),
    (
        "sql_mode",
        "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'",
    ),
    ("sql_mode", "'TRADITIONAL'"),
    ("character_set_server", "'ascii'"),
    ("character_set_server", "'latin1'"),
    ("character_set_server", "'ucs2'"),
    ("character_set_server", "'utf16'"),
    ("character_set_server", "'utf32'"),
    ("character_set_client", "'latin1'"),
    ("character_set_results", "'utf16'"),
    ("character_set_connection", "'utf16'"),
    ("collation_connection", "'utf8mb4_bin'"),
    ("autocommit", "0"),
    ("init_connect", "'SET autocommit = 0'"),
    ("init_connect", "'SET NAMES latin1'"),
    (
        "init_connect",
        "\"SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'\"",
    ),
    ("init_connect", "'SELECT nonsense'"),
    ("completion_type", "'CHAIN'"),
    ("completion_type", "'RELEASE'"),
    ("read_only", "1"),
    ("transaction_isolation", "'SERIALIZABLE'"),
    ("transaction_isolation", "'READ-UNCOMMITTED'"),
    ("transaction_read_only", "1"),
    ("default_storage_engine", "'MyISAM'"),
    ("innodb_default_row_format", "'compact'"),
    ("innodb_strict_mode", "0"),
    ("innodb_lock_wait_timeout", "1"),
    ("lock_wait_timeout", "1"),
    ("local_infile", "0"),
    ("max_allowed_packet", "1024"),
    ("net_buffer_length", "1024"),
    ("max_connections", "2"),
    ("max_error_count", "0"),
    ("max_join_size", "1"),
    ("max_prepared_stmt_count", "0"),
    ("max_user_connections", "0"),
    ("max_user_connections", "1"),
    ("old_alter_table", "1"),
    ("sql_auto_is_null", "1"),
    ("sql_big_selects", "0"),
    ("sql_safe_updates", "1"),
    ("sql_select_limit", "0"),
    ("sql_select_limit", "1"),
    ("unique_checks", "0"),
    ("foreign_key_checks", "0"),
    ("tmp_table_size", "1024"),
    ("lc_messages", "'de_DE'"),
    ("time_zone", "'-11:30'"),
    ("auto_increment_increment", "7"),
    ("require_secure_transport", "1"),
    ("session_track_schema", "1"),
    ("session_track_state_change", "1"),
    ("session_track_system_variables", "'*'"),
    ("session_track_transaction_info", "'CHARACTERISTICS'"),
];

const OF_MYSQL: &[(&str, &str)] = &[
    ("sql_mode", "'TIME_TRUNCATE_FRACTIONAL'"),
    ("sql_require_primary_key", "1"),
    ("sql_generate_invisible_primary_key", "1"),
    ("super_read_only", "1"),
    ("offline_mode", "1"),
    ("default_table_encryption", "1"),
    ("max_execution_time", "1"),
    ("session_track_gtids", "'OWN_GTID'"),
    ("information_schema_stats_expiry", "0"),
    ("show_gipk_in_create_table_and_information_schema", "0"),
    ("select_into_buffer_size", "8192"),
    ("windowing_use_high_precision", "0"),
    ("default_collation_for_utf8mb4", "'utf8mb4_general_ci'"),
];

const OF_MARIADB: &[(&str, &str)] = &[
    ("sql_mode", "'ORACLE'"),
    ("sql_mode", "'MSSQL'"),
    ("sql_mode", "'DB2'"),
    ("sql_mode", "'MAXDB'"),
    ("sql_mode", "'MYSQL40'"),
    ("sql_mode", "'POSTGRESQL'"),
    ("sql_mode", "'EMPTY_STRING_IS_NULL'"),
    (
        "sql_mode",
        "'NO_FIELD_OPTIONS,NO_KEY_OPTIONS,NO_TABLE_OPTIONS'",
    ),
    ("sql_mode", "'SIMULTANEOUS_ASSIGNMENT'"),
    ("sql_mode", "'TIME_ROUND_FRACTIONAL'"),
    ("innodb_force_primary_key", "1"),
    ("tx_read_only", "1"),
    ("enforce_storage_engine", "'MyISAM'"),
    ("alter_algorithm", "'INSTANT'"),
    ("max_statement_time", "0.000001"),
    ("max_session_mem_used", "8192"),
    ("max_user_connections", "-1"),
    ("old_mode", "''"),
    ("query_cache_type", "1"),
    ("system_versioning_alter_history", "'KEEP'"),
    ("wsrep_on", "0"),
];

const ROWS: u64 = 300;
const EVENTS: u64 = 40;
const EVENTS_SHORT: u64 = 8;

/// Tries a setting on the shortest way of a user: tables are made, changed, filled further, and dropped.
pub(super) fn try_shortly(bench: &Bench, user: &Endpoint) -> Result<(), LoadError> {
    make_anew(user, WorkloadName::OltpReadWrite, true)?;
    assert_eq!(rows_of(bench, user), ROWS, "rows that were made");
    for (workload, is_prepared) in [
        (WorkloadName::OltpReadWrite, true),
        (WorkloadName::OltpReadWrite, false),
        (WorkloadName::OltpInsert, true),
    ] {
        load(bench, user, workload, is_prepared, EVENTS_SHORT)?;
    }
    drop_table(user)
}

/// Tries a setting on the ordinary way of a user through all commands.
pub(super) fn try_setting(bench: &Bench, user: &Endpoint) -> Result<(), LoadError> {
    for secondary_key in [true, false] {
        make_anew(user, WorkloadName::OltpReadWrite, secondary_key)?;
    }
    assert_eq!(rows_of(bench, user), ROWS, "rows that were made");
    for (workload, is_prepared) in [
        (WorkloadName::OltpReadWrite, true),
        (WorkloadName::OltpReadWrite, false),
        (WorkloadName::OltpUpdateNonIndex, true),
        (WorkloadName::OltpInsert, true),
        (WorkloadName::OltpTextReadOnly, true),
    ] {
        if workload == WorkloadName::OltpTextReadOnly {
            make_anew(user, workload, true)?;
        }
        load(bench, user, workload, is_prepared, EVENTS)?;
    }
    drop_table(user)
}

fn drop_table(user: &Endpoint) -> Result<(), LoadError> {
    let plan = PreparePlan::new(user.clone(), WorkloadName::OltpReadWrite);
    cleanup(&plan, &users_gate())
}

/// Makes the table of a workload in place of what is there.
fn make_anew(
    user: &Endpoint,
    workload: WorkloadName,
    secondary_key: bool,
) -> Result<(), LoadError> {
    drop_table(user)?;
    let mut tables = PreparePlan::new(user.clone(), workload);
    tables.tables.rows = ROWS;
    tables.tables.secondary_key = secondary_key;
    make(&tables)
}

fn rows_of(bench: &Bench, user: &Endpoint) -> u64 {
    bench.value(&format!("SELECT COUNT(*) FROM {}.sbtest1", user.database))
}

/// So many transactions of a workload, which leave as many rows as they should.
fn load(
    bench: &Bench,
    user: &Endpoint,
    workload: WorkloadName,
    is_prepared: bool,
    events: u64,
) -> Result<(), LoadError> {
    let before = rows_of(bench, user);
    let mut plan = LoadPlan::new(user.clone(), workload);
    plan.rows = ROWS;
    plan.load.connections = 2;
    plan.load.measure = Duration::from_secs(20).into();
    plan.max_events = Some(events);
    plan.prepared_statements = is_prepared;
    let outcome = go(&plan)?;
    assert_eq!(outcome.counts.transactions, events, "{workload}");
    let added = rows_of(bench, user) - before;
    let expected = if workload == WorkloadName::OltpInsert {
        events
    } else {
        0
    };
    assert_eq!(added, expected, "rows that {workload} added");
    Ok(())
}

fn every_setting_loads_or_is_named(flavor: Flavor) {
    try_all(flavor, OF_BOTH.iter(), try_shortly);
}

fn every_setting_of_its_own_loads_or_is_named(flavor: Flavor) {
    try_all(flavor, of_its_own(flavor).iter(), try_shortly);
}

/// The same with tables of each form and more kinds of load: many minutes on a busy machine.
fn every_setting_goes_all_ways_or_is_named(flavor: Flavor) {
    let all = OF_BOTH.iter().chain(of_its_own(flavor));
    try_all(flavor, all, try_setting);
}

/// A user's way with a setting.
type Way = fn(&Bench, &Endpoint) -> Result<(), LoadError>;

/// A variable and its value.
type Setting = (&'static str, &'static str);

fn of_its_own(flavor: Flavor) -> &'static [Setting] {
    match flavor {
        Flavor::Mysql => OF_MYSQL,
        Flavor::Mariadb => OF_MARIADB,
    }
}

fn try_all(flavor: Flavor, settings: impl Iterator<Item = &'static Setting>, way: Way) {
    // Some hundred small tables are made: nothing has to be kept.
    let (server, directory) = weir_testing::start_with(flavor, &weir_testing::LAZY_COMMITS);
    let bench = Bench { server, directory };
    let mut root = bench.server.session().unwrap();
    let user = account(&bench, &mut root);
    let mut wrong = Vec::new();
    for (variable, value) in settings {
        if let Err(why) = check(&bench, &user, &mut root, (variable, value), way) {
            wrong.push(format!("{variable} = {value}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// An ordinary account of a user's.
pub(super) fn account(bench: &Bench, root: &mut Session) -> Endpoint {
    let own = bench.server.endpoint();
    let schema = &own.database;
    for statement in [
        format!("CREATE DATABASE IF NOT EXISTS {schema}"),
        "CREATE USER bench@localhost IDENTIFIED BY 'x'".to_owned(),
        format!("GRANT ALL ON {schema}.* TO bench@localhost"),
    ] {
        root.run("make an account", &statement).unwrap();
    }
    Endpoint {
        user: "bench".to_owned(),
        password: Secret::new("x"),
        ..own
    }
}

/// Fails with the problem of a setting.
fn check(
    bench: &Bench,
    user: &Endpoint,
    root: &mut Session,
    (variable, value): (&str, &str),
    way: Way,
) -> Result<(), String> {
    let read = format!("SELECT CONCAT('', @@GLOBAL.{variable})");
    // A flavour or version may not have it.
    let Ok(Some(before)) = root.value::<String>("read a variable", &read) else {
        return Ok(());
    };
    let set = |value: &str| format!("SET GLOBAL {variable} = {value}");
    if root.run("set a variable", &set(value)).is_err() {
        return Ok(());
    }
    let result = catch_unwind(AssertUnwindSafe(|| way(bench, user)));
    let before = if before.parse::<f64>().is_ok() {
        before
    } else {
        format!("'{before}'")
    };
    root.run("put a variable back", &set(&before)).unwrap();
    if variable == "super_read_only" {
        root.run("put a variable back", "SET GLOBAL read_only = 0")
            .unwrap();
    }
    let clean = format!("DROP TABLE IF EXISTS {}.sbtest1", user.database);
    root.run("clean", &clean).unwrap();
    judge(variable, result)
}

/// Fails with the problem of the result of a setting of `variable`.
pub(super) fn judge(
    variable: &str,
    result: std::thread::Result<Result<(), LoadError>>,
) -> Result<(), String> {
    match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            let told = error.to_string();
            // The server's words have dashes.
            let is_named = told.replace('-', "_").contains(variable);
            if is_named && told.lines().count() == 1 {
                Ok(())
            } else {
                Err(told)
            }
        }
        Err(panic) => Err(panic
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_else(|| "panicked".to_owned())),
    }
}
