//! A server of the user's before and after every command: nothing that the command may not change is
//! changed, also when the command is killed, the disk of Weir's own state is full, the account may
//! nothing, or the server is started again in the middle.
//!
//! `WEIR_KILL_SEED` repeats the moments of the kills.

#![allow(clippy::print_stderr, reason = "what the kills met must be known")]

mod commands;
mod state;

use std::fs;
use std::process::Command as Program;
use std::thread;
use std::time::Duration;

use weir_model::Flavor;
use weir_testing::on_both_flavors;

use crate::harness::{Output, wait_until};
use crate::kill::{Random, kills};
use crate::users::Users;
use commands::{CHANGING, Command, Reach};
use state::{State, is_of_schema};

/// Longest time after which a command is killed.
const KILL_AFTER_MAX: Duration = Duration::from_millis(700);
const CAPACITY: &str = "innodb_io_capacity";

/// A server that writes a binary log, with a schema beside the one that is given, and a full buffer pool.
pub(crate) fn start(flavor: Flavor) -> Users {
    let users = Users::with(
        flavor,
        &[
            ("log_bin", "binlog"),
            ("server_id", "1"),
            ("local_infile", "ON"),
            ("innodb_buffer_pool_size", "16777216"),
            // What is kept free by default is all of such a pool.
            ("innodb_lru_scan_depth", "100"),
            ("log_output", "TABLE"),
            ("binlog_format", "ROW"),
        ],
    );
    for statement in [
        "CREATE USER nobody@localhost IDENTIFIED BY 'x'",
        "CREATE DATABASE other",
        "CREATE TABLE other.kept (id INT PRIMARY KEY, a INT)",
        "INSERT INTO other.kept VALUES (1, 1), (2, 2)",
        "CREATE PROCEDURE other.stored() DO 1",
    ] {
        root(&users, statement);
    }
    users.option_file("nobody.cnf", "nobody", "x");
    let prepare = find_command("load prepare again");
    prepare.on(&users, "app.cnf").succeeds();
    find_command("load prewarm")
        .on(&users, "app.cnf")
        .succeeds();
    users
}

pub(crate) fn find_command(name: &str) -> Command {
    commands::all()
        .find(|command| command.name == name)
        .unwrap()
}

fn root(users: &Users, statement: &str) {
    let mut session = users.server().session().unwrap();
    // The binary log is looked at.
    for statement in ["SET SESSION sql_log_bin = 0", statement] {
        session.run("set the test up", statement).unwrap();
    }
}

/// What is different after `command`, as far as it should not be.
fn unexpected(command: Command, before: &State, after: &State) -> Vec<String> {
    before.changes(after, |name| {
        command.reach == Reach::Schema && is_of_schema(name)
    })
}

/// Statements of the account `app` in the general log, in their order.
fn statements(users: &Users) -> Vec<(String, String)> {
    let mut connection = weir_testing::connect(&weir_model::Endpoint {
        database: "mysql".to_owned(),
        ..users.server().endpoint()
    });
    connection
        .rows(
            "SELECT command_type, CONVERT(argument USING utf8mb4) FROM mysql.general_log \
             WHERE user_host LIKE '%app%' OR command_type = 'Connect'",
        )
        .unwrap()
}

fn each_command_sends_and_changes_only_what_it_may(flavor: Flavor) {
    let users = start(flavor);
    root(&users, "SET GLOBAL general_log = 1");
    for command in commands::all() {
        root(&users, "TRUNCATE TABLE mysql.general_log");
        let before = State::observe(&users);
        let output = command.on(&users, "app.cnf").output();
        assert_fits(command, &output);
        let sent = statements(&users);
        for (kind, statement) in &sent {
            let is_one = matches!(kind.as_str(), "Query" | "Prepare" | "Execute");
            assert!(
                !is_one || command.may_send(kind, statement),
                "{}: {statement}",
                command.name
            );
            let other = [
                "Query",
                "Prepare",
                "Execute",
                "Connect",
                "Quit",
                "Close stmt",
                "Ping",
            ];
            // The binary log is read as replicas read it.
            let log = ["Register Slave", "Register Replica", "Binlog Dump"];
            let is_log = command.name.starts_with("flashback") && log.contains(&&**kind);
            assert!(
                is_log || other.contains(&&**kind),
                "{}: {kind} {statement}",
                command.name
            );
        }
        for begin in command
            .sends
            .iter()
            .filter(|begin| begin.contains("GLOBAL"))
        {
            let is_sent = sent
                .iter()
                .any(|(_, statement)| statement.starts_with(begin));
            assert!(is_sent, "{} did not: {begin}", command.name);
        }
        let changed = unexpected(command, &before, &State::observe(&users));
        assert!(changed.is_empty(), "{}: {changed:#?}", command.name);
    }
}

