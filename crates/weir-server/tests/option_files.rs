//! Option files mean to Weir what they mean to the servers' own programs, which are asked here.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use weir_model::{Address, Flavor, ServerUrl};
use weir_mysql::{ClientConfig, Connection, Gate, OptionFile, endpoint};
use weir_server::PrivateServer;
use weir_testing::on_both_flavors;

const FILES: u32 = 50;
/// Pieces of lines; words are in the form in which Weir keeps names.
const PIECES: [&str; 22] = [
    "user", "a-b", "x", "=", "=", " ", " ", "\t", "\"", "\"", "'", "'", "#", "\\", "\\\\", "\\s",
    "\\n", "\\\"", ";", "]", "é", "\r",
];

/// `my_print_defaults` of a flavour.
fn printer(flavor: Flavor) -> Command {
    match flavor {
        Flavor::Mariadb => Command::new("my_print_defaults"),
        Flavor::Mysql => {
            let server = weir_testing::binary(flavor).path;
            let folder = server.parent().and_then(Path::parent).unwrap();
            let linkers = folder.join("usr/lib").read_dir().unwrap();
            let mut linkers = linkers
                .map(|entry| entry.unwrap().path())
                .filter_map(|folder| linker(&folder));
            // Installed by the distribution, it needs none of its own.
            let Some(linker) = linkers.next() else {
                return Command::new(folder.join("bin/my_print_defaults"));
            };
            let mut command = Command::new(&linker);
            command.arg("--library-path").arg(linker.parent().unwrap());
            command.arg(folder.join("usr/bin/my_print_defaults"));
            command
        }
    }
}

/// The dynamic linker in a folder of libraries.
fn linker(folder: &Path) -> Option<PathBuf> {
    let mut files = folder.read_dir().ok()?.map(|entry| entry.unwrap().path());
    files.find(|file| {
        file.file_name()
            .unwrap()
            .as_encoded_bytes()
            .starts_with(b"ld-linux")
    })
}

/// Returns true if there is one; without it, a message names the tests that are left out.
fn has_printer(flavor: Flavor) -> bool {
    let found = printer(flavor).arg("--version").output();
    let is_there = found.is_ok_and(|output| output.status.success());
    if !is_there {
        weir_testing::skipped("option files", &format!("no my_print_defaults of {flavor}"));
    }
    is_there
}

