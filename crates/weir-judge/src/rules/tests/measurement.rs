//! Rules on how it was measured.

use super::*;

#[test]
fn r4_two_pairs_are_too_few_and_a_small_effect_wants_five() {
    let (rules, verdict) = spoiled(|result| result.runs.truncate(4));
    assert_eq!((rules, verdict), invalid("R4"));
    let small = |result: &mut StudyResult| {
        for run in &mut result.runs {
            set_throughput(
                run,
                if run.record.cell == 0 { 1000.0 } else { 1100.0 }
                    + f64::from(run.record.repetition % 2),
            );
        }
    };
    assert_eq!(spoiled(small), warned("R4"));
}

#[test]
fn r4_a_trend_over_the_order_of_runs_is_named() {
    let drifting = |result: &mut StudyResult| {
        for (position, run) in result.runs.iter_mut().enumerate() {
            let level = if run.record.cell == 0 { 1000.0 } else { 1500.0 };
            set_throughput(run, level * 0.98_f64.powf(position as f64));
        }
    };
    let (rules, _) = spoiled(drifting);
    assert_eq!(rules, [("R4".to_owned(), Severity::Warning)]);
}

/// The study at a second number of connections, where the throughput of doublewrite OFF is
/// `other` times that of ON.
fn with_another_context(result: &mut StudyResult, other: f64) {
    for index in 0..2 {
        let mut cell = result.plan.cells[index].clone();
        result.plan.cells[index]
            .levels
            .insert("threads".into(), "4".into());
        cell.levels.insert("threads".into(), "8".into());
        cell.spec_mut().load.connections = 8;
        result.plan.cells.push(cell);
    }
    for mut run in result.runs.clone() {
        if run.record.cell == 1 {
            let queries_per_s = run.record.queries_per_s * other / 1.5;
            set_throughput(&mut run, queries_per_s);
        }
        run.record.cell += 2;
        result.runs.push(run);
    }
}

#[test]
fn r5_an_effect_inside_the_noise_is_inconclusive() {
    // Pairs agree to a per mille, but the pairs themselves are 20 % apart.
    let noisy = |result: &mut StudyResult| {
        for run in &mut result.runs {
            let drift = [1.0, 0.8, 1.2, 1.0][run.record.repetition as usize];
            let level = if run.record.cell == 0 { 1000.0 } else { 1080.0 };
            let unlike = 1.0 + 0.001 * f64::from(run.record.repetition) * run.record.cell as f64;
            set_throughput(run, level * drift * unlike);
        }
    };
    let (rules, verdict) = spoiled(noisy);
    assert!(
        rules.contains(&("R5".to_owned(), Severity::Inconclusive)),
        "{rules:?}"
    );
    assert_eq!(verdict, Verdict::Inconclusive);
}

#[test]
fn r5_an_effect_must_be_larger_than_its_negative_control() {
    let verdicts = |control: bool| {
        let mut result = fair();
        with_another_context(&mut result, 1.8);
        if control {
            result.plan.negative_controls = vec![NegativeControl {
                factor: "innodb_doublewrite".into(),
                at: BTreeMap::from([("threads".to_owned(), "8".to_owned())]),
            }];
        }
        let result = evaluate(result).unwrap();
        let of_factor = |comparison: &&weir_model::Comparison| {
            comparison.factor == "innodb_doublewrite" && !comparison.negative_control
        };
        let comparisons = result.comparisons.iter().filter(of_factor);
        comparisons.map(|found| found.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(false), [Verdict::Effect, Verdict::Effect]);
    assert_eq!(verdicts(true), [Verdict::Inconclusive]);
}

#[test]
fn r6_short_or_unsteady_runs_are_named() {
    let short = |result: &mut StudyResult| {
        change_all(result, |spec| spec.load.measure = Duration::from_secs(10));
    };
    assert_eq!(spoiled(short), warned("R6"));
    let ramp = |result: &mut StudyResult| {
        for (second, interval) in result.runs[0].intervals.iter_mut().enumerate() {
            interval.queries = 700 + 60 * second as u64;
        }
    };
    assert_eq!(spoiled(ramp), warned("R6"));
}

#[test]
fn r15_a_drive_that_still_wrote_to_its_slc_cache_is_named() {
    let writing = |mb_per_s: u64| {
        move |result: &mut StudyResult| {
            result.drives[0].slc = Some(weir_model::SlcCache {
                capacity: "2G".parse().unwrap(),
                capacity_when_full: "1G".parse().unwrap(),
                bandwidth_mb_per_s: 1000.0,
                fold_mb_per_s: 100.0,
            });
            for run in &mut result.runs {
                run.record.approach.warmup_s = 100.0;
                run.drive = Some(Arc::new(DriveStatistics {
                    host_written_bytes: mb_per_s * 300 * 1_000_000,
                    ..DriveStatistics::default()
                }));
            }
        }
    };
    assert_eq!(spoiled(writing(20)), warned("R15"));
    assert_eq!(spoiled(writing(22)), (vec![], Verdict::Effect));
}

#[test]
fn r6_a_page_cleaner_without_averages_is_named() {
    let writing = |pages: f64, loops: &'static str| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                let variables = Arc::make_mut(&mut run.variables);
                variables.insert("innodb_buffer_pool_size".into(), "163840".into());
                variables.insert("innodb_flushing_avg_loops".into(), loops.into());
                run.record.approach.warmup_s = 20.0;
                run.series = vec![weir_model::Series {
                    metric: "status.pages_written".into(),
                    times_s: vec![-10.0, 1800.0],
                    values: vec![7.0, 7.0 + pages],
                    ..weir_model::Series::default()
                }];
            }
        }
    };
    assert_eq!(spoiled(writing(5.0, "30")), warned("R6"));
    assert_eq!(spoiled(writing(5.0, "20")), (vec![], Verdict::Effect));
    assert_eq!(spoiled(writing(0.0, "30")), (vec![], Verdict::Effect));
}

