//! The night when somebody ran UPDATE without WHERE.

use std::fs;
use std::time::Duration;

use weir_model::Flavor;
use weir_mysql::Connection;

use super::{Load, connection, now, one, refused, run_script, shop, succeeds, users, weir};
use crate::harness::Output;
use crate::users::Users;

const TABLES: [&str; 2] = ["--tables", "shop.orders"];
const PAGE: &str = include_str!("../../../../../docs/flashback.md");

/// A command of the page's story, as a shell would run it on this server and with this transaction.
fn command_of_the_page(number: usize, users: &Users, gtid: &str) -> Vec<String> {
    let block = PAGE
        .split("```sh")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let commands: Vec<_> = block
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("weir flashback "))
        .collect();
    assert_eq!(commands.len(), 5);
    let undo = users.world.path("undo.sql").display().to_string();
    let command = commands[number - 1]
        .replace("$URL", &users.url("app.cnf"))
        .replace("undo.sql", &undo)
        .replace(" GTID", &format!(" {gtid}"));
    shlex::split(&command).unwrap()
}

/// Runs it to success.
fn run_of_the_page(number: usize, users: &Users, gtid: &str) -> Output {
    let command = command_of_the_page(number, users, gtid);
    let words: Vec<_> = command.iter().map(String::as_str).collect();
    weir(users, &words).succeeds()
}

/// 14:02: somebody ran UPDATE without WHERE while the shop was open. The five commands of `docs/flashback.md`.
pub(super) fn somebody_ran_update_without_where(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 50);
    let load = Load::start(&users);
    load.wait_for(20);
    let before = now(&mut control);
    control
        .run("SET GLOBAL log_output = 'TABLE', GLOBAL general_log = ON")
        .unwrap();
    let mut somebody = connection(&users);
    let broken = somebody
        .run("UPDATE shop.orders SET status = 'void' WHERE id < 10000")
        .unwrap();
    assert_eq!(broken.affected_rows, 50);
    load.wait_for(20);

    let gtid = the_transaction_is_found(&users);
    the_orders_are_as_they_were(&users, &before, &gtid);
    what_changed_is_shown(&users, &gtid);
    the_way_back_leaves_what_was_repaired(&users, &mut control, &mut somebody, &gtid);
    a_side_table_needs_leave(&users, &mut control, &gtid);

    nothing_locked(&mut control);
    let longest = load.stop();
    assert!(longest < Duration::from_secs(5), "{longest:?}");
    users.world.assert_nothing_left();
}

/// What happened to an order that one knows of.
fn the_transaction_is_found(users: &Users) -> String {
    let told = run_of_the_page(1, users, "");
    let line = told
        .stdout
        .lines()
        .find(|line| line.contains("update"))
        .unwrap_or_else(|| panic!("{}", told.stdout));
    assert!(
        told.stdout.contains("status: 'new' -> 'void'"),
        "{}",
        told.stdout
    );
    assert!(
        told.stdout
            .contains("UPDATE shop.orders SET status = 'void'"),
        "{}",
        told.stdout
    );
    line.split_whitespace().nth(1).unwrap().to_owned()
}

/// Joined with what was in them.
fn the_orders_are_as_they_were(users: &Users, before: &str, gtid: &str) {
    let answer = run_of_the_page(2, users, gtid);
    assert!(answer.stdout.starts_with("status\tCOUNT(*)\n"));
    assert!(answer.stdout.contains("new\t50\n"), "{}", answer.stdout);
    assert!(!answer.stdout.contains("void"), "{}", answer.stdout);
    let query = format!(
        "SELECT o.status, COUNT(*), SUM(o.total) FROM shop.orders AS OF TIMESTAMP '{before}' o \
         JOIN shop.items AS OF TIMESTAMP '{before}' i ON i.order_id = o.id WHERE o.id < 10000 GROUP BY o.status"
    );
    let answer = succeeds(users, &[&query]);
    assert_eq!(
        answer.stdout, "status\tCOUNT(*)\tSUM(o.total)\nnew\t50\t1300.00\n",
        "{}",
        answer.stderr
    );
    assert!(
        answer.stderr.contains("the first one after it is")
            && answer.stderr.contains("within the second of that time"),
        "{}",
        answer.stderr
    );
    let narrow = format!(
        "SELECT id, status, note FROM shop.orders AS OF TIMESTAMP '{before}' WHERE id BETWEEN 7 AND 8"
    );
    let answer = succeeds(users, &[&narrow]);
    assert_eq!(
        answer.stdout,
        "id\tstatus\tnote\n7\tnew\tit's order 7\n8\tnew\tit's order 8\n"
    );
    assert!(
        answer.stderr.contains("shop.orders: 2 rows read"),
        "{}",
        answer.stderr
    );
}

