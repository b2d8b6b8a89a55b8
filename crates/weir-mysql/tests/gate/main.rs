//! The gate beside real servers: what passes it may change nothing but what its command was allowed to.
//!
//! Statements are made at random. Those that a gate lets pass go to a throw-away server by a connection without
//! a gate, many between two looks at the server's state. When that has changed, they are sent again one by one until
//! a short list that changes it is left. Of those that all gates refuse, one in twenty is sent, too: what the server
//! then executes without a change is counted. `WEIR_GATE_SECONDS` says how long (`make test-gate`).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![allow(
    clippy::print_stdout,
    reason = "its figures are what a long run is for"
)]

mod functions;
mod grammar;
mod lexer;
mod role;
mod world;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use weir_model::Flavor;
use weir_mysql::{ClientError, Connection};
use weir_testing::{Random, shrink};

use grammar::Grammar;
use lexer::tokens_end_where_the_server_ends_them;
use role::{Gates, Role};
use world::World;

weir_testing::on_both_flavors! {
    what_passes_the_gate_changes_only_what_was_allowed
    no_known_function_can_be_a_stored_one
    tokens_end_where_the_server_ends_them
}

/// Statements between two looks at the state.
const BATCH: usize = 48;
/// Of so many refused statements, one is sent.
const REFUSED: usize = 20;
/// Findings after which a run ends: more of them are mostly of the same kind.
const FINDINGS_MAX: usize = 12;
/// Changes that the look at the state has to see, one of each kind.
const CHANGES: [&str; 11] = [
    "SET GLOBAL max_connect_errors = 7",
    "SET @@`sql_log_bin` = 0",
    "SET @@`character_set_client` = gbk",
    "INSERT INTO hr.t (a) VALUES (5)",
    "CREATE TABLE hr.new3 (a INT)",
    "CREATE DATABASE x1",
    "DROP USER u1",
    "SELECT * FROM hr.t FOR UPDATE",
    "DO GET_LOCK('x', 0)",
    "SELECT 1 INTO OUTFILE '%FILE%'",
    "KILL %VICTIM%",
];
/// Modes of a connection's session; the gate has to be right in each.
const MODES: [&str; 8] = [
    "",
    "",
    "ANSI_QUOTES",
    "NO_BACKSLASH_ESCAPES",
    "IGNORE_SPACE",
    "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,IGNORE_SPACE",
    "ORACLE",
    "MSSQL",
];
/// Encodings in which the gate reads. It lets no statement pass that sets another one.
const ENCODINGS: [&str; 3] = ["utf8mb4", "utf8mb4", "latin1"];

type Statement = Vec<String>;

/// Begin of a session.
#[derive(Debug, Clone)]
struct Start(Vec<String>);

impl Start {
    fn random(random: &mut Random) -> Self {
        let mut statements = vec![
            format!("SET sql_mode = '{}'", random.one_of(&MODES)),
            format!("SET NAMES {}", random.one_of(&ENCODINGS)),
        ];
        statements.extend(random.once_in(3).then(|| "BEGIN".to_owned()));
        Self(statements)
    }
}

/// The findings so far.
#[derive(Debug, Default)]
struct Tally {
    passed: usize,
    executed: usize,
    refused: usize,
    refused_tried: usize,
    harmless: BTreeMap<String, usize>,
    findings: Vec<String>,
    /// Crashes of servers by their own bugs: their number, and the first statement that did it.
    crashes: BTreeMap<String, (usize, String)>,
    /// Servers that could not be made as they were.
    beyond_repair: usize,
}

/// A run against one server.
struct Run {
    world: World,
    gates: Gates,
    tally: Tally,
}

/// Time of a test, `WEIR_GATE_SECONDS` or so many seconds.
fn seconds(usual: u64) -> u64 {
    number("WEIR_GATE_SECONDS").unwrap_or(usual)
}

