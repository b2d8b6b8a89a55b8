//! Additions of Weir to sysbench's report: after the compatible report and only where there is
//! something to add. Readers of sysbench's report find nothing new in it.

use std::fmt::{Arguments, Write as _};

use weir_load::{LoadOutcome, OpenLoop};
use weir_model::{KindLatency, LatencySummary};

use super::Invocation;
use super::report::per_second;

/// Name of the new orders of order entry among the kinds of transactions.
const NEW_ORDER: &str = "new_order";

/// The text that follows the final report; may be empty.
pub fn additions(invocation: &Invocation, outcome: &LoadOutcome) -> String {
    let mut text = String::new();
    if let Some(open_loop) = &outcome.open_loop {
        schedule(&mut text, open_loop);
    }
    percentiles(&mut text, invocation, outcome);
    order_entry(&mut text, outcome);
    kinds(&mut text, outcome, false);
    statements(&mut text, invocation, outcome);
    unasked(&mut text, invocation, outcome);
    text
}

/// The part of it that options of Weir's own ask for.
pub fn asked_additions(invocation: &Invocation, outcome: &LoadOutcome) -> String {
    let mut text = String::new();
    percentiles(&mut text, invocation, outcome);
    statements(&mut text, invocation, outcome);
    text
}

fn percentiles(text: &mut String, invocation: &Invocation, outcome: &LoadOutcome) {
    if invocation.percentiles.is_empty() {
        return;
    }
    text.push_str("Latency percentiles (ms):\n");
    for percentile in &invocation.percentiles {
        let label = format!("{percentile}%:");
        let ms = outcome.latency_us(*percentile) / 1e3;
        line(text, format_args!("    {label:<36} {ms:.3}"));
    }
    text.push('\n');
}

fn statements(text: &mut String, invocation: &Invocation, outcome: &LoadOutcome) {
    if invocation.statement_latency {
        kinds(text, outcome, true);
    }
}

fn order_entry(text: &mut String, outcome: &LoadOutcome) {
    if let Some(per_minute) = new_orders_per_minute(outcome) {
        let label = "New orders per minute:";
        line(text, format_args!("{label:<40} {per_minute:.1}"));
        line(
            text,
            format_args!("    (derived from TPC-C, and not comparable with audited results)\n"),
        );
    }
}

fn unasked(text: &mut String, invocation: &Invocation, outcome: &LoadOutcome) {
    if invocation.plan.load.idle_connections > 0 {
        let label = "Idle connections:";
        let (open, all) = (
            outcome.idle_connections,
            invocation.plan.load.idle_connections,
        );
        line(
            text,
            format_args!("{label:<40} {open} of {all} still open at the end\n"),
        );
    }
    if !outcome.outages.is_empty() {
        text.push_str("Lost connections (from the first lost to the last one back):\n");
        for outage in &outcome.outages {
            let (from_s, length_s) = (outage.from_s, outage.length_s);
            line(
                text,
                format_args!("    at {from_s:.3} s for {length_s:.3} s"),
            );
        }
        text.push('\n');
    }
    if !outcome.errors.is_empty() {
        text.push_str("Ignored errors by code:\n");
        for error in &outcome.errors {
            let label = format!("{}:", error.code);
            let (count, message) = (error.count, &error.first_message);
            line(
                text,
                format_args!("    {label:<36} {count}, first: {message}"),
            );
        }
        text.push('\n');
    }
}

/// New orders of order entry that were not rolled back; `None` of other workloads.
pub fn new_orders_per_minute(outcome: &LoadOutcome) -> Option<f64> {
    let mut kinds = outcome.kinds.iter();
    let kind = kinds.find(|kind| !kind.is_statement && kind.name == NEW_ORDER)?;
    Some(60.0 * per_second(kind.count, outcome.measured_s))
}

/// The transactions of a mix by their kind, or the statements.
fn kinds(text: &mut String, outcome: &LoadOutcome, of_statements: bool) {
    let title = if of_statements {
        "Statements (latency in ms):"
    } else {
        "Transactions by kind (latency in ms):"
    };
    let of_this = |kind: &&KindLatency| kind.is_statement == of_statements;
    let kinds: Vec<_> = outcome.kinds.iter().filter(of_this).collect();
    if kinds.is_empty() {
        return;
    }
    line(text, format_args!("{title}"));
    for kind in kinds {
        let per_s = per_second(kind.count, outcome.measured_s);
        let count = format!("{} ({per_s:.2} per sec.)", kind.count);
        let latency = values(&kind.latency);
        let label = format!("{}:", kind.name);
        line(text, format_args!("    {label:<36} {count:<24} {latency}"));
    }
    text.push('\n');
}

