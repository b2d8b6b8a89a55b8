//! A primary and its replicas: what both are started with, how a replica finds its place, and whether
//! it has caught up.
//!
//! MySQL manual, "Setting Up Replication Using Global Transaction Identifiers" and "Semisynchronous
//! Replication"; MariaDB Knowledge Base, "Global Transaction ID" and "Semisynchronous Replication".
//! Replicas begin as a copy of the primary's data, so no transaction has to be found and sent twice.

mod promote;

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use weir_model::{Endpoint, Flavor, Replication, ServerVersion};
use weir_mysql::Gate;

pub use promote::{Promotion, promote};

use crate::instance::grant_loopback_login;
use crate::{ServerBinary, ServerError, Session};

/// Time limit for a replica to begin.
const BEGIN_LIMIT: Duration = Duration::from_mins(1);
/// Action that an error names as not possible.
const ATTACH: &str = "make the server a replica";

/// Side of replication that a server is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is written to.
    Primary,
    /// It follows; the number tells replicas apart, from 1.
    Replica(u32),
}

/// The variables of a server in a replication, in its own names; they replace those of the same name.
pub fn replication_variables(
    binary: &ServerBinary,
    role: Role,
    replication: Replication,
) -> BTreeMap<String, String> {
    let id = match role {
        Role::Primary => 1,
        Role::Replica(number) => number + 1,
    };
    let mut variables = vec![
        ("server_id", id.to_string()),
        ("log_bin", "binlog".to_owned()),
    ];
    let on = || "ON".to_owned();
    match binary.flavor {
        Flavor::Mysql => variables.extend([
            ("gtid_mode", on()),
            ("enforce_gtid_consistency", on()),
            ("log_slave_updates", on()),
        ]),
        Flavor::Mariadb => variables.push(("log_slave_updates", on())),
    }
    if replication == Replication::SemiSync {
        variables.extend(semi_sync(binary, role));
    }
    if matches!(role, Role::Replica(_)) {
        variables.push(("read_only", on()));
    }
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Semi-synchronous replication is a plugin in MySQL, with new names since 8.0.26, and a part of
/// `MariaDB` since 10.3.
fn semi_sync(binary: &ServerBinary, role: Role) -> Vec<(&'static str, String)> {
    let version = binary.version;
    let is_new = (version.major, version.minor, version.patch) >= (8, 0, 26);
    let on = "ON".to_owned();
    let plugin = |file: &str| ("plugin_load_add", file.to_owned());
    match (binary.flavor, role) {
        (Flavor::Mariadb, Role::Primary) => vec![("rpl_semi_sync_master_enabled", on)],
        (Flavor::Mariadb, Role::Replica(_)) => vec![("rpl_semi_sync_slave_enabled", on)],
        (Flavor::Mysql, Role::Primary) if is_new => vec![
            plugin("semisync_source.so"),
            ("rpl_semi_sync_source_enabled", on),
        ],
        (Flavor::Mysql, Role::Replica(_)) if is_new => vec![
            plugin("semisync_replica.so"),
            ("rpl_semi_sync_replica_enabled", on),
        ],
        (Flavor::Mysql, Role::Primary) => vec![
            plugin("semisync_master.so"),
            ("rpl_semi_sync_master_enabled", on),
        ],
        (Flavor::Mysql, Role::Replica(_)) => vec![
            plugin("semisync_slave.so"),
            ("rpl_semi_sync_slave_enabled", on),
        ],
    }
}

/// Lets `replica`, which began as a copy of the primary's data, follow `primary` on its port of the
/// loopback, and waits until it does.
///
/// # Errors
///
/// A server that refuses or is gone, or a replica that does not follow.
pub fn attach(
    binary: &ServerBinary,
    primary: &Endpoint,
    port: u16,
    replica: &Endpoint,
) -> Result<(), ServerError> {
    // The account for the loopback has the password that the copy's owner has anyway.
    grant_loopback_login(primary)?;
    let mut session = Session::open(replica, &Gate::own())?;
    let place = gtid_place(binary, &mut session)?;
    attach_at(binary, primary, port, &mut session, place)
}

/// First MySQL whose replicas ask the primary for its public key.
const PUBLIC_KEY_FROM: ServerVersion = ServerVersion::new(8, 0, 4);

/// Returns the clause of the statement for the position at which a replica by global transaction
/// identifiers begins.
///
/// # Errors
///
/// A server that refuses or is gone.
pub fn gtid_place(
    binary: &ServerBinary,
    session: &mut Session,
) -> Result<&'static str, ServerError> {
    Ok(match binary.flavor {
        Flavor::Mysql if Words::for_server(binary).source == "SOURCE" => {
            "SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"
        }
        // From there on accounts log in by `caching_sha2_password`, which needs it without TLS.
        Flavor::Mysql if binary.version >= PUBLIC_KEY_FROM => {
            "MASTER_AUTO_POSITION = 1, GET_MASTER_PUBLIC_KEY = 1"
        }
        Flavor::Mysql => "MASTER_AUTO_POSITION = 1",
        Flavor::Mariadb => {
            // The copied binary log ends where the primary's did when it was copied.
            let position = "SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos";
            session.run(ATTACH, position)?;
            "MASTER_USE_GTID = slave_pos"
        }
    })
}

