//! The server, which is captured and then brought back.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::TempDir;
use weir_load::LoadPlan;
use weir_model::{Address, Endpoint, Flavor, ReplayOrder, ReplayPace, Secret, WorkloadName};
use weir_mysql::{Connection, Gate, Permissions};
use weir_replay::{CapturePart, ReplayOptions, ReplayOutcome, Survey, replay, table_differences};
use weir_testing::{Account, PrivateServer, RawClient};

use super::history::{Action, SESSIONS, Step};
use crate::bench::Proxy;

const USER: &str = "app";
const PASSWORD: &str = "of-the-test";
const UTF8MB4: u8 = 45;
const SHARED: [&str; 5] = ["shared", "traced", "notes", "stamped", "audited"];

pub(crate) struct Server {
    server: PrivateServer,
    directory: TempDir,
    flavor: Flavor,
    port: u16,
}

/// Statements that were sent, and the first difference.
pub(crate) struct Comparison {
    pub(crate) sent: u64,
    pub(crate) difference: Option<String>,
}

/// Lets a session ask in a thread of its own, and waits until it waits for rows or has its answer.
fn contend(client: RawClient, sql: String, root: &mut Connection) -> JoinHandle<RawClient> {
    let mut client = client;
    let thread = std::thread::spawn(move || {
        // A server may refuse it; then it does so twice.
        let _ = client.query(sql.as_bytes());
        client
    });
    loop {
        // The table of transactions is as old as the first of looks that come more often.
        let waits = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'";
        let found: Option<(String, String)> = root.first(waits).unwrap();
        if thread.is_finished() || found.unwrap().1 != "0" {
            return thread;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Server {
    pub(crate) fn start(flavor: Flavor) -> Self {
        let (server, directory, port) =
            weir_testing::start_on_tcp(flavor, &weir_testing::LAZY_COMMITS);
        let started = Self {
            server,
            directory,
            flavor,
            port,
        };
        let mut root = started.root();
        if flavor == Flavor::Mysql {
            root.run("SET GLOBAL log_bin_trust_function_creators = 1")
                .unwrap();
        }
        weir_testing::make_account(&started.server.endpoint(), USER, PASSWORD);
        // The text of a routine is shown to few.
        let right = match flavor {
            Flavor::Mysql => "SHOW_ROUTINE ON *.*",
            Flavor::Mariadb => "SELECT ON mysql.proc",
        };
        root.run(format!("GRANT {right} TO {USER}@'%'")).unwrap();
        // From now on, the server knows the password.
        weir_testing::connect(&started.endpoint());
        started
    }

    fn root(&self) -> Connection {
        weir_testing::connect(&self.server.endpoint())
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint {
            address: Address::Tcp("127.0.0.1".to_owned(), self.port),
            user: USER.to_owned(),
            password: Secret::new(PASSWORD),
            ..self.server.endpoint()
        }
    }

    /// Tables as all histories find them.
    fn bring_back(&self) {
        let mut root = self.root();
        for table in SHARED {
            root.run(format!("DROP TABLE IF EXISTS {table}")).unwrap();
        }
        for sql in [
            "DROP PROCEDURE IF EXISTS touch",
            "DROP FUNCTION IF EXISTS noted",
            "DROP FUNCTION IF EXISTS token",
            "DROP VIEW IF EXISTS recent",
            "CREATE TABLE shared (id INT AUTO_INCREMENT PRIMARY KEY, k BIGINT UNSIGNED, v VARCHAR(20))",
            "CREATE TABLE traced (n INT)",
            "CREATE TABLE notes (id INT AUTO_INCREMENT PRIMARY KEY, n INT)",
            "CREATE TRIGGER trace BEFORE INSERT ON traced FOR EACH ROW INSERT INTO notes VALUES (NULL, NEW.n)",
            "CREATE PROCEDURE touch (number INT) UPDATE shared SET k = k * 23 + number",
            "CREATE FUNCTION noted (number INT) RETURNS INT DETERMINISTIC \
             BEGIN INSERT INTO notes VALUES (NULL, number); RETURN number; END",
            "CREATE TABLE stamped (id INT AUTO_INCREMENT PRIMARY KEY, n INT, \
             at DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6))",
            "CREATE TABLE audited (n INT, u VARCHAR(40))",
            "CREATE FUNCTION token () RETURNS VARCHAR(40) NOT DETERMINISTIC NO SQL RETURN UUID()",
            "CREATE TRIGGER audit BEFORE INSERT ON audited FOR EACH ROW SET NEW.u = IF(NEW.n = 0, 'none', token())",
            "CREATE VIEW recent AS SELECT 1 AS n, LEFT(now(6), 20) AS v",
            "INSERT INTO stamped VALUES (NULL, 1, '2020-01-01'), (NULL, 2, '2020-01-02')",
            "INSERT INTO shared VALUES (NULL, 1, 'a'), (NULL, 2, 'b'), (NULL, 3, 'c')",
        ] {
            root.run(sql).unwrap();
        }
        for session in 0..SESSIONS {
            root.run(format!("DROP TABLE IF EXISTS own_{session}"))
                .unwrap();
            root.run(format!(
                "CREATE TABLE own_{session} (id INT PRIMARY KEY, n BIGINT UNSIGNED)"
            ))
            .unwrap();
            root.run(format!(
                "INSERT INTO own_{session} VALUES (1, 1), (3, 5), (5, 2)"
            ))
            .unwrap();
        }
    }

    /// A checksum of each table.
    fn state(&self) -> Vec<(String, u64)> {
        let own = (0..SESSIONS).map(|session| format!("own_{session}"));
        let tables: Vec<_> = SHARED.map(str::to_owned).into_iter().chain(own).collect();
        let sql = format!("CHECKSUM TABLE {}", tables.join(", "));
        self.root().rows(sql).unwrap()
    }

    /// Lets sessions do their steps through the proxy, and then the replay what was captured.
    pub(crate) fn compare(&mut self, steps: &[Step], is_repeatable: bool) -> Comparison {
        let path = self.directory.path().join("test.weircap");
        let _ = std::fs::remove_file(&path);
        self.bring_back();
        let proxy = Proxy::to(&self.endpoint(), self.flavor, &path);
        let asked = self.live(proxy.port, steps);
        proxy.finish();
        let produced = self.state();
        if asked == 0 {
            return Comparison {
                sent: 0,
                difference: None,
            };
        }
        self.bring_back();
        let outcome = self.replay(&path);
        let told = &outcome.record.fidelity;
        let replayed = self.state();
        let is_equal = produced == replayed
            && (told.errors_differ, told.rows_differ, told.affected_differ) == (0, 0, 0);
        // The report says if tables may differ, and only then.
        let unequal = table_differences(&outcome);
        let is_right = (told.sent, told.captured) == (asked, asked)
            && (is_equal || !unequal.is_empty())
            && (!is_repeatable || unequal.is_empty());
        let difference = (!is_right).then(|| {
            format!("{asked} asked, {produced:?} and not {replayed:?}, {told:?}, {unequal:?}")
        });
        Comparison {
            sent: told.sent,
            difference,
        }
    }

    /// Returns how many statements were executed.
    fn live(&self, port: u16, steps: &[Step]) -> u64 {
        let schema = self.server.endpoint().database;
        let account = Account {
            user: USER,
            password: PASSWORD,
            schema: &schema,
            collation: UTF8MB4,
        };
        let mut clients = [const { None }; SESSIONS];
        let mut prepared: [HashMap<&str, u32>; SESSIONS] = Default::default();
        let mut asked = 0;
        let mut root = self.root();
        for step in steps {
            let mut waiting = None;
            for action in &step.actions {
                if let Action::Contend(other, sql) = action {
                    let client = clients[*other].take();
                    let client =
                        client.unwrap_or_else(|| RawClient::connect(port, account).unwrap());
                    waiting = Some((*other, contend(client, sql.clone(), &mut root)));
                    asked += 1;
                    continue;
                }
                let handles = &mut prepared[step.session];
                let client = clients[step.session]
                    .get_or_insert_with(|| RawClient::connect(port, account).unwrap());
                match action {
                    Action::Contend(..) => {}
                    // A server may refuse it; then it does so twice.
                    Action::Text(sql) => drop(client.query(sql.as_bytes())),
                    Action::Execute(sql, values) => {
                        let handle = *handles
                            .entry(sql)
                            .or_insert_with(|| client.prepare(sql.as_bytes()).unwrap());
                        let values: Vec<_> = values.iter().map(String::as_bytes).collect();
                        let _ = client.execute(handle, &values);
                    }
                    Action::Reset => {
                        client.reset().unwrap();
                        handles.clear();
                    }
                    Action::Quit => {
                        handles.clear();
                        clients[step.session].take().unwrap().quit();
                    }
                }
                asked += u64::from(matches!(action, Action::Text(_) | Action::Execute(..)));
            }
            if let Some((other, thread)) = waiting {
                clients[other] = Some(thread.join().unwrap());
            }
        }
        asked
    }

    fn replay(&self, path: &std::path::Path) -> ReplayOutcome {
        let options = ReplayOptions {
            pace: ReplayPace::Fast,
            order: ReplayOrder::Commit,
            ..ReplayOptions::default()
        };
        let survey = Survey::read(path, &options).unwrap();
        let gate = Gate::new(Permissions {
            schema: Some(self.server.endpoint().database),
            ..Permissions::default()
        });
        let plan = LoadPlan::new(self.endpoint(), WorkloadName::OltpPointSelect);
        let part = CapturePart {
            path,
            survey: &survey,
            options: &options,
        };
        let stop = AtomicBool::new(false);
        replay(&plan, part, (&gate, true), &stop, &mut |_| {}).unwrap()
    }
}
