//! Sessions that are not what they were at their login: others by a change of user, in other character sets, and with many
//! executions in one command.

use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use weir_capture::{CaptureTail, Losses};
use weir_load::LoadPlan;
use weir_model::{Address, Endpoint, Flavor, ReplayFidelity, Secret, WorkloadName};
use weir_mysql::{Gate, Permissions};
use weir_replay::{CapturePart, ReplayOptions, Survey, replay};
use weir_testing::{Account, PrivateServer, RawClient};

use crate::bench::Proxy;

weir_testing::on_both_flavors! {
    a_change_of_user_is_followed
    the_character_set_of_the_login_is_that_of_the_replay
}

const PASSWORD: &str = "of-the-test";
const UTF8MB4: u8 = 45;
const LATIN1: u8 = 8;
const GBK: u8 = 28;

/// A server with two accounts and two schemas, each with the tables of a shop.
struct Bench {
    server: PrivateServer,
    directory: TempDir,
    port: u16,
    flavor: Flavor,
}

impl Bench {
    fn start(flavor: Flavor) -> Self {
        let (server, directory, port) = weir_testing::start_on_tcp(flavor, &[]);
        let bench = Self {
            server,
            directory,
            port,
            flavor,
        };
        let mut root = weir_testing::connect(&bench.server.endpoint());
        root.run("CREATE DATABASE crm").unwrap();
        for schema in [&bench.schema(), "crm"] {
            for sql in [
                format!(
                    "CREATE TABLE {schema}.item (id INT PRIMARY KEY, name VARCHAR(40)) CHARACTER SET utf8mb4"
                ),
                format!("INSERT INTO {schema}.item VALUES (1, 'nail')"),
            ] {
                root.run(sql).unwrap();
            }
        }
        for user in ["app", "web"] {
            let native = match flavor {
                Flavor::Mysql => "IDENTIFIED BY",
                Flavor::Mariadb => "IDENTIFIED VIA mysql_native_password USING PASSWORD",
            };
            let secret = match flavor {
                Flavor::Mysql => format!("'{PASSWORD}'"),
                Flavor::Mariadb => format!("('{PASSWORD}')"),
            };
            root.run(format!("CREATE USER {user}@'%' {native} {secret}"))
                .unwrap();
            root.run(format!("GRANT ALL ON *.* TO {user}@'%'")).unwrap();
            // From now on, the server knows the password.
            weir_testing::connect(&bench.endpoint(user, bench.port));
        }
        bench
    }

    fn schema(&self) -> String {
        self.server.endpoint().database
    }

    fn endpoint(&self, user: &str, port: u16) -> Endpoint {
        Endpoint {
            address: Address::Tcp("127.0.0.1".to_owned(), port),
            user: user.to_owned(),
            password: Secret::new(PASSWORD),
            ..self.server.endpoint()
        }
    }

    /// What clients do through the proxy, as a capture.
    fn capture(&self, work: impl FnOnce(u16)) -> (Survey, CaptureTail) {
        let path = self.path();
        let _ = std::fs::remove_file(&path);
        let proxy = Proxy::to(&self.endpoint("app", self.port), self.flavor, &path);
        work(proxy.port);
        let tail = proxy.finish();
        (self.survey(&ReplayOptions::default()), tail)
    }

    fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("test.weircap")
    }

    fn survey(&self, options: &ReplayOptions) -> Survey {
        Survey::read(&self.path(), options).unwrap()
    }

    /// Sends it to a schema of the server, with writes, as to one of the user's.
    fn replay(&self, schema: &str, options: &ReplayOptions) -> ReplayFidelity {
        let survey = self.survey(options);
        let path = self.path();
        let gate = Gate::new(Permissions {
            schema: Some(schema.to_owned()),
            ..Permissions::default()
        });
        let endpoint = Endpoint {
            database: schema.to_owned(),
            ..self.endpoint("app", self.port)
        };
        let plan = LoadPlan::new(endpoint, WorkloadName::OltpPointSelect);
        let part = CapturePart {
            path: &path,
            survey: &survey,
            options,
        };
        let stop = AtomicBool::new(false);
        let outcome = replay(&plan, part, (&gate, true), &stop, &mut |_| {}).unwrap();
        outcome.record.fidelity
    }

    fn text(&self, sql: &str) -> String {
        let mut root = weir_testing::connect(&self.server.endpoint());
        let found: Option<(String,)> = root.first(sql).unwrap();
        found.unwrap().0
    }

    fn run(&self, sql: &str) {
        weir_testing::connect(&self.server.endpoint())
            .run(sql)
            .unwrap();
    }
}

fn account<'a>(user: &'a str, schema: &'a str, collation: u8) -> Account<'a> {
    Account {
        user,
        password: PASSWORD,
        schema,
        collation,
    }
}

