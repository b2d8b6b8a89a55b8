//! Sessions that a source brings: what they ask depends on what was answered.

use std::sync::atomic::AtomicBool;

use weir_load::{
    LoadError, LoadOutcome, LoadPlan, Session, SessionKinds, SessionSource, Step, ToleratedErrors,
    Turn, run_sessions,
};
use weir_model::{Flavor, LoadSpec, WorkloadName};
use weir_mysql::{Reply, Row, ServerError, Value};

use super::{Bench, users_gate};

const CONNECTIONS: u32 = 3;
const EVENTS: u64 = 60;
/// The server's word that there is no such column (`ER_BAD_FIELD_ERROR`).
const NO_SUCH_COLUMN: u16 = 1054;
const TABLE: &str = "account";

weir_testing::on_both_flavors! {
    a_statement_depends_on_the_rows_of_the_one_before
    a_statement_outside_of_the_schema_ends_the_run
}

/// Reads the balance of the connection's own account, sleeps, and pays one in by a statement that it
/// prepares in its first transaction. Each third payment is tried twice.
#[derive(Debug)]
struct Payments {
    table: &'static str,
    account: u32,
    handle: Option<u32>,
    doing: Doing,
    balance: i64,
    has_failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Prepare,
    Read,
    Pay,
    Fail,
}

impl Payments {
    fn read(&mut self, turn: &mut Turn<'_>) -> Step {
        self.doing = Doing::Read;
        turn.query(&self.sql());
        Step::Request { kind: Some(0) }
    }
}

impl Session for Payments {
    fn needs_rows(&self) -> bool {
        self.doing == Doing::Read
    }

    fn begin(&mut self, turn: &mut Turn<'_>) -> Step {
        self.has_failed = false;
        self.again(turn)
    }

    fn again(&mut self, turn: &mut Turn<'_>) -> Step {
        if self.handle.is_some() {
            return self.read(turn);
        }
        self.doing = Doing::Prepare;
        turn.prepare(&self.sql());
        Step::Request { kind: None }
    }

    fn replied(&mut self, reply: &Reply, rows: &[Row], turn: &mut Turn<'_>) -> Step {
        match (self.doing, reply) {
            (Doing::Prepare, Reply::Prepared { id, parameters: 2 }) => {
                self.handle = Some(*id);
                self.read(turn)
            }
            (Doing::Read, Reply::Rows { rows: 1 }) => {
                self.balance = rows[0].get(0).unwrap();
                if self.balance % 3 == 2 && !self.has_failed {
                    self.has_failed = true;
                    self.doing = Doing::Fail;
                    turn.query(&self.sql());
                    return Step::Request { kind: None };
                }
                self.doing = Doing::Pay;
                Step::Sleep {
                    until_ns: turn.now_ns() + 1_000_000,
                }
            }
            (Doing::Pay, Reply::Done { affected_rows: 1 }) => Step::Done {
                transactions: 1,
                kind: None,
            },
            other => panic!("{other:?}"),
        }
    }

    fn woken(&mut self, turn: &mut Turn<'_>) -> Step {
        let values = [self.balance + 1, self.account.into()].map(Value::from);
        turn.execute(self.handle.unwrap(), &values);
        Step::Request { kind: Some(1) }
    }

    fn refused(&mut self, error: &ServerError, _: &mut Turn<'_>) -> Step {
        assert_eq!(error.code, NO_SUCH_COLUMN);
        Step::Retry { keeps_start: true }
    }

    fn reconnected(&mut self) {
        self.handle = None;
    }

    fn sql(&self) -> String {
        let (table, account) = (self.table, self.account);
        match self.doing {
            Doing::Prepare | Doing::Pay => format!("UPDATE {table} SET balance = ? WHERE id = ?"),
            Doing::Read => format!("SELECT balance FROM {table} WHERE id = {account}"),
            Doing::Fail => format!("SELECT nothing FROM {table}"),
        }
    }
}

/// Sessions on this table.
struct Accounts(&'static str);

impl SessionSource for Accounts {
    fn session(&self, connection: u32) -> Box<dyn Session> {
        Box::new(Payments {
            table: self.0,
            account: connection,
            handle: None,
            doing: Doing::Prepare,
            balance: 0,
            has_failed: false,
        })
    }

    fn kinds(&self) -> SessionKinds {
        SessionKinds {
            transactions: Vec::new(),
            statements: vec!["read".to_owned(), "pay".to_owned()],
            ..SessionKinds::default()
        }
    }
}

fn pay(bench: &Bench, table: &'static str) -> Result<LoadOutcome, LoadError> {
    let plan = LoadPlan {
        max_events: Some(EVENTS),
        tolerated: ToleratedErrors::Codes(vec![NO_SUCH_COLUMN]),
        // Statements that were prepared on a connection are prepared again on the next.
        reconnect_every: Some(7),
        load: LoadSpec {
            connections: CONNECTIONS,
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(bench.server.endpoint(), WorkloadName::OltpPointSelect)
    };
    let never = AtomicBool::new(false);
    run_sessions(&plan, &Accounts(table), &users_gate(), &never, &mut |_| {})
}

fn a_statement_depends_on_the_rows_of_the_one_before(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let mut oracle = bench.oracle();
    let create = format!("CREATE TABLE {TABLE} (id INTEGER PRIMARY KEY, balance BIGINT NOT NULL)");
    oracle.run(create).unwrap();
    let insert = format!("INSERT INTO {TABLE} VALUES (0, 0), (1, 0), (2, 0)");
    oracle.run(insert).unwrap();
    let outcome = pay(&bench, TABLE).unwrap();
    let balances: Vec<u64> = oracle
        .rows(format!("SELECT balance FROM {TABLE} ORDER BY id"))
        .unwrap();
    let paid: u64 = balances.iter().sum();
    assert_eq!(paid, EVENTS, "{balances:?}");
    let counts = outcome.counts_whole_run;
    assert_eq!((counts.transactions, counts.writes), (EVENTS, EVENTS));
    let failed: u64 = balances.iter().map(|balance| balance / 3).sum();
    assert!(
        counts.errors.abs_diff(failed) <= u64::from(CONNECTIONS),
        "{counts:?}"
    );
    assert_eq!(counts.reads, EVENTS + counts.errors, "{counts:?}");
    // It slept 1 ms within each transaction.
    assert!(outcome.latency.us_min >= 1e3, "{:?}", outcome.latency);
    let names: Vec<_> = outcome
        .kinds
        .iter()
        .map(|kind| (&*kind.name, kind.count))
        .collect();
    assert_eq!(names, [("read", counts.reads), ("pay", EVENTS)]);
    assert!(counts.reconnects > 0, "{counts:?}");
}

fn a_statement_outside_of_the_schema_ends_the_run(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let error = pay(&bench, "mysql.account").unwrap_err().to_string();
    assert!(error.contains("mysql.account"), "{error}");
}
