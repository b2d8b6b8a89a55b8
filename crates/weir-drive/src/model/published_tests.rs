//! Measurements by others on the drives, beside the model's: a profile states its error.

use weir_model::{
    DriveProfile, OpKind, PublishedFigure, PublishedOperation, PublishedPoint, Scale,
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
    if let Some(flash) = profile.flash.as_mut().filter(|_| point.sequential) {
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
    let seen = run(&profile, Scale::FULL, Job { operations, ..job });
    match point.figure {
        PublishedFigure::Iops => seen.per_second,
        PublishedFigure::LatencyUs => seen.latency_us_mean,
        PublishedFigure::MbPerS => seen.bytes_per_second / 1e6,
    }
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
        for point in &profile.published {
            let found = emulated(&profile, point);
            if (point.emulated / found - 1.0).abs() > 0.02 {
                wrong.push(format!(
                    "{name}: the model gives {found:.1}: {}",
                    point.words()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
