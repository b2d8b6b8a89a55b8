//! Undo scripts: what they set, what they leave, and what is refused. The tables are those of public cases.

use std::thread;
use std::time::Duration;

use weir_flashback::{
    FlashbackError, FlashbackPlan, MomentRequest, Options, Rehearsal, RehearsalResult, Script,
    Source, State, TableName, TransactionFilter, Triggers, Undo, find_like, only_where, rehearse,
};
use weir_model::Flavor;
use weir_mysql::{Connection, Row, Value};
use weir_server::PrivateServer;

use crate::{connect, options, source, start};

/// A server with a schema, and the time after `setup`.
pub(crate) struct Shop {
    pub(crate) server: PrivateServer,
    pub(crate) control: Connection,
    pub(crate) before: String,
    _directory: tempfile::TempDir,
}

impl Shop {
    pub(crate) fn new(flavor: Flavor, setup: &[&str]) -> Self {
        let (server, directory) = start(flavor, &[]);
        let mut control = connect(&server);
        control.run("CREATE DATABASE shop").unwrap();
        control.run("USE shop").unwrap();
        for statement in setup {
            control.run(statement).unwrap();
        }
        Self {
            before: place(&mut control, flavor),
            server,
            control,
            _directory: directory,
        }
    }

    /// Runs statements after the time.
    pub(crate) fn then(&mut self, statements: &[&str]) {
        for statement in statements {
            self.control.run(statement).unwrap();
        }
    }

    fn prepared(&self, tables: &[&str], options: Options) -> FlashbackPlan {
        let names: Vec<_> = tables
            .iter()
            .map(|name| TableName::read(name, "shop"))
            .collect();
        let asked = MomentRequest::read(&self.before);
        FlashbackPlan::new(&source(&self.server), &names, &asked, options).unwrap()
    }

    /// The script that takes everything back, and what it did on a copy.
    pub(crate) fn undo(
        &self,
        tables: &[&str],
    ) -> Result<(Script, RehearsalResult), FlashbackError> {
        self.undo_where(tables, None, false)
    }

    fn undo_where(
        &self,
        tables: &[&str],
        condition: Option<&str>,
        with_triggers: bool,
    ) -> Result<(Script, RehearsalResult), FlashbackError> {
        let (options, _work) = options();
        let prepared = self.prepared(tables, options);
        let binary = find_like(prepared.source(), Some(&self.server.binary().path))?;
        let triggers = Triggers::read(&prepared, with_triggers)?;
        let (mut undo, _) = Undo::read(&prepared, TransactionFilter::default())?;
        let now = prepared.start_private(&binary)?;
        let rehearsal = Rehearsal::new(&prepared, &now, triggers)?;
        if let Some(condition) = condition {
            let then = prepared.make(&binary, State::Then, "")?;
            let states = [&then.private, &now];
            only_where(&mut undo, &prepared.tables[0], condition, states)?;
        }
        rehearsal.perform(&mut undo, "")
    }

    pub(crate) fn rows(&mut self, table: &str) -> Vec<Vec<Value>> {
        let rows: Vec<Row> = self
            .control
            .rows(format!("SELECT * FROM shop.{table} ORDER BY 1"))
            .unwrap();
        rows.into_iter().map(Row::unwrap).collect()
    }
}

/// Runs a script on the user's own server, as a client does that goes on after errors; the rows that it shows.
pub(crate) fn run_forced(control: &mut Connection, script: &Script) -> Vec<Row> {
    let mut shown = Vec::new();
    for statement in script.text.split(";\n") {
        let lines = statement.lines().filter(|line| !line.starts_with("--"));
        let statement = lines.collect::<Vec<_>>().join("\n");
        if !statement.trim().is_empty() {
            let _ = control.each(&statement, |row| shown.push(row));
        }
    }
    shown
}

/// The end of the log.
pub(crate) fn place(control: &mut Connection, flavor: Flavor) -> String {
    let status = match flavor {
        Flavor::Mysql => "SHOW BINARY LOG STATUS",
        Flavor::Mariadb => "SHOW MASTER STATUS",
    };
    let row: Row = control.first(status).unwrap().unwrap();
    let file: String = row.get(0).unwrap();
    let position: u64 = row.get(1).unwrap();
    format!("{file}:{position}")
}

