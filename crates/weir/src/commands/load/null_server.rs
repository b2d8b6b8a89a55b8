//! `weir load null-server`: the protocol's other end, for measuring the load engine itself.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use weir_load::{DelayKind, Fault, NullServer, NullServerBehavior};
use weir_model::Duration as HumanDuration;

use crate::output;

/// How long a signal may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// A server that speaks MySQL's protocol and does nothing, for measuring a load generator: it
/// accepts any login and any statement, answers after known delays, and says at its end how long
/// its answers took by its own clock.
///
/// Example: `weir load null-server --socket=/tmp/null.sock --delay=2ms --delays=exponential`, then
/// `weir load oltp_point_select --mysql-socket=/tmp/null.sock --rate=5000 --threads=64 run`.
#[derive(Debug, Parser)]
#[command(name = "weir load null-server", no_binary_name = true)]
struct NullServerArguments {
    /// Unix socket to listen on; must not exist yet
    #[arg(long)]
    socket: PathBuf,
    /// Time from a statement to its reply, such as 500us or 2ms
    #[arg(long, default_value = "0ms")]
    delay: HumanDuration,
    /// Whether every reply takes this time or all of them in the mean
    #[arg(long, value_enum, default_value = "constant")]
    delays: Delays,
    /// Answers nothing for so long, once
    #[arg(long)]
    stall: Option<HumanDuration>,
    /// Statements before the stall
    #[arg(long, default_value_t = 1_000)]
    stall_after: u64,
    /// Never sleep, so that no reply is late by a wake-up; costs a processor
    #[arg(long)]
    wakeful: bool,
    /// End after so long; otherwise at Ctrl-C
    #[arg(long)]
    time: Option<HumanDuration>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Delays {
    /// All the same
    Constant,
    /// Exponentially distributed
    Exponential,
}

/// Serves until the time is over or `stop` is set.
pub(super) fn execute(arguments: &[String], stop: &AtomicBool) -> anyhow::Result<()> {
    let arguments = match NullServerArguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => return Err(error.into()),
        Err(help) => return output::text(help.to_string()),
    };
    let behavior = NullServerBehavior {
        delay: arguments.delay.0,
        delays: match arguments.delays {
            Delays::Constant => DelayKind::Constant,
            Delays::Exponential => DelayKind::Exponential,
        },
        fault: arguments
            .stall
            .map(|length| Fault::StallAfter(arguments.stall_after, length.0)),
        is_wakeful: arguments.wakeful,
        ..NullServerBehavior::default()
    };
    let server = NullServer::start(&arguments.socket, behavior).map_err(|error| {
        let socket = arguments.socket.display();
        anyhow::anyhow!("listen on {socket}: {error}; choose a path that does not exist yet")
    })?;
    eprintln!("listening on {}", arguments.socket.display());
    let began = Instant::now();
    let is_over = || arguments.time.is_some_and(|time| began.elapsed() >= time.0);
    while !stop.load(Ordering::SeqCst) && !is_over() {
        std::thread::sleep(PATIENCE);
    }
    let service = server.service();
    output::text(format!(
        "statements: {}\nservice time (us): min {:.1}, avg {:.1}, p50 {:.1}, p99 {:.1}, p99.9 {:.1}, max {:.1}\n",
        server.executed(),
        service.us_min,
        service.us_mean,
        service.us_p50,
        service.us_p99,
        service.us_p999,
        service.us_max,
    ))
}
