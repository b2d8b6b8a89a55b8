//! Tests of options that were asked for, and the servers' variables.

use super::*;

/// Options that Weir gives the servers of both cells, and what these say.
struct ServerOptions<'a> {
    /// Setting of the study -> its values in both cells.
    asked: &'a [(&'a str, [&'a str; 2])],
    /// Options of both servers in their own names.
    told: [&'a str; 2],
    /// Variable -> what both servers say.
    said: &'a [(&'a str, [&'a str; 2])],
}

impl ServerOptions<'_> {
    /// Makes the fair result one of these.
    fn make(&self, result: &mut StudyResult) {
        for (index, cell) in result.plan.cells.iter_mut().enumerate() {
            let asked = self.asked.iter();
            let asked = asked.map(|(name, values)| ((*name).to_owned(), values[index].to_owned()));
            cell.levels = asked.clone().take(1).collect();
            cell.spec_mut().primary_mut().variables = asked.collect();
        }
        for run in &mut result.runs {
            let cell = run.record.cell;
            let said = self.said.iter();
            let said = said.map(|(name, values)| ((*name).to_owned(), values[cell].to_owned()));
            let variables = Arc::make_mut(&mut run.variables);
            variables.insert("innodb_doublewrite".into(), "ON".into());
            variables.extend(said);
            let command = format!(
                "mysqld --no-defaults --datadir=(run)/drive/data {}",
                self.told[cell]
            );
            run.commands = vec!["weir drive mount d (run)/drive".to_owned(), command];
        }
    }

    fn findings(&self) -> (Vec<Finding>, Verdict) {
        let mut result = fair();
        self.make(&mut result);
        let result = evaluate(result).unwrap();
        let comparison = &result.comparisons[0];
        let findings = comparison.findings.iter().chain(&result.findings);
        let findings = findings.filter(|finding| !is_said_of_emulations(finding));
        (findings.cloned().collect(), comparison.verdict)
    }
}

fn sentences(findings: &[Finding], rule: RuleId) -> String {
    let found = findings.iter().filter(|finding| finding.rule == rule);
    found.map(|finding| finding.message.clone()).collect()
}

#[test]
fn r23_two_levels_that_the_server_makes_one_have_no_verdict() {
    let pools = ServerOptions {
        asked: &[("innodb_buffer_pool_size", ["200M", "250M"])],
        told: [
            "--innodb_buffer_pool_size=200M",
            "--innodb_buffer_pool_size=250M",
        ],
        said: &[("innodb_buffer_pool_size", ["268435456", "268435456"])],
    };
    let (findings, verdict) = pools.findings();
    assert_eq!(verdict, Verdict::Invalid);
    let message = sentences(&findings, RuleId::R23);
    let words = "innodb_buffer_pool_size is 256M on the server, set to 200M and 250M";
    assert!(message.contains(words), "{message}");
    assert!(
        message.contains("innodb_buffer_pool_size 256M instead of 200M"),
        "{message}"
    );
    let mut result = fair();
    pools.make(&mut result);
    assert_eq!(evaluate(result).unwrap().analysis.elasticities, []);
}

/// A rounding to whole units is none that anybody asks about, and neither is another notation.
#[test]
fn r23_is_silent_about_what_the_server_took() {
    for (asked, said) in [
        (["128M", "256M"], ["134217728", "268435456"]),
        (["100000000", "200000000"], ["99614720", "199229440"]),
        (["1.5G", "1e9"], ["1610612736", "1000000000"]),
    ] {
        let (findings, verdict) = ServerOptions {
            asked: &[("innodb_buffer_pool_size", asked)],
            told: ["", ""],
            said: &[("innodb_buffer_pool_size", said)],
        }
        .findings();
        assert_eq!(
            (sentences(&findings, RuleId::R23), verdict),
            (String::new(), Verdict::Effect)
        );
    }
}

#[test]
fn r23_tells_a_setting_that_moves_together_with_others_and_stays() {
    let (findings, verdict) = ServerOptions {
        asked: &[
            ("innodb_io_capacity", ["1", "2"]),
            ("innodb_doublewrite_pages", ["64", "128"]),
        ],
        told: ["", ""],
        said: &[
            ("innodb_io_capacity", ["100", "100"]),
            ("innodb_doublewrite_pages", ["64", "128"]),
        ],
    }
    .findings();
    let message = sentences(&findings, RuleId::R23);
    assert!(message.contains("the effect is of the others"), "{message}");
    assert_eq!(verdict, Verdict::Effect);
}

#[test]
fn r23_does_not_compare_what_only_one_of_two_servers_is_told() {
    let found = |other: Flavor| {
        let mut result = fair();
        let served = ServerOptions {
            asked: &[("innodb_io_capacity", ["1000", "2000"])],
            told: ["", ""],
            said: &[
                ("innodb_io_capacity", ["1000", "2000"]),
                ("log_bin", ["OFF", "OFF"]),
            ],
        };
        served.make(&mut result);
        let one = result.plan.cells[0].spec_mut().primary_mut();
        one.variables.insert("log_bin".into(), "OFF".into());
        let server = &mut result.plan.cells[1].spec_mut().primary_mut().server;
        server.flavor = other;
        let result = evaluate(result).unwrap();
        sentences(&result.comparisons[0].findings, RuleId::R23)
    };
    assert_eq!(found(Flavor::Mariadb), "");
    let same_server = found(Flavor::Mysql);
    assert!(
        same_server.contains("set to OFF and the default"),
        "{same_server}"
    );
}

/// Names are translated before they are compared.
#[test]
fn r1_knows_a_factor_by_whichever_name_the_server_says_it() {
    let on = |flavor: Flavor, version: &'static str, factor: (&str, [&str; 2]), said| {
        let mut result = fair();
        let asked = [factor];
        let served = ServerOptions {
            asked: &asked,
            told: ["", ""],
            said,
        };
        served.make(&mut result);
        change_all(&mut result, |spec| {
            spec.primary_mut().server.flavor = flavor;
        });
        for run in &mut result.runs {
            Arc::make_mut(&mut run.variables).insert("version".into(), version.into());
        }
        result.plan.crash_tests.clear();
        let result = evaluate(result).unwrap();
        let comparison = &result.comparisons[0];
        assert_eq!(comparison.findings, [], "{flavor} {factor:?}");
        assert_eq!(comparison.verdict, Verdict::Effect, "{flavor} {factor:?}");
    };
    let (mysql, mariadb) = (
        (Flavor::Mysql, "9.7.4"),
        (Flavor::Mariadb, "10.11.19-MariaDB"),
    );
    on(
        mariadb.0,
        mariadb.1,
        ("innodb_redo_log_capacity", ["64M", "128M"]),
        &[("innodb_log_file_size", ["67108864", "134217728"])],
    );
    on(
        mysql.0,
        mysql.1,
        ("innodb_log_file_size", ["32M", "64M"]),
        &[("innodb_redo_log_capacity", ["67108864", "134217728"])],
    );
    on(
        mariadb.0,
        mariadb.1,
        (
            "transaction_isolation",
            ["REPEATABLE-READ", "READ-COMMITTED"],
        ),
        &[("tx_isolation", ["REPEATABLE-READ", "READ-COMMITTED"])],
    );
    on(
        mysql.0,
        mysql.1,
        ("slave_parallel_threads", ["1", "4"]),
        &[
            ("replica_parallel_workers", ["1", "4"]),
            ("slave_parallel_workers", ["1", "4"]),
        ],
    );
    on(
        mariadb.0,
        mariadb.1,
        ("slow_query_log", ["OFF", "ON"]),
        &[
            ("slow_query_log", ["OFF", "ON"]),
            ("log_slow_query", ["OFF", "ON"]),
        ],
    );
}