/// It did what it is there for, or refused it as it should.
fn assert_fits(command: Command, output: &Output) {
    // Nothing proves it; it was not allowed.
    let refused = [
        "doublewrite off",
        "observe refused",
        "flashback --into refused",
    ];
    let is_refused = refused.contains(&command.name);
    let is_right = is_refused && output.code == Some(1) || !is_refused && is_done(output);
    assert!(
        is_right,
        "{}: {}{}",
        command.name, output.stdout, output.stderr
    );
}

/// Whether a command came to its end: one run has no verdict, and a pool that is not used misses nothing,
/// which is found when all looks are done.
pub(crate) fn is_done(output: &Output) -> bool {
    let looked = output.stderr.contains("misses per second = 0");
    matches!(output.code, Some(0 | 3)) || output.code == Some(1) && looked
}

/// The account may log in and nothing else.
fn an_account_without_privileges_changes_nothing(flavor: Flavor) {
    let users = start(flavor);
    let before = State::observe(&users);
    for command in commands::all() {
        let output = command.on(&users, "nobody.cnf").output();
        let changed = before.changes(&State::observe(&users), |_| false);
        assert!(changed.is_empty(), "{}: {changed:#?}", command.name);
        if command.reach != Reach::Nothing {
            let errors = output
                .stderr
                .lines()
                .filter(|line| line.starts_with("weir: "));
            assert_eq!(
                (output.code, errors.count()),
                (Some(1), 1),
                "{}",
                output.stderr
            );
        }
    }
    assert!(left(&users).is_empty());
}

/// Variables that are noted as changed; `left_changed.rs` asks whether users are told.
fn left(users: &Users) -> Vec<String> {
    let notes = fs::read_dir(users.world.path("state/weir/changed-settings"));
    let files = notes.into_iter().flatten().map(Result::unwrap);
    let notes = files.map(|file| fs::read_to_string(file.path()).unwrap());
    let variable = |note: String| {
        let note: serde_json::Value = serde_json::from_str(&note).unwrap();
        note["variable"].as_str().unwrap().to_owned()
    };
    notes.map(variable).collect()
}

/// No statement of a command that is gone is under way any more.
fn wait_until_idle(users: &Users) {
    wait_until("its connections are gone", || {
        let mut session = users.server().session().unwrap();
        let count: Option<u64> = session
            .value(
                "count connections",
                "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'app'",
            )
            .unwrap();
        count == Some(0)
    });
}

/// The study that changes a setting, killed when it has: this kill leaves one changed.
fn killed_while_changed(users: &Users) -> Command {
    let command = find_command("run changing");
    let before = users.value(CAPACITY);
    let mut child = command.on(users, "app.cnf").spawn();
    wait_until("the setting is changed", || users.value(CAPACITY) != before);
    child.kill().unwrap();
    child.wait().unwrap();
    command
}

/// A command of `commands`, killed at some moment; none if it had ended before.
fn killed_at_random(users: &Users, commands: &[Command], random: &mut Random) -> Option<Command> {
    let index = (random.next() * commands.len() as f64) as usize;
    let command = commands[index.min(commands.len() - 1)];
    let mut child = command.on(users, "app.cnf").spawn();
    thread::sleep(KILL_AFTER_MAX.mul_f64(random.next()));
    if child.try_wait().unwrap().is_some() {
        return None;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    Some(command)
}

/// Settings that a kill left changed are noted, and `weir clean` puts them back; how many there were.
fn left_is_noted_and_put_back(users: &Users, command: Command, before: &State) -> usize {
    wait_until_idle(users);
    // Tables may have been dropped by a command before, so that any other makes them.
    let changed = before.changes(&State::observe(users), is_of_schema);
    let notes = left(users);
    for change in &changed {
        let is_noted = |name: &String| change.starts_with(&format!("variable {name}:"));
        assert!(
            notes.iter().any(is_noted),
            "{}: {changed:#?} {notes:#?}",
            command.name
        );
    }
    if !notes.is_empty() {
        users.weir(&["clean", "--put-back"]).succeeds();
        let still = before.changes(&State::observe(users), is_of_schema);
        assert!(still.is_empty(), "{}: {still:#?}", command.name);
        assert!(left(users).is_empty());
    }
    changed.len()
}

fn what_a_kill_leaves_changed_is_noted(flavor: Flavor) {
    let mut random = Random::seeded();
    let users = start(flavor);
    // Those that change settings more often: there is more to be left.
    let settings = CHANGING
        .into_iter()
        .filter(|command| command.reach == Reach::Settings);
    let commands: Vec<_> = CHANGING.into_iter().chain(settings).collect();
    let before = State::observe(&users);
    let command = killed_while_changed(&users);
    let mut changed = left_is_noted_and_put_back(&users, command, &before);
    assert!(changed > 0, "a killed study left no setting changed");
    let mut killed = 1;
    while killed < kills() {
        let Some(command) = killed_at_random(&users, &commands, &mut random) else {
            continue;
        };
        killed += 1;
        changed += left_is_noted_and_put_back(&users, command, &before);
    }
    eprintln!("{flavor}: {changed} settings were left changed by {killed} kills");
    find_command("load prepare more")
        .on(&users, "app.cnf")
        .succeeds();
}

/// A small file system for Weir's own state, taken away at the end.
struct SmallDisk<'a>(&'a Users);

