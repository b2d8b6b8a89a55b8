//! All of a server that a command could change, as far as statements tell it.

use std::collections::BTreeMap;

use weir_model::{Endpoint, Flavor};
use weir_mysql::{Connection, Row, Value};

use crate::users::Users;

/// The schema that commands are given.
pub(super) const SCHEMA: &str = "sbtest";
/// Tables of the schema `mysql` that the server writes by itself.
const OF_THE_SERVER: [&str; 12] = [
    "general_log",
    "slow_log",
    "innodb_index_stats",
    "innodb_table_stats",
    "gtid_executed",
    "gtid_slave_pos",
    "column_stats",
    "index_stats",
    "table_stats",
    "transaction_registry",
    "innodb_dynamic_metadata",
    "server_cost",
];
/// Variables that move by themselves, beside those that are no settings.
const MOVING: [&str; 4] = [
    "gtid_binlog_state",
    "innodb_buffer_pool_load_abort",
    "rand_seed1",
    "rand_seed2",
];

/// By kind and name, what there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State(BTreeMap<String, String>);

impl State {
    /// Looks at the server; `with_schema`: also at the schema that commands are given.
    pub(super) fn observe(users: &Users) -> Self {
        let mut connection = weir_testing::connect(&Endpoint {
            database: "mysql".to_owned(),
            ..users.server().endpoint()
        });
        let mut state = Self(BTreeMap::new());
        state.add_variables(&mut connection);
        state.add_tables(&mut connection);
        state.add_routines(&mut connection);
        state.add_replication(users.flavor, &mut connection);
        state
    }

    fn add(&mut self, kind: &str, name: &str, value: String) {
        self.0.insert(format!("{kind} {name}"), value);
    }

    fn add_variables(&mut self, connection: &mut Connection) {
        let rows: Vec<(String, Option<String>)> = connection.rows("SHOW GLOBAL VARIABLES").unwrap();
        for (name, value) in rows {
            if weir_judge::is_setting(&name) && !MOVING.contains(&&*name) {
                self.add("variable", &name, value.unwrap_or_default());
            }
        }
    }

    /// Rows, definitions and times of making, accounts and grants among them.
    fn add_tables(&mut self, connection: &mut Connection) {
        let tables: Vec<(String, String, String)> = connection
            .rows(
                "SELECT table_schema, table_name, CONCAT_WS(' ', create_time, create_options, table_comment) \
                 FROM information_schema.tables WHERE table_type = 'BASE TABLE' \
                 AND table_schema NOT IN ('information_schema', 'performance_schema', 'sys')",
            )
            .unwrap();
        for (schema, name, made) in tables {
            if schema == "mysql" && OF_THE_SERVER.contains(&&*name) {
                continue;
            }
            let sql = format!("CHECKSUM TABLE `{schema}`.`{name}`");
            let row: Option<(String, Option<u64>)> = connection.first(sql).unwrap();
            let sum = row.and_then(|(_, sum)| sum);
            let made = if schema == "mysql" {
                String::new()
            } else {
                made
            };
            self.add(
                "table",
                &format!("{schema}.{name}"),
                format!("{made} {sum:?}"),
            );
        }
        let schemas: Vec<String> = connection
            .rows("SELECT schema_name FROM information_schema.schemata")
            .unwrap();
        for schema in schemas {
            self.add("schema", &schema, String::new());
        }
    }

    fn add_routines(&mut self, connection: &mut Connection) {
        let rows: Vec<(String, String)> = connection
            .rows(
                "SELECT CONCAT('routine ', routine_schema, '.', routine_name), CAST(last_altered AS CHAR) \
                 FROM information_schema.routines WHERE routine_schema <> 'sys' \
                 UNION ALL SELECT CONCAT('trigger ', trigger_schema, '.', trigger_name), event_manipulation \
                 FROM information_schema.triggers WHERE trigger_schema <> 'sys'",
            )
            .unwrap();
        for (name, value) in rows {
            self.add("code", &name, value);
        }
    }

    fn add_replication(&mut self, flavor: Flavor, connection: &mut Connection) {
        let (position, replica) = match flavor {
            Flavor::Mysql => ("SHOW BINARY LOG STATUS", "SHOW REPLICA STATUS"),
            Flavor::Mariadb => ("SHOW MASTER STATUS", "SHOW ALL SLAVES STATUS"),
        };
        for (name, query) in [("binary log", position), ("replica", replica)] {
            let rows: Vec<Row> = connection.rows(query).unwrap();
            let values = rows.into_iter().flat_map(Row::unwrap);
            let values: Vec<_> = values.map(|value: Value| value.as_sql(true)).collect();
            self.add("replication", name, values.join(" "));
        }
    }

    /// The value of a variable.
    pub(super) fn variable(&self, name: &str) -> &str {
        &self.0[&format!("variable {name}")]
    }

    /// What is different in `after`, without what `is_expected` by its name.
    pub(super) fn changes(&self, after: &Self, is_expected: impl Fn(&str) -> bool) -> Vec<String> {
        let names = self.0.keys().chain(after.0.keys());
        let mut changed: Vec<_> = names
            .filter(|name| self.0.get(*name) != after.0.get(*name) && !is_expected(name))
            .map(|name| format!("{name}: {:?} -> {:?}", self.0.get(name), after.0.get(name)))
            .collect();
        changed.sort();
        changed.dedup();
        changed
    }
}

/// What a command that writes may change: the schema that it was given, and the binary log.
pub(super) fn is_of_schema(name: &str) -> bool {
    name.starts_with(&format!("table {SCHEMA}."))
        || name == format!("schema {SCHEMA}")
        || name == "replication binary log"
}