/// Columns that the server sets at each change, and generated ones.
pub(crate) fn an_undo_sets_all_stored_columns(flavor: Flavor) {
    let mut shop = Shop::new(
        flavor,
        &[
            "CREATE TABLE onup (id INT PRIMARY KEY, status VARCHAR(10), changed_at TIMESTAMP(6) NOT NULL DEFAULT \
             CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), since DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE \
             CURRENT_TIMESTAMP, twice INT AS (id * 2) STORED, label VARCHAR(20) AS (CONCAT('s-', status)) VIRTUAL, \
             UNIQUE KEY (label))",
            "INSERT INTO onup (id, status, changed_at, since) VALUES (1, 'paid', '2026-01-01', NULL), \
             (2, 'open', '2026-01-02', '2026-01-03')",
        ],
    );
    let expected = shop.rows("onup");
    shop.then(&[
        "UPDATE onup SET status = CONCAT(status, '!'), changed_at = changed_at, since = since",
        "DELETE FROM onup WHERE id = 2",
    ]);
    let (script, rehearsed) = shop.undo(&["onup"]).unwrap();
    assert_eq!(rehearsed, RehearsalResult::default());
    assert_ne!(shop.rows("onup"), expected);
    run_forced(&mut shop.control, &script);
    assert_eq!(shop.rows("onup"), expected);
}

/// The script asks the server once for a row, and names the row that it misses among many.
pub(crate) fn a_script_asks_once_for_a_row(flavor: Flavor) {
    let mut shop = Shop::new(
        flavor,
        &[
            "CREATE TABLE many (id INT PRIMARY KEY, n INT)",
            "INSERT INTO many VALUES (0, 0), (1, 0), (2, 0), (3, 0)",
            "INSERT INTO many SELECT 4 + a.id + 4 * b.id + 16 * c.id + 64 * d.id, 0 FROM many a, many b, many c, many d",
        ],
    );
    let expected = shop.rows("many");
    shop.then(&["UPDATE many SET n = 1"]);
    let (script, rehearsed) = shop.undo(&["many"]).unwrap();
    assert_eq!(rehearsed, RehearsalResult::default());
    let (rows, asked) = (expected.len(), script.text.matches(";\n").count());
    assert_eq!(script.changes().len(), rows);
    assert!(asked < rows + 40, "{asked} statements, {rows} rows");
    shop.then(&["UPDATE many SET n = 7 WHERE id = 77"]);
    let now = shop.rows("many");
    let shown = run_forced(&mut shop.control, &script);
    assert_eq!(shop.rows("many"), now);
    let missed: Vec<_> = shown.into_iter().map(Row::unwrap).collect();
    let name = Value::from("shop.many id=77 is not as the change left it");
    let id = Value::from("77");
    assert_eq!(missed, [vec![name, id, Value::from("7")]]);
    shop.then(&["UPDATE many SET n = 1 WHERE id = 77"]);
    run_forced(&mut shop.control, &script);
    assert_eq!(shop.rows("many"), expected);
}

/// Changes before a column was added are taken back; the column keeps its values, and new rows get its default.
pub(crate) fn a_column_that_was_added_since_stays(flavor: Flavor) {
    let mut shop = Shop::new(
        flavor,
        &[
            "CREATE TABLE grown (id INT PRIMARY KEY, status VARCHAR(10))",
            "INSERT INTO grown VALUES (1, 'paid'), (2, 'open'), (3, 'sent')",
        ],
    );
    let expected = shop.rows("grown");
    shop.then(&[
        "UPDATE grown SET status = 'void' WHERE id < 3",
        "DELETE FROM grown WHERE id = 3",
        "INSERT INTO grown VALUES (4, 'new')",
        "ALTER TABLE grown ADD COLUMN note VARCHAR(10) NOT NULL DEFAULT 'n'",
        "UPDATE grown SET note = 'kept' WHERE id = 2",
    ]);
    let (_, rehearsed) = shop.undo(&["grown"]).unwrap();
    assert_eq!(rehearsed, RehearsalResult::default(), "all of it");
    let (script, rehearsed) = shop.undo_where(&["grown"], Some("id <> 2"), false).unwrap();
    assert_eq!(rehearsed, RehearsalResult::default());
    run_forced(&mut shop.control, &script);
    let (mut found, mut notes) = (shop.rows("grown"), Vec::new());
    for row in &mut found {
        notes.extend(row.pop());
    }
    let notes: Vec<_> = notes.into_iter().map(|note| note.as_sql(false)).collect();
    assert_eq!(notes, ["'n'", "'kept'", "'n'"]);
    assert_eq!([&found[0], &found[2]], [&expected[0], &expected[2]]);
}

