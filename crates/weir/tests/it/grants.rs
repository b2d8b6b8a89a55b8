//! The privileges that each command needs on a server of the user's, as docs/your-server.md lists them: it
//! works with exactly these, and without one of them it fails or says what it leaves out.

use weir_model::Flavor;
use weir_server::on_both_flavors;

use crate::before_after::{is_done, of, start};
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
        "observe" => vec![settings],
        "doublewrite status" | "doublewrite on" => vec![],
        other => panic!("{other}"),
    }
}

const COMMANDS: [&str; 11] = [
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
    of(command).on(users, "granted.cnf").output()
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

on_both_flavors!(each_command_needs_what_is_listed);
