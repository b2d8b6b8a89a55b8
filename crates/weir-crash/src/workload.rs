//! The workload: clients that change rows of their own and note each acknowledged commit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use weir_model::{Endpoint, Flavor};
use weir_mysql::{ClientError, Connection, Params, Row};
use weir_process::monotonic_ns;

use crate::connection::{connect, is_broken};
use crate::content::{self, Shape};
use crate::ddl_workload;
use crate::error::CrashError;
use crate::ledger::{Commit, LEDGER_COMMITS_MAX, Ledger};
use crate::order_entry;

/// Rows in one statement of the loading.
const ROWS_PER_INSERT: u32 = 1_000;

/// Names of the tables of rows, in order.
pub(crate) fn tables(shape: Shape) -> impl Iterator<Item = String> {
    (1..=shape.tables).map(|table| format!("crash{table}"))
}

/// All tables of the workload.
pub(crate) fn all_tables(shape: Shape) -> impl Iterator<Item = String> {
    tables(shape).chain(["client".to_owned(), "history".to_owned()])
}

/// Creates and fills the tables: every client at transaction 0.
pub(crate) fn load(
    endpoint: &Endpoint,
    flavor: Flavor,
    shape: Shape,
    stop: &AtomicBool,
) -> Result<(), CrashError> {
    let mut connection = connect(endpoint).map_err(CrashError::statement("connect"))?;
    let mut run = |statement: String| {
        let doing = statement.chars().take(60).collect::<String>();
        connection
            .run(statement)
            .map(drop)
            .map_err(CrashError::statement(doing))
    };
    run("CREATE TABLE client (id INT PRIMARY KEY, txn INT NOT NULL) ENGINE = InnoDB".into())?;
    run(
        "CREATE TABLE history (client INT NOT NULL, txn INT NOT NULL, k INT NOT NULL, \
         text VARCHAR(255) NOT NULL, PRIMARY KEY (client, txn), KEY k (k)) ENGINE = InnoDB"
            .into(),
    )?;
    for statement in ddl_workload::prepared(flavor) {
        run(statement)?;
    }
    let clients = (0..shape.clients).map(|client| format!("({client}, 0)"));
    let clients = clients.collect::<Vec<_>>().join(",");
    run(format!("INSERT INTO client VALUES {clients}"))?;
    for (table, name) in (1..).zip(tables(shape)) {
        run(format!(
            "CREATE TABLE {name} (id INT PRIMARY KEY, txn INT NOT NULL, k INT NOT NULL, \
             text VARCHAR(255) NOT NULL, KEY k (k)) ENGINE = InnoDB"
        ))?;
        let mut next = 1;
        while next <= shape.rows {
            if stop.load(Ordering::Relaxed) {
                return Err(CrashError::Stopped);
            }
            let last = shape.rows.min(next + ROWS_PER_INSERT - 1);
            let rows = (next..=last).map(|id| {
                let row = content::loaded_row(content::RowId { table, id });
                format!("({id}, 0, {}, '{}')", row.key, row.text)
            });
            let rows = rows.collect::<Vec<_>>().join(",");
            run(format!("INSERT INTO {name} VALUES {rows}"))?;
            next = last + 1;
        }
    }
    if shape.warehouses > 0 {
        order_entry::load(endpoint, shape.warehouses, stop)?;
    }
    Ok(())
}

/// Lets all clients write until `stop`, which is set when the ledger is full; returns the acknowledged transactions.
///
/// A client whose connection breaks (the server was killed) ends: its last commit stays without an
/// acknowledgement.
pub(crate) fn run(
    endpoint: &Endpoint,
    flavor: Flavor,
    seed: u64,
    shape: Shape,
    stop: &AtomicBool,
) -> Result<Ledger, CrashError> {
    let connections = (0..shape.clients)
        .map(|_| connect(endpoint).map_err(CrashError::statement("connect")))
        .collect::<Result<Vec<_>, _>>()?;
    let (clients, order_entry_transactions) = thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(connections)
            .map(|(number, connection)| {
                scope.spawn(move || {
                    Client {
                        number,
                        seed,
                        shape,
                    }
                    .run(connection, stop)
                })
            })
            .collect();
        let changes = scope.spawn(|| ddl_workload::run(endpoint, flavor, stop));
        let orders = (shape.warehouses > 0)
            .then(|| scope.spawn(|| order_entry::run(endpoint, shape.warehouses, seed, stop)));
        // Joined only after all have been started.
        let joined = threads.into_iter().map(|thread| {
            thread
                .join()
                .expect("invariant: a client reports, it does not panic")
        });
        let clients = joined.collect::<Result<Vec<_>, _>>()?;
        changes
            .join()
            .expect("invariant: DDL reports, it does not panic")?;
        let orders = orders.map_or(Ok(0), |orders| {
            orders
                .join()
                .expect("invariant: a load reports, it does not panic")
        })?;
        Ok::<_, CrashError>((clients, orders))
    })?;
    Ok(Ledger {
        seed,
        shape,
        clients,
        order_entry_transactions,
    })
}