/// Begin of the random numbers: `WEIR_GATE_SEED`, else 1 in `make test` and another one in each long run.
fn seed() -> u64 {
    number("WEIR_GATE_SEED").unwrap_or_else(|| match number("WEIR_GATE_SECONDS") {
        Some(_) => std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_nanos() as u64,
        None => 1,
    })
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn what_passes_the_gate_changes_only_what_was_allowed(flavor: Flavor) {
    let (seconds, seed) = (seconds(20), seed());
    println!("{flavor:?}: WEIR_GATE_SEED={seed}, {seconds} s");
    let world = World::start(flavor);
    let mut run = Run {
        gates: Gates::new(&world.endpoint),
        world,
        tally: Tally::default(),
    };
    run.sees_changes();
    let (grammar, mut random) = (Grammar::new(), Random::new(seed));
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end && run.tally.findings.len() < FINDINGS_MAX {
        for role in Role::ALL {
            run.round(role, &grammar, &mut random);
        }
    }
    println!("{}", run.report());
    assert!(
        run.tally.passed > 0 && run.tally.executed > 0,
        "nothing was tried"
    );
    let findings = &run.tally.findings;
    assert!(findings.is_empty(), "seed {seed}:\n{}", findings.join("\n"));
}

impl Run {
    /// The control: a look that sees no change would find every gate right.
    fn sees_changes(&mut self) {
        let file = self.world.files.join("control").display().to_string();
        for sql in CHANGES {
            // Row locks last as long as a transaction, in which the binary log cannot be left out.
            let begin = sql.ends_with("FOR UPDATE").then(|| "BEGIN".to_owned());
            let start = Start(begin.into_iter().collect());
            let victim = self.world.victim().to_string();
            let text = sql.replace("%FILE%", &file).replace("%VICTIM%", &victim);
            let list = [vec![text]];
            assert!(
                !self.changes(Role::Reading, &start, &list).is_empty(),
                "{sql} is not seen"
            );
            self.restore();
        }
    }

    /// Tries as many statements as fill a batch of those that pass.
    fn round(&mut self, role: Role, grammar: &Grammar, random: &mut Random) {
        let start = Start::random(random);
        let mut batch = Vec::new();
        let files = self.world.files.display().to_string();
        let victim = self.world.victim().to_string();
        while batch.len() < BATCH {
            let mut statement = grammar.statement(random);
            for piece in &mut statement {
                *piece = piece
                    .replace("%FILE%", &format!("{files}/f{}", random.below(1 << 30)))
                    .replace("%VICTIM%", &victim);
            }
            let sql = statement.concat();
            if self.gates.passes(role, &sql) {
                batch.push(statement);
            } else if role == Role::Reading
                && !Role::ALL.iter().any(|role| self.gates.passes(*role, &sql))
            {
                self.tally.refused += 1;
                if random.once_in(REFUSED) {
                    self.try_refused(&sql, &start);
                }
            }
        }
        self.tally.passed += batch.len();
        let changed = self.changes(role, &start, &batch);
        if !changed.is_empty() {
            self.find(role, &start, batch, &changed);
        }
        if role == Role::Schema && self.world.repair("shop").is_err() {
            self.start_anew();
        }
    }

    /// Changes that these statements make on a new connection, and that were not allowed.
    fn changes(&mut self, role: Role, start: &Start, batch: &[Statement]) -> Vec<String> {
        let mut subject = self.begin(start);
        let before = self.world.state(role, &mut subject);
        for (at, statement) in batch.iter().enumerate() {
            let done = subject.run(statement.concat());
            self.tally.executed += usize::from(done.is_ok());
            if done.is_err_and(|error| error.is_lost()) {
                if self.has_crashed(&statement.concat()) {
                    let mut changed = self.changes(role, start, &batch[..at]);
                    changed.extend(self.changes(role, start, &batch[at + 1..]));
                    return changed;
                }
                subject = self.begin(start);
            }
        }
        let after = self.world.state(role, &mut subject);
        let pairs = before.iter().zip(&after);
        let changed = pairs.filter(|((part, before), (_, after))| {
            before != after && !self.world.is_own_note(part, before, after)
        });
        changed
            .map(|((part, before), (_, after))| format!("{part}: {before} -> {after}"))
            .collect()
    }

    /// The server has crashed on `sql`, which is counted; a new one takes its place.
    fn has_crashed(&mut self, sql: &str) -> bool {
        let Some(place) = self.world.end() else {
            return false;
        };
        let crash = self.tally.crashes.entry(place);
        crash.or_insert_with(|| (0, sql.to_owned())).0 += 1;
        self.start_anew();
        true
    }

    fn start_anew(&mut self) {
        self.world = World::start(self.world.flavor);
        self.gates = Gates::new(&self.world.endpoint);
    }

    fn restore(&mut self) {
        if self.world.restore().is_err() {
            self.tally.beyond_repair += 1;
            self.start_anew();
        }
    }

    fn begin(&mut self, start: &Start) -> Connection {
        let mut subject = self.world.connect();
        subject.run("USE shop").unwrap();
        for sql in &start.0 {
            // Modes of one flavour only are refused by the other.
            let _ = subject.run(sql);
        }
        subject
    }

    /// Makes the statements that have changed something few and short, if they do so again.
    fn find(&mut self, role: Role, start: &Start, batch: Vec<Statement>, changed: &[String]) {
        self.restore();
        let fails = |run: &mut Self, batch: &[Statement]| {
            let is_found = !run.changes(role, start, batch).is_empty();
            if is_found {
                run.restore();
            }
            is_found
        };
        let is_repeated = fails(self, &batch);
        let mut list = batch;
        if is_repeated {
            list = shrink(list, &mut |batch| fails(self, batch));
            for at in 0..list.len() {
                let pieces = list[at].clone();
                list[at] = shrink(pieces, &mut |pieces| {
                    let mut list = list.clone();
                    list[at] = pieces.to_vec();
                    self.gates.passes(role, &pieces.concat()) && fails(self, &list)
                });
            }
        }
        let texts: Vec<_> = list.iter().map(|pieces| pieces.concat()).collect();
        let again = if is_repeated { "" } else { " once, not again" };
        self.tally.findings.push(format!(
            "{role:?} after {:?}: {texts:?} changes{again} {changed:?}",
            start.0
        ));
        println!("{}", self.tally.findings.last().unwrap());
        self.restore();
    }

    /// Sends what every gate refused; a harmless one is counted by its verb.
    fn try_refused(&mut self, sql: &str, start: &Start) {
        // These would change the server itself or the test's own account, which are not made anew.
        let lower = sql.to_ascii_lowercase();
        if ["mysql", "sys", "password", "infile"]
            .iter()
            .any(|word| lower.contains(word))
        {
            return;
        }
        self.tally.refused_tried += 1;
        let mut subject = self.begin(start);
        let before = self.world.state(Role::Reading, &mut subject);
        let done = subject.run(sql);
        let is_lost = done.as_ref().is_err_and(ClientError::is_lost);
        if is_lost && self.has_crashed(sql) {
            return;
        }
        let after = self.world.state(Role::Reading, &mut subject);
        drop(subject);
        if before != after {
            self.restore();
        } else if done.is_ok() {
            let words = sql.split_ascii_whitespace();
            let verb = words.take(1).collect::<String>().to_ascii_uppercase();
            *self.tally.harmless.entry(verb).or_default() += 1;
            if std::env::var_os("WEIR_GATE_SHOW").is_some() {
                println!("refused: {sql}");
            }
        }
    }

    fn report(&self) -> String {
        let tally = &self.tally;
        format!(
            "{:?}: {} passed a gate, {} of them were executed (also again, to look closer); all gates refused {}, \
             of which {} were sent and these changed nothing: {:?}; servers beyond repair: {}; crashes by the server's own bugs: {:?}; dangerous: {}",
            self.world.flavor,
            tally.passed,
            tally.executed,
            tally.refused,
            tally.refused_tried,
            tally.harmless,
            tally.beyond_repair,
            tally.crashes,
            tally.findings.len()
        )
    }
}

use functions::no_known_function_can_be_a_stored_one;
