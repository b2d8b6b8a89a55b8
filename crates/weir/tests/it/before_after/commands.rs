//! Every command that can be given a server of the user's, and the statements that it may send.

use crate::harness::Weir;
use crate::users::Users;

/// Statements that only read, by how they begin.
const READING: [&str; 2] = ["SELECT ", "SHOW "];
/// Of preparing tables.
const PREPARING: [&str; 10] = [
    "CREATE DATABASE IF NOT EXISTS `sbtest`",
    "CREATE TABLE sbtest",
    "ALTER TABLE `sbtest",
    "INSERT INTO `sbtest",
    "LOAD DATA LOCAL INFILE 'rows' INTO TABLE `sbtest",
    "SET SESSION autocommit = 1, unique_checks = 0, foreign_key_checks = 0",
    "SET SESSION lock_wait_timeout = ",
    "SET SESSION innodb_ddl_buffer_size = ",
    "START TRANSACTION",
    "COMMIT",
];
/// Of a load that writes.
const WRITING: [&str; 6] = [
    "BEGIN",
    "COMMIT",
    "UPDATE sbtest",
    "DELETE FROM sbtest",
    "INSERT INTO sbtest",
    // Of the connections that would make missing tables.
    "SET SESSION",
];

/// Of reading tables and binary log as they were.
const LOOKING_BACK: [&str; 3] = [
    "SET SESSION ",
    "SET @",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
];
/// Of a table beside the others with what was.
const LAYING_ASIDE: [&str; 9] = [
    "SET SESSION ",
    "SET @",
    "SET NAMES",
    "START TRANSACTION",
    "COMMIT",
    "CREATE DATABASE IF NOT EXISTS `sbtest`",
    "CREATE TABLE `sbtest`.`then_1`",
    "INSERT INTO `sbtest`.`then_1`",
    "LOAD DATA LOCAL INFILE",
];

/// Reach of a command on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing.
    Nothing,
    /// Settings, until it ends.
    Settings,
    /// Tables of the schema that it is given.
    Schema,
}

/// A command as a user types it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    pub(super) name: &'static str,
    pub(super) reach: Reach,
    /// How other statements than reading ones begin.
    pub(super) sends: &'static [&'static str],
}

