//! Order entry on real servers: loading, transactions, and the conditions that hold after both.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_load::{
    CONDITIONS, ConditionCheck, LoadError, LoadPlan, PreparePlan, Workload, check_order_entry,
    cleanup, prepare,
};
use weir_model::{Flavor, LoadSpec, OrderEntryWorkload, WorkloadSpec};
use weir_mysql::Connection;

use super::{Bench, checksum, go, make, users_gate};

weir_testing::on_both_flavors! {
    conditions_hold_after_loading_and_after_a_run
    each_condition_is_seen_to_be_broken
    an_interrupted_loading_makes_the_same_rows
    statements_go_as_text_and_users_keep_to_their_warehouses
    tables_of_another_size_are_refused
}

const TABLES: [&str; 9] = [
    "warehouse",
    "district",
    "item",
    "customer",
    "history",
    "stock",
    "orders",
    "new_order",
    "order_line",
];

const SMALL: OrderEntryWorkload = OrderEntryWorkload {
    warehouses: 3,
    items: 500,
    customers: 60,
    foreign_keys: false,
    keying_and_think_time: false,
    fixed_warehouses: false,
};

fn named(workload: OrderEntryWorkload) -> Workload {
    Workload::try_from(&WorkloadSpec::OrderEntry(workload)).unwrap()
}

fn tables(bench: &Bench, workload: OrderEntryWorkload) -> PreparePlan {
    PreparePlan {
        threads: 3,
        ..PreparePlan::new(bench.server.endpoint(), named(workload))
    }
}

/// A run of so many transactions.
fn plan(bench: &Bench, workload: OrderEntryWorkload, transactions: u64) -> LoadPlan {
    LoadPlan {
        max_events: Some(transactions),
        load: LoadSpec {
            connections: 8,
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(bench.server.endpoint(), named(workload))
    }
}

fn check(bench: &Bench) -> Vec<ConditionCheck> {
    let mut all = Vec::new();
    let never = AtomicBool::new(false);
    let plan = tables(bench, SMALL);
    check_order_entry(&plan, &users_gate(), &never, &mut |checked| {
        all.push(checked.clone());
    })
    .unwrap();
    assert_eq!(all.len(), CONDITIONS);
    all
}

#[track_caller]
fn assert_holds(bench: &Bench) {
    let broken: Vec<_> = check(bench)
        .into_iter()
        .filter(|checked| checked.broken.is_some())
        .collect();
    assert_eq!(broken, []);
}

fn count(oracle: &mut Connection, sql: &str) -> u64 {
    oracle.first::<u64>(sql).unwrap().unwrap()
}

fn conditions_hold_after_loading_and_after_a_run(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let workload = OrderEntryWorkload {
        foreign_keys: true,
        ..SMALL
    };
    make(&tables(&bench, workload)).unwrap();
    assert_holds(&bench);
    let mut oracle = bench.oracle();
    let orders = count(&mut oracle, "SELECT COUNT(*) FROM orders");
    assert_eq!(orders, 3 * 10 * 60);
    let outcome = go(&plan(&bench, workload, 3_000)).unwrap();
    let of_kind = |name: &str| {
        let mut kinds = outcome.kinds.iter();
        let kind = kinds.find(|kind| !kind.is_statement && kind.name == name);
        kind.map_or(0, |kind| kind.count)
    };
    let entered = count(&mut oracle, "SELECT COUNT(*) FROM orders") - orders;
    assert_eq!(entered, of_kind("new_order"));
    assert!(entered > 1_000, "{entered}");
    let paid = count(&mut oracle, "SELECT COUNT(*) FROM history") - orders;
    assert_eq!(paid, of_kind("payment"));
    let all = [
        "new_order",
        "payment",
        "order_status",
        "delivery",
        "stock_level",
    ];
    let mut done: u64 = all.iter().map(|name| of_kind(name)).sum();
    done += of_kind("new_order rolled back");
    assert_eq!(done, 3_000);
    let delivered = "SELECT COALESCE(SUM(c_delivery_cnt), 0) FROM customer";
    assert!(count(&mut oracle, delivered) > 300);
    let remote = "SELECT COUNT(*) FROM history WHERE h_w_id <> h_c_w_id";
    assert!(count(&mut oracle, remote) > 100);
    assert_holds(&bench);
    cleanup(&tables(&bench, workload), &users_gate()).unwrap();
    let left = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()";
    assert_eq!(count(&mut oracle, left), 0);
}

fn each_condition_is_seen_to_be_broken(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    make(&tables(&bench, SMALL)).unwrap();
    go(&plan(&bench, SMALL, 200)).unwrap();
    assert_holds(&bench);
    let mut oracle = bench.oracle();
    // Each is undone before the next; some rows are in several conditions.
    for (change, broken) in [
        (
            "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2",
            &[1, 8][..],
        ),
        (
            "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_w_id = 2 AND d_id = 3",
            &[1, 9],
        ),
        (
            "UPDATE district SET d_next_o_id = 1 WHERE d_w_id = 2 AND d_id = 3",
            &[2],
        ),
        (
            "DELETE FROM new_order WHERE no_w_id = 2 AND no_d_id = 3 AND no_o_id = 55",
            &[3, 5, 11],
        ),
        (
            "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 2 AND o_d_id = 3 AND o_id = 9",
            &[4, 6],
        ),
        (
            "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 10 AND ol_o_id = 1 AND ol_number = 2",
            &[4, 6],
        ),
        (
            "UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 3 AND o_d_id = 1 AND o_id = 2",
            &[5, 7],
        ),
        (
            "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 3 AND ol_d_id = 1 AND ol_o_id = 2 \
             AND ol_number = 1",
            &[7],
        ),
        (
            "UPDATE history SET h_amount = h_amount + 1 WHERE h_w_id = 1 LIMIT 1",
            &[8, 9, 10],
        ),
        (
            "UPDATE customer SET c_balance = c_balance + 1 WHERE c_w_id = 3 AND c_d_id = 4 AND c_id = 5",
            &[10, 12],
        ),
        (
            "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = 3 AND c_d_id = 4 AND c_id = 5",
            &[11],
        ),
        (
            "UPDATE customer SET c_ytd_payment = c_ytd_payment - 1 \
             WHERE c_w_id = 3 AND c_d_id = 4 AND c_id = 5",
            &[12],
        ),
    ] {
        // The copy of the table, to undo what is changed.
        let table = TABLES
            .iter()
            .find(|table| change.split(' ').take(3).any(|word| word == **table))
            .unwrap();
        oracle
            .run(format!("CREATE TABLE kept LIKE {table}"))
            .unwrap();
        oracle
            .run(format!("INSERT INTO kept SELECT * FROM {table}"))
            .unwrap();
        oracle.run(change).unwrap();
        let found: Vec<_> = check(&bench)
            .into_iter()
            .filter(|checked| checked.broken.is_some())
            .map(|checked| checked.number)
            .collect();
        assert_eq!(found, broken, "{change}");
        oracle.run(format!("DROP TABLE {table}")).unwrap();
        oracle.run(format!("RENAME TABLE kept TO {table}")).unwrap();
    }
    assert_holds(&bench);
}

fn an_interrupted_loading_makes_the_same_rows(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let workload = OrderEntryWorkload {
        items: 40_000,
        ..SMALL
    };
    let plan = tables(&bench, workload);
    let mut oracle = bench.oracle();
    let stop = AtomicBool::new(false);
    let interrupted = prepare(&plan, &users_gate(), &stop, &mut |done, _| {
        // Stocks are being loaded: customers are there, at least those of a slice.
        stop.store(done > 45_000, Ordering::Relaxed);
    });
    assert!(
        matches!(interrupted, Err(LoadError::Interrupted(_))),
        "{interrupted:?}"
    );
    let refused = go(&self::plan(&bench, workload, 1))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("run `prepare`"), "{refused}");
    make(&plan).unwrap();
    let resumed = TABLES.map(|table| checksum(&mut oracle, table));
    cleanup(&plan, &users_gate()).unwrap();
    // One connection, and rows as inserts.
    oracle.run("SET GLOBAL local_infile = 0").unwrap();
    make(&PreparePlan { threads: 1, ..plan }).unwrap();
    assert_eq!(TABLES.map(|table| checksum(&mut oracle, table)), resumed);
    assert_holds(&bench);
}

