//! `weir agents`: the load hosts of a bus.

mod joining;
mod ssh;

use serde::Serialize;
use weir_agent::Member;
use weir_report::table;

use self::joining::join;
use crate::cli::{AgentsArguments, AgentsCommand};
use crate::{Outcome, output};

/// Error of a clock beyond which second-by-second numbers of hosts do not fit together, microseconds.
const CLOCK_ERROR_US_MAX: f64 = 1_000.0;
/// Files that an agent needs at least, for some thousand connections.
const FILES_MIN: u64 = 4_096;

pub(crate) fn execute(command: &AgentsCommand) -> anyhow::Result<Outcome> {
    match command {
        AgentsCommand::Up(arguments) => ssh::up(arguments),
        AgentsCommand::List(arguments) => list(arguments),
        AgentsCommand::Check(arguments) => check(arguments),
        AgentsCommand::Down(arguments) => down(arguments),
    }
}

/// An agent, as JSON.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    run: Option<&'a str>,
    round_trip_us: f64,
    clock_ahead_s: f64,
    clock_error_us: f64,
    #[serde(flatten)]
    facts: &'a weir_agent::Facts,
}

fn list(arguments: &AgentsArguments) -> anyhow::Result<Outcome> {
    let members = join(arguments.bus.as_deref())?.members()?;
    if arguments.json {
        let rows: Vec<_> = members
            .iter()
            .map(|member| Row {
                name: &member.name,
                run: member.run.as_deref(),
                round_trip_us: member.round_trip_us,
                clock_ahead_s: member.clock_ahead_s,
                clock_error_us: member.clock_error_us,
                facts: &member.facts,
            })
            .collect();
        output::line(serde_json::to_string_pretty(&rows)?)?;
        return Ok(Outcome::Done);
    }
    let header = [
        "agent",
        "host",
        "cores",
        "memory",
        "files",
        "round trip",
        "clock error",
        "allows",
        "labels",
        "run",
    ];
    let rows: Vec<_> = members.iter().map(row).collect();
    output::text(table(&header, &rows))?;
    if members.is_empty() {
        eprintln!(
            "no agents are there; start some with `weir agents up HOST...` or `weir agent --join FILE`"
        );
    }
    Ok(Outcome::Done)
}

fn row(member: &Member) -> Vec<String> {
    let facts = &member.facts;
    vec![
        member.name.clone(),
        facts.host.clone(),
        facts.cores.to_string(),
        weir_model::Bytes(facts.memory_bytes).to_string(),
        facts.files.to_string(),
        format!("{:.0} us", member.round_trip_us),
        format!("{:.0} us", member.clock_error_us),
        allows(facts),
        facts.labels.join(", "),
        member.run.clone().unwrap_or_else(|| "-".to_owned()),
    ]
}

/// `load, probe`.
fn allows(facts: &weir_agent::Facts) -> String {
    let words: Vec<_> = facts.allows.iter().map(ToString::to_string).collect();
    words.join(", ")
}

fn check(arguments: &AgentsArguments) -> anyhow::Result<Outcome> {
    let members = join(arguments.bus.as_deref())?.members()?;
    let mut is_good = !members.is_empty();
    if members.is_empty() {
        output::line("!!  no agents are there")?;
    }
    for member in &members {
        let remarks = remarks(member);
        is_good &= remarks.is_empty();
        let mark = if remarks.is_empty() { "ok" } else { "!!" };
        let cores = member.facts.cores;
        output::line(format_args!(
            "{mark}  {} on {}: {cores} cores",
            member.name, member.facts.host
        ))?;
        for remark in remarks {
            output::line(format_args!("    {remark}"))?;
        }
    }
    Ok(if is_good {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

/// Returns the obstacles to a run, with remedies.
fn remarks(member: &Member) -> Vec<String> {
    let (facts, ours) = (&member.facts, env!("WEIR_COMMIT"));
    let mut remarks = Vec::new();
    if facts.version != ours {
        remarks.push(format!(
            "version: {} (here: {ours}); install the same on both hosts",
            facts.version
        ));
    }
    if member.clock_error_us > CLOCK_ERROR_US_MAX {
        remarks.push(format!(
            "clock: known to {:.1} ms only; use a network with a shorter round trip",
            member.clock_error_us / 1e3
        ));
    }
    if facts.files < FILES_MIN {
        remarks.push(format!(
            "files: {} (some thousand connections need more); raise ulimit -n",
            facts.files
        ));
    }
    remarks
}

fn down(arguments: &AgentsArguments) -> anyhow::Result<Outcome> {
    let crew = join(arguments.bus.as_deref())?;
    let names: Vec<_> = crew
        .members()?
        .into_iter()
        .map(|member| member.name)
        .collect();
    crew.send_home(&names)?;
    eprintln!("agents ended: {}", names.len());
    Ok(Outcome::Done)
}