/// Returns its output for the group `client` of a file.
fn printed(flavor: Flavor, file: &Path) -> String {
    let mut command = printer(flavor);
    command.arg(format!("--defaults-file={}", file.display()));
    // MySQL's hides passwords without this option.
    if flavor == Flavor::Mysql {
        command.arg("--show");
    }
    let output = command
        .arg("client")
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns Weir's reading of it, in the same form.
fn ours(file: &Path) -> String {
    let read = OptionFile::read(file).unwrap();
    let settings = read.settings.iter().filter(|s| s.group == "client");
    settings
        .map(|setting| match &setting.value {
            Some(value) => format!("--{}={value}\n", setting.name),
            None => format!("--{}\n", setting.name),
        })
        .collect()
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn any_line_means_the_same(flavor: Flavor) {
    if !has_printer(flavor) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let line = prop::collection::vec(prop::sample::select(&PIECES), 1..12);
    let line = line.prop_map(|pieces| pieces.concat());
    // Without a name, the programs read what stands before the line.
    let line = line.prop_filter("a line has a name", |line| {
        !line.trim_start().starts_with('=')
    });
    let lines = prop::collection::vec(line, 1..60);
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(FILES)
    };
    let run = TestRunner::new(config).run(&lines, |lines| {
        let text = format!("[client]\n{}\n", lines.join("\n"));
        let file = write(directory.path(), "my.cnf", &text);
        prop_assert_eq!(ours(&file), printed(flavor, &file), "{}", text);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

fn files_that_include_others_mean_the_same(flavor: Flavor) {
    if !has_printer(flavor) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("d");
    fs::create_dir_all(folder.join("x.cnf")).unwrap();
    for (name, text) in [
        ("b.cnf", "[client]\na=1\n[mysqld]\na=2"),
        (".a.cnf", "[client]\r\na=3\r\n"),
        ("c.txt", "[client]\na=4"),
        ("e.cnf", "# nothing"),
    ] {
        write(&folder, name, text);
    }
    let open = write(&folder, "open.cnf", "[client]\na=5");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o666)).unwrap();
    let at = folder.display();
    for text in [
        format!("[client]\nq=1\n!includedir {at}\nz=1\n"),
        format!("[mysqld]\nq=1\n!include {at}/b.cnf  \nz=1\n[client] ;x\ny\n"),
        format!("[client]\n!include {at}/none\n! include {at}/b.cnf\n!load x\nz\n"),
        format!(
            "[client ]\na=1\n[ client]\na=2\n[CLIENT]\na=3\n[client]\n!include {at}/open.cnf\n"
        ),
        format!(
            "[client]\n!include {}/my.cnf\nz=1\n",
            directory.path().display()
        ),
    ] {
        let file = write(directory.path(), "my.cnf", &text);
        assert_eq!(ours(&file), printed(flavor, &file), "{text}");
    }
    for refused in [
        "a=1\n[client]\n",
        "[client\n",
        "[client]\n!includedir /none\n",
        "[client]\n!include \n",
    ] {
        let file = write(directory.path(), "my.cnf", refused);
        assert!(OptionFile::read(&file).is_err(), "{refused}");
        assert_eq!(printed(flavor, &file), "", "{refused}");
    }
}

/// The account of MariaDB's client and of Weir, both with `text` as their only option file.
fn accounts(
    server: &PrivateServer,
    folder: &Path,
    text: &str,
    environment: &[(&str, String)],
) -> [String; 2] {
    let Address::Socket(socket) = server.endpoint().address else {
        panic!("a private server has a socket");
    };
    let text = text.replace("SOCKET", &socket.display().to_string());
    let file = write(folder, "my.cnf", &text);
    let client = Command::new("mariadb")
        .arg(format!("--defaults-file={}", file.display()))
        .args([
            "--batch",
            "--skip-column-names",
            "--execute=SELECT CURRENT_USER()",
        ])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs(environment.iter().cloned())
        .output()
        .unwrap();
    let client = String::from_utf8(client.stdout).unwrap().trim().to_owned();
    let url: ServerUrl = format!("mariadb:///?option-file={}", file.display())
        .parse()
        .unwrap();
    let config = ClientConfig::of_environment(|name| {
        let found = environment.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.into())
    });
    let login = endpoint(&url, &config.unwrap());
    let ours = login.ok().and_then(|endpoint| {
        let limit = Duration::from_secs(30);
        let mut connection = Connection::open(&endpoint, &Gate::own(), limit).ok()?;
        connection.first::<String>("SELECT CURRENT_USER()").unwrap()
    });
    [client, ours.unwrap_or_default()]
}

/// An option file, the environment, and the account that MariaDB's client then has.
type Login = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

/// SOCKET and PORT are the server's.
const LOGINS: [Login; 20] = [
    (
        "[client]\nsocket=SOCKET\nuser=a\npassword='x # y'\n",
        &[],
        "a@localhost",
    ),
    ("[client]\nsocket=SOCKET\nuser=a\npassword=x # y\n", &[], ""),
    (
        "[client]\nsocket=SOCKET\nuser=b\npassword=\"x\"\r\n",
        &[],
        "b@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nuser=c\npassword=\n",
        &[("MYSQL_PWD", "x")],
        "c@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nuser=b\n",
        &[("MYSQL_PWD", "x")],
        "b@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nuser=b\npassword=y\n",
        &[("MYSQL_PWD", "x")],
        "",
    ),
    (
        "[client]\nsocket=SOCKET\nus=b\npass=x\n",
        &[],
        "b@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nloose_user=b\nloose-password=x\n",
        &[],
        "b@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nuser=c\npassword=x\nskip_password\n",
        &[],
        "c@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nuser=c\n[client-mariadb]\nuser=b\npassword=x\n",
        &[],
        "b@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nuser=c\n[client-server]\nuser=b\npassword=x\n",
        &[],
        "b@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nuser=c\n[mysql]\nuser=b\npassword=x\n",
        &[],
        "b@localhost",
    ),
    (
        "[mysql]\nuser=b\n[client]\nsocket=SOCKET\nuser=c\n",
        &[],
        "c@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nuser=c\n[client-10.11]\nuser=b\n[mariadb]\nuser=b\n",
        &[],
        "c@localhost",
    ),
    (
        "[client]\nsocket=SOCKET\nuser=c\n[client_x]\nuser=b\npassword=x\n",
        &[("MYSQL_GROUP_SUFFIX", "_x")],
        "b@localhost",
    ),
    (
        "[client]\nhost=127.0.0.1\nport=PORT\nuser=b\npassword=x\nsocket=/none\n",
        &[],
        "b@127.0.0.1",
    ),
    (
        "[client]\nsocket=SOCKET\nhost=localhost\nport=1\nuser=c\n",
        &[],
        "c@localhost",
    ),
    (
        "[client]\nuser=c\n",
        &[("MYSQL_HOST", "127.0.0.1"), ("MYSQL_TCP_PORT", "PORT")],
        "c@127.0.0.1",
    ),
    ("[client]\nsocket=SOCKET\nuser=c\nport=abc\n", &[], ""),
    ("user=c\n[client]\nsocket=SOCKET\n", &[], ""),
];

/// MariaDB's own client reads a file and the environment; MySQL's is not in the distribution.
#[test]
fn a_login_goes_where_the_servers_own_client_goes() {
    if Command::new("mariadb").arg("--version").output().is_err() {
        weir_testing::skipped("logins by option files", "no mariadb client");
        return;
    }
    let (server, directory, port) = weir_testing::start_on_tcp(Flavor::Mariadb, &[]);
    let mut session = server.session().unwrap();
    for (user, password) in [("a", "x # y"), ("b", "x"), ("c", "")] {
        for host in ["localhost", "127.0.0.1"] {
            let create = format!("CREATE USER {user}@'{host}' IDENTIFIED BY '{password}'");
            session.run("create an account", &create).unwrap();
        }
    }
    for (text, environment, expected) in LOGINS {
        let text = text.replace("PORT", &port.to_string());
        let environment: Vec<_> = environment
            .iter()
            .map(|(name, value)| (*name, value.replace("PORT", &port.to_string())))
            .collect();
        let both = accounts(&server, directory.path(), &text, &environment);
        assert_eq!(both[0], both[1], "{text} {environment:?}");
        assert_eq!(both[0], expected, "{text} {environment:?}");
    }
}

on_both_flavors!(any_line_means_the_same files_that_include_others_mean_the_same);
