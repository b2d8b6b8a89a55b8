//! What holds between sessions, which transactions a filter takes, comments that the server executes, and a server
//! whose schema is another one: one server, captured and then brought back.

use std::path::Path;

use weir_model::{Flavor, ReplayFilter, ReplayOrder, ReplayPace};
use weir_mysql::Connection;
use weir_replay::{ReplayOptions, ReplayOutcome};

use crate::bench::{Proxy, Shop};

weir_testing::on_both_flavors! {
    writes_end_in_the_captures_order_and_filters_take_whole_transactions
}

const SESSIONS: u64 = 4;
const TURNS: u64 = 240;
/// How often three statements fail.
const REFUSED: u64 = 5;

/// What is left of the writes depends on their order.
fn state(root: &mut Connection) -> u64 {
    let found: Option<(u64,)> = root.first("SELECT v FROM turn WHERE id = 1").unwrap();
    found.unwrap().0
}

/// As before the capture.
fn bring_back(root: &mut Connection) {
    for sql in [
        "DROP TABLE IF EXISTS turn",
        "DROP TABLE IF EXISTS made",
        "CREATE TABLE turn (id INT PRIMARY KEY, v BIGINT UNSIGNED NOT NULL)",
        "INSERT INTO turn VALUES (1, 7), (2, 7)",
    ] {
        root.run(sql).unwrap();
    }
}

/// Sessions take turns, one statement at a time, in an order that no clock of theirs gives.
fn produce(shop: &Shop, port: u16) {
    let endpoint = shop.endpoint(port);
    let mut clients: Vec<_> = (0..SESSIONS)
        .map(|_| weir_testing::connect(&endpoint))
        .collect();
    // A statement like sysbench's own.
    clients[0]
        .run("CREATE TABLE made (a INT) /*! ENGINE = innodb */")
        .unwrap();
    let mut random = 1_u64;
    for turn in 0..TURNS {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let client = &mut clients[(random >> 60) as usize % SESSIONS as usize];
        let update = format!("UPDATE turn SET v = MOD(v * 31 + {turn}, 1000000007) WHERE id = 1");
        if turn % 3 == 0 {
            client.run("BEGIN").unwrap();
            client
                .run("SELECT v FROM turn WHERE id = 1 FOR UPDATE")
                .unwrap();
            client.run(update).unwrap();
            client.run("COMMIT").unwrap();
        } else {
            client.run(update).unwrap();
        }
        if turn % 10 == 0 {
            client.run("BEGIN").unwrap();
            client.run("SELECT id FROM turn").unwrap();
            client.run("COMMIT").unwrap();
        }
    }
    for _ in 0..REFUSED {
        refused(&mut clients[0]);
    }
}

/// A schema that is not there, a key that is, as text and prepared, and a table that is not. The session stays in its
/// schema, and all that follows is replayed.
fn refused(client: &mut Connection) {
    client.run("USE not_there").unwrap_err();
    client.run("INSERT INTO turn VALUES (1, 7)").unwrap_err();
    let insert = "INSERT INTO turn VALUES (?, ?)";
    client.execute::<(u64,)>(insert, (1, 7)).unwrap_err();
    client.run("SELECT a FROM not_there").unwrap_err();
}

