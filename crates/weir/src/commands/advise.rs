//! `weir advise`: settings and indexes that could matter on a running server, as questions; and a study that answers them
//! on a copy.

mod carried;
mod study;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use weir_capture::CaptureReader;
use weir_server::look::{CounterValue, LookReport, Question, Questions, Unit, look, shell_word};
use weir_server::{ServerBinary, Stop, known_variables};
use weir_study::named_program;

use crate::cli::AdviceArguments;
use crate::commands::upgrade::source::Source;
use crate::commands::{external_server, run, study_file};
use crate::{Outcome, interrupt, output};

/// File of the study in the result's folder.
const STUDY: &str = "advise.toml";
/// Fewest questions of a screen.
const QUESTIONS_MIN: usize = 4;

pub(crate) fn execute(arguments: &AdviceArguments) -> anyhow::Result<Outcome> {
    if let Some(capture) = &arguments.capture {
        // Its whole content is read by the study.
        CaptureReader::open(capture)?;
    }
    let flag = interrupt::stop_flag()?;
    let config = external_server::client_config(arguments.ask_password)?;
    let server = external_server::open(&arguments.url, &config)?;
    let stop = Stop::when(flag);
    let length = arguments.seconds.map(Duration::from_secs);
    let report = look(&server, length, stop, |length| {
        eprintln!(
            "looking at the server for {} s, reading only",
            length.as_secs()
        );
    })?;
    external_server::tell_remarks(server.gate());
    if stop.is_asked() {
        return Ok(Outcome::Stopped);
    }
    output::text(questions(&report)?)?;
    let (Some(capture), Some(data)) = (&arguments.capture, &arguments.data) else {
        output::line(next(&arguments.url.to_string()))?;
        return Ok(Outcome::Done);
    };
    if report.questions.count() < QUESTIONS_MIN {
        bail!(
            "{} questions are too few for a screen, which takes {QUESTIONS_MIN}; try each as a factor of a study \
             (`weir init`)",
            report.questions.count()
        );
    }
    let program = program(arguments, &report)?;
    let snapshot = Source::find(data, &program)?.snapshot()?;
    let study = study::Study {
        report: &report,
        program: &program,
        settings: carried::settings(&report, &known_variables(&program)?),
        snapshot: &snapshot,
        capture,
        warmup: arguments.warmup,
    };
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| run::default_folder(Path::new(STUDY)));
    let path = study_file::write_new(&out, STUDY, &study.text()?)?;
    if arguments.run {
        return run::run_written((&path, &out), arguments.work.clone(), flag, |outcome| {
            let advice = weir_report::screen_advice(&outcome.result);
            Ok(format!("{advice}\n{}", run::places(outcome, &out)))
        });
    }
    let (plan, _) = run::plan_of_written(&path)?;
    let time = weir_model::run_time(&plan, weir_judge::expected_runs(&plan));
    output::line(format_args!(
        "\nstudy: {0}\ntime:  about {time}; space: about {1} for each run\nnext:  the same command with --run, or `weir run {0}`",
        path.display(),
        weir_model::run_space(&plan)
    ))?;
    Ok(Outcome::Done)
}

/// The program that serves the copy: the one that is named, else one of the server's version.
fn program(arguments: &AdviceArguments, report: &LookReport) -> anyhow::Result<ServerBinary> {
    let wanted = arguments.server.as_deref().unwrap_or(&report.server);
    named_program(wanted).with_context(|| {
        format!(
            "cannot make a copy of {}; install that version or name a program with --server",
            report.server
        )
    })
}

/// The questions, with what a copy does not show.
fn questions(report: &LookReport) -> anyhow::Result<String> {
    let Questions { asked, indexes, .. } = &report.questions;
    let mut text = format!(
        "{} questions on {}, by its counters of {:.0} s and since its start\n",
        report.questions.count(),
        report.server,
        report.seconds
    );
    for question in asked {
        writeln!(
            text,
            "\n  {}\n    {}; it costs: {}",
            changes(question),
            reason(question),
            question.cost
        )?;
    }
    for index in indexes {
        writeln!(
            text,
            "\n  {}\n    statements with {:.0} % of the time read about {} rows each without it [EXPLAIN]; it costs: space, \
             and time of each change of the table",
            index.statement,
            100.0 * index.share,
            weir_report::grouped(index.rows)
        )?;
    }
    let untried = report.missing_indexes.iter();
    let untried = untried.filter(|index| index.statement().is_none()).count();
    if untried > 0 {
        writeln!(
            text,
            "\nnot tried: {untried} indexes that heavy statements lack, whose columns no plain index takes or the text \
             does not show; `weir look` names the statements"
        )?;
    }
    let lines = [
        (
            "a copy with other cores does not show: ",
            &report.questions.not_on_a_copy,
        ),
        (
            "durability has a price, and is not advised (`weir init --question flush` measures it): ",
            &report.questions.durability,
        ),
    ];
    for (what, settings) in lines
        .into_iter()
        .filter(|(_, settings)| !settings.is_empty())
    {
        writeln!(text, "\n{what}{}", settings.join(", "))?;
    }
    for unseen in &report.unseen {
        writeln!(
            text,
            "\nnot seen: {} ({}); {}",
            unseen.what, unseen.why, unseen.remedy
        )?;
    }
    Ok(text)
}

/// `innodb_io_capacity 200 -> 2000, innodb_io_capacity_max 2000 -> 4000`.
fn changes(question: &Question) -> String {
    let settings = question.settings.iter();
    let changes = settings.map(|(name, present, candidate)| {
        let [present, candidate] = [present, candidate].map(|value| study::level(name, value));
        format!("{name} {present} -> {candidate}")
    });
    changes.collect::<Vec<_>>().join(", ")
}

fn reason(question: &Question) -> String {
    let reading = |reading: &CounterValue| {
        let value = weir_report::grouped(reading.value);
        match reading.unit {
            Unit::Count => format!("{} {value} since the start", reading.name),
            _ => format!("{} {value}/s", reading.name),
        }
    };
    let readings: Vec<_> = question.readings.iter().map(reading).collect();
    if readings.is_empty() {
        return question.reason.to_owned();
    }
    format!("{} ({})", question.reason, readings.join(", "))
}

fn next(url: &str) -> String {
    let url = shell_word(url);
    format!(
        "\nnext: `weir capture poll {url} --for 10m --output load.weircap`, then `weir advise {url} --capture load.weircap \
         --data BACKUP --run` tries all of them on a copy"
    )
}