fn schedule(text: &mut String, open_loop: &OpenLoop) {
    text.push_str("Open loop (latency above counts from when transactions were due):\n");
    for (label, count) in [
        ("due:", open_loop.due),
        ("waited for a connection:", open_loop.waited),
        ("queue length at the end:", open_loop.queue_length),
    ] {
        line(text, format_args!("    {label:<36} {count}"));
    }
    summary(text, "service time (ms):", &open_loop.service);
    summary(text, "schedule lag (ms):", &open_loop.lag);
    text.push('\n');
}

fn summary(text: &mut String, label: &str, times: &LatencySummary) {
    let values = values(times);
    line(text, format_args!("    {label:<36} {values}"));
}

fn values(times: &LatencySummary) -> String {
    format!(
        "avg {:.2}, p95 {:.2}, p99 {:.2}, max {:.2}",
        times.us_mean / 1e3,
        times.us_p95 / 1e3,
        times.us_p99 / 1e3,
        times.us_max / 1e3
    )
}

fn line(text: &mut String, arguments: Arguments<'_>) {
    writeln!(text, "{arguments}").expect("invariant: writing into a string cannot fail");
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use weir_load::{Counts, ErrorCount, Outage, outcome_of};
    use weir_mysql::ClientConfig;

    use super::*;
    use crate::parse;

    fn outcome() -> LoadOutcome {
        outcome_of(Counts::default(), &[], Duration::from_nanos(1)).1
    }

    fn invocation(line: &str) -> Invocation {
        parse(
            &line.split_whitespace().collect::<Vec<_>>(),
            &ClientConfig::default(),
        )
        .unwrap()
    }

    #[test]
    fn a_run_that_asked_for_nothing_more_gets_nothing_more() {
        let text = additions(&invocation("oltp_read_write run"), &outcome());
        assert_eq!(text, "");
    }

    #[test]
    fn percentiles_and_errors_have_a_line_each() {
        let mut outcome = outcome();
        outcome.errors = vec![ErrorCount {
            code: 1213,
            count: 7,
            first_message: "Deadlock found".to_owned(),
            first_ns: 0,
        }];
        let text = additions(
            &invocation("oltp_read_write --percentiles=50,99.9 run"),
            &outcome,
        );
        assert_eq!(
            text,
            "Latency percentiles (ms):\n    \
             50%:                                 0.000\n    \
             99.9%:                               0.000\n\n\
             Ignored errors by code:\n    \
             1213:                                7, first: Deadlock found\n\n"
        );
    }

    #[test]
    fn an_outage_is_told_with_its_time_and_length() {
        let mut outcome = outcome();
        outcome.outages = vec![Outage {
            from_s: 3.25,
            length_s: 1.5,
        }];
        let text = additions(&invocation("oltp_read_write run"), &outcome);
        assert!(
            text.ends_with(":\n    at 3.250 s for 1.500 s\n\n"),
            "{text}"
        );
    }

    #[test]
    fn an_open_loop_shows_service_time_and_lag_apart() {
        let mut outcome = outcome();
        let times = |us_max| LatencySummary {
            us_max,
            ..LatencySummary::default()
        };
        outcome.open_loop = Some(OpenLoop {
            due: 200,
            queue_length: 3,
            waited: 4,
            service: times(1_500.0),
            lag: times(250.0),
        });
        let text = additions(&invocation("oltp_read_write --rate=200 run"), &outcome);
        assert_eq!(
            text,
            "Open loop (latency above counts from when transactions were due):\n    \
             due:                                 200\n    \
             waited for a connection:             4\n    \
             queue length at the end:             3\n    \
             service time (ms):                   avg 0.00, p95 0.00, p99 0.00, max 1.50\n    \
             schedule lag (ms):                   avg 0.00, p95 0.00, p99 0.00, max 0.25\n\n"
        );
    }
}
