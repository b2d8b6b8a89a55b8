//! `weir predict ... verify`: predictions that are written down first and run afterwards.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, bail};
use serde::Serialize;
use weir_model::{Bytes, Cell, Factor, Plan, PlannedRun, Repetition, RunResult, StudyResult};
use weir_predict::{Prediction, cliffs};
use weir_report::table;
use weir_study::{RunOptions, StudyError};

use super::calibrated::Calibrated;
use super::{POOL, Subject};
use crate::cli::PredictArguments;
use crate::commands::{given_server, run, study_file};
use crate::{Outcome, interrupt, output};

/// A pool in which all pages fit, in pages that are used.
const ALL_FIT: f64 = 1.2;
/// The most places that are run if none are named, and if they are.
const ANCHORS_MAX: usize = 5;
const NAMED_MAX: usize = 100;
/// Blind predictions, a line each; only ever added to.
const BLIND_FILE: &str = "predictions.jsonl";

/// A place that is predicted and run.
#[derive(Debug, Clone, Serialize)]
struct Anchor {
    drive: String,
    pool_bytes: u64,
    prediction: Prediction,
}

/// What became of one.
#[derive(Debug, Serialize)]
struct Verified {
    drive: String,
    pool_bytes: u64,
    connections: u32,
    measured_transactions_per_s: f64,
    blind: Prediction,
    /// By a model that knows these runs as well, all but the place's own.
    anchored: Prediction,
}

/// Everything that `--json` prints.
#[derive(Debug, Serialize)]
struct Verification {
    seed: u64,
    places: Vec<Verified>,
    blind_error_mean: f64,
    anchored_error_mean: f64,
}

pub(super) fn execute(
    result: &StudyResult,
    arguments: &PredictArguments,
) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let subject = Subject::of(&result.plan, arguments)?;
    let blind = Calibrated::of(result, &subject, &arguments.drive, &arguments.threads)?;
    let anchors = anchors(&subject, &blind, arguments)?;
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| run::default_folder(Path::new("verify")));
    let plan = plan_of(&result.plan, &anchors);
    write_down(&out, plan.seed, &anchors)?;
    eprintln!(
        "{} predictions are in {}; now they are run",
        anchors.len(),
        out.join(BLIND_FILE).display()
    );
    let options = RunOptions {
        out,
        resume: false,
        work: None,
        weir: std::env::current_exe().context("cannot find the weir program itself")?,
        below_floor: false,
        allow_config: false,
        surroundings: given_server::surroundings(false)?,
        provenance: run::provenance(result.provenance.study_file.clone()),
    };
    let ran = match run::watched(&plan, &options, stop) {
        Err(StudyError::StoppedBeforeFirstRun) => return Ok(Outcome::Stopped),
        ran => ran?.result,
    };
    if stop.load(Ordering::SeqCst) {
        eprintln!(
            "stopped: the predictions and {} runs are kept",
            ran.runs.len()
        );
        return Ok(Outcome::Stopped);
    }
    let both = together(result, &ran);
    let anchored = Calibrated::of(&both, &subject, &arguments.drive, &arguments.threads)?;
    let verification = Verification::of(&ran, &anchors, &subject, &anchored)?;
    verification.print(arguments.json)?;
    Ok(Outcome::Done)
}

/// On each drive, with the most connections: all pages fit, the knee, a third of them fits; as many
/// as there may be.
fn anchors(
    subject: &Subject,
    blind: &Calibrated,
    arguments: &PredictArguments,
) -> anyhow::Result<Vec<Anchor>> {
    let connections = blind.threads.iter().copied().max().unwrap_or(1);
    let mut anchors = Vec::new();
    for (profile, drive) in &blind.drives {
        let place = blind.place(drive, connections);
        let named = cliffs(&place)?;
        let pools: Vec<Bytes> = match &arguments.pool {
            Some(_) => subject.pools.clone(),
            None => [named.third, named.reach[1], ALL_FIT * named.all_fit]
                .map(|pages| super::whole_mebibytes(pages + subject.popularity.upper_pages()))
                .to_vec(),
        };
        for pool in pools {
            anchors.push(Anchor {
                drive: profile.name.clone(),
                pool_bytes: pool.0,
                prediction: place.at(subject.frames(pool))?,
            });
        }
    }
    anchors.dedup_by_key(|anchor| (anchor.drive.clone(), anchor.pool_bytes));
    if arguments.pool.is_none() {
        anchors.truncate(ANCHORS_MAX);
    } else if anchors.len() > NAMED_MAX {
        bail!(
            "predict verify: {} places (pools x drives), and each is run; name {NAMED_MAX} at most",
            anchors.len()
        );
    }
    Ok(anchors)
}

/// Before anything is run, and never changed afterwards.
fn write_down(out: &Path, seed: u64, anchors: &[Anchor]) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        at: String,
        seed: u64,
        #[serde(flatten)]
        anchor: &'a Anchor,
    }
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let path = out.join(BLIND_FILE);
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let at = jiff::Timestamp::now().to_string();
    for anchor in anchors {
        let line = Line {
            at: at.clone(),
            seed,
            anchor,
        };
        writeln!(file, "{}", serde_json::to_string(&line)?)?;
    }
    file.sync_all()?;
    Ok(())
}

