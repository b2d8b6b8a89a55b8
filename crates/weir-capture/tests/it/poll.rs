//! Polls of real servers under load, beside what their general logs say there was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use weir_capture::{
    CaptureReader, CaptureSource, CaptureTail, Command, Happening, Literals, LogFormat, PollTimes,
    ServerCounters, StatementPoll, fingerprint, import_log,
};
use weir_model::{Endpoint, Flavor, Secret};
use weir_mysql::{Connection, Gate};
use weir_testing::PrivateServer;

weir_testing::on_both_flavors! {
    a_long_history_holds_what_the_log_holds
    a_sample_states_the_share_that_the_log_says
    digests_count_what_the_log_counts
    an_account_that_may_not_read_is_told_its_privilege
}

const LIMIT: Duration = Duration::from_secs(30);
const PASSWORD: &str = "of-the-test";

/// A server that logs all statements, with an account for polls.
struct Bench {
    server: PrivateServer,
    directory: TempDir,
    flavor: Flavor,
}

/// A statement: its text, and true if it can be sent again.
type SentStatement = (String, bool);

/// Result of a poll, beside the log of the same time.
struct PollResult {
    tail: CaptureTail,
    source: CaptureSource,
    captured: Vec<SentStatement>,
    logged: Vec<SentStatement>,
}

impl PollResult {
    fn counters(&self) -> &ServerCounters {
        self.tail.counters.as_ref().unwrap()
    }

    /// Share of the log's statements that are in the capture.
    fn share(&self) -> f64 {
        self.captured.len() as f64 / self.logged.len() as f64
    }
}

