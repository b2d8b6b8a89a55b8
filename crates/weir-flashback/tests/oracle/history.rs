//! Random histories of some tables.

use std::collections::BTreeSet;

use weir_model::Flavor;
use weir_testing::Random;

use crate::dialect::Dialect;
use crate::statements::{change, definition_change, insert};
use crate::tables::{IDS, Table};

/// Connections of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Session {
    One,
    Two,
    /// It has no transaction of its own.
    Control,
    /// It is closed when its two-phase transaction is prepared.
    Branch,
}

/// A step of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Run(Session, String),
    /// What all tables hold is kept.
    Moment,
}

/// What a history has beside changes of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Feature {
    Triggers,
    ForeignKey,
    SameNameInOtherCase,
    SameNameInOtherSchema,
    Definitions,
    Branches,
    Settings,
    TemporaryTable,
    TwoConnections,
    /// Generated columns whose values hang on the session.
    SessionExpressions,
}

/// Steps, and the tables that are asked about.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pub(crate) steps: Vec<Step>,
    pub(crate) tables: Vec<(&'static str, &'static str)>,
    pub(crate) features: BTreeSet<Feature>,
}

/// Writes a history.
struct Author<'a> {
    dialect: Dialect,
    random: &'a mut Random,
    tables: Vec<Table>,
    steps: Vec<Step>,
    features: BTreeSet<Feature>,
    is_two_open: bool,
}

impl History {
    pub(crate) fn random(dialect: Dialect, random: &mut Random) -> Self {
        use Feature::*;
        let mut features = BTreeSet::new();
        for (feature, once_in) in [
            (Triggers, 8),
            (ForeignKey, 7),
            (SameNameInOtherCase, 8),
            (SameNameInOtherSchema, 8),
            (Definitions, 5),
            (Branches, 6),
            (Settings, 2),
            (TemporaryTable, 10),
            (TwoConnections, 5),
            (SessionExpressions, 8),
        ] {
            if random.once_in(once_in) {
                features.insert(feature);
            }
        }
        if dialect.flavor == Flavor::Mariadb {
            // It logs a row that goes with such columns computed by the session that deletes it.
            features.remove(&SessionExpressions);
        }
        let mut author = Author {
            dialect,
            random,
            tables: Vec::new(),
            steps: Vec::new(),
            features,
            is_two_open: false,
        };
        author.begin();
        for _ in 0..5 + author.random.below(16) {
            author.go_on();
        }
        author.steps.push(Step::Moment);
        let tables = author.tables.iter().map(|table| (table.schema, table.name));
        let parent = author.has(ForeignKey).then_some(("shop", "p"));
        Self {
            tables: tables.chain(parent).collect(),
            steps: author.steps,
            features: author.features,
        }
    }
}

