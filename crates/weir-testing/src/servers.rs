//! Real servers for tests: started in a second, gone when dropped.
//!
//! The initialised data directory of each server version is made once per machine and kept as a
//! snapshot in the user's cache directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use weir_model::{Endpoint, Flavor, Replication};
use weir_mysql::{Connection, Connector, Gate, Patience};

use weir_server::{
    PrivateServer, Role, ServerBinary, StartOptions, attach, choose, find, forget_identity,
    free_port, loopback_variables, make_empty_data, replication_variables,
};

/// Variables of a server whose commits wait for no disk: nothing has to outlive the test.
pub const LAZY_COMMITS: [(&str, &str); 2] = [
    ("innodb_flush_log_at_trx_commit", "0"),
    ("sync_binlog", "0"),
];

/// Starts a small server of `flavor` on empty data.
///
/// The directory holds `data` and `run`; drop the server first (a tuple does it in this order).
///
/// # Panics
/// When the machine has no such server (`scripts/setup.sh` installs it) or it does not start.
pub fn start(flavor: Flavor) -> (PrivateServer, TempDir) {
    start_with(flavor, &[])
}

/// As [`start`], with variables of the caller's.
///
/// # Panics
/// As [`start`].
pub fn start_with(flavor: Flavor, variables: &[(&str, &str)]) -> (PrivateServer, TempDir) {
    start_program(&binary(flavor), variables)
}

/// As [`start_with`], of a certain program.
///
/// # Panics
/// As [`start`].
pub fn start_program(
    binary: &ServerBinary,
    variables: &[(&str, &str)],
) -> (PrivateServer, TempDir) {
    start_shaped(binary, &[], variables)
}

