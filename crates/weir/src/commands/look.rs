//! `weir look`.

mod numbers;
mod screen;
mod sections;

use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use weir_server::Stop;
use weir_server::look::{look, next_command};

use crate::cli::LookArguments;
use crate::commands::external_server;
use crate::{Outcome, interrupt, output};

pub(crate) fn execute(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let config = external_server::client_config(arguments.ask_password)?;
    let server = external_server::open(&arguments.url, &config)?;
    let stop = Stop::when(interrupt::stop_flag_then_exit()?);
    let watch = arguments.watch.map(|watch| watch.0);
    let length = watch.or(arguments.seconds.map(Duration::from_secs));
    let report = look(&server, length, stop, |length| {
        eprintln!(
            "looking at the server for {} s, reading only; Ctrl-C ends it early",
            length.as_secs()
        );
    })?;
    external_server::tell_remarks(server.gate());
    let next = next_command(&report, &arguments.url.to_string());
    let page = sections::page(&report, &next);
    if let Some(path) = &arguments.report {
        let html = page.html()?;
        std::fs::write(path, html)
            .with_context(|| format!("cannot write `{}`; name another file", path.display()))?;
    }
    if arguments.json {
        let next = json!({ "command": next.command, "why": next.why });
        let all = json!({ "report": report, "next": next });
        output::line(serde_json::to_string_pretty(&all)?)?;
    } else {
        output::text(screen::text(&page))?;
    }
    Ok(if stop.is_asked() {
        Outcome::Stopped
    } else {
        Outcome::Done
    })
}
