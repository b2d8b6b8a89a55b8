//! The profiles that a comparison of drives hangs on rest on measurements.

use weir_model::{Comparison, DriveProfile, Finding, Grade, RuleId};

use super::{Evidence, NOTES_OR_WARNS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::Profile,
    title: "profiles of compared drives rest on measurements",
    checked: "The grade of each profile in a comparison of two drives, and what others measured on such drives \
              (`[[published]]`). Warning: a profile rests on recalled figures, or one of its published \
              measurements is more than 25 % off. Note: it rests on its maker's figures. A profile without a grade \
              is not checked. No finding where both cells stand on the same drive.",
    reason: "An emulated drive is as right as its profile. The CSD 2000's stored 6 to 37 % too little of data that \
             compress, and two published claims seemed wrong for it.",
    remedy: "Measure your own drive with `weir drive measure`. Read `weir drive show NAME`, and correct the figures \
             that you know.",
    reference: "docs/drive-profiles.md, docs/own-drive.md",
    severities: NOTES_OR_WARNS,
    comparison: check,
    ..Rule::NONE
};

/// A published measurement that is off by more than this casts doubt on the verdict.
const FAR_OFF: f64 = 0.25;

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let cells = [comparison.baseline_cell, comparison.level_cell];
    let [Some(baseline), Some(level)] = cells.map(|cell| evidence.profile(cell)) else {
        return None;
    };
    if baseline.name == level.name {
        return None;
    }
    let profiles = [level, baseline];
    let words: Vec<String> = profiles.into_iter().filter_map(words).collect();
    if words.is_empty() {
        return None;
    }
    let message = format!(
        "the ratio depends on two profiles: {}; `weir drive show` has the sources",
        words.join(", ")
    );
    Some(if profiles.into_iter().any(is_doubtful) {
        RULE.warning(message)
    } else {
        RULE.note(message)
    })
}

fn is_doubtful(profile: &DriveProfile) -> bool {
    let is_recalled = profile.grade == Some(Grade::Recalled);
    is_recalled || profile.grade.is_some() && far_off(profile) > 0
}

/// Returns the number of published measurements that the emulated drive misses by far.
fn far_off(profile: &DriveProfile) -> usize {
    let points = profile.published.iter();
    points.filter(|point| point.error().abs() > FAR_OFF).count()
}

/// Returns the words for the evidence of the profile; `None` where that needs no word.
fn words(profile: &DriveProfile) -> Option<String> {
    let grade = profile.grade?;
    let off = far_off(profile);
    if grade == Grade::Measured && off == 0 {
        return None;
    }
    let published = match off {
        0 => String::new(),
        off => format!(
            " and misses {off} of {} published measurements by more than 25 %",
            profile.published.len()
        ),
    };
    Some(format!(
        "{} rests on {}{published}",
        profile.name,
        grade.words()
    ))
}
