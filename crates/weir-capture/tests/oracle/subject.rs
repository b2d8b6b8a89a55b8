//! The server that logs, and its logs.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;
use weir_model::{Endpoint, Flavor, Secret};
use weir_mysql::Connection;
use weir_testing::PrivateServer;

use crate::history::{Action, History, LOGINS, OLDER, Rotation, SESSIONS, Step};
use crate::truth::{PASSWORD, SessionTruth};

/// A kind of log: its variable, its table and the statement that opens it anew.
pub(crate) const KINDS: [(&str, &str, &str); 2] = [
    ("slow_query_log", "slow_log", "FLUSH SLOW LOGS"),
    ("general_log", "general_log", "FLUSH GENERAL LOGS"),
];

pub(crate) struct Subject {
    pub(crate) flavor: Flavor,
    server: PrivateServer,
    port: u16,
    data: PathBuf,
    directory: TempDir,
}

/// Sessions that ran, and the files of each kind of log.
pub(crate) struct HistoryRecord {
    pub(crate) sessions: Vec<SessionTruth>,
    pub(crate) logs: [Vec<PathBuf>; 2],
}

impl Subject {
    pub(crate) fn start(flavor: Flavor) -> Self {
        let (server, directory, port) =
            weir_testing::start_on_tcp(flavor, &weir_testing::LAZY_COMMITS);
        let mut root = weir_testing::connect(&server.endpoint());
        let data: Option<(String,)> = root.first("SELECT @@datadir").unwrap();
        let subject = Self {
            flavor,
            server,
            port,
            data: PathBuf::from(data.unwrap().0),
            directory,
        };
        // No session waits for another for long.
        let wait = u8::from(flavor == Flavor::Mysql);
        for sql in [
            "SET GLOBAL long_query_time = 0".to_owned(),
            format!("SET GLOBAL innodb_lock_wait_timeout = {wait}, lock_wait_timeout = {wait}"),
        ] {
            root.run(sql).unwrap();
        }
        if flavor == Flavor::Mysql {
            root.run("SET GLOBAL log_bin_trust_function_creators = 1")
                .unwrap();
        } else {
            root.run("SET GLOBAL log_slow_filter = ''").unwrap();
        }
        for (user, _) in LOGINS {
            subject.make_account(&mut root, user);
        }
        subject
    }

    fn make_account(&self, root: &mut Connection, user: &str) {
        root.run(format!(
            "CREATE USER IF NOT EXISTS {user}@'%' IDENTIFIED BY '{PASSWORD}'"
        ))
        .unwrap();
        root.run(format!("GRANT ALL ON *.* TO {user}@'%'")).unwrap();
        // From now on, the server knows the password.
        weir_testing::connect(&Endpoint {
            user: user.to_owned(),
            password: Secret::new(PASSWORD),
            ..self.server.endpoint()
        });
    }

    /// Schemas as all histories find them.
    fn clean(root: &mut Connection) {
        for schema in ["shop", "crm"] {
            root.run(format!("DROP DATABASE IF EXISTS {schema}"))
                .unwrap();
            root.run(format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4"))
                .unwrap();
            for sql in [
                "TABLE {}.item (id INT AUTO_INCREMENT PRIMARY KEY, name LONGTEXT)",
                "TABLE {}.traced (id INT)",
                "TABLE {}.named (name VARCHAR(60) PRIMARY KEY)",
                "TABLE {}.notes (id INT)",
                "TRIGGER {}.trace BEFORE INSERT ON {}.traced FOR EACH ROW INSERT INTO {}.notes VALUES (NEW.id)",
                "PROCEDURE {}.touch (number INT) UPDATE {}.item SET name = 'touched' WHERE id = number",
                "FUNCTION {}.noted (number INT) RETURNS INT DETERMINISTIC BEGIN INSERT INTO {}.notes VALUES (number); RETURN number; END",
            ] {
                root.run(format!("CREATE {}", sql.replace("{}", schema)))
                    .unwrap();
            }
        }
    }

    fn watcher(&self) -> Connection {
        let mut watcher = weir_testing::connect(&self.server.endpoint());
        watcher
            .run("SET SESSION long_query_time = 1000, sql_log_off = 1")
            .unwrap();
        watcher
    }

    /// Lets a history happen; the logs are in a new directory.
    pub(crate) fn live(&self, history: &History, number: usize) -> HistoryRecord {
        let mut root = weir_testing::connect(&self.server.endpoint());
        // Sessions of the history before may still be ending.
        root.run("SET SESSION lock_wait_timeout = 60").unwrap();
        if self.flavor == Flavor::Mariadb {
            root.run("SET SESSION slow_query_log = ON").unwrap();
        }
        Self::clean(&mut root);
        let mut life = Life {
            subject: self,
            root,
            watcher: self.watcher(),
            folder: self.directory.path().join(format!("logs-{number}")),
            is_table: history.is_table,
            copies: 0,
            sessions: Vec::new(),
            now: [const { None }; SESSIONS],
            logs: [Vec::new(), Vec::new()],
        };
        life.configure(&history.verbosity);
        for session in 0..OLDER {
            let number = life.connect(session);
            if self.flavor == Flavor::Mariadb {
                // Else it would keep what the variable was when it connected.
                life.sessions[number].set("SET SESSION slow_query_log = ON");
            }
        }
        life.open();
        for step in &history.steps {
            match step {
                Step::Act(session, action) => life.act(*session, action),
                Step::Rotate(rotation) => life.rotate(*rotation),
            }
        }
        life.end()
    }
}

/// A history that happens.
struct Life<'a> {
    subject: &'a Subject,
    root: Connection,
    /// It sees when the others have been logged, and is in no log itself.
    watcher: Connection,
    folder: PathBuf,
    is_table: bool,
    copies: usize,
    sessions: Vec<SessionTruth>,
    /// The sessions that are connected now, by their position.
    now: [Option<usize>; SESSIONS],
    logs: [Vec<PathBuf>; 2],
}

