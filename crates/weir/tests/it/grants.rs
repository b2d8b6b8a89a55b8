//! The privileges that each command needs on a server of the user's, as docs/your-server.md lists them: it
//! works with exactly these, and without one of them it fails or says what it leaves out.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_model::Flavor;
use weir_testing::on_both_flavors;

use crate::before_after::{find_command, is_done, start};
use crate::harness::Output;
use crate::users::Users;

/// A privilege, and what is said where it is missing.
#[derive(Clone, Copy)]
struct Privilege {
    name: &'static str,
    on: &'static str,
}

const fn on_schema(name: &'static str) -> Privilege {
    Privilege {
        name,
        on: "sbtest.*",
    }
}

const fn on_all(name: &'static str) -> Privilege {
    Privilege { name, on: "*.*" }
}

const SELECT: Privilege = on_schema("SELECT");
const INSERT: Privilege = on_schema("INSERT");
const UPDATE: Privilege = on_schema("UPDATE");
const DELETE: Privilege = on_schema("DELETE");
const CREATE: Privilege = on_schema("CREATE");
const ALTER: Privilege = on_schema("ALTER");
const DROP: Privilege = on_schema("DROP");
const PROCESS: Privilege = on_all("PROCESS");
const PERFORMANCE: Privilege = Privilege {
    name: "SELECT",
    on: "performance_schema.*",
};

/// To set global variables.
const fn settings(flavor: Flavor) -> Privilege {
    match flavor {
        Flavor::Mysql => on_all("SYSTEM_VARIABLES_ADMIN"),
        Flavor::Mariadb => on_all("SUPER"),
    }
}

/// To see whether the server is a replica.
const fn replication(flavor: Flavor) -> Privilege {
    match flavor {
        Flavor::Mysql => on_all("REPLICATION CLIENT"),
        Flavor::Mariadb => on_all("SLAVE MONITOR"),
    }
}

fn needed(command: &str, flavor: Flavor) -> Vec<Privilege> {
    let (settings, replication) = (settings(flavor), replication(flavor));
    match command {
        "load prepare more" => vec![replication, CREATE, SELECT, INSERT, ALTER],
        "load prewarm" | "load run reading" => vec![SELECT],
        "load run writing" => vec![replication, SELECT, INSERT, UPDATE, DELETE],
        "load cleanup" => vec![replication, DROP],
        "run reading" => vec![SELECT, PROCESS, PERFORMANCE, replication],
        "run writing" => vec![
            SELECT,
            INSERT,
            UPDATE,
            DELETE,
            PROCESS,
            PERFORMANCE,
            replication,
        ],
        // SUPER includes SLAVE MONITOR.
        "run changing" if flavor == Flavor::Mariadb => {
            vec![SELECT, PROCESS, PERFORMANCE, settings]
        }
        "run changing" => vec![SELECT, PROCESS, PERFORMANCE, replication, settings],
        "look" if flavor == Flavor::Mysql => vec![SELECT, PROCESS, PERFORMANCE, replication],
        "look" => vec![SELECT, PROCESS, replication],
        "observe" => vec![settings],
        "doublewrite status" | "doublewrite on" => vec![],
        "doublewrite switched on" => vec![replication],
        other => panic!("{other}"),
    }
}

const COMMANDS: [&str; 12] = [
    "look",
    "observe",
    "doublewrite status",
    "doublewrite on",
    "load prewarm",
    "load run reading",
    "load run writing",
    "run reading",
    "run changing",
    "run writing",
    "load prepare more",
    "load cleanup",
];

/// The beginning of a command's row in the documented table.
fn row(command: &str) -> &'static str {
    match command {
        "load prepare more" => "`load prepare`",
        "load prewarm" => "`load prewarm`",
        "load run reading" => "`load run`, reading",
        "load run writing" => "`load run`, writing",
        "load cleanup" => "`load cleanup`",
        "run reading" => "`run`, reading",
        "run writing" => "`run`, writing",
        "run changing" => "`run --allow-config`",
        "look" => "`look`, `advise`",
        "observe" => "`predict observe`",
        "doublewrite status" => "`server doublewrite status`",
        "doublewrite switched on" => "`server doublewrite on\\|off`",
        other => panic!("{other}"),
    }
}

/// The privileges in a cell: what stands in backquotes.
fn in_cell(cell: &str) -> BTreeSet<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_documented_privileges_are_these() {
    let text = include_str!("../../../../docs/your-server.md");
    for (command, flavor) in COMMANDS
        .iter()
        .chain(&["doublewrite switched on"])
        .flat_map(|command| [Flavor::Mysql, Flavor::Mariadb].map(|flavor| (*command, flavor)))
    {
        if command == "doublewrite on" {
            continue;
        }
        let begin = format!("| {} |", row(command));
        let line = text.lines().find(|line| line.starts_with(&begin));
        let cells: Vec<_> = line.unwrap_or_else(|| panic!("{begin}"))[begin.len()..]
            .split('|')
            .collect();
        let on_all = if flavor == Flavor::Mysql { 1 } else { 2 };
        let of = |on: &str| -> BTreeSet<&str> {
            let needed = needed(command, flavor).into_iter();
            needed.filter(|p| p.on == on).map(|p| p.name).collect()
        };
        assert_eq!(in_cell(cells[0]), of("sbtest.*"), "{command}");
        assert_eq!(in_cell(cells[on_all]), of("*.*"), "{command} {flavor}");
    }
}