fn a_change_of_user_is_followed(flavor: Flavor) {
    let bench = Bench::start(flavor);
    let schema = bench.schema();
    let (survey, tail) = bench.capture(|port| {
        let mut client = RawClient::connect(port, account("app", &schema, UTF8MB4)).unwrap();
        assert_eq!(client.query(b"SELECT name FROM item"), Ok(1));
        client.change_user(account("web", "crm", LATIN1)).unwrap();
        let sql = b"UPDATE item SET name = CONCAT(name, '!')";
        client.query(sql).unwrap();
        client.reset().unwrap();
        client.query(b"SELECT id, name FROM item").unwrap();
        // Neither a schema that is not there nor an account that is refused moves a session.
        let mut other = RawClient::connect(port, account("app", &schema, UTF8MB4)).unwrap();
        assert_eq!(other.use_schema("nowhere"), Err(1049));
        assert_eq!(other.query(b"USE nowhere"), Err(1049));
        other.query(b"SELECT 1 + id FROM item").unwrap();
        let thief = Account {
            password: "wrong",
            ..account("web", "crm", UTF8MB4)
        };
        assert_eq!(other.change_user(thief), Err(1045));
        if flavor == Flavor::Mariadb {
            // It lets the session go on.
            other.query(b"SELECT 2 + id FROM item").unwrap();
        }
    });
    assert_eq!(tail.losses, Losses::default());
    let here = if flavor == Flavor::Mariadb { 3 } else { 2 };
    let expected = [(schema.clone(), here), ("crm".to_owned(), 2)];
    assert_eq!(survey.schemas, expected.into_iter().collect());
    let before = bench.text("SELECT CONCAT(name) FROM crm.item");
    assert_eq!(before, "nail!");

    let fidelity = bench.replay(&schema, &ReplayOptions::default());
    assert_eq!(fidelity.sent, here, "{fidelity:?}");
    assert_eq!(fidelity.not_sent.other_schema, 2, "{fidelity:?}");
    assert_eq!(bench.text("SELECT name FROM item"), "nail");
    assert_eq!((fidelity.rows_compared, fidelity.rows_differ), (here, 0));

    let of_web = ReplayOptions {
        user: Some("web".to_owned()),
        ..ReplayOptions::default()
    };
    let fidelity = bench.replay("crm", &of_web);
    assert_eq!(
        (fidelity.sessions, fidelity.sessions_joined),
        (1, 1),
        "{fidelity:?}"
    );
    assert_eq!((fidelity.captured, fidelity.sent), (2, 2), "{fidelity:?}");
    assert_eq!(bench.text("SELECT name FROM crm.item"), "nail!!");
    let of_app = ReplayOptions {
        user: Some("app".to_owned()),
        ..ReplayOptions::default()
    };
    let fidelity = bench.replay(&schema, &of_app);
    assert_eq!(
        (fidelity.captured, fidelity.sent),
        (here, here),
        "{fidelity:?}"
    );
    assert_eq!(fidelity.sessions, 2, "{fidelity:?}");
}

fn the_character_set_of_the_login_is_that_of_the_replay(flavor: Flavor) {
    let bench = Bench::start(flavor);
    let schema = bench.schema();
    let (survey, tail) = bench.capture(|port| {
        let mut client = RawClient::connect(port, account("app", &schema, LATIN1)).unwrap();
        client
            .query(b"INSERT INTO item VALUES (2, 'caf\xe9')")
            .unwrap();
        assert_eq!(
            client.query(b"SELECT id FROM item WHERE name = 'caf\xe9'"),
            Ok(1)
        );
        let mut client = RawClient::connect(port, account("app", &schema, UTF8MB4)).unwrap();
        client
            .query("INSERT INTO item VALUES (3, 'caf\u{e9} \u{1f600}')".as_bytes())
            .unwrap();
        client.change_user(account("web", &schema, LATIN1)).unwrap();
        client
            .query(b"INSERT INTO item VALUES (4, '\xe9t\xe9')")
            .unwrap();
        // The second byte of this character looks like a backslash.
        let mut client = RawClient::connect(port, account("app", &schema, GBK)).unwrap();
        client
            .query(b"INSERT INTO item VALUES (5, '\xbf\x5c')")
            .unwrap();
        assert_eq!(client.query(b"SELECT id FROM item WHERE id = 5"), Ok(1));
    });
    assert_eq!((survey.unusable, tail.losses), (0, Losses::default()));
    let names = "SELECT GROUP_CONCAT(HEX(name) ORDER BY id) FROM item WHERE id > 1";
    let written = bench.text(names);
    let expected = "636166C3A9,636166C3A920F09F9880,C3A974C3A9";
    assert_eq!(written, format!("{expected},E7B897"));
    bench.run("DELETE FROM item WHERE id BETWEEN 2 AND 4");

    let fidelity = bench.replay(&schema, &ReplayOptions::default());
    assert_eq!(fidelity.not_sent.character_set, 1, "{fidelity:?}");
    assert_eq!(fidelity.not_sent.all(), 1, "{fidelity:?}");
    assert_eq!(
        (fidelity.rows_differ, fidelity.errors),
        (0, 0),
        "{fidelity:?}"
    );
    assert_eq!(bench.text(names), written);
}

/// `MariaDB`'s own command, which its Java client uses by default.
#[test]
fn each_execution_of_a_bulk_execution_is_sent() {
    let bench = Bench::start(Flavor::Mariadb);
    let schema = bench.schema();
    bench.run("CREATE TABLE many (a INT PRIMARY KEY, b INT)");
    let (survey, tail) = bench.capture(|port| {
        let mut client = RawClient::connect(port, account("app", &schema, UTF8MB4)).unwrap();
        let handle = client.prepare(b"INSERT INTO many VALUES (?, ?)").unwrap();
        client.bulk(handle, &[[2, 20], [3, 30], [4, 40]]).unwrap();
        assert_eq!(client.bulk(handle, &[[5, 50], [2, 20]]), Err(1062));
        assert_eq!(client.query(b"SELECT * FROM many"), Ok(3));
    });
    assert_eq!((survey.statements, tail.losses), (6, Losses::default()));
    bench.run("DELETE FROM many");
    let fidelity = bench.replay(&schema, &ReplayOptions::default());
    assert_eq!(fidelity.sent, 6, "{fidelity:?}");
    // Of the one that failed, the server says not which of its rows it was: the other differs, and so do the rows.
    assert_eq!(
        (fidelity.errors_differ, fidelity.rows_differ),
        (1, 1),
        "{fidelity:?}"
    );
    let sum = "SELECT CAST(SUM(b) AS CHAR) FROM many WHERE a < 5";
    assert_eq!(bench.text(sum), "90");
}