impl Life<'_> {
    fn run(&mut self, sql: impl AsRef<str>) {
        self.root.run(sql).unwrap();
    }

    fn connect(&mut self, session: usize) -> usize {
        let number = self.sessions.len();
        let truth = SessionTruth::connect(self.subject.port, number, session % LOGINS.len());
        self.sessions.push(truth);
        self.now[session] = Some(number);
        number
    }

    fn file(&self, kind: usize) -> PathBuf {
        if self.is_table {
            self.subject
                .data
                .join(format!("mysql/{}.CSV", KINDS[kind].1))
        } else {
            self.folder.join(KINDS[kind].1)
        }
    }

    fn configure(&mut self, verbosity: &str) {
        let output = if self.is_table { "TABLE" } else { "FILE" };
        self.run(format!("SET GLOBAL log_output = '{output}'"));
        let set = match (self.subject.flavor, verbosity) {
            (Flavor::Mariadb, _) => format!("log_slow_verbosity = '{verbosity}'"),
            (Flavor::Mysql, _) => format!("log_slow_extra = {}", u8::from(verbosity == "extra")),
        };
        // Older servers know less.
        let _ = self.root.run(format!("SET GLOBAL {set}"));
    }

    fn open(&mut self) {
        fs::create_dir(&self.folder).unwrap();
        self.wait_for_a_second();
        for (kind, (log, table, _)) in KINDS.into_iter().enumerate() {
            if self.is_table {
                self.run(format!("TRUNCATE mysql.{table}"));
            } else {
                let file = self.file(kind);
                self.run(format!("SET GLOBAL {log}_file = '{}'", file.display()));
            }
            self.run(format!("SET GLOBAL {log} = ON"));
        }
    }

    fn act(&mut self, session: usize, action: &Action) {
        let number = match self.now[session] {
            Some(number) => number,
            None => self.connect(session),
        };
        let truth = &mut self.sessions[number];
        if truth.sent.is_empty() {
            truth.name();
        }
        truth.act(action);
        if truth.has_quit() {
            self.now[session] = None;
        }
    }

    /// Waits until the server has logged all that was answered.
    fn settle(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        // Of MySQL's tables only this one has sessions without their texts, which may be of any bytes.
        let (table, prefix) = match self.subject.flavor {
            Flavor::Mysql => ("performance_schema.threads", "PROCESSLIST_"),
            Flavor::Mariadb => ("information_schema.PROCESSLIST", ""),
        };
        let look = format!(
            "SELECT COALESCE(SUM({prefix}USER <> '{root}'), 0), \
             COALESCE(SUM({prefix}COMMAND <> 'Sleep' AND {prefix}ID <> CONNECTION_ID()), 0) \
             FROM {table} WHERE {prefix}USER IN ('app', 'web', '{root}')",
            root = self.subject.server.endpoint().user
        );
        let here = self.now.iter().flatten().count() as u64;
        loop {
            let (connected, busy): (u64, u64) = self.watcher.first(&look).unwrap().unwrap();
            if (connected, busy) == (here, 0) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{connected} and not {here} sessions, {busy} busy"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn rotate(&mut self, rotation: Rotation) {
        let is_new = matches!(rotation, Rotation::Flush | Rotation::Truncate);
        if is_new {
            self.wait_for_a_second();
        }
        for (kind, (log, _, flush)) in KINDS.into_iter().enumerate() {
            self.settle();
            let file = self.file(kind);
            let copy = self.folder.join(format!("{log}.{}", self.copies));
            match rotation {
                Rotation::Flush => {
                    fs::rename(&file, &copy).unwrap();
                    self.run(flush);
                }
                Rotation::Truncate => {
                    fs::copy(&file, &copy).unwrap();
                    fs::File::options()
                        .write(true)
                        .open(&file)
                        .unwrap()
                        .set_len(0)
                        .unwrap();
                }
                Rotation::Copy => drop(fs::copy(&file, &copy).unwrap()),
                Rotation::Switch => {
                    self.run(format!("SET GLOBAL {log} = OFF"));
                    self.run(format!("SET GLOBAL {log} = ON"));
                    continue;
                }
            }
            self.logs[kind].push(copy);
        }
        self.copies += 1;
        if is_new {
            self.wait_for_a_second();
            // Most of the first entries of a file are no session's with its own clock.
            for _ in 0..30 {
                self.run("SELECT 'rotated'");
            }
        }
    }

    /// `MariaDB` writes seconds, and each once only: files of a log are told apart if they begin in different ones.
    fn wait_for_a_second(&self) {
        let second = || SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let last = second();
        while self.subject.flavor == Flavor::Mariadb && second() == last {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn end(mut self) -> HistoryRecord {
        self.settle();
        for (log, ..) in KINDS {
            self.run(format!("SET GLOBAL {log} = OFF"));
        }
        for (kind, (log, ..)) in KINDS.into_iter().enumerate() {
            let last = self.folder.join(format!("{log}.last"));
            fs::copy(self.file(kind), &last).unwrap();
            // In no order of time.
            let middle = self.logs[kind].len() / 2;
            self.logs[kind].insert(middle, last);
        }
        HistoryRecord {
            sessions: self.sessions,
            logs: self.logs,
        }
    }
}
