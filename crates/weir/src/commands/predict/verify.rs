//! `weir predict ... verify`: predictions that are written down first and run afterwards.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, bail};
use serde::Serialize;
use weir_model::{Bytes, Cell, Factor, Plan, Repetition, StudyResult};
use weir_predict::{Prediction, cliffs};
use weir_report::table;
use weir_study::{RunOptions, StudyError};

use super::calibrated::{Calibrated, is_alike, mean};
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

/// The most places of the result that are run again among the others.
const CONTROLS_MAX: usize = 2;

/// A place that is predicted and run.
#[derive(Debug, Clone, Serialize)]
struct Anchor {
    drive: String,
    pool_bytes: u64,
    prediction: Prediction,
}

impl Anchor {
    fn is_at(&self, cell: &Cell) -> bool {
        let pool = cell.variables.get(POOL).and_then(|pool| pool.parse().ok());
        pool.is_some_and(|pool| is_alike(pool, Bytes(self.pool_bytes)))
            && cell.drive_name().as_ref() == Some(&self.drive)
            && cell.threads == self.prediction.connections
    }
}

pub(super) fn execute(
    result: &StudyResult,
    arguments: &PredictArguments,
) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let subject = Subject::of(&result.plan, arguments)?;
    let blind = Calibrated::of(result, &subject, &arguments.drive, &arguments.threads)?;
    let anchors = anchors(&subject, &blind, arguments)?;
    let controls = Controls::of(result, &anchors);
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| run::default_folder(Path::new("verify")));
    let plan = plan_of(&result.plan, &anchors, &controls, arguments.runs);
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
    let slower_by = controls.slower_by(&ran, anchors.len());
    let errors = Errors {
        ran: &ran,
        subject: &subject,
        arguments,
        controlled: blind.slower(slower_by),
        known: result,
    };
    let places = anchors.into_iter().enumerate();
    let places = places.filter_map(|(cell, anchor)| errors.of(cell, anchor).transpose());
    let places = places.collect::<anyhow::Result<_>>()?;
    Verification::of(ran.plan.seed, slower_by, places).print(arguments.json)?;
    Ok(Outcome::Done)
}

/// Places of the result that are run again among those that are verified: what they take of the processors now and
/// took then says how fast the machine is now.
struct Controls {
    cells: Vec<Cell>,
    /// Processor time of a transaction then, seconds.
    processor_s: Vec<f64>,
}

impl Controls {
    /// Of the places of `result` that are not verified, those whose transactions take least of the processors: the
    /// drive has the least part in them.
    fn of(result: &StudyResult, anchors: &[Anchor]) -> Self {
        let cells = result.plan.cells.iter().enumerate();
        let cells = cells.filter(|(_, cell)| !anchors.iter().any(|anchor| anchor.is_at(cell)));
        let mut known: Vec<_> = cells
            .filter_map(|(number, cell)| Some((processor_s(result, number)?, at_levels(cell)?)))
            .collect();
        known.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        known.truncate(CONTROLS_MAX);
        let (processor_s, cells) = known.into_iter().unzip();
        Self { cells, processor_s }
    }

    /// How many times the processor time of then transactions of the same places took in `ran`, whose cells they are
    /// from `first` on; 1 where nothing is known.
    fn slower_by(&self, ran: &StudyResult, first: usize) -> f64 {
        let now = (first..).map(|cell| processor_s(ran, cell));
        let ratios: Vec<f64> = now
            .zip(&self.processor_s)
            .filter_map(|(now, then)| Some((now? / then).ln()))
            .collect();
        mean(&ratios).map_or(1.0, f64::exp)
    }
}

/// `cell` as one of a study that varies drive and pool; `None` where it does not say both.
fn at_levels(cell: &Cell) -> Option<Cell> {
    let pool = cell.variables.get(POOL)?.clone();
    let levels = [("drive", cell.drive_name()?), (POOL, pool)];
    Some(Cell {
        levels: levels.map(|(name, level)| (name.to_owned(), level)).into(),
        probe: None,
        ..cell.clone()
    })
}