impl Bench {
    fn start(flavor: Flavor, variables: &[(&str, &str)]) -> Self {
        let (server, directory) = weir_testing::start_with(flavor, variables);
        let bench = Self {
            server,
            directory,
            flavor,
        };
        let mut root = bench.connect();
        let log = bench.path("general.log");
        for sql in [
            "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(40))".to_owned(),
            "INSERT INTO item VALUES (1, 'nail'), (2, 'screw')".to_owned(),
            "CREATE PROCEDURE look() BEGIN UPDATE item SET id = id WHERE id = 1; DO SLEEP(0); END"
                .to_owned(),
            format!("CREATE USER monitor@localhost IDENTIFIED BY '{PASSWORD}'"),
            format!("SET GLOBAL general_log_file = '{}'", log.display()),
            "SET GLOBAL general_log = ON".to_owned(),
        ] {
            root.run(sql).unwrap();
        }
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn connect(&self) -> Connection {
        weir_testing::connect(&self.server.endpoint())
    }

    /// A connection of the account for polls, by which nothing but reads goes.
    fn monitor(&self) -> Connection {
        let endpoint = Endpoint {
            user: "monitor".to_owned(),
            password: Secret::new(PASSWORD),
            ..self.server.endpoint()
        };
        Connection::open(&endpoint, &Gate::reading(), LIMIT).unwrap()
    }

    fn has_digests(&self) -> bool {
        let query = "SELECT @@performance_schema weir_poll";
        self.connect().first(query).unwrap() == Some((1_u64,))
    }

    fn grant(&self, privilege: &str) {
        let grant = format!("GRANT {privilege} TO monitor@localhost");
        self.connect().run(grant).unwrap();
    }

    /// Polls while `load` runs.
    fn poll(&self, every: Duration, load: impl FnOnce()) -> PollResult {
        let poll = StatementPoll::open(self.monitor(), self.flavor).unwrap();
        let (source, path) = (poll.source(), self.path("polled.weircap"));
        let has_digests = self.has_digests();
        let stop = AtomicBool::new(false);
        let times = PollTimes {
            length: None,
            every: Some(every),
        };
        let tail = std::thread::scope(|scope| {
            let polling = scope.spawn(|| poll.run(&path, Literals::Keep, times, &stop));
            self.wait_for_polls(has_digests);
            load();
            stop.store(true, Ordering::SeqCst);
            polling.join().unwrap().unwrap()
        });
        self.connect().run("SET GLOBAL general_log = OFF").unwrap();
        let log = self.path("log.weircap");
        import_log(
            &self.path("general.log"),
            LogFormat::General,
            &log,
            Literals::Keep,
        )
        .unwrap();
        PollResult {
            tail,
            source,
            captured: statements(&path),
            logged: statements(&log),
        }
    }

    /// Waits until the counters of the beginning are read.
    fn wait_for_polls(&self, has_digests: bool) {
        let mut root = self.connect();
        let log = || {
            let log = std::fs::read(self.path("general.log")).unwrap_or_default();
            String::from_utf8_lossy(&log).into_owned()
        };
        // A digest is there once its statement has ended.
        let read = "SELECT COUNT(*) weir_poll FROM performance_schema.events_statements_summary_by_digest \
                    WHERE DIGEST_TEXT LIKE '%IFNULL%weir_poll%'";
        let mut has_begun = || {
            if has_digests {
                root.first(read).unwrap() == Some((1_u64,))
            } else {
                log().contains("SELECT ID weir_poll, QUERY_ID")
            }
        };
        let began = Instant::now();
        while !has_begun() {
            assert!(began.elapsed() < LIMIT, "no poll begins");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The statements of a capture, without those of the test itself.
fn statements(path: &Path) -> Vec<SentStatement> {
    let records = CaptureReader::open(path).unwrap().map(Result::unwrap);
    let mut found: Vec<SentStatement> = records
        .filter_map(|record| match record.happening {
            Happening::Started(started) if started.command == Command::Query => {
                let text = String::from_utf8_lossy(&started.text()).into_owned();
                Some((text, !started.is_unusable))
            }
            _ => None,
        })
        .filter(|(text, _)| is_of_load(text))
        .collect();
    found.sort();
    found
}

fn is_of_load(text: &str) -> bool {
    let is_of_test = ["SHOW ", "SET GLOBAL ", "GRANT "];
    !text.contains("weir_poll") && !is_of_test.iter().any(|begin| text.starts_with(begin))
}

/// Statements by kind.
fn by_kind(statements: &[SentStatement]) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    for (text, _) in statements {
        *kinds.entry(fingerprint(text.as_bytes())).or_default() += 1;
    }
    kinds
}

/// Turns on the consumers that end so, and sets the room for the long history.
fn consumers(names: &[&'static str]) -> Vec<(&'static str, &'static str)> {
    let on = names.iter().map(|name| (*name, "ON"));
    let always = [
        ("performance_schema", "ON"),
        (
            "performance_schema_events_statements_history_long_size",
            "10000",
        ),
    ];
    always.into_iter().chain(on).collect()
}

const CURRENT: &str = "performance_schema_consumer_events_statements_current";
const HISTORY: &str = "performance_schema_consumer_events_statements_history";
const LONG: &str = "performance_schema_consumer_events_statements_history_long";

/// Statements of all kinds from several sessions at once, all of which leave.
fn work(bench: &Bench) {
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let mut client = bench.connect();
                for turn in 0..100 {
                    let id = 10 + number * 1_000 + turn;
                    for sql in [
                        "BEGIN".to_owned(),
                        format!("INSERT INTO item VALUES ({id}, 'it''s {id}')"),
                        format!("UPDATE item SET name = 'x{id}' WHERE id = {id}"),
                        format!("SELECT name FROM item WHERE id IN ({id}, 2)"),
                        "COMMIT".to_owned(),
                    ] {
                        client.run(sql).unwrap();
                    }
                }
                let long = "x".repeat(2_000);
                client.run(format!("SELECT '{long}'")).unwrap();
                client.run("CALL look()").unwrap();
                client.run("SELECT nothing FROM item").unwrap_err();
            });
        }
    });
    let mut client = bench.connect();
    for id in 0..PREPARED {
        let query = "SELECT name FROM item WHERE id = ?";
        let _: Vec<(String,)> = client.execute(query, (id,)).unwrap();
    }
}

/// Executions of a prepared statement.
const PREPARED: u64 = 20;
/// Sessions that leave before the last one.
const SESSIONS: u64 = 4;

/// Whether a digest counts the statements, but for additions that the server lost.
///
/// Both servers add to a digest without a lock: of two additions at once, one can be lost.
/// Seen here: 1 of 2,032 statements of four sessions, in 2 of 24 runs.
fn is_all_but_few(counted: u64, sent: u64) -> bool {
    counted <= sent && sent - counted <= 10
}

