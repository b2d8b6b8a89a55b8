//! Terminals without a server.

use std::sync::atomic::{AtomicU64, Ordering};

use weir_model::{Address, OrderEntryWorkload};
use weir_mysql::{Gate, WireRows};
use weir_workload::seeded;

use super::*;
use crate::meter::Meter;
use crate::plan::LoadPlan;
use crate::session::Work;
use crate::testing::{meter_told, nowhere};
use weir_workload::Workload;

/// The session of one connection, whose statements go as text, and what it needs for its turns.
struct Bench {
    session: OrderEntrySession,
    meter: Meter<'static>,
    now_ns: Arc<AtomicU64>,
    rng: Rng,
    rows: WireRows,
}

impl Bench {
    fn new(workload: OrderEntryWorkload) -> Self {
        let spec = weir_model::WorkloadSpec::OrderEntry(workload);
        let mut plan = LoadPlan::new(nowhere(), Workload::try_from(&spec).unwrap());
        plan.prepared_statements = false;
        let script = plan.script().unwrap();
        let statements =
            Statements::prepare(&script, |_| Ok::<_, std::convert::Infallible>(Vec::new()));
        let templates = Arc::new(Templates::new(script));
        let work = OrderEntry::new(workload, plan.seed);
        let now_ns = Arc::<AtomicU64>::default();
        Self {
            session: work.session(0, templates, statements.unwrap()),
            meter: meter_told(Arc::clone(&now_ns)).0,
            now_ns,
            rng: seeded(1, 0),
            rows: WireRows::default(),
        }
    }

    /// Lets the session act; what comes next, and the text that it asks for.
    fn act(
        &mut self,
        act: impl FnOnce(&mut OrderEntrySession, &mut Turn<'_>) -> Step,
    ) -> (Step, String) {
        let (mut out, mut scratch) = (Vec::new(), Vec::new());
        let to = (&Address::Socket("/nowhere".into()), &Gate::own());
        let (rng, rows) = (&mut self.rng, &self.rows);
        let mut turn = Turn::new(&mut out, rng, &mut scratch, &self.meter, to, rows);
        let step = act(&mut self.session, &mut turn);
        let text = out.get(5..).unwrap_or_default();
        (step, String::from_utf8_lossy(text).into_owned())
    }

    fn done(&mut self) -> (Step, String) {
        let reply = Reply::Done { affected_rows: 1 };
        self.act(|session, turn| session.replied(&reply, &[], turn))
    }

    fn refused(&mut self, code: u16) -> (Step, String) {
        let error = ServerError {
            code,
            state: String::new(),
            message: String::new(),
        };
        self.act(|session, turn| session.refused(&error, turn))
    }
}

/// A session that is about to begin a payment.
fn payment() -> Bench {
    let mut bench = Bench::new(OrderEntryWorkload::default());
    bench.session.kind = TransactionKind::Payment;
    bench
}

#[test]
fn a_payment_is_asked_for_statement_by_statement() {
    let mut bench = payment();
    let (step, text) = bench.act(OrderEntrySession::begin);
    assert_eq!(text, "BEGIN");
    assert_eq!(step, Step::Request { kind: Some(0) });
    let (_, text) = bench.done();
    let amount = text
        .strip_prefix("UPDATE warehouse SET w_ytd = w_ytd + ")
        .and_then(|rest| rest.strip_suffix(" WHERE w_id = 1"));
    let cents = amount.unwrap().replace('.', "").parse().unwrap();
    assert!((100..=500_000).contains(&cents), "{text}");
    assert!(!bench.session.needs_rows());
    let (_, text) = bench.done();
    assert!(text.ends_with("FROM warehouse WHERE w_id = 1"), "{text}");
    assert!(bench.session.needs_rows());
    // An answer without the warehouse.
    let (step, _) = bench.done();
    assert_eq!(step, Step::End);
}

#[test]
fn a_deadlock_is_tried_again_and_a_lock_that_was_waited_for_undone_before() {
    let mut bench = payment();
    bench.act(OrderEntrySession::begin);
    let (_, first) = bench.done();
    let retry = Step::Retry { keeps_start: true };
    assert_eq!(bench.refused(DEADLOCK), (retry, String::new()));
    bench.act(OrderEntrySession::again);
    let (_, again) = bench.done();
    assert_eq!(again, first, "the same transaction");
    let (_, text) = bench.refused(1205);
    assert_eq!(text, "ROLLBACK");
    assert_eq!(bench.done(), (retry, String::new()));
    bench.act(OrderEntrySession::again);
    assert_eq!(bench.done().1, first);
}

#[test]
fn users_take_their_time_if_they_are_asked_to() {
    let mut hasty = payment();
    assert_eq!(hasty.session.due_ns(), None);
    let mut bench = Bench::new(OrderEntryWorkload {
        keying_and_think_time: true,
        ..OrderEntryWorkload::default()
    });
    let keying_ns = bench.session.kind.keying_ns();
    assert_eq!(bench.session.due_ns(), Some(keying_ns));
    bench.session.kind = TransactionKind::Payment;
    bench.act(OrderEntrySession::begin);
    bench.session.at = Query::Commit;
    let end_ns = 7_000_000_000;
    bench.now_ns.store(end_ns, Ordering::Relaxed);
    bench.meter.now();
    let (step, _) = bench.done();
    let paid = Some(TransactionKind::Payment as usize);
    assert_eq!(
        step,
        Step::Done {
            transactions: 1,
            kind: paid
        }
    );
    let least_ns = end_ns + bench.session.kind.keying_ns();
    let due_ns = bench.session.due_ns().unwrap();
    assert!(due_ns > least_ns && due_ns <= least_ns + 120_000_000_000);
}

#[test]
fn kinds_are_named() {
    let kinds = OrderEntry::kinds();
    assert_eq!(kinds.transactions[0], "new_order");
    assert_eq!(kinds.transactions.len(), 6);
    assert_eq!(kinds.statements.len(), Query::ALL.len());
    let plan = LoadPlan::new(nowhere(), Workload::read(OrderEntryWorkload::NAME).unwrap());
    let of_plan = Work::of_plan(&plan).unwrap().kinds();
    assert_eq!(of_plan.transactions, kinds.transactions);
    assert_eq!(of_plan.statements, kinds.statements);
}
