//! Command lines as users of sysbench write them.

use std::time::Duration;

use weir_model::{
    Address, ArrivalKind, Distribution, Mix, OrderEntryWorkload, Rate, Secret, TlsMode,
};

use super::*;
use weir_load::{LoadPlan, ToleratedErrors};
use weir_mysql::Compression;

fn understand(line: &str) -> Result<Invocation, UsageError> {
    let words: Vec<_> = line.split_whitespace().collect();
    parse(&words, &ClientConfig::default())
}

fn mix_of(plan: &LoadPlan) -> Mix {
    match plan.workload.spec() {
        WorkloadSpec::Sysbench(sysbench) => sysbench.mix,
        other => panic!("{other}"),
    }
}

#[test]
fn a_usual_command_line() {
    let invocation = understand(
        "oltp_read_write --tables=4 --table-size=1M --threads=64 --time=300 --warmup-time=30 \
         --report-interval=10 --rand-type=pareto --mysql-socket=/x/s --mysql-user=root \
         --skip_trx --percentile=99 run",
    )
    .unwrap();
    assert_eq!(invocation.command, Command::Run);
    let plan = &invocation.plan;
    assert_eq!(plan.workload.to_string(), "oltp_read_write");
    assert_eq!(
        (plan.tables, plan.rows, plan.load.connections),
        (4, 1 << 20, 64)
    );
    assert_eq!(plan.load.measure.0, Duration::from_mins(5));
    assert_eq!(plan.load.warmup.least().0, Duration::from_secs(30));
    assert_eq!(plan.interval, Duration::from_secs(10));
    assert_eq!(
        plan.workload.spec().distribution(),
        Distribution::Pareto { h: 0.2 }
    );
    assert!(mix_of(plan).skip_transactions);
    assert_eq!(plan.endpoint.address, Address::Socket("/x/s".into()));
    assert_eq!(invocation.percentile, 99);
}

#[test]
fn dashes_and_underscores_are_the_same_and_options_may_follow_the_command() {
    let invocation = understand("oltp_point_select run --table_size=5 --mysql_host=db1").unwrap();
    assert_eq!(invocation.plan.rows, 5);
    let address = Address::Tcp("db1".to_owned(), 3306);
    assert_eq!(invocation.plan.endpoint.address, address);
}

#[test]
fn order_entry_has_options_and_a_command_of_its_own() {
    let line = "order_entry --warehouses=5 --foreign-keys --customers=30 --threads=3 check";
    let invocation = understand(line).unwrap();
    assert_eq!(invocation.command, Command::Check);
    let expected = OrderEntryWorkload {
        warehouses: 5,
        customers: 30,
        foreign_keys: true,
        ..OrderEntryWorkload::default()
    };
    assert_eq!(invocation.plan.workload.order_entry(), Some(expected));
    assert_eq!(invocation.prepare.workload.order_entry(), Some(expected));
    assert_eq!(invocation.prepare.threads, 3);
    let error = |line| understand(line).unwrap_err().to_string();
    assert!(error("order_entry --warehouses=0 run").contains("--warehouses: `0` must be"));
    assert!(error("oltp_read_only check").contains("no command `check`"));
    let misplaced = error("oltp_read_only --warehouses=3 run");
    assert!(
        misplaced.contains("--warehouses is one of order_entry"),
        "{misplaced}"
    );
}

#[test]
fn no_limits_at_all_are_no_limits() {
    let plan = understand("oltp_read_only --time=0 --events=7 run")
        .unwrap()
        .plan;
    assert_eq!(
        (plan.load.measure.0, plan.max_events),
        (Duration::ZERO, Some(7))
    );
}

#[test]
fn a_rate_and_think_time_are_not_taken_together() {
    let line = "oltp_read_only --think-time=1ms --rate=7 run";
    let error = understand(line).unwrap_err().to_string();
    assert!(
        error.contains("--think-time: `1ms` (a rate says"),
        "{error}"
    );
}

#[test]
fn a_rate_opens_the_loop() {
    let rate = |line: &str| understand(line).unwrap().plan.load.pace.rate();
    assert_eq!(rate("oltp_read_only run"), None);
    assert_eq!(rate("oltp_read_only --rate=0 run"), None);
    let poisson = Rate {
        per_s: 200.0,
        arrivals: ArrivalKind::Poisson,
        ramp: None,
    };
    assert_eq!(rate("oltp_read_only --rate=200 run"), Some(poisson));
    let constant = Rate {
        per_s: 0.5,
        arrivals: ArrivalKind::Constant,
        ramp: None,
    };
    let line = "oltp_read_only --rate=0.5 --rate-arrivals=constant run";
    assert_eq!(rate(line), Some(constant));
}