/// Lets the server of `session` follow from `place` on, and waits until it does.
///
/// # Errors
///
/// As [`attach`].
pub fn attach_at(
    binary: &ServerBinary,
    primary: &Endpoint,
    port: u16,
    session: &mut Session,
    place: &str,
) -> Result<(), ServerError> {
    let words = Words::for_server(binary);
    let (user, password) = (&primary.user, primary.password.reveal());
    let (begin, source) = (words.begin, words.source);
    session.run(
        ATTACH,
        &format!(
            "{begin} {source}_HOST = '127.0.0.1', {source}_PORT = {port}, {source}_USER = '{user}', \
             {source}_PASSWORD = '{password}', {source}_CONNECT_RETRY = 1, {place}"
        ),
    )?;
    session.run(ATTACH, &format!("START {}", words.replica))?;
    wait_until_it_runs(session, words)
}

fn wait_until_it_runs(session: &mut Session, words: Words) -> Result<(), ServerError> {
    let deadline = Instant::now() + BEGIN_LIMIT;
    loop {
        let status = words.status(session)?;
        let receives = status.column(["Replica_IO_Running", "Slave_IO_Running"]);
        let applies = status.applies();
        if receives == "Yes" && applies == "Yes" {
            return Ok(());
        }
        let failure = ["Last_IO_Error", "Last_SQL_Error"]
            .map(|name| status.column([name; 2]))
            .join(" ");
        let failure = failure.trim();
        if (applies == "No" && !failure.is_empty()) || Instant::now() >= deadline {
            return Err(ServerError::Replication {
                what: "does not follow its primary",
                words: failure.to_owned(),
            });
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until `replica` has applied all that `primary` has committed so far, at most `limit`.
///
/// # Errors
///
/// A replica that has stopped, or that needs longer than `limit`.
pub fn wait_until_caught_up(
    flavor: Flavor,
    primary: &Endpoint,
    replica: &Endpoint,
    limit: Duration,
) -> Result<(), ServerError> {
    let action = "wait for the replica";
    let (position, wait) = match flavor {
        Flavor::Mysql => ("@@GLOBAL.gtid_executed", "WAIT_FOR_EXECUTED_GTID_SET"),
        Flavor::Mariadb => ("@@GLOBAL.gtid_binlog_pos", "MASTER_GTID_WAIT"),
    };
    let position: Option<String> =
        Session::open(primary, &Gate::own())?.value(action, &format!("SELECT {position}"))?;
    let position = position.unwrap_or_default().replace(['\n', '\r', '\''], "");
    // The wait itself keeps the connection silent.
    let mut session =
        Session::open_patient(replica, &Gate::own(), limit + Duration::from_secs(10))?;
    let wait = format!("SELECT {wait}('{position}', {})", limit.as_secs());
    let answer: Option<i64> = session.value(action, &wait)?;
    if answer == Some(0) {
        return Ok(());
    }
    Err(ServerError::Replication {
        what: "has not caught up",
        words: format!("no end within {} s", limit.as_secs()),
    })
}

/// The words of a version for one and the same thing.
#[derive(Debug, Clone, Copy)]
struct Words {
    begin: &'static str,
    source: &'static str,
    replica: &'static str,
}

impl Words {
    /// MySQL's new words came with 8.0.23 ("CHANGE REPLICATION SOURCE TO Statement"), the old ones
    /// went with 8.4.
    fn for_server(binary: &ServerBinary) -> Self {
        let version = binary.version;
        let number = (version.major, version.minor, version.patch);
        if binary.flavor == Flavor::Mysql && number >= (8, 0, 23) {
            return Self {
                begin: "CHANGE REPLICATION SOURCE TO",
                source: "SOURCE",
                replica: "REPLICA",
            };
        }
        Self {
            begin: "CHANGE MASTER TO",
            source: "MASTER",
            replica: "SLAVE",
        }
    }

    /// Returns the replica's status; empty for a server that is none.
    fn status(self, session: &mut Session) -> Result<ReplicaStatus, ServerError> {
        let query = format!("SHOW {} STATUS", self.replica);
        let status = session.row("read the replica's status", &query)?;
        Ok(ReplicaStatus(status.unwrap_or_default()))
    }
}

/// A replica's status, by the columns' names.
struct ReplicaStatus(BTreeMap<String, String>);

impl ReplicaStatus {
    /// The column that has one of these names.
    fn column(&self, names: [&str; 2]) -> &str {
        let found = names.iter().find_map(|name| self.0.get(*name));
        found.map_or("", String::as_str)
    }

    /// Returns the state of its appliers: `Yes` or `No`.
    fn applies(&self) -> &str {
        self.column(["Replica_SQL_Running", "Slave_SQL_Running"])
    }
}
