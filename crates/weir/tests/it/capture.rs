//! `weir capture proxy`, `show` and `weir load CAPTURE run` by hand, on both flavours.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use weir_model::{Address, Endpoint, Flavor, Secret};
use weir_mysql::{Connection, Connector, Gate, Patience};
use weir_testing::PrivateServer;

use crate::harness::{Output, Weir, signal, wait_until};

const USER: &str = "dba";
const PASSWORD: &str = "of-the-test";

weir_testing::on_both_flavors! {
    a_capture_by_hand_is_shown_and_sent_again
    a_killed_proxy_leaves_what_it_wrote
    a_replay_names_statements_with_another_outcome_and_their_reasons
    a_poll_by_hand_states_its_share
    a_poll_of_an_idle_server_fails
}

/// A server with an account and a table.
struct Bench {
    server: PrivateServer,
    directory: TempDir,
    port: u16,
    flavor: Flavor,
}

impl Bench {
    fn start(flavor: Flavor) -> Self {
        Self::start_with(flavor, &[])
    }

    fn start_with(flavor: Flavor, variables: &[(&str, &str)]) -> Self {
        let (server, directory, port) = weir_testing::start_on_tcp(flavor, variables);
        let mut root = weir_testing::connect(&server.endpoint());
        for sql in [
            format!("CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'"),
            format!("GRANT ALL ON *.* TO {USER}@'%'"),
            "CREATE TABLE item (id INT PRIMARY KEY, pieces INT NOT NULL)".to_owned(),
            "INSERT INTO item VALUES (1, 10), (2, 20), (3, 30)".to_owned(),
        ] {
            root.run(sql).unwrap();
        }
        Self {
            server,
            directory,
            port,
            flavor,
        }
    }

    fn url(&self) -> String {
        let scheme = match self.flavor {
            Flavor::Mysql => "mysql",
            Flavor::Mariadb => "mariadb",
        };
        let schema = self.server.endpoint().database;
        format!("{scheme}://{USER}@127.0.0.1:{}/{schema}", self.port)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("test.weircap")
    }

    /// The proxy, where it listens, and what more it says.
    fn proxy(&self) -> (Child, u16, Lines<BufReader<ChildStderr>>) {
        self.proxy_by("exec \"$@\"")
    }

