//! Limits of a server, content of its buffer pool, and its followers, on both flavours.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use weir_model::{Bytes, Flavor, Limits, Replication};
use weir_process::MemoryGroup;
use weir_server::{PrivateServer, ServerError, wait_until_caught_up};

/// A clean stop of a server that has neighbours, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

weir_testing::on_both_flavors! {
    limits_hold_for_the_whole_server
    a_pool_is_dumped_and_loaded
    a_pool_changes_its_size_or_says_why_not
    replicas_follow_and_catch_up
    a_log_that_is_switched_off_is_off
    what_a_program_foretells_is_what_it_says_after_the_start
    a_file_system_that_refuses_o_direct_is_found
    a_server_that_may_not_use_a_file_says_what_that_means
}

/// As another user's, or under a security profile: root may use all files otherwise.
fn a_server_that_may_not_use_a_file_says_what_that_means(flavor: Flavor) {
    let (server, directory) = weir_testing::start(flavor);
    let binary = server.binary().clone();
    server.stop(PATIENCE).unwrap();
    let options = weir_testing::options(directory.path());
    let file = match flavor {
        Flavor::Mysql => "mysql.ibd",
        Flavor::Mariadb => "ib_logfile0",
    };
    let forbidden = fs::Permissions::from_mode(0o000);
    fs::set_permissions(options.data_dir.join(file), forbidden).unwrap();
    let started = std::thread::scope(|scope| {
        let starting = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                // The server's own, which it gets when it starts.
                for right in [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH] {
                    remove_capability_from_bounding_set(right).unwrap();
                }
            }
            PrivateServer::start(&binary, &options).map(drop)
        });
        starting.join().unwrap()
    });
    let error = started.unwrap_err().to_string();
    for words in [
        "Operating system error number 13 in a file operation: The error means",
        "does not have the access rights to the directory",
        "AppArmor or SELinux",
    ] {
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(error.lines().count(), 1);
}