/// `ER_LOCK_DEADLOCK`.
const DEADLOCK: u16 = 1213;

struct Client {
    number: u32,
    seed: u64,
    shape: Shape,
}

impl Client {
    fn run(
        &self,
        mut connection: Connection,
        stop: &AtomicBool,
    ) -> Result<Vec<Commit>, CrashError> {
        let mut commits = Vec::new();
        let share = LEDGER_COMMITS_MAX / self.shape.clients.max(1) as usize;
        while !stop.load(Ordering::Relaxed) {
            let number = commits.len() as u32 + 1;
            match self.change(&mut connection, number) {
                // The server has rolled all of it back: it is made again. Clients share no rows, but gaps between keys.
                Err(error) if error.code() == Some(DEADLOCK) => continue,
                Err(error) => return ended(error, commits, "change rows"),
                Ok(()) => {}
            }
            let sent_ns = monotonic_ns();
            let told = connection.run("COMMIT");
            let acknowledged_ns = told.is_ok().then(monotonic_ns);
            commits.push(Commit {
                sent_ns,
                acknowledged_ns,
            });
            if let Err(error) = told {
                return ended(error, commits, "commit");
            }
            if commits.len() >= share {
                stop.store(true, Ordering::Relaxed);
            }
        }
        Ok(commits)
    }

    /// All statements of one transaction but the COMMIT.
    fn change(&self, connection: &mut Connection, number: u32) -> Result<(), ClientError> {
        let transaction = content::transaction(self.seed, self.shape, self.number, number);
        connection.run("BEGIN")?;
        for (index, &row) in transaction.updates.iter().enumerate() {
            let new = content::row(self.seed, row, number);
            let table = row.table;
            if index < transaction.reinserted {
                execute(
                    connection,
                    &format!("DELETE FROM crash{table} WHERE id = ?"),
                    (row.id,),
                )?;
                execute(
                    connection,
                    &format!("INSERT INTO crash{table} VALUES (?, ?, ?, ?)"),
                    (row.id, number, new.key, new.text),
                )?;
            } else {
                execute(
                    connection,
                    &format!("UPDATE crash{table} SET txn = ?, k = ?, text = ? WHERE id = ?"),
                    (number, new.key, new.text, row.id),
                )?;
            }
        }
        let entry = content::history(self.seed, self.number, number);
        execute(
            connection,
            "INSERT INTO history VALUES (?, ?, ?, ?)",
            (self.number, number, entry.key, entry.text),
        )?;
        if let Some(last) = transaction.trim_history_to {
            let trim = "DELETE FROM history WHERE client = ? AND txn <= ?";
            execute(connection, trim, (self.number, last))?;
        }
        execute(
            connection,
            "UPDATE client SET txn = ? WHERE id = ?",
            (number, self.number),
        )
    }
}

/// Executes a statement that is prepared when the connection first meets it.
fn execute(
    connection: &mut Connection,
    sql: &str,
    values: impl Into<Params>,
) -> Result<(), ClientError> {
    connection.execute::<Row>(sql, values).map(drop)
}

/// A broken connection ends a client; anything else is a failure of the test.
fn ended(error: ClientError, commits: Vec<Commit>, doing: &str) -> Result<Vec<Commit>, CrashError> {
    if is_broken(&error) {
        return Ok(commits);
    }
    Err(CrashError::statement(doing)(error))
}