    /// The same, by this line of a shell.
    fn proxy_by(&self, line: &str) -> (Child, u16, Lines<BufReader<ChildStderr>>) {
        let to = self.url();
        let path = self.path();
        let arguments = [
            "capture",
            "proxy",
            "--listen",
            "127.0.0.1:0",
            "--to",
            &to,
            "-o",
        ];
        let mut proxy = Weir::new()
            .by_shell(line)
            .args(arguments)
            .args_of(&path)
            .spawn();
        let mut lines = BufReader::new(proxy.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let port = first
            .split(':')
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        (proxy, port.unwrap().parse().unwrap(), lines)
    }

    /// A poll, as a process.
    fn poll(&self, more: &[&str]) -> Child {
        let (path, url) = (self.path(), self.url());
        Weir::new()
            .args(["capture", "poll", &url, "--every=50ms", "-o"])
            .args_of(&path)
            .args(more)
            .env("WEIR_MYSQL_PASSWORD", PASSWORD)
            .spawn()
    }

    fn client(&self, port: u16) -> Connection {
        let endpoint = Endpoint {
            address: Address::Tcp("127.0.0.1".to_owned(), port),
            user: USER.to_owned(),
            password: Secret::new(PASSWORD),
            ..self.server.endpoint()
        };
        let connector = Connector::new(endpoint, None, Gate::own()).unwrap();
        Connection::connect(&connector, true, Patience::Each(Duration::from_secs(30))).unwrap()
    }

    fn pieces(&self) -> i64 {
        let mut root = weir_testing::connect(&self.server.endpoint());
        let sum: Option<(i64,)> = root
            .first("SELECT CAST(SUM(pieces) AS SIGNED) FROM item")
            .unwrap();
        sum.unwrap().0
    }

    fn replay(&self, more: &[&str]) -> Value {
        let (path, url) = (self.path(), self.url());
        let arguments = ["load", path.to_str().unwrap(), "run", &url, "--json"];
        let output = Weir::new()
            .args(arguments)
            .args(more)
            .env("WEIR_MYSQL_PASSWORD", PASSWORD)
            .succeeds();
        serde_json::from_str(&output.stdout).unwrap()
    }
}

fn show(path: &Path) -> Value {
    let shown = Weir::new()
        .args(["capture", "show", "--json"])
        .args_of(path)
        .succeeds();
    serde_json::from_str(&shown.stdout).unwrap()
}

impl Weir {
    fn args_of(self, path: &Path) -> Self {
        self.args([path])
    }
}

fn work(client: &mut Connection) {
    for id in 1..=3 {
        client
            .run(format!(
                "UPDATE item SET pieces = pieces + 1 WHERE id = {id}"
            ))
            .unwrap();
        let rows: Vec<(i64,)> = client
            .execute("SELECT pieces FROM item WHERE id = ?", (id,))
            .unwrap();
        assert_eq!(rows.len(), 1);
    }
    client
        .run("CREATE USER thief IDENTIFIED BY 'hunter2'")
        .unwrap();
    client.run("DROP USER thief").unwrap();
}

fn a_capture_by_hand_is_shown_and_sent_again(flavor: Flavor) {
    let bench = Bench::start(flavor);
    let (mut proxy, port, _said) = bench.proxy();
    work(&mut bench.client(port));
    signal(proxy.id(), "INT");
    assert_eq!(proxy.wait().unwrap().code(), Some(0));
    let shown = show(&bench.path());
    assert_eq!(shown["sessions"], 1, "{shown}");
    assert_eq!(shown["tail"]["losses"]["sessions"], 0, "{shown}");
    assert_eq!(shown["tail"]["losses"]["secret"], 1, "{shown}");
    let bytes = std::fs::read(bench.path()).unwrap();
    assert!(!bytes.windows(7).any(|part| part == b"hunter2"));
    let table = Weir::new()
        .args(["capture", "show"])
        .args_of(&bench.path())
        .succeeds()
        .stdout;
    assert!(
        table.contains("update item set pieces = pieces + ? where id = ?"),
        "{table}"
    );

    let before = bench.pieces();
    let read_only = bench.replay(&[]);
    assert_eq!(bench.pieces(), before);
    let fidelity = &read_only["fidelity"];
    assert_eq!(fidelity["not_sent"]["not_allowed"], 4, "{fidelity}");
    assert_eq!(fidelity["not_sent"]["unusable"], 1, "{fidelity}");
    let captured_us = |what: &str| fidelity[what].as_u64().unwrap();
    assert!(
        captured_us("captured_us_sent") < captured_us("captured_us"),
        "{fidelity}"
    );
    let (path, url) = (bench.path(), bench.url());
    let said = Weir::new()
        .args(["load", path.to_str().unwrap(), "run", &url])
        .env("WEIR_MYSQL_PASSWORD", PASSWORD)
        .succeeds()
        .stdout;
    let first = said.lines().next().unwrap();
    assert!(
        first.starts_with("reads only: 38 % of the captured statements by count, "),
        "{said}"
    );
    assert_eq!(fidelity["rows_differ"], 0, "{fidelity}");
    let written = bench.replay(&["--allow-write", "--pace=fast"]);
    assert_eq!(bench.pieces(), before + 3);
    // What removes an account is never sent.
    assert_eq!(
        written["fidelity"]["not_sent"]["not_allowed"], 1,
        "{written}"
    );
    assert_eq!(written["fidelity"]["affected_differ"], 0, "{written}");
    assert_eq!(written["fidelity"]["errors_differ"], 0, "{written}");
    let help = Weir::new()
        .args(["load", "x.weircap", "help"])
        .succeeds()
        .stdout;
    assert!(help.contains("--allow-write"), "{help}");
}

fn a_replay_names_statements_with_another_outcome_and_their_reasons(flavor: Flavor) {
    let bench = Bench::start(flavor);
    let (mut proxy, port, _said) = bench.proxy();
    let mut client = bench.client(port);
    let own = format!(
        "SELECT id FROM item WHERE CONNECTION_ID() = {}",
        client.id()
    );
    let rows: Vec<(i64,)> = client.rows(own).unwrap();
    assert_eq!(rows.len(), 3);
    let rows: Vec<(i64,)> = client
        .rows("SELECT id FROM item WHERE pieces > 100")
        .unwrap();
    assert!(rows.is_empty());
    client
        .run("INSERT INTO item VALUES (4, LENGTH(UUID()))")
        .unwrap();
    drop(client);
    signal(proxy.id(), "INT");
    assert_eq!(proxy.wait().unwrap().code(), Some(0));
    let mut root = weir_testing::connect(&bench.server.endpoint());
    root.run("DELETE FROM item WHERE id = 4").unwrap();
    // Other data than in the capture.
    root.run("INSERT INTO item VALUES (9, 500)").unwrap();
    let (path, url) = (bench.path(), bench.url());
    let said = Weir::new()
        .args(["load", path.to_str().unwrap(), "run", &url, "--allow-write"])
        .env("WEIR_MYSQL_PASSWORD", PASSWORD)
        .succeeds()
        .stdout;
    let place = |part: &str| said.find(part).unwrap_or_else(|| panic!("{part}: {said}"));
    let parts = [
        "tables      can differ from those of the capture: 1 statements write values that the data alone do not give",
        "1 of insert into item values (?, length(uuid())): uuid() is another value in each call",
        "other outcomes than in the capture",
    ];
    assert!(parts.map(place).is_sorted(), "{said}");
    let (_, told) = said.split_at(place(parts[2]));
    let lines: Vec<_> = told.lines().map(str::trim).collect();
    let below = |part: &str| {
        let at = lines.iter().position(|line| line.ends_with(part));
        lines[at.unwrap_or_else(|| panic!("{part}: {said}")) + 1]
    };
    assert_eq!(
        below("select id from item where connection_id() = ?"),
        "connection_id() depends on the session"
    );
    assert!(
        below("select id from item where pieces > ?")
            .starts_with("no reason in its text or in the data")
    );
    assert_eq!(lines.len(), 6, "{told}");
}

fn a_killed_proxy_leaves_what_it_wrote(flavor: Flavor) {
    let bench = Bench::start(flavor);
    let (mut proxy, port, _said) = bench.proxy();
    let mut client = bench.client(port);
    work(&mut client);
    wait_until("the file has what was done", || {
        show(&bench.path())["statements"] == 8
    });
    signal(proxy.id(), "KILL");
    proxy.wait().unwrap();
    let shown = show(&bench.path());
    assert!(shown["tail"].is_null(), "{shown}");
    let outcome = bench.replay(&["--pace=think", "--speed=10"]);
    assert_eq!(outcome["fidelity"]["sessions_joined"], 1, "{outcome}");
    // A file that is there is never written over.
    let listen = [
        "capture",
        "proxy",
        "--listen",
        "127.0.0.1:0",
        "--to",
        &bench.url(),
        "-o",
    ];
    let error = Weir::new().args(listen).args_of(&bench.path()).fails();
    assert!(error.contains("test.weircap"), "{error}");
}

/// Statements that no poll saw make a capture that is no load: exit code 3, also in the verdict of its replay.
fn a_poll_by_hand_states_its_share(flavor: Flavor) {
    let on = [("performance_schema", "ON")];
    let consumers = ["current", "history"]
        .map(|name| format!("performance_schema_consumer_events_statements_{name}"));
    let consumers = consumers.each_ref().map(|name| (name.as_str(), "ON"));
    let bench = Bench::start_with(flavor, &[&on[..], &consumers].concat());
    let polling = bench.poll(&[]);
    let mut client = weir_testing::connect(&bench.server.endpoint());
    // The counters of the beginning are read once their own statement is counted.
    let begun = "SELECT COUNT(*) weir_poll FROM performance_schema.events_statements_summary_by_digest \
                 WHERE DIGEST_TEXT LIKE '%IFNULL%weir_poll%'";
    wait_until("the poll has begun", || {
        client.first(begun).unwrap() == Some((1_u64,))
    });
    for id in 0..2_000 {
        client
            .run(format!("SELECT pieces FROM item WHERE id = {id}"))
            .unwrap();
    }
    signal(polling.id(), "INT");
    let output = Output::from(polling.wait_with_output().unwrap());
    assert_eq!(output.code, Some(3), "{}", output.stderr);
    let shown = show(&bench.path());
    let counters = &shown["tail"]["counters"];
    let (seen, all) = (&counters["seen"], &counters["statements"]);
    assert!(all.as_u64() >= Some(2_000), "{counters}");
    // In the same order as the program: 131 of 2,000 would round otherwise.
    let share = 100.0 * (seen.as_f64().unwrap() / all.as_f64().unwrap());
    let said = format!("saw {share:.1} % of the server's statements by count ({seen} of {all}), ");
    assert!(output.stderr.contains(&said), "{}", output.stderr);
    let advice = "The consumer events_statements_history_long is off";
    assert!(output.stderr.contains(advice), "{}", output.stderr);
    let table = Weir::new()
        .args(["capture", "show"])
        .args_of(&bench.path())
        .succeeds()
        .stdout;
    assert!(
        table.contains(&said) && table.contains("select pieces from item where id = ?"),
        "{table}"
    );
    let fidelity = &bench.replay(&[])["fidelity"];
    let unseen = &shown["tail"]["losses"]["unseen"];
    assert_eq!(&fidelity["statements_missing"], unseen);
    let fitted = bench.directory.path().join("fitted.toml");
    Weir::new()
        .args(["workload", "fit", "-o"])
        .args([&fitted, &bench.path()])
        .succeeds();
    let fitted = std::fs::read_to_string(fitted).unwrap();
    let told = format!("{unseen} times: statements that no poll of the server saw");
    assert!(fitted.contains(&told), "{fitted}");
    assert_eq!(fidelity["rows_differ"], 0, "{fidelity}");
    assert!(fidelity["sent"].as_u64() > Some(0), "{fidelity}");
}

fn a_poll_of_an_idle_server_fails(flavor: Flavor) {
    let bench = Bench::start(flavor);
    let polling = bench.poll(&["--for", "200ms"]);
    let output = Output::from(polling.wait_with_output().unwrap());
    let error = output.only_error();
    assert!(error.contains("no statement was seen in 0."), "{error}");
}

/// A disk without space ends the capture and none of the application's connections.
#[test]
fn a_full_disk_ends_the_capture_and_no_connection() {
    let bench = Bench::start(Flavor::Mariadb);
    // Files end after some KiB, as if there was no more space.
    let (mut proxy, port, mut said) = bench.proxy_by("trap '' 25; ulimit -f 64; exec \"$@\"");
    let mut client = bench.client(port);
    work(&mut client);
    wait_until("the file has what was done", || {
        show(&bench.path())["statements"] == 8
    });
    let mut random = 1_u64;
    for _ in 0..200 {
        let number = |_| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            format!("{random:016x}")
        };
        let text: String = (0..64).map(number).collect();
        client.run(format!("SELECT '{text}'")).unwrap();
    }
    let warning = said
        .by_ref()
        .map(Result::unwrap)
        .find(|line| line.starts_with("WARNING: "))
        .unwrap();
    let expected = "WARNING: the capture ends here: cannot write `";
    assert!(warning.starts_with(expected), "{warning}");
    client.run("SELECT 1").unwrap();
    work(&mut bench.client(port));
    signal(proxy.id(), "INT");
    assert_eq!(proxy.wait().unwrap().code(), Some(1));
    let rest: Vec<_> = said.map(Result::unwrap).collect();
    assert!(
        rest.len() == 1 && rest[0].starts_with("weir: cannot write `"),
        "{rest:?}"
    );
    let shown = show(&bench.path());
    // What was cut makes room for what the file says of itself.
    let tail = &shown["tail"];
    let failure = tail["failure"].as_str().unwrap_or_default();
    assert!(failure.starts_with("cannot write `"), "{shown}");
    let losses = &tail["losses"];
    assert_eq!(losses["sessions"], 2, "{shown}");
    // The long ones, one more, and all of the second session.
    let all = 8 + 200 + 1 + 8;
    let seen = losses["statements"].as_u64().unwrap() + tail["written"]["events"].as_u64().unwrap();
    assert!(
        losses["statement_bytes"].as_u64().unwrap() > 100_000,
        "{shown}"
    );
    assert!(
        seen >= all && rest[0].contains(" statements ("),
        "{rest:?} {shown}"
    );
    assert_eq!(shown["statements"], 8, "{shown}");
    let fidelity = &bench.replay(&["--pace=fast"])["fidelity"];
    assert_eq!(
        (&fidelity["sent"], &fidelity["rows_differ"]),
        (&3.into(), &0.into())
    );
}

#[test]
fn what_is_no_capture_is_refused_in_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.weircap");
    std::fs::write(&path, "WEIRCAP9 of a later version").unwrap();
    let error = Weir::new().args(["capture", "show"]).args_of(&path).fails();
    assert!(
        error.contains("its format has version 9, not 1 or 2"),
        "{error}"
    );
    std::fs::write(&path, "nothing of the kind").unwrap();
    let error = Weir::new().args(["capture", "show"]).args_of(&path).fails();
    assert!(error.contains("is no capture"), "{error}");
    let url = "mysql://nobody@127.0.0.1:1/x";
    let error = Weir::new()
        .args(["load", path.to_str().unwrap(), "run", url])
        .fails();
    assert!(error.contains("is no capture"), "{error}");
}
