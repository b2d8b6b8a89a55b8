//! Figures of drives on which a published claim hangs: where they would have to be for it to come out as published.
//!
//! A claim that a measurement does not confirm may hang on a figure of an emulated drive. Each figure is varied
//! over a quarter to four times itself, one at a time, and the throughput of both cells predicted. The measured
//! ratio anchors it: the prediction only says by which factor the ratio moves. So it takes seconds, where runs
//! would take hours.

use std::collections::BTreeSet;

use weir_judge::{claim_cells, part_of_result};
use weir_model::{Agreement, ClaimVerdict, DriveProfile, JudgedResult, StudyResult};

use crate::from_result::calibrated_model::CalibratedModel;
use crate::from_result::data_model::{DataModel, first_cell};
use crate::from_result::error::ForecastError;

/// Figures of a profile that are varied, where it has them.
const FIGURES: [&str; 10] = [
    "read.latency_us",
    "read.iops_max",
    "read.bandwidth_mb_per_s",
    "write.latency_us",
    "write.iops_max",
    "write.bandwidth_mb_per_s",
    "flush.latency_us",
    "flash.over_provisioning",
    "disks.seek_us",
    "throttle.iops.base",
];

/// Times each figure, ascending; 1 is the profile as it is.
const TIMES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// Metrics whose ratio is that of the transactions a second, which the model predicts.
const THROUGHPUT: [&str; 2] = ["queries_per_s", "transactions_per_s"];

/// A figure, and its value that makes a claim come out as published.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FigureChange {
    /// The drive.
    pub drive: String,
    /// Key of the figure in its profile.
    pub figure: String,
    /// Value in the profile, in the figure's unit.
    pub has: f64,
    /// Value from which on the claim comes out as published.
    pub needed: f64,
}

/// The answer for one claim.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ClaimNeeds {
    /// Index of the claim in the plan.
    pub claim: usize,
    /// The claim in words.
    pub says: String,
    /// Published ratio.
    pub published: f64,
    /// Measured ratio.
    pub measured: f64,
    /// Each figure that alone makes it come out, the smallest change first.
    pub hangs_on: Vec<FigureChange>,
    /// Why nothing could be predicted.
    pub why_not: Option<String>,
}

impl ClaimNeeds {
    /// The answer in lines.
    pub fn lines(&self) -> Vec<String> {
        let head = format!(
            "{}: {}x published, {:.3}x measured",
            self.says, self.published, self.measured
        );
        if let Some(why) = &self.why_not {
            return vec![format!("{head}: not predicted ({why})")];
        }
        if self.hangs_on.is_empty() {
            return vec![format!(
                "{head}: hangs on no single figure of its drives between a quarter and four times its value"
            )];
        }
        let each = self.hangs_on.iter().map(|needed| {
            let direction = if needed.needed < needed.has {
                "down"
            } else {
                "up"
            };
            format!(
                "{head}: hangs on {} of {}: as published from {} {direction}, the profile has {}",
                needed.figure,
                needed.drive,
                short(needed.needed),
                short(needed.has)
            )
        });
        each.collect()
    }
}

/// Three digits.
fn short(value: f64) -> String {
    let digits = (2.0 - value.abs().max(1e-9).log10().floor()).max(0.0);
    format!("{value:.*}", digits as usize)
}

/// Asks for each claim that the result does not confirm which figure of a drive it hangs on.
pub fn what_must_be_true(result: &JudgedResult) -> Vec<ClaimNeeds> {
    let verdicts = result.analysis.claims.iter();
    let open = verdicts.filter(|verdict| verdict.agreement != Agreement::Agrees);
    open.filter_map(|verdict| needs(result, verdict)).collect()
}

