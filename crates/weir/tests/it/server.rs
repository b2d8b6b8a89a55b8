//! `weir server`: private servers that stay up, on both flavours.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Child;

use serde_json::Value;
use weir_model::Endpoint;
use weir_mysql::Gate;
use weir_server::{Instances, Session};

use crate::harness::{Weir, World, is_alive, wait_until};

/// A world whose servers are ended with it.
pub(crate) struct Servers {
    pub(crate) world: World,
    /// The emulated drive that they lie on.
    drive: Option<Child>,
}

impl Servers {
    pub(crate) fn new() -> Self {
        Self {
            world: World::new(),
            drive: None,
        }
    }

    /// A snapshot `plain` of the dump, by the private server `shop`, which is gone after it.
    pub(crate) fn take_snapshot(&self, flavor: &str, dump: &Path) {
        let up = [
            "up",
            "shop",
            "--server",
            flavor,
            "--from-backup",
            dump.to_str().unwrap(),
        ];
        self.weir(&up).succeeds();
        self.weir(&["snapshot", "take", "shop", "--as", "plain"])
            .succeeds();
        self.weir(&["down", "shop", "--remove"]).succeeds();
    }

    /// Their data lie on the drive `profile`, with `settings` of the mount.
    pub(crate) fn on_drive(profile: &str, settings: &[&str]) -> Self {
        let mut servers = Self::new();
        let [state, backing] = ["state", "backing"].map(|name| servers.path(name));
        let mount = ["mount", profile, state.to_str().unwrap(), "--backing"];
        let arguments = [&mount[..], &[backing.to_str().unwrap()], settings].concat();
        servers.drive = Some(servers.command("drive", &arguments).spawn());
        wait_until("the drive is mounted", || {
            !servers.world.mounts().is_empty()
        });
        servers
    }

    /// `weir server ARGUMENTS`, with instances and snapshots of this test's own.
    pub(crate) fn weir(&self, arguments: &[&str]) -> Weir {
        self.command("server", arguments)
    }

    /// `weir NAME ARGUMENTS`, which finds this test's own instances.
    pub(crate) fn command(&self, name: &str, arguments: &[&str]) -> Weir {
        Weir::in_world(&self.world)
            .env("XDG_STATE_HOME", self.world.path("state"))
            .env("XDG_CACHE_HOME", self.world.path("cache"))
            .args([name])
            .args(arguments)
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.weir(&[arguments, &["--json"]].concat()).succeeds();
        serde_json::from_str(&output.stdout).unwrap()
    }

    pub(crate) fn session(&self, name: &str) -> Session {
        Session::open(&self.endpoint(name), &Gate::own()).unwrap()
    }

    pub(crate) fn endpoint(&self, name: &str) -> Endpoint {
        let instances = Instances::at(&self.world.path("state/weir/instances")).unwrap();
        instances.endpoint(name).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.world.path(name)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let listed = self.weir(&["list", "--json"]).output();
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
        for info in listed.as_array().into_iter().flatten() {
            let name = info["name"].as_str().unwrap_or_default();
            self.weir(&["down", name, "--remove"]).output();
        }
        if let Some(mut drive) = self.drive.take() {
            let state = self.path("state");
            self.command("drive", &["unmount", state.to_str().unwrap()])
                .output();
            let _ = drive.wait();
        }
    }
}

