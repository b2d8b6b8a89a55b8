//! `weir drive`.

mod cut;
mod measure;
mod powercut;
mod show;
mod stat;
mod trace;

use std::path::Path;

use anyhow::Context;
use weir_drive::{MountOptions, RecordingOptions, Stop, profiles};
use weir_model::DriveProfile;
use weir_report::table;

use crate::cli::{DriveCommand, JsonArguments, MountArguments};
use crate::{Outcome, interrupt, output};

pub(crate) fn execute(command: &DriveCommand) -> anyhow::Result<Outcome> {
    match command {
        DriveCommand::List(arguments) => list(arguments)?,
        DriveCommand::Show { profile } => show::execute(&profiles::load(profile, None)?)?,
        DriveCommand::Measure(arguments) => return measure::execute(arguments),
        DriveCommand::Mount(arguments) => mount(arguments)?,
        DriveCommand::Stat { dir, json, once } => stat::execute(dir, *json, *once)?,
        DriveCommand::Set { dir, settings } => set(dir, settings)?,
        DriveCommand::Trace(arguments) => trace::execute(arguments)?,
        DriveCommand::Cut { dir, seed, json } => cut::execute(dir, *seed, *json)?,
        DriveCommand::Powercut { command } => return powercut::execute(command),
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

fn mount(arguments: &MountArguments) -> anyhow::Result<()> {
    let stop = Stop::new();
    let on_signal = stop.clone();
    interrupt::on_signal(move || on_signal.request())?;
    let options = MountOptions {
        data_scale: arguments.data_scale,
        drive_scale: arguments.drive_scale,
        below_floor: arguments.below_floor,
        remove_backing: arguments.remove_backing,
        settings: pairs(&arguments.set)?,
        recording: arguments.record.as_ref().map(|directory| RecordingOptions {
            directory: directory.clone(),
            limit: arguments.record_limit,
        }),
        ..MountOptions::new(&arguments.profile, &arguments.backing, &arguments.dir)
    };
    if let Some(recording) = options.recording.as_ref().filter(|_| arguments.record_base) {
        cut::keep_base(&options.backing, &recording.base())?;
    }
    weir_drive::serve(&options, &stop, |profile| {
        if arguments.foreground {
            // The process that started this one waits for the line; if it is gone, the signal of its
            // death is on its way.
            let _ = output::line("mounted");
        } else {
            if let Some(line) = weir_model::validation_line([profile]) {
                eprintln!("{line}");
            }
            eprintln!(
                "{} is mounted at {}; Ctrl-C unmounts it",
                profile.title,
                arguments.dir.display()
            );
            if profile.atomicity.advertise {
                eprintln!(
                    "it tells servers that ask that it never tears writes of {}: that is the emulation's word, which \
                     `weir drive cut` keeps; of a real drive it proves nothing",
                    profile.atomicity.unit
                );
            }
            let handicaps = weir_drive::handicaps();
            if !handicaps.is_empty() {
                eprintln!(
                    "replies will be late ({}); `weir drive stat` says by how much; run as root to \
                     avoid it",
                    handicaps.join(", ")
                );
            }
        }
    })?;
    Ok(())
}

fn set(dir: &Path, settings: &[String]) -> anyhow::Result<()> {
    if settings == ["reset"] {
        weir_drive::reset_faults(dir)?;
        return Ok(());
    }
    let faults = weir_drive::set_faults(dir, pairs(settings)?)?;
    // What is set now, as TOML: the keys are those that `set` takes.
    output::text(toml::to_string(&faults)?)
}

fn pairs(settings: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let pair = |setting: &String| {
        let (key, value) = setting
            .split_once('=')
            .with_context(|| format!("setting `{setting}`: not KEY=VALUE"))?;
        Ok((key.to_owned(), value.to_owned()))
    };
    settings.iter().map(pair).collect()
}