impl<'a> SmallDisk<'a> {
    fn mount(users: &'a Users) -> Self {
        let at = users.world.path("state");
        fs::create_dir_all(&at).unwrap();
        let mounted = Program::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "weir-test"])
            .arg(&at)
            .status();
        assert!(mounted.unwrap().success(), "mounting needs root");
        Self(users)
    }

    /// Leaves no room.
    fn fill(&self) {
        let ballast = self.0.world.path("state/ballast");
        assert!(fs::write(ballast, vec![0_u8; 1 << 20]).is_err());
    }

    fn empty(&self) {
        fs::remove_file(self.0.world.path("state/ballast")).unwrap();
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let at = self.0.world.path("state");
        let _ = Program::new("umount").arg(at).status();
    }
}

fn a_full_disk_of_weirs_own_changes_nothing(flavor: Flavor) {
    let users = start(flavor);
    let disk = SmallDisk::mount(&users);
    disk.fill();
    let before = State::observe(&users);
    for command in commands::all() {
        let output = command.on(&users, "app.cnf").output();
        let changed = before.changes(&State::observe(&users), |_| false);
        assert!(changed.is_empty(), "{}: {changed:#?}", command.name);
        if command.reach != Reach::Nothing {
            let is_told = output.stderr.to_lowercase().contains("no space left");
            let is_one = output.code == Some(1) && is_told;
            assert!(is_one, "{}: {}", command.name, output.stderr);
        }
    }
    // It is full only when the setting is to be put back.
    disk.empty();
    let child = find_command("run changing").on(&users, "app.cnf").spawn();
    wait_until("the setting is changed", || users.value(CAPACITY) == "777");
    disk.fill();
    let output = Output::from(child.wait_with_output().unwrap());
    assert!(matches!(output.code, Some(0 | 3)), "{}", output.stderr);
    let changed = before.changes(&State::observe(&users), |_| false);
    assert!(changed.is_empty(), "{changed:#?}");
    assert!(left(&users).is_empty());
}

fn a_restart_in_the_middle_changes_nothing(flavor: Flavor) {
    let mut users = start(flavor);
    let before = State::observe(&users);
    // A restart begins another binary log.
    let is_of_a_restart =
        |name: &str| name == "replication binary log" || name.contains("server_start");
    for name in ["run changing", "observe"] {
        let child = find_command(name).on(&users, "app.cnf").spawn();
        let variable = match name {
            "observe" => "innodb_buffer_pool_dump_pct",
            _ => CAPACITY,
        };
        let value = before.variable(variable);
        wait_until("the setting is changed", || users.value(variable) != value);
        users.restart();
        let output = Output::from(child.wait_with_output().unwrap());
        let ended = output.code.is_some() && !output.stderr.contains("do it by hand");
        assert!(ended, "{name}: {}{}", output.stdout, output.stderr);
        let changed = before.changes(&State::observe(&users), is_of_a_restart);
        assert!(changed.is_empty(), "{name}: {changed:#?}");
        assert!(left(&users).is_empty(), "{name}");
    }
    // Tables that were half made are gone on with.
    let child = find_command("load prepare more")
        .on(&users, "app.cnf")
        .spawn();
    wait_until("a table is being made", || {
        let mut session = users.server().session().unwrap();
        let count: Option<u64> = session
            .value(
                "count tables",
                "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'sbtest3'",
            )
            .unwrap();
        count == Some(1)
    });
    users.restart();
    let output = Output::from(child.wait_with_output().unwrap());
    assert!(matches!(output.code, Some(0 | 1)), "{}", output.stderr);
    find_command("load prepare more")
        .on(&users, "app.cnf")
        .succeeds();
    let is_expected = |name: &str| is_of_a_restart(name) || is_of_schema(name);
    let changed = before.changes(&State::observe(&users), is_expected);
    assert!(changed.is_empty(), "{changed:#?}");
}

on_both_flavors!(
    each_command_sends_and_changes_only_what_it_may
    an_account_without_privileges_changes_nothing
    what_a_kill_leaves_changed_is_noted
    a_full_disk_of_weirs_own_changes_nothing
    a_restart_in_the_middle_changes_nothing
);
