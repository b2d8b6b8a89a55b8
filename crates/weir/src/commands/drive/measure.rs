//! `weir drive measure`: the user's own drive as a profile.

use anyhow::bail;
use weir_drive::measure::{
    FileStorage, MeasureOptions, Plan, Storage as _, learn, measure, profile_text,
};

use crate::cli::MeasureArguments;
use crate::{Outcome, interrupt, output};

pub(super) fn execute(arguments: &MeasureArguments) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let options = MeasureOptions {
        budget: arguments.budget.0,
        write_limit: arguments.write_limit,
        size: arguments.size,
    };
    let target = &arguments.target;
    let plan = Plan::new(&options, FileStorage::free_bytes(target)?)?;
    eprintln!(
        "a new file of up to {} MiB below {}; at most {:.1} GB are written in {} rounds; Ctrl-C ends it with what it has",
        plan.file_bytes >> 20,
        target.display(),
        plan.write_bytes_max() as f64 / 1e9,
        plan.rounds
    );
    let mut storage = FileStorage::create(target, plan.file_bytes, stop)?;
    let samples = measure(&mut storage, &plan, &mut |step| eprintln!("{step}"))?;
    let Some(learned) = learn(&samples, storage.facts()) else {
        bail!("nothing to print: not one round was complete; let it run longer, or raise --budget");
    };
    let now = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
    output::text(profile_text(&learned, &samples, &now)?)?;
    Ok(if samples.is_cut_short() {
        Outcome::Stopped
    } else {
        Outcome::Done
    })
}