/// As [`start_program`], on a data directory that is made with the variables of `shaping`, such as
/// `lower_case_table_names`.
///
/// # Panics
/// As [`start`].
pub fn start_shaped(
    binary: &ServerBinary,
    shaping: &[(&str, &str)],
    variables: &[(&str, &str)],
) -> (PrivateServer, TempDir) {
    let owned = |variables: &[(&str, &str)]| -> BTreeMap<String, String> {
        let variables = variables.iter();
        variables
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    let directory = tempfile::tempdir().expect("invariant: tests may write temporary files");
    let mut options = options(directory.path());
    make_data(binary, &options.data_dir, &owned(shaping));
    options.variables.extend(owned(shaping));
    options.variables.extend(owned(variables));
    let server = PrivateServer::start(binary, &options).unwrap_or_else(|error| panic!("{error}"));
    (server, directory)
}

/// As [`start_with`], listening on a free port of 127.0.0.1 too, which is returned.
///
/// # Panics
/// As [`start`].
pub fn start_on_tcp(flavor: Flavor, variables: &[(&str, &str)]) -> (PrivateServer, TempDir, u16) {
    let port = free_port().unwrap_or_else(|error| panic!("{error}"));
    let listening = loopback_variables(port);
    let listening = listening.iter().map(|(name, value)| (&**name, &**value));
    let all: Vec<_> = listening.chain(variables.iter().copied()).collect();
    let (server, directory) = start_with(flavor, &all);
    (server, directory, port)
}

/// Makes an account that may do all in the schema of `root`, from any host.
///
/// # Panics
/// If the server refuses.
pub fn make_account(root: &Endpoint, user: &str, password: &str) {
    let mut session = connect(root);
    for sql in [
        format!("CREATE USER {user}@'%' IDENTIFIED BY '{password}'"),
        format!("GRANT ALL ON {}.* TO {user}@'%'", root.database),
    ] {
        session.run(sql).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// A primary and its replicas, which follow; drop them before their directory.
#[derive(Debug)]
pub struct ReplicatedServers {
    /// The replicas.
    pub replicas: Vec<PrivateServer>,
    /// Their primary.
    pub primary: PrivateServer,
    _directory: TempDir,
}

/// Starts a primary of `flavor` with `count` replicas.
///
/// # Panics
/// As [`start`], or when a replica does not follow.
pub fn start_replicated(flavor: Flavor, replication: Replication, count: u32) -> ReplicatedServers {
    let directory = tempfile::tempdir().expect("invariant: tests may write temporary files");
    let binary = binary(flavor);
    let start = |name: &str, role: Role, port: Option<u16>| {
        let place = directory.path().join(name);
        std::fs::create_dir(&place).expect("invariant: tests may write temporary files");
        let mut options = options(&place);
        data_directory(&binary, &options.data_dir);
        forget_identity(&options.data_dir).unwrap_or_else(|error| panic!("{error}"));
        let more = replication_variables(&binary, role, replication);
        options.variables.extend(more);
        options
            .variables
            .extend(port.into_iter().flat_map(loopback_variables));
        PrivateServer::start(&binary, &options).unwrap_or_else(|error| panic!("{error}"))
    };
    let port = free_port().unwrap_or_else(|error| panic!("{error}"));
    let primary = start("primary", Role::Primary, Some(port));
    let follow = |number| {
        let replica = start(&format!("replica-{number}"), Role::Replica(number), None);
        attach(&binary, &primary.endpoint(), port, &replica.endpoint())
            .unwrap_or_else(|error| panic!("{error}"));
        replica
    };
    ReplicatedServers {
        replicas: (1..=count).map(follow).collect(),
        primary,
        _directory: directory,
    }
}

/// A connection to `endpoint`, a private server's, and its schema: the tests' second opinion.
///
/// # Panics
/// When the server refuses it.
pub fn connect(endpoint: &Endpoint) -> Connection {
    let connector = Connector::new(endpoint.clone(), None, Gate::own());
    let connector = connector.unwrap_or_else(|error| panic!("{error}"));
    Connection::connect(&connector, true, Patience::Endless)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Waits until a load is under way on `server`: until it has answered some hundred statements more.
///
/// # Panics
/// When none comes within two minutes, or the server is gone.
pub fn wait_until_loaded(server: &PrivateServer) {
    let mut connection = connect(&server.endpoint());
    let mut answered = || -> u64 {
        let row = connection.first("SHOW GLOBAL STATUS LIKE 'Questions'");
        let row: (String, String) = row
            .unwrap_or_else(|error| panic!("{error}"))
            .expect("invariant: servers count questions");
        row.1.parse().expect("invariant: a counter is a number")
    };
    let (first, deadline) = (answered(), Instant::now() + Duration::from_mins(2));
    // Each look is a question, too.
    for looks in 1.. {
        if answered() >= first + looks + 200 {
            return;
        }
        assert!(Instant::now() < deadline, "no load has come");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The newest server of `flavor` on this machine, or the one that `WEIR_TEST_SERVER` names.
///
/// # Panics
/// When there is none.
pub fn binary(flavor: Flavor) -> ServerBinary {
    if let Some(path) = std::env::var_os("WEIR_TEST_SERVER") {
        let named = ServerBinary::at(Path::new(&path)).unwrap_or_else(|error| panic!("{error}"));
        if named.flavor == flavor {
            return named;
        }
    }
    let servers = find(None).unwrap_or_else(|error| panic!("{error}"));
    choose(&servers, flavor)
        .unwrap_or_else(|error| panic!("{error}"))
        .clone()
}

/// Where the plugin that encryption needs is: with the server, or where `scripts/setup.sh --tests` puts it.
///
/// # Panics
/// As [`start`].
pub fn key_management() -> Option<PathBuf> {
    let (server, _directory) = start(Flavor::Mariadb);
    let of_server: Option<String> = connect(&server.endpoint())
        .first("SELECT @@plugin_dir")
        .unwrap_or_else(|error| panic!("{error}"));
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    let data = data.or(home).unwrap_or_default();
    [
        PathBuf::from(of_server.unwrap_or_default()),
        data.join("weir/mariadb-plugins"),
    ]
    .into_iter()
    .find(|directory| directory.join("file_key_management.so").exists())
}

/// A `MySQL` server with a keyring, which encrypted logs need, and the folder that it lies in. None if the newest one of
/// this machine did not come in a folder of its own with that component.
///
/// # Panics
/// As [`start`].
pub fn keyring_server() -> Option<(ServerBinary, TempDir)> {
    let of_machine = binary(Flavor::Mysql);
    let prefix = of_machine.path.parent()?.parent()?;
    let component = "usr/lib/mysql/plugin/component_keyring_file";
    if !prefix.join(component).with_extension("so").exists() {
        return None;
    }
    let folder = tempfile::tempdir().expect("invariant: tests may write temporary files");
    let to = folder.path();
    // The manifest has to lie beside the program, where other servers would find it, too.
    let linked = Command::new("cp")
        .args(["--archive", "--symbolic-link"])
        .args([&prefix.join("."), to])
        .status();
    assert!(linked.is_ok_and(|status| status.success()));
    let program = to.join("bin/mysqld");
    let keys = format!(
        r#"{{ "path": "{}", "read_only": false }}"#,
        to.join("keys").display()
    );
    let files = [
        (
            to.join("bin/mysqld.my"),
            r#"{ "components": "file://component_keyring_file" }"#.to_owned(),
        ),
        (to.join(component).with_extension("cnf"), keys),
    ];
    for (path, text) in files {
        std::fs::write(path, text).expect("invariant: tests may write temporary files");
    }
    // A link would be resolved to the folder that it leads to.
    std::fs::remove_file(&program)
        .and_then(|()| std::fs::copy(&of_machine.path, &program))
        .expect("invariant: tests may write temporary files");
    let binary = ServerBinary {
        path: program,
        ..of_machine
    };
    Some((binary, folder))
}

/// Options of a server that starts fast and needs little memory, in `directory`.
pub fn options(directory: &Path) -> StartOptions {
    let mut options = StartOptions::new(directory.join("data"), directory.join("run"));
    options.variables = small();
    options
}

fn small() -> BTreeMap<String, String> {
    [
        ("innodb_buffer_pool_size", "33554432"),
        ("innodb_redo_log_capacity", "16777216"),
        // A server makes room for its open tables when it starts.
        ("table_open_cache", "400"),
        ("table_definition_cache", "400"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// Makes `target` a data directory of `binary`, from the cache if it holds one.
///
/// # Panics
/// When it cannot be made.
pub fn data_directory(binary: &ServerBinary, target: &Path) {
    make_data(binary, target, &BTreeMap::new());
}

fn make_data(binary: &ServerBinary, target: &Path, shaping: &BTreeMap<String, String>) {
    // One at a time within a process, so that the first test makes what the others copy.
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock();
    make_empty_data(binary, target, shaping).unwrap_or_else(|error| panic!("{error}"));
}
