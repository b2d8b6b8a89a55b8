//! Servers that the user gives, played by a private one: loaded, read, and changed only when that is
//! allowed.

use rustix::termios::LocalModes;
use serde_json::Value;
use weir_model::Flavor;

use crate::doublewrite::held_test;
use crate::harness::{Output, signal, wait_until};
use crate::users::{PASSWORD, Users};
use crate::window::Window;

/// The result that a study printed; its password must not be in it.
fn result(output: &Output) -> Value {
    // One run is no comparison, so a verdict is invalid.
    assert!(matches!(output.code, Some(0 | 3)), "{}", output.stderr);
    assert!(!output.stdout.contains(PASSWORD) && !output.stderr.contains(PASSWORD));
    serde_json::from_str(&output.stdout).unwrap()
}

/// Messages of all findings.
fn findings(result: &Value) -> String {
    result["findings"].to_string()
}

fn is_loaded_and_left_as_it_was(flavor: Flavor) {
    let users = Users::new(flavor);
    let url = users.url("app.cnf");
    let before = users.value("innodb_io_capacity");

    // Read and loaded, over the socket: its process and its host are seen too.
    let plain = result(&users.run(&url, "rate = [50, 60]", "plain", &[]).output());
    let findings_of_plain = findings(&plain);
    assert!(
        findings_of_plain.contains("is not Weir's"),
        "{findings_of_plain}"
    );
    let series = plain["runs"][0]["series"].to_string();
    for metric in ["status.questions", "server.cpu_s", "host.cpu"] {
        assert!(series.contains(metric), "{metric}");
    }
    assert_eq!(
        plain["plan"]["cells"][0]["spec"]["topology"]["nodes"][0]["server"]["given"],
        url
    );
    assert_eq!(plain["runs"][1]["record"]["approach"]["runs_before"], 1);

    // Not changed unless that is allowed.
    let factor = "innodb_io_capacity = [300, 400]";
    let error = users.run(&url, factor, "refused", &[]).fails();
    assert!(
        error.contains("--allow-config") && error.contains("innodb_io_capacity"),
        "{error}"
    );
    assert_eq!(users.changes_with("innodb_io_capacity"), 0);
    let allowed = users
        .run(&url, factor, "allowed", &["--allow-config"])
        .output();
    let runs = result(&allowed)["runs"].clone();
    let mut seen: Vec<_> = (0..2)
        .map(|run| runs[run]["variables"]["innodb_io_capacity"].to_string())
        .collect();
    seen.sort();
    assert_eq!(seen, ["\"300\"", "\"400\""]);
    assert_eq!(users.value("innodb_io_capacity"), before);
    settings_are_logged_with_what_they_were(&users, &before);

    let restart = "innodb_flush_method = [\"fsync\", \"O_DIRECT\"]";
    let error = users
        .run(&url, restart, "restart", &["--allow-config"])
        .fails();
    assert!(error.contains("needs a restart"), "{error}");
    let drive = "drive = [\"intel-p4610\"]";
    let error = users.run(&url, drive, "drive", &[]).fails();
    assert!(error.contains("no drive is emulated"), "{error}");
    stopped_study_puts_back(&users, &url, &before);
    what_is_missing_is_named(&users);
    over_tls(&users);
}

/// Each line of the log that sets the variable: two that ask whether it may be set, two runs, and the way
/// back after each.
fn settings_are_logged_with_what_they_were(users: &Users, before: &str) {
    let changes = users.changes().into_iter();
    let sets: Vec<_> = changes
        .filter(|line| line["before"][0][0] == "innodb_io_capacity")
        .collect();
    let statements: Vec<_> = sets
        .iter()
        .map(|line| line["statement"].as_str().unwrap())
        .collect();
    let back = format!("SET GLOBAL innodb_io_capacity = {before}");
    assert_eq!(statements.len(), 6, "{statements:?}");
    assert!(statements[0].ends_with("@@GLOBAL.innodb_io_capacity"));
    assert_eq!((statements[3], statements[5]), (&*back, &*back));
    for (line, expected) in [(2, before), (4, before)] {
        assert_eq!(sets[line]["before"][0][1], expected);
    }
}

fn stopped_study_puts_back(users: &Users, url: &str, before: &str) {
    let factor = "innodb_io_capacity = [777]";
    let child = users
        .run(url, factor, "stopped", &["--allow-config"])
        .spawn();
    wait_until("the setting is changed", || {
        users.value("innodb_io_capacity") == "777"
    });
    signal(child.id(), "INT");
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(130), "{}", output.stderr);
    assert_eq!(users.value("innodb_io_capacity"), before);
}

