//! `weir predict verify`: predictions that are written down first and run afterwards.

mod controls;
mod errors;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use weir_model::{Bytes, Cell, DriveSpec, Factor, Plan, Repetition, StudyResult};
use weir_predict::{Prediction, cliffs};
use weir_run::{Allowed, RunError, RunOptions};

use self::controls::Controls;
use self::errors::{Errors, Verification};
use super::calibrated::{Calibrated, is_alike};
use super::{POOL, Subject};
use crate::cli::VerifyArguments;
use crate::commands::{given_server, run, study_file};
use crate::{Outcome, interrupt};

/// A pool in which all pages fit, in pages that are used.
const ALL_FIT: f64 = 1.2;
/// The most places that are run if none are named, and if they are.
const ANCHORS_MAX: usize = 5;
const NAMED_MAX: usize = 100;
/// Blind predictions, a line each; only ever added to.
const BLIND_FILE: &str = "predictions.jsonl";

/// A place that is predicted and run.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Anchor {
    drive: String,
    pool_bytes: u64,
    prediction: Prediction,
}

impl Anchor {
    /// Whether it is the place of `cell`.
    fn is_at(&self, cell: &Cell) -> bool {
        pool_of(cell).is_some_and(|pool| is_alike(pool, Bytes(self.pool_bytes)))
            && cell.spec.drive_name().as_ref() == Some(&self.drive)
            && cell.spec.load.connections == self.prediction.connections
    }
}

pub(super) fn execute(
    result: &StudyResult,
    arguments: &VerifyArguments,
) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let subject = Subject::of(&result.plan, &arguments.pools)?;
    let blind = Calibrated::of(
        result,
        &subject,
        &arguments.places.drive,
        &arguments.places.threads,
    )?;
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| run::default_folder(Path::new("verify")));
    let (plan, anchors) = if arguments.resume {
        let (plan, anchors) = begun(&out)?;
        let is_asked = |name: &str| blind.drives.iter().any(|(_, drive)| drive.name == name);
        if let Some(anchor) = anchors.iter().find(|anchor| !is_asked(&anchor.drive)) {
            bail!(
                "predict verify: {} has predictions of {}, which --drive does not name; go on with the same --drive",
                out.display(),
                anchor.drive
            );
        }
        (plan, anchors)
    } else {
        let anchors = anchors(&subject, &blind, arguments)?;
        let controls = Controls::of(result, &anchors);
        let plan = plan_of(&result.plan, &anchors, &controls, arguments.runs);
        write_down(&out, plan.seed, &anchors)?;
        (plan, anchors)
    };
    eprintln!(
        "{} predictions are in {}; now they are run",
        anchors.len(),
        out.join(BLIND_FILE).display()
    );
    let options = RunOptions {
        out: out.clone(),
        resume: arguments.resume,
        work: None,
        weir: std::env::current_exe().context("cannot find the weir program itself")?,
        below_floor: false,
        allowed: Allowed::default(),
        client: given_server::client_config(false)?,
        provenance: run::provenance(result.provenance.study_file.clone()),
    };
    let ran = match run::watched(&plan, &options, stop) {
        Err(RunError::Interrupted) => return Ok(Outcome::Stopped),
        ran => ran?.result,
    };
    if stop.load(Ordering::SeqCst) {
        eprintln!(
            "stopped: the predictions and {} runs are kept, {}",
            ran.runs.len(),
            run::go_on(&out)
        );
        return Ok(Outcome::Stopped);
    }
    let slower_by = Controls::of(result, &anchors).slower_by(&ran, anchors.len());
    let errors = Errors {
        ran: &ran,
        subject: &subject,
        arguments,
        controlled: blind.slower(slower_by.unwrap_or(1.0)),
        known: result,
    };
    let places = anchors.into_iter().enumerate();
    let places = places.filter_map(|(cell, anchor)| errors.of(cell, anchor).transpose());
    let places = places.collect::<anyhow::Result<_>>()?;
    Verification::of(ran.plan.seed, slower_by, places).print(arguments.json)?;
    Ok(Outcome::Done)
}

