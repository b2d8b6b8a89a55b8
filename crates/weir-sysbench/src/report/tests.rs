//! Reports against sysbench 1.0.20's own, digit by digit where both count the same.

use std::time::Duration;

use weir_load::{Counts, Fairness, outcome_of};
use weir_mysql::ClientConfig;

use super::*;
use crate::parse;

fn invocation(line: &str) -> Invocation {
    parse(
        &line.split_whitespace().collect::<Vec<_>>(),
        &ClientConfig::default(),
    )
    .unwrap()
}

/// Three transactions of `oltp_read_write` within 10 ms.
fn three() -> (Interval, LoadOutcome) {
    let counts = Counts {
        transactions: 3,
        queries: 60,
        reads: 42,
        writes: 12,
        others: 6,
        ..Counts::default()
    };
    let latencies_ns = [3_400_000, 3_650_000, 3_750_000];
    outcome_of(counts, &latencies_ns, Duration::from_millis(10))
}

fn interval() -> Interval {
    three().0
}

fn outcome() -> LoadOutcome {
    three().1
}

#[test]
fn the_final_report_has_sysbenchs_lines_and_columns() {
    let mut outcome = outcome();
    outcome.fairness = Fairness {
        transactions_mean: 3.0,
        transactions_deviation: 0.0,
        busy_s_mean: 0.0108,
        busy_s_deviation: 0.0,
    };
    let expected = "\
SQL statistics:
    queries performed:
        read:                            42
        write:                           12
        other:                           6
        total:                           60
    transactions:                        3      (300.00 per sec.)
    queries:                             60     (6000.00 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          0.0100s
    total number of events:              3

Latency (ms):
         min:                                    3.40
         avg:                                    3.60
         max:                                    3.75
         95th percentile:                        3.75
         sum:                                   10.80

Threads fairness:
    events (avg/stddev):           3.0000/0.00
    execution time (avg/stddev):   0.0108/0.00

";
    let report = final_report(&invocation("oltp_read_write run"), &outcome);
    assert_eq!(report, expected);
}

#[test]
fn an_interval_is_one_line() {
    let interval = interval();
    let line = interval_line(&invocation("oltp_read_write --threads=8 run"), &interval);
    assert_eq!(
        line,
        "[ 0s ] thds: 8 tps: 300.00 qps: 6000.00 (r/w/o: 4200.00/1200.00/600.00) \
         lat (ms,95%): 3.75 err/s: 0.00 reconn/s: 0.00\n"
    );
}

#[test]
fn an_open_loop_has_a_second_line_and_its_rate_in_the_header() {
    let invocation = invocation("oltp_read_write --rate=200 run");
    let interval = interval();
    let lines = interval_line(&invocation, &interval);
    assert!(
        lines.ends_with("\n[ 0s ] queue length: 0, concurrency: 0\n"),
        "{lines}"
    );
    let text = header(&invocation, "0.1.0");
    assert!(
        text.contains("Number of threads: 1\nTarget transaction rate: 200/sec\nInit"),
        "{text}"
    );
}

#[test]
fn the_header_names_what_was_asked_for() {
    let text = header(
        &invocation("oltp_read_write --report-interval=5 --rand-seed=7 run"),
        "0.1.0",
    );
    assert_eq!(
        text,
        "sysbench 1.0.20 (weir 0.1.0, native workloads)\n\n\
         Running the test with following options:\n\
         Number of threads: 1\n\
         Report intermediate results every 5 second(s)\n\
         Initializing random number generator from seed (7).\n\n\n\
         Initializing worker threads...\n\n"
    );
}

#[test]
fn a_histogram_holds_every_transaction() {
    let outcome = outcome();
    let report = final_report(&invocation("oltp_read_write --histogram run"), &outcome);
    let (histogram, rest) = report.split_once(" \nSQL statistics").unwrap();
    assert!(!rest.is_empty());
    let counted: u64 = histogram
        .lines()
        .skip(2)
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(counted, 3);
}

#[test]
fn without_a_percentile_none_is_shown() {
    let outcome = outcome();
    let report = final_report(&invocation("oltp_read_write --percentile=0 run"), &outcome);
    assert!(report.contains("percentile stats:               disabled"));
}

#[test]
fn the_development_version_reports_its_throughput() {
    let outcome = outcome();
    let invocation = invocation("oltp_read_write --compat=1.1 run");
    let report = final_report(&invocation, &outcome);
    let expected = "reconnects:                          0      (0.00 per sec.)\n\n\
                    Throughput:\n    \
                    events/s (eps):                      300.0000\n    \
                    time elapsed:                        0.0100s\n    \
                    total number of events:              3\n\n\
                    Latency (ms):\n";
    assert!(report.contains(expected), "{report}");
    assert!(!report.contains("General statistics"), "{report}");
    assert!(header(&invocation, "0.1.0").starts_with("sysbench 1.1.0 (weir 0.1.0"));
    assert_eq!(
        version(Compat::Release, "0.1.0"),
        "sysbench 1.0.20 (weir 0.1.0)\n"
    );
}

#[test]
fn a_checkpoint_report_counts_from_the_last_and_tells_the_time_from_the_beginning() {
    let line = "oltp_read_write --report-checkpoints=1,3 run";
    let mut totals = outcome().totals();
    totals.elapsed_s = 3.01;
    let text = checkpoint_report(&invocation(line), &totals);
    assert!(
        text.starts_with("[ 3s ] Checkpoint report:\nSQL statistics:\n    queries performed:\n"),
        "{text}"
    );
    for part in [
        "    transactions:                        3      (300.00 per sec.)\n",
        "    total time:                          3.0100s\n",
        "Threads fairness:\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let header = header(&invocation(line), "1");
    assert!(
        header.contains("\nReport checkpoint(s) at 1, 3 seconds\nInitializing random"),
        "{header}"
    );
}

#[test]
fn the_final_report_counts_from_the_last_checkpoint() {
    let mut outcome = outcome();
    outcome.since_checkpoint = Some(outcome.totals());
    outcome.counts.transactions = 1_000;
    let text = final_report(&invocation("oltp_read_write run"), &outcome);
    assert!(
        text.contains("transactions:                        3      ("),
        "{text}"
    );
}
