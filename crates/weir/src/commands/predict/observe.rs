//! `weir predict observe SERVER`: what other pools would miss, from looks at what the pool of a live server holds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::Serialize;
use weir_model::{Bytes, ServerUrl};
use weir_mysql::Gate;
use weir_predict::{Looks, lru};
use weir_report::table;
use weir_server::{ConfigChanges, Instances, Session};

use super::asked_pools;
use crate::cli::ObserveArguments;
use crate::commands::given_server;
use crate::{Outcome, interrupt, output};

const DUMP_PERCENT: &str = "innodb_buffer_pool_dump_pct";
const DUMP_NOW: &str = "innodb_buffer_pool_dump_now";
/// A pool with a larger share of free pages, and more than the server keeps free, holds all that is used.
const FREE_MAX: f64 = 0.2;

/// What was observed, and what follows from it.
#[derive(Debug, Serialize)]
struct Observation {
    server: String,
    looks: u32,
    /// How long a look took the server, on average.
    look_ms_mean: f64,
    seconds: f64,
    pages_resident: f64,
    pages_seen: usize,
    pages_of_data: f64,
    misses_per_s: f64,
    pools: Vec<Row>,
}

/// One pool.
#[derive(Debug, Serialize)]
struct Row {
    pool_bytes: u64,
    share_of_data: f64,
    misses_per_s: f64,
    /// Of those of today.
    misses_share: f64,
}

/// Observes the server called `name`, one of ours or the URL of one of the user's.
pub(super) fn execute(arguments: &ObserveArguments) -> anyhow::Result<Outcome> {
    // What is set has to be put back, also where somebody does not want to wait.
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
        observed.print()?;
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
) -> anyhow::Result<Option<Observation>> {
    if !arguments.allow_config {
        bail!(
            "predict observe: a look has the server write down which pages its pool holds \
             ({DUMP_NOW}), in place of the list that it loads at its next start; pass --allow-config to \
             allow that"
        );
    }
    let url: ServerUrl = name.parse().map_err(anyhow::Error::msg)?;
    let config = given_server::client_config(arguments.ask_password)?;
    let mut server = given_server::open(&url, &config)?;
    server.permit_variables(&[DUMP_PERCENT, DUMP_NOW].map(str::to_owned).into());
    let mut session = server.session()?;
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
) -> anyhow::Result<Option<Observation>> {
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
) -> anyhow::Result<Option<Observation>> {
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
    let page_bytes = pool.page.0.max(1) as f64;
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
    let seconds = began.elapsed().as_secs_f64();
    let misses_per_s = (reads(session)? - before) / seconds;
    let pages_of_data = (data.unwrap_or(0) as f64 / page_bytes).max(looks.distinct() as f64);
    let popularity = looks.popularity(pages_of_data, misses_per_s)?;
    let sizes = asked_pools(arguments.pools.pool.as_deref(), pages_of_data)?;
    let row = |size: &Bytes| {
        let misses_per_s_there = lru(&popularity, size.0 as f64 / page_bytes).misses;
        Row {
            pool_bytes: size.0,
            share_of_data: size.0 as f64 / page_bytes / pages_of_data,
            misses_per_s: misses_per_s_there,
            misses_share: misses_per_s_there / misses_per_s,
        }
    };
    Ok(Some(Observation {
        server: name.to_owned(),
        looks: arguments.looks,
        look_ms_mean: looking.as_secs_f64() * 1e3 / f64::from(arguments.looks),
        seconds,
        pages_resident: looks.resident(),
        pages_seen: looks.distinct(),
        pages_of_data,
        misses_per_s,
        pools: sizes.iter().map(row).collect(),
    }))
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

impl Observation {
    fn print(&self) -> anyhow::Result<()> {
        output::line(format_args!(
            "{}: {} looks in {:.0} s, each {:.0} ms; {:.0} pages in the pool, {} different ones seen of {:.0}; {:.0} \
             misses per second\n",
            self.server,
            self.looks,
            self.seconds,
            self.look_ms_mean,
            self.pages_resident,
            self.pages_seen,
            self.pages_of_data,
            self.misses_per_s
        ))?;
        let rows: Vec<_> = self.pools.iter().map(Row::line).collect();
        output::text(table(&["pool", "of data", "misses/s", "of today's"], &rows))?;
        output::line(
            "\nassumed: the server is used as it was while it was looked at, a list of least recent use, independent keys; pages \
             that were there at every look are only known to be used often, so say little of pools far below today's",
        )
    }
}

impl Row {
    fn line(&self) -> Vec<String> {
        vec![
            Bytes(self.pool_bytes).to_string(),
            format!("{:.0} %", self.share_of_data * 100.0),
            format!("{:.0}", self.misses_per_s),
            format!("{:.0} %", self.misses_share * 100.0),
        ]
    }
}
