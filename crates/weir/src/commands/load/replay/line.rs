//! The command line of a replay: its own options, and those of `weir load` that say where the server is.

use std::path::PathBuf;

use anyhow::{anyhow, bail};
use weir_load::LoadPlan;
use weir_model::ServerUrl;
use weir_mysql::{ClientConfig, endpoint};
use weir_replay::ReplayOptions;
use weir_sysbench::{Form, Invocation};

use crate::password;

/// Help of `weir load CAPTURE`.
pub(crate) const HELP: &str = "\
Usage: weir load CAPTURE.weircap run [URL] [OPTIONS]

Sends a capture of `weir capture` to a server: mysql://USER@HOST:PORT/SCHEMA, mariadb://..., or the
--mysql-* options of weir load. Only reads are sent unless --allow-write is given.

  --pace=captured|think|fast  statements are due when they were, as long after the last answer as it
                              was, or at once [captured]
  --speed=N                   divide times by N, 0.01 to 100 [1]
  --order=session|commit      between sessions, only the clock orders statements; or a statement also
                              waits, 2 s at most, for the writing transactions that ended before it
                              in the capture [session]
  --filter=all|reads|writes   only transactions that read, or only those that write [all]
  --from=TIME                 begin so far into the capture, as in 10m [0s]
  --length=TIME               send the transactions that begin within this time after it [all]
  --sessions=N%               only this share of the sessions, each whole [100%]
  --captured-user=NAME        only sessions of this account
  --captured-schema=NAME      the capture's schema whose statements are sent [that of most of them]
  --allow-write               send statements that change tables of the URL's schema, too
  --allow-replica             also where the server is a replica or read-only
  --json                      print JSON

Each transaction is sent whole, with --from, --length and --sessions, too.

Never sent: statements about accounts and secrets, those that were cut in a log, LOAD DATA, KILL,
replication, SET GLOBAL, and statements about other schemas. The report counts them. Comments that a
server executes (/*! ... */) are sent as the text that this server reads.
";
/// A workload whose options are those of a run. Nothing else of it counts.
const STAND_IN: &str = "oltp_read_only";
const SPEEDS: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// A command line, understood.
#[derive(Debug)]
pub(super) struct ReplayLine {
    pub(super) capture: PathBuf,
    pub(super) options: ReplayOptions,
    pub(super) plan: LoadPlan,
    pub(super) allow_write: bool,
    pub(super) allow_replica: bool,
    pub(super) is_json: bool,
}

impl ReplayLine {
    /// Reads the words after `weir load`; `None`: help is asked for.
    pub(super) fn read(
        arguments: &[String],
        config: &ClientConfig,
    ) -> anyhow::Result<Option<Self>> {
        let (capture, rest) = arguments
            .split_first()
            .ok_or_else(|| anyhow!("no capture is named"))?;
        let mut options = ReplayOptions::default();
        let (mut url, mut command, mut of_load) = (None, None, vec![STAND_IN.to_owned()]);
        let (mut allow_write, mut is_json) = (false, false);
        for word in rest {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            match name {
                "--pace" => {
                    options.pace = value.parse().map_err(|why: String| wrong(word, &why))?;
                }
                "--order" => {
                    options.order = value.parse().map_err(|why: String| wrong(word, &why))?;
                }
                "--filter" => {
                    options.filter = value.parse().map_err(|why: String| wrong(word, &why))?;
                }
                "--speed" => options.speed = speed(word, value)?,
                "--from" => options.from_us = time_us(word, value)?,
                "--length" => options.length_us = Some(time_us(word, value)?),
                "--sessions" => options.sessions = share(word, value)?,
                "--captured-user" => options.user = Some(value.to_owned()),
                "--captured-schema" => options.schema = Some(value.to_owned()),
                "--allow-write" => allow_write = true,
                "--json" => is_json = true,
                "--help" => return Ok(None),
                _ if ServerUrl::is_meant(word) => {
                    url = Some(word.parse::<ServerUrl>().map_err(anyhow::Error::msg)?);
                }
                _ if word.starts_with('-') => of_load.push(word.clone()),
                _ if command.is_none() => command = Some(word.as_str()),
                _ => bail!("`{word}` is one word too many; see weir load CAPTURE help"),
            }
        }
        match command {
            Some("run") => {}
            Some("help") | None => return Ok(None),
            Some(other) => bail!("`{other}` is nothing that a capture is for; `run` sends it"),
        }
        of_load.push("run".to_owned());
        let mut invocation = weir_sysbench::parse(&of_load, config)?;
        if invocation.asks_password {
            invocation.set_password(&password::ask()?);
        }
        refuse_outputs(&invocation)?;
        let mut plan = invocation.plan;
        if let Some(url) = url {
            let found = endpoint(&url, config);
            plan.endpoint = found.map_err(|error| anyhow!("cannot use `{url}` ({error})"))?;
        }
        Ok(Some(Self {
            capture: PathBuf::from(capture),
            options,
            plan,
            allow_write,
            allow_replica: invocation.allow_replica,
            is_json: is_json || invocation.form == Form::Json,
        }))
    }
}

