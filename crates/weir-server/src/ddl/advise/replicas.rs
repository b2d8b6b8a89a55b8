//! Effects of the statement on replicas and clusters.

use weir_model::Flavor;
use weir_mysql::Connection;

use super::obstacle::Obstacle;
use super::user_server::UserServer;
use crate::ddl::{DdlError, Way, Work};

/// Lag to expect, if the work takes time.
pub(super) fn look(
    connection: &mut Connection,
    way: &Way,
    user: &UserServer,
) -> Result<Option<Obstacle>, DdlError> {
    if way.work == Work::Metadata {
        return Ok(None);
    }
    if user.is_on("wsrep_on") {
        let text = "the server is a node of a Galera cluster: by default all nodes stand still until the ALTER is done";
        return Ok(Some(Obstacle::risk("replicas", text.to_owned())));
    }
    let replicas: Option<u64> = connection.first(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'",
    )?;
    let replicas = replicas.unwrap_or_default();
    if !user.is_on("log_bin") || replicas == 0 {
        return Ok(None);
    }
    let is_two_phase = user.is_on("binlog_alter_two_phase");
    let text = match (user.flavor, is_two_phase) {
        (Flavor::Mariadb, true) => format!(
            "{replicas} replicas begin the ALTER when it begins here (binlog_alter_two_phase) if their slave_parallel_threads is above 0; the others lag by about the time that it takes"
        ),
        (flavor, _) => {
            let remedy = match flavor {
                Flavor::Mysql => "plan for that lag, or begin on the replicas",
                Flavor::Mariadb => {
                    "plan for that lag, or set binlog_alter_two_phase (10.8.1 or later) in the session, with slave_parallel_threads above 0 on the replicas"
                }
            };
            format!(
                "{replicas} replicas begin the ALTER when it is done here, and lag by about the time that it takes; {remedy}"
            )
        }
    };
    Ok(Some(if is_two_phase {
        Obstacle::note("replicas", text)
    } else {
        Obstacle::risk("replicas", text)
    }))
}
