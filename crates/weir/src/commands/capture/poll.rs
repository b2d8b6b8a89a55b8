//! `weir capture poll`.

use std::time::Duration;

use anyhow::bail;
use weir_capture::{PollTimes, StatementPoll};
use weir_mysql::Connection;

use super::proxy::tell;
use crate::cli::CapturePollArguments;
use crate::commands::external_server;
use crate::{Outcome, interrupt};

/// Longest wait for an answer of the server.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn execute(arguments: &CapturePollArguments) -> anyhow::Result<Outcome> {
    let config = external_server::client_config(arguments.ask_password)?;
    let server = external_server::open(&arguments.url, &config)?;
    let connection = Connection::open(&server.endpoint, server.gate(), PATIENCE)?;
    let poll = StatementPoll::open(connection, arguments.url.flavor)?;
    let stop = interrupt::stop_flag()?;
    eprintln!(
        "{} go to {} (literals: {}), Ctrl-C ends it",
        poll.source().name(),
        arguments.output.display(),
        arguments.literals
    );
    for sentence in poll.guarantees() {
        eprintln!("note: {sentence}");
    }
    let times = PollTimes {
        length: arguments.length.map(|length| length.0),
        every: arguments.every.map(|every| every.0),
    };
    let tail = poll.run(&arguments.output, arguments.literals, times, stop)?;
    tell(&tail);
    let counters = tail.counters.unwrap_or_default();
    if tail.written.events == 0 && counters.kinds.is_empty() {
        bail!(
            "no statement was seen in {:.1} s; poll for longer, or while the server has its load",
            tail.ended_us as f64 / 1e6
        );
    }
    // A part of the load is no load to judge by (rule R21).
    Ok(if counters.unseen() > 0 {
        Outcome::Invalid
    } else {
        Outcome::Done
    })
}