/// `None` where nothing was measured: then no figure of a drive can settle it.
fn needs(result: &JudgedResult, verdict: &ClaimVerdict) -> Option<ClaimNeeds> {
    let plan = &result.evidence.plan;
    let claim = plan.claims.get(verdict.claim)?;
    let measured = verdict.measured?.ratio;
    let mut needs = ClaimNeeds {
        claim: verdict.claim,
        says: claim.says.clone(),
        published: claim.value,
        measured,
        hangs_on: Vec::new(),
        why_not: None,
    };
    let metric = claim.metric.as_deref().unwrap_or(THROUGHPUT[0]);
    let cells = claim_cells(plan, verdict);
    if !THROUGHPUT.contains(&metric) {
        needs.why_not = Some(format!("the model gives throughput, not {metric}"));
    } else if let Some(cells) = cells {
        match figures(&result.evidence, cells, claim.value / measured) {
            Ok(figures) => needs.hangs_on = figures,
            Err(error) => needs.why_not = Some(error.to_string()),
        }
    } else {
        needs.why_not = Some("the study does not have its levels".to_owned());
    }
    Some(needs)
}

/// The figures that move the ratio of the cells (baseline, level) by `factor`, the smallest change first.
fn figures(
    result: &StudyResult,
    (baseline, level): (usize, usize),
    factor: f64,
) -> Result<Vec<FigureChange>, ForecastError> {
    let sides = [level, baseline].map(|cell| Side::new(result, cell));
    let [level, baseline] = sides;
    let (level, baseline) = (level?, baseline?);
    let asked: BTreeSet<_> = level.asked.iter().chain(&baseline.asked).collect();
    let as_it_is = level.at(None) / baseline.at(None);
    let mut found = Vec::new();
    for (drive, figure) in asked {
        let ratios = TIMES.map(|times| {
            let varied = Some((drive.as_str(), *figure, times));
            level.at(varied) / baseline.at(varied) / as_it_is
        });
        let side = if level.drive.name == *drive {
            &level
        } else {
            &baseline
        };
        let (Some(times), Some(has)) = (crossing(&ratios, factor), value(&side.drive, figure))
        else {
            continue;
        };
        found.push(FigureChange {
            drive: drive.clone(),
            figure: (*figure).to_owned(),
            has,
            needed: has * times,
        });
    }
    let change = |needed: &FigureChange| (needed.needed / needed.has).ln().abs();
    found.sort_by(|one, other| change(one).total_cmp(&change(other)));
    Ok(found)
}

/// The times of a figure, nearest to 1, at which `ratios` reach `wanted`; between the asked ones the logarithms
/// are taken as linear.
fn crossing(ratios: &[f64; TIMES.len()], wanted: f64) -> Option<f64> {
    let wanted = wanted.ln();
    let pairs = TIMES.windows(2).zip(ratios.windows(2));
    let crossings = pairs.filter_map(|(times, ratios)| {
        let [low, high] = [ratios[0].ln() - wanted, ratios[1].ln() - wanted];
        let crosses =
            low.is_finite() && high.is_finite() && low * high <= 0.0 && (low - high).abs() > 0.0;
        let share = low / (low - high);
        crosses.then(|| (times[0].ln() + (times[1] / times[0]).ln() * share).exp())
    });
    crossings.min_by(|one, other| one.ln().abs().total_cmp(&other.ln().abs()))
}

/// One cell, calibrated by its own runs, on its drive with each figure varied.
struct Side {
    drive: DriveProfile,
    asked: Vec<(String, &'static str)>,
    model: CalibratedModel,
    frames: f64,
    connections: u32,
}

impl Side {
    fn new(result: &StudyResult, cell: usize) -> Result<Self, ForecastError> {
        let part = part_of_result(result.clone(), &[cell]);
        let spec = first_cell(&part.plan)?;
        let name = spec.drive_name().ok_or(ForecastError::NoDrive)?;
        let mut drives = result.drives.iter();
        let drive = drives.find(|drive| drive.name == name);
        let drive = drive.cloned().ok_or(ForecastError::NoDrive)?;
        let figures = FIGURES.iter().copied();
        let figures = figures.filter(|figure| value(&drive, figure).is_some());
        let asked: Vec<_> = figures.map(|figure| (name.clone(), figure)).collect();
        let mut names = vec![name];
        for (name, figure) in &asked {
            for times in TIMES.iter().filter(|times| is_varied(**times)) {
                let varied = varied_name(name, figure, *times, &drive);
                // A value that no drive can have is no answer either.
                if weir_drive::profiles::load(&varied, None).is_ok() {
                    names.push(varied);
                }
            }
        }
        let data = DataModel::from_plan(&part.plan, None)?;
        let connections = spec.load.connections;
        Ok(Self {
            model: CalibratedModel::from_result(&part, &data, &names, &[])?,
            frames: data.frames(data.pool_today),
            drive,
            asked,
            connections,
        })
    }

