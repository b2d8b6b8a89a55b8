//! `weir load null-server`: the protocol's other end, for measuring the load engine itself.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use weir_load::{DelayKind, Fault, NullServer, NullServerBehavior};
use weir_model::Duration as HumanDuration;

use crate::output;

/// Time for which a signal may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Answer MySQL's protocol after known delays, to measure a load generator. It accepts any login and
/// any statement. At its end it prints how long its answers took by its own clock.
///
/// Example: `weir load null-server --port=3399 --delay=2ms --delays=exponential`, then
/// `weir load oltp_point_select --mysql-host=127.0.0.1 --mysql-port=3399 --rate=5000 --threads=64 run`.
#[derive(Debug, Parser)]
#[command(name = "weir load null-server", no_binary_name = true)]
struct NullServerArguments {
    #[command(flatten)]
    place: Place,
    /// Time from a statement to its reply, such as 500us or 2ms
    #[arg(long, default_value = "0ms")]
    delay: HumanDuration,
    /// Distribution of the delays: constant, or exponential with this mean
    #[arg(long, value_enum, default_value = "constant")]
    delays: Delays,
    /// Answer nothing for this time, once
    #[arg(long)]
    stall: Option<HumanDuration>,
    /// Statements before the stall
    #[arg(long, default_value_t = 1_000)]
    stall_after: u64,
    /// Never sleep: no reply is late by a wake-up; costs a processor
    #[arg(long)]
    wakeful: bool,
    /// End after this time [default: at Ctrl-C]
    #[arg(long)]
    time: Option<HumanDuration>,
}

/// Address to listen at.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// Unix socket to listen on; the path must not exist
    #[arg(long)]
    socket: Option<PathBuf>,
    /// TCP port to listen on, on loopback only; 0: a free port
    #[arg(long)]
    port: Option<u16>,
}

impl Place {
    fn listen(&self, behavior: NullServerBehavior) -> anyhow::Result<NullServer> {
        let Some(socket) = &self.socket else {
            let port = self.port.unwrap_or_default();
            return NullServer::start_tcp(port, behavior).map_err(|error| {
                anyhow::anyhow!("listen on port {port}: {error}; --port=0 takes one that is free")
            });
        };
        NullServer::start(socket, behavior).map_err(|error| {
            let socket = socket.display();
            anyhow::anyhow!("listen on {socket}: {error}; choose a path that does not exist yet")
        })
    }
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Delays {
    /// All the same
    Constant,
    /// Exponentially distributed
    Exponential,
}

/// Checks that these are the command's arguments.
#[cfg(test)]
pub(crate) fn check(arguments: &[String]) -> Result<(), clap::Error> {
    NullServerArguments::try_parse_from(arguments).map(drop)
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
    let server = arguments.place.listen(behavior)?;
    eprintln!("listening on {}", server.address());
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
