//! `weir server pool ship`.

mod report;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::bail;
use weir_model::ServerUrl;
use weir_server::Instances;
use weir_server::pool_pages::{Mode, PoolError, PoolServer, Ship};

use crate::cli::{ShipArguments, ShipMode};
use crate::commands::external_server;
use crate::{interrupt, output};
use report::Report;

const LOOK: Duration = Duration::from_millis(50);

pub(super) fn execute(arguments: &ShipArguments) -> anyhow::Result<()> {
    let instances = Instances::open()?;
    let to = reader(&instances, arguments)?;
    if arguments.abort {
        if to.is_external() {
            bail!(
                "`{}` is yours, and loads no list of Weir's; leave --abort out",
                to.name()
            );
        }
        weir_server::pool_pages::abort(&to)?;
        return output::line(format_args!("{}: told to stop loading", to.name()));
    }
    let from = PoolServer::instance(&instances, arguments.from.as_deref().unwrap_or_default())?;
    if from.name() == to.name() {
        bail!("`{}` is both servers; name another with --to", to.name());
    }
    let stop = interrupt::stop_flag()?;
    loop {
        let next = arguments.every.map(|every| Instant::now() + every.0);
        let shipped = once(arguments, &from, &to, stop);
        match shipped {
            // Ctrl-C is the usual end of one that goes on and on.
            Err(PoolError::Interrupted { .. }) if next.is_some() => return Ok(()),
            shipped => shipped?.tell(arguments.json)?,
        }
        match next {
            Some(next) if wait(next, stop) => {}
            _ => return Ok(()),
        }
    }
}

/// The server that reads.
fn reader(instances: &Instances, arguments: &ShipArguments) -> anyhow::Result<PoolServer> {
    if !ServerUrl::is_meant(&arguments.to) {
        return Ok(PoolServer::instance(instances, &arguments.to)?);
    }
    if !matches!(arguments.mode, ShipMode::Auto | ShipMode::Keys) {
        bail!(
            "`{}` is yours, and its files are not read; use --mode keys",
            arguments.to
        );
    }
    let url: ServerUrl = arguments.to.parse().map_err(anyhow::Error::msg)?;
    let config = external_server::client_config(arguments.ask_password)?;
    Ok(PoolServer::external(&external_server::open(&url, &config)?))
}

/// Ships once, or counts what would be shipped.
fn once(
    arguments: &ShipArguments,
    from: &PoolServer,
    to: &PoolServer,
    stop: &AtomicBool,
) -> Result<Report, PoolError> {
    let ship = Ship {
        mode: match arguments.mode {
            ShipMode::Same => Mode::Same,
            _ => Mode::Translate,
        },
        percent: arguments.pct,
        limit: arguments.limit,
    };
    let mut go_on = |_| !stop.load(Ordering::Relaxed);
    let names = (from.name(), to.name());
    if to.is_external() || arguments.mode == ShipMode::Keys {
        let shipment = ship.ranges(from)?;
        let began = Instant::now();
        if !arguments.plan {
            ship.read(to, &shipment, &mut go_on)?;
        }
        let took = (!arguments.plan).then(|| began.elapsed());
        return Ok(Report::of_keys(names, shipment, took));
    }
    let shipment = ship.prepare(from, to)?;
    let began = Instant::now();
    if !arguments.plan {
        ship.load(to, &shipment, &mut go_on)?;
    }
    let took = (!arguments.plan).then(|| began.elapsed());
    Ok(Report::of_pages(names, ship.mode, shipment, took))
}

/// Waits until `next`; `false`: a signal came before.
fn wait(next: Instant, stop: &AtomicBool) -> bool {
    while Instant::now() < next && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK.min(next.saturating_duration_since(Instant::now())));
    }
    !stop.load(Ordering::Relaxed)
}
