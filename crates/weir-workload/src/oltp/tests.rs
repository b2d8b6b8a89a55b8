//! Statements of transactions, and their order.

use super::*;
use crate::Workload;

const INPUTS: ScriptInputs = ScriptInputs {
    tables: 3,
    rows: 10_000,
    connections: 1,
    seed: 1,
    auto_increment: true,
};

fn workload(names: &str, mix: Mix) -> Workload {
    let workload = SysbenchWorkload {
        shares: names.parse().unwrap(),
        mix,
        ..SysbenchWorkload::default()
    };
    workload.into()
}

fn script_of(names: &str, mix: Mix) -> Result<Script, WorkloadError> {
    workload(names, mix).script(&INPUTS)
}

/// The names of a transaction's statements.
fn names(script: &Script, transaction: usize) -> Vec<&str> {
    let steps = script.transactions[transaction].steps.iter();
    steps
        .map(|step| match step {
            Step::Execute(execution) => script.statements[execution.statement].name.as_str(),
            Step::Bulk => "bulk",
        })
        .collect()
}

#[test]
fn transactions_have_as_many_statements_as_in_sysbench() {
    let length = |workload, mix| {
        let script = script_of(workload, mix).unwrap();
        script.transactions[0].steps.len()
    };
    for workload in [
        "oltp_insert",
        "oltp_delete",
        "oltp_update_index",
        "oltp_update_non_index",
        "select_random_points",
        "select_random_ranges",
        "bulk_insert",
        "oltp_point_select",
    ] {
        assert_eq!(length(workload, Mix::default()), 1, "{workload}");
    }
    assert_eq!(length("oltp_read_write", Mix::default()), 20);
    assert_eq!(length("oltp_read_only", Mix::default()), 16);
    assert_eq!(length("oltp_write_only", Mix::default()), 6);
    let bare = Mix {
        skip_transactions: true,
        range_selects: false,
        ..Mix::default()
    };
    assert_eq!(length("oltp_read_write", bare), 14);
}

#[test]
fn an_insert_restores_the_row_that_was_just_deleted_on_one_table() {
    let mix = Mix {
        delete_inserts: 2,
        ..Mix::default()
    };
    let script = script_of("oltp_write_only", mix).unwrap();
    assert_eq!(
        names(&script, 0)[3..],
        ["delete", "insert", "delete", "insert", "commit"]
    );
    let steps = &script.transactions[0].steps[3..7];
    let chosen: Vec<_> = steps
        .iter()
        .map(|step| match step {
            Step::Execute(execution) => (execution.new_table, execution.draws.len()),
            Step::Bulk => panic!("no bulk here"),
        })
        .collect();
    assert_eq!(chosen, [(true, 1), (false, 0), (false, 1), (false, 0)]);
    assert!(script.transactions[0].is_explicit);
}

#[test]
fn no_workload_prepares_more_than_a_server_is_made_ready_for() {
    for workload in WorkloadName::ALL {
        let script = script_of(workload.as_str(), Mix::default()).unwrap();
        let prepared = script.prepared_statements();
        assert!(
            prepared <= STATEMENTS_PER_TABLE_MAX * u64::from(INPUTS.tables),
            "{workload}: {prepared}"
        );
    }
}

#[test]
fn text_workloads_have_the_statements_of_the_study() {
    let script = script_of("oltp_text_read_write", Mix::default()).unwrap();
    assert_eq!(
        names(&script, 0)[14..],
        [
            "distinct_range",
            "text_select",
            "text_index_update",
            "text_non_index_update",
            "text_update",
            "delete",
            "text_insert",
            "commit"
        ]
    );
    let read_only = script_of("oltp_text_read_only", Mix::default()).unwrap();
    assert_eq!(names(&read_only, 0)[15..], ["text_select", "commit"]);
    let texts: Vec<_> = script.statements.iter().map(|s| s.sql(0)).collect();
    for sql in [
        "SELECT id,data2 FROM sbtest1 WHERE data1=?",
        "UPDATE sbtest1 SET k=?,data1=? WHERE id=?",
        "UPDATE sbtest1 SET c=?,data2=? WHERE id=?",
        "UPDATE sbtest1 SET data2=? WHERE data1=?",
        "INSERT INTO sbtest1 (id, k, c, pad, data1, data2) VALUES (?, ?, ?, ?, ?, ?)",
    ] {
        assert!(texts.iter().any(|text| text == sql), "{sql}");
    }
}

#[test]
fn every_question_mark_has_a_parameter_and_every_slot_exists() {
    for workload in WorkloadName::ALL {
        let script = script_of(workload.as_str(), Mix::default()).unwrap();
        for statement in &script.statements {
            let marks = statement.sql(0).matches('?').count();
            assert_eq!(marks, statement.parameters.len(), "{}", statement.sql(0));
            for parameter in &statement.parameters {
                if let Parameter::Slot(slot, _) | Parameter::SlotPlus(slot, _) = parameter {
                    assert!(*slot < script.slots, "{workload}");
                }
            }
        }
    }
}

#[test]
fn workloads_of_a_mix_share_their_statements() {
    let script = script_of("oltp_point_select:80,oltp_read_write:20", Mix::default()).unwrap();
    assert_eq!(script.transactions.len(), 2);
    assert_eq!(script.transactions[1].name, "oltp_read_write");
    assert_eq!(names(&script, 0), ["point_select"]);
    let points = script
        .statements
        .iter()
        .filter(|s| s.name == "point_select");
    assert_eq!(points.count(), 1);
    assert!(script_of("oltp_point_select,bulk_insert", Mix::default()).is_err());
}

#[test]
fn a_transaction_without_statements_is_refused() {
    let mix = Mix {
        index_updates: 0,
        non_index_updates: 0,
        delete_inserts: 0,
        ..Mix::default()
    };
    assert!(script_of("oltp_write_only", mix).is_err());
    for (random_points, random_ranges) in [(0, 10), (65_536, 10), (10, 0), (10, 32_768)] {
        let mix = Mix {
            random_points,
            random_ranges,
            ..Mix::default()
        };
        assert!(script_of("select_random_points", mix).is_err());
    }
}

#[test]
fn lists_are_as_long_as_asked_for() {
    let mix = Mix {
        random_points: 3,
        random_ranges: 2,
        ..Mix::default()
    };
    let points = script_of("select_random_points", mix).unwrap();
    assert_eq!(
        points.statements[0].sql(0),
        "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?)"
    );
    let ranges = script_of("select_random_ranges", mix).unwrap();
    let sql = ranges.statements[0].sql(0);
    assert!(sql.ends_with("WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?"));
}

#[test]
fn rows_of_a_run_without_auto_increment_come_after_those_of_the_table() {
    let inputs = ScriptInputs {
        auto_increment: false,
        ..INPUTS
    };
    let script = workload("oltp_insert", Mix::default());
    let script = script.script(&inputs).unwrap();
    assert_eq!(
        script.statements[0].sql(1),
        "INSERT INTO sbtest2 (id, k, c, pad) VALUES (?, ?, ?, ?)"
    );
    let [numbers] = &script.new_numbers()[..] else {
        panic!("{script:?}");
    };
    let columns: Vec<_> = numbers.columns.iter().collect();
    assert!(columns.len() == inputs.tables as usize && columns.iter().all(|c| c.1 == "id"));
}