const DERIVED: ServerOptions<'static> = ServerOptions {
    asked: &[("max_connections", ["151", "1000"])],
    told: [
        "--back_log=80 --max_connections=151",
        "--back_log=80 --max_connections=1000",
    ],
    said: &[
        ("max_connections", ["151", "1000"]),
        ("host_cache_size", ["279", "653"]),
        ("thread_cache_size", ["9", "18"]),
    ],
};

#[test]
fn r1_tells_what_the_server_derives_from_the_factor_as_its_consequence() {
    let (findings, verdict) = DERIVED.findings();
    assert_eq!(verdict, Verdict::Effect);
    let message = sentences(&findings, RuleId::R1);
    let words = "with max_connections the server changes 2 more (host_cache_size 279 -> 653, thread_cache_size 9 -> 18)";
    assert!(message.contains(words), "{message}");
}

/// A difference follows from the factor only where the options say so.
#[test]
fn r1_a_difference_is_no_consequence_where_options_do_not_explain_it() {
    let is_invalid = |served: ServerOptions<'_>, spoil: &dyn Fn(&mut StudyResult)| {
        let mut result = fair();
        served.make(&mut result);
        spoil(&mut result);
        let result = evaluate(result).unwrap();
        result.comparisons[0].verdict == Verdict::Invalid
    };
    let nothing: &dyn Fn(&mut StudyResult) = &|_| {};
    assert!(!is_invalid(DERIVED, nothing));
    // Another option differs, too.
    let more = [
        "--max_connections=151 --back_log=80",
        "--max_connections=1000 --back_log=9",
    ];
    assert!(is_invalid(
        ServerOptions {
            told: more,
            ..DERIVED
        },
        nothing
    ));
    // The study holds it fixed.
    let fixed = [
        "--max_connections=151 --thread_cache_size=9",
        "--max_connections=1000 --thread_cache_size=9",
    ];
    assert!(is_invalid(
        ServerOptions {
            told: fixed,
            ..DERIVED
        },
        nothing
    ));
    // Weir did not start it.
    assert!(is_invalid(DERIVED, &|result| {
        for run in &mut result.runs {
            run.commands.clear();
        }
    }));
    // The drive differs.
    assert!(is_invalid(DERIVED, &|result| {
        let command = &mut result.runs[1].commands[1];
        *command = command.replace("drive/data", "backing/data");
    }));
    // It changes by itself.
    assert!(is_invalid(DERIVED, &|result| {
        let variables = Arc::make_mut(&mut result.runs[3].variables);
        variables.insert("thread_cache_size".into(), "7".into());
    }));
}

