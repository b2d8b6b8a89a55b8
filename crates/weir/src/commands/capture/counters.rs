//! Counters of the server of a capture, in words.

use weir_capture::ServerCounters;

/// Kinds that no poll saw and that are named.
const NAMED: usize = 3;
/// Longest text of one, characters.
const TEXT_MAX: usize = 80;

/// Returns the share of all statements that a capture saw, and the kinds that it did not see.
pub(super) fn lines(counters: &ServerCounters) -> Vec<String> {
    if counters.polls == 0 {
        return vec![report(counters)];
    }
    let mut lines = vec![share(counters), cost(counters)];
    lines.extend(unseen_kinds(counters));
    lines
}

/// Content of a report of digests, of which no statement is known.
fn report(counters: &ServerCounters) -> String {
    format!(
        "{} kinds of {} statements, {:.3} s in all",
        counters.kinds.len(),
        counters.statements.unwrap_or(0),
        counters.time_us.unwrap_or(0) as f64 / 1e6
    )
}

fn share(counters: &ServerCounters) -> String {
    let seen = counters.seen;
    let Some(all) = counters.statements else {
        return format!(
            "saw {seen} statements; of how many is not known, as the server's counters were emptied in the meantime"
        );
    };
    let Some(by_count) = counters.share_by_count() else {
        return "saw no statements; the server counted none".to_owned();
    };
    let by_time = match (counters.share_by_time(), counters.seen_us, counters.time_us) {
        (Some(by_time), Some(seen_us), Some(time_us)) => format!(
            "{:.1} % by time ({:.3} of {:.3} s)",
            100.0 * by_time,
            seen_us as f64 / 1e6,
            time_us as f64 / 1e6
        ),
        _ => "by time it is not known".to_owned(),
    };
    format!(
        "saw {:.1} % of the server's statements by count ({seen} of {all}), {by_time}",
        100.0 * by_count
    )
}

fn cost(counters: &ServerCounters) -> String {
    let (polls, took_us) = (counters.polls, counters.polling_us);
    format!(
        "{polls} polls, which took {:.1} ms each",
        took_us as f64 / 1e3 / polls.max(1) as f64
    )
}

fn unseen_kinds(counters: &ServerCounters) -> Option<String> {
    let unseen = counters.kinds.iter().filter(|kind| kind.seen == 0);
    let (count, time_us) = unseen.clone().fold((0_u64, 0), |(count, time_us), kind| {
        (count + 1, time_us + kind.time_us)
    });
    let names: Vec<String> = unseen
        .take(NAMED)
        .map(|kind| format!("`{}`", kind.text.chars().take(TEXT_MAX).collect::<String>()))
        .collect();
    let of_time = 100.0 * time_us as f64 / counters.time_us.unwrap_or(0).max(1) as f64;
    (count > 0).then(|| {
        format!(
            "{count} of {} kinds of statements were not seen ({of_time:.1} % of the time): {}{}",
            counters.kinds.len(),
            names.join(", "),
            if count > NAMED as u64 { ", ..." } else { "" }
        )
    })
}

#[cfg(test)]
mod tests {
    use weir_capture::CountedKind;

    use super::*;

    #[test]
    fn shares_and_kinds_that_were_not_seen_are_named() {
        let kind = |text: &str, time_us, seen| CountedKind {
            text: text.to_owned(),
            count: 10,
            time_us,
            seen,
            ..CountedKind::default()
        };
        let mut counters = ServerCounters {
            statements: Some(20),
            time_us: Some(2_000_000),
            seen: 5,
            seen_us: Some(1_500_000),
            polls: 2,
            polling_us: 3_000,
            kinds: vec![kind("select ?", 1_900_000, 5), kind("commit", 100_000, 0)],
        };
        assert_eq!(
            lines(&counters),
            [
                "saw 25.0 % of the server's statements by count (5 of 20), 75.0 % by time (1.500 of 2.000 s)",
                "2 polls, which took 1.5 ms each",
                "1 of 2 kinds of statements were not seen (5.0 % of the time): `commit`",
            ]
        );
        counters.time_us = None;
        assert!(lines(&counters)[0].ends_with("(5 of 20), by time it is not known"));
        counters.statements = None;
        assert!(lines(&counters)[0].contains("is not known, as"));
    }
}
