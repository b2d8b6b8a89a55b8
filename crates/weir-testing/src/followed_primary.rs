//! A primary whose replicas are connected, stopped and delayed.

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use weir_model::{Flavor, Replication};

use weir_server::{
    PrivateServer, Role, ServerBinary, ServerError, Session, attach_at, forget_identity, free_port,
    grant_loopback_login, gtid_place, loopback_variables, replication_variables,
};

use crate::servers::{binary, data_directory, options};

/// Longest wait for a replica to reach the end.
const PATIENCE_S: u32 = 60;
/// Delay of the delayed replica, s: longer than any test.
const DELAY_S: u32 = 3_600;

/// State of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaMode {
    /// It receives and applies.
    Connected,
    /// It was stopped and does neither.
    Stopped,
    /// It receives, and applies an hour later.
    Delayed,
}

/// A primary and its replicas; drop them before their directory.
#[derive(Debug)]
pub struct FollowedPrimary {
    /// The replicas.
    pub replicas: Vec<(ReplicaMode, PrivateServer)>,
    /// Their primary.
    pub primary: PrivateServer,
    /// The port of 127.0.0.1 on which the primary listens.
    pub port: u16,
    binary: ServerBinary,
    has_gtid: bool,
    _directory: TempDir,
}

/// Starts a primary with replicas of these kinds, by global transaction identifiers or by file and
/// position.
///
/// # Panics
/// When a server does not start, or a replica does not follow.
pub fn start_followed(flavor: Flavor, has_gtid: bool, kinds: &[ReplicaMode]) -> FollowedPrimary {
    let directory = tempfile::tempdir().expect("invariant: tests may write temporary files");
    let port = free_port().unwrap_or_else(|error| panic!("{error}"));
    let binary = binary(flavor);
    let start =
        |name: &str, role, port| start_one(&binary, directory.path(), name, role, port, has_gtid);
    let primary = start("primary", Role::Primary, Some(port));
    let replicas = (1..)
        .zip(kinds)
        .map(|(number, kind)| {
            let role = Role::Replica(number);
            (*kind, start(&format!("replica-{number}"), role, None))
        })
        .collect();
    let followed = FollowedPrimary {
        replicas,
        primary,
        port,
        binary,
        has_gtid,
        _directory: directory,
    };
    for (kind, replica) in &followed.replicas {
        let attached = followed.attach(*kind, replica);
        attached.unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    }
    followed
}

fn start_one(
    binary: &ServerBinary,
    directory: &Path,
    name: &str,
    role: Role,
    port: Option<u16>,
    has_gtid: bool,
) -> PrivateServer {
    let place = directory.join(name);
    std::fs::create_dir(&place).expect("invariant: tests may write temporary files");
    let mut options = options(&place);
    data_directory(binary, &options.data_dir);
    forget_identity(&options.data_dir).unwrap_or_else(|error| panic!("{error}"));
    let more = replication_variables(binary, role, Replication::Async);
    options.variables.extend(more);
    if !has_gtid && binary.flavor == Flavor::Mysql {
        for name in ["gtid_mode", "enforce_gtid_consistency"] {
            options.variables.insert(name.to_owned(), "OFF".to_owned());
        }
    }
    let listening = port.into_iter().flat_map(loopback_variables);
    options.variables.extend(listening);
    PrivateServer::start(binary, &options).unwrap_or_else(|error| panic!("{error}"))
}

impl FollowedPrimary {
    /// Starts all replicas that do not apply and waits until each has applied all that the primary has.
    ///
    /// # Panics
    /// When a replica stops with an error, which the panic names, or does not come to the end.
    pub fn follow_to_the_end(&self) {
        let (file, position) = self.position().unwrap_or_else(|error| panic!("{error}"));
        for (kind, replica) in &self.replicas {
            let done = self.follow(*kind, replica, &file, position);
            done.unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        }
    }

    fn words(&self) -> (&'static str, &'static str, &'static str) {
        match self.binary.flavor {
            Flavor::Mysql => ("CHANGE REPLICATION SOURCE TO", "SOURCE", "REPLICA"),
            Flavor::Mariadb => ("CHANGE MASTER TO", "MASTER", "SLAVE"),
        }
    }

    fn attach(&self, kind: ReplicaMode, replica: &PrivateServer) -> Result<(), ServerError> {
        let (_, source, words) = self.words();
        grant_loopback_login(&self.primary.endpoint())?;
        let mut session = replica.session()?;
        let mut place = if self.has_gtid {
            gtid_place(&self.binary, &mut session)?.to_owned()
        } else {
            let (file, position) = self.position()?;
            let more = match self.binary.flavor {
                Flavor::Mysql => "GET_SOURCE_PUBLIC_KEY = 1",
                Flavor::Mariadb => "MASTER_USE_GTID = no",
            };
            format!("{source}_LOG_FILE = '{file}', {source}_LOG_POS = {position}, {more}")
        };
        if kind == ReplicaMode::Delayed {
            place = format!("{place}, {source}_DELAY = {DELAY_S}");
        }
        attach_at(
            &self.binary,
            &self.primary.endpoint(),
            self.port,
            &mut session,
            &place,
        )?;
        if kind == ReplicaMode::Stopped {
            session.run("stop the replica", &format!("STOP {words}"))?;
        }
        Ok(())
    }

    /// The end of the primary's binary log.
    fn position(&self) -> Result<(String, u64), ServerError> {
        let query = match self.binary.flavor {
            Flavor::Mysql => "SHOW BINARY LOG STATUS",
            Flavor::Mariadb => "SHOW MASTER STATUS",
        };
        let row = self.primary.session()?.row("read the position", query)?;
        let row = row.unwrap_or_default();
        Ok((row["File"].clone(), row["Position"].parse().unwrap_or(0)))
    }

    fn follow(
        &self,
        kind: ReplicaMode,
        replica: &PrivateServer,
        file: &str,
        position: u64,
    ) -> Result<(), ServerError> {
        let (change, source, words) = self.words();
        let action = "follow to the end";
        let patience = Duration::from_secs(u64::from(PATIENCE_S) + 10);
        let endpoint = replica.endpoint();
        let mut session = Session::open_patient(&endpoint, &weir_mysql::Gate::own(), patience)?;
        if kind == ReplicaMode::Delayed {
            session.run(action, &format!("STOP {words}"))?;
            session.run(action, &format!("{change} {source}_DELAY = 0"))?;
        }
        if kind != ReplicaMode::Connected {
            session.run(action, &format!("START {words}"))?;
        }
        let wait = format!("SELECT {source}_POS_WAIT('{file}', {position}, {PATIENCE_S})");
        let waited: Option<i64> = session.value(action, &wait)?;
        let status = session.row(action, &format!("SHOW {words} STATUS"))?;
        let status = status.unwrap_or_default();
        let error = status["Last_SQL_Error"].clone() + &status["Last_IO_Error"];
        if waited.is_some_and(|events| events >= 0) && error.is_empty() {
            return Ok(());
        }
        Err(ServerError::Replication {
            what: "does not follow to the end",
            words: format!("{waited:?} {error}"),
        })
    }
}
