//! A server that stays up holds nothing of the command that started it.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Weir, is_alive};
use crate::server::Servers;

/// A caller with a pipe, a connection and a lock, who blocks one signal and ignores two.
const CALLER: &str = r#"exec 8>"$PIPE"
exec bash -c 'exec 9<>"/dev/tcp/127.0.0.1/$PORT"
exec flock "$LOCK" env --block-signal=USR1 --ignore-signal=INT,PIPE "$@"' bash "$@""#;

const PATIENCE: Duration = Duration::from_mins(2);

/// Signals that a process blocks and ignores, and whether it leads its session (proc(5)).
fn dispositions(pid: u32) -> (Vec<String>, bool) {
    let read = |name| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap();
    let status = read("status");
    let masks = status
        .lines()
        .filter(|line| line.starts_with("SigBlk") || line.starts_with("SigIgn"));
    let stat = read("stat");
    // After the name, which may hold spaces: state, parent, group, session.
    let session = stat.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap();
    (
        masks.map(str::to_owned).collect(),
        session == pid.to_string(),
    )
}

#[test]
fn a_server_that_stays_up_holds_nothing_of_its_caller() {
    let servers = Servers::new();
    let [pipe, lock] = ["pipe", "lock"].map(|name| servers.path(name));
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let (tell, told) = mpsc::channel();
    let read = pipe.clone();
    thread::spawn(move || tell.send(fs::read(read)).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let up = Weir::new()
        .by_shell(CALLER)
        .env("PIPE", &pipe)
        .env("LOCK", &lock)
        .env("PORT", port.to_string())
        .env("XDG_RUNTIME_DIR", servers.world.runtime.path())
        .env("XDG_STATE_HOME", servers.path("state"))
        .env("XDG_CACHE_HOME", servers.path("cache"))
        .args(["server", "up", "held", "--server", "mariadb", "--json"])
        .succeeds();
    let (mut connection, _) = listener.accept().unwrap();

    told.recv_timeout(PATIENCE).unwrap().unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(connection.read(&mut [0]).unwrap(), 0);
    let locked = Command::new("flock")
        .arg("-n")
        .arg(&lock)
        .arg("true")
        .status();
    assert!(locked.unwrap().success(), "the lock is held");

    let pid = |info: &Value| info["pid"].as_u64().unwrap() as u32;
    let held = pid(&serde_json::from_str(&up.stdout).unwrap());
    let plain = pid(&servers.json(&["up", "plain", "--server", "mariadb"]));
    let (found, leads) = dispositions(held);
    assert_eq!(found, dispositions(plain).0);
    assert!(leads && is_alive(held));
}