/// Mean processor time of the transactions of a cell, seconds.
fn processor_s(result: &StudyResult, cell: usize) -> Option<f64> {
    let runs = result.runs.iter().filter(|run| run.record.cell == cell);
    mean(&runs.filter_map(weir_predict::processor_s).collect::<Vec<_>>())
}

/// What became of one.
#[derive(Debug, Serialize)]
struct Verified {
    drive: String,
    pool_bytes: u64,
    connections: u32,
    /// The mean of its runs.
    measured_transactions_per_s: f64,
    measured_transactions_per_s_each: Vec<f64>,
    /// The result has runs of this place: it was not blind.
    ran_before: bool,
    blind: Prediction,
    /// The blind one, for a machine that is as fast as it was during these runs.
    controlled: Prediction,
    /// By a model that knows the new runs, all but those of this place, and nothing else.
    anchored: Prediction,
}

/// Everything that `--json` prints; means are of relative errors without their signs, over places that the result
/// does not have.
#[derive(Debug, Serialize)]
struct Verification {
    seed: u64,
    /// Processor time of a transaction during these runs / in the result, by the places that were run again.
    machine_slower_by: f64,
    blind_error_mean: Option<f64>,
    controlled_error_mean: Option<f64>,
    anchored_error_mean: Option<f64>,
    /// By how much the runs of a place differ from their mean, over places.
    spread_mean: Option<f64>,
    places: Vec<Verified>,
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

/// The study with these places for its cells, and the controls behind them, in blocks of a random order.
fn plan_of(plan: &Plan, anchors: &[Anchor], controls: &Controls, runs: u32) -> Plan {
    let first = plan.cells.first().cloned().unwrap_or_default();
    let cell = |anchor: &Anchor| {
        let mut cell = Cell {
            drive: Some(anchor.drive.clone()),
            // Its name has them.
            drive_settings: Default::default(),
            threads: anchor.prediction.connections,
            ..first.clone()
        };
        let pool = Bytes(anchor.pool_bytes).to_string();
        cell.variables.insert(POOL.to_owned(), pool);
        at_levels(&cell).unwrap_or(cell)
    };
    let controls = controls.cells.iter().cloned();
    let cells: Vec<Cell> = anchors.iter().map(cell).chain(controls).collect();
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
    let mut plan = Plan {
        title: format!("{}: predictions verified", plan.title),
        seed: study_file::clock_seed(),
        factors: vec![factor("drive"), factor(POOL)],
        cells,
        repeat: Repetition {
            runs,
            ..Repetition::default()
        },
        search: None,
        claims: Vec::new(),
        negative_controls: Vec::new(),
        ..plan.clone()
    };
    plan.runs = weir_study::interleaved(&plan);
    plan
}

/// What predictions are held against.
struct Errors<'a> {
    ran: &'a StudyResult,
    subject: &'a Subject,
    arguments: &'a PredictArguments,
    /// The model of before on a machine that is as fast as it was during the runs.
    controlled: Calibrated,
    /// Places that were run before.
    known: &'a StudyResult,
}

impl Errors<'_> {
    /// Of the place of this cell; `None` where it was not run.
    fn of(&self, cell: usize, anchor: Anchor) -> anyhow::Result<Option<Verified>> {
        let runs = self.ran.runs.iter().filter(|run| run.record.cell == cell);
        let measured: Vec<f64> = runs.map(|run| run.record.transactions_per_s).collect();
        let Some(mean) = mean(&measured) else {
            return Ok(None);
        };
        let others = without(self.ran, cell);
        let others = Calibrated::of(
            &others,
            self.subject,
            &self.arguments.drive,
            &self.arguments.threads,
        )?;
        Ok(Some(Verified {
            controlled: self.predicted(&self.controlled, &anchor)?,
            anchored: self.predicted(&others, &anchor)?,
            ran_before: self.known.plan.cells.iter().any(|cell| anchor.is_at(cell)),
            drive: anchor.drive,
            pool_bytes: anchor.pool_bytes,
            connections: anchor.prediction.connections,
            measured_transactions_per_s: mean,
            measured_transactions_per_s_each: measured,
            blind: anchor.prediction,
        }))
    }

    fn predicted(&self, by: &Calibrated, anchor: &Anchor) -> anyhow::Result<Prediction> {
        let drives = by.drives.iter();
        let drive = drives
            .map(|(_, drive)| drive)
            .find(|drive| drive.name == anchor.drive)
            .context("invariant: anchors lie on the drives asked about")?;
        let pages = self.subject.frames(Bytes(anchor.pool_bytes));
        Ok(by.place(drive, anchor.prediction.connections).at(pages)?)
    }
}

