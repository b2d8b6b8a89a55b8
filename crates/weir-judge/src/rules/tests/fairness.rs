//! Rules on what is compared with what.

use super::*;

#[test]
fn r1_an_undeclared_difference_is_an_error_and_a_socket_is_none() {
    let set = |name: &'static str| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                let cell = run.record.cell.to_string();
                Arc::make_mut(&mut run.variables).insert(name.into(), cell);
            }
        }
    };
    assert_eq!(spoiled(set("innodb_io_capacity")), invalid("R1"));
    assert_eq!(spoiled(set("socket")), (vec![], Verdict::Effect));
}

#[test]
fn r1_two_programs_have_their_own_names_for_the_redo_log() {
    let of_mariadb = |file_size: &'static str| {
        move |result: &mut StudyResult| {
            change_all(result, |spec| {
                let set = &mut spec.primary_mut().variables;
                set.insert("innodb_redo_log_capacity".into(), "64M".into());
            });
            let mariadb = result.plan.cells[1].spec_mut();
            mariadb.primary_mut().server.flavor = Flavor::Mariadb;
            let mut test = result.plan.crash_tests[0].clone();
            test.server = Some("mariadb 10.11.19".into());
            result.plan.crash_tests.push(test);
            for run in &mut result.runs {
                let (name, size, version) = match run.record.cell {
                    0 => ("innodb_redo_log_capacity", "67108864", "9.7.4"),
                    _ => ("innodb_log_file_size", file_size, "10.11.19"),
                };
                let variables = Arc::make_mut(&mut run.variables);
                variables.insert(name.into(), size.into());
                variables.insert("version".into(), version.into());
            }
        }
    };
    assert_eq!(spoiled(of_mariadb("67108864")), (vec![], Verdict::Effect));
    let (rules, verdict) = spoiled(of_mariadb("33554432"));
    assert!(
        rules.contains(&("R1".to_owned(), Severity::Error)),
        "{rules:?}"
    );
    assert_eq!(verdict, Verdict::Invalid);
}

#[test]
fn r2_durability_that_changed_under_a_run_forbids_its_verdict() {
    let changed = |name: &'static str| {
        move |result: &mut StudyResult| {
            let changed = &mut result.runs[1].variables_changed;
            changed.insert(name.to_owned(), "2".to_owned());
        }
    };
    let (rules, verdict) = spoiled(changed("innodb_flush_log_at_trx_commit"));
    assert!(
        rules.contains(&("R2".to_owned(), Severity::Error)),
        "{rules:?}"
    );
    assert_eq!(verdict, Verdict::Invalid);
    let (rules, _) = spoiled(changed("innodb_io_capacity"));
    assert!(!rules.iter().any(|(rule, _)| rule == "R2"), "{rules:?}");
}

#[test]
fn r2_unequal_durability_forbids_a_ranking_but_its_price_may_be_asked() {
    let lazy = |result: &mut StudyResult| {
        for run in &mut result.runs {
            let value = if run.record.cell == 0 { "1" } else { "2" };
            let name = "innodb_flush_log_at_trx_commit".to_owned();
            Arc::make_mut(&mut run.variables).insert(name, value.to_owned());
        }
    };
    // What differs and is not declared also breaks R1.
    let (rules, verdict) = spoiled(lazy);
    assert!(
        rules.contains(&("R2".to_owned(), Severity::Warning)),
        "{rules:?}"
    );
    assert_eq!(verdict, Verdict::Invalid);
    let ranked = |result: &mut StudyResult| {
        lazy(result);
        // The factor is a number of connections, and durability differs beside it.
        for (index, cell) in result.plan.cells.iter_mut().enumerate() {
            let spec = cell.spec_mut();
            spec.primary_mut().variables.clear();
            spec.load.connections = 4 + index as u32;
        }
    };
    let (rules, _) = spoiled(ranked);
    assert!(
        rules.contains(&("R2".to_owned(), Severity::Error)),
        "{rules:?}"
    );
}

#[test]
fn r3_doublewrite_off_on_a_drive_that_tears_pages_is_unsafe() {
    let torn = |result: &mut StudyResult| {
        result.drives = vec![DriveProfile::parse("d", &DRIVE.replace("ATOMIC", "512")).unwrap()];
    };
    assert_eq!(spoiled(torn), warned("R3"));
    let unknown = |result: &mut StudyResult| {
        change_all(result, |spec| spec.primary_mut().drive = None);
    };
    assert_eq!(spoiled(unknown), warned("R3"));
}

/// The warning is the study's; a note tells the one comparison that hangs on the promise.
fn untested() -> (Vec<(String, Severity)>, Verdict) {
    let severities = [Severity::Note, Severity::Warning];
    let findings = severities.map(|severity| ("R3".to_owned(), severity));
    (findings.into(), Verdict::Effect)
}

#[test]
fn r3_a_promise_without_a_power_cut_is_a_warning_and_a_note_of_its_comparison() {
    let without = |result: &mut StudyResult| result.plan.crash_tests.clear();
    assert_eq!(spoiled(without), untested());
    let lost = |result: &mut StudyResult| result.plan.crash_tests[0].lost = 1;
    assert_eq!(spoiled(lost), untested());
}

/// Levels that trust the drive alike do not differ in safety.
#[test]
fn r3_a_comparison_of_two_levels_without_doublewrite_has_no_note() {
    let both_off = |result: &mut StudyResult| {
        result.plan.crash_tests.clear();
        for run in &mut result.runs {
            let variables = Arc::make_mut(&mut run.variables);
            variables.insert("innodb_doublewrite".into(), "OFF".into());
        }
    };
    let (found, _) = spoiled(both_off);
    assert!(
        !found.contains(&("R3".to_owned(), Severity::Note)),
        "{found:?}"
    );
}

