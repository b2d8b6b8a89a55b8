//! Check that a server may be written to at all: one that follows another would differ from it from then on.
//!
//! MySQL manual, "SHOW REPLICA STATUS", "The `replication_connection_configuration` Table", "The
//! `replication_group_members` Table"; MariaDB Knowledge Base, "SHOW REPLICA STATUS".

use mysql_common::Row;

use super::Connection;
use crate::ClientError;

/// Statements that tell what MySQL follows: of 8.0.22 on, of before, and for an account that may only
/// read the tables of `performance_schema`.
const OF_MYSQL: [&str; 3] = [
    "SHOW REPLICA STATUS",
    "SHOW SLAVE STATUS",
    "SELECT channel_name, host AS Source_Host, port AS Source_Port \
     FROM performance_schema.replication_connection_configuration \
     WHERE channel_name NOT LIKE 'group\\_replication\\_%' AND host <> ''",
];
/// The one that tells of all channels of `MariaDB`.
const OF_MARIADB: [&str; 1] = ["SHOW ALL SLAVES STATUS"];

impl Connection {
    /// The server that this one follows, `HOST:PORT`, also while it is stopped; `None` if it is no replica.
    ///
    /// # Errors
    ///
    /// An account that may not look, or a connection that is lost.
    pub fn source(&mut self) -> Result<Option<String>, ClientError> {
        let statements = if self.is_mariadb() {
            &OF_MARIADB[..]
        } else {
            &OF_MYSQL[..]
        };
        let mut first_error = None;
        for statement in statements {
            match self.first::<Row>(statement) {
                Ok(row) => return Ok(row.map(|row| source_in(&row))),
                Err(error) if error.is_lost() => return Err(error),
                Err(error) => {
                    // The second statement's "unknown syntax" would hide the privilege.
                    first_error.get_or_insert(error);
                }
            }
        }
        Err(first_error.unwrap_or_else(|| self.other_rows("SHOW REPLICA STATUS")))
    }

    fn is_mariadb(&self) -> bool {
        self.version().contains("MariaDB")
    }

    /// Looks whether the server is one that others write, unless the gate lets such ones be written. The
    /// first change of tables looks by itself.
    ///
    /// # Errors
    ///
    /// A replica, a server that is read-only, or a connection that is lost.
    pub fn look_before_writing(&mut self) -> Result<(), ClientError> {
        if self.gate.is_looked_at(&self.address) {
            return Ok(());
        }
        if let Some(why) = self.obstacle()? {
            return Err(ClientError::Follower {
                address: self.address.to_string(),
                why,
            });
        }
        self.gate.may_be_written(&self.address);
        Ok(())
    }

    /// Returns the reason that only a replication should write here.
    fn obstacle(&mut self) -> Result<Option<String>, ClientError> {
        match self.source() {
            Ok(Some(source)) => return Ok(Some(format!("it is a replica of {source}"))),
            Ok(None) => {}
            Err(error) if error.is_lost() => return Err(error),
            Err(_) => self.gate.remark(format!(
                "{} does not tell this account whether it is a replica; GRANT {} to let Weir look before it writes",
                self.address,
                if self.is_mariadb() {
                    "SLAVE MONITOR"
                } else {
                    "REPLICATION CLIENT"
                }
            )),
        }
        let read_only = "SHOW GLOBAL VARIABLES WHERE Variable_name IN \
                         ('read_only', 'super_read_only', 'innodb_read_only')";
        let variables: Vec<(String, String)> = self.rows(read_only)?;
        let is_on = |(_, value): &&(String, String)| !matches!(value.as_str(), "OFF" | "0" | "");
        // The stronger one is what has to be changed first: `super_read_only` sorts after the others.
        if let Some((name, value)) = variables.iter().filter(is_on).max() {
            return Ok(Some(format!("it is read-only ({name} = {value})")));
        }
        self.group_role()
    }

    /// A member of a group that only follows; an account that may not look gets the server's own refusal,
    /// since such a member is read-only.
    fn group_role(&mut self) -> Result<Option<String>, ClientError> {
        if self.is_mariadb() {
            return Ok(None);
        }
        let role = "SELECT member_role FROM performance_schema.replication_group_members \
                    WHERE member_id = @@server_uuid";
        match self.first::<Option<String>>(role) {
            Ok(Some(Some(role))) if role == "SECONDARY" => {
                Ok(Some("it is a secondary member of a group".to_owned()))
            }
            Err(error) if error.is_lost() => Err(error),
            _ => Ok(None),
        }
    }
}

/// `HOST:PORT` of a row of a replica's status.
fn source_in(row: &Row) -> String {
    let of = |names: [&str; 2]| {
        let mut columns = row.columns_ref().iter();
        let column = columns.position(|column| names.contains(&&*column.name_str()))?;
        row.get_opt::<String, _>(column)?.ok()
    };
    let host = of(["Source_Host", "Master_Host"]).unwrap_or_default();
    let port = of(["Source_Port", "Master_Port"]).unwrap_or_default();
    format!("{host}:{port}")
}