const fn command(name: &'static str, reach: Reach, sends: &'static [&'static str]) -> Command {
    Command { name, reach, sends }
}

/// Commands that change nothing that is there, on tables 1 and 2.
const ONLY_READ: [Command; 25] = [
    command("look", Reach::Nothing, &[]),
    command("advise", Reach::Nothing, &[]),
    command("plan", Reach::Nothing, &[]),
    command(
        "run reading",
        Reach::Nothing,
        &["SET SESSION", "BEGIN", "COMMIT"],
    ),
    command("run --dry-run", Reach::Nothing, &[]),
    command("load help", Reach::Nothing, &[]),
    command("load prepare --dry-run", Reach::Nothing, &[]),
    command("load run --dry-run", Reach::Nothing, &WRITING),
    command("load cleanup --dry-run", Reach::Nothing, &[]),
    command("load prewarm", Reach::Nothing, &[]),
    command("load run reading", Reach::Nothing, &["BEGIN", "COMMIT"]),
    command("load run script", Reach::Nothing, &[]),
    command("flashback query", Reach::Nothing, &LOOKING_BACK),
    command("flashback log", Reach::Nothing, &LOOKING_BACK),
    command("flashback --diff", Reach::Nothing, &LOOKING_BACK),
    command("flashback --undo", Reach::Nothing, &LOOKING_BACK),
    command("flashback --into refused", Reach::Nothing, &LOOKING_BACK),
    command("load prepare again", Reach::Nothing, &["SET SESSION"]),
    command("load cleanup of nothing", Reach::Nothing, &[]),
    command("doublewrite status", Reach::Nothing, &[]),
    command("doublewrite on", Reach::Nothing, &[]),
    command("doublewrite off", Reach::Nothing, &[]),
    command("observe --dry-run", Reach::Nothing, &[]),
    command("observe refused", Reach::Nothing, &[]),
    command("clean --put-back", Reach::Nothing, &[]),
];

/// Commands that change something.
pub(super) const CHANGING: [Command; 7] = [
    command("load prepare more", Reach::Schema, &PREPARING),
    command("load run writing", Reach::Schema, &WRITING),
    command(
        "observe",
        Reach::Settings,
        &[
            "SET GLOBAL innodb_buffer_pool_dump_pct = ",
            "SET GLOBAL innodb_buffer_pool_dump_now = ",
        ],
    ),
    command(
        "run changing",
        Reach::Settings,
        &[
            "SET GLOBAL innodb_io_capacity = ",
            "SET SESSION",
            "BEGIN",
            "COMMIT",
        ],
    ),
    command("run writing", Reach::Schema, &WRITING),
    command("flashback --into", Reach::Schema, &LAYING_ASIDE),
    command(
        "load cleanup",
        Reach::Schema,
        &["DROP TABLE IF EXISTS `sbtest"],
    ),
];

/// All commands that this program was built with.
pub(super) fn all() -> impl Iterator<Item = Command> {
    ONLY_READ
        .into_iter()
        .chain(CHANGING)
        .filter(Command::is_built)
}

impl Command {
    /// Returns true if the program under test has it.
    fn is_built(&self) -> bool {
        let is_of = |what| self.name.starts_with(what);
        (cfg!(feature = "flashback") || !is_of("flashback"))
            && (cfg!(feature = "lua") || !is_of("load run script"))
    }

    /// Whether it may send a statement; a rehearsal has the server check those of a load, without executing
    /// them.
    pub(super) fn may_send(&self, kind: &str, statement: &str) -> bool {
        let begins = |begin: &&str| statement.starts_with(*begin);
        let is_executed = kind != "Prepare";
        let is_rehearsal = self.name.ends_with("--dry-run");
        READING.iter().any(begins)
            || self.sends.iter().any(begins) && !(is_rehearsal && is_executed)
    }

    /// The command, with the account of an option file.
    pub(crate) fn on(&self, users: &Users, account: &str) -> Weir {
        let url = users.url(account);
        if let Some(rest) = self.name.strip_prefix("load ") {
            return load(users, account, rest);
        }
        #[cfg(feature = "flashback")]
        if let Some(rest) = self.name.strip_prefix("flashback ") {
            return flashback(users, &url, rest);
        }
        if let Some(rest) = self.name.strip_prefix("doublewrite ") {
            return users.weir(&["server", "doublewrite", rest, &url]);
        }
        if let Some(rest) = self.name.strip_prefix("observe") {
            let more = match rest {
                " --dry-run" => &["--dry-run"][..],
                " refused" => &[],
                _ => &["--allow-config"],
            };
            let looks = ["predict", "observe", &url, "--looks=4", "--interval=150ms"];
            return users.weir(&[&looks[..], more].concat());
        }
        if ["look", "advise"].contains(&self.name) {
            return users.weir(&[self.name, &url, "--seconds", "2"]);
        }
        if self.name == "clean --put-back" {
            return users.weir(&["clean", "--put-back"]);
        }
        study(users, &url, self.name)
    }
}

fn load(users: &Users, account: &str, rest: &str) -> Weir {
    let file = format!("--defaults-file={}", users.world.path(account).display());
    let socket = format!("--mysql-socket={}", users.socket().display());
    let script = users.world.write("read.lua", SCRIPT);
    let script = script.to_str().unwrap();
    let (workload, tables, words) = match rest {
        "help" => (READ_WRITE, 2, "help"),
        "prepare --dry-run" => (READ_WRITE, 4, "prepare --dry-run"),
        "run --dry-run" => (READ_WRITE, 2, "run --dry-run"),
        "cleanup --dry-run" => (READ_WRITE, 2, "cleanup --dry-run"),
        "prewarm" => (READ_WRITE, 2, "prewarm"),
        "run script" => (script, 2, "run --time=1"),
        "run reading" => ("oltp_read_only", 2, "run --time=1"),
        "prepare again" => (READ_WRITE, 2, "prepare"),
        "cleanup of nothing" => (SHOP, 2, "cleanup"),
        "prepare more" => (READ_WRITE, 4, "prepare"),
        "run writing" => (READ_WRITE, 2, "run --time=1"),
        "cleanup" => (READ_WRITE, 4, "cleanup"),
        other => panic!("{other}"),
    };
    let (tables, threads) = (format!("--tables={tables}"), "--threads=2");
    let size = format!("--table-size={ROWS}");
    let own = ["load", workload, &file, &socket, &tables, &size, threads];
    users.weir(&own).args(words.split(' '))
}

/// A script that only reads.
const SCRIPT: &str = r#"
function thread_init()
  con = sysbench.sql.driver():connect()
end
function event()
  con:query("SELECT c FROM sbtest1 WHERE id = 1")
end
"#;
const READ_WRITE: &str = "oltp_read_write";
const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/shop.toml");
/// Rows of each table.
pub(super) const ROWS: u32 = 40_000;

#[cfg(feature = "flashback")]
/// `weir flashback` of a table as it is now: that its answers are right is asked elsewhere.
fn flashback(users: &Users, url: &str, rest: &str) -> Weir {
    let mut session = users.server().session().unwrap();
    let now: Option<String> = session.value("ask for the time", "SELECT NOW(6)").unwrap();
    let now = now.unwrap();
    let query = format!("SELECT COUNT(*) FROM sbtest.sbtest1 AS OF TIMESTAMP '{now}'");
    let undo = users.world.path(&format!("undo-{}.sql", next_number()));
    let undo = undo.to_str().unwrap();
    let as_of = [url, "--tables", "sbtest.sbtest1", "--as-of", &now];
    let into = ["--into", "sbtest.then_1"];
    let words = match rest {
        "query" => vec![url, &query],
        "log" => vec!["log", url, "sbtest.sbtest1", "--key", "1"],
        "--diff" => [&as_of[..], &["--diff"]].concat(),
        "--undo" => [&as_of[..], &["--undo", undo]].concat(),
        "--into refused" => [&as_of[..], &into].concat(),
        "--into" => [&as_of[..], &into, &["--allow-write"]].concat(),
        other => panic!("{other}"),
    };
    users.flashback(&words)
}

fn study(users: &Users, url: &str, name: &str) -> Weir {
    let data = format!("tables = 2\nrows = {ROWS}");
    let (factor, workload, more) = match name {
        "run changing" => (
            "innodb_io_capacity = [777]",
            "oltp_read_only",
            "--allow-config",
        ),
        "run --dry-run" => (
            "innodb_io_capacity = [777]",
            "oltp_write_only",
            "--allow-config --dry-run",
        ),
        "run writing" => ("rate = [50]", "oltp_write_only", ""),
        _ => ("rate = [50]", "oltp_read_only", ""),
    };
    let study = users.study(url, factor, workload, &data, "1s");
    let study = study.to_str().unwrap();
    if name == "plan" {
        return users.weir(&["plan", study, "--server", url]);
    }
    let out = users.world.path(&format!("out-{}", next_number()));
    let out = out.to_str().unwrap().to_owned();
    let more = more.split_ascii_whitespace();
    users.weir(&["run", study, "--out", &out]).args(more)
}

/// A number that no other folder of results has.
fn next_number() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
