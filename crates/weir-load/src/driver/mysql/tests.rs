//! A connection whose session asks by what was answered, in simulated time.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use weir_model::{Address, ClosedLoop};
use weir_mysql::{Channel, Gate, Row, Stream};
use weir_workload::seeded;

use super::*;
use crate::driver::NonBlocking;
use crate::plan::ToleratedErrors;
use crate::session::{Session, SessionKinds, SessionSource, Statements, Step, Turn};
use crate::testing::meter_told;

/// One column and a row with `41`, as text, as a server sends them that has deprecated the packet
/// between both.
const BALANCE: &[u8] = b"\x01\0\0\x01\x01\
    \x1d\0\0\x02\x03def\0\0\0\x07balance\0\x0c\x3f\0\x15\0\0\0\x08\0\0\0\0\0\
    \x03\0\0\x03\x0241\
    \x07\0\0\x04\xfe\0\0\x02\0\0\0";
const CHANGED: &[u8] = b"\x07\0\0\x01\0\x01\0\x02\0\0\0";
const RTT_NS: u64 = 2_000;

/// Reads a balance, then writes one more.
#[derive(Debug)]
struct Payment {
    sql: String,
    has_read: bool,
}

impl Payment {
    fn ask(&mut self, sql: String, kind: usize, turn: &mut Turn<'_>) -> Step {
        turn.query(&sql);
        self.sql = sql;
        Step::Request { kind: Some(kind) }
    }
}

impl Session for Payment {
    fn needs_rows(&self) -> bool {
        !self.has_read
    }

    fn begin(&mut self, turn: &mut Turn<'_>) -> Step {
        self.has_read = false;
        self.ask("SELECT balance FROM account".to_owned(), 0, turn)
    }

    fn again(&mut self, turn: &mut Turn<'_>) -> Step {
        self.begin(turn)
    }

    fn replied(&mut self, _: &Reply, rows: &[Row], turn: &mut Turn<'_>) -> Step {
        if self.has_read {
            return Step::Done {
                transactions: 1,
                kind: None,
            };
        }
        self.has_read = true;
        let balance: u64 = rows[0].get(0).unwrap();
        let sql = format!("UPDATE account SET balance = {}", balance + 1);
        self.ask(sql, 1, turn)
    }

    fn refused(&mut self, _: &ServerError, _: &mut Turn<'_>) -> Step {
        Step::Retry { keeps_start: true }
    }

    fn sql(&self) -> String {
        self.sql.clone()
    }
}

struct Payments;

impl SessionSource for Payments {
    fn session(&self, _: u32) -> Box<dyn Session> {
        Box::new(Payment {
            sql: String::new(),
            has_read: false,
        })
    }

    fn kinds(&self) -> SessionKinds {
        SessionKinds::default()
    }
}

fn driver(source: &dyn SessionSource) -> MysqlDriver {
    let (near, _) = UnixStream::pair().unwrap();
    let transport = Channel::plain(NonBlocking::try_from(Stream::Unix(near)).unwrap());
    let fresh = Fresh::new(transport, true, Statements::default());
    MysqlDriver::new(0, fresh, &Work::of_source(source), 0, seeded(1, 0))
}

fn shared(half_rtt_ns: u64) -> ReactorResources {
    let (address, gate) = (Address::Socket("/nowhere".into()), Gate::own());
    let tolerated = ToleratedErrors::Codes(vec![1213]);
    ReactorResources::new(
        (vec![address], &gate),
        tolerated,
        None,
        half_rtt_ns,
        ClosedLoop::default(),
        None,
    )
}

/// Returns the driver's unsent bytes, as text.
fn sent(shared: &mut ReactorResources) -> String {
    let bytes = std::mem::take(&mut shared.outgoing);
    String::from_utf8_lossy(bytes.get(5..).unwrap_or_default()).into_owned()
}

