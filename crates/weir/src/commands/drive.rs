//! `weir drive`.

use std::path::Path;

use weir_drive::{MountOptions, RecordingOptions, Stop, profiles};
use weir_model::{DriveProfile, DriveStatistics, FileKindStatistics};
use weir_report::table;

use crate::cli::{DriveCommand, JsonArguments, MountArguments};
use crate::{Outcome, interrupt, output};

pub(crate) fn execute(command: &DriveCommand) -> anyhow::Result<Outcome> {
    match command {
        DriveCommand::List(arguments) => list(arguments)?,
        DriveCommand::Show { profile } => show(&profiles::load(profile, None)?)?,
        DriveCommand::Mount(arguments) => mount(arguments)?,
        DriveCommand::Stat { dir, json } => stat(dir, *json)?,
        DriveCommand::Unmount { dir } => weir_drive::unmount(dir)?,
    }
    Ok(Outcome::Done)
}

fn list(arguments: &JsonArguments) -> anyhow::Result<()> {
    let drives = profiles::list(None)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&drives)?)?;
        return Ok(());
    }
    let row = |drive: &DriveProfile| {
        vec![
            drive.name.clone(),
            format!("{:.0} GB", drive.capacity.0 as f64 / 1e9),
            format!("{:.0}", drive.read.latency_us),
            format!("{:.0}", drive.read.iops_max),
            format!("{:.0}", drive.write.latency_us),
            format!("{:.0}", drive.write.bandwidth_mb_per_s),
            drive.title.clone(),
        ]
    };
    let header = [
        "name",
        "capacity",
        "read us",
        "read IOPS",
        "write us",
        "write MB/s",
        "drive",
    ];
    output::text(table(&header, &drives.iter().map(row).collect::<Vec<_>>()))?;
    Ok(())
}

/// The profile as TOML: what a user copies to describe a drive of their own.
fn show(profile: &DriveProfile) -> anyhow::Result<()> {
    output::text(toml::to_string_pretty(profile)?)?;
    Ok(())
}

fn mount(arguments: &MountArguments) -> anyhow::Result<()> {
    let stop = Stop::new();
    let on_signal = stop.clone();
    interrupt::on_signal(move || on_signal.request())?;
    let options = MountOptions {
        data_scale: arguments.data_scale,
        drive_scale: arguments.drive_scale,
        below_floor: arguments.below_floor,
        remove_backing: arguments.remove_backing,
        recording: arguments.record.as_ref().map(|directory| RecordingOptions {
            directory: directory.clone(),
            limit: arguments.record_limit,
        }),
        ..MountOptions::new(&arguments.profile, &arguments.backing, &arguments.dir)
    };
    weir_drive::serve(&options, &stop, |profile| {
        if arguments.foreground {
            // Whoever started this process waits for the line; if it is gone, the signal of its
            // death is on its way.
            let _ = output::line("mounted");
        } else {
            eprintln!(
                "{} is mounted at {}; Ctrl-C unmounts it",
                profile.title,
                arguments.dir.display()
            );
        }
    })?;
    Ok(())
}

fn stat(dir: &Path, json: bool) -> anyhow::Result<()> {
    let statistics = weir_drive::statistics(dir)?;
    if json {
        output::line(serde_json::to_string(&statistics)?)?;
        return Ok(());
    }
    print_traffic(&statistics)?;
    output::line(format_args!(
        "\nmounted {:.0} s, {} in flight, {} used, {} written to media, compressed to {:.0} %",
        statistics.uptime_s,
        statistics.queue_depth,
        weir_model::Bytes(statistics.used_bytes),
        weir_model::Bytes(statistics.media_written_bytes),
        statistics.compressed_fraction * 100.0
    ))?;
    output::line(format_args!(
        "emulation: completions late by {:.0} us (median), {:.0} us (p99), {:.1} % beyond 5 %",
        statistics.lateness_us_p50,
        statistics.lateness_us_p99,
        statistics.late_share * 100.0
    ))?;
    Ok(())
}

fn print_traffic(statistics: &DriveStatistics) -> anyhow::Result<()> {
    let mean_us = |seconds: f64, count: u64| match count {
        0 => "-".to_owned(),
        count => format!("{:.0}", seconds / count as f64 * 1e6),
    };
    let row = |(kind, counted): (&weir_model::FileKind, &FileKindStatistics)| {
        vec![
            weir_report::file_kind_name(*kind).to_owned(),
            counted.reads.to_string(),
            weir_model::Bytes(counted.read_bytes).to_string(),
            mean_us(counted.read_latency_s, counted.reads),
            counted.writes.to_string(),
            weir_model::Bytes(counted.write_bytes).to_string(),
            mean_us(counted.write_latency_s, counted.writes),
            counted.flushes.to_string(),
        ]
    };
    let header = [
        "files", "reads", "read", "mean us", "writes", "written", "mean us", "flushes",
    ];
    output::text(table(
        &header,
        &statistics.by_kind.iter().map(row).collect::<Vec<_>>(),
    ))
}
