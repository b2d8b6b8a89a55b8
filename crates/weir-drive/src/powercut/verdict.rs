//! Verdict over several cuts of one device, and the file that keeps it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use weir_model::Bytes;
use weir_process::PathError;
use weir_stats::proportion_at_most;

use super::error::PowercutError;
use super::judge::LaneFindings;
use super::lane::{Lane, PAGE_SIZES};
use super::run_id::RunId;
use super::storage_identity::StorageIdentity;

/// Confidence of each statement.
pub const CONFIDENCE: f64 = 0.95;
/// Version of the file.
const FORMAT: u32 = 1;

/// Kind of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutKind {
    /// Host and device lost their power.
    Power,
    /// The host was reset; the device kept its power.
    Reset,
    /// The device was taken from a host that lived on.
    Detach,
}

impl CutKind {
    /// Returns so many cuts in words: `1 power cut`.
    pub fn count_words(self, cuts: u64) -> String {
        let (name, rest) = match self {
            Self::Power => ("power cut", ""),
            Self::Reset => ("reset", " of the host"),
            Self::Detach => ("detachment", ""),
        };
        let s = if cuts == 1 { "" } else { "s" };
        format!("{cuts} {name}{s}{rest}")
    }
}

/// One cut and its findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutRecord {
    /// Run that was cut.
    pub run: RunId,
    /// Kind of the cut, as the user named it.
    pub kind: CutKind,
    /// Storage that was cut.
    pub storage: StorageIdentity,
    /// Findings by lane.
    pub lanes: Vec<LaneFindings>,
}

/// All cuts that were checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowercutVerdict {
    /// Version of the form.
    format: u32,
    /// The cuts, in the order in which they were checked first.
    pub cuts: Vec<CutRecord>,
}

/// Cuts of one lane in which something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LaneTally {
    /// The lane.
    pub lane: Lane,
    /// Cuts that could meet a write of it.
    pub cuts: u64,
    /// Cuts that lost an acknowledged write.
    pub lost: u64,
    /// Cuts that left a later write without an earlier one that had been flushed before it.
    pub out_of_order: u64,
    /// Cuts that tore a page.
    pub torn: u64,
    /// Smallest piece of a torn page.
    pub smallest_piece: Option<Bytes>,
    /// Cuts that left bytes that nothing had written.
    pub damaged: u64,
}

/// Cuts in which something was found, of those that could have met it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CutCount {
    /// Cuts in which it was found.
    pub found: u64,
    /// Cuts that could have met it.
    pub cuts: u64,
}

impl CutCount {
    /// Returns the largest share of cuts that is compatible with the count at [`CONFIDENCE`], 0 to 1.
    pub fn at_most(&self) -> f64 {
        proportion_at_most(self.found, self.cuts, CONFIDENCE)
    }

    /// Returns the count with its bound: `0 in 20 cuts (below 14 % at 95 %)`.
    pub fn words(&self) -> String {
        let Self { found, cuts } = self;
        if *cuts == 0 {
            return "no cut met one".to_owned();
        }
        let s = if *cuts == 1 { "" } else { "s" };
        let percent = self.at_most() * 100.0;
        // Rounded up: a bound may not promise more than it has.
        let digits = if percent < 2.0 { 100.0 } else { 1.0 };
        let percent = (percent * digits).ceil() / digits;
        format!(
            "{found} in {cuts} cut{s} (below {percent} % at {:.0} %)",
            CONFIDENCE * 100.0
        )
    }
}

/// Findings over all cuts that count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceSummary {
    /// Kind of the cuts.
    pub kind: Option<CutKind>,
    /// Number of the cuts.
    pub cuts: u64,
    /// Cuts that lost a flushed write.
    pub lost: CutCount,
    /// Cuts that left a later write without an earlier one that had been flushed before it.
    pub out_of_order: CutCount,
    /// Cuts that left bytes that nothing had written.
    pub damaged: CutCount,
    /// Cuts that lost a direct write that had completed and was not flushed.
    pub unflushed_lost: CutCount,
    /// Cuts that tore a page that was written with `O_DIRECT`, by the page's size.
    pub torn: Vec<(Bytes, CutCount)>,
}

impl DeviceSummary {
    /// Returns the number and kind of the cuts in words: `20 power cuts`.
    pub fn cuts_words(&self) -> String {
        self.kind.unwrap_or(CutKind::Power).count_words(self.cuts)
    }

    /// Returns the cuts that tore a page of `page` that was written with `O_DIRECT`.
    pub fn torn_directly(&self, page: Bytes) -> CutCount {
        let found = self.torn.iter().find(|(of, _)| *of == page);
        found.map_or_else(CutCount::default, |(_, count)| *count)
    }

    /// Returns true if the device broke a promise.
    pub fn breaks_promise(&self) -> bool {
        [self.lost, self.out_of_order, self.damaged]
            .iter()
            .any(|count| count.found > 0)
    }
}

/// Returns the number of cuts without a finding that show that fewer than the share `below` (0 to 1) has one.
pub fn cuts_needed(below: f64) -> u64 {
    ((1.0 - CONFIDENCE).ln() / (1.0 - below).ln()).ceil() as u64
}

impl Default for PowercutVerdict {
    fn default() -> Self {
        Self {
            format: FORMAT,
            cuts: Vec::new(),
        }
    }
}

