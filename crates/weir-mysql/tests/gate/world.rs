//! A throw-away server with two schemas, and what of its state a statement may change.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use weir_model::{Endpoint, Flavor};
use weir_mysql::{Connection, Connector, Gate, Patience, Row};
use weir_testing::{LAZY_COMMITS, PrivateServer, start_with};

use crate::role::Role;

/// Longest wait for a statement: two may wait for each other's locks.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest wait for the end of a server that has crashed: it writes its stack first.
const CRASH: Duration = Duration::from_mins(1);
/// Variables that change by themselves, that a logged statement changes, or that tell of one connection.
const NOISE: &str = "'gtid_executed', 'gtid_binlog_pos', 'gtid_binlog_state', 'gtid_current_pos', 'gtid_slave_pos', \
                     'gtid_purged', 'timestamp', 'rand_seed1', 'rand_seed2', 'pseudo_thread_id', 'last_gtid', \
                     'statement_id', 'error_count', 'warning_count', 'insert_id', 'last_insert_id', 'identity', \
                     'gtid_owned', 'in_transaction'";
/// Schemas that statements do not change, or whose tables are looked at one by one.
const SYSTEM: &str = "'mysql', 'information_schema', 'performance_schema', 'sys'";
/// Functions that are no server's own in some spelling or on one flavour: each notes that it was called.
const STORED: [&str; 17] = [
    "f",
    "f1",
    "count",
    "now",
    "sum",
    "nvl",
    "uuid_to_bin",
    "point",
    "linestring",
    "against",
    "of",
    "columns",
    "json_table",
    "md5",
    "to_char",
    "any_value",
    "regexp_like",
];

/// The schema that a load may change, and one that it may not.
const SCHEMAS: [&str; 2] = ["shop", "hr"];

/// A part of the state.
const BINARY_LOGS: &str = "binary logs";

/// A part of the state and what it is.
pub(crate) type State = Vec<(&'static str, String)>;

/// A server and the connections that look at it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) flavor: Flavor,
    watcher: Connection,
    victim: Connection,
    variables: Vec<(String, String)>,
    pub(crate) files: PathBuf,
    pub(crate) endpoint: Endpoint,
    server: PrivateServer,
    _directory: TempDir,
    _files: TempDir,
}

