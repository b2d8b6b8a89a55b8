//! Advice on one `ALTER TABLE` of a user's table: tried on an empty copy on a private server of the same version. The
//! user's server is only read.

mod foreign_keys;
mod obstacle;
mod open_transactions;
mod replicas;
mod row_log;
mod row_versions;
mod space;
mod table;
mod tablespace;
mod user_server;

use std::path::PathBuf;
use std::time::Duration;

use crate::{ServerBinary, find_like};
use serde::Serialize;
use weir_model::{Bytes, Endpoint, Flavor, ServerVersion};
use weir_mysql::{Connection, Gate};

use self::table::TableCopy;
use self::user_server::UserServer;
use crate::Stop;
use crate::ddl::table_name::is_table;
use crate::ddl::{
    Algorithm, AlterStatement, DdlError, EmptyTables, Lock, Trial, TrialServer, Work,
};

pub use obstacle::{Obstacle, Severity};
pub use space::Space;

/// Options of advice.
#[derive(Debug, Clone)]
pub struct AdviceOptions {
    /// The server to try on; `None`: one of this machine like the user's.
    pub server: Option<PathBuf>,
    /// Directory of its data while it runs.
    pub work: PathBuf,
    /// Time for which the rate of writes is watched.
    pub observe: Duration,
    /// Signal to stop.
    pub stop: Stop,
}

/// Prediction of a statement's effects before it runs.
#[derive(Debug, Clone, Serialize)]
pub struct Advice {
    /// The table, `SCHEMA.TABLE`.
    pub table: String,
    /// Rows of the table, as the server estimates them.
    pub rows: u64,
    /// Bytes of its rows, as the server estimates them.
    pub data_bytes: u64,
    /// Bytes of its other indexes.
    pub index_bytes: u64,
    /// The user's server: `mysql 9.7.4`.
    pub server: String,
    /// The server on which the statement was tried.
    pub tried_on: String,
    /// The tries.
    #[serde(flatten)]
    pub trial: Trial,
    /// Space that the statement needs beside the table.
    pub space: Space,
    /// Obstacles, the worst first.
    pub obstacles: Vec<Obstacle>,
}

/// Makes advice for tables of one server.
#[derive(Debug)]
pub struct Advisor {
    user: UserServer,
    trial: TrialServer,
    binary: ServerBinary,
    options: AdviceOptions,
}

impl Advisor {
    /// Reads the settings of the server at `endpoint` and starts one like it. `data_dir`: where the user's data lie, if
    /// that is on this host.
    ///
    /// # Errors
    ///
    /// No server like it on this machine, one that does not start, or a user's server that is gone.
    pub fn open(
        endpoint: &Endpoint,
        gate: &Gate,
        (flavor, version): (Flavor, ServerVersion),
        data_dir: Option<PathBuf>,
        options: AdviceOptions,
    ) -> Result<Self, DdlError> {
        let user = UserServer::read(endpoint, gate, flavor, version, data_dir)?;
        let binary = find_like(flavor, version, options.server.as_deref())?;
        let binary = binary.ok_or_else(|| DdlError::NoServer {
            like: format!("{flavor} {}.{}", version.major, version.minor),
        })?;
        let trial = TrialServer::start(
            &binary,
            &options.work,
            &user.shaping(),
            &user.decisive(),
            options.stop,
        )?;
        Ok(Self {
            user,
            trial,
            binary,
            options,
        })
    }