fn account(users: &Users, privileges: &[Privilege]) {
    let mut session = users.server().session().unwrap();
    let mut run = |statement: &str| session.run("make the account", statement).unwrap();
    run("DROP USER IF EXISTS granted@localhost");
    run("CREATE USER granted@localhost IDENTIFIED BY 'x'");
    for Privilege { name, on } in privileges {
        run(&format!("GRANT {name} ON {on} TO granted@localhost"));
    }
}

fn outcome(users: &Users, command: &str) -> Output {
    if command == "load prepare more" {
        let mut session = users.server().session().unwrap();
        let drop = "DROP TABLE IF EXISTS sbtest.sbtest3, sbtest.sbtest4";
        session.run("begin anew", drop).unwrap();
    }
    find_command(command).on(users, "granted.cnf").output()
}

fn each_command_needs_what_is_listed(flavor: Flavor) {
    let users = start(flavor);
    users.option_file("granted.cnf", "granted", "x");
    let mut wrong = Vec::new();
    for command in COMMANDS {
        let all = needed(command, flavor);
        for (index, missing) in all.iter().enumerate() {
            let mut rest = all.clone();
            rest.remove(index);
            account(&users, &rest);
            let output = outcome(&users, command);
            let text = output.stdout + &output.stderr;
            let is_refused = output.code == Some(1);
            if !is_refused && !text.contains(missing.name) {
                wrong.push(format!(
                    "{command} without {} on {}: {text}",
                    missing.name, missing.on
                ));
            }
        }
        account(&users, &all);
        let output = outcome(&users, command);
        if !is_done(&output) || output.stderr.contains("GRANT") {
            wrong.push(format!(
                "{command} with all: {}{}",
                output.stdout, output.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
}

/// The statements of the documented block for a use on a flavour, for an account of this host in the test's schema.
fn documented(name: &str, flavor: Flavor) -> Vec<String> {
    let text = include_str!("../../../../docs/your-server.md");
    let server = match flavor {
        Flavor::Mysql => "MySQL",
        Flavor::Mariadb => "MariaDB",
    };
    let (_, rest) = text.split_once(&format!("-- {name} ({server})\n")).unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let own = block
        .replace("weir@'10.0.0.%'", "granted@localhost")
        .replace("your password", "x")
        .replace("shop.*", "sbtest.*")
        .replace("bench.*", "sbtest.*");
    assert!(!own.contains('%'), "{own}");
    own.lines()
        .map(|line| line.trim_end_matches(';').to_owned())
        .collect()
}

/// Makes the account, and gives it what `name`'s block says, and nothing else.
fn account_of_block(users: &Users, name: &str) {
    let mut session = users.server().session().unwrap();
    let drop = "DROP USER IF EXISTS granted@localhost".to_owned();
    for statement in [drop].into_iter().chain(documented(name, users.flavor)) {
        session.run("make the account", &statement).unwrap();
    }
}

fn the_blocks_to_copy_are_enough_for_their_uses(flavor: Flavor) {
    let users = start(flavor);
    users.option_file("granted.cnf", "granted", "x");
    let assert_done = |command: &str, output: &Output| {
        let text = output.stdout.clone() + &output.stderr;
        // The server has a schema that is none of the account's.
        let mut missing = text.lines().filter(|line| line.contains("GRANT"));
        let is_enough = missing.all(|line| line.contains("GRANT SELECT ON the schemas"));
        assert!(is_done(output) && is_enough, "{command}: {text}");
    };
    account_of_block(&users, "look");
    assert_done("look", &outcome(&users, "look"));
    account_of_block(&users, "load");
    for command in ["load prepare more", "load run writing", "load cleanup"] {
        assert_done(command, &outcome(&users, command));
    }
    account_of_block(&users, "settings");
    let url = users.url("granted.cnf");
    let factor = "innodb_io_capacity = [300]";
    let output = users
        .run(&url, factor, "settings", &["--allow-config"])
        .output();
    assert_done("run", &output);
    account_of_block(&users, "poll");
    // Statements that end while others go on, so that each kind of poll sees some.
    let is_over = AtomicBool::new(false);
    let endpoint = users.server().endpoint();
    let file = users.world.path("poll.weircap");
    let poll = [
        "capture",
        "poll",
        &url,
        "--for",
        "2s",
        "--output",
        file.to_str().unwrap(),
    ];
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut session = weir_testing::connect(&endpoint);
            while !is_over.load(Ordering::Relaxed) {
                session.run("DO SLEEP(0.1)").unwrap();
            }
        });
        let output = users.weir(&poll).output();
        is_over.store(true, Ordering::Relaxed);
        output
    });
    assert_done("poll", &output);
}

/// A switch is refused where it is not known whether the server is a replica.
fn a_switch_needs_what_is_listed(flavor: Flavor) {
    let users = Users::with(flavor, &[("innodb_doublewrite", "OFF")]);
    users.option_file("granted.cnf", "granted", "x");
    account(&users, &[]);
    let output = outcome(&users, "doublewrite on");
    assert_eq!(output.code, Some(1), "{}", output.stdout);
    account(&users, &needed("doublewrite switched on", flavor));
    let output = outcome(&users, "doublewrite on");
    assert_eq!(output.code, Some(0), "{}", output.stderr);
}

on_both_flavors!(
    each_command_needs_what_is_listed
    a_switch_needs_what_is_listed
    the_blocks_to_copy_are_enough_for_their_uses
);
