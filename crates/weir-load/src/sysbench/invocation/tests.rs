//! Command lines as users of sysbench write them.

use super::*;

fn understand(line: &str) -> Result<Invocation, UsageError> {
    parse(&line.split_whitespace().collect::<Vec<_>>(), None)
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
    assert_eq!(plan.workload, WorkloadName::OltpReadWrite.into());
    assert_eq!((plan.tables, plan.rows, plan.connections), (4, 1 << 20, 64));
    assert_eq!(plan.measure, Some(Duration::from_mins(5)));
    assert_eq!(plan.warmup, Duration::from_secs(30));
    assert_eq!(plan.interval, Duration::from_secs(10));
    assert_eq!(plan.distribution, Distribution::Pareto { h: 0.2 });
    assert!(plan.mix.skip_transactions);
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
fn no_limits_at_all_are_no_limits() {
    let plan = understand("oltp_read_only --time=0 --events=7 run")
        .unwrap()
        .plan;
    assert_eq!((plan.measure, plan.max_events), (None, Some(7)));
}

#[test]
fn a_rate_opens_the_loop() {
    let rate = |line: &str| understand(line).unwrap().plan.rate;
    assert_eq!(rate("oltp_read_only run"), None);
    assert_eq!(rate("oltp_read_only --rate=0 run"), None);
    let poisson = Rate {
        per_s: 200.0,
        arrivals: ArrivalKind::Poisson,
    };
    assert_eq!(rate("oltp_read_only --rate=200 run"), Some(poisson));
    let constant = Rate {
        per_s: 0.5,
        arrivals: ArrivalKind::Constant,
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
    assert_eq!(plan.tolerated, Tolerated::All);
}

#[test]
fn a_round_trip_time_has_a_unit() {
    let rtt = |line: &str| understand(line).map(|invocation| invocation.plan.rtt);
    assert_eq!(rtt("oltp_read_only run"), Ok(Duration::ZERO));
    let half_ms = Duration::from_micros(500);
    assert_eq!(rtt("oltp_read_only --rtt=500us run"), Ok(half_ms));
    assert!(rtt("oltp_read_only --rtt=500 run").is_err());
}

#[test]
fn the_option_beats_the_environment() {
    let password = |line: &[&str]| {
        let invocation = parse(line, Some("from-environment")).unwrap();
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
            "invalid value for option --threads: `0` (must be a whole number in range)",
        ),
        (
            "oltp_read_only --db-ps-mode=disable run",
            "invalid value for option --db-ps-mode: `disable` (only the default is supported)",
        ),
        (
            "oltp_read_onyl run",
            "no workload `oltp_read_onyl`; did you mean `oltp_read_only`?",
        ),
        (
            "oltp_read_only rnu",
            "no command `rnu`; write prepare, run, cleanup or help",
        ),
        (
            "oltp_read_only",
            "no command; write WORKLOAD [--options] prepare|run|cleanup|help",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(message(line), expected);
    }
}