/// By any of these, in the server's own words.
fn a_log_that_is_switched_off_is_off(flavor: Flavor) {
    for (name, value, said) in [
        ("log_bin", "OFF", "OFF"),
        ("log-bin", "0", "OFF"),
        ("skip_log_bin", "1", "OFF"),
        ("log_bin", "ON", "ON"),
    ] {
        let (server, directory) = weir_testing::start_with(flavor, &[(name, value)]);
        let variables = server.variables().unwrap();
        assert_eq!(variables["log_bin"], said, "{flavor} {name} = {value}");
        let files = fs::read_dir(directory.path().join("data")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
        let wrong = ["OFF.", "0.", "ON."];
        let wrong: Vec<_> = names
            .filter(|file| wrong.iter().any(|start| file.starts_with(start)))
            .collect();
        assert_eq!(wrong, Vec::<String>::new(), "{flavor} {name} = {value}");
    }
}

/// Pools in whole chunks, and numbers that a server would read otherwise.
fn what_a_program_foretells_is_what_it_says_after_the_start(flavor: Flavor) {
    const POOL: &str = "innodb_buffer_pool_size";
    let binary = weir_testing::binary(flavor);
    for size in ["8M", "100M", "200M", "250M", "2e8", "0.25 GB"] {
        let asked = [(POOL.to_owned(), size.to_owned())].into();
        let foretold = weir_server::ask(&binary, &asked).unwrap();
        assert_eq!(foretold.refused, Vec::<String>::new());
        let (server, _directory) = weir_testing::start_with(flavor, &[(POOL, size)]);
        let said = server.variables().unwrap();
        // MariaDB rounds to the extents of its pool.
        let [foretold, said]: [f64; 2] =
            [&foretold.values, &said].map(|of| of[POOL].parse().unwrap());
        let off = (said / foretold - 1.0).abs();
        let most = if flavor == Flavor::Mysql { 0.0 } else { 0.05 };
        assert!(
            off <= most,
            "{flavor} {size}: {foretold} foretold, {said} said"
        );
    }
}

/// Servers go on saying `O_DIRECT` where it was refused.
fn a_file_system_that_refuses_o_direct_is_found(flavor: Flavor) {
    const ASKED: (&str, &str) = ("innodb_flush_method", "O_DIRECT");
    let found = |server: &PrivateServer| {
        let mut session = server.session().unwrap();
        let variables = session.variables().unwrap();
        let unsaid =
            weir_server::unsaid(&mut session, &variables, Some(server.pid()), None).unwrap();
        unsaid
            .get(weir_model::variables::PAGES_CACHED_BECAUSE)
            .cloned()
    };
    let (server, _directory) = weir_testing::start_with(flavor, &[ASKED]);
    assert_eq!(found(&server), None);
    let directory = tempfile::tempdir().unwrap();
    let Some(_mount) = weir_testing::RamFs::mount(directory.path()) else {
        return;
    };
    let binary = weir_testing::binary(flavor);
    let mut options = weir_testing::options(directory.path());
    // It says that it has no space, so that nothing is restored into it.
    let made = tempfile::tempdir().unwrap();
    weir_testing::data_directory(&binary, &made.path().join("data"));
    let mut copy = std::process::Command::new("cp");
    let copied = copy
        .arg("-a")
        .arg(made.path().join("data"))
        .arg(&options.data_dir)
        .status();
    assert!(copied.unwrap().success());
    options.variables.insert(ASKED.0.into(), ASKED.1.into());
    let server = PrivateServer::start(&binary, &options).unwrap();
    assert_eq!(server.variables().unwrap()[ASKED.0], "O_DIRECT");
    let why = found(&server).unwrap();
    assert!(
        why.contains("O_DIRECT was refused") && why.contains("ramfs"),
        "{why}"
    );
}

/// The kernel's own words on both limits.
fn limits_hold_for_the_whole_server(flavor: Flavor) {
    let binary = weir_testing::binary(flavor);
    let directory = tempfile::tempdir().unwrap();
    let mut options = weir_testing::options(directory.path());
    weir_testing::data_directory(&binary, &options.data_dir);
    let may_limit_memory = match MemoryGroup::create(1 << 30) {
        Ok(_) => true,
        Err(error) => {
            weir_testing::skipped("the limit of memory", &error.to_string());
            assert_eq!(error.to_string().lines().count(), 1);
            false
        }
    };
    let memory = Bytes(1 << 30);
    options.limits = Limits {
        cpus: Some("0".parse().unwrap()),
        memory: may_limit_memory.then_some(memory),
    };
    let server = PrivateServer::start(&binary, &options).unwrap();
    for task in fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap() {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap_or_default();
        let allowed = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        assert!(allowed.is_none_or(|list| list.trim() == "0"), "{status}");
    }
    if !may_limit_memory {
        return;
    }
    let groups = fs::read_to_string(format!("/proc/{}/cgroup", server.pid())).unwrap();
    let own = groups.lines().find(|line| line.contains("/weir-")).unwrap();
    let path = own.splitn(3, ':').nth(2).unwrap().trim_start_matches('/');
    let group = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"]
        .map(|root| std::path::Path::new(root).join(path))
        .into_iter()
        .find(|path| path.is_dir());
    // Inside a container the path may be the host's.
    let Some(group) = group else { return };
    let read = |names: [&str; 2]| -> u64 {
        let texts = names.map(|name| fs::read_to_string(group.join(name)));
        let text = texts.into_iter().find_map(Result::ok).unwrap();
        text.trim().parse().unwrap()
    };
    assert_eq!(read(["memory.limit_in_bytes", "memory.max"]), memory.0);
    let used = read(["memory.usage_in_bytes", "memory.current"]);
    assert!(used > 16 << 20 && used <= memory.0, "{used}");
    drop(server);
    assert!(!group.exists(), "the group is left");
}

fn a_pool_is_dumped_and_loaded(flavor: Flavor) {
    let (server, directory) = weir_testing::start(flavor);
    let mut session = server.session().unwrap();
    session
        .run(
            "create",
            "CREATE TABLE sbtest.t (a INT PRIMARY KEY, b CHAR(255))",
        )
        .unwrap();
    session
        .run(
            "insert",
            "INSERT INTO sbtest.t VALUES (1, REPEAT('x', 255))",
        )
        .unwrap();
    for power in 0..12 {
        let insert = format!("INSERT INTO sbtest.t SELECT a + (1 << {power}), b FROM sbtest.t");
        session.run("insert", &insert).unwrap();
    }
    session.dump_pool().unwrap();
    let full = session.pool().unwrap();
    assert!(
        full.pages_data > 50 && full.pages_data <= full.pages,
        "{full:?}"
    );
    drop(session);
    server.stop(PATIENCE).unwrap();

    let mut options = weir_testing::options(directory.path());
    for name in [
        "innodb_buffer_pool_load_at_startup",
        "innodb_buffer_pool_dump_at_shutdown",
    ] {
        options.variables.insert(name.into(), "OFF".into());
    }
    let server = PrivateServer::start(&weir_testing::binary(flavor), &options).unwrap();
    let mut session = server.session().unwrap();
    let cold = session.pool().unwrap();
    session.load_pool().unwrap();
    let warm = session.pool().unwrap();
    assert!(warm.pages_data > cold.pages_data, "{cold:?} {warm:?}");
}

fn a_pool_changes_its_size_or_says_why_not(flavor: Flavor) {
    let (server, _directory) = weir_testing::start_with(
        flavor,
        &[
            ("innodb_buffer_pool_size", "256M"),
            ("innodb_buffer_pool_chunk_size", "8M"),
        ],
    );
    let mut session = server.session().unwrap();
    let smaller = session.resize_pool(Bytes(64 << 20)).unwrap();
    assert_eq!(smaller, Bytes(64 << 20));
    assert_eq!(session.resize_pool(smaller).unwrap(), smaller);
    // What the server makes of it without a word is what is read back.
    let largest = session.variable("innodb_buffer_pool_size_max").unwrap();
    match session.resize_pool(Bytes(512 << 20)) {
        Ok(size) => assert_eq!(size, Bytes(512 << 20)),
        Err(error @ ServerError::PoolSize { .. }) => {
            assert!(
                error.to_string().contains("innodb_buffer_pool_size_max"),
                "{error}"
            );
            assert_eq!(flavor, Flavor::Mariadb);
            assert!(largest.is_some());
            assert_eq!(session.pool().unwrap().size, Bytes(256 << 20));
        }
        Err(error) => panic!("{error}"),
    }
}

fn replicas_follow_and_catch_up(flavor: Flavor) {
    for (replication, count) in [(Replication::Async, 1), (Replication::SemiSync, 2)] {
        let servers = weir_testing::start_replicated(flavor, replication, count);
        let primary = &servers.primary;
        let mut session = primary.session().unwrap();
        session
            .run("create", "CREATE TABLE sbtest.t (a INT PRIMARY KEY)")
            .unwrap();
        session
            .run("insert", "INSERT INTO sbtest.t VALUES (1), (2), (3)")
            .unwrap();
        if replication == Replication::SemiSync {
            let status = session.status().unwrap();
            let clients = [
                "Rpl_semi_sync_source_clients",
                "Rpl_semi_sync_master_clients",
            ]
            .iter()
            .find_map(|name| status.get(*name));
            assert_eq!(clients.map(String::as_str), Some("2"));
        }
        for replica in &servers.replicas {
            let limit = Duration::from_mins(1);
            let (from, to) = (primary.endpoint(), replica.endpoint());
            wait_until_caught_up(flavor, &from, &to, limit).unwrap();
            let query = "SELECT COUNT(*) FROM sbtest.t";
            let rows: Option<u64> = replica.session().unwrap().value("count", query).unwrap();
            assert_eq!(rows, Some(3));
        }
        let weir_testing::ReplicatedServers {
            replicas, primary, ..
        } = servers;
        for server in replicas.into_iter().chain([primary]) {
            server.stop(PATIENCE).unwrap();
        }
    }
}