/// The study with these places for its cells, once each.
fn plan_of(plan: &Plan, anchors: &[Anchor]) -> Plan {
    let first = plan.cells.first().cloned().unwrap_or_default();
    let cell = |anchor: &Anchor| {
        let pool = Bytes(anchor.pool_bytes).to_string();
        let levels = [("drive", anchor.drive.clone()), (POOL, pool.clone())];
        let mut cell = Cell {
            levels: levels.map(|(name, level)| (name.to_owned(), level)).into(),
            drive: Some(anchor.drive.clone()),
            threads: anchor.prediction.connections,
            probe: None,
            ..first.clone()
        };
        cell.variables.insert(POOL.to_owned(), pool);
        cell
    };
    let cells: Vec<Cell> = anchors.iter().map(cell).collect();
    let factor = |name: &str| {
        let mut levels: Vec<String> = Vec::new();
        for cell in &cells {
            let level = &cell.levels[name];
            if !levels.contains(level) {
                levels.push(level.clone());
            }
        }
        Factor {
            name: name.to_owned(),
            settings: vec![name.to_owned()],
            levels,
            within_server: false,
        }
    };
    Plan {
        title: format!("{}: predictions verified", plan.title),
        seed: study_file::clock_seed(),
        factors: vec![factor("drive"), factor(POOL)],
        runs: (0..cells.len())
            .map(|cell| PlannedRun {
                cell,
                repetition: 1,
            })
            .collect(),
        cells,
        repeat: Repetition::default(),
        search: None,
        claims: Vec::new(),
        negative_controls: Vec::new(),
        ..plan.clone()
    }
}

/// The result with the runs of `more` behind its own.
fn together(result: &StudyResult, more: &StudyResult) -> StudyResult {
    let cells = result.plan.cells.len();
    let mut both = result.clone();
    both.plan.cells.extend(more.plan.cells.iter().cloned());
    both.runs.extend(more.runs.iter().map(|run| {
        let mut run = run.clone();
        run.record.cell += cells;
        run
    }));
    both
}

impl Verification {
    fn of(
        ran: &StudyResult,
        anchors: &[Anchor],
        subject: &Subject,
        anchored: &Calibrated,
    ) -> anyhow::Result<Self> {
        let verified = |run: &RunResult| {
            let anchor = &anchors[run.record.cell];
            let drives = &anchored.drives;
            let drive = drives
                .iter()
                .find(|(profile, _)| profile.name == anchor.drive);
            let (_, drive) = drive.context("invariant: anchors lie on the drives asked about")?;
            let connections = anchor.prediction.connections;
            let pool = Bytes(anchor.pool_bytes);
            let known = anchored
                .place(drive, connections)
                .at(subject.frames(pool))?;
            let by_others = anchored.by_others(&anchor.drive, pool, connections);
            let by_others = by_others.unwrap_or(known.transactions_per_s);
            Ok(Verified {
                drive: anchor.drive.clone(),
                pool_bytes: anchor.pool_bytes,
                connections,
                measured_transactions_per_s: run.record.transactions_per_s,
                blind: anchor.prediction,
                anchored: known.corrected(by_others / known.transactions_per_s),
            })
        };
        let places: Vec<Verified> = ran
            .runs
            .iter()
            .map(verified)
            .collect::<anyhow::Result<_>>()?;
        let mean = |of: fn(&Verified) -> &Prediction| {
            let errors = places.iter().map(|place| place.error(of(place)).abs());
            errors.sum::<f64>() / places.len().max(1) as f64
        };
        Ok(Self {
            seed: ran.plan.seed,
            blind_error_mean: mean(|place| &place.blind),
            anchored_error_mean: mean(|place| &place.anchored),
            places,
        })
    }

    fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            return output::line(serde_json::to_string_pretty(self)?);
        }
        let header = [
            "drive",
            "pool",
            "threads",
            "measured tx/s",
            "blind",
            "off",
            "anchored",
            "off",
        ];
        let rows: Vec<_> = self.places.iter().map(Verified::row).collect();
        output::text(table(&header, &rows))?;
        output::line(format_args!(
            "off by {:.0} % on average before these runs were known, by {:.0} % once they are; seed {}",
            self.blind_error_mean * 100.0,
            self.anchored_error_mean * 100.0,
            self.seed
        ))
    }
}

impl Verified {
    /// Relative error of a prediction.
    fn error(&self, of: &Prediction) -> f64 {
        of.transactions_per_s / self.measured_transactions_per_s.max(f64::MIN_POSITIVE) - 1.0
    }

    fn row(&self) -> Vec<String> {
        let off = |of: &Prediction| format!("{:+.0} %", self.error(of) * 100.0);
        vec![
            self.drive.clone(),
            Bytes(self.pool_bytes).to_string(),
            self.connections.to_string(),
            format!("{:.0}", self.measured_transactions_per_s),
            format!("{:.0}", self.blind.transactions_per_s),
            off(&self.blind),
            format!("{:.0}", self.anchored.transactions_per_s),
            off(&self.anchored),
        ]
    }
}