/// The result without the runs of a cell.
fn without(result: &StudyResult, cell: usize) -> StudyResult {
    let mut others = result.clone();
    others.runs.retain(|run| run.record.cell != cell);
    others
}

impl Verification {
    fn of(seed: u64, slower_by: f64, places: Vec<Verified>) -> Self {
        let counted = || places.iter().filter(|place| !place.ran_before);
        let error_mean = |of: fn(&Verified) -> &Prediction| {
            let errors = counted().map(|place| place.error(of(place)).abs());
            mean(&errors.collect::<Vec<_>>())
        };
        let spreads: Vec<f64> = places.iter().filter_map(Verified::spread).collect();
        Self {
            seed,
            machine_slower_by: slower_by,
            blind_error_mean: error_mean(|place| &place.blind),
            controlled_error_mean: error_mean(|place| &place.controlled),
            anchored_error_mean: error_mean(|place| &place.anchored),
            spread_mean: mean(&spreads),
            places,
        }
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
            "at this speed",
            "off",
            "anchored",
            "off",
        ];
        let rows: Vec<_> = self.places.iter().map(Verified::row).collect();
        output::text(table(&header, &rows))?;
        output::line(format_args!(
            "a transaction took {:.2} times the processor time that it took in the result, by places of it that were \
             run again among these: `at this speed` is the blind prediction for such a machine",
            self.machine_slower_by
        ))?;
        if let Some(spread) = self.spread_mean {
            output::line(format_args!(
                "runs of one place are {} from their mean, on average",
                percent(spread)
            ))?;
        }
        let [blind, controlled, anchored] = [
            self.blind_error_mean,
            self.controlled_error_mean,
            self.anchored_error_mean,
        ]
        .map(|error| error.map_or_else(|| "-".to_owned(), percent));
        output::line(format_args!(
            "off on average: blind {blind}, at this speed {controlled}, anchored (by all places but the place itself) \
             {anchored}; seed {}",
            self.seed
        ))?;
        if self.places.iter().any(|place| place.ran_before) {
            output::line("* the result has runs of it: not blind, and not counted")?;
        }
        Ok(())
    }
}

/// `3.2 %`.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

impl Verified {
    /// Relative error of a prediction.
    fn error(&self, of: &Prediction) -> f64 {
        of.transactions_per_s / self.measured_transactions_per_s.max(f64::MIN_POSITIVE) - 1.0
    }

    /// Mean relative distance of the runs from their mean; `None` of a single one.
    fn spread(&self) -> Option<f64> {
        let [_, _, ..] = self.measured_transactions_per_s_each[..] else {
            return None;
        };
        let runs = self.measured_transactions_per_s_each.iter();
        let mean_per_s = self.measured_transactions_per_s;
        mean(&runs.map(|run| (run / mean_per_s - 1.0).abs()).collect::<Vec<_>>())
    }

    fn row(&self) -> Vec<String> {
        let mark = if self.ran_before { "*" } else { "" };
        let mut row = vec![
            self.drive.clone(),
            Bytes(self.pool_bytes).to_string(),
            self.connections.to_string(),
            format!("{:.0}{mark}", self.measured_transactions_per_s),
        ];
        for prediction in [&self.blind, &self.controlled, &self.anchored] {
            row.push(format!("{:.0}", prediction.transactions_per_s));
            row.push(format!("{:+.0} %", self.error(prediction) * 100.0));
        }
        row
    }
}