fn pid(info: &Value) -> u32 {
    info["pid"].as_u64().unwrap() as u32
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn lives_and_comes_back(flavor: &str) {
    let servers = Servers::new();
    let up = [
        "up",
        "shop",
        "--server",
        flavor,
        "--port",
        "0",
        "--set",
        "innodb-buffer-pool-size=48M",
    ];
    let info = servers.json(&up);
    assert_eq!(info["state"], "running");
    let folder = Path::new(info["folder"].as_str().unwrap());
    assert_eq!(mode(folder), 0o700);
    let options = Path::new(info["client_options"].as_str().unwrap());
    assert_eq!(mode(options), 0o600);
    let password = fs::read_to_string(options).unwrap();
    let password = password
        .lines()
        .find_map(|line| line.strip_prefix("password = "));
    assert!(!info.to_string().contains(password.unwrap()));

    let mut session = servers.session("shop");
    let pool: Option<u64> = session
        .value("ask", "SELECT @@innodb_buffer_pool_size")
        .unwrap();
    assert_eq!(pool, Some(48 << 20));
    session
        .run("create", "CREATE TABLE sbtest.t (a INT)")
        .unwrap();
    session
        .run("insert", "INSERT INTO sbtest.t VALUES (7)")
        .unwrap();
    drop(session);
    by_tcp(&info, flavor, password.unwrap());

    // Its owner has ended; a sweep for leftovers of the dead leaves it alone.
    let swept = Weir::in_world(&servers.world).args(["clean"]).succeeds();
    assert_eq!(swept.stdout, "nothing was left behind\n");
    assert!(is_alive(pid(&info)));
    let twice = servers.weir(&["up", "shop"]).fails();
    assert!(twice.contains("runs already"), "{twice}");

    // A snapshot, then other data, then back.
    let taken = servers.json(&["snapshot", "take", "shop", "--as", "one row"]);
    let snapshot = taken["name"].as_str().unwrap();
    let rows = |servers: &Servers| -> u64 {
        let mut session = servers.session("shop");
        let rows = session.value("count", "SELECT COUNT(*) FROM sbtest.t");
        rows.unwrap().unwrap()
    };
    let mut session = servers.session("shop");
    session
        .run("insert", "INSERT INTO sbtest.t VALUES (8)")
        .unwrap();
    assert_eq!(rows(&servers), 2);
    servers.weir(&["restore", "shop", snapshot]).succeeds();
    assert_eq!(rows(&servers), 1);
    let listed = servers.weir(&["snapshot", "list"]).succeeds().stdout;
    assert!(
        listed.contains("one row") && listed.contains(snapshot),
        "{listed}"
    );

    // A second one from the snapshot, on another storage, while the first is down.
    servers.weir(&["down", "shop"]).succeeds();
    on_another_storage(&servers, snapshot);
    servers.weir(&["up", "shop"]).succeeds();
    assert_eq!(rows(&servers), 1);
    servers.weir(&["snapshot", "rm", snapshot]).succeeds();

    let last = servers.json(&["list"])[0].clone();
    servers.weir(&["down", "shop", "--remove"]).succeeds();
    assert!(!is_alive(pid(&last)) && !folder.exists());
}

/// The data lie in the folder of `--work`, also after a restore and a restart, and go with their server.
fn on_another_storage(servers: &Servers, snapshot: &str) {
    let work = servers.path("other storage");
    let work = work.to_str().unwrap();
    let up = ["up", "copy", "--snapshot", snapshot, "--work", work];
    let info = servers.json(&up);
    let storage = Path::new(work).join("copy");
    assert_eq!(info["storage"], storage.to_str().unwrap());
    assert_eq!(mode(&storage), 0o700);
    servers.weir(&["restore", "copy", snapshot]).succeeds();
    servers.weir(&["down", "copy"]).succeeds();
    let again = servers.weir(&["up", "copy", "--work", work]).fails();
    assert!(again.contains("settings of its own"), "{again}");
    servers.weir(&["up", "copy"]).succeeds();
    assert!(storage.join("data/ibdata1").is_file());
    let own = Path::new(info["folder"].as_str().unwrap());
    assert!(!own.join("data").exists());
    servers.weir(&["down", "copy", "--remove"]).succeeds();
    assert!(!storage.exists() && !own.exists() && Path::new(work).exists());

    let absent = Path::new(work).join("not mounted/work");
    let up_there = ["up", "copy", "--work", absent.to_str().unwrap()];
    let missing = servers.weir(&up_there).fails();
    assert!(
        missing.contains("cannot create") && !own.exists(),
        "{missing}"
    );

    fs::create_dir(&storage).unwrap();
    fs::write(storage.join("mine"), "").unwrap();
    let taken = servers.weir(&up).fails();
    assert!(taken.contains("is not empty"), "{taken}");
    assert!(storage.join("mine").is_file() && !own.exists());
}

/// The loopback lets in with the same password.
fn by_tcp(info: &Value, flavor: &str, password: &str) {
    let endpoint = weir_model::Endpoint {
        address: weir_model::Address::Tcp(
            "127.0.0.1".into(),
            info["port"].as_u64().unwrap() as u16,
        ),
        user: "weir".into(),
        password: weir_model::Secret::new(password),
        database: "sbtest".into(),
        tls: weir_model::Tls::default(),
    };
    let version: Option<String> = Session::open(&endpoint, &Gate::own())
        .unwrap()
        .value("ask", "SELECT VERSION()")
        .unwrap();
    assert_eq!(version.unwrap().contains("MariaDB"), flavor == "mariadb");
}

#[test]
fn a_mysql_server_stays_up_and_comes_back() {
    lives_and_comes_back("mysql");
}

#[test]
fn a_mariadb_server_stays_up_and_comes_back() {
    lives_and_comes_back("mariadb");
}

/// One line each, and nothing stays: no process, no folder.
fn bad_input_leaves_nothing(flavor: &str) {
    let servers = Servers::new();
    let fails = |arguments: &[&str]| {
        let arguments = [&["up", "x", "--server", flavor], arguments].concat();
        let error = servers.weir(&arguments).fails();
        assert!(!servers.path("state/weir/instances/x").exists(), "{error}");
        assert!(servers.world.live_pids("server").is_empty(), "{error}");
        error
    };
    let unknown = fails(&["--set", "innodb_doublewrit=1"]);
    assert!(
        unknown.contains("did you mean `innodb_doublewrite`"),
        "{unknown}"
    );

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let error = fails(&["--port", &port]);
    assert!(error.contains(&port) && error.contains("in use"), "{error}");

    // The server's own words.
    let crash = fails(&["--set", "innodb_data_file_path=nonsense"]);
    assert!(crash.to_lowercase().contains("file path"), "{crash}");

    let missing = fails(&["--snapshot", "nothing"]);
    assert!(missing.contains("no snapshot `nothing`"), "{missing}");
    let name = servers.weir(&["up", "../x"]).fails();
    assert!(name.contains("is no name"), "{name}");
}

#[test]
fn bad_input_on_mysql_leaves_nothing() {
    bad_input_leaves_nothing("mysql");
}

#[test]
fn bad_input_on_mariadb_leaves_nothing() {
    bad_input_leaves_nothing("mariadb");
}

#[test]
fn what_is_not_there_is_named_with_the_nearest() {
    let servers = Servers::new();
    let error = servers.weir(&["down", "shop"]).fails();
    assert!(error.contains("no private server `shop`"), "{error}");
    let listed = servers.weir(&["list"]).succeeds();
    assert!(listed.stdout.contains("no private servers"));
}

/// The server's groups of an option file: what it does not have is named with its place, what makes an
/// instance private stays Weir's.
fn an_option_file_is_understood(flavor: &str) {
    let servers = Servers::new();
    let text = "[client]\nport = 1\n[mysqld]\ndatadir = /var/lib/mysql\nport = 3306\n\
                innodb-buffer-pool-size = 48M\nskip-name-resolve\n";
    let good = servers.world.write("my.cnf", text);
    let wrong = format!("{text}[server]\ninnodb_bufer_pool_instances = 4\n");
    let wrong = servers.world.write("wrong.cnf", &wrong);
    let up = ["up", "x", "--server", flavor, "--option-file"];
    let error = servers
        .weir(&[&up[..], &[wrong.to_str().unwrap()]].concat())
        .fails();
    assert!(
        error.contains("wrong.cnf:9") && error.contains("`innodb_bufer_pool_instances`"),
        "{error}"
    );
    assert!(!servers.path("state/weir/instances/x").exists());
    let output = servers
        .weir(&[&up[..], &[good.to_str().unwrap()]].concat())
        .succeeds();
    assert!(output.stderr.contains("datadir, port"), "{}", output.stderr);
    let size = servers
        .session("x")
        .variable("innodb_buffer_pool_size")
        .unwrap();
    assert_eq!(size, Some((48 << 20).to_string()));
}

#[test]
fn an_option_file_for_mysql_is_understood() {
    an_option_file_is_understood("mysql");
}

#[test]
fn an_option_file_for_mariadb_is_understood() {
    an_option_file_is_understood("mariadb");
}

/// Both settings are measured with the server's program and variables; the server itself goes on as it was.
fn advise_measures_both_and_leaves_the_server_alone(flavor: &str) {
    let servers = Servers::new();
    let up = ["up", "shop", "--server", flavor, "--set"];
    let before = servers.json(&[&up[..], &["innodb_buffer_pool_size=48M"]].concat());
    let advise = ["doublewrite", "advise", "shop", "--seconds", "1", "--runs"];
    let result = servers.json(&[&advise[..], &["1", "--rows", "2000", "--threads", "2"]].concat());
    let mut seen: Vec<_> = result["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| {
            assert_eq!(run["variables"]["innodb_buffer_pool_size"], "50331648");
            run["variables"]["innodb_doublewrite"].as_str().unwrap()
        })
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, ["OFF", "ON"]);
    let after = servers.json(&["list"])[0].clone();
    assert_eq!(pid(&before), pid(&after));
    let value = servers.session("shop").variable("innodb_doublewrite");
    assert_eq!(value.unwrap().as_deref(), Some("ON"));
    let folder = Path::new(before["folder"].as_str().unwrap());
    assert!(!folder.join("advise").exists());
}