fn what_is_missing_is_named(users: &Users) {
    let wrong = users.url("wrong.cnf");
    let error = users.run(&wrong, "rate = [50]", "wrong", &[]).fails();
    assert!(
        error.contains("Access denied") && !error.contains("not-the-password"),
        "{error}"
    );
    let poor = users.url("poor.cnf");
    let read = result(&users.run(&poor, "rate = [50]", "poor", &[]).output());
    let told = findings(&read);
    assert!(
        told.contains("INNODB_METRICS") && told.contains("PROCESS"),
        "{told}"
    );
    let factor = "innodb_io_capacity = [300]";
    let error = users
        .run(&poor, factor, "poor-change", &["--allow-config"])
        .fails();
    assert!(error.contains("SUPER"), "{error}");
    let other = match users.flavor {
        Flavor::Mysql => poor.replace("mysql:", "mariadb:"),
        Flavor::Mariadb => poor.replace("mariadb:", "mysql:"),
    };
    let error = users.run(&other, "rate = [50]", "other", &[]).fails();
    assert!(error.contains("instead"), "{error}");
}

/// Load, control and probes, encrypted alike; the password from the environment.
fn over_tls(users: &Users) {
    let url = |mode: &str, authority: &str| {
        format!(
            "{}://app@127.0.0.1:{}/sbtest?ssl-mode={mode}&ssl-ca={}",
            users.flavor,
            users.port,
            users.world.path(authority).display()
        )
    };
    let require = "ALTER USER app@'127.0.0.1' REQUIRE SSL";
    users
        .server()
        .session()
        .unwrap()
        .run("require TLS", require)
        .unwrap();
    let run = |url: &str, out: &str| {
        let weir = users.run(url, "rate = [50]", out, &[]);
        weir.env("WEIR_MYSQL_PASSWORD", PASSWORD)
    };
    let verified = result(&run(&url("VERIFY_IDENTITY", "server.pem"), "tls").output());
    assert!(
        verified["runs"][0]["series"]
            .to_string()
            .contains("status.questions")
    );
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    users.world.write("other.pem", &other.cert.pem());
    let error = run(&url("VERIFY_CA", "other.pem"), "tls-other").fails();
    assert!(error.to_lowercase().contains("certificate"), "{error}");
    let error = run(&url("DISABLED", "server.pem"), "tls-none").fails();
    assert!(error.contains("Access denied"), "{error}");
}

/// A factor, and an event at the first second.
fn with_event(keys: &str) -> String {
    format!("rate = [50]\n[[events]]\nname = \"it\"\nat = \"1s\"\n{keys}")
}

fn events_change_no_table_and_only_what_is_allowed(flavor: Flavor) {
    let users = Users::new(flavor);
    let url = users.url("app.cnf");
    let before = users.value("innodb_io_capacity");
    let ddl = with_event("kind = \"ddl\"\nstatement = \"ALTER TABLE sbtest1 ADD INDEX x (c)\"");
    let error = users.run(&url, &ddl, "ddl", &["--allow-config"]).fails();
    assert!(error.contains("need a server that Weir starts"), "{error}");
    let set = with_event("kind = \"set\"\nvariable = \"innodb_io_capacity\"\nvalue = 444");
    let error = users.run(&url, &set, "set", &[]).fails();
    assert!(error.contains("--allow-config"), "{error}");
    assert_eq!(users.changes_with("innodb_io_capacity"), 0);

    let allowed = users.run(&url, &set, "allowed", &["--allow-config"]);
    let run = result(&allowed.output())["runs"][0].clone();
    assert_eq!(run["events"][0]["ending"], "done", "{}", run["events"]);
    assert_eq!(users.value("innodb_io_capacity"), before);
    let changes = users.changes().into_iter();
    let statements: Vec<_> = changes.map(|line| line["statement"].to_string()).collect();
    assert!(
        statements.iter().any(|sql| sql.contains("444")),
        "{statements:?}"
    );

    let hold = with_event("kind = \"hold\"\ntable = \"sbtest1\"\nfor = \"500ms\"");
    let held = result(&users.run(&url, &hold, "hold", &[]).output())["runs"][0].clone();
    assert_eq!(held["events"][0]["ending"], "done", "{}", held["events"]);
}

#[test]
fn events_on_a_mysql_server_of_the_users_change_what_is_allowed() {
    events_change_no_table_and_only_what_is_allowed(Flavor::Mysql);
}

