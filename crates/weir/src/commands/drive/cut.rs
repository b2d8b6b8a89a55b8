//! `weir drive cut`: what a power cut leaves of a drive that was mounted to be cut.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use weir_crash::{CacheRule, DeviceRules, GroundTruth};

use crate::output;

/// Pages that are named one by one.
const TORN_NAMED_MAX: usize = 10;

/// Report of a cut.
#[derive(Debug, Serialize)]
struct Report<'a> {
    drive: &'a str,
    rules: DeviceRules,
    seed: u64,
    #[serde(flatten)]
    truth: GroundTruth,
    media: &'a Path,
}

/// Copies what the drive is about to show to `base`.
pub(super) fn keep_base(backing: &Path, base: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(backing).with_context(|| format!("creating `{}`", backing.display()))?;
    if let Some(recording) = base.parent() {
        fs::create_dir_all(recording)
            .with_context(|| format!("creating `{}`", recording.display()))?;
    }
    Ok(weir_server::copy_directory(backing, base)?)
}

pub(super) fn execute(dir: &Path, seed: u64, json: bool) -> anyhow::Result<()> {
    let cut = weir_drive::cut(dir)?;
    let rules = DeviceRules::for_profile(&cut.profile);
    let media = cut.recording.join("media");
    let report = Report {
        drive: &cut.profile.title,
        rules,
        seed,
        truth: weir_crash::survivors(&cut.recording, &cut.base, &media, rules, seed)?,
        media: &media,
    };
    if json {
        return output::line(serde_json::to_string(&report)?);
    }
    output::text(words(&report))
}

fn words(report: &Report<'_>) -> String {
    let truth = &report.truth;
    let rule = match report.rules.cache {
        CacheRule::PowerProtected => "keeps acknowledged writes",
        CacheRule::Volatile => "keeps what was flushed",
        CacheRule::Lying => "keeps nothing for sure, as its flushes do nothing",
    };
    let mut lines = vec![
        format!("power cut of the emulated {}, which {rule}", report.drive),
        format!(
            "{} writes were not safe yet; of tables and undo logs {} pages are torn, {} old, {} of \
             writes in flight are lost",
            truth.undecided,
            truth.torn_pages.len(),
            truth.stale_pages,
            truth.lost_pages
        ),
    ];
    let named = truth.torn_pages.iter().take(TORN_NAMED_MAX);
    lines.extend(named.map(|page| format!("  torn: {page}")));
    lines.push(format!(
        "what survived: {0}; mount a drive with --backing {0} and start the server",
        report.media.display()
    ));
    lines.join("\n") + "\n"
}
