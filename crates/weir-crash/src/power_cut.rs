//! The power of a mounted drive, cut by hand: one crash state, of the moment at which the user asked.

use std::path::Path;

use weir_drive::Recording;
use weir_model::PAGE_SIZE_DEFAULT;

use crate::cut::{Choice, Cut, Moment};
use crate::device_rules::DeviceRules;
use crate::durable_image::DurableImage;
use crate::error::CrashError;
use crate::ground_truth::GroundTruth;

/// Makes in the new directory `media` what survives a power cut at the end of the recording in
/// `recording`, of a drive that held `base` when it began. Which of the outcomes that the `rules` allow
/// follows from `seed`. Torn pages are counted in pages of the servers' default size.
///
/// # Errors
///
/// A recording that cannot be read, or files that cannot be written.
pub fn survivors(
    recording: &Path,
    base: &Path,
    media: &Path,
    rules: DeviceRules,
    seed: u64,
) -> Result<GroundTruth, CrashError> {
    let recording = Recording::open(recording)?;
    weir_server::copy_directory(base, media)?;
    let mut image = DurableImage::new(media, &recording, rules, PAGE_SIZE_DEFAULT.0);
    for event in recording.events() {
        image.advance(&event?)?;
    }
    let choice = Choice {
        position: image.position,
        // Where outcomes are counted through, neighbouring seeds are neighbouring outcomes.
        branch: seed as u32,
        outcomes: None,
        moment: Moment::Any,
    };
    image.end(Cut::Power, seed, choice)
}
