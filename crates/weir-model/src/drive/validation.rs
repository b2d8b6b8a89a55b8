//! Validation of a profile: independent figures of the device, and how near the emulated drive comes.

use super::{DriveProfile, Grade, PublishedOperation};

/// The largest distance from an independent figure, as a share of it, of a validated profile.
pub const VALIDATED_WITHIN: f64 = 0.25;

/// Agreement of a profile with independent figures of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validation {
    /// No question: a user's own profile, or one that was measured on the user's drive.
    NotAsked,
    /// All independent figures are met.
    Validated {
        /// There are figures of reads.
        reads: bool,
        /// There are figures of writes.
        writes: bool,
    },
    /// So many of so many figures are missed.
    Missed {
        /// Figures that are more than [`VALIDATED_WITHIN`] off.
        missed: usize,
        /// All figures.
        figures: usize,
    },
    /// No independent figure is known.
    Unknown,
    /// A figure was changed by hand (`NAME+KEY=VALUE`), beyond what a power cut leaves whole.
    Changed,
}

impl Validation {
    /// Returns true unless an independent figure is missed, or none is known.
    pub fn holds(self) -> bool {
        matches!(self, Self::NotAsked | Self::Validated { .. })
    }

    /// In words, after the profile's name; `None` where nothing has to be said.
    pub fn words(self) -> Option<String> {
        match self {
            Self::NotAsked
            | Self::Validated {
                reads: true,
                writes: true,
            } => None,
            Self::Validated { reads, .. } => Some(format!(
                "is validated for {} only",
                if reads { "reads" } else { "writes" }
            )),
            Self::Missed { missed, figures } => Some(format!(
                "is not validated ({missed} of {figures} independent figures missed by more than 25 %)"
            )),
            Self::Unknown => Some("is not validated (no independent figure known)".to_owned()),
            Self::Changed => Some("is not validated (its figures were changed)".to_owned()),
        }
    }
}

impl DriveProfile {
    /// Returns how the emulated drive compares with independent figures of the device.
    pub fn validation(&self) -> Validation {
        let measured_here = self.grade == Some(Grade::Measured) && !self.intervals.is_empty();
        if self.grade.is_none() || measured_here {
            return Validation::NotAsked;
        }
        let mut changed_keys = self.name.split('+').skip(1);
        if changed_keys.any(|key| !key.starts_with("atomicity.")) {
            return Validation::Changed;
        }
        let far_off = |point: &&super::PublishedPoint| point.error().abs() > VALIDATED_WITHIN;
        let has = |operation| {
            let mut points = self.published.iter();
            points.any(|point| point.operation == operation)
        };
        let (figures, missed) = (
            self.published.len(),
            self.published.iter().filter(far_off).count(),
        );
        match (figures, missed) {
            (0, _) => Validation::Unknown,
            (_, 0) => Validation::Validated {
                reads: has(PublishedOperation::Read),
                writes: has(PublishedOperation::Write),
            },
            _ => Validation::Missed { missed, figures },
        }
    }
}

/// Returns the line that stands first where results of emulated drives are shown; `None` if all of them are
/// validated. Each profile is named once.
pub fn validation_line<'a>(profiles: impl IntoIterator<Item = &'a DriveProfile>) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for profile in profiles {
        let front = profile.cache.as_ref().and_then(|cache| cache.profile());
        for profile in std::iter::once(profile).chain(front) {
            let Some(said) = profile.validation().words() else {
                continue;
            };
            let said = format!("{} {said}", profile.name);
            if !words.contains(&said) {
                words.push(said);
            }
        }
    }
    (!words.is_empty()).then(|| format!("Drives: {}.", words.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped(name: &str) -> DriveProfile {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");
        let text = std::fs::read_to_string(format!("{folder}/{name}.toml")).unwrap();
        DriveProfile::parse(name, &text).unwrap()
    }

    #[test]
    fn one_figure_that_is_missed_is_enough() {
        let mut profile = shipped("intel-optane-p4800x");
        assert!(profile.validation().holds());
        profile.published[0].emulated = profile.published[0].measured * 1.26;
        let Validation::Missed { missed, figures } = profile.validation() else {
            panic!("{:?}", profile.validation());
        };
        assert_eq!((missed, figures), (1, profile.published.len()));
        profile.published.clear();
        assert_eq!(profile.validation(), Validation::Unknown);
        profile.name += "+atomicity.unit=16K";
        assert_eq!(profile.validation(), Validation::Unknown);
        profile.name += "+flush.latency_us=3";
        assert_eq!(profile.validation(), Validation::Changed);
        profile.grade = None;
        assert_eq!(profile.validation(), Validation::NotAsked);
    }

    #[test]
    fn the_line_names_each_drive_once() {
        let optane = shipped("null");
        let mut unknown = shipped("intel-optane-p4800x");
        unknown.published.clear();
        let line = validation_line([&optane, &unknown, &unknown]).unwrap();
        assert_eq!(line.matches("intel-optane-p4800x").count(), 1, "{line}");
        assert_eq!(line.lines().count(), 1);
        assert_eq!(validation_line([&optane]), None);
    }
}
