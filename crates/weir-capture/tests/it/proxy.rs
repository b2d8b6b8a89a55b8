//! The proxy before a real server: what passes is what would pass without it, and what is written is what passed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::TempDir;
use weir_capture::{
    CaptureError, CaptureProxy, CaptureReader, CaptureTail, Command, CommandEnd, CommandStart,
    Happening, Literals, Losses, ProxyCertificate, Record, Value,
};
use weir_model::{Address, Endpoint, Flavor, Secret, Tls, TlsMode};
use weir_mysql::{ClientError, Connection, Connector, Gate, Patience};
use weir_testing::PrivateServer;

pub(crate) const USER: &str = "captured";
pub(crate) const PASSWORD: &str = "hunter2-of-the-test";

weir_testing::on_both_flavors! {
    what_passes_is_written_down
    sessions_beside_each_other_are_kept_apart
    a_file_of_the_clients_is_noted
    both_sides_are_encrypted_if_the_client_encrypts
    a_command_whose_client_does_not_wait_for_its_answer_is_counted
}

/// A server with an account of its own, and a proxy before it. The server goes before its directory.
pub(crate) struct Bench {
    pub(crate) server: PrivateServer,
    pub(crate) directory: TempDir,
    pub(crate) port: u16,
    stop: Arc<AtomicBool>,
    running: Option<JoinHandle<Result<CaptureTail, CaptureError>>>,
}

impl Bench {
    pub(crate) fn start(flavor: Flavor, literals: Literals) -> Self {
        Self::start_with(flavor, literals, &[])
    }

    /// With more variables of the server.
    pub(crate) fn start_with(flavor: Flavor, literals: Literals, more: &[(&str, &str)]) -> Self {
        let variables = [&[("local_infile", "ON")][..], more].concat();
        let (server, directory, server_port) = weir_testing::start_on_tcp(flavor, &variables);
        weir_testing::make_account(&server.endpoint(), USER, PASSWORD);
        let table = "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(40), price DECIMAL(8,2))";
        weir_testing::connect(&server.endpoint())
            .run(table)
            .unwrap();
        let behind = endpoint(&server, server_port);
        let listen = "127.0.0.1:0".parse().unwrap();
        let proxy =
            CaptureProxy::bind(listen, &behind, flavor, &ProxyCertificate::default()).unwrap();
        let port = proxy.address().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let path = directory.path().join("test.weircap");
        let of_thread = Arc::clone(&stop);
        let running =
            std::thread::spawn(move || proxy.run(&path, literals, &of_thread, &mut |_| {}));
        Self {
            server,
            directory,
            port,
            stop,
            running: Some(running),
        }
    }

    pub(crate) fn connect(&self) -> Connection {
        self.connect_by(TlsMode::Disabled).unwrap()
    }

    fn connect_by(&self, mode: TlsMode) -> Result<Connection, ClientError> {
        self.connect_with(mode, Duration::from_secs(30))
    }

    fn connect_with(&self, mode: TlsMode, patience: Duration) -> Result<Connection, ClientError> {
        let mut endpoint = endpoint(&self.server, self.port);
        endpoint.tls.mode = mode;
        let connector = Connector::new(endpoint, None, Gate::own()).unwrap();
        Connection::connect(&connector, true, Patience::Each(patience))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("test.weircap")
    }

    /// Ends the proxy.
    pub(crate) fn finish(&mut self) -> CaptureTail {
        self.stop.store(true, Ordering::SeqCst);
        self.running.take().unwrap().join().unwrap().unwrap()
    }
}

fn endpoint(server: &PrivateServer, port: u16) -> Endpoint {
    Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), port),
        user: USER.to_owned(),
        password: Secret::new(PASSWORD),
        database: server.endpoint().database,
        tls: Tls {
            mode: TlsMode::Preferred,
            ..Tls::default()
        },
    }
}