/// Refuses files and metrics that a replay does not make: without a word they would be missing at its end.
fn refuse_outputs(invocation: &Invocation) -> anyhow::Result<()> {
    for (name, is_given) in [
        ("--hdr-log", invocation.hdr_log.is_some()),
        ("--csv", invocation.csv.is_some()),
        ("--metrics", invocation.metrics.is_some()),
    ] {
        if is_given {
            bail!("{name}: given (a replay does not make it); leave it out, and take --json");
        }
    }
    Ok(())
}

fn wrong(word: &str, why: &str) -> anyhow::Error {
    anyhow!("{word}: {why}")
}

fn speed(word: &str, value: &str) -> anyhow::Result<f64> {
    let speed = value.parse().ok().filter(|speed| SPEEDS.contains(speed));
    speed.ok_or_else(|| wrong(word, "must be 0.01 to 100"))
}

/// `10m` in microseconds.
fn time_us(word: &str, value: &str) -> anyhow::Result<u64> {
    let time = value.parse::<weir_model::Duration>();
    let time = time.map_err(|why| wrong(word, &why.to_string()))?;
    Ok(u64::try_from(time.0.as_micros()).unwrap_or(u64::MAX))
}

/// `25%` as 0.25.
fn share(word: &str, value: &str) -> anyhow::Result<f64> {
    let percent = value.trim_end_matches('%').parse::<f64>().ok();
    let percent = percent.filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let share = percent.map(|percent| percent / 100.0);
    share.ok_or_else(|| wrong(word, "must be above 0% and no more than 100%"))
}

#[cfg(test)]
mod tests {
    use weir_model::{ReplayFilter, ReplayOrder, ReplayPace};

    use super::*;

    fn read(words: &[&str]) -> anyhow::Result<Option<ReplayLine>> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        ReplayLine::read(&words, &ClientConfig::default())
    }

    #[test]
    fn options_of_both_kinds_are_read() {
        let line = read(&[
            "a.weircap",
            "run",
            "--pace=think",
            "--order=commit",
            "--filter=reads",
            "--speed=2",
            "--from=10m",
            "--length=30s",
            "--sessions=25%",
            "--mysql-host=db1",
            "--mysql-db=shop",
            "--allow-write",
        ]);
        let line = line.unwrap().unwrap();
        assert_eq!(line.options.pace, ReplayPace::Think);
        assert_eq!(line.options.order, ReplayOrder::Commit);
        assert_eq!(line.options.filter, ReplayFilter::Reads);
        assert_eq!((line.options.speed, line.options.sessions), (2.0, 0.25));
        assert_eq!(line.options.from_us, 600_000_000);
        assert_eq!(line.options.length_us, Some(30_000_000));
        assert_eq!(line.plan.endpoint.database, "shop");
        assert!(line.allow_write && !line.is_json);
        let line = read(&["a.weircap", "run", "mariadb://app@db2:3307/web"])
            .unwrap()
            .unwrap();
        assert_eq!(line.plan.endpoint.address.to_string(), "db2:3307");
        assert!(!line.allow_write);
        assert!(read(&["a.weircap", "help"]).unwrap().is_none());
        for wrong in [
            "--speed=0",
            "--sessions=0%",
            "--pace=slow",
            "prepare",
            "--nothing=1",
        ] {
            let error = read(&["a.weircap", wrong, "run"]).unwrap_err().to_string();
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
