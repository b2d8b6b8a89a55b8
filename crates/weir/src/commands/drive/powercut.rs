//! `weir drive powercut`.

use std::path::Path;

use serde_json::json;
use weir_drive::powercut::{
    CheckOptions, CheckReport, DeviceSummary, LaneTally, Witness, WriteOptions, Writer, check,
    cuts_needed,
};
use weir_report::table;

use crate::cli::{
    PowercutCheckArguments, PowercutCommand, PowercutWitnessArguments, PowercutWriteArguments,
};
use crate::{Outcome, interrupt, output};

/// Name of the verdict in the writer's folder.
const VERDICT: &str = "weir-powercut.json";

pub(super) fn execute(command: &PowercutCommand) -> anyhow::Result<Outcome> {
    match command {
        PowercutCommand::Write(arguments) => write(arguments),
        PowercutCommand::Witness(arguments) => witness(arguments),
        PowercutCommand::Check(arguments) => check_cuts(arguments),
    }
}

fn write(arguments: &PowercutWriteArguments) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let writer = Writer::prepare(&WriteOptions {
        directory: arguments.dir.clone(),
        witness: arguments.witness.clone(),
        pages: arguments.pages,
    })?;
    let (folder, storage) = (writer.directory().display(), writer.storage());
    eprintln!(
        "new folder {folder}: {} of {} free; nothing else is touched",
        writer.needed(),
        writer.free()
    );
    eprintln!(
        "storage: {}, {}, Linux {}",
        storage.words(),
        storage.file_system,
        storage.kernel
    );
    if let Some(substitute) = storage.substitute {
        eprintln!("note: {} counts for nothing but itself", substitute.name());
    }
    if !writer.has_direct() {
        eprintln!("note: the storage refuses O_DIRECT; the ways of writing with it are left out");
    }
    writer.run(stop, || {
        eprintln!(
            "writing; cut the power at any moment. Ctrl-C ends the run, which then says nothing"
        );
    })?;
    eprintln!("stopped before any cut: this run says nothing; its folder {folder} stays");
    Ok(Outcome::Stopped)
}

fn witness(arguments: &PowercutWitnessArguments) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let witness = Witness::bind(&arguments.listen, &arguments.log)?;
    let address = witness.address()?;
    eprintln!(
        "listening on {address}; log: {}; Ctrl-C ends it",
        arguments.log.display()
    );
    if !address.ip().is_loopback() {
        eprintln!("note: any host that reaches this address can add runs of its own to the log");
    }
    witness.serve(stop, &|line| eprintln!("{line}"));
    Ok(Outcome::Stopped)
}

fn check_cuts(arguments: &PowercutCheckArguments) -> anyhow::Result<Outcome> {
    let own = arguments.dir.join(VERDICT);
    let file = arguments.verdict.as_ref().unwrap_or(&own);
    let report = check(&CheckOptions {
        directory: arguments.dir.clone(),
        log: arguments.log.clone(),
        verdict: file.clone(),
        cut: arguments.cut.into(),
    })?;
    report.verdict.write(file)?;
    let (summary, lanes) = (report.verdict.summary(), report.verdict.tallies());
    if arguments.json {
        output::line(serde_json::to_string_pretty(&json!({
            "storage": report.verdict.storage(), "summary": summary, "lanes": lanes,
            "left_out": report.left_out, "verdict": file,
        }))?)?;
    } else {
        output::text(words(&report, &summary, &lanes, file))?;
    }
    let tears = summary.torn.iter().any(|(_, torn)| torn.found > 0);
    Ok(if summary.breaks_promise() || tears {
        Outcome::Failed
    } else {
        Outcome::Done
    })
}

fn words(
    report: &CheckReport,
    summary: &DeviceSummary,
    lanes: &[LaneTally],
    file: &Path,
) -> String {
    let mut lines = Vec::new();
    let verdict = &report.verdict;
    if let Some(storage) = verdict.storage() {
        if let Some(substitute) = storage.substitute {
            lines.push(format!(
                "This counts for {} alone: no device lost its power.",
                substitute.name()
            ));
        } else if storage.guest {
            lines.push(
                "This host is a guest: the cuts say nothing about the power of the device below it.".to_owned(),
            );
        }
        let options = match storage.mount_options.join(",") {
            options if options.is_empty() => options,
            options => format!(" ({options})"),
        };
        lines.push(format!(
            "{} of {}, {}{options}, Linux {}",
            summary.cuts_words(),
            storage.words(),
            storage.file_system,
            storage.kernel
        ));
    }
    let others = verdict.cuts.len() as u64 - summary.cuts;
    if others > 0 {
        lines.push(format!(
            "{others} cuts of another kind or storage are left out"
        ));
    }
    lines.extend(report.left_out.iter().map(|why| format!("left out: {why}")));
    lines.push(String::new());
    lines.push(lanes_table(lanes));
    lines.extend(statements(summary));
    lines.push(format!("verdict kept in {}", file.display()));
    lines.join("\n") + "\n"
}

fn lanes_table(lanes: &[LaneTally]) -> String {
    let row = |tally: &LaneTally| {
        let piece = tally.smallest_piece.map(|bytes| bytes.to_string());
        vec![
            tally.lane.way(),
            tally.lane.page.to_string(),
            tally.cuts.to_string(),
            tally.lost.to_string(),
            tally.out_of_order.to_string(),
            tally.torn.to_string(),
            piece.unwrap_or_default(),
            tally.damaged.to_string(),
        ]
    };
    let header = [
        "way of writing",
        "page",
        "cuts",
        "lost",
        "out of order",
        "torn",
        "pieces of",
        "damaged",
    ];
    table(&header, &lanes.iter().map(row).collect::<Vec<_>>())
}

/// Statements over all lanes, each with its bound.
fn statements(summary: &DeviceSummary) -> Vec<String> {
    let mut lines = vec![
        format!("acknowledged writes lost: {}", summary.lost.words()),
        format!("order of writes broken: {}", summary.out_of_order.words()),
        format!("pages damaged: {}", summary.damaged.words()),
    ];
    let torn = summary.torn.iter();
    lines
        .extend(torn.map(|(page, torn)| format!("direct writes of {page} torn: {}", torn.words())));
    lines.push(format!(
        "direct writes lost that had completed and were not flushed (no promise): {}",
        summary.unflushed_lost.words()
    ));
    lines.push(format!(
        "cuts without a finding that a bound needs: {} for 14 %, {} for 5 %, {} for 1 %",
        cuts_needed(0.14),
        cuts_needed(0.05),
        cuts_needed(0.01)
    ));
    lines.push(if summary.breaks_promise() {
        "The device breaks its promise: acknowledged writes do not survive.".to_owned()
    } else {
        "The device kept each acknowledged write. Writes through the page cache tear at the kernel's pages, \
         whatever the device does."
            .to_owned()
    });
    lines
}