#[test]
fn events_on_a_mariadb_server_of_the_users_change_what_is_allowed() {
    events_change_no_table_and_only_what_is_allowed(Flavor::Mariadb);
}

#[test]
fn a_mysql_server_of_the_users_is_loaded_and_left_as_it_was() {
    is_loaded_and_left_as_it_was(Flavor::Mysql);
}

#[test]
fn a_mariadb_server_of_the_users_is_loaded_and_left_as_it_was() {
    is_loaded_and_left_as_it_was(Flavor::Mariadb);
}

/// Read by anybody who may log in; allowed with a proof only, and its owner's to make.
fn doublewrite_is_the_owners_to_switch(flavor: Flavor) {
    let users = Users::new(flavor);
    let url = users.url("app.cnf");
    let weir = |arguments: &[&str]| users.weir(&[&["server", "doublewrite"], arguments].concat());
    let status = weir(&["status", &url]).succeeds().stdout;
    assert!(status.contains("innodb_doublewrite = ON"), "{status}");
    assert!(status.contains("a switch is a restart"), "{status}");
    let error = weir(&["off", &url]).fails();
    assert!(error.contains("nothing proves"), "{error}");
    let error = weir(&["advise", &url]).fails();
    assert!(error.contains("--option-file"), "{error}");
    let nobody = format!("{flavor}://app@127.0.0.1:1/sbtest");
    let error = weir(&["status", &nobody]).fails();
    assert!(error.contains("connection refused"), "{error}");
    // What a test of the very same server proves of an emulated drive says nothing of this host's storage.
    let test = held_test(&mut users.server().session().unwrap(), flavor, "OFF");
    let verdict = users.world.write("test.json", &test);
    let off = ["off", &url, "--verdict", verdict.to_str().unwrap()];
    let told = weir(&off).fails();
    assert!(
        told.contains("does not count here (the storage promises writes of 512 untorn"),
        "{told}"
    );
    assert_eq!(users.value("innodb_doublewrite"), "ON");
    assert!(!told.contains(PASSWORD));
    the_password_is_asked_for_and_not_shown(&users);
}

/// On a terminal, which is given back as it was, also after Ctrl-C.
fn the_password_is_asked_for_and_not_shown(users: &Users) {
    let url = users.url("asks.cnf");
    let command = ["server", "doublewrite", "status", &url, "--ask-password"];
    for (keys, code, shown) in [
        (format!("{PASSWORD}\n"), 0, "innodb_doublewrite = ON"),
        ("not-the-password\n".to_owned(), 1, "Access denied"),
        ("half a pass\x03".to_owned(), 130, "Password: "),
    ] {
        let mut window = Window::open(&users.world, &command);
        let shows = |window: &Window| window.settings().local_modes.contains(LocalModes::ECHO);
        wait_until("the password is asked for", || {
            window.text().contains("Password: ") && !shows(&window)
        });
        window.types(&keys);
        let status = window.child.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{}", window.text());
        wait_until("the last words are shown", || window.text().contains(shown));
        let text = window.text();
        let typed = keys.trim_end_matches(['\n', '\x03']);
        assert!(!text.contains(typed) && !text.contains(PASSWORD), "{text}");
        let before = format!("{:?}", window.before);
        assert_eq!(format!("{:?}", window.settings()), before);
    }
}

#[test]
fn doublewrite_of_a_users_mysql_server_is_the_owners_to_switch() {
    doublewrite_is_the_owners_to_switch(Flavor::Mysql);
}

#[test]
fn doublewrite_of_a_users_mariadb_server_is_the_owners_to_switch() {
    doublewrite_is_the_owners_to_switch(Flavor::Mariadb);
}

/// All its variables say that it is durable; only its status says that a crash leaves it without its data.
#[test]
fn a_server_without_its_redo_log_is_not_judged_durable() {
    let users = Users::new(Flavor::Mysql);
    let url = users.url("app.cnf");
    let told = |out: &str| findings(&result(&users.run(&url, "rate = [50]", out, &[]).output()));
    assert!(!told("with").contains("Innodb_redo_log_enabled"));
    let mut session = users.server().session().unwrap();
    session
        .run("disable", "ALTER INSTANCE DISABLE INNODB REDO_LOG")
        .unwrap();
    let without = told("without");
    let words = "used a server that may lose its data in a crash (Innodb_redo_log_enabled = OFF)";
    assert!(without.contains(words), "{without}");
    session
        .run("enable", "ALTER INSTANCE ENABLE INNODB REDO_LOG")
        .unwrap();
}