fn statements_go_as_text_and_users_keep_to_their_warehouses(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    make(&tables(&bench, SMALL)).unwrap();
    let workload = OrderEntryWorkload {
        fixed_warehouses: true,
        ..SMALL
    };
    let mut load = plan(&bench, workload, 600);
    load.prepared_statements = false;
    load.load.connections = 2;
    let outcome = go(&load).unwrap();
    assert_eq!(outcome.counts_whole_run.transactions, 600);
    let mut oracle = bench.oracle();
    let at: BTreeSet<u32> = oracle
        .rows("SELECT o_w_id FROM orders WHERE o_id > 60")
        .unwrap()
        .into_iter()
        .collect();
    assert_eq!(at, BTreeSet::from([1, 2]));
    assert_holds(&bench);
}

fn tables_of_another_size_are_refused(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let refused = |workload| go(&plan(&bench, workload, 1)).unwrap_err().to_string();
    assert!(refused(SMALL).contains("does not exist"));
    make(&tables(&bench, SMALL)).unwrap();
    let more = |change: fn(&mut OrderEntryWorkload)| {
        let mut workload = SMALL;
        change(&mut workload);
        workload
    };
    let error = refused(more(|workload| workload.warehouses = 4));
    assert!(error.contains("has 3 warehouses, but 4"), "{error}");
    let keys = more(|workload| workload.foreign_keys = true);
    let error = make(&tables(&bench, keys)).unwrap_err().to_string();
    assert!(error.contains("has 0 foreign keys, not"), "{error}");
    // Complete tables are left.
    make(&tables(&bench, SMALL)).unwrap();
    let fewer = more(|workload| workload.customers = 50);
    let error = make(&tables(&bench, fewer)).unwrap_err().to_string();
    assert!(error.contains("exists with"), "{error}");
    let error = refused(more(|workload| workload.items = 400));
    assert!(error.contains("has 500 items, but 400"), "{error}");
    go(&plan(&bench, more(|workload| workload.warehouses = 2), 20)).unwrap();
}