fn a_long_history_holds_what_the_log_holds(flavor: Flavor) {
    let bench = Bench::start(flavor, &consumers(&[CURRENT, HISTORY, LONG]));
    bench.grant("SELECT ON performance_schema.*");
    let found = bench.poll(Duration::from_millis(200), || work(&bench));
    assert_eq!(found.source, CaptureSource::PolledHistoryLong);
    // All texts but those that the server cut, and those of which it does not know the parameters.
    let sent = found.captured.iter().filter(|(_, is_usable)| *is_usable);
    let whole = found.logged.iter().filter(|(text, _)| {
        text.len() < 1_000 && !text.starts_with("SELECT name FROM item WHERE id = ")
    });
    assert!(sent.eq(whole), "{:?}\n{:?}", found.captured, found.logged);
    let losses = found.tail.losses;
    assert_eq!(losses.truncated, SESSIONS, "{losses:?}");
    assert_eq!(losses.without_values, PREPARED, "{losses:?}");
    assert_eq!((losses.unseen, losses.out_of_order), (0, 0), "{losses:?}");
    assert_eq!(found.captured.len(), found.logged.len());
    // MySQL counts the preparation, too. Statements within a procedure have no digest.
    let counters = found.counters();
    let counted = found.logged.len() as u64 + u64::from(flavor == Flavor::Mysql);
    assert_eq!(counters.seen, counted);
    assert!(
        is_all_but_few(counters.statements.unwrap(), counted),
        "{counters:?}"
    );
    let (time_us, seen_us) = (counters.time_us.unwrap(), counters.seen_us.unwrap());
    assert!(
        time_us > seen_us / 2 && time_us <= seen_us + 1,
        "{counters:?}"
    );
    let kinds: BTreeMap<_, _> = counters
        .kinds
        .iter()
        .map(|kind| (kind.text.clone(), kind))
        .collect();
    let is_prepared = |text: &str| text == "select name from item where id = ?";
    for (text, count) in by_kind(&found.logged) {
        if is_prepared(&text) {
            continue;
        }
        let kind = kinds
            .get(&text)
            .unwrap_or_else(|| panic!("{text}: {kinds:?}"));
        assert_eq!(kind.seen, count, "{text}");
        assert!(is_all_but_few(kind.count, count), "{kind:?}");
        // A cut one is no sample.
        let has_sample = flavor == Flavor::Mysql && text != "select ?";
        assert_eq!(kind.sample.is_some(), has_sample, "{kind:?}");
    }
}

fn a_sample_states_the_share_that_the_log_says(flavor: Flavor) {
    let bench = Bench::start(flavor, &consumers(&[CURRENT, HISTORY]));
    bench.grant("SELECT ON performance_schema.*");
    let mut client = bench.connect();
    let found = bench.poll(Duration::from_millis(100), || {
        for id in 0..3_000 {
            client
                .run(format!("SELECT name FROM item WHERE id = {id}"))
                .unwrap();
        }
        client
            .run("SELECT SLEEP(1) FROM item WHERE id = 1")
            .unwrap();
    });
    assert_eq!(found.source, CaptureSource::PolledHistory);
    let counters = found.counters();
    let stated = counters.share_by_count().unwrap();
    assert!(
        found.captured.len() < found.logged.len(),
        "nothing was lost"
    );
    assert!(
        (stated - found.share()).abs() < 0.0005,
        "{stated}, {}",
        found.share()
    );
    let lost = (found.logged.len() - found.captured.len()) as u64;
    assert_eq!(found.tail.losses.unseen, lost);
    // The slowest one was seen.
    let by_time = counters.share_by_time().unwrap();
    assert!(by_time > 0.5 && by_time > stated, "{by_time} {stated}");
}

