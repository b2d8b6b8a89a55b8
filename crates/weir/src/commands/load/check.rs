//! `weir load order_entry check`: whether its tables hold together.

use std::sync::atomic::AtomicBool;

use anyhow::ensure;
use weir_load::{CONDITIONS, ConditionCheck, PreparePlan, check_order_entry};
use weir_mysql::Gate;

use crate::output;

/// Checks the tables of `plan`, a line for each condition; an error if one does not hold.
pub(super) fn execute(plan: &PreparePlan, stop: &AtomicBool) -> anyhow::Result<()> {
    let mut broken = 0;
    let mut printed = Ok(());
    check_order_entry(plan, &Gate::reading(), stop, &mut |checked| {
        broken += u32::from(checked.broken.is_some());
        if printed.is_ok() {
            printed = output::line(line(checked));
        }
    })?;
    printed?;
    ensure!(
        broken == 0,
        "{broken} of {CONDITIONS} conditions do not hold; the server lost or doubled changes, or something \
         else wrote to the tables"
    );
    Ok(())
}

fn line(checked: &ConditionCheck) -> String {
    let ConditionCheck {
        number,
        says,
        broken,
    } = checked;
    match broken {
        None => format!("{number:>2} holds   {says}"),
        Some(broken) => format!("{number:>2} BROKEN  {says}: {}", broken.place),
    }
}
