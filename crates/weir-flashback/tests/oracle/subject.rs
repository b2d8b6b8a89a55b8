//! The server on which histories happen, and the private one on which the past is made.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use weir_flashback::{
    FlashbackError, FlashbackPlan, MomentRequest, Options, Private, Source, State, TableName,
    find_like,
};
use weir_model::Flavor;
use weir_mysql::binlog::Gtid;
use weir_mysql::{Connection, Row};
use weir_server::PrivateServer;

use crate::dialect::{BINARY_LOG_WORDS, COMMIT_TIMES, Dialect, NO_WAIT, ROW_METADATA};
use crate::forms::Form;
use crate::history::{History, Session, Step};
use crate::truth::Truth;

/// Schemas of histories.
const SCHEMAS: [&str; 3] = ["shop", "crm", "lab"];
/// `ER_XAER_NOTA`.
const NO_SUCH_BRANCH: u16 = 1397;
/// How often the end of a branch is tried whose connection goes.
const BRANCH_TRIES: u32 = 400;
/// The zone whose clock jumps on two days of 2026, by hand, since servers need no tables of zones.
const ZONE: [&str; 4] = [
    "INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (77, 'N')",
    "INSERT INTO mysql.time_zone_name VALUES ('Test/Jumps', 77)",
    "INSERT INTO mysql.time_zone_transition_type VALUES (77, 0, 3600, 0, 'W'), (77, 1, 7200, 1, 'S')",
    "INSERT INTO mysql.time_zone_transition VALUES (77, -2147483648, 0), (77, 1774746000, 1), (77, 1792890000, 0)",
];

/// Every table of the schemas with what it holds.
pub(crate) type World = BTreeMap<(String, String), Truth>;

/// A moment of a history.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    /// Ways to ask for it.
    pub(crate) asked: Vec<MomentRequest>,
    /// What the server held.
    pub(crate) world: World,
}

/// What happened in a history.
#[derive(Debug)]
pub(crate) struct HistoryRecord {
    pub(crate) moments: Vec<Moment>,
    /// What the server holds at the end.
    pub(crate) now: World,
}

pub(crate) struct Subject {
    pub(crate) dialect: Dialect,
    pub(crate) server: PrivateServer,
    pub(crate) private: Private,
    work: TempDir,
    has_gtids: bool,
    pub(crate) form: Form,
    /// After the servers in the order of drops.
    _directory: TempDir,
}

impl Subject {
    pub(crate) fn start(flavor: Flavor, form: Form) -> Self {
        let mut variables = vec![
            ("log_bin", "binlog"),
            ("server_id", "1"),
            ("binlog_format", "ROW"),
        ];
        variables.extend(weir_testing::LAZY_COMMITS);
        let more = form.variables.iter();
        variables.extend(more.map(|(name, value)| (*name, value.as_str())));
        let usual = weir_testing::binary(flavor);
        let program = form.program.as_ref().unwrap_or(&usual);
        let (server, directory) = weir_testing::start_program(program, &variables);
        let mut control = weir_testing::connect(&server.endpoint());
        control
            .run("SET SESSION sql_log_bin = 0, time_zone = '+00:00'")
            .unwrap();
        for sql in ZONE {
            control.run(sql).unwrap();
        }
        control.run("CREATE DATABASE lab").unwrap();
        control
            .run("CREATE TABLE lab.first (id INT PRIMARY KEY)")
            .unwrap();
        let work = tempfile::tempdir().unwrap();
        weir_mysql::write_client_options(&work.path().join("client.cnf"), &server.endpoint())
            .unwrap();
        let source = source(&server);
        let options = Options::new(work.path().to_owned());
        let name = [TableName::read("lab.first", "")];
        let prepared = FlashbackPlan::new(&source, &name, &MomentRequest::Start, options).unwrap();
        let binary = find_like(&source, Some(&server.binary().path)).unwrap();
        let made = prepared.make(&binary, State::Now, "").unwrap();
        Self {
            dialect: Dialect::of_tests(flavor),
            has_gtids: flavor == Flavor::Mariadb || variables.contains(&("gtid_mode", "ON")),
            server,
            private: made.private,
            form,
            work,
            _directory: directory,
        }
    }

    pub(crate) fn connect(&self) -> Connection {
        weir_testing::connect(&self.server.endpoint())
    }

