//! `weir predict verify`: predictions that are written down first and run afterwards.

use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use weir_model::StudyResult;
use weir_predict::from_result::{BLIND_FILE, VerificationPlan, VerifyOptions};
use weir_run::{RunError, RunOptions, UserPermissions};

use crate::cli::VerifyArguments;
use crate::commands::{external_server, run, study_file};
use crate::{Outcome, interrupt, output};

pub(super) fn execute(
    result: &StudyResult,
    arguments: &VerifyArguments,
) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let asked = VerifyOptions {
        pools: arguments.pools.pool.as_deref(),
        drives: &arguments.places.drive,
        threads: &arguments.places.threads,
        runs: arguments.runs,
        seed: study_file::clock_seed(),
    };
    let default_folder = || run::default_folder(Path::new("verify"));
    let out = arguments.out.clone().unwrap_or_else(default_folder);
    let verifying = if arguments.resume {
        VerificationPlan::resume(result, asked, &out)?
    } else {
        VerificationPlan::begin(result, asked, &out)?
    };
    if let Some(line) = super::validation_line(result, &arguments.places.drive) {
        eprintln!("{line}");
    }
    eprintln!(
        "{} predictions are in {}; now they are run",
        verifying.predictions(),
        out.join(BLIND_FILE).display()
    );
    let options = RunOptions {
        out: out.clone(),
        resume: arguments.resume,
        work: None,
        weir: std::env::current_exe().context("cannot find the weir program itself")?,
        below_floor: false,
        allowed: UserPermissions::default(),
        client: external_server::client_config(false)?,
        provenance: run::provenance(result.provenance.study_file.clone()),
    };
    let ran = match run::watched(verifying.plan(), &options, stop) {
        Err(RunError::Interrupted) => return Ok(Outcome::Stopped),
        ran => run::whole(ran?)?.result.evidence,
    };
    if stop.load(Ordering::SeqCst) {
        eprintln!(
            "stopped: the predictions and {} runs are kept, {}",
            ran.runs.len(),
            run::go_on(&out)
        );
        return Ok(Outcome::Stopped);
    }
    let verification = verifying.verified_by(&ran)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&verification)?)?;
        return Ok(Outcome::Done);
    }
    output::text(verification.table())?;
    for line in verification.lines() {
        output::line(line)?;
    }
    Ok(Outcome::Done)
}