#[test]
fn several_percentiles_may_be_fractions() {
    let invocation = understand("oltp_read_only --percentiles=50,99.9,100 run").unwrap();
    assert_eq!(invocation.percentiles, [50.0, 99.9, 100.0]);
    assert_eq!(invocation.percentile, 95, "sysbench's own stays");
}

#[test]
fn every_error_may_be_ignored() {
    let plan = understand("oltp_read_only --mysql-ignore-errors=all run")
        .unwrap()
        .plan;
    assert_eq!(plan.tolerated, ToleratedErrors::All);
}

#[test]
fn all_options_that_are_wrong_are_told_at_once() {
    let error = understand("oltp_read_only --tabels=3 --threads=x --debug=on run").unwrap_err();
    let told = error.to_string();
    for part in [
        "--tabels; did you mean --tables?",
        "--threads: `x`",
        "--debug is",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(told.lines().count(), 1);
    let built_in =
        understand("fileio --file-total-size=1G --file-test-mode=rndrw run").unwrap_err();
    assert!(matches!(built_in, UsageError::BuiltIn(_)), "{built_in}");
}

#[test]
fn options_before_1_0_are_unknown() {
    let told = |line: &str| understand(line).unwrap_err().to_string();
    let error = told("--test=oltp --oltp-table-size=5 --num-threads=8 run");
    assert!(
        error.starts_with("invalid option: --oltp-table-size"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1);
    let error = told("oltp_read_only --init-rng=on --oltp-user-delay-min=10 run");
    for name in ["--init-rng", "--oltp-user-delay-min"] {
        let part = format!("invalid option: {name}");
        assert!(error.contains(&part), "{error}");
    }
}

#[test]
fn a_round_trip_time_has_a_unit() {
    let rtt = |line: &str| understand(line).map(|invocation| invocation.plan.load.rtt.0);
    assert_eq!(rtt("oltp_read_only run"), Ok(Duration::ZERO));
    let half_ms = Duration::from_micros(500);
    assert_eq!(rtt("oltp_read_only --rtt=500us run"), Ok(half_ms));
    assert!(rtt("oltp_read_only --rtt=500 run").is_err());
}

#[test]
fn compression_is_switched_on_and_chosen_apart() {
    let compression = |line: &str| {
        let invocation = understand(line).unwrap();
        let compression = Compression::from_protocol(invocation.plan.load.compression);
        assert_eq!(compression, invocation.prepare.compression);
        compression
    };
    for (options, expected) in [
        ("", None),
        ("--mysql-compression=off", None),
        ("--mysql-compression-algorithms=zstd", None),
        ("--mysql-compression", Some(Compression::Zlib)),
        (
            "--mysql-compression=on --mysql-compression-algorithms=zstd",
            Some(Compression::Zstd),
        ),
        (
            "--mysql-compression=on --mysql-compression-algorithms=uncompressed",
            None,
        ),
    ] {
        let line = format!("oltp_read_only {options} run");
        assert_eq!(compression(&line), expected, "{options}");
    }
}

#[test]
fn the_option_beats_the_environment() {
    let password = |line: &[&str]| {
        let surroundings = ClientConfig {
            password: Some(Secret::new("from-environment")),
            ..ClientConfig::default()
        };
        let invocation = parse(line, &surroundings).unwrap();
        invocation.plan.endpoint.password.reveal().to_owned()
    };
    assert_eq!(password(&["oltp_read_only", "run"]), "from-environment");
    let option = ["oltp_read_only", "--mysql-password=option", "run"];
    assert_eq!(password(&option), "option");
}

#[test]
fn what_is_wrong_is_named() {
    let message = |line: &str| understand(line).unwrap_err().to_string();
    let cases = [
        (
            "oltp_read_only --thraeds=4 run",
            "invalid option: --thraeds; did you mean --threads?",
        ),
        ("oltp_read_only --zzzz run", "invalid option: --zzzz"),
        (
            "oltp_read_only --debug run",
            "option --debug is sysbench's but not supported here (there is no debug log); \
             leave it out",
        ),
        (
            "oltp_read_only --rate=-1 run",
            "invalid value for option --rate: `-1` (must be a number that is not negative)",
        ),
        (
            "oltp_read_only --percentiles=50,101 run",
            "invalid value for option --percentiles: `50,101` (must be numbers above 0 up to 100, \
             separated by commas)",
        ),
        (
            "oltp_read_only --rate-arrivals=even run",
            "invalid value for option --rate-arrivals: `even` (must be poisson or constant)",
        ),
        (
            "oltp_read_only --threads=0 run",
            "invalid value for option --threads: `0` (must be a whole number of at least 1)",
        ),
        (
            "oltp_read_only --mysql-compression-algorithms=lz4 run",
            "invalid value for option --mysql-compression-algorithms: `lz4` (must be zlib, zstd or \
             uncompressed)",
        ),
        (
            "oltp_read_only --mysql-dry-run run",
            "option --mysql-dry-run is sysbench's but not supported here (a null server measures \
             the client alone); leave it out",
        ),
        (
            "oltp_read_only --db-ps-mode=off run",
            "invalid value for option --db-ps-mode: `off` (must be auto or disable)",
        ),
        (
            "oltp_read_onyl run",
            "no workload `oltp_read_onyl`; did you mean `oltp_read_only`?",
        ),
        (
            "oltp_read_only rnu",
            "no command `rnu`; write prepare, prewarm, run, cleanup or help",
        ),
        (
            "oltp_read_only",
            "no command; write WORKLOAD [--options] prepare|prewarm|run|cleanup|help",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(message(line), expected);
    }
}

/// `ClientConfig` whose option file holds `text`, in a directory that is to be kept.
fn with_file(text: &str) -> (ClientConfig, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("my.cnf");
    std::fs::write(&path, text).unwrap();
    let surroundings = ClientConfig {
        option_file: Some(path),
        ..ClientConfig::default()
    };
    (surroundings, directory)
}

#[test]
fn option_files_come_before_the_command_line() {
    let (surroundings, directory) = with_file(
        "[client]\nuser=admin\nhost=db1\nssl-mode=REQUIRED\ndefault-character-set=latin1\n\
         [mysqld]\nport=1\n\
         [weir]\nthreads=7\ntable_size=5\ndatabase=bench\ncompat=1.1\n",
    );
    let line = |words: &[&str]| parse(words, &surroundings).unwrap();
    let invocation = line(&["oltp_read_only", "--threads=9", "run"]);
    let plan = &invocation.plan;
    assert_eq!((plan.load.connections, plan.rows), (9, 5));
    let endpoint = &plan.endpoint;
    assert_eq!(endpoint.user, "admin");
    assert_eq!(endpoint.database, "bench");
    assert_eq!(endpoint.address, Address::Tcp("db1".to_owned(), 3306));
    assert_eq!(endpoint.tls.mode, TlsMode::Required);
    assert_eq!(invocation.compat, Compat::Development);
    assert_eq!(
        line(&["oltp_read_only", "--no-defaults", "run"])
            .plan
            .load
            .connections,
        1
    );
    let other = directory.path().join("other.cnf");
    std::fs::write(&other, "[client]\nuser=other\npassword=\"a#b\"").unwrap();
    let other = other.display();
    let only = format!("--defaults-file={other}");
    let plan = line(&["oltp_read_only", &only, "run"]).plan;
    assert_eq!(
        (plan.endpoint.user.as_str(), plan.load.connections),
        ("other", 1)
    );
    assert_eq!(plan.endpoint.password.reveal(), "a#b");
    // The user's own file is read after it.
    let extra = format!("--defaults-extra-file={other}");
    let plan = line(&["oltp_read_only", &extra, "run"]).plan;
    assert_eq!(plan.endpoint.user, "admin");
    assert_eq!(plan.endpoint.password.reveal(), "a#b");
}

#[test]
fn a_mistake_in_a_file_is_named_with_its_line() {
    let (surroundings, _directory) = with_file("[weir]\n\nthraeds=7\n");
    let error = parse(&["oltp_read_only", "run"], &surroundings).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("my.cnf:3: invalid option: --thraeds; did you mean --threads?"),
        "{error}"
    );
}

#[test]
fn sysbenchs_own_file_is_between_option_files_and_the_line() {
    let (surroundings, directory) = with_file("[weir]\nthreads=2\ntables=2\ntable-size=2\n");
    let path = directory.path().join("bench.conf");
    std::fs::write(&path, "tables=3 # of them\ntable-size=3\n").unwrap();
    let file = format!("--config-file={}", path.display());
    let line = ["oltp_read_only", &file, "--table-size=4", "run"];
    let plan = parse(&line, &surroundings).unwrap().plan;
    assert_eq!((plan.load.connections, plan.tables, plan.rows), (2, 3, 4));
}

#[test]
fn a_password_may_be_asked_for() {
    let mut invocation = understand("oltp_read_only --mysql-password=- run").unwrap();
    assert!(invocation.asks_password);
    invocation.set_password(&Secret::new("typed"));
    assert!(!invocation.asks_password);
    assert_eq!(invocation.prepare.endpoint.password.reveal(), "typed");
}

#[test]
fn each_version_has_its_defaults() {
    let plan = |line: &str| understand(line).unwrap().plan;
    let special = plan("oltp_read_only run").workload.spec().distribution();
    assert!(matches!(special, Distribution::Special { .. }));
    let uniform = plan("oltp_read_only --compat=1.1 run")
        .workload
        .spec()
        .distribution();
    assert_eq!(uniform, Distribution::Uniform);
    assert!(understand("oltp_read_only --compat=2 run").is_err());
}

#[test]
fn several_servers_are_used_in_turn() {
    let plan = understand("oltp_read_only --mysql-host=a,b --mysql-port=1,2 run")
        .unwrap()
        .plan;
    assert_eq!(plan.endpoint.address, Address::Tcp("a".to_owned(), 1));
    let more = [("a", 2), ("b", 1), ("b", 2)].map(|(h, p)| Address::Tcp(h.to_owned(), p));
    assert_eq!(plan.more_addresses, more);
    assert!(understand("oltp_read_only --mysql-port=0 run").is_err());
    assert!(understand("oltp_read_only --mysql-host= run").is_err());
}

#[test]
fn encryption_is_asked_for_in_the_words_of_either_version() {
    let mode = |option: &str| {
        let line = format!("oltp_read_only {option} run");
        understand(&line).unwrap().plan.endpoint.tls.mode
    };
    assert_eq!(mode(""), TlsMode::Disabled);
    assert_eq!(mode("--mysql-ssl"), TlsMode::Required);
    assert_eq!(mode("--mysql-ssl=on"), TlsMode::Required);
    assert_eq!(mode("--mysql-ssl=off"), TlsMode::Disabled);
    assert_eq!(mode("--mysql-ssl=VERIFY_CA"), TlsMode::VerifyCa);
    assert_eq!(mode("--mysql-ssl=preferred"), TlsMode::Preferred);
    let tls = understand(
        "oltp_read_only --mysql-ssl=verify_ca --mysql-ssl-ca=/x/ca.pem \
         --mysql-ssl-cipher=A-B:C_D run",
    )
    .unwrap()
    .plan
    .endpoint
    .tls;
    assert_eq!(tls.authority, Some("/x/ca.pem".into()));
    assert_eq!(tls.ciphers, ["A-B", "C_D"]);
}

#[test]
fn what_has_no_effect_may_be_given_and_old_names_are_warned_of() {
    let invocation = understand(
        "--test=oltp_read_only --num-threads=3 --max-time=5 --max-requests=0 --tx-rate=7 \
         --validate=on --thread-stack-size=64K --db-ps-mode=auto --debug=off --db-driver=mysql \
         --mysql-dry-run=off --reconnect=0 --forced-shutdown=10% run",
    )
    .unwrap();
    assert_eq!(invocation.plan.load.connections, 3);
    assert_eq!(invocation.plan.load.measure.0, Duration::from_secs(5));
    assert_eq!(
        invocation.plan.load.pace.rate().map(|rate| rate.per_s),
        Some(7.0)
    );
    assert_eq!(invocation.warnings.len(), 5);
    assert!(invocation.warnings[0].starts_with("the --test option is deprecated"));
    assert_eq!(
        invocation.warnings[1],
        "--num-threads is deprecated, use --threads instead"
    );
    assert!(invocation.forced_shutdown);
}

#[test]
fn scripts_of_sysbenchs_own_are_native_here_and_others_are_not_run() {
    let path = "/usr/share/sysbench/oltp_point_select.lua run";
    assert_eq!(
        understand(path).unwrap().plan.workload,
        WorkloadName::OltpPointSelect.into()
    );
    for line in ["/home/me/oltp_point_select.lua run", "mine.lua run"] {
        let error = understand(line).unwrap_err();
        assert!(matches!(error, UsageError::Script(_)), "{error}");
    }
    for name in BUILT_IN {
        let error = understand(&format!("{name} run")).unwrap_err();
        assert!(matches!(error, UsageError::BuiltIn(_)), "{error}");
    }
}

#[test]
fn help_and_version_need_no_workload() {
    let command = |line: &str| understand(line).unwrap().command;
    for line in ["", "help", "-h", "--help", "oltp_read_only help"] {
        assert_eq!(command(line), Command::Help, "{line}");
    }
    assert_eq!(command("--version"), Command::Version);
}