/// A test of another server says nothing of this one, and none says anything of a real drive.
#[test]
fn r3_a_crash_test_counts_for_its_server_and_its_rules_only() {
    let changed = |change: fn(&mut CrashTest)| {
        move |result: &mut StudyResult| change(&mut result.plan.crash_tests[0])
    };
    let changes: [fn(&mut CrashTest); 6] = [
        |test| test.server = Some("mysql 9.7.3".into()),
        |test| test.server = Some("mariadb 9.7.4".into()),
        |test| test.server = None,
        |test| test.page = Some(Bytes(4096)),
        |test| test.atomic = Some(Bytes(65_536)),
        |test| test.drive = "e".into(),
    ];
    for change in changes {
        assert_eq!(spoiled(changed(change)), untested());
    }
    let method = |result: &mut StudyResult| {
        for run in &mut result.runs {
            let variables = Arc::make_mut(&mut run.variables);
            variables.insert("innodb_flush_method".into(), "fsync".into());
        }
    };
    assert_eq!(spoiled(method), untested());
    let result = evaluate(fair()).unwrap();
    let said = &result.findings[0].message;
    assert!(said.contains("is a vendor claim"), "{said}");
}

/// A server whose variables show it as durable is less so by its status, its process and its mount.
#[test]
fn r2_what_no_variable_says_makes_a_server_less_durable() {
    use weir_model::variables::{DATA_LOST_BECAUSE, FLUSHES_DISABLED_BY, REDO_LOG_ENABLED};
    for (name, value) in [
        (REDO_LOG_ENABLED, "OFF"),
        (FLUSHES_DISABLED_BY, "libeatmydata.so.1"),
        (DATA_LOST_BECAUSE, "they lie in memory (tmpfs)"),
    ] {
        let of_cells = |cells: &'static [usize]| {
            move |result: &mut StudyResult| {
                for run in &mut result.runs {
                    let variables = Arc::make_mut(&mut run.variables);
                    variables.insert("innodb_flush_log_at_trx_commit".into(), "1".into());
                    if cells.contains(&run.record.cell) {
                        variables.insert(name.into(), value.into());
                    }
                }
                for (index, cell) in result.plan.cells.iter_mut().enumerate() {
                    let spec = cell.spec_mut();
                    spec.primary_mut().variables.remove("innodb_doublewrite");
                    spec.load.connections = 4 + index as u32;
                }
            }
        };
        let error = ("R2".to_owned(), Severity::Error);
        let warning = ("R2".to_owned(), Severity::Warning);
        let (rules, verdict) = spoiled(of_cells(&[1]));
        assert!(
            rules.contains(&error) && rules.contains(&warning),
            "{name}: {rules:?}"
        );
        assert_eq!(verdict, Verdict::Invalid);
        // Equal on both sides it is no reason not to compare; it is said.
        let (rules, _) = spoiled(of_cells(&[0, 1]));
        assert!(rules.contains(&warning), "{name}: {rules:?}");
        let (rules, _) = spoiled(of_cells(&[]));
        assert!(!rules.contains(&warning), "{name}: {rules:?}");
    }
    let disabled_meanwhile = |result: &mut StudyResult| {
        let changed = &mut result.runs[1].variables_changed;
        changed.insert(REDO_LOG_ENABLED.to_owned(), "OFF".to_owned());
    };
    assert_eq!(spoiled(disabled_meanwhile).1, Verdict::Invalid);
}

#[test]
fn r9_other_queries_have_no_ratio() {
    let fewer = |result: &mut StudyResult| {
        for run in result.runs.iter_mut().filter(|run| run.record.cell == 1) {
            run.record.transactions_per_s /= 2.0;
        }
    };
    assert_eq!(spoiled(fewer), invalid("R9"));
    // Half of the 300,000 queries belong to transactions that were under way at the ends.
    let under_way = |result: &mut StudyResult| {
        fewer(result);
        change_all(result, |spec| spec.load.connections = 40_000);
    };
    assert_eq!(spoiled(under_way), (vec![], Verdict::Effect));
}

#[test]
fn r10_data_of_another_size_than_their_rows_are_named() {
    let sized = |bytes_per_row: u64| {
        move |result: &mut StudyResult| {
            change_all(result, |spec| {
                let (tables, rows) = (1, 10_000_000);
                spec.data.source = DataSource::Sysbench { tables, rows };
            });
            result.data_bytes = 10_000_000 * bytes_per_row;
        }
    };
    assert_eq!(spoiled(sized(25)), warned("R10"));
    assert_eq!(spoiled(sized(230)), (vec![], Verdict::Effect));
    let with_text = |result: &mut StudyResult| {
        sized(450)(result);
        change_all(result, |spec| {
            spec.workload = WorkloadName::OltpTextReadWrite.into();
        });
    };
    assert_eq!(spoiled(with_text), (vec![], Verdict::Effect));
}

#[test]
fn r13_a_claim_about_two_changes_needs_each_alone() {
    let together = |result: &mut StudyResult| {
        result.plan.cells[1].spec_mut().load.connections = 8;
        result.plan.claims = vec![Claim {
            says: "innodb_doublewrite OFF with more connections".into(),
            value: 1.93,
            ..Claim::default()
        }];
    };
    assert_eq!(spoiled(together).1, Verdict::Invalid);
    let rules = spoiled(together).0;
    assert!(
        rules.contains(&("R13".to_owned(), Severity::Error)),
        "{rules:?}"
    );
    let unclaimed = |result: &mut StudyResult| {
        together(result);
        result.plan.claims.clear();
    };
    assert_eq!(spoiled(unclaimed), (vec![], Verdict::Effect));
}