/// Where the server remembers no statements; `MariaDB` still shows those that run.
fn digests_count_what_the_log_counts(flavor: Flavor) {
    let bench = Bench::start(flavor, &[("performance_schema", "ON"), (CURRENT, "OFF")]);
    bench.grant("SELECT ON performance_schema.*");
    bench.grant("PROCESS ON *.*");
    let mut client = bench.connect();
    let found = bench.poll(Duration::from_millis(100), || {
        for id in 0..50 {
            client
                .run(format!("SELECT name FROM item WHERE id IN ({id}, 2)"))
                .unwrap();
            client
                .run(format!(
                    "INSERT INTO item (id, name) VALUES ({id} + 10, 'x'), ({id} + 100, 'y')"
                ))
                .unwrap();
        }
        client
            .run("SELECT SLEEP(1) FROM item WHERE id = 1")
            .unwrap();
    });
    let shows_running = flavor == Flavor::Mariadb;
    let expected = if shows_running {
        CaptureSource::PolledProcesslist
    } else {
        CaptureSource::Digests
    };
    assert_eq!(found.source, expected);
    let sleeps = found
        .captured
        .iter()
        .filter(|(text, _)| text.contains("SLEEP"));
    assert_eq!(
        sleeps.count(),
        usize::from(shows_running),
        "{:?}",
        found.captured
    );
    let kinds = &found.counters().kinds;
    // A digest has a space before each parenthesis.
    let glued = |text: &str| text.replace(" (", "(");
    let counted = kinds.iter().map(|kind| (glued(&kind.text), kind.count));
    let logged = by_kind(&found.logged).into_iter();
    let logged: BTreeMap<_, _> = logged.map(|(text, count)| (glued(&text), count)).collect();
    assert_eq!(counted.collect::<BTreeMap<_, _>>(), logged);
}

fn an_account_that_may_not_read_is_told_its_privilege(flavor: Flavor) {
    let bench = Bench::start(flavor, &[]);
    let refused = StatementPoll::open(bench.monitor(), flavor)
        .unwrap_err()
        .to_string();
    let privilege = match flavor {
        Flavor::Mysql => "GRANT SELECT ON performance_schema.* TO the account",
        Flavor::Mariadb => "GRANT PROCESS ON *.* TO the account",
    };
    assert!(
        refused.ends_with(privilege) && refused.lines().count() == 1,
        "{refused}"
    );
}

/// Without `performance_schema` only what runs at a poll is seen.
#[test]
fn a_processlist_shows_what_runs() {
    let bench = Bench::start(Flavor::Mariadb, &[]);
    bench.grant("PROCESS ON *.*");
    let mut client = bench.connect();
    let found = bench.poll(Duration::from_millis(50), || {
        for _ in 0..5 {
            client
                .run("SELECT SLEEP(0.4) FROM item WHERE id = 1")
                .unwrap();
            client.run("SELECT name FROM item WHERE id = 2").unwrap();
        }
    });
    assert_eq!(found.source, CaptureSource::PolledProcesslist);
    let kinds = by_kind(&found.captured);
    assert_eq!(
        kinds.get("select sleep(?) from item where id = ?"),
        Some(&5),
        "{kinds:?}"
    );
    let counters = found.counters();
    assert_eq!(counters.statements, Some(found.logged.len() as u64));
    assert_eq!((counters.time_us, counters.share_by_time()), (None, None));
    let stated = counters.share_by_count().unwrap();
    assert!(
        (stated - found.share()).abs() < 0.0005,
        "{stated}, {}",
        found.share()
    );
}

/// A statement that still runs at the end is in the capture; its end is not.
#[test]
fn a_statement_without_an_end_is_kept() {
    let bench = Bench::start(Flavor::Mysql, &[]);
    bench.grant("SELECT ON performance_schema.*");
    let mut client = bench.connect();
    let id = client.id();
    std::thread::scope(|scope| {
        let found = bench.poll(Duration::from_millis(50), || {
            scope.spawn(move || client.run("SELECT SLEEP(60)").map(drop));
            let mut root = bench.connect();
            let running = "SELECT COUNT(*) FROM performance_schema.events_statements_current \
                           WHERE SQL_TEXT = 'SELECT SLEEP(60)' AND END_EVENT_ID IS NULL";
            let began = Instant::now();
            while root.first(running).unwrap() != Some((1_u64,)) {
                assert!(began.elapsed() < LIMIT, "it does not run");
            }
        });
        bench.connect().run(format!("KILL QUERY {id}")).unwrap();
        let kept = found
            .captured
            .iter()
            .filter(|(text, _)| text == "SELECT SLEEP(60)");
        assert_eq!(kept.count(), 1, "{:?}", found.captured);
    });
}
