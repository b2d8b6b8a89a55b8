//! What `kill -9` left changed on a server of the user's is told by the next command, and put back.

use std::fs;
use std::path::PathBuf;

use weir_model::Flavor;
use weir_testing::on_both_flavors;

use crate::harness::{signal, wait_until};
use crate::users::Users;

const VARIABLE: &str = "innodb_io_capacity";

/// The file of the user's that gets the way back, too.
fn note_file(users: &Users) -> PathBuf {
    users.world.path("notes.sql")
}

/// Changes the variable to `value` by a study that is killed in the middle of its run.
fn kill_while_changed(users: &Users, value: &str) {
    let factor = format!("{VARIABLE} = [{value}]");
    let url = users.url("app.cnf");
    let mut child = users
        .run(
            &url,
            &factor,
            &format!("killed-{value}"),
            &[
                "--allow-config",
                "--note-to",
                note_file(users).to_str().unwrap(),
            ],
        )
        .spawn();
    wait_until("the setting is changed", || users.value(VARIABLE) == value);
    // While it lives, nothing is left.
    assert_eq!(warnings(users), [""; 0]);
    signal(child.id(), "KILL");
    child.wait().unwrap();
    assert_eq!(users.value(VARIABLE), value);
}

/// What any command says of settings that were left changed.
fn warnings(users: &Users) -> Vec<String> {
    let output = users.weir(&["explain", "R1"]).succeeds();
    let lines = output.stderr.lines();
    lines
        .filter(|line| line.starts_with("warning: "))
        .map(str::to_owned)
        .collect()
}

fn a_killed_study_leaves_the_way_back(flavor: Flavor) {
    let users = Users::new(flavor);
    let before = users.value(VARIABLE);
    let way_back = format!("SET GLOBAL {VARIABLE} = {before}");

    // By hand: the statement that is told is the one that does it.
    kill_while_changed(&users, "777");
    let told = warnings(&users);
    assert_eq!(told.len(), 1, "{told:?}");
    let url = users.url("app.cnf");
    for part in [&*url, VARIABLE, &*way_back, "weir clean --forget-settings"] {
        assert!(told[0].contains(part), "{part}: {}", told[0]);
    }
    let (_, rest) = told[0].split_once("send `").unwrap();
    let (statement, _) = rest.split_once('`').unwrap();
    let mut session = users.server().session().unwrap();
    session.run("put it back by hand", statement).unwrap();
    assert_eq!(users.value(VARIABLE), before);
    // Without this host's notes, the file of the user's has the same statement.
    let notes = fs::read_to_string(note_file(&users)).unwrap();
    assert!(notes.ends_with(&format!("{way_back};\n")), "{notes}");
    let listed = users.weir(&["clean"]).succeeds().stdout;
    assert!(listed.contains(statement), "{listed}");
    users.weir(&["clean", "--forget-settings"]).succeeds();
    assert_eq!(warnings(&users), [""; 0]);

    // By Weir, also when it was killed twice: the first value is the one that counts.
    kill_while_changed(&users, "555");
    let factor = format!("{VARIABLE} = [666]");
    let mut again = users
        .run(&url, &factor, "again", &["--allow-config"])
        .spawn();
    wait_until("it is changed again", || users.value(VARIABLE) == "666");
    signal(again.id(), "KILL");
    again.wait().unwrap();
    assert_eq!(warnings(&users).len(), 1);
    let done = users.weir(&["clean", "--put-back"]).succeeds().stdout;
    assert!(done.contains(&way_back), "{done}");
    assert_eq!(users.value(VARIABLE), before);
    assert_eq!(warnings(&users), [""; 0]);
    assert_eq!(
        users.weir(&["clean"]).succeeds().stdout,
        "nothing was left behind\n"
    );
}

fn what_cannot_be_put_back_stays_told(flavor: Flavor) {
    let users = Users::new(flavor);
    kill_while_changed(&users, "777");
    let account = "ALTER USER app@localhost ACCOUNT LOCK";
    let mut session = users.server().session().unwrap();
    session.run("lock the account out", account).unwrap();
    let output = users.weir(&["clean", "--put-back"]).output();
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stdout.contains("cannot log in"), "{}", output.stdout);
    assert_eq!(warnings(&users).len(), 1);
}

on_both_flavors!(
    a_killed_study_leaves_the_way_back
    what_cannot_be_put_back_stays_told
);
