//! `weir predict observe SERVER`: what other pools would miss, from looks at what the pool of a live server holds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use weir_model::ServerUrl;
use weir_mysql::Gate;
use weir_predict::Looks;
use weir_predict::from_result::{LivePool, PoolUseSeen};
use weir_server::{ConfigChanges, Instances, Session};

use crate::cli::ObserveArguments;
use crate::commands::external_server;
use crate::{Outcome, interrupt, output};

const DUMP_PERCENT: &str = "innodb_buffer_pool_dump_pct";
const DUMP_NOW: &str = "innodb_buffer_pool_dump_now";
/// A pool with a larger share of free pages, and more than the server keeps free, holds all that is used.
const FREE_MAX: f64 = 0.2;

/// Observes the server called `name`, one of ours or the URL of one of the user's.
pub(super) fn execute(arguments: &ObserveArguments) -> anyhow::Result<Outcome> {
    // What is set has to be put back, also where the user does not want to wait.
    let stop = interrupt::stop_flag()?;
    let name = &arguments.server;
    if arguments.dry_run {
        return rehearse(arguments);
    }
    let observed = if ServerUrl::is_meant(name) {
        observe_given(name, arguments, stop)?
    } else {
        observe_instance(name, arguments, stop)?
    };
    let Some(observed) = observed else {
        eprintln!("stopped: the server is as it was before");
        return Ok(Outcome::Stopped);
    };
    if arguments.json {
        output::line(serde_json::to_string_pretty(&observed)?)?;
    } else {
        print(&observed)?;
    }
    Ok(Outcome::Done)
}

fn rehearse(arguments: &ObserveArguments) -> anyhow::Result<Outcome> {
    output::line(format_args!("SET GLOBAL {DUMP_PERCENT} = 100"))?;
    output::line(format_args!(
        "SET GLOBAL {DUMP_NOW} = ON -- {} times, {} apart; each writes the server's list of pages anew",
        arguments.looks, arguments.interval
    ))?;
    output::line(format_args!(
        "SET GLOBAL {DUMP_PERCENT} = its present value"
    ))?;
    eprintln!("nothing was changed");
    Ok(Outcome::Done)
}

/// A server of the user's: only where that is allowed, and it gets back what was set.
fn observe_given(
    name: &str,
    arguments: &ObserveArguments,
    stop: &AtomicBool,
) -> anyhow::Result<Option<LivePool>> {
    if !arguments.allow_config {
        bail!(
            "predict observe: each look makes the server write the list of its pool's pages ({DUMP_NOW}), over the \
             list that it loads at its next start; pass --allow-config to allow that"
        );
    }
    let url: ServerUrl = name.parse().map_err(anyhow::Error::msg)?;
    let config = external_server::client_config(arguments.ask_password)?;
    let mut server = external_server::open(&url, &config)?;
    server.permit_variables(&[DUMP_PERCENT, DUMP_NOW].map(str::to_owned).into());
    let mut session = server.session()?;
    server.note_to.clone_from(&arguments.note_to);
    let mut changes = ConfigChanges::new(&server);
    if dump_percent(name, &mut session)? != "100" {
        changes.apply(&[(DUMP_PERCENT.to_owned(), "100".to_owned())].into())?;
    }
    let observed = observe(name, &mut session, arguments, stop);
    changes.put_back()?;
    observed
}

/// An instance of Weir's own.
fn observe_instance(
    name: &str,
    arguments: &ObserveArguments,
    stop: &AtomicBool,
) -> anyhow::Result<Option<LivePool>> {
    let mut session = Session::open(&Instances::open()?.endpoint(name)?, &Gate::own())?;
    let percent = dump_percent(name, &mut session)?;
    let set = |session: &mut Session, percent: &str| {
        session.run(
            "set what a dump of the buffer pool holds",
            &format!("SET GLOBAL {DUMP_PERCENT} = {percent}"),
        )
    };
    set(&mut session, "100")?;
    let observed = observe(name, &mut session, arguments, stop);
    set(&mut session, &percent)?;
    observed
}

fn dump_percent(name: &str, session: &mut Session) -> anyhow::Result<String> {
    let percent = session.variable(DUMP_PERCENT)?;
    percent.with_context(|| format!("`{name}` cannot dump its buffer pool"))
}

/// `None` if it was stopped.
fn observe(
    name: &str,
    session: &mut Session,
    arguments: &ObserveArguments,
    stop: &AtomicBool,
) -> anyhow::Result<Option<LivePool>> {
    let pool = session.pool()?;
    let depth: Option<u64> = session.value(
        "ask how many pages it keeps free",
        "SELECT CAST(@@innodb_lru_scan_depth AS UNSIGNED)",
    )?;
    let free_most = (FREE_MAX * pool.pages as f64).max(depth.unwrap_or(0) as f64);
    if pool.pages_data as f64 + free_most <= pool.pages as f64 {
        bail!(
            "predict observe: the buffer pool of `{name}` is not full ({} of {} pages), so all used pages fit; its \
             pages say nothing about smaller pools",
            pool.pages_data,
            pool.pages
        );
    }
    let data: Option<u64> = session.value(
        "ask for the size of the data",
        "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS UNSIGNED) \
         FROM information_schema.tables WHERE engine = 'InnoDB'",
    )?;
    let (mut looks, mut looking) = (Looks::default(), Duration::ZERO);
    let (began, before) = (Instant::now(), reads(session)?);
    for look in 0..arguments.looks {
        if look > 0 && !slept(arguments.interval.0, stop) {
            return Ok(None);
        }
        let asked = Instant::now();
        looks.look(session.resident_pages()?);
        looking += asked.elapsed();
    }
    let over = began.elapsed();
    let seen = PoolUseSeen {
        server: name.to_owned(),
        looks,
        count: arguments.looks,
        looking,
        over,
        misses: reads(session)? - before,
        page_bytes: pool.page.0.max(1) as f64,
        data_bytes: data.unwrap_or(0) as f64,
    };
    let asked = arguments.pools.pool.as_deref();
    Ok(Some(LivePool::predict(&seen, asked)?))
}

/// Sleeps for `time`; whether it was not stopped.
fn slept(time: Duration, stop: &AtomicBool) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let began = Instant::now();
    while began.elapsed() < time && !stop.load(Ordering::Relaxed) {
        thread::sleep(STEP.min(time));
    }
    !stop.load(Ordering::Relaxed)
}

/// Pages that the server has read so far.
fn reads(session: &mut Session) -> anyhow::Result<f64> {
    let status = session.status()?;
    let reads = status.get("Innodb_buffer_pool_reads");
    let reads = reads.and_then(|value| value.parse().ok());
    reads.context("the server does not tell how many pages it reads (Innodb_buffer_pool_reads)")
}

fn print(observed: &LivePool) -> anyhow::Result<()> {
    output::line(format_args!("{}\n", observed.line()))?;
    output::text(observed.table())?;
    output::line(
        "\nassumed: the server is used as it was while it was looked at, a list of least recent use, independent keys; pages \
         that were there at every look are only known to be used often, so say little of pools far below today's",
    )
}