#[test]
fn r6_a_redo_log_or_a_pool_that_did_not_turn_is_named() {
    let counting = |written: f64, pages: f64| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                for (name, size) in [
                    ("redo_log_capacity", "1000"),
                    ("buffer_pool_size", "163840"),
                ] {
                    let name = format!("innodb_{name}");
                    Arc::make_mut(&mut run.variables).insert(name, size.to_owned());
                }
                let counters = [("redo_written_bytes", written), ("pool_reads", pages)];
                let series = counters.map(|(name, value)| weir_model::Series {
                    metric: format!("status.{name}"),
                    times_s: vec![-10.0, 1800.0],
                    values: vec![7.0, 7.0 + value],
                    ..weir_model::Series::default()
                });
                run.series = series.to_vec();
            }
        }
    };
    assert_eq!(spoiled(counting(2000.0, 30.0)), (vec![], Verdict::Effect));
    assert_eq!(spoiled(counting(900.0, 30.0)), warned("R6"));
    assert_eq!(spoiled(counting(2000.0, 29.0)), warned("R6"));
    // Read only, and cached.
    assert_eq!(spoiled(counting(0.0, 0.0)), (vec![], Verdict::Effect));
}

#[test]
fn r7_stalls_behind_a_mean_are_named() {
    let stalled = |result: &mut StudyResult| {
        for run in &mut result.runs {
            run.intervals[4].queries = 10;
        }
    };
    let (rules, _) = spoiled(stalled);
    assert!(
        rules.contains(&("R7".to_owned(), Severity::Note)),
        "{rules:?}"
    );
}

#[test]
fn r8_a_latency_that_contradicts_throughput_is_named() {
    let contradicting = |factor: f64| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                let fair_us = 4.0 / run.record.transactions_per_s * 1e6;
                run.record.latency.us_mean = fair_us * factor;
            }
        }
    };
    assert_eq!(spoiled(contradicting(0.8)), warned("R8"));
    assert_eq!(spoiled(contradicting(1.02)), (vec![], Verdict::Effect));
}

#[test]
fn r14_a_busy_client_is_named_and_a_saturated_one_forbids() {
    let busy = |connections: u32| {
        move |result: &mut StudyResult| {
            change_all(result, |spec| spec.load.connections = connections);
            for run in result.runs.iter_mut().filter(|run| run.record.cell == 0) {
                run.record.utilization.client_cpu = 0.8;
            }
        }
    };
    // Four connections at the client, of 64 (7 %), of 12 (half as fast again), of 8.
    assert_eq!(spoiled(busy(64)), noted("R14"));
    assert_eq!(spoiled(busy(12)), warned("R14"));
    assert_eq!(spoiled(busy(8)), invalid("R14"));
    let saturated =
        |result: &mut StudyResult| result.runs[0].record.bottleneck = Bottleneck::ClientCpu;
    assert_eq!(spoiled(saturated), invalid("R14"));
}

/// Lets others use cores of a host of two that is all busy, beside each run of a cell.
fn others(result: &mut StudyResult, cell: usize, cores: f64) {
    let runs = result.runs.iter_mut().map(|run| &mut run.record);
    for record in runs.filter(|record| record.cell == cell) {
        record.utilization = Utilization {
            host_cores: 2.0,
            host_cpu: 0.95,
            other_cores: cores,
            others: vec![OtherProcess {
                name: "cc1".to_owned(),
                cores,
            }],
            ..Utilization::default()
        };
    }
}