/// Settings that no server has taken yet are those that the installed one will make.
#[test]
fn r11_counts_with_the_pools_that_the_server_will_make() {
    let plan = plan(include_str!("../../../fixtures/rules/R11.toml"));
    let tells = |near: bool| {
        let answers = plan.cells.iter().map(|cell| {
            let name = "innodb_buffer_pool_size".to_owned();
            let data = weir_model::data_size(&cell.spec).0;
            let written = cell.spec.variable(&name).unwrap().to_owned();
            let said = if near { data.to_string() } else { written };
            Some(Arc::new(crate::CellPreview {
                version: "9.7.4".parse().unwrap(),
                values: BTreeMap::from([(name, said)]),
            }))
        });
        let preview = SettingsPreview::new(answers.collect(), Vec::new());
        let found = findings_of_design(&plan, &[], &preview);
        found.iter().any(|finding| finding.rule == RuleId::R11)
    };
    assert!(tells(false) && !tells(true));
}

/// Of a screen, each candidate is set against the present configuration before anything runs.
#[test]
fn r23_knows_a_candidate_that_the_server_makes_the_present_value() {
    let plan = plan(
        "[study]\ntitle = \"T\"\nquestion = \"Q?\"\n[server]\n[data]\nworkload = \"oltp_read_only\"\nrows = 1_000\n\
         [load]\nthreads = 8\nwarmup = \"5s\"\nmeasure = \"10s\"\n[design]\nkind = \"screen\"\n[factors]\n\
         innodb_io_capacity = [200, 400]\nsort_buffer_size = [\"256K\", \"1M\"]\n\
         join_buffer_size = [\"256K\", \"1M\"]\nthread_cache_size = [1, 9]",
    );
    let names = |rounded: Option<&str>| -> Vec<String> {
        let answers = plan.cells.iter().map(|cell| {
            let written = cell.spec.primary().variables.clone();
            let said = written.into_iter().map(|(name, value)| {
                let same = rounded == Some(name.as_str());
                (name, if same { "777".to_owned() } else { value })
            });
            Some(Arc::new(crate::CellPreview {
                version: "9.7.4".parse().unwrap(),
                values: said.collect(),
            }))
        });
        let preview = SettingsPreview::new(answers.collect(), Vec::new());
        let found = findings_of_design(&plan, &[], &preview).into_iter();
        let of_rule = found.filter(|finding| finding.rule == RuleId::R23);
        of_rule.map(|finding| finding.message).collect()
    };
    assert!(names(None).is_empty(), "{:?}", names(None));
    let told = names(Some("innodb_io_capacity"));
    let [only] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(
        only.starts_with("both levels of innodb_io_capacity are one value"),
        "{only}"
    );
}
