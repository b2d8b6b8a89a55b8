//! The drive's process without the rest of Weir, for this crate's tests and measurements.
//!
//! Understands `drive mount PROFILE DIR --backing DIR [--data-scale S] [--drive-scale S]
//! [--set KEY=VALUE] [--below-floor] [--remove-backing] [--record DIR [--record-limit SIZE]]
//! [--foreground]`; users have the same command in `weir`.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use weir_drive::{MountOptions, RecordingOptions, Stop, serve};

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is no reader left when stderr is gone.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let options = parse(arguments)?;
    let stop = Stop::new();
    let of_handler = stop.clone();
    ctrlc::set_handler(move || of_handler.request())?;
    serve(&options, &stop, |profile| {
        let mut stdout = std::io::stdout();
        let _ = writeln!(stdout, "mounted {}", profile.name).and_then(|()| stdout.flush());
    })?;
    Ok(())
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<MountOptions, Box<dyn Error>> {
    let mut words = Vec::new();
    let mut options = MountOptions::new("", "", "");
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--backing" => options.backing = value()?.into(),
            "--data-scale" => options.data_scale = value()?.parse()?,
            "--drive-scale" => options.drive_scale = value()?.parse()?,
            "--set" => {
                let setting = value()?;
                let pair = setting.split_once('=').ok_or("--set needs KEY=VALUE")?;
                options
                    .settings
                    .push((pair.0.to_owned(), pair.1.to_owned()));
            }
            "--below-floor" => options.below_floor = true,
            "--remove-backing" => options.remove_backing = true,
            "--record" => options.recording = Some(RecordingOptions::new(value()?)),
            "--record-limit" => match &mut options.recording {
                Some(recording) => recording.limit = value()?.parse()?,
                None => return Err("--record-limit needs --record before it".into()),
            },
            "--foreground" => {}
            _ => words.push(argument),
        }
    }
    match <[String; 4]>::try_from(words) {
        Ok([drive, mount, profile, mountpoint]) if drive == "drive" && mount == "mount" => {
            options.profile = profile;
            options.mountpoint = mountpoint.into();
            Ok(options)
        }
        _ => Err("usage: drive mount PROFILE DIR --backing DIR".into()),
    }
}