#[test]
fn r24_others_on_the_cores_forbid_where_they_are_many_or_differ() {
    let beside = |baseline: f64, level: f64| {
        spoiled(|result| {
            others(result, 0, baseline);
            others(result, 1, level);
        })
    };
    assert_eq!(beside(1.1, 1.1), invalid("R24"));
    assert_eq!(beside(0.3, 0.0), invalid("R24"));
    assert_eq!(beside(0.0, 0.3), invalid("R24"));
    assert_eq!(beside(0.3, 0.3), (vec![], Verdict::Effect));
    let idle = |result: &mut StudyResult| {
        others(result, 0, 0.6);
        for run in &mut result.runs {
            run.record.utilization.host_cpu = 0.5;
        }
    };
    assert_eq!(spoiled(idle), warned("R24"));
}

#[test]
fn r24_names_who_it_was() {
    let mut result = fair();
    others(&mut result, 1, 1.1);
    let result = crate::evaluate(result).unwrap();
    let findings = &result.comparisons[0].findings;
    let words =
        "other processes used 1.1 of 2 cores (cc1) beside one level and 0.0 beside the other";
    assert!(
        findings
            .iter()
            .any(|finding| finding.message.starts_with(words)),
        "{findings:?}"
    );
}

#[test]
fn r16_many_failed_transactions_forbid() {
    let failing = |result: &mut StudyResult| result.runs[0].record.errors = 10_000;
    assert_eq!(spoiled(failing), invalid("R16"));
    let stalled = |result: &mut StudyResult| result.runs[0].record.unfinished = 1;
    assert_eq!(spoiled(stalled), warned("R16"));
    let few = |result: &mut StudyResult| result.runs[0].record.errors = 10;
    assert_eq!(spoiled(few), (vec![], Verdict::Effect));
}

#[test]
fn r16_a_run_that_completed_nothing_forbids() {
    let nothing = |result: &mut StudyResult| result.runs[1].record.queries_per_s = 0.0;
    let (rules, verdict) = spoiled(nothing);
    assert!(
        rules.contains(&("R16".to_owned(), Severity::Error)),
        "{rules:?}"
    );
    assert_eq!(verdict, Verdict::Invalid);
}

#[test]
fn r18_a_result_without_seconds_cannot_be_checked() {
    let means_only = |result: &mut StudyResult| result.runs[0].intervals.clear();
    assert_eq!(spoiled(means_only), noted("R18"));
}

#[test]
fn a_late_drive_is_noted_and_forbids_where_its_lateness_could_be_the_effect() {
    let late = |result: &mut StudyResult| {
        let drive = Arc::make_mut(result.runs[0].drive.as_mut().unwrap());
        drive.late_share = 0.2;
    };
    assert_eq!(spoiled(late), noted("drive"));
    let early = |result: &mut StudyResult| {
        Arc::make_mut(result.runs[0].drive.as_mut().unwrap()).early_share = 0.2;
    };
    assert_eq!(spoiled(early), noted("drive"));
    // The effect is 1.53 (1.49 to 1.57): how much slower was the drive of the level that lost?
    let slower = |cell: usize, lateness_s: f64| {
        move |result: &mut StudyResult| {
            for run in result.runs.iter_mut().filter(|run| run.record.cell == cell) {
                let drive = Arc::make_mut(run.drive.as_mut().unwrap());
                read_for(drive, 10.0);
                drive.lateness_s = lateness_s;
            }
        }
    };
    assert_eq!(spoiled(slower(0, 0.05)), (vec![], Verdict::Effect));
    assert_eq!(spoiled(slower(0, 1.1)), noted("drive"));
    assert_eq!(spoiled(slower(0, 5.1)), warned("drive"));
    assert_eq!(spoiled(slower(0, 6.0)), invalid("drive"));
    // Without its lateness the level that won would have won by more.
    assert_eq!(spoiled(slower(1, 6.0)), noted("drive"));
}

/// As where a container forbids `pidfd_getfd(2)`.
#[test]
fn flushes_that_held_up_writes_are_told() {
    let held_up = |result: &mut StudyResult| {
        let why = "pidfd_getfd: operation not permitted".to_owned();
        let name = weir_model::variables::FLUSHES_HOLD_WRITES.to_owned();
        Arc::make_mut(&mut result.runs[1].variables).insert(name, why);
    };
    assert_eq!(spoiled(held_up), warned("drive"));
}

