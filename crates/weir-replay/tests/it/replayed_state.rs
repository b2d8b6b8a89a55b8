//! Random sessions on a server, and their replay at `--order=commit` on the same data: equal tables, rows, errors and
//! changed rows. Sessions take turns; of transactions that overlap, each has tables of its own, or one waits for the other's rows.
//! In a third of the histories sessions also write random values: then the report says that tables can differ.
//!
//! `WEIR_REPLAY_SEED` and `WEIR_REPLAY_SECONDS` say which histories and how long. A difference is a finding, for which the
//! history is made smaller and printed.
#![allow(
    clippy::print_stdout,
    reason = "its figures are what a long run is for"
)]

mod history;
mod server;

use std::time::{Duration, Instant};

use weir_model::Flavor;
use weir_testing::{Random, shrink};

use history::Step;
use server::Server;

weir_testing::on_both_flavors! { a_replay_in_order_ends_as_the_capture_did }

/// Steps of a history.
const STEPS: usize = 60;
/// Histories of a run without a time.
const FEW: u64 = 12;

fn a_replay_in_order_ends_as_the_capture_did(flavor: Flavor) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seconds = number("WEIR_REPLAY_SECONDS").map(Duration::from_secs);
    let first = number("WEIR_REPLAY_SEED").unwrap_or(1);
    println!("{flavor:?}: WEIR_REPLAY_SEED={first}");
    let mut server = Server::start(flavor);
    let (began, mut statements, mut findings) = (Instant::now(), 0, Vec::new());
    for seed in first.. {
        let is_over = match seconds {
            Some(seconds) => began.elapsed() > seconds,
            None => seed >= first + FEW,
        };
        if is_over || findings.len() >= 5 {
            println!("{flavor:?}: seeds {first} to {seed}, {statements} statements sent");
            break;
        }
        let is_repeatable = seed % 3 != 0;
        let steps = history::random(&mut Random::new(seed), STEPS, is_repeatable);
        let ran = server.compare(&steps, is_repeatable);
        statements += ran.sent;
        let Some(difference) = ran.difference else {
            continue;
        };
        let smaller = shrink(steps, &mut |steps: &[Step]| {
            server.compare(steps, is_repeatable).difference.is_some()
        });
        let last = server.compare(&smaller, is_repeatable).difference;
        let finding = format!(
            "seed {seed}: {difference}\nsmaller: {last:?}\n{}",
            history::script(&smaller)
        );
        println!("{finding}");
        findings.push(finding);
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(statements > 300, "only {statements} statements");
}