#[test]
fn advise_measures_both_on_mysql() {
    advise_measures_both_and_leaves_the_server_alone("mysql");
}

#[test]
fn advise_measures_both_on_mariadb() {
    advise_measures_both_and_leaves_the_server_alone("mariadb");
}

/// One study with replicas, limits and the buffer pool's state as a factor.
fn a_study_deploys_its_servers(flavor: &str) {
    let servers = Servers::new();
    let study = servers.world.write(
        "study.toml",
        &format!(
            r#"
            [study]
            title = "Deployed"
            question = "Do replicas follow and pools warm?"
            [server]
            flavor = "{flavor}"
            cpus = "0"
            replicas = 2
            replication = "semi_sync"
            replica_drive = "intel-p4610"
            heartbeat = true
            [server.config]
            innodb_buffer_pool_size = "64M"
            [data]
            workload = "oltp_write_only"
            rows = 20_000
            scale = {{ drive = "1/25" }}
            [load]
            threads = 2
            warmup = "0s"
            measure = "2s"
            [factors]
            pool = ["cold", "warm"]
            [repeat]
            runs = 1
            seed = 1
            "#
        ),
    );
    fs::create_dir_all(servers.path("work")).unwrap();
    let out = servers.path("out");
    let output = Weir::in_world(&servers.world)
        .args(["run", study.to_str().unwrap(), "--json"])
        .args(["--out", out.to_str().unwrap()])
        .args(["--work", servers.path("work").to_str().unwrap()])
        .output();
    assert!(matches!(output.code, Some(0 | 3)), "{}", output.stderr);
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let commands = run["record"]["commands"].to_string() + &run["commands"].to_string();
        assert!(commands.contains("server_id=2"), "{commands}");
        let variables = &run["variables"];
        assert_eq!(variables["log_bin"], "ON", "{variables}");
        for replica in ["replica 1", "replica 2"] {
            let series = run["series"].as_array().unwrap();
            let of = |name: &str| {
                let mut all = series.iter();
                all.find(|one| one["metric"] == name && one["instance"] == replica)
            };
            assert!(of("replication.lag_s").is_some(), "{replica}");
            let last = |name: &str| {
                let values = of(name).unwrap()["values"].as_array().unwrap().clone();
                values.last().unwrap().as_f64().unwrap()
            };
            // Each on a drive of its own, which counts what it writes; the server's row is young.
            assert!(last("replica_drive.writes") > 0.0, "{replica}");
            let lag_ms = last("replication.heartbeat_lag_ms");
            assert!((0.0..10_000.0).contains(&lag_ms), "{replica}: {lag_ms}");
            let running = &of("replication.running").unwrap()["values"];
            assert_eq!(running[0], 1.0, "{replica}");
        }
    }
    servers.world.assert_nothing_left();
}

#[test]
fn a_study_deploys_mysql_servers() {
    a_study_deploys_its_servers("mysql");
}

#[test]
fn a_study_deploys_mariadb_servers() {
    a_study_deploys_its_servers("mariadb");
}