/// On each drive, with the most connections: all pages fit, the knee, a third of them fits; as many
/// as there may be.
fn anchors(
    subject: &Subject,
    blind: &Calibrated,
    arguments: &VerifyArguments,
) -> anyhow::Result<Vec<Anchor>> {
    let connections = blind.threads.iter().copied().max().unwrap_or(1);
    let mut anchors = Vec::new();
    for (profile, drive) in &blind.drives {
        let place = blind.place(drive, connections);
        let named = cliffs(&place)?;
        let pools: Vec<Bytes> = match &arguments.pools.pool {
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
    if arguments.pools.pool.is_none() {
        anchors.truncate(ANCHORS_MAX);
    } else if anchors.len() > NAMED_MAX {
        bail!(
            "predict verify: {} places (pools x drives), and each is run; name {NAMED_MAX} at most",
            anchors.len()
        );
    }
    Ok(anchors)
}

/// A line of the file of predictions.
#[derive(Serialize, Deserialize)]
struct Line {
    at: String,
    seed: u64,
    #[serde(flatten)]
    anchor: Anchor,
}

/// Before anything is run, and never changed afterwards.
fn write_down(out: &Path, seed: u64, anchors: &[Anchor]) -> anyhow::Result<()> {
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
            anchor: anchor.clone(),
        };
        writeln!(file, "{}", serde_json::to_string(&line)?)?;
    }
    file.sync_all()?;
    Ok(())
}

/// What was written down and begun in `out`.
fn begun(out: &Path) -> anyhow::Result<(Plan, Vec<Anchor>)> {
    let plan = weir_judge::read_result(out)?.plan;
    let path = out.join(BLIND_FILE);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}, which `verify` wrote", path.display()))?;
    let mut anchors = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line: Line = serde_json::from_str(line)
            .with_context(|| format!("{}: line {number} is no prediction", path.display()))?;
        if line.seed == plan.seed {
            anchors.push(line.anchor);
        }
    }
    if anchors.is_empty() || anchors.len() > plan.cells.len() {
        bail!(
            "{} has {} predictions of the result beside it, which has {} cells; verify into another --out",
            path.display(),
            anchors.len(),
            plan.cells.len()
        );
    }
    Ok((plan, anchors))
}

/// The study with these places for its cells, and the controls behind them, in blocks of a random order.
fn plan_of(plan: &Plan, anchors: &[Anchor], controls: &Controls, runs: u32) -> Plan {
    let first = plan.cells.first().cloned().unwrap_or_default();
    let cell = |anchor: &Anchor| {
        let mut cell = first.clone();
        let spec = cell.spec_mut();
        let primary = spec.primary_mut();
        primary.drive = Some(DriveSpec {
            profile: anchor.drive.clone(),
            // Its name has them.
            settings: BTreeMap::new(),
        });
        let pool = Bytes(anchor.pool_bytes).to_string();
        primary.variables.insert(POOL.to_owned(), pool);
        spec.load.connections = anchor.prediction.connections;
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
    plan.reseed(study_file::clock_seed());
    plan.runs = weir_judge::interleaved(&plan);
    plan
}

/// The pool of a cell; `None` where it is the server's default.
fn pool_of(cell: &Cell) -> Option<Bytes> {
    cell.spec.variable(POOL)?.parse().ok()
}

/// `cell` as one of a study that varies drive and pool; `None` where it does not say both.
fn at_levels(cell: &Cell) -> Option<Cell> {
    let pool = pool_of(cell)?;
    let levels = [("drive", cell.spec.drive_name()?), (POOL, pool.to_string())];
    Some(Cell {
        levels: levels.map(|(name, level)| (name.to_owned(), level)).into(),
        probe: None,
        ..cell.clone()
    })
}
