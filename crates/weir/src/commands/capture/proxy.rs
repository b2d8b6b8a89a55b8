//! `weir capture proxy`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use weir_capture::{CaptureProxy, CaptureTail, Literals, ProxyCertificate};
use weir_model::ServerUrl;
use weir_mysql::endpoint;

use super::counters;
use crate::cli::CaptureProxyArguments;
use crate::commands::external_server;
use crate::{Outcome, interrupt};

/// Pause between two looks at whether the time is over.
const LOOK: Duration = Duration::from_millis(50);

pub(super) fn execute(arguments: &CaptureProxyArguments) -> anyhow::Result<Outcome> {
    let url: ServerUrl = arguments.to.parse().map_err(anyhow::Error::msg)?;
    let config = external_server::client_config(false)?;
    let endpoint = endpoint(&url, &config);
    let endpoint = endpoint.map_err(|error| anyhow!("cannot use `{url}` ({error})"))?;
    let proxy = CaptureProxy::bind(
        arguments.listen,
        &endpoint,
        url.flavor,
        &certificate(arguments),
    )?;
    let stop = interrupt::stop_flag()?;
    eprintln!(
        "listening on {} for {}; what passes goes to {} (literals: {}), Ctrl-C ends it",
        proxy.address()?,
        endpoint.address,
        arguments.output.display(),
        arguments.literals
    );
    if arguments.literals == Literals::Keep {
        eprintln!(
            "note: the file holds the values of all statements; --literals=hash or drop leaves them out"
        );
    }
    let is_over = AtomicBool::new(false);
    let limit = arguments.length.map(|length| length.0);
    let tail = std::thread::scope(|scope| {
        scope.spawn(|| {
            let began = Instant::now();
            let is_late = || limit.is_some_and(|limit| began.elapsed() >= limit);
            while !stop.load(Ordering::Relaxed) && !is_late() && !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(LOOK);
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let mut on_end = |why: &str| {
            eprintln!(
                "WARNING: the capture ends here: {why}; connections still pass, Ctrl-C ends the proxy"
            );
        };
        let tail = proxy.run(&arguments.output, arguments.literals, &is_over, &mut on_end);
        is_over.store(true, Ordering::Relaxed);
        tail
    })?;
    tell(&tail);
    // Ctrl-C is the usual end.
    Ok(Outcome::Done)
}

fn certificate(arguments: &CaptureProxyArguments) -> ProxyCertificate {
    ProxyCertificate {
        files: arguments.tls_cert.clone().zip(arguments.tls_key.clone()),
    }
}

/// Says what was written and what was not.
pub(super) fn tell(tail: &CaptureTail) {
    eprintln!(
        "{} sessions, {} commands in {:.1} s",
        tail.written.sessions,
        tail.written.events,
        tail.ended_us as f64 / 1e6
    );
    for line in tail.counters.iter().flat_map(counters::lines) {
        eprintln!("{line}");
    }
    for (what, count) in super::show::losses(&tail.losses) {
        if count > 0 {
            eprintln!("note: {count} {what}");
        }
    }
}
