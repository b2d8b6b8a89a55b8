//! Random histories: what some sessions do one after the other while the server logs them, and what becomes of the logs.

use weir_model::Flavor;
use weir_testing::Random;

use crate::texts::Text;

/// Sessions of a history. The first two are older than the logs.
pub(crate) const SESSIONS: usize = 4;
pub(crate) const OLDER: usize = 2;
/// Accounts with their schemas.
pub(crate) const LOGINS: [(&str, &str); 4] = [
    ("app", "shop"),
    ("app", ""),
    ("web", "crm"),
    ("web", "shop"),
];
const SCHEMAS: [&str; 2] = ["shop", "crm"];

/// Work of a session.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Text(Text),
    /// A statement that cannot be read.
    Broken,
    /// Several statements in one text.
    Several(Text, Text),
    /// Prepared and executed by the protocol.
    Execute(Text),
    /// Prepared and executed by statements, with a value.
    BySql(Text),
    Schema(&'static str),
    Use(&'static str),
    User(usize),
    Reset,
    Ping,
    /// It connects again when it does something else.
    Quit,
}

/// Fate of the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rotation {
    /// They get other names, and the server opens new ones.
    Flush,
    /// They are copied and made empty, which the server does not know.
    Truncate,
    /// They are copied as they are, so that copies overlap.
    Copy,
    /// They are switched off and on.
    Switch,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Act(usize, Action),
    Rotate(Rotation),
}

/// A history.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pub(crate) steps: Vec<Step>,
    /// The logs are tables.
    pub(crate) is_table: bool,
    /// `log_slow_extra`, or `log_slow_verbosity`; empty for neither.
    pub(crate) verbosity: String,
}

impl History {
    pub(crate) fn random(flavor: Flavor, random: &mut Random) -> Self {
        let is_table = random.once_in(4);
        let count = 10 + random.below(50);
        let mut steps: Vec<_> = (0..count)
            .map(|_| match random.below(14) {
                0 => Step::Rotate(rotation(is_table, random)),
                _ => Step::Act(random.below(SESSIONS), action(random)),
            })
            .collect();
        steps.push(Step::Rotate(Rotation::Copy));
        Self {
            steps,
            is_table,
            verbosity: verbosity(flavor, random),
        }
    }

    /// As a text that a person can read.
    pub(crate) fn script(&self) -> String {
        let steps = self.steps.iter().map(|step| match step {
            Step::Act(session, Action::Text(text)) => format!("{session}: {text:?}"),
            step => format!("{step:?}"),
        });
        let steps: Vec<_> = steps.collect();
        let (is_table, verbosity) = (self.is_table, &self.verbosity);
        format!(
            "table {is_table}, verbosity {verbosity:?}\n{}",
            steps.join("\n")
        )
    }
}

fn rotation(is_table: bool, random: &mut Random) -> Rotation {
    match random.below(4) {
        _ if is_table => Rotation::Copy,
        0 => Rotation::Flush,
        1 => Rotation::Truncate,
        2 => Rotation::Copy,
        _ => Rotation::Switch,
    }
}

fn verbosity(flavor: Flavor, random: &mut Random) -> String {
    if flavor == Flavor::Mysql {
        return ["", "extra"][random.below(2)].to_owned();
    }
    let all = [
        "explain",
        "engine",
        "full",
        "query_plan",
        "innodb",
        "warnings",
    ];
    let chosen: Vec<_> = all.into_iter().filter(|_| random.once_in(3)).collect();
    chosen.join(",")
}

/// Kinds of statements; `'` is a random string.
const STATEMENTS: [&str; 18] = [
    "SELECT '",
    "SELECT ' , ' , ID FROM item",
    "INSERT INTO item VALUES (NULL, ' )",
    "INSERT INTO item SELECT NULL, CONCAT( ' , ' )",
    "UPDATE item SET name = ' WHERE id % 2 = 0",
    "DELETE FROM item WHERE name = ' OR id > 40",
    "SELECT nothing, ' FROM item",
    "SELECT 1 FROM nowhere WHERE a = '",
    // What is there twice is in the server's message.
    "INSERT INTO named VALUES ( ' ),( ' )",
    "SET @x = '",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "CALL touch(3)",
    "SELECT noted(4)",
    "INSERT INTO traced VALUES (5)",
    "SET timestamp = 1700000000",
    "SET timestamp = 1900000000",
];

fn action(random: &mut Random) -> Action {
    match random.below(40) {
        0..4 => {
            let forms = [
                "SELECT ? , ?",
                "INSERT INTO item VALUES (NULL, ? )",
                "UPDATE item SET name = ? WHERE name < ?",
            ];
            let words = random.one_of(&forms);
            Action::Execute(Text::new(random, words))
        }
        4..6 => Action::BySql(Text::new(random, "SELECT ?")),
        6 => Action::Several(
            Text::new(random, "SELECT '"),
            Text::new(random, "SELECT ' , '"),
        ),
        7 => Action::Broken,
        8 => Action::Schema(random.one_of(&SCHEMAS)),
        9 => Action::Use(random.one_of(&SCHEMAS)),
        10 => Action::User(random.below(LOGINS.len())),
        11 => Action::Reset,
        12 => Action::Ping,
        13 => Action::Quit,
        14 => Action::Text(Text::plain("SET timestamp = DEFAULT")),
        _ => {
            let words = random.one_of(&STATEMENTS);
            Action::Text(Text::new(random, words))
        }
    }
}
