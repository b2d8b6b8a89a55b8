//! Random histories: sessions that take turns, one statement or one transaction at a time.

use weir_testing::Random;

/// Sessions of a history.
pub(crate) const SESSIONS: usize = 4;

/// Work of a session.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Text(String),
    /// Prepared and executed by the protocol, with these values.
    Execute(&'static str, Vec<String>),
    Reset,
    /// It connects again when it does something else.
    Quit,
    /// Another session asks for rows that this one has locked, and waits for them until this one has done the rest.
    Contend(usize, String),
}

/// Statements that a session sends before another one has its turn.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) session: usize,
    pub(crate) actions: Vec<Action>,
}

/// As a text that a person can read.
pub(crate) fn script(steps: &[Step]) -> String {
    let lines = steps.iter().flat_map(|step| {
        let session = step.session;
        let of_step = step.actions.iter();
        of_step.map(move |action| format!("{session}: {action:?}"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Statements and short transactions on tables that all sessions share; `#` is a small number. Their outcome depends
/// on their order.
const SHARED: [&[&str]; 31] = [
    &["INSERT INTO shared VALUES (NULL, #, 'a#')"],
    &["INSERT INTO shared VALUES (NULL, #, 'b#'), (NULL, #, 'c#')"],
    &["INSERT INTO shared VALUES (#, #, 'd#')"],
    &["UPDATE shared SET k = k * 31 + # WHERE k % 3 = # % 3"],
    &["DELETE FROM shared WHERE id = #"],
    &["REPLACE INTO shared VALUES (#, #, 'e#')"],
    &["INSERT INTO shared VALUES (#, #, 'f#') ON DUPLICATE KEY UPDATE k = k + 1"],
    &["INSERT INTO shared SELECT NULL, k + 1, v FROM shared WHERE k < #"],
    &["INSERT INTO traced VALUES (#)"],
    &["CALL touch(#)"],
    &["INSERT INTO stamped VALUES (NULL, #, '2020-01-0#')"],
    &[
        "INSERT INTO stamped (n, at) VALUES (#, '2021-01-01') ON DUPLICATE KEY UPDATE n = 1, at = '2022-02-02'",
    ],
    &["UPDATE stamped SET n = n * 3 + #, at = '2021-02-01' WHERE id > #"],
    &["DELETE FROM audited WHERE n = #"],
    &["SELECT noted(#)"],
    &["DO noted(#)"],
    &["SET @x = noted(#)"],
    &["WITH w AS (SELECT # AS n) UPDATE shared, w SET k = k * 7 + n WHERE id = n"],
    &[
        "INSERT INTO shared VALUES (NULL, #, 'g')",
        "INSERT INTO shared VALUES (NULL, LAST_INSERT_ID(), 'h')",
    ],
    &["SET @x = #", "INSERT INTO shared VALUES (NULL, @x, 'i')"],
    &[
        "BEGIN",
        "UPDATE shared SET k = k * 3 + # WHERE id > #",
        "INSERT INTO shared VALUES (NULL, #, 'j')",
        "COMMIT",
    ],
    &[
        "START TRANSACTION",
        "DELETE FROM shared WHERE id = #",
        "INSERT INTO shared VALUES (NULL, #, 'k')",
        "ROLLBACK",
    ],
    &[
        "BEGIN",
        "UPDATE shared SET k = k + # WHERE id = #",
        "COMMIT AND CHAIN",
        "UPDATE shared SET k = k * 2",
        "COMMIT",
    ],
    &[
        "SET autocommit = 0",
        "UPDATE shared SET k = k * 11 + #",
        "SET autocommit = 1",
    ],
    &[
        "BEGIN",
        "UPDATE shared SET k = k * 53 + #",
        "SET autocommit = 1",
        "UPDATE shared SET k = k * 59 + # WHERE id > #",
        "ROLLBACK",
    ],
    &[
        "BEGIN",
        "UPDATE shared SET k = k * 61 + #",
        "SET autocommit = 0",
        "UPDATE shared SET k = k * 67 + # WHERE id > #",
        "SET autocommit = 1",
    ],
    &[
        "BEGIN",
        "UPDATE shared SET k = k * 29 + #",
        "BEGIN",
        "UPDATE shared SET k = k * 37 WHERE id > #",
        "COMMIT",
    ],
    &[
        "SET autocommit = 0",
        "INSERT INTO shared VALUES (NULL, #, 'l')",
        "START TRANSACTION",
        "SELECT # + 1",
        "SET autocommit = 1",
    ],
    &[
        "BEGIN",
        "INSERT INTO shared VALUES (NULL, #, 'm')",
        "ROLLBACK AND CHAIN",
        "UPDATE shared SET k = k * 41 + #",
        "COMMIT AND NO CHAIN",
    ],
    &[
        "BEGIN",
        "UPDATE shared SET k = k * 13 + #",
        "ALTER TABLE shared COMMENT = 'c#'",
    ],
    &[
        "LOCK TABLES shared WRITE",
        "UPDATE shared SET k = k * 17 + #",
        "UNLOCK TABLES",
    ],
];

/// Statements that write something else each time.
const RANDOM: [&[&str]; 11] = [
    &["INSERT INTO shared VALUES (NULL, #, LEFT(UUID(), 20))"],
    &["UPDATE shared SET k = CONNECTION_ID() WHERE id = #"],
    &["UPDATE shared SET v = LEFT(now(6), 20) WHERE id < #"],
    &["INSERT INTO traced SELECT FLOOR(RAND() * 1000000)"],
    &["INSERT INTO stamped (n) VALUES (#)"],
    &["UPDATE stamped SET n = n * 5 + # WHERE id > #"],
    &["INSERT INTO stamped VALUES (NULL, #, DEFAULT)"],
    &["INSERT INTO audited (n) VALUES (# + 1)"],
    &["UPDATE shared SET v = LEFT(token(), 20) WHERE id < #"],
    &["INSERT INTO shared SELECT NULL, n, v FROM recent"],
    &[
        "SET @y = SYSDATE(6)",
        "INSERT INTO shared VALUES (NULL, #, RIGHT(@y, 20))",
    ],
];

/// Statements on a table of the session's own, `@`, which may stand within a transaction that is open meanwhile.
const OWN: [&str; 13] = [
    "BEGIN",
    "START TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT s",
    "ROLLBACK TO s",
    "INSERT INTO own_@ VALUES (#, #)",
    "UPDATE own_@ SET n = n * 3 + # WHERE id < #",
    "DELETE FROM own_@ WHERE id = #",
    "SELECT id, n FROM own_@ WHERE n > #",
    "SELECT id FROM own_@ FOR UPDATE",
    "SELECT nothing FROM own_@",
    "INSERT INTO own_@ SELECT id + 50, n FROM own_@ WHERE id < #",
];

/// A history of so many steps. `is_repeatable`: the same steps always leave the same tables.
pub(crate) fn random(random: &mut Random, count: usize, is_repeatable: bool) -> Vec<Step> {
    let mut is_open = [false; SESSIONS];
    let steps = (0..count).map(|_| {
        let session = random.below(SESSIONS);
        // A session in a transaction keeps its locks off the shared tables.
        let (open, actions) = match random.below(20) {
            0 => (false, vec![Action::Quit]),
            1 => (false, vec![Action::Reset]),
            2 if !is_repeatable && !is_open[session] => (false, of_list(&RANDOM, random)),
            2 if !is_open.contains(&true) => (false, contended(session, random)),
            2..10 if !is_open[session] => (false, shared(random)),
            _ => {
                let words = random.one_of(&OWN);
                let open = match words {
                    "BEGIN" | "START TRANSACTION" => true,
                    "COMMIT" | "ROLLBACK" => false,
                    _ => is_open[session],
                };
                (open, vec![own(words, session, random)])
            }
        };
        is_open[session] = open;
        Step { session, actions }
    });
    steps.collect()
}

fn shared(random: &mut Random) -> Vec<Action> {
    let prepared = [
        "INSERT INTO shared VALUES (NULL, ?, ?)",
        "UPDATE shared SET k = k * 19 + ? WHERE v < ?",
        "SELECT noted(?), ?",
    ];
    if random.once_in(4) {
        let values = vec![digit(random), digit(random)];
        let at = random.below(prepared.len());
        return vec![Action::Execute(prepared[at], values)];
    }
    of_list(&SHARED, random)
}

/// One of these, with small numbers.
fn of_list(all: &[&[&str]], random: &mut Random) -> Vec<Action> {
    let statements = all[random.below(all.len())].iter();
    statements
        .map(|words| Action::Text(filled(words, random)))
        .collect()
}

/// A transaction for whose rows another session waits.
fn contended(session: usize, random: &mut Random) -> Vec<Action> {
    let waiting = [
        "UPDATE shared SET k = k * 43 + #",
        "DELETE FROM shared WHERE k % 2 = # % 2",
        "INSERT INTO shared SELECT NULL, k + #, v FROM shared",
        "SELECT k FROM shared FOR UPDATE",
    ];
    let ends = ["COMMIT", "ROLLBACK", "BEGIN", "COMMIT AND CHAIN"];
    let mut actions = vec![
        Action::Text("BEGIN".to_owned()),
        Action::Text(filled("UPDATE shared SET k = k * 47 + #", random)),
    ];
    let other = (session + 1 + random.below(SESSIONS - 1)) % SESSIONS;
    let asked = filled(random.one_of(&waiting), random);
    actions.push(Action::Contend(other, asked));
    actions.push(Action::Text(filled(
        "UPDATE shared SET k = k + # WHERE id < 3",
        random,
    )));
    actions.push(Action::Text(random.one_of(&ends).to_owned()));
    actions.push(Action::Text("COMMIT".to_owned()));
    actions
}

fn own(words: &str, session: usize, random: &mut Random) -> Action {
    Action::Text(filled(&words.replace('@', &session.to_string()), random))
}

fn filled(words: &str, random: &mut Random) -> String {
    let characters = words.chars().map(|one| match one {
        '#' => digit(random),
        other => other.to_string(),
    });
    characters.collect()
}

fn digit(random: &mut Random) -> String {
    random.below(9).to_string()
}
