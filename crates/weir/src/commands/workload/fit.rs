//! `weir workload fit`.

use std::fs::OpenOptions;
use std::io::Write as _;

use anyhow::{Context as _, bail};
use serde_json::json;
use weir_mysql::{Connection, Connector, Patience};
use weir_replay::fit::{FitResult, Tables, fit};

use crate::cli::WorkloadFitArguments;
use crate::commands::external_server;
use crate::{Outcome, output};

/// Values whose distance is printed: the largest.
const SHOWN: usize = 10;
/// Kinds that are left out and printed.
const LEFT_OUT_SHOWN: usize = 5;

pub(super) fn execute(arguments: &WorkloadFitArguments) -> anyhow::Result<Outcome> {
    if arguments.output.exists() {
        bail!(
            "{} is there already; name a new file",
            arguments.output.display()
        );
    }
    let fitted = match &arguments.url {
        None => fit(&arguments.capture, None)?,
        Some(url) => {
            let config = external_server::client_config(arguments.ask_password)?;
            let server = external_server::open(url, &config)?;
            let schema = server.endpoint.database.clone();
            let connector = Connector::new(server.endpoint.clone(), None, server.gate().clone())?;
            let mut connection = Connection::connect(&connector, true, Patience::Endless)?;
            let tables = Tables {
                connection: &mut connection,
                schema: &schema,
            };
            fit(&arguments.capture, Some(tables))?
        }
    };
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&arguments.output);
    let written = file.and_then(|mut file| file.write_all(fitted.text.as_bytes()));
    written.with_context(|| format!("cannot write {}", arguments.output.display()))?;
    if arguments.json {
        output::line(json!(fitted))?;
    } else {
        print(arguments, &fitted)?;
    }
    Ok(Outcome::Done)
}

fn print(arguments: &WorkloadFitArguments, fitted: &FitResult) -> anyhow::Result<()> {
    let time = fitted.share_of_time.map_or("not known".to_owned(), percent);
    output::line(format_args!(
        "{}: {} kinds of transactions on {} tables, from {} in {:.1} s",
        arguments.output.display(),
        fitted.kinds,
        fitted.tables,
        fitted.content(),
        fitted.length_s
    ))?;
    output::line(format_args!(
        "has {} of the transactions, and of their time: {time}",
        percent(fitted.share_of_transactions)
    ))?;
    let mut values: Vec<_> = fitted
        .values
        .iter()
        .filter_map(|value| Some((value.distance?, value)))
        .collect();
    values.sort_by(|a, b| b.0.total_cmp(&a.0));
    if !values.is_empty() {
        output::line("\ndistance  values  value")?;
    }
    for (distance, value) in values.iter().take(SHOWN) {
        let source: String = value.source.chars().take(100).collect();
        output::line(format_args!(
            "{distance:>8.3}  {:>6}  {} in `{}`: {source}",
            value.values, value.value, value.transaction
        ))?;
    }
    for (what, count) in fitted.left_out.iter().take(LEFT_OUT_SHOWN) {
        eprintln!("left out, {count} times: {what}");
    }
    if fitted.left_out.len() > LEFT_OUT_SHOWN {
        eprintln!(
            "left out: {} more kinds, see [fit] in the file",
            fitted.left_out.len() - LEFT_OUT_SHOWN
        );
    }
    for remark in &fitted.remarks {
        eprintln!("note: {remark}");
    }
    if fitted.tables == 0 {
        eprintln!(
            "note: the file makes no tables, as no server was named; its statements need those of the capture. Give the \
             URL of a server that has them"
        );
    }
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