/// Triggers are refused; if they are let fire, the rehearsal shows the rows that they change.
pub(crate) fn triggers_are_refused_unless_they_may_fire(flavor: Flavor) {
    let mut shop = Shop::new(
        flavor,
        &[
            "CREATE TABLE trig (id INT PRIMARY KEY, stock INT NOT NULL, version INT NOT NULL DEFAULT 0)",
            "CREATE TABLE trig_audit (n INT AUTO_INCREMENT PRIMARY KEY, id INT, was INT, is_now INT)",
            "INSERT INTO trig VALUES (1,10,0), (2,20,0)",
            "CREATE TRIGGER trig_bu BEFORE UPDATE ON trig FOR EACH ROW SET NEW.version = OLD.version + 1",
            "CREATE TRIGGER trig_au AFTER UPDATE ON trig FOR EACH ROW INSERT INTO trig_audit (id,was,is_now) \
             VALUES (OLD.id, OLD.stock, NEW.stock)",
        ],
    );
    let before = shop.rows("trig");
    shop.then(&["UPDATE trig SET stock = 0"]);
    let error = shop.undo(&["trig"]).unwrap_err().to_string();
    assert!(
        error.contains("shop.trig has triggers") && error.contains("--with-triggers"),
        "{error}"
    );
    let (script, rehearsed) = shop.undo_where(&["trig"], None, true).unwrap();
    assert_eq!(rehearsed.missed, Vec::<String>::new());
    let expected =
        ["1", "2"].map(|id| format!("shop.trig id={id}: has other values than before in version"));
    assert_eq!(rehearsed.differences, expected);
    run_forced(&mut shop.control, &script);
    let stocks = |rows: Vec<Vec<Value>>| {
        rows.into_iter()
            .map(|row| row[1].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(stocks(shop.rows("trig")), stocks(before));

    // A trigger that came after the script was written.
    shop.then(&[
        "DROP TRIGGER trig_bu",
        "DROP TRIGGER trig_au",
        "UPDATE trig SET stock = 7 WHERE id = 1",
    ]);
    shop.before = place(&mut shop.control, flavor);
    shop.then(&["UPDATE trig SET stock = 8 WHERE id = 1"]);
    let (script, rehearsed) = shop.undo(&["trig"]).unwrap();
    assert_eq!(rehearsed, RehearsalResult::default());
    shop.then(&["CREATE TRIGGER late BEFORE UPDATE ON trig FOR EACH ROW SET NEW.version = 99"]);
    let now = shop.rows("trig");
    run_forced(&mut shop.control, &script);
    assert_eq!(shop.rows("trig"), now);
    // An account that cannot see triggers does not take that for none.
    shop.then(&["DROP TRIGGER late"]);
    let [create, see, read, trigger] = grants_of_poor(flavor);
    shop.then(&[&create, &see, &read]);
    assert!(
        shop.triggers_as_poor()
            .unwrap_err()
            .to_string()
            .contains("GRANT TRIGGER")
    );
    shop.then(&[&trigger]);
    shop.triggers_as_poor().unwrap();
}

/// Statements that make an account with the privileges of the page.
pub(crate) fn grants_of_poor(flavor: Flavor) -> [String; 4] {
    let places = match flavor {
        Flavor::Mysql => "REPLICATION CLIENT",
        Flavor::Mariadb => "BINLOG MONITOR",
    };
    [
        "CREATE USER poor@localhost IDENTIFIED BY 'word'".to_owned(),
        "GRANT SELECT ON shop.* TO poor@localhost".to_owned(),
        format!("GRANT REPLICATION SLAVE, {places} ON *.* TO poor@localhost"),
        "GRANT TRIGGER ON shop.* TO poor@localhost".to_owned(),
    ]
}

impl Shop {
    /// The server, with the account of [`grants_of_poor`].
    pub(crate) fn source_of_poor(&self) -> Source {
        let mut source = source(&self.server);
        "poor".clone_into(&mut source.endpoint.user);
        source.endpoint.password = weir_model::Secret::new("word".to_owned());
        source
    }

    fn triggers_as_poor(&self) -> Result<Triggers, FlashbackError> {
        let source = self.source_of_poor();
        let (options, _work) = options();
        let names = [TableName::read("shop.trig", "")];
        let prepared =
            FlashbackPlan::new(&source, &names, &MomentRequest::read(&self.before), options)?;
        Triggers::read(&prepared, true)
    }
}

/// Rows that would refer to none are conflicts, and so are the parents that would go.
pub(crate) fn rows_are_not_left_without_a_parent(flavor: Flavor) {
    let mut shop = Shop::new(
        flavor,
        &[
            "CREATE TABLE fkp (id INT PRIMARY KEY, name VARCHAR(10))",
            "CREATE TABLE fkc (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES fkp (id))",
            "INSERT INTO fkp VALUES (1,'old'), (2,'two')",
            "INSERT INTO fkc VALUES (20, 2), (21, NULL)",
        ],
    );
    let (parents, children) = (shop.rows("fkp"), shop.rows("fkc"));
    shop.then(&[
        "INSERT INTO fkp VALUES (7, 'seven'), (8, 'eight')",
        "INSERT INTO fkc VALUES (70, 7)",
        "DELETE FROM fkc WHERE id = 20",
        "DELETE FROM fkp WHERE id = 2",
    ]);
    // The parents alone: the child of 7 stays, and with it 7.
    let (script, rehearsed) = shop.undo(&["fkp"]).unwrap();
    assert_eq!(rehearsed, RehearsalResult::default());
    assert_eq!(script.changes().len(), 2, "{}", script.text);
    assert!(
        script.conflicts[0].contains("shop.fkp id=7")
            && script.conflicts[0].contains("shop.fkc would refer to none"),
        "{:?}",
        script.conflicts
    );
    // The children alone: 20 has no parent any more.
    let (script, _) = shop.undo(&["fkc"]).unwrap();
    assert_eq!(
        (script.changes().len(), script.conflicts.len()),
        (1, 1),
        "{:?}",
        script.conflicts
    );
    assert!(
        script.conflicts[0].contains("shop.fkc id=20"),
        "{:?}",
        script.conflicts
    );
    // Both, whatever their order.
    let (script, rehearsed) = shop.undo(&["fkp", "fkc"]).unwrap();
    assert_eq!(
        (&rehearsed, script.conflicts.len()),
        (&RehearsalResult::default(), 0)
    );
    // One child more, after the script was written: nothing is kept.
    shop.then(&["INSERT INTO fkc VALUES (80, 8)"]);
    let now = (shop.rows("fkp"), shop.rows("fkc"));
    run_forced(&mut shop.control, &script);
    assert_eq!((shop.rows("fkp"), shop.rows("fkc")), now);
    shop.then(&["DELETE FROM fkc WHERE id = 80"]);
    run_forced(&mut shop.control, &script);
    assert_eq!((shop.rows("fkp"), shop.rows("fkc")), (parents, children));
    // A row that keeps its parent and gets another key.
    shop.before = place(&mut shop.control, flavor);
    shop.then(&["UPDATE fkc SET id = 25 WHERE id = 20"]);
    let (_, rehearsed) = shop.undo(&["fkc"]).unwrap();
    assert_eq!(rehearsed, RehearsalResult::default());
}

/// Changes that a key made in children come back with the parents', on a server that logs them.
#[test]
fn cascades_are_taken_back_with_their_parents() {
    let mut shop = Shop::new(
        Flavor::Mysql,
        &[
            "CREATE TABLE a (id INT PRIMARY KEY, n INT)",
            "CREATE TABLE b (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE ON UPDATE CASCADE)",
            "CREATE TABLE c (id INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES b (id) ON DELETE SET NULL ON UPDATE CASCADE)",
            "CREATE TABLE tree (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES tree (id) ON DELETE CASCADE)",
            "INSERT INTO a VALUES (1, 0), (2, 0), (3, 0)",
            "INSERT INTO b VALUES (10, 1), (11, 1), (20, 2), (30, 3)",
            "INSERT INTO c VALUES (100, 10), (110, 11), (200, 20), (300, NULL)",
            "INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2), (4, 2)",
        ],
    );
    let tables = ["a", "b", "c", "tree"];
    let expected = tables.map(|table| shop.rows(table));
    shop.then(&[
        "DELETE FROM a WHERE id = 1",
        "UPDATE a SET id = 5 WHERE id = 2",
        "UPDATE b SET id = 21 WHERE id = 20",
        "DELETE FROM tree WHERE id = 2",
        "INSERT INTO a VALUES (9, 9)",
    ]);
    let error = shop.undo(&["a"]).unwrap_err().to_string();
    assert!(
        error.contains("shop.b") && error.contains("--tables"),
        "{error}"
    );
    let (script, rehearsed) = shop.undo(&tables).unwrap();
    assert_eq!(
        (&rehearsed, &script.conflicts),
        (&RehearsalResult::default(), &Vec::new())
    );
    // A child that came later would go with its parent.
    shop.then(&["INSERT INTO b VALUES (90, 9)"]);
    let now = tables.map(|table| shop.rows(table));
    run_forced(&mut shop.control, &script);
    assert_eq!(tables.map(|table| shop.rows(table)), now);
    shop.then(&["DELETE FROM b WHERE id = 90"]);
    run_forced(&mut shop.control, &script);
    assert_eq!(tables.map(|table| shop.rows(table)), expected);
}

/// Rows are found by the values of their keys, of each type that a key may have.
pub(crate) fn a_condition_finds_rows_by_any_key(flavor: Flavor) {
    let mut kinds = vec![
        (
            "k_cp1251",
            "VARCHAR(20) CHARACTER SET cp1251",
            "_utf8mb4 X'D0BFD180D0B8D0B2D0B5D182'",
        ),
        (
            "k_gbk",
            "VARCHAR(20) CHARACTER SET gbk",
            "_utf8mb4 X'E5AD97'",
        ),
        ("k_float", "FLOAT", "0.1"),
        ("k_double", "DOUBLE", "1e-30"),
        ("k_enum", "ENUM('a','b\\\\c')", "2"),
        ("k_bit", "BIT(13)", "77"),
        ("k_time", "TIMESTAMP(3)", "'2026-02-03 04:05:06.789'"),
        ("k_binary", "BINARY(4)", "X'0100'"),
        ("k_decimal", "DECIMAL(20,7)", "-1.5"),
    ];
    if flavor == Flavor::Mariadb {
        kinds.push(("k_uuid", "UUID", "'123e4567-e89b-12d3-a456-426655440000'"));
        kinds.push(("k_inet6", "INET6", "'2001:db8::ff00:42:0'"));
        kinds.push(("k_inet4", "INET4", "'10.0.0.0'"));
    }
    // All of them are the key together: one that is not found hides the row.
    let (columns, values): (Vec<_>, Vec<_>) = kinds
        .iter()
        .map(|(name, kind, value)| ((format!("{name} {kind} NOT NULL"), *name), *value))
        .unzip();
    let (columns, names): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let create = format!(
        "CREATE TABLE t (n INT, {}, PRIMARY KEY ({}))",
        columns.join(", "),
        names.join(", ")
    );
    let insert = format!("INSERT INTO t VALUES (1, {})", values.join(", "));
    let mut shop = Shop::new(flavor, &[&create, &insert]);
    shop.then(&["UPDATE t SET n = 2"]);
    for (condition, count) in [("n = 1", 1), ("n = 3", 0)] {
        let (script, rehearsed) = shop.undo_where(&["t"], Some(condition), false).unwrap();
        assert_eq!(
            (script.changes().len(), &rehearsed),
            (count, &RehearsalResult::default()),
            "{script:?}"
        );
    }
}

/// A row that moved is taken back whole; one of which the condition says nothing is refused.
pub(crate) fn a_row_that_was_asked_for_is_not_left_out(flavor: Flavor) {
    let mut shop = Shop::new(
        flavor,
        &[
            "CREATE TABLE t (id INT PRIMARY KEY, n INT)",
            "INSERT INTO t VALUES (1, 1), (2, 2)",
        ],
    );
    shop.then(&[
        "UPDATE t SET id = 10 WHERE id = 1",
        "UPDATE t SET id = 11 WHERE id = 10",
        "UPDATE t SET n = 22 WHERE id = 2",
        "INSERT INTO t VALUES (5, 5)",
        "DELETE FROM t WHERE id = 5",
    ]);
    let (script, rehearsed) = shop.undo_where(&["t"], Some("id = 1"), false).unwrap();
    assert_eq!(
        (script.changes().len(), script.conflicts.len()),
        (2, 0),
        "{script:?}"
    );
    assert_eq!(rehearsed, RehearsalResult::default());
    let binary = shop.server.binary().path.clone();
    let (options, _work) = options();
    let prepared = shop.prepared(&["t"], options);
    let binary = find_like(prepared.source(), Some(&binary)).unwrap();
    let made = prepared.make(&binary, State::Now, "").unwrap();
    assert_eq!(rehearse(&made.private, &script).unwrap(), None);
    // Only the deletion of a row that came since: it was never in the table as it was, nor is it now.
    let (mut undo, _) = Undo::read(&prepared, shop.last_transaction()).unwrap();
    let error = only_where(
        &mut undo,
        &prepared.tables[0],
        "n = 5",
        [&made.private, &made.private],
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("shop.t id=5") && error.contains("--where"),
        "{error}"
    );
}

impl Shop {
    fn last_transaction(&self) -> TransactionFilter {
        let mut chosen = TransactionFilter::default();
        let (options, _work) = options();
        let prepared = self.prepared(&["t"], options);
        let mut last = None;
        prepared
            .changes(&mut |change| {
                last.clone_from(&change.transaction.start.gtid);
                Ok(())
            })
            .unwrap();
        chosen.gtids.extend(last);
        chosen
    }
}

/// Tables of names that differ in case are others, where the server says so; the end of a temporary one is nothing.
pub(crate) fn names_are_compared_as_the_server_does(flavor: Flavor) {
    let mut shop = Shop::new(
        flavor,
        &[
            "CREATE TABLE orders (id INT PRIMARY KEY, total INT)",
            "CREATE TABLE Orders (id INT PRIMARY KEY, total INT, more INT)",
            "INSERT INTO orders VALUES (1,100),(2,200)",
            "INSERT INTO Orders VALUES (1,7,0),(2,8,0)",
        ],
    );
    let mut other = connect(&shop.server);
    other.run("USE shop").unwrap();
    other.run("CREATE TEMPORARY TABLE orders (x INT)").unwrap();
    other.run("INSERT INTO orders VALUES (9)").unwrap();
    other.run("DROP TEMPORARY TABLE orders").unwrap();
    other.run("CREATE TEMPORARY TABLE orders (x INT)").unwrap();
    drop(other);
    shop.then(&[
        "UPDATE Orders SET total = 999 WHERE id = 1",
        "DELETE FROM Orders WHERE id = 2",
        "TRUNCATE TABLE Orders",
    ]);
    // The session's end is logged a moment later.
    thread::sleep(Duration::from_millis(300));
    shop.then(&["UPDATE orders SET total = 101 WHERE id = 1"]);
    let (script, rehearsed) = shop.undo(&["orders"]).unwrap();
    assert_eq!(
        (script.changes().len(), &rehearsed),
        (1, &RehearsalResult::default()),
        "{script:?}"
    );
    assert!(script.changes().next().unwrap().contains("`orders`"));

    let (server, _directory) = folding(flavor);
    let mut control = connect(&server);
    for statement in [
        "CREATE DATABASE Shop",
        "CREATE TABLE Shop.Orders (id INT PRIMARY KEY, total INT)",
        "INSERT INTO shop.orders VALUES (1, 1)",
    ] {
        control.run(statement).unwrap();
    }
    let before = MomentRequest::read(&place(&mut control, flavor));
    control.run("UPDATE SHOP.ORDERS SET total = 2").unwrap();
    let (options, _work) = options();
    let names = ["Shop.oRders", "shop.orders"].map(|name| TableName::read(name, ""));
    let prepared = FlashbackPlan::new(&source(&server), &names, &before, options).unwrap();
    assert_eq!(prepared.tables.len(), 1);
    assert_eq!(prepared.changes(&mut |_| Ok(())).unwrap().changes, 1);
    control.run("TRUNCATE TABLE Shop.Orders").unwrap();
    let error = prepared.changes(&mut |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("emptied"), "{error}");
    control
        .run("CREATE TRIGGER Shop.late BEFORE UPDATE ON Shop.Orders FOR EACH ROW SET NEW.total = 3")
        .unwrap();
    let error = Triggers::read(&prepared, false).unwrap_err().to_string();
    assert!(error.contains("shop.orders has triggers (late"), "{error}");
}

/// A server on which names that differ in case are one.
fn folding(flavor: Flavor) -> (PrivateServer, tempfile::TempDir) {
    let shaping = [("lower_case_table_names", "1")];
    weir_testing::start_shaped(
        &weir_testing::binary(flavor),
        &shaping,
        &crate::logging(flavor),
    )
}
