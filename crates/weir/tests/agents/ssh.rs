//! From nothing to a run from two hosts: `weir bus up`, `weir agents up HOST...`, `weir load --agents=2`.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use weir_load::{NullServer, NullServerBehavior};

use super::hosts::{HOME, Host, Process, World, network, wait_until};

/// Where the distribution has it.
const SSHD: &str = "/usr/sbin/sshd";

/// An ssh server on a host, with keys of the test's own, and what a client needs to reach it.
fn sshd(world: &World, hosts: &[&Host]) -> Vec<Process> {
    let key = |name: &str| {
        let file = world.path(name);
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&file)
            .status();
        assert!(made.unwrap().success());
        file.display().to_string()
    };
    let (host_key, user_key) = (key("host"), key("user"));
    let authorized = world.path("authorized");
    fs::copy(format!("{user_key}.pub"), &authorized).unwrap();
    fs::set_permissions(&authorized, fs::Permissions::from_mode(0o600)).unwrap();
    let server = format!(
        "HostKey {host_key}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
         AllowTcpForwarding yes\nPermitRootLogin yes\n",
        authorized.display()
    );
    fs::write(world.path("sshd_config"), server).unwrap();
    let client = format!(
        "IdentityFile {user_key}\nIdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n\
         LogLevel ERROR\nBatchMode yes\n"
    );
    fs::write(world.path("ssh_config"), client).unwrap();
    let config = world.path("sshd_config").display().to_string();
    let start = |host: &&Host| {
        Process::start(&mut host.command(0, SSHD, &["-D", "-e", "-p", "22", "-f", &config]))
    };
    hosts.iter().map(start).collect()
}

#[test]
fn two_commands_lead_to_a_run_from_two_hosts_through_ssh() {
    let what = "agents through ssh";
    if !Path::new(SSHD).exists() {
        weir_testing::skipped(what, "no sshd (openssh-server)");
        return;
    }
    if network(what).is_none() {
        return;
    }
    // sshd leaves its privileges in this folder.
    fs::create_dir_all("/run/sshd").unwrap();
    let address: SocketAddr = format!("{HOME}:0").parse().unwrap();
    let server = NullServer::start_at(address, NullServerBehavior::default()).unwrap();
    let weir_model::Address::Tcp(_, port) = server.address().clone() else {
        panic!("a null server on TCP");
    };
    let world = World::new(2);
    let hosts = [Host::new(2), Host::new(3)];
    let daemons = sshd(&world, &[&hosts[0], &hosts[1]]);
    let ssh = format!("ssh -F {}", world.path("ssh_config").display());
    let mut up = world.conductor(&[
        "agents",
        "up",
        &hosts[0].address,
        &hosts[1].address,
        "--ssh",
        &ssh,
    ]);
    let up = Process::start(up.args(["--weir", env!("CARGO_BIN_EXE_weir")]));
    wait_until("agents through ssh", Duration::from_mins(1), || {
        assert!(!up.text().contains("has ended"), "{}", up.text());
        world.list().len() == 2
    });
    let check = world.output(&["agents", "check"]);
    assert!(
        check.status.success(),
        "{}",
        String::from_utf8_lossy(&check.stdout)
    );
    let (host, port) = (
        format!("--mysql-host={HOME}"),
        format!("--mysql-port={port}"),
    );
    let load = world.output(&[
        "load",
        "oltp_point_select",
        &host,
        &port,
        "--threads=8",
        "--time=1",
        "--agents=2",
        "run",
    ]);
    let words = String::from_utf8_lossy(&load.stderr);
    assert!(load.status.success(), "{words}");
    assert!(
        words.contains("agent agent-1 on ") && words.contains("agent agent-2 on "),
        "{words}"
    );

    // The key is in no argument, and the agents end with the command that started them.
    let seed = fs::read_to_string(world.join_file(1)).unwrap();
    let seed = seed
        .split('"')
        .find(|word| word.starts_with("SU"))
        .unwrap()
        .to_owned();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&words).contains(&seed));
    }
    up.signal("TERM");
    wait_until("no agents", Duration::from_secs(30), || {
        world.list().is_empty()
    });
    drop(daemons);
}
