//! The shop as production behind the proxy, and its capture on another server.

use std::sync::atomic::AtomicBool;

use weir_load::{Counts, LoadPlan, run};
use weir_model::Flavor;
use weir_model::{ReplayFidelity, ReplayPace};
use weir_mysql::Gate;
use weir_replay::{ReplayOptions, Survey};

use crate::bench::{Proxy, Shop, load};

const EVENTS: u64 = 400;
/// Of the statements, those that what others did at the same time may change.
const DIFFERENT_MAX: f64 = 0.01;

weir_testing::on_both_flavors! {
    a_capture_of_production_is_the_same_load_on_another_server
}

/// Runs the shop through a proxy twice: with prepared statements, and with text.
fn produce(shop: &Shop, proxy: &Proxy) -> Counts {
    let mut all = Counts::default();
    for prepared_statements in [true, false] {
        let plan = LoadPlan {
            prepared_statements,
            ..load(shop, proxy.port, EVENTS)
        };
        let outcome = run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
        let counts = outcome.counts_whole_run;
        assert_eq!(counts.transactions, EVENTS);
        all.queries += counts.queries;
        all.reads += counts.reads;
        all.writes += counts.writes;
    }
    all
}

fn assert_same(fidelity: &ReplayFidelity) {
    assert_eq!(fidelity.not_joined_why, None);
    assert_eq!(fidelity.sessions_joined, fidelity.sessions);
    assert_eq!(fidelity.connections_lost, 0);
    assert_eq!(fidelity.errors_differ, 0, "{fidelity:?}");
    let share = |differ: u64, of: u64| differ as f64 / of.max(1) as f64;
    assert!(
        share(fidelity.rows_differ, fidelity.rows_compared) <= DIFFERENT_MAX,
        "{fidelity:?}"
    );
    let affected = share(fidelity.affected_differ, fidelity.affected_compared);
    assert!(affected <= DIFFERENT_MAX, "{fidelity:?}");
}

fn a_capture_of_production_is_the_same_load_on_another_server(flavor: Flavor) {
    let production = Shop::start(flavor);
    let before = production.purchases();
    let proxy = Proxy::start(&production, flavor);
    let path = proxy.path.clone();
    let produced = produce(&production, &proxy);
    let tail = proxy.finish();
    assert_eq!(tail.losses, weir_capture::Losses::default());
    let survey = Survey::read(&path, &ReplayOptions::default()).unwrap();
    // The load generator's own looks at the server are in it, too.
    assert!(survey.statements >= produced.queries, "{survey:?}");
    assert_eq!(
        survey.schema(),
        Some(&*production.server.endpoint().database)
    );

    let other = Shop::start(flavor);
    let outcome = other.replay(&path, ReplayPace::Captured, true);
    let fidelity = &outcome.record.fidelity;
    assert_eq!(fidelity.sent + fidelity.not_sent.all(), survey.statements);
    assert_eq!(
        fidelity.not_sent.all(),
        fidelity.not_sent.other_schema,
        "{fidelity:?}"
    );
    assert_same(fidelity);
    assert!(fidelity.rows_compared >= produced.reads, "{fidelity:?}");
    assert_eq!(other.purchases(), production.purchases());
    assert!(production.purchases() > before);
    let counts = outcome.load.counts_whole_run;
    assert!(
        counts.reads >= produced.reads && counts.writes >= produced.writes,
        "{counts:?}"
    );
    assert!(outcome.load.measured_s * 1e6 >= survey.length_us as f64 * 0.5);
    let look = "select name, price_cents, stock from product where id = ?";
    let looked = outcome
        .record
        .fingerprints
        .iter()
        .find(|found| found.fingerprint == look)
        .unwrap();
    assert_eq!(looked.sent, looked.captured);
    assert_eq!(looked.rows_differ, 0);
    assert!(looked.latency.unwrap().us_p99 > 0.0 && looked.captured_us_mean.unwrap() > 0.0);

    // Only read, as fast as it goes: nothing is changed.
    let purchases = other.purchases();
    let outcome = other.replay(&path, ReplayPace::Fast, false);
    assert_eq!(other.purchases(), purchases);
    let fidelity = &outcome.record.fidelity;
    assert!(fidelity.not_sent.not_allowed > 0, "{fidelity:?}");
    assert_eq!(fidelity.sent + fidelity.not_sent.all(), survey.statements);

    // A part of it: its transactions are whole.
    let part = ReplayOptions {
        pace: ReplayPace::Fast,
        from_us: survey.length_us / 4,
        length_us: Some(survey.length_us / 2),
        ..ReplayOptions::default()
    };
    let outcome = other.replay_as(&path, &part, true);
    let fidelity = &outcome.record.fidelity;
    assert_eq!(fidelity.sent + fidelity.not_sent.all(), fidelity.captured);
    assert!(
        fidelity.captured > 0 && fidelity.captured < survey.statements,
        "{fidelity:?}"
    );
    assert_eq!(fidelity.errors_differ, 0, "{fidelity:?}");
    let sent = |text: &str| {
        let found = outcome
            .record
            .fingerprints
            .iter()
            .filter(|found| found.fingerprint.starts_with(text));
        found.map(|found| found.sent).sum::<u64>()
    };
    assert_eq!(sent("begin"), sent("commit"));
    assert_eq!(other.purchases(), purchases + sent("insert into purchase"));
}
