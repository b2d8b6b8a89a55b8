//! Evidence of power cuts of the real device, beside the promises of the storage.
//!
//! A crash test assumes rules. Real storage promises them, or power cuts of that storage show them
//! (`weir drive powercut`). Evidence counts for the same device, firmware, file system, mount options and page size,
//! and never more than the file system keeps in one piece.

use std::path::Path;

use weir_drive::powercut::{CutKind, DeviceSummary, PowercutVerdict, StorageIdentity};
use weir_model::{Atomicity, Bytes};

use crate::device_rules::{CacheRule, DeviceRules};
use crate::error::CrashError;
use crate::kept_rules::KeptRules;
use crate::storage::Storage;

/// Cuts that a verdict needs to count: without a finding they show less than 14 % a cut.
const CUTS_MIN: u64 = 20;

/// A verdict of power cuts, and the storage that it is to count for.
#[derive(Clone, Debug)]
pub struct CutEvidence {
    verdict: PowercutVerdict,
    /// Storage below the server's data.
    storage: StorageIdentity,
}

impl CutEvidence {
    /// Reads the verdict in the file `verdict`, to count for the storage below `path`.
    ///
    /// # Errors
    ///
    /// A file that is no verdict, or a folder that cannot be read.
    pub fn read(verdict: &Path, path: &Path) -> Result<Self, CrashError> {
        Ok(Self {
            verdict: PowercutVerdict::read(verdict)?,
            storage: StorageIdentity::below(path)?,
        })
    }

    /// Returns the rules that `storage` keeps for pages of `page`, by its promises and these cuts; else why the cuts do
    /// not count.
    pub(crate) fn kept(
        &self,
        storage: &Storage,
        page: Bytes,
        is_direct: bool,
    ) -> Result<KeptRules, Vec<String>> {
        let mut against = own_objections(&self.verdict, page);
        if let Some(cut) = self.verdict.storage() {
            against.extend(cut.differences(&self.storage));
        }
        if !is_direct {
            against.push(
                "the server writes pages through the page cache, where the kernel may cut them"
                    .to_owned(),
            );
        }
        if u64::from(storage.extent_unit) < page.0 {
            against.push(format!(
                "the file system may lay a page of {page} across two extents (its unit is {}), and the cuts show \
                 whole pages of the test's own files only",
                Bytes(storage.extent_unit.into())
            ));
        }
        if !against.is_empty() {
            return Err(against);
        }
        Ok(with_cuts(storage.kept(), &self.verdict, page))
    }

    /// Returns the cuts in a sentence, on pages of `page`.
    pub fn words(&self, page: Bytes) -> String {
        words(&self.verdict, page)
    }
}

/// Returns the reasons that `verdict` shows the rules of a test on no storage at all; none: it shows them for the device
/// that was cut.
pub fn shows_rules(verdict: &PowercutVerdict, rules: &DeviceRules, page: Bytes) -> Vec<String> {
    let against = own_objections(verdict, page);
    if !against.is_empty() {
        return against;
    }
    let unknown = KeptRules {
        cache: None,
        cache_size: None,
        atomicity: rules.atomicity,
    };
    with_cuts(unknown, verdict, page).lacks(&DeviceRules {
        // Larger writes than a page are cut where pages end.
        atomicity: Atomicity {
            unit: rules.atomicity.unit.min(page),
            ..rules.atomicity
        },
        ..*rules
    })
}

/// Returns the cuts in a sentence, on pages of `page`.
pub fn words(verdict: &PowercutVerdict, page: Bytes) -> String {
    let summary = verdict.summary();
    let torn = summary.torn_directly(page);
    let device = verdict.storage().map(StorageIdentity::words);
    format!(
        "{} of {}: {} of pages of {page} torn",
        summary.cuts_words(),
        device.unwrap_or_default(),
        torn.words()
    )
}

fn own_objections(verdict: &PowercutVerdict, page: Bytes) -> Vec<String> {
    let summary = verdict.summary();
    let mut against = Vec::new();
    if let Some(substitute) = verdict.storage().and_then(|storage| storage.substitute) {
        against.push(format!(
            "the cuts were of {}, which is no device that can lose its power",
            substitute.name()
        ));
    }
    let is_guest = verdict.storage().is_some_and(|storage| storage.guest);
    if summary.kind != Some(CutKind::Power) && !is_guest {
        let cuts = summary.cuts_words();
        against.push(format!("it knows {cuts}, which left the device its power"));
    }
    let torn = summary.torn_directly(page);
    if torn.cuts < CUTS_MIN {
        against.push(format!(
            "direct writes of {page} met {} cuts ({CUTS_MIN} are needed)",
            torn.cuts
        ));
    }
    if torn.found > 0 {
        against.push(format!("pages of {page} were torn in {} cuts", torn.found));
    }
    let DeviceSummary {
        lost,
        out_of_order,
        damaged,
        ..
    } = summary;
    for (found, what) in [
        (lost, "lost acknowledged writes"),
        (out_of_order, "left writes out of order"),
        (damaged, "left bytes that nothing had written"),
    ] {
        if found.found > 0 {
            against.push(format!("{} cuts {what}", found.found));
        }
    }
    against
}

/// Returns `promised` with what the cuts show beyond it.
fn with_cuts(promised: KeptRules, verdict: &PowercutVerdict, page: Bytes) -> KeptRules {
    let summary = verdict.summary();
    let keeps_unflushed = summary.unflushed_lost.cuts > 0 && summary.unflushed_lost.found == 0;
    let mut kept = promised;
    if kept.atomicity.unit < page {
        kept.atomicity.unit = page;
        kept.atomicity.boundary = None;
    }
    // A cut of the device's power counts more than the word of the kernel. A guest cuts no device's power.
    let is_guest = verdict.storage().is_some_and(|storage| storage.guest);
    let is_of_power = summary.kind == Some(CutKind::Power) && !is_guest;
    kept.cache = match kept.cache {
        _ if is_of_power && keeps_unflushed => Some(CacheRule::PowerProtected),
        None | Some(CacheRule::Lying) => Some(CacheRule::Volatile),
        Some(CacheRule::PowerProtected) if !keeps_unflushed => Some(CacheRule::Volatile),
        promised => promised,
    };
    kept
}

#[cfg(test)]
pub(crate) mod tests;
