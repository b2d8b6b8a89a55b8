//! Reasons that end a run before it begins, and errors within it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_load::{LoadError, LoadPlan, ToleratedErrors, prepare};
use weir_model::{Distribution, Flavor, LoadSpec, Secret, SysbenchWorkload, WorkloadName};
use weir_mysql::ClientError;

use super::{Bench, ROWS, gate_of, go};

weir_testing::on_both_flavors! {
    errors_are_told_apart_by_code_when_all_are_tolerated
    everything_at_once_with_hot_rows_goes_on_through_deadlocks
    missing_privileges_are_named_before_the_run
    limits_of_the_server_are_known_before_the_run
    a_wrong_password_is_refused_in_the_servers_words
}

fn errors_are_told_apart_by_code_when_all_are_tolerated(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    bench
        .oracle()
        .run("ALTER TABLE sbtest1 DROP COLUMN pad")
        .unwrap();
    let plan = LoadPlan {
        tolerated: ToleratedErrors::All,
        ..bench.plan(WorkloadName::OltpInsert)
    };
    let outcome = go(&plan).unwrap();
    let [error] = outcome.errors.as_slice() else {
        panic!("{:?}", outcome.errors);
    };
    // ER_BAD_FIELD_ERROR, on one of the two tables.
    assert_eq!((error.code, error.count), (1054, outcome.counts.errors));
    assert!(error.first_message.contains("'pad'"), "{error:?}");
    assert!(outcome.counts.writes > 0);
    let error = go(&bench.plan(WorkloadName::OltpInsert)).unwrap_err();
    assert!(matches!(error, LoadError::Table { .. }), "{error}");
    assert!(
        error.to_string().contains("unknown column 'pad'"),
        "{error}"
    );
}

fn everything_at_once_with_hot_rows_goes_on_through_deadlocks(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let on_hot_rows = SysbenchWorkload {
        // All keys on 30 rows.
        distribution: Distribution::Special {
            iterations: 12,
            hot_rows_percent: 1,
            hot_keys_percent: 100,
        },
        ..WorkloadName::OltpReadWrite.into()
    };
    let plan = LoadPlan {
        reactors: 2,
        workload: on_hot_rows.into(),
        load: LoadSpec {
            connections: 16,
            measure: Duration::from_secs(2).into(),
            ..bench.plan(WorkloadName::OltpReadWrite).load
        },
        ..bench.plan(WorkloadName::OltpReadWrite)
    };
    // On a busy machine two seconds may pass without a deadlock.
    let mut deadlocks = 0;
    while deadlocks == 0 {
        let outcome = go(&plan).unwrap();
        assert!(outcome.counts_whole_run.transactions > 0);
        assert_eq!(outcome.unfinished, 0);
        deadlocks = outcome.counts_whole_run.errors;
    }
    let rows: u64 = bench
        .oracle()
        .first("SELECT COUNT(*) FROM sbtest1")
        .unwrap()
        .unwrap();
    assert_eq!(rows, ROWS);
}

fn missing_privileges_are_named_before_the_run(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    let database = bench.server.endpoint().database;
    for statement in [
        "CREATE USER 'reader'@'localhost' IDENTIFIED BY 'secret word' \
         WITH MAX_USER_CONNECTIONS 3"
            .to_owned(),
        format!("GRANT SELECT ON {database}.* TO 'reader'@'localhost'"),
    ] {
        oracle.run(statement).unwrap();
    }
    let plan = |workload, connections| {
        let mut plan = bench.plan(workload);
        "reader".clone_into(&mut plan.endpoint.user);
        plan.endpoint.password = Secret::new("secret word");
        plan.load.connections = connections;
        plan
    };
    // As text and prepared.
    for (workload, wanted) in [
        (WorkloadName::OltpInsert, "INSERT"),
        (WorkloadName::OltpReadWrite, "UPDATE"),
        (WorkloadName::OltpDelete, "DELETE"),
    ] {
        let error = go(&plan(workload, 2)).unwrap_err();
        assert!(
            matches!(&error, LoadError::Client(ClientError::Privilege { privilege, .. }) if privilege == wanted),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.contains("reader") && text.contains("sbtest1"),
            "{text}"
        );
    }
    go(&plan(WorkloadName::OltpPointSelect, 2)).unwrap();
    let error = go(&plan(WorkloadName::OltpPointSelect, 4)).unwrap_err();
    assert!(
        matches!(
            error,
            LoadError::Limit {
                variable: "max_user_connections",
                value: 3,
                needed: 4,
                ..
            }
        ),
        "{error}"
    );
    let mut tables = bench.tables();
    tables.endpoint = plan(WorkloadName::OltpInsert, 1).endpoint;
    "elsewhere".clone_into(&mut tables.endpoint.database);
    let error = prepare(
        &tables,
        &gate_of("elsewhere"),
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
    .unwrap_err();
    assert!(
        matches!(&error, LoadError::Client(ClientError::Privilege { privilege, .. }) if privilege == "CREATE"),
        "{error}"
    );
}

fn limits_of_the_server_are_known_before_the_run(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    oracle
        .run("SET GLOBAL max_prepared_stmt_count = 20")
        .unwrap();
    let error = go(&bench.plan(WorkloadName::OltpReadWrite)).unwrap_err();
    // Begin, commit, and nine statements on two tables, four times.
    assert!(
        matches!(
            error,
            LoadError::Limit {
                variable: "max_prepared_stmt_count",
                value: 20,
                needed: 80,
                ..
            }
        ),
        "{error}"
    );
    oracle
        .run("SET GLOBAL max_prepared_stmt_count = 10000")
        .unwrap();
    oracle.run("SET GLOBAL max_connections = 10").unwrap();
    let plan = LoadPlan {
        load: LoadSpec {
            connections: 64,
            ..bench.plan(WorkloadName::OltpPointSelect).load
        },
        ..bench.plan(WorkloadName::OltpPointSelect)
    };
    let error = go(&plan).unwrap_err();
    // The oracle's connection counts too.
    assert!(
        matches!(
            error,
            LoadError::Limit {
                variable: "max_connections",
                value: 10,
                needed: 65..,
                ..
            }
        ),
        "{error}"
    );
    let plan = LoadPlan {
        rows: 2 * ROWS,
        ..bench.plan(WorkloadName::OltpPointSelect)
    };
    let error = go(&plan).unwrap_err();
    assert!(matches!(error, LoadError::Table { .. }), "{error}");
}

fn a_wrong_password_is_refused_in_the_servers_words(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let mut plan = bench.plan(WorkloadName::OltpPointSelect);
    plan.endpoint.password = Secret::new("not-the-password");
    let error = go(&plan).unwrap_err();
    assert!(
        matches!(error, LoadError::Client(ClientError::Connect { .. })),
        "{error}"
    );
    let text = error.to_string();
    assert!(
        text.contains("Access denied") && !text.contains("not-the-password"),
        "{text}"
    );
}