impl PowercutVerdict {
    /// Reads the verdict at `path`.
    ///
    /// # Errors
    ///
    /// A file that is no verdict of a power-cut test.
    pub fn read(path: &Path) -> Result<Self, PowercutError> {
        let text = fs::read(path).map_err(PathError::on("read", path))?;
        let unreadable = |why: String| PowercutError::Unreadable {
            path: path.to_owned(),
            why,
            remedy: "name the verdict of `weir drive powercut check`",
        };
        let read: Self =
            serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        if read.format != FORMAT {
            return Err(unreadable(format!(
                "its format is {}, not {FORMAT}",
                read.format
            )));
        }
        Ok(read)
    }

    /// Writes it to `path`, whole or not at all.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), PowercutError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}", std::process::id()));
        let new = path.with_file_name(name);
        let write = || -> io::Result<()> {
            let mut file = File::create_new(&new)?;
            file.write_all(&serde_json::to_vec_pretty(self)?)?;
            file.sync_all()?;
            fs::rename(&new, path)
        };
        Ok(write().map_err(PathError::on("write", path))?)
    }

    pub(super) fn has(&self, run: RunId) -> bool {
        self.cuts.iter().any(|cut| cut.run == run)
    }

    /// Takes a cut, in place of an earlier check of the same run.
    pub(super) fn add(&mut self, cut: CutRecord) {
        match self.cuts.iter_mut().find(|found| found.run == cut.run) {
            Some(found) => *found = cut,
            None => self.cuts.push(cut),
        }
    }

    /// Storage that it is about: that of the last cut.
    pub fn storage(&self) -> Option<&StorageIdentity> {
        self.cuts.last().map(|cut| &cut.storage)
    }

    /// Returns the cuts that count: those of the same storage and kind as the last one.
    pub fn counted(&self) -> impl Iterator<Item = &CutRecord> {
        let last = self.cuts.last();
        self.cuts.iter().filter(move |cut| {
            last.is_some_and(|last| cut.kind == last.kind && is_same(&last.storage, &cut.storage))
        })
    }

    /// Returns the findings over the cuts that count.
    pub fn summary(&self) -> DeviceSummary {
        let count = |of: &dyn Fn(&Lane) -> bool, has: fn(&LaneFindings) -> u64| {
            let mut count = CutCount::default();
            for cut in self.counted() {
                let mut lanes = cut
                    .lanes
                    .iter()
                    .filter(|found| found.was_written && of(&found.lane));
                if lanes.clone().next().is_some() {
                    count.cuts += 1;
                    count.found += u64::from(lanes.any(|found| has(found) > 0));
                }
            }
            count
        };
        let is_promised = |lane: &Lane| lane.durability.is_promised();
        let torn = PAGE_SIZES.map(|page| {
            let is_hit = move |lane: &Lane| lane.direct && lane.page.0 == page;
            (Bytes(page), count(&is_hit, |found| found.torn))
        });
        DeviceSummary {
            kind: self.cuts.last().map(|cut| cut.kind),
            cuts: self.counted().count() as u64,
            lost: count(&is_promised, |found| found.lost),
            out_of_order: count(&is_promised, |found| found.out_of_order),
            damaged: count(&|_| true, |found| found.damaged),
            unflushed_lost: count(&|lane| !is_promised(lane), |found| found.lost),
            torn: torn.into(),
        }
    }

    /// Returns the findings by lane over the cuts that count.
    pub fn tallies(&self) -> Vec<LaneTally> {
        let tally = |lane: Lane| {
            let of_lane = self.counted().flat_map(|cut| &cut.lanes);
            let of_lane: Vec<_> = of_lane
                .filter(|found| found.lane == lane && found.was_written)
                .collect();
            let cuts = |has: fn(&LaneFindings) -> u64| {
                of_lane.iter().filter(|found| has(found) > 0).count() as u64
            };
            LaneTally {
                lane,
                cuts: of_lane.len() as u64,
                lost: cuts(|found| found.lost),
                out_of_order: cuts(|found| found.out_of_order),
                torn: cuts(|found| found.torn),
                smallest_piece: of_lane
                    .iter()
                    .filter_map(|found| found.smallest_piece)
                    .min(),
                damaged: cuts(|found| found.damaged),
            }
        };
        let lanes = Lane::all().into_iter().map(tally);
        lanes.filter(|tally| tally.cuts > 0).collect()
    }
}

/// A device without a serial number is taken for the same one here: its user cuts one device again and again.
fn is_same(one: &StorageIdentity, other: &StorageIdentity) -> bool {
    let parts = |storage: &StorageIdentity| {
        let devices = storage.devices.iter();
        let devices: Vec<_> = devices
            .map(|device| {
                (
                    device.model.clone(),
                    device.serial.clone(),
                    device.firmware.clone(),
                )
            })
            .collect();
        (
            devices,
            storage.substitute,
            storage.file_system.clone(),
            storage.mount_options.clone(),
        )
    };
    parts(one) == parts(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_needs_a_number_of_cuts() {
        assert_eq!(cuts_needed(0.14), 20);
        assert_eq!(cuts_needed(0.05), 59);
        assert_eq!(cuts_needed(0.01), 299);
        let words = |found, cuts| CutCount { found, cuts }.words();
        assert_eq!(words(0, 20), "0 in 20 cuts (below 14 % at 95 %)");
        assert_eq!(words(0, 300), "0 in 300 cuts (below 1 % at 95 %)");
        assert_eq!(words(0, 1), "0 in 1 cut (below 95 % at 95 %)");
        assert_eq!(words(1, 1), "1 in 1 cut (below 100 % at 95 %)");
        for below in [0.14, 0.05, 0.01] {
            let bound = |cuts| proportion_at_most(0, cuts, CONFIDENCE);
            assert!(bound(cuts_needed(below)) <= below && bound(cuts_needed(below) - 1) > below);
        }
    }
}