#[test]
fn drive_cores_that_it_takes_from_a_busy_server_bound_the_ratio() {
    // The effect is 1.53 (1.49 to 1.57): how much did the drive of the level that lost take?
    let taken = |cores: [f64; 2], bottleneck: Bottleneck| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                run.record.bottleneck = bottleneck;
                run.record.utilization.server_cores = 1.0;
                run.record.utilization.drive_cores = cores[run.record.cell];
            }
        }
    };
    let server = Bottleneck::ServerCpu;
    let is_fair = (vec![], Verdict::Effect);
    assert_eq!(spoiled(taken([0.4, 0.4], server)), is_fair, "alike in both");
    assert_eq!(spoiled(taken([0.6, 0.0], Bottleneck::DriveWrite)), is_fair);
    assert_eq!(spoiled(taken([0.1, 0.0], server)), noted("drive"));
    assert_eq!(spoiled(taken([0.51, 0.0], server)), warned("drive"));
    assert_eq!(spoiled(taken([0.6, 0.0], server)), invalid("drive"));
    assert_eq!(spoiled(taken([0.0, 0.6], server)), noted("drive"));
}

#[test]
fn r24_stolen_time_bounds_the_ratio() {
    let stolen = |share: f64| {
        move |result: &mut StudyResult| {
            for run in &mut result.runs {
                run.record.utilization.host_cores = 2.0;
                run.record.utilization.steal = share;
            }
        }
    };
    assert_eq!(spoiled(stolen(0.002)), (vec![], Verdict::Effect));
    assert_eq!(spoiled(stolen(0.02)), noted("R24"));
    assert_eq!(spoiled(stolen(0.168)), warned("R24"));
    assert_eq!(spoiled(stolen(0.2)), invalid("R24"));
}

#[test]
fn r6_a_short_measurement_that_passes_all_checks_is_noted_only() {
    let short = |steady: Option<bool>| {
        move |result: &mut StudyResult| {
            change_all(result, |spec| spec.load.measure = Duration::from_secs(10));
            for run in &mut result.runs {
                run.record.approach.steady = steady;
            }
        }
    };
    assert_eq!(spoiled(short(None)), warned("R6"));
    assert_eq!(spoiled(short(Some(true))), noted("R6"));
    let ramp = |result: &mut StudyResult| {
        short(Some(true))(result);
        for (second, interval) in result.runs[0].intervals.iter_mut().enumerate() {
            interval.queries = 700 + 60 * second as u64;
        }
    };
    let (rules, _) = spoiled(ramp);
    let warning = ("R6".to_owned(), Severity::Warning);
    assert_eq!(rules, [warning.clone(), warning]);
}

#[test]
fn a_drive_that_nobody_asks_may_be_late() {
    let unused = |result: &mut StudyResult| {
        let drive = Arc::make_mut(result.runs[0].drive.as_mut().unwrap());
        drive.uptime_s = 20.0;
        read_for(drive, 0.1);
        drive.lateness_s = 1.0;
        drive.late_share = 0.9;
    };
    assert_eq!(spoiled(unused), (vec![], Verdict::Effect));
}

/// All that `drive` did was to read, for `modelled_s`.
fn read_for(drive: &mut DriveStatistics, modelled_s: f64) {
    let reads = FileKindStatistics {
        read_latency_s: modelled_s,
        ..FileKindStatistics::default()
    };
    drive.by_kind = [(FileKind::Data, reads)].into();
}

#[test]
fn profile_recalled_figures_are_named_where_two_drives_are_compared() {
    use weir_model::{Grade, PublishedFigure, PublishedOperation, PublishedPoint};

    let said = |grade: Option<Grade>, published: Vec<PublishedPoint>, name: &'static str| {
        let (rules, _) = spoiled(|result| {
            let mut other = result.drives[0].clone();
            name.clone_into(&mut other.name);
            (other.grade, other.published) = (grade, published);
            result.drives.push(other);
            let spec = result.plan.cells[1].spec_mut();
            spec.primary_mut().drive.as_mut().unwrap().profile = name.into();
        });
        let mut of_profile = rules.into_iter().filter(|(rule, _)| rule == "profile");
        of_profile.next().map(|(_, severity)| severity)
    };
    assert_eq!(
        said(Some(Grade::Recalled), vec![], "e"),
        Some(Severity::Warning)
    );
    assert_eq!(
        said(Some(Grade::DataSheet), vec![], "e"),
        Some(Severity::Note)
    );
    assert_eq!(said(Some(Grade::Measured), vec![], "e"), None);
    assert_eq!(said(None, vec![], "e"), None);
    // The same drive at both levels: its figures are the same for both.
    assert_eq!(said(Some(Grade::Recalled), vec![], "d"), None);
    let point = PublishedPoint {
        source: "a review".to_owned(),
        date: "2020".to_owned(),
        operation: PublishedOperation::Read,
        bytes: Bytes(4096),
        depth: 1,
        sequential: false,
        span: None,
        model_capacity: None,
        fresh: false,
        figure: PublishedFigure::LatencyUs,
        measured: 100.0,
        emulated: 60.0,
        caveat: String::new(),
    };
    assert_eq!(
        said(Some(Grade::DataSheet), vec![point], "e"),
        Some(Severity::Warning)
    );
}