/// By that transaction and since.
fn what_changed_is_shown(users: &Users, gtid: &str) {
    let diff = run_of_the_page(3, users, gtid);
    assert!(
        diff.stdout
            .contains("shop.orders id=42: changed: status: 'new' -> 'void'"),
        "{}",
        diff.stdout
    );
    assert!(
        diff.stdout.contains("inserted since: id: "),
        "{}",
        diff.stdout
    );
}

fn a_side_table_needs_leave(users: &Users, control: &mut Connection, gtid: &str) {
    let without_leave = ["--before-gtid", gtid, "--into", "rescue.orders_1402"];
    let error = refused(users, &[&TABLES[..], &without_leave].concat());
    assert!(error.contains("--allow-write"), "{error}");
    let made = run_of_the_page(5, users, gtid);
    assert!(
        made.stdout.contains("rescue.orders_1402: "),
        "{}",
        made.stdout
    );
    let same = "SELECT CAST(COUNT(*) AS CHAR) FROM rescue.orders_1402 r JOIN shop.orders o USING (id) \
                WHERE r.status = 'new' AND r.note = o.note AND id < 10000";
    assert_eq!(one(control, same), "50");
    assert!(users.changes_with("rescue") >= 2);
}

/// A row that somebody repaired by hand is a conflict.
fn the_way_back_leaves_what_was_repaired(
    users: &Users,
    control: &mut Connection,
    somebody: &mut Connection,
    gtid: &str,
) {
    control
        .run("UPDATE shop.orders SET status = 'by hand' WHERE id = 7")
        .unwrap();
    let file = users.world.path("undo.sql");
    let told = run_of_the_page(4, users, gtid);
    assert!(
        told.stdout.contains("takes back 49 rows of 1 transactions; 1 conflicts are left alone; tried on a copy: 49 of 49"),
        "{}{}",
        told.stdout,
        told.stderr
    );
    assert!(
        told.stderr.contains("conflict: shop.orders id=7"),
        "{}",
        told.stderr
    );
    assert_eq!(
        one(control, "SELECT status FROM shop.orders WHERE id = 42"),
        "void"
    );
    run_script(somebody, &fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        one(
            control,
            "SELECT CAST(COUNT(*) AS CHAR) FROM shop.orders WHERE id < 10000 AND status = 'new'"
        ),
        "49"
    );
    assert_eq!(
        one(control, "SELECT status FROM shop.orders WHERE id = 7"),
        "by hand"
    );
}

/// Of all that the account sent in that time.
fn nothing_locked(control: &mut Connection) {
    control.run("SET GLOBAL general_log = OFF").unwrap();
    let sent: Vec<String> = control
        .rows(
            "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE user_host LIKE 'app[%' \
             AND command_type IN ('Query', 'Execute', 'Prepare')",
        )
        .unwrap();
    assert!(
        sent.iter().any(|one| one.contains("CONSISTENT SNAPSHOT")),
        "{sent:?}"
    );
    let locks = sent.iter().find(|one| {
        let upper = one.to_uppercase();
        upper.contains("LOCK") || upper.contains("FLUSH") || upper.contains("FOR UPDATE")
    });
    assert_eq!(locks, None);
}