fn writes_end_in_the_captures_order_and_filters_take_whole_transactions(flavor: Flavor) {
    let shop = Shop::start(flavor);
    let mut root = shop.oracle();
    bring_back(&mut root);
    let proxy = Proxy::start(&shop, flavor);
    let path = proxy.path.clone();
    produce(&shop, proxy.port);
    proxy.finish();
    let produced = state(&mut root);

    let replay = |root: &mut Connection, order, filter| {
        bring_back(root);
        let options = ReplayOptions {
            pace: ReplayPace::Fast,
            order,
            filter,
            ..ReplayOptions::default()
        };
        shop.replay_as(&path, &options, true).record
    };
    // Without an order each session runs through as fast as it goes.
    let free = replay(&mut root, ReplayOrder::Session, ReplayFilter::All);
    assert_ne!(state(&mut root), produced);
    assert_eq!(free.fidelity.order_waits, 0);
    let ordered = replay(&mut root, ReplayOrder::Commit, ReplayFilter::All);
    let told = &ordered.fidelity;
    assert_eq!(told.errors, 3 * REFUSED, "{told:?}");
    assert_eq!(state(&mut root), produced, "{told:?}");
    assert!(told.order_waits > 0 && told.order_given_up == 0, "{told:?}");
    assert_eq!(
        (told.errors_differ, told.affected_differ),
        (0, 0),
        "{told:?}"
    );
    // The comment was sent as what this server reads.
    assert_eq!(told.not_sent.not_allowed, 0, "{told:?}");
    root.run("SELECT a FROM made").unwrap();

    let sent = |record: &weir_model::ReplayRecord, text: &str| {
        let found = record
            .fingerprints
            .iter()
            .filter(|found| found.fingerprint.starts_with(text));
        found.map(|found| found.sent).sum::<u64>()
    };
    let writes = replay(&mut root, ReplayOrder::Commit, ReplayFilter::Writes);
    assert_eq!(state(&mut root), produced);
    assert_eq!(sent(&writes, "update turn"), TURNS);
    assert_eq!(sent(&writes, "begin"), TURNS / 3);
    assert_eq!(sent(&writes, "commit"), TURNS / 3);
    assert_eq!(
        sent(&writes, "select v from turn where id = ? for update"),
        TURNS / 3
    );
    assert_eq!(sent(&writes, "select id from turn"), 0);
    let reads = replay(&mut root, ReplayOrder::Session, ReplayFilter::Reads);
    assert_eq!(state(&mut root), 7);
    assert_eq!(sent(&reads, "select id from turn"), TURNS / 10);
    assert_eq!(sent(&reads, "begin"), TURNS / 10);
    assert_eq!(sent(&reads, "update turn"), 0);
    // Equal rows have equal digests, whatever came between.
    let digest = |record: &weir_model::ReplayRecord| {
        let found = record
            .fingerprints
            .iter()
            .find(|found| found.fingerprint == "select id from turn");
        found.unwrap().results.clone()
    };
    assert_eq!(digest(&reads), digest(&ordered));
    assert_eq!(digest(&reads).len(), 16);

    errors_of_the_capture_are_no_failures(&shop, &mut root, &path);
    another_schema(&shop, &mut root, &path);
}

/// The load counts the errors that the capture did not have.
fn errors_of_the_capture_are_no_failures(shop: &Shop, root: &mut Connection, path: &Path) {
    bring_back(root);
    let outcome = shop.replay(path, ReplayPace::Captured, true);
    let told = &outcome.record.fidelity;
    assert_eq!(
        (told.errors, told.errors_captured, told.errors_differ),
        (3 * REFUSED, 3 * REFUSED, 0),
        "{told:?}"
    );
    assert_eq!(outcome.load.counts_whole_run.errors, 0);
}

/// A server without the table: each statement is sent and its error counted.
fn another_schema(shop: &Shop, root: &mut Connection, path: &Path) {
    bring_back(root);
    root.run("DROP TABLE turn").unwrap();
    let ReplayOutcome { record, load, .. } = shop.replay(path, ReplayPace::Fast, true);
    let told = &record.fidelity;
    let counted = load.counts_whole_run.errors;
    assert!(counted >= told.errors_differ, "{counted} {told:?}");
    assert_eq!(told.sent + told.not_sent.all(), told.captured);
    assert!(told.errors_differ >= TURNS, "{told:?}");
    let updates = record
        .fingerprints
        .iter()
        .find(|found| found.fingerprint.starts_with("update turn"));
    let updates = updates.unwrap();
    assert_eq!(
        (updates.sent, updates.errors, updates.errors_differ),
        (TURNS, TURNS, TURNS)
    );
}