    /// Tries `sql` on a copy of its table, and looks at what may stand in its way.
    ///
    /// # Errors
    ///
    /// A statement that is no ALTER TABLE or that the server refuses, a table that is not there or cannot be copied.
    pub fn advise(&self, sql: &str) -> Result<Advice, DdlError> {
        let alter = AlterStatement::read(sql, self.user.schema())?;
        let mut connection = self.user.connect()?;
        let alter = alter.spelled_by_server(&mut connection)?;
        let copy = TableCopy::read(&mut connection, &alter)?;
        let tables = copy.with_relatives(&mut connection, &alter)?;
        let mut trial = self.trial.try_out(&tables, &alter, &[])?;
        let mut obstacles = Vec::new();
        if let Some(found) = row_versions::look(&mut connection, &alter, &trial, &self.trial)? {
            if found.is_refused {
                trial = self.without_instant(&tables, &alter, &found.obstacle)?;
            }
            obstacles.push(found.obstacle);
        }
        self.options.stop.check()?;
        let space = Space::new(&copy, &trial, &self.user);
        obstacles.extend(self.obstacles(&mut connection, &alter, &copy, &trial, &space)?);
        obstacles.sort_by_key(|obstacle| obstacle.severity);
        Ok(Advice {
            table: format!("{}.{}", alter.schema, alter.table),
            rows: copy.rows,
            data_bytes: copy.data_bytes,
            index_bytes: copy.index_bytes,
            server: format!("{} {}", self.user.flavor, self.user.version),
            tried_on: format!("{} {}", self.binary.flavor, self.binary.version),
            trial,
            space,
            obstacles,
        })
    }

    /// The next way of a table that has no room for another version of its rows.
    fn without_instant(
        &self,
        tables: &EmptyTables,
        alter: &AlterStatement,
        why: &Obstacle,
    ) -> Result<Trial, DdlError> {
        let mut trial = self.trial.try_out(tables, alter, &[Algorithm::Instant])?;
        let refused = crate::ddl::RefusedTry {
            algorithm: Algorithm::Instant,
            lock: None,
            why: why.text.clone(),
        };
        trial.refused.insert(0, refused);
        Ok(trial)
    }

    fn obstacles(
        &self,
        connection: &mut Connection,
        alter: &AlterStatement,
        copy: &TableCopy,
        trial: &Trial,
        space: &Space,
    ) -> Result<Vec<Obstacle>, DdlError> {
        let way = &trial.way;
        let mut found = open_transactions::look(connection, alter, &self.user)?;
        found.extend(locks_out(way.lock, way.work));
        found.extend(foreign_keys::look(copy, way));
        found.extend(row_log::look(
            connection,
            alter,
            (copy, way),
            &self.user,
            self.options.observe,
        )?);
        found.extend(space.look());
        found.extend(replicas::look(connection, way, &self.user)?);
        found.extend(triggers(connection, alter)?);
        if space.new_bytes > 0 {
            found.extend(statistics(copy));
        }
        Ok(found)
    }
}

/// Statistics that do not know the rows: space by them would be too low.
fn statistics(copy: &TableCopy) -> Option<Obstacle> {
    let text = if let Some(bytes) = copy.newer_bytes {
        format!(
            "the server's statistics of the table have {}, its files {}; the space is that of the files",
            Bytes(copy.data_bytes + copy.index_bytes),
            Bytes(bytes)
        )
    } else if copy.rows == 0 && copy.data_bytes > 1 << 20 {
        "the server has no statistics of the table, so the space is not known; run ANALYZE TABLE"
            .to_owned()
    } else {
        return None;
    };
    Some(Obstacle::note("statistics", text))
}

/// A lock that keeps writers out for the whole time.
fn locks_out(lock: Option<Lock>, work: Work) -> Option<Obstacle> {
    let who = match lock? {
        Lock::None => return None,
        Lock::Shared => "writes",
        Lock::Exclusive => "reads and writes",
    };
    let text = format!("{who} of the table wait until the ALTER is done");
    Some(match work {
        Work::Metadata => Obstacle::note("lock", text),
        _ => Obstacle::risk(
            "lock",
            format!("{text}; a tool that copies the table in chunks lets them go on"),
        ),
    })
}

fn triggers(
    connection: &mut Connection,
    alter: &AlterStatement,
) -> Result<Option<Obstacle>, DdlError> {
    let names: Vec<String> = connection.rows(format!(
        "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE {} ORDER BY TRIGGER_NAME",
        is_table(
            ["EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"],
            &alter.schema,
            &alter.table
        )
    ))?;
    Ok((!names.is_empty()).then(|| {
        let text = format!(
            "the table has triggers ({}): a tool that copies by triggers or by the binary log may refuse it",
            names.join(", ")
        );
        Obstacle::note("triggers", text)
    }))
}