impl Author<'_> {
    fn run(&mut self, session: Session, sql: impl Into<String>) {
        self.steps.push(Step::Run(session, sql.into()));
    }

    fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Makes the tables with some rows.
    fn begin(&mut self) {
        let one = Session::One;
        let mut more = String::new();
        if self.has(Feature::ForeignKey) {
            self.run(one, "CREATE TABLE shop.p (id INT PRIMARY KEY, v INT)");
            self.run(
                one,
                "INSERT INTO shop.p VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)",
            );
            let action = self.random.one_of(&[
                "ON DELETE CASCADE ON UPDATE CASCADE",
                "ON DELETE SET NULL ON UPDATE SET NULL",
                "ON DELETE CASCADE",
                "ON DELETE SET NULL ON UPDATE CASCADE",
                "ON DELETE NO ACTION ON UPDATE NO ACTION",
                "",
                "ON DELETE RESTRICT",
            ]);
            more = format!("p INT, FOREIGN KEY (p) REFERENCES shop.p (id) {action}");
        }
        let name = self.random.one_of(&["t", "t", "t", "t", "or`der \u{e9}"]);
        if self.dialect.flavor == Flavor::Mysql && self.random.once_in(12) {
            self.run(one, "SET SESSION sql_generate_invisible_primary_key = ON");
        }
        let of_session = self.has(Feature::SessionExpressions);
        let first = Table::random("shop", name, self.dialect, self.random, (&more, of_session));
        if self.has(Feature::SameNameInOtherCase) {
            self.tables.push(first.named("shop", "T"));
        }
        if self.has(Feature::SameNameInOtherSchema) {
            self.tables.push(Table::random(
                "crm",
                "t",
                self.dialect,
                self.random,
                ("", of_session),
            ));
        }
        self.tables.insert(0, first);
        self.run(one, "SET SESSION sql_mode = ''");
        for table in self.tables.clone() {
            self.run(one, table.create.clone());
            if self.has(Feature::Triggers) && table.name != "T" {
                self.triggers(&table);
            }
            for _ in 0..2 {
                let insert = insert(&table, self.random);
                self.run(one, insert);
            }
        }
        let zone = self
            .random
            .one_of(&["+00:00", "SYSTEM", "Test/Jumps", "-03:30"]);
        let mode = self.random.one_of(&[
            "",
            "ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO",
            "STRICT_ALL_TABLES",
            "PAD_CHAR_TO_FULL_LENGTH,NO_BACKSLASH_ESCAPES",
        ]);
        self.run(
            one,
            format!("SET SESSION time_zone = '{zone}', sql_mode = '{mode}'"),
        );
    }

    fn triggers(&mut self, table: &Table) {
        let (schema, name) = (table.schema, table.sql());
        self.run(Session::One, format!("CREATE TABLE {schema}.audit (n INT AUTO_INCREMENT PRIMARY KEY, id INT, what VARCHAR(9))"));
        self.run(
            Session::One,
            format!(
                "CREATE TRIGGER {schema}.b BEFORE UPDATE ON {name} FOR EACH ROW SET NEW.c0 = OLD.c1"
            ),
        );
        for verb in ["INSERT", "UPDATE", "DELETE"] {
            let row = if verb == "DELETE" { "OLD" } else { "NEW" };
            self.run(
                Session::One,
                format!(
                    "CREATE TRIGGER {schema}.a{verb} AFTER {verb} ON {name} FOR EACH ROW INSERT INTO {schema}.audit (id, what) VALUES ({row}.id, '{verb}')"
                ),
            );
        }
    }

    fn table(&mut self) -> Table {
        self.tables[self.random.below(self.tables.len())].clone()
    }

    fn change(&mut self, session: Session) {
        let table = self.table();
        let sql = match self.random.below(8) {
            0 if self.has(Feature::ForeignKey) => self.parent(),
            1 if self.has(Feature::ForeignKey) => format!(
                "UPDATE {} SET p = {} WHERE id < {}",
                self.tables[0].sql(),
                self.random.below(6),
                self.random.below(IDS)
            ),
            _ => change(&table, self.random),
        };
        self.run(session, sql);
    }

    fn parent(&mut self) -> String {
        let id = self.random.below(6);
        match self.random.below(4) {
            0 => format!("DELETE FROM shop.p WHERE id = {id}"),
            1 => format!("UPDATE shop.p SET id = id + 20 WHERE id = {id}"),
            2 => format!("INSERT IGNORE INTO shop.p VALUES ({id}, 1)"),
            _ => format!("REPLACE INTO shop.p VALUES ({id}, 2)"),
        }
    }

    /// Adds a step or some that belong together.
    fn go_on(&mut self) {
        match self.random.below(16) {
            0..=2 => self.steps.push(Step::Moment),
            3 | 4 => self.transaction(Session::One),
            5 | 14 if self.has(Feature::TwoConnections) => self.other_transaction(),
            6 if self.random.once_in(3) => self.run(Session::Control, "FLUSH BINARY LOGS"),
            7 | 8 if self.has(Feature::Settings) => self.setting(),
            9 | 10 if self.has(Feature::Definitions) => {
                let table = self.table();
                let sql = definition_change(&table, self.dialect, self.random);
                self.run(Session::One, sql);
            }
            11 | 12 if self.has(Feature::Branches) => self.branch(),
            13 if self.has(Feature::TemporaryTable) => self.temporary_table(),
            _ => self.change(Session::One),
        }
    }

    /// The other connection goes on with its transaction: what it changed stays locked until it ends.
    fn other_transaction(&mut self) {
        let two = Session::Two;
        match (self.is_two_open, self.random.below(2)) {
            (false, 0) => {
                self.run(two, "START TRANSACTION");
                self.change(two);
                self.is_two_open = true;
            }
            (true, 0) => self.change(two),
            (true, _) => {
                let end = self.random.one_of(&["COMMIT", "COMMIT", "ROLLBACK"]);
                self.run(two, end);
                self.is_two_open = false;
            }
            (false, _) => self.transaction(two),
        }
    }

    fn transaction(&mut self, session: Session) {
        self.run(session, "START TRANSACTION");
        self.change(session);
        if self.random.once_in(2) {
            self.run(session, "SAVEPOINT s");
            self.change(session);
            if self.random.once_in(3) {
                self.steps.push(Step::Moment);
            }
            self.run(session, "ROLLBACK TO SAVEPOINT s");
        }
        self.change(session);
        let end = self
            .random
            .one_of(&["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]);
        self.run(session, end);
    }

    /// A two-phase transaction, whose end may come after other steps.
    fn branch(&mut self) {
        let branch = Session::Branch;
        let number = self.steps.len();
        self.run(branch, format!("XA START 'x{number}'"));
        for _ in 0..=self.random.below(3) {
            self.change(branch);
        }
        self.run(branch, format!("XA END 'x{number}'"));
        if self.random.once_in(4) {
            return self.run(branch, format!("XA COMMIT 'x{number}' ONE PHASE"));
        }
        self.run(branch, format!("XA PREPARE 'x{number}'"));
        if self.random.once_in(2) {
            self.steps.push(Step::Moment);
        }
        // Rows of it stay locked: what else is changed meanwhile mostly waits in vain.
        let end = self.random.one_of(&["COMMIT", "COMMIT", "ROLLBACK"]);
        self.run(Session::Control, format!("XA {end} 'x{number}'"));
    }

    fn temporary_table(&mut self) {
        let name = self.tables[0].sql();
        self.run(
            Session::One,
            format!("CREATE TEMPORARY TABLE {name} (id INT PRIMARY KEY, c0 INT, c1 INT)"),
        );
        self.run(
            Session::One,
            format!("INSERT INTO {name} VALUES (1, 1, 1), (2, 2, 2)"),
        );
        self.run(Session::One, format!("UPDATE {name} SET id = id + 5"));
        self.run(Session::One, format!("DROP TEMPORARY TABLE {name}"));
    }

    fn setting(&mut self) {
        let both = [
            "SET SESSION binlog_row_image = MINIMAL",
            "SET SESSION binlog_row_image = NOBLOB",
            "SET SESSION binlog_row_image = FULL",
            "SET SESSION time_zone = 'Test/Jumps'",
            "SET SESSION time_zone = '+14:00'",
            "SET SESSION timestamp = 1792890000.5",
            "SET SESSION timestamp = DEFAULT",
            "SET SESSION foreign_key_checks = 0",
            "SET SESSION unique_checks = 0",
            "SET GLOBAL binlog_checksum = NONE",
            "SET GLOBAL binlog_checksum = CRC32",
            "SET GLOBAL binlog_row_metadata = FULL",
            "SET NAMES latin1",
            "SET NAMES utf8mb4",
        ];
        let own: &[&str] = match self.dialect.flavor {
            Flavor::Mysql => &[
                "SET SESSION binlog_row_value_options = PARTIAL_JSON",
                "SET SESSION binlog_row_value_options = PARTIAL_JSON",
                "SET SESSION binlog_transaction_compression = ON",
                "SET SESSION binlog_transaction_compression = ON",
                "SET SESSION binlog_rows_query_log_events = ON",
                "SET SESSION binlog_format = MIXED",
                "SET SESSION gtid_next = 'AUTOMATIC:night'",
            ],
            Flavor::Mariadb => &[
                "SET GLOBAL log_bin_compress = ON, log_bin_compress_min_len = 10",
                "SET GLOBAL log_bin_compress = ON, log_bin_compress_min_len = 10",
                "SET SESSION binlog_annotate_row_events = OFF",
                "SET SESSION binlog_alter_two_phase = ON",
                "SET SESSION binlog_row_image = FULL_NODUP",
                "SET SESSION binlog_format = MIXED",
                "SET SESSION binlog_format = STATEMENT",
                "SET SESSION gtid_domain_id = 2",
                "SET SESSION check_constraint_checks = 0",
            ],
        };
        let all: Vec<_> = both.iter().chain(own).copied().collect();
        let sql = self.random.one_of(&all);
        self.run(Session::One, sql);
    }
}

impl History {
    /// As statements, with the connection before those of others than the first.
    pub(crate) fn script(&self) -> String {
        let lines = self.steps.iter().map(|step| match step {
            Step::Run(Session::One, sql) => format!("{sql};"),
            Step::Run(session, sql) => format!("/* connection {session:?} */ {sql};"),
            Step::Moment => "-- moment".to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}