pub(crate) fn records(path: &Path) -> Vec<Record> {
    CaptureReader::open(path)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

/// Commands of a session with how each ended, those that have no end apart.
fn commands(path: &Path, session: u32) -> Vec<(CommandStart, Option<CommandEnd>)> {
    let mut commands: Vec<(CommandStart, Option<CommandEnd>)> = Vec::new();
    let mut open = std::collections::VecDeque::new();
    for record in records(path)
        .into_iter()
        .filter(|record| record.session == session)
    {
        match record.happening {
            Happening::Started(started) => {
                if started.command != Command::Close {
                    open.push_back(commands.len());
                }
                commands.push((started, None));
            }
            Happening::Ended(ended) => commands[open.pop_front().unwrap()].1 = Some(ended),
            _ => {}
        }
    }
    commands
}

fn what_passes_is_written_down(flavor: Flavor) {
    let mut bench = Bench::start(flavor, Literals::Keep);
    let mut client = bench.connect();
    client
        .run("INSERT INTO item VALUES (1, 'nail', 0.10), (2, 'screw', 0.25)")
        .unwrap();
    let rows: Vec<(u32, String)> = client
        .rows("SELECT id, name FROM item ORDER BY id")
        .unwrap();
    assert_eq!(rows.len(), 2);
    let values = vec![Value::Int(2), Value::Bytes(b"screw".to_vec()), Value::NULL];
    let query = "SELECT name FROM item WHERE id = ? AND name = ? AND ? IS NULL";
    for _ in 0..3 {
        let rows: Vec<(String,)> = client.execute(query, values.clone()).unwrap();
        assert_eq!(rows, [("screw".to_owned(),)]);
    }
    let refused = client.run("SELECT nothing FROM item").unwrap_err();
    assert_eq!(refused.code(), Some(1054));
    client.run("BEGIN").unwrap();
    assert_eq!(
        client
            .run("UPDATE item SET price = price + 1")
            .unwrap()
            .affected_rows,
        2
    );
    client.run("COMMIT").unwrap();
    client
        .run(format!("SET PASSWORD = '{PASSWORD}-new'").as_str())
        .ok();
    // More than any buffer on the way.
    let long: Vec<(String,)> = client
        .rows("SELECT REPEAT('x', 300000) UNION ALL SELECT REPEAT('y', 300000)")
        .unwrap();
    assert!(long.iter().all(|(text,)| text.len() == 300_000));
    drop(client);
    let tail = bench.finish();
    assert_eq!(tail.losses.sessions, 0, "{tail:?}");
    let opened: Vec<_> = records(&bench.path())
        .into_iter()
        .filter_map(|record| match record.happening {
            Happening::Opened(login) => Some((record.session, login.user, login.schema)),
            _ => None,
        })
        .collect();
    let [(session, user, schema)] = &opened[..] else {
        panic!("{opened:?}");
    };
    assert_eq!((&**user, schema), (USER, &bench.server.endpoint().database));
    let commands = commands(&bench.path(), *session);
    let found = |text: &str| -> Vec<_> {
        let is_it =
            |started: &CommandStart| String::from_utf8_lossy(&started.text()).contains(text);
        commands
            .iter()
            .filter(|(started, _)| is_it(started))
            .cloned()
            .collect()
    };
    let ended = |text: &str| found(text)[0].1.unwrap();
    assert_eq!(ended("INSERT INTO item").affected, Some(2));
    assert_eq!(ended("ORDER BY id").rows, Some(2));
    assert_eq!(ended("SELECT nothing").error, Some(1054));
    assert_eq!(ended("UPDATE item").affected, Some(2));
    assert_eq!(ended("UPDATE item").in_transaction, Some(true));
    assert_eq!(ended("COMMIT").in_transaction, Some(false));
    assert_eq!(ended("REPEAT").rows, Some(2));
    let prepared = ended("SELECT name FROM item WHERE id = ?");
    let executed: Vec<_> = commands
        .iter()
        .filter(|(started, _)| started.command == Command::Execute)
        .collect();
    assert_eq!(executed.len(), 3);
    for (started, ended) in executed {
        assert_eq!(Some(started.handle), prepared.handle);
        assert_eq!(started.values, values);
        assert_eq!(ended.unwrap().rows, Some(1));
    }
    assert!(found("SET PASSWORD")[0].0.is_unusable);
    let bytes = format!("{commands:?}");
    assert!(!bytes.contains(PASSWORD));
}

fn sessions_beside_each_other_are_kept_apart(flavor: Flavor) {
    const SESSIONS: usize = 12;
    const STATEMENTS: usize = 50;
    let mut bench = Bench::start(flavor, Literals::Keep);
    std::thread::scope(|scope| {
        for number in 0..SESSIONS {
            let mut client = bench.connect();
            scope.spawn(move || {
                for statement in 0..STATEMENTS {
                    let query = format!("SELECT {number}, {statement}");
                    let rows: Vec<(usize, usize)> = client.rows(query).unwrap();
                    assert_eq!(rows, [(number, statement)]);
                }
            });
        }
    });
    let tail = bench.finish();
    assert_eq!(tail.written.sessions, SESSIONS as u64);
    let records = records(&bench.path());
    let closed = records
        .iter()
        .filter(|record| record.happening == Happening::Closed)
        .count();
    assert_eq!(closed, SESSIONS);
    for session in 1..=SESSIONS as u32 {
        let texts: Vec<_> = commands(&bench.path(), session)
            .into_iter()
            .map(|(started, ended)| {
                assert_eq!(ended.unwrap().rows, Some(1));
                String::from_utf8(started.text()).unwrap()
            })
            .collect();
        let number = texts[0].split([' ', ',']).nth(1).unwrap();
        let expected: Vec<_> = (0..STATEMENTS)
            .map(|statement| format!("SELECT {number}, {statement}"))
            .collect();
        assert_eq!(texts, expected);
    }
}

fn a_file_of_the_clients_is_noted(flavor: Flavor) {
    let mut bench = Bench::start(flavor, Literals::Keep);
    let mut client = bench.connect();
    let mut lines = vec![b"7\tbolt\t1.5\n".to_vec()];
    let load = "LOAD DATA LOCAL INFILE 'x' INTO TABLE item";
    let done = client.load(load, &mut |out| out.extend(lines.pop().unwrap_or_default()));
    assert_eq!(done.unwrap().affected_rows, 1);
    let rows: Vec<(String,)> = client.rows("SELECT name FROM item").unwrap();
    assert_eq!(rows, [("bolt".to_owned(),)]);
    drop(client);
    bench.finish();
    let commands = commands(&bench.path(), 1);
    let (started, ended) = commands
        .iter()
        .find(|(started, _)| started.text() == load.as_bytes())
        .unwrap();
    assert!(started.template.as_ref().unwrap().class().asks_for_file);
    assert_eq!(ended.unwrap().affected, Some(1));
}

fn both_sides_are_encrypted_if_the_client_encrypts(flavor: Flavor) {
    let mut bench = Bench::start(flavor, Literals::Keep);
    // MariaDB 10.11 has no certificate of its own.
    let is_offered = flavor == Flavor::Mysql;
    let encrypted = bench.connect_by(TlsMode::Required);
    assert_eq!(encrypted.is_ok(), is_offered);
    let cipher = "SHOW SESSION STATUS LIKE 'Ssl_cipher'";
    if let Ok(mut client) = encrypted {
        let told: Option<(String, String)> = client.first(cipher).unwrap();
        assert!(!told.unwrap().1.is_empty());
        let long: Vec<(String,)> = client
            .rows("SELECT REPEAT('x', 300000) FROM item RIGHT JOIN (SELECT 1) o ON 1")
            .unwrap();
        assert_eq!(long[0].0.len(), 300_000);
        client
            .run("INSERT INTO item VALUES (1, 'nail', 0.1)")
            .unwrap();
    }
    let told: Option<(String, String)> = bench.connect().first(cipher).unwrap();
    assert!(told.unwrap().1.is_empty());
    let tail = bench.finish();
    assert_eq!(tail.losses.sessions, 0, "{tail:?}");
    assert_eq!(tail.written.sessions, 1 + u64::from(is_offered));
    let inserted = commands(&bench.path(), 1);
    let inserted = inserted
        .iter()
        .any(|(started, _)| started.text().starts_with(b"INSERT"));
    assert_eq!(inserted, is_offered);
}

fn a_command_whose_client_does_not_wait_for_its_answer_is_counted(flavor: Flavor) {
    let mut bench = Bench::start(flavor, Literals::Keep);
    let mut patient = bench.connect();
    let one = patient.prepare("SELECT 1").unwrap();
    // It has no answer by its nature.
    patient.close("SELECT 1", one).unwrap();
    patient.run("DO 1").unwrap();
    drop(patient);
    let patience = Duration::from_secs(5);
    let mut hasty = bench.connect_with(TlsMode::Disabled, patience).unwrap();
    hasty.run("DO SLEEP(600)").unwrap_err();
    drop(hasty);
    let tail = bench.finish();
    let expected = Losses {
        unanswered: 1,
        sessions_unanswered: 1,
        ..Losses::default()
    };
    assert_eq!(tail.losses, expected);
    let statements = commands(&bench.path(), 2);
    let last = statements.last().unwrap();
    assert_eq!(last.0.text(), b"DO SLEEP(600)");
    assert_eq!(last.1, None);
}