#[test]
fn the_second_statement_depends_on_the_rows_of_the_first() {
    let (mut driver, mut shared) = (driver(&Payments), shared(0));
    let (mut meter, _frames) = meter_told(Arc::new(AtomicU64::new(1)));
    let mut advance = |cause| {
        let next = driver.advance(cause, &mut shared, &mut meter).unwrap();
        assert_eq!(next, Next::Reply);
        sent(&mut shared)
    };
    assert_eq!(advance(Cause::Start), "SELECT balance FROM account");
    for _ in 0..2 {
        // However the answer is cut.
        assert_eq!(advance(Cause::Received(&BALANCE[..20], None)), "");
        let second = advance(Cause::Received(&BALANCE[20..], None));
        assert_eq!(second, "UPDATE account SET balance = 42");
        let next = advance(Cause::Received(CHANGED, None));
        assert_eq!(next, "SELECT balance FROM account");
        let deadlock = b"\x0b\0\0\x01\xff\xbd\x04#40001no";
        let again = advance(Cause::Received(deadlock, None));
        assert_eq!(again, "SELECT balance FROM account");
    }
}

/// Asks for nothing at all.
#[derive(Debug)]
struct Idle;

impl Session for Idle {
    fn begin(&mut self, _: &mut Turn<'_>) -> Step {
        Step::Done {
            transactions: 1,
            kind: None,
        }
    }

    fn again(&mut self, turn: &mut Turn<'_>) -> Step {
        self.begin(turn)
    }

    fn replied(&mut self, _: &Reply, _: &[Row], turn: &mut Turn<'_>) -> Step {
        self.begin(turn)
    }

    fn refused(&mut self, _: &ServerError, turn: &mut Turn<'_>) -> Step {
        self.begin(turn)
    }

    fn sql(&self) -> String {
        String::new()
    }
}

impl SessionSource for Idle {
    fn session(&self, _: u32) -> Box<dyn Session> {
        Box::new(Self)
    }

    fn kinds(&self) -> SessionKinds {
        SessionKinds::default()
    }
}

#[test]
fn a_session_that_asks_for_nothing_lets_others_have_their_turn() {
    let (mut driver, mut shared) = (driver(&Idle), shared(0));
    let (mut meter, _frames) = meter_told(Arc::new(AtomicU64::new(7)));
    let next = driver.advance(Cause::Start, &mut shared, &mut meter);
    assert_eq!(next.unwrap(), Next::Due(8));
    let next = driver.advance(Cause::Time, &mut shared, &mut meter);
    assert_eq!(next.unwrap(), Next::Due(8));
}

#[test]
fn a_connection_is_idle_from_its_login_not_from_the_start_of_the_run() {
    let (mut driver, shared) = (driver(&Payments), shared(0));
    let (mut meter, _frames) = meter_told(Arc::new(AtomicU64::new(1)));
    driver.unasked_since = Instant::now().checked_sub(Duration::from_secs(3));
    driver.closed_idle(&mut meter);
    let closed = std::io::ErrorKind::UnexpectedEof.into();
    let (error, _) = driver.cause_of_loss(&closed, &shared);
    let words = "the server closed it after 3.0 s without a statement";
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn a_longer_way_holds_requests_and_replies_back() {
    let (mut driver, mut shared) = (driver(&Payments), shared(RTT_NS / 2));
    let now_ns = Arc::new(AtomicU64::new(0));
    let (mut meter, _frames) = meter_told(Arc::clone(&now_ns));
    let mut advance = |cause, at_ns| {
        now_ns.store(at_ns, Ordering::Relaxed);
        let next = driver.advance(cause, &mut shared, &mut meter).unwrap();
        (next, sent(&mut shared))
    };
    assert_eq!(advance(Cause::Start, 0), (Next::Time(1_000), String::new()));
    let read = "SELECT balance FROM account".to_owned();
    assert_eq!(advance(Cause::Time, 1_000), (Next::Reply, read));
    let reply = advance(Cause::Received(BALANCE, None), 5_000);
    assert_eq!(reply, (Next::Time(6_000), String::new()));
    // The reply has arrived; the next request sets out.
    assert_eq!(
        advance(Cause::Time, 6_000),
        (Next::Time(7_000), String::new())
    );
    let pay = "UPDATE account SET balance = 42".to_owned();
    assert_eq!(advance(Cause::Time, 7_000), (Next::Reply, pay));
}