    /// Empty schemas, usual settings and an empty log.
    fn clean(&self) {
        let mut control = self.connect();
        control
            .run("SET SESSION sql_log_bin = 0, foreign_key_checks = 0")
            .unwrap();
        let others: Vec<u64> = control
            .rows("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = SUBSTRING_INDEX(CURRENT_USER(), '@', 1) AND ID <> CONNECTION_ID()")
            .unwrap();
        for other in others {
            // It may have gone meanwhile.
            let _ = control.run(format!("KILL {other}"));
        }
        let branches: Vec<(i64, i64, i64, String)> = control.rows("XA RECOVER").unwrap();
        for (_, _, _, name) in branches {
            let rollback = format!("XA ROLLBACK '{name}'");
            let mut tries = 0;
            while let Err(error) = control.run(&rollback) {
                // The session that was killed may have ended it meanwhile.
                if error.code() == Some(NO_SUCH_BRANCH) {
                    break;
                }
                tries += 1;
                assert!(tries < BRANCH_TRIES, "{rollback}: {error}");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        for schema in SCHEMAS {
            control
                .run(format!("DROP DATABASE IF EXISTS {schema}"))
                .unwrap();
            control.run(format!("CREATE DATABASE {schema}")).unwrap();
        }
        let own = match self.dialect.flavor {
            Flavor::Mysql => "binlog_row_metadata = MINIMAL",
            Flavor::Mariadb => "binlog_row_metadata = NO_LOG",
        };
        if self.dialect.has(ROW_METADATA) {
            control.run(format!("SET GLOBAL {own}")).unwrap();
        }
        if self.dialect.flavor == Flavor::Mariadb {
            let plain = "SET GLOBAL log_bin_compress = OFF, log_bin_compress_min_len = 256";
            control.run(plain).unwrap();
        }
        control.run("SET GLOBAL binlog_checksum = CRC32").unwrap();
        let empty = if self.dialect.has(BINARY_LOG_WORDS) {
            "RESET BINARY LOGS AND GTIDS"
        } else {
            "RESET MASTER"
        };
        control.run(empty).unwrap();
    }

    /// Lets a history happen on an empty server. Statements may be refused: what the server made of them is kept.
    pub(crate) fn live(&self, history: &History) -> HistoryRecord {
        self.clean();
        let mut sessions: BTreeMap<Session, Connection> = BTreeMap::new();
        let mut reader = self.connect();
        let (mut moments, mut prepared) = (Vec::<Moment>::new(), Vec::<String>::new());
        for step in &history.steps {
            let (session, sql) = match step {
                Step::Run(session, sql) => (session, sql),
                Step::Moment => {
                    moments.push(self.moment(&mut reader));
                    continue;
                }
            };
            let connection = sessions.entry(*session).or_insert_with(|| self.session());
            let mut done = connection.run(sql);
            if is_end_of_branch(sql) {
                // A branch is anybody's only once its connection is gone.
                for _ in 0..BRANCH_TRIES {
                    if done.is_ok() || !prepared.iter().any(|name| sql.ends_with(name.as_str())) {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(5));
                    done = connection.run(sql);
                }
            }
            if let Err(error) = &done {
                assert!(!error.is_lost(), "{error}: {sql}\n{}", history.script());
            } else if let Some(name) = sql.strip_prefix("XA PREPARE ") {
                prepared.push(name.to_owned());
                sessions.remove(session);
            }
        }
        for connection in sessions.values_mut() {
            let _ = connection.run("ROLLBACK");
        }
        drop(sessions);
        // A transaction that has not come cannot be named; of several sequences it is not known which goes on.
        let next = self.gtids(&mut reader).map(|(_, next)| next);
        for moment in &mut moments {
            moment.asked.retain(|asked| match asked {
                MomentRequest::Before(gtid) => next.as_ref().is_some_and(|next| next != gtid),
                _ => true,
            });
        }
        HistoryRecord {
            now: world(&mut reader),
            moments,
        }
    }

    fn session(&self) -> Connection {
        let mut connection = self.connect();
        let wait = u8::from(!self.dialect.has(NO_WAIT));
        connection
            .run(format!(
                "SET SESSION innodb_lock_wait_timeout = {wait}, lock_wait_timeout = {wait}"
            ))
            .unwrap();
        connection.run("SET NAMES utf8mb4").unwrap();
        connection
    }

    fn moment(&self, reader: &mut Connection) -> Moment {
        let status = if self.dialect.has(BINARY_LOG_WORDS) {
            "SHOW BINARY LOG STATUS"
        } else {
            "SHOW MASTER STATUS"
        };
        let row: Row = reader.first(status).unwrap().unwrap();
        let mut asked = vec![MomentRequest::At {
            file: row.get(0).unwrap(),
            position: row.get(1).unwrap(),
        }];
        if self.dialect.has(COMMIT_TIMES) {
            // The next commit has a later microsecond.
            let time: Option<String> = reader
                .first("SELECT CONCAT(UTC_TIMESTAMP(6), 'Z')")
                .unwrap();
            asked.push(MomentRequest::Time(time.unwrap()));
        }
        if let Some((last, next)) = self.gtids(reader) {
            asked.extend([MomentRequest::After(last), MomentRequest::Before(next)]);
        }
        Moment {
            asked,
            world: world(reader),
        }
    }

    /// The last transaction, and the one that will be the next.
    fn gtids(&self, reader: &mut Connection) -> Option<(Gtid, Gtid)> {
        if !self.has_gtids {
            return None;
        }
        let query = match self.dialect.flavor {
            Flavor::Mysql => "SELECT @@GLOBAL.gtid_executed",
            Flavor::Mariadb => "SELECT @@GLOBAL.gtid_binlog_pos",
        };
        let set: String = reader.first(query).unwrap()?;
        // One server, whose transactions have numbers without a gap; with tags or domains there are several sequences.
        let (start, last) = match (set.split_once(':'), set.rsplit_once('-')) {
            (Some((server, range)), _) => (format!("{server}:"), range.rsplit('-').next()?),
            (None, Some((start, last))) => (format!("{start}-"), last),
            (None, None) => return None,
        };
        let last: u64 = last
            .parse()
            .ok()
            .filter(|_| !set.contains(',') && set.matches(':').count() < 2)?;
        Some((
            format!("{start}{last}").parse().ok()?,
            format!("{start}{}", last + 1).parse().ok()?,
        ))
    }

    pub(crate) fn prepare(
        &self,
        name: &(&str, &str),
        asked: &MomentRequest,
    ) -> Result<FlashbackPlan, FlashbackError> {
        let options = Options::new(self.work.path().to_owned());
        let name = TableName {
            schema: name.0.to_owned(),
            table: name.1.to_owned(),
        };
        FlashbackPlan::new(&source(&self.server), &[name], asked, options)
    }

    /// What the table was; all of it or the rows that `clause` selects now or did then.
    pub(crate) fn flash(
        &self,
        prepared: &FlashbackPlan,
        clause: &str,
    ) -> Result<Truth, FlashbackError> {
        prepared.make_on(&self.private, State::Then, clause)?;
        Ok(self.selected(prepared, ""))
    }

    /// Rows of the table that was made last.
    pub(crate) fn selected(&self, prepared: &FlashbackPlan, clause: &str) -> Truth {
        let name = &prepared.tables[0].name;
        let mut connection = self.private.connect(None).unwrap();
        Truth::read_where(&mut connection, (&name.schema, &name.table), clause).unwrap()
    }

    /// Gives a script to the client that people use; what it said if it failed.
    pub(crate) fn run_script(&self, script: &str) -> Result<(), String> {
        let login = self.work.path().join("client.cnf");
        let mut client = Command::new("mariadb")
            .arg(format!("--defaults-file={}", login.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = client.stdin.take().unwrap();
        // It may have ended before it has read all.
        let _ = std::io::Write::write_all(&mut input, script.as_bytes());
        drop(input);
        let output = client.wait_with_output().unwrap();
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

fn is_end_of_branch(sql: &str) -> bool {
    sql.starts_with("XA COMMIT") || sql.starts_with("XA ROLLBACK")
}

fn source(server: &PrivateServer) -> Source {
    let binary = server.binary();
    Source::at(server.endpoint(), binary.flavor, binary.version)
}

/// All tables of the histories' schemas.
pub(crate) fn world(reader: &mut Connection) -> World {
    let names: Vec<(String, String)> = reader
        .rows(
            "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA IN ('shop', 'crm', 'lab') AND TABLE_TYPE = 'BASE TABLE'",
        )
        .unwrap();
    let read = |(schema, table): (String, String)| {
        let truth = Truth::read(reader, &schema, &table)?;
        Some(((schema, table), truth))
    };
    names.into_iter().filter_map(read).collect()
}