impl World {
    pub(crate) fn start(flavor: Flavor) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().to_owned();
        let name = files.display().to_string();
        let mut options = LAZY_COMMITS.to_vec();
        options.extend([
            ("log_bin", "binlog"),
            ("server_id", "1"),
            ("secure_file_priv", &name),
            ("performance_schema", "ON"),
            (
                "performance_schema_instrument",
                "wait/lock/metadata/sql/mdl=ON",
            ),
            ("log_bin_trust_function_creators", "ON"),
            ("lock_wait_timeout", "2"),
            ("innodb_lock_wait_timeout", "1"),
        ]);
        let (server, directory) = start_with(flavor, &options);
        let endpoint = server.endpoint();
        let mut world = Self {
            flavor,
            watcher: bare(&endpoint),
            victim: bare(&endpoint),
            variables: Vec::new(),
            files,
            endpoint,
            server,
            _directory: directory,
            _files: folder,
        };
        world.make().unwrap();
        world.variables = world.globals();
        world
    }

    fn make(&mut self) -> Result<(), String> {
        self.run("CREATE USER IF NOT EXISTS u1")?;
        self.run("CREATE ROLE IF NOT EXISTS r1")?;
        SCHEMAS.iter().try_for_each(|schema| self.rebuild(schema))
    }

    /// Returns the reason that the server has ended by itself, which takes a moment after its connections are lost;
    /// `None` while it runs.
    pub(crate) fn end(&mut self) -> Option<String> {
        let limit = Instant::now() + CRASH;
        while Connection::connect(&connector(&self.endpoint), false, Patience::Each(PATIENCE))
            .is_err()
        {
            if let Some(end) = self.server.has_exited() {
                let log = std::fs::read_to_string(self.server.error_log());
                return Some(crashed_in(&log.unwrap_or_default()).unwrap_or(end));
            }
            assert!(
                Instant::now() < limit,
                "the server neither answers nor ends"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }

    /// A connection that no gate judges, as the statement under test has it.
    pub(crate) fn connect(&self) -> Connection {
        bare(&self.endpoint)
    }

    /// The server's number of the connection that statements try to end.
    pub(crate) fn victim(&self) -> u32 {
        self.victim.id()
    }

    fn run(&mut self, sql: &str) -> Result<(), String> {
        let done = self.watcher.run(sql);
        done.map(drop).map_err(|error| format!("{sql}: {error}"))
    }

    fn globals(&mut self) -> Vec<(String, String)> {
        let rows = self.watcher.rows("SHOW GLOBAL VARIABLES");
        rows.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Makes both schemas as they were, and global variables, after a statement changed them. Some leave what cannot be
    /// undone: a prepared transaction with its locks, a file in a schema's folder.
    pub(crate) fn restore(&mut self) -> Result<(), String> {
        // What a statement did to these, nothing undoes: they come back where that is possible.
        for sql in [
            "SET GLOBAL read_only = 0",
            "RESET PERSIST",
            "DROP DATABASE IF EXISTS x1",
        ] {
            let _ = self.watcher.run(sql);
        }
        for (name, value) in self.globals() {
            let before = self.variables.iter().find(|(known, _)| *known == name);
            let Some((_, before)) = before.filter(|(_, before)| *before != value) else {
                continue;
            };
            let number = format!("SET GLOBAL {name} = {before}");
            let text = format!("SET GLOBAL {name} = '{before}'");
            let _ = self.watcher.run(text).or_else(|_| self.watcher.run(number));
        }
        for sql in [
            "CREATE USER IF NOT EXISTS u1",
            "CREATE ROLE IF NOT EXISTS r1",
        ] {
            let _ = self.watcher.run(sql);
        }
        if self.victim.ping().is_err() {
            self.victim = bare(&self.endpoint);
        }
        for file in std::fs::read_dir(&self.files).unwrap().flatten() {
            let _ = std::fs::remove_file(file.path());
        }
        SCHEMAS.iter().try_for_each(|schema| self.repair(schema))
    }

    /// Makes tables of a schema anew that a statement has changed, and all of it if more is gone.
    pub(crate) fn repair(&mut self, schema: &str) -> Result<(), String> {
        let expected = self.flavor == Flavor::Mariadb;
        let count = |watcher: &mut Connection, sql: &str| watcher.first::<u64>(sql).ok().flatten();
        let tables = format!(
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{schema}'"
        );
        let columns = format!(
            "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = '{schema}' \
             AND table_name IN ('t', 'u', 'log') AND column_name IN ('id', 'a', 'b')"
        );
        let routines = format!(
            "SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = '{schema}'"
        );
        let whole = 4 + u64::from(expected);
        if count(&mut self.watcher, &routines) != Some(STORED.len() as u64 + 1) {
            return self.rebuild(schema);
        }
        if count(&mut self.watcher, &tables) != Some(whole)
            || count(&mut self.watcher, &columns) != Some(9)
        {
            return self.rebuild_tables(schema);
        }
        Ok(())
    }

    fn rebuild_tables(&mut self, schema: &str) -> Result<(), String> {
        self.run("SET foreign_key_checks = 0")?;
        let sql = format!(
            "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = '{schema}'"
        );
        let tables: Vec<(String, String)> =
            self.watcher.rows(sql).map_err(|error| error.to_string())?;
        for (name, kind) in tables {
            let kind = match kind.as_str() {
                "VIEW" => "VIEW",
                "SEQUENCE" => "SEQUENCE",
                _ => "TABLE",
            };
            let name = name.replace('`', "``");
            self.run(&format!("DROP {kind} {schema}.`{name}`"))?;
        }
        self.run(&format!("USE {schema}"))?;
        for table in ["t", "u", "log"] {
            self.run(&format!(
                "CREATE TABLE {table} (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b VARCHAR(99))"
            ))?;
            self.run(&format!(
                "INSERT INTO {table} (a, b) VALUES (1, 'x'), (2, 'y')"
            ))?;
        }
        self.run("CREATE VIEW v AS SELECT * FROM t")?;
        if self.flavor == Flavor::Mariadb {
            self.run("CREATE SEQUENCE s")?;
        }
        Ok(())
    }

    /// Makes a schema anew.
    fn rebuild(&mut self, schema: &str) -> Result<(), String> {
        self.run(&format!("DROP DATABASE IF EXISTS {schema}"))?;
        self.run(&format!("CREATE DATABASE {schema}"))?;
        self.rebuild_tables(schema)?;
        self.run("CREATE PROCEDURE p() INSERT INTO log (a) VALUES (9)")?;
        for name in STORED {
            let arguments = if name == "f" || name == "of" {
                "x INT"
            } else {
                ""
            };
            self.run(&format!(
                "CREATE FUNCTION `{name}` ({arguments}) RETURNS INT MODIFIES SQL DATA \
                 BEGIN INSERT INTO {schema}.log (a) VALUES (9); RETURN 1; END"
            ))?;
        }
        Ok(())
    }

    /// The state that may not change while `subject` has run statements that passed the gate of this role.
    pub(crate) fn state(&mut self, role: Role, subject: &mut Connection) -> State {
        let mut state: State = Vec::new();
        for (part, sql) in self.parts(role, subject.id()) {
            let rows = self.watcher.rows::<Row>(&sql);
            let text = match rows {
                Ok(rows) => format!("{rows:?}"),
                Err(error) if error.is_lost() => panic!("the watcher is lost: {error}"),
                Err(error) => error.to_string(),
            };
            state.push((part, text));
        }
        let files = std::fs::read_dir(&self.files).unwrap().count();
        state.push(("files on the server's host", files.to_string()));
        let own = if self.flavor == Flavor::Mysql {
            "@@sql_log_off, @@gtid_next, @@binlog_format, @@pseudo_replica_mode"
        } else {
            "@@sql_log_off, @@gtid_domain_id, @@gtid_seq_no, @@server_id, @@binlog_format, @@skip_replication"
        };
        let own = format!(
            "SELECT @@character_set_client IN ('utf8mb4', 'latin1', 'utf8mb3', 'binary', 'ascii'), @@sql_log_bin, {own} LIMIT 1"
        );
        let rows = subject.rows::<Row>(&own);
        state.push((
            "the connection's part in replication, and its encoding",
            match rows {
                Ok(rows) => format!("{rows:?}"),
                Err(error) if error.is_lost() => String::new(),
                Err(error) => error.to_string(),
            },
        ));
        state
    }

    /// `part` of the state differs only in what the server notes by itself: `MariaDB` writes a checkpoint to its binary
    /// log when InnoDB has made the transactions of an earlier log durable.
    pub(crate) fn is_own_note(&mut self, part: &str, before: &str, after: &str) -> bool {
        if part != BINARY_LOGS || self.flavor != Flavor::Mariadb {
            return false;
        }
        let size = |text: &str| {
            text.rsplit_once('"')?
                .0
                .rsplit_once('"')?
                .1
                .parse::<u64>()
                .ok()
        };
        let logs = self.watcher.rows::<(String, u64)>("SHOW BINARY LOGS");
        let (Some(from), Ok(logs)) = (size(before), logs) else {
            return false;
        };
        let is_longer = before.matches("Row").count() == after.matches("Row").count();
        let Some((log, _)) = logs.last().filter(|_| is_longer) else {
            return false;
        };
        let sql = format!("SHOW BINLOG EVENTS IN '{log}' FROM {from}");
        let events = self
            .watcher
            .rows::<(String, u64, String, u64, u64, String)>(sql);
        events.is_ok_and(|events| events.iter().all(|event| event.2 == "Binlog_checkpoint"))
    }

    fn parts(&self, role: Role, subject: u32) -> Vec<(&'static str, String)> {
        let is_schema = role == Role::Schema;
        let other = if is_schema {
            "table_schema <> 'shop'"
        } else {
            "TRUE"
        };
        let allowed = if role == Role::Variable {
            ", 'max_connect_errors'"
        } else {
            ""
        };
        let variables = match self.flavor {
            Flavor::Mysql => "performance_schema.global_variables",
            Flavor::Mariadb => "information_schema.global_variables",
        };
        let of_system = format!("table_schema NOT IN ({SYSTEM}) AND {other}");
        let tables = if is_schema {
            "hr.t, hr.u, hr.log"
        } else {
            "hr.t, hr.u, hr.log, shop.t, shop.u, shop.log"
        };
        let mut parts = vec![
            (
                "global variables",
                format!(
                    "SELECT SUM(CRC32(CONCAT(variable_name, '=', variable_value))) FROM {variables} \
                 WHERE LOWER(variable_name) NOT IN ({NOISE}{allowed})"
                ),
            ),
            (
                "schemas",
                "SELECT GROUP_CONCAT(schema_name ORDER BY 1) FROM information_schema.schemata"
                    .to_owned(),
            ),
            (
                "columns",
                format!(
                    "SELECT SUM(CRC32(CONCAT(table_schema, '.', table_name, '.', column_name, column_type))), COUNT(*) \
                 FROM information_schema.columns WHERE {of_system}"
                ),
            ),
            (
                "routines, triggers and events",
                format!(
                    "SELECT (SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema <> 'sys' AND {}), \
                 (SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema <> 'sys' AND {}), \
                 (SELECT COUNT(*) FROM information_schema.events)",
                    other.replace("table_schema", "routine_schema"),
                    other.replace("table_schema", "trigger_schema"),
                ),
            ),
            ("rows", format!("CHECKSUM TABLE {tables}")),
            (
                "the connection that others use",
                format!(
                    "SELECT COUNT(*) FROM information_schema.processlist WHERE id = {}",
                    self.victim.id()
                ),
            ),
        ];
        parts.extend(match self.flavor {
            Flavor::Mysql => of_mysql(is_schema, subject),
            Flavor::Mariadb => of_mariadb(is_schema, subject),
        });
        parts
    }
}

/// Without the locks of plain reads: a transaction that reads keeps them, and that is reading.
fn metadata_locks(is_schema: bool, subject: u32) -> (&'static str, String) {
    // Each change of a table takes a lock of the server's that holds up a backup.
    let other = if is_schema {
        "AND COALESCE(object_schema, '') <> 'shop' AND lock_type NOT IN ('BACKUP_DDL', 'BACKUP_DML')"
    } else {
        ""
    };
    let sql = format!(
        "SELECT object_type, object_schema, object_name, lock_type, lock_duration \
         FROM performance_schema.metadata_locks WHERE owner_thread_id = \
         (SELECT thread_id FROM performance_schema.threads WHERE processlist_id = {subject}) {other} \
         AND lock_type NOT IN ('SHARED_READ', 'SHARED_HIGH_PRIO', 'SHARED', 'INTENTION_EXCLUSIVE', \
         'BACKUP_TRANS_DML')"
    );
    ("metadata locks", sql)
}

fn of_mysql(is_schema: bool, subject: u32) -> Vec<(&'static str, String)> {
    let thread = format!(
        "(SELECT thread_id FROM performance_schema.threads WHERE processlist_id = {subject})"
    );
    // A load may choose SERIALIZABLE, at which a session shares locks on what it reads.
    let other = if is_schema {
        "AND COALESCE(object_schema, '') <> 'shop' AND lock_mode <> 'IS' AND lock_mode NOT LIKE 'S%'"
    } else {
        ""
    };
    let mut parts = vec![
        ("accounts and what the server has loaded", "CHECKSUM TABLE mysql.user, mysql.db, mysql.tables_priv, \
            mysql.procs_priv, mysql.role_edges, mysql.default_roles, mysql.func, mysql.plugin, mysql.component, \
            mysql.servers, mysql.global_grants".to_owned()),
        ("persisted variables", "SELECT COUNT(*) FROM performance_schema.persisted_variables".to_owned()),
        metadata_locks(is_schema, subject),
        ("row locks", format!(
            "SELECT object_schema, object_name, lock_mode FROM performance_schema.data_locks \
             WHERE thread_id = {thread} {other}"
        )),
        (BINARY_LOGS, "SHOW BINARY LOGS".to_owned()),
    ];
    if is_schema {
        parts.pop();
    }
    parts
}

fn of_mariadb(is_schema: bool, subject: u32) -> Vec<(&'static str, String)> {
    let mut parts = vec![
        ("accounts and what the server has loaded", "CHECKSUM TABLE mysql.global_priv, mysql.db, \
            mysql.tables_priv, mysql.procs_priv, mysql.roles_mapping, mysql.func, mysql.plugin, mysql.servers".to_owned()),
        metadata_locks(is_schema, subject),
        ("row locks", format!(
            "SELECT trx_tables_locked, trx_rows_locked FROM information_schema.innodb_trx \
             WHERE trx_mysql_thread_id = {subject} AND trx_tables_locked > 0"
        )),
        ("a sequence", "SELECT next_not_cached_value FROM hr.s".to_owned()),
        (BINARY_LOGS, "SHOW BINARY LOGS".to_owned()),
    ];
    if is_schema {
        // Row locks do not tell their schema; they are looked at where none may be.
        parts.retain(|(part, _)| ![BINARY_LOGS, "row locks"].contains(part));
    }
    parts
}

/// The function in which a server crashed: the first of its own frames below the signal.
fn crashed_in(log: &str) -> Option<String> {
    let mut frames = log
        .lines()
        .skip_while(|line| !line.contains("handle_fatal_signal"));
    let frames = frames.by_ref().skip(1);
    let mut names = frames.filter_map(|line| Some(line.split_once('(')?.1.split_once('+')?.0));
    names.find(|name| name.starts_with("_Z")).map(str::to_owned)
}

fn connector(endpoint: &Endpoint) -> Connector {
    let connector = Connector::new(endpoint.clone(), None, Gate::own());
    connector.unwrap_or_else(|error| panic!("{error}"))
}

fn bare(endpoint: &Endpoint) -> Connection {
    Connection::connect(&connector(endpoint), false, Patience::Each(PATIENCE))
        .unwrap_or_else(|error| panic!("{error}"))
}
