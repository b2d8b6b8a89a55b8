//! Measurements by others on the drives, beside the model's: a profile states its error.

use std::fmt::Write as _;

use weir_model::{
    DriveProfile, OpKind, PublishedFigure, PublishedOperation, PublishedPoint, Scale, Validation,
};

use super::closed_loop::{Job, random, run};
use crate::profiles;

/// Returns the model's value for a point, in the point's unit.
fn emulated(profile: &DriveProfile, point: &PublishedPoint) -> f64 {
    let kind = match point.operation {
        PublishedOperation::Read => OpKind::Read,
        PublishedOperation::Write => OpKind::Write,
    };
    let mut profile = profile.clone();
    // Reviews write in sequence to an empty drive, and the second half is past its cache.
    let is_fresh = point.sequential || point.fresh;
    if let Some(flash) = profile.flash.as_mut().filter(|_| is_fresh) {
        flash.fill = 0.0;
    }
    let job = random(kind, point.bytes.0, point.depth as usize);
    let job = if point.sequential {
        job.sequential()
    } else {
        job
    };
    let bytes = if kind == OpKind::Write {
        120_000_000_000
    } else {
        2_000_000_000
    };
    let operations = (bytes / point.bytes.0).clamp(20_000, 1_000_000);
    let span = point.span.map_or(0, |span| span.0);
    let seen = run(
        &profile,
        Scale::FULL,
        Job {
            operations,
            span,
            ..job
        },
    );
    match point.figure {
        PublishedFigure::Iops => seen.per_second,
        PublishedFigure::LatencyUs => seen.latency_us_mean,
        PublishedFigure::MbPerS => seen.bytes_per_second / 1e6,
    }
}

/// Writes the emulated value of the `number`th point into the text of a profile.
fn with_emulated(text: &str, number: usize, value: f64) -> String {
    let mut seen = 0;
    let lines = text.lines().map(|line| {
        let is_value = line.starts_with("emulated = ");
        seen += usize::from(is_value);
        if is_value && seen == number + 1 {
            format!("emulated = {}", three_digits(value))
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Rounds to three digits.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap()
}

#[test]
fn every_profile_says_what_others_measured_and_how_far_off_it_is() {
    let mut wrong = Vec::new();
    for name in profiles::embedded_names() {
        let profile = profiles::embedded(name).unwrap();
        if profile.grade.is_none() && name != "null" {
            wrong.push(format!("{name} has no grade"));
        }
        if profile.published.is_empty() && !profile.sources.contains_key("published") {
            wrong.push(format!("{name} does not say whether others measured it"));
        }
        for (number, point) in profile.published.iter().enumerate() {
            if point.date.is_empty() {
                wrong.push(format!("{name}: no date: {}", point.words()));
            }
            let found = emulated(&profile, point);
            let is_off = (point.emulated / found - 1.0).abs() > 0.02;
            if is_off && std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
                let path = format!("{}/../../drives/{name}.toml", env!("CARGO_MANIFEST_DIR"));
                let text = std::fs::read_to_string(&path).unwrap();
                std::fs::write(&path, with_emulated(&text, number, found)).unwrap();
            } else if is_off {
                wrong.push(format!(
                    "{name}: the model gives {found:.1}: {}",
                    point.words()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/drives-validated.md"
);

/// The page of all profiles and their independent figures.
fn page() -> String {
    let mut page = String::from(HEAD);
    let profiles: Vec<_> = profiles::embedded_names()
        .filter(|name| *name != "null")
        .map(|name| profiles::embedded(name).unwrap())
        .collect();
    for profile in &profiles {
        let state = match profile.validation() {
            Validation::NotAsked => "not asked".to_owned(),
            state @ Validation::Validated { .. } => {
                let words = state.words().map(|words| words.replace("is ", ""));
                words.unwrap_or_else(|| "validated".to_owned())
            }
            state => state.words().map_or(String::new(), |words| {
                words.replace("is not validated", "**no**")
            }),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(page, "| `{}` | {} | {state} |", profile.name, profile.title);
    }
    page += FIGURES;
    for profile in &profiles {
        for point in &profile.published {
            page += &row(profile, point);
        }
    }
    page + FOOT
}

fn row(profile: &DriveProfile, point: &PublishedPoint) -> String {
    let unit = point.unit().trim();
    let model = point
        .model_capacity
        .map(|bytes| format!("; the model of {bytes}"));
    let caveat = match point.caveat.as_str() {
        "" => String::new(),
        caveat => format!("; {caveat}"),
    };
    format!(
        "| `{}` | {}, {unit} | {} | {} | {:.2} | {}{}{caveat} | {} |\n",
        profile.name,
        point.what(),
        point.measured,
        point.emulated,
        point.emulated / point.measured,
        point.source.trim_end_matches(", seen"),
        model.unwrap_or_default(),
        point.date,
    )
}

const HEAD: &str = "# Drives: which profiles are validated

A profile is *validated* if the emulated drive comes within 25 % of every independent figure of the device that was
found. Independent means: measured by others, and not used to make the profile. Each result of a drive that
is not says so in its first line. A test writes this page; each emulated figure is the device model's, in virtual
time.

| profile | device | validated |
|---|---|---|
";

const FIGURES: &str = "
## Each figure

| profile | figure | published | emulated | ratio | source | date |
|---|---|---|---|---|---|---|
";

const FOOT: &str = "
## Limits

- Few independent figures were found for drives that people buy today; reviews show charts, and a chart is not read
  off. Do you have one? Add a `[[published]]` section to the profile ([drive profiles](drive-profiles.md)).
- Some figures of profiles were chosen with a published one in view; the profile's sources say which. That makes the
  check weaker.
- A figure through a file system or one job of fio has the host in it. It counts all the same.
- A profile with `+KEY=VALUE` is not validated, unless only `atomicity` is changed.
";

#[test]
fn the_document_of_validated_drives_is_up_to_date() {
    let wanted = page();
    if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
        std::fs::write(PAGE, &wanted).unwrap();
    }
    assert!(
        std::fs::read_to_string(PAGE).unwrap_or_default() == wanted,
        "docs/drives-validated.md is out of date; run `WEIR_UPDATE_FIXTURES=1 cargo nextest run --workspace \
         the_document_of_validated_drives`"
    );
}