    /// Transactions a second with a figure of a drive times so much; as it is where the drive is not this side's.
    fn at(&self, varied: Option<(&str, &str, f64)>) -> f64 {
        let own = varied.filter(|(drive, _, times)| *drive == self.drive.name && is_varied(*times));
        let name = match own {
            Some((drive, figure, times)) => varied_name(drive, figure, times, &self.drive),
            None => self.drive.name.clone(),
        };
        let Some(ability) = self.model.ability(&name) else {
            return f64::NAN;
        };
        let predicted = self.model.place(ability, self.connections).at(self.frames);
        predicted.map_or(f64::NAN, |found| found.transactions_per_s)
    }
}

fn is_varied(times: f64) -> bool {
    (times - 1.0).abs() > f64::EPSILON
}

fn varied_name(name: &str, figure: &str, times: f64, drive: &DriveProfile) -> String {
    let value = value(drive, figure).unwrap_or(f64::NAN) * times;
    format!("{name}+{figure}={value}")
}

/// The figure of a profile by its key; `None` where the profile has none.
fn value(drive: &DriveProfile, figure: &str) -> Option<f64> {
    let table = toml::Table::try_from(drive).ok()?;
    let mut steps = figure.split('.');
    let mut found = table.get(steps.next()?)?;
    for step in steps {
        found = found.get(step)?;
    }
    found
        .as_float()
        .or_else(|| found.as_integer().map(|whole| whole as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossing_is_found_on_the_logarithms() {
        // A ratio that falls as the figure: at a third of it, it is three times as large.
        let ratios = TIMES.map(|times| 1.0 / times);
        let found = crossing(&ratios, 3.0).unwrap();
        assert!((found - 1.0 / 3.0).abs() < 1e-9, "{found}");
        assert_eq!(crossing(&ratios, 5.0), None);
        assert_eq!(crossing(&[1.0; 5], 2.0), None);
    }

    #[test]
    fn of_two_crossings_the_smaller_change_counts() {
        let found = crossing(&[4.0, 1.0, 1.0, 1.5, 4.0], 1.25).unwrap();
        assert!(found > 1.0 && found < 2.0, "{found}");
    }

    #[test]
    fn figures_are_found_by_their_keys() {
        let drive = weir_drive::profiles::load("raid10-8x15k-bbu", None).unwrap();
        assert_eq!(value(&drive, "disks.seek_us"), Some(2900.0));
        assert_eq!(value(&drive, "flash.over_provisioning"), None);
    }

    #[test]
    fn the_lines_name_the_figure_or_say_that_there_is_none() {
        let mut needs = ClaimNeeds {
            claim: 0,
            says: "A leads B".to_owned(),
            published: 5.0,
            measured: 14.02,
            hangs_on: vec![FigureChange {
                drive: "raid".to_owned(),
                figure: "disks.seek_us".to_owned(),
                has: 2900.0,
                needed: 1123.4,
            }],
            why_not: None,
        };
        assert_eq!(
            needs.lines(),
            [
                "A leads B: 5x published, 14.020x measured: hangs on disks.seek_us of raid: as published from 1123 \
                 down, the profile has 2900"
            ]
        );
        needs.hangs_on.clear();
        assert!(needs.lines()[0].contains("no single figure"));
    }
}
