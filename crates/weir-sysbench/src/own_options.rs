//! Options that sysbench has no counterpart of: the load's by their table, text and what is loaded where.

use std::collections::BTreeMap;
use std::path::PathBuf;

use weir_load::{BinaryLog, PreparePlan};
use weir_model::{
    LOAD_OPTIONS, LoadOption, LoadOptionKind, LoadSpec, OrderEntryWorkload, WorkloadSpec,
};

use super::value::{UsageError, Value};

/// These options as given.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OwnOptions {
    /// Options of the load by their names.
    load: BTreeMap<&'static str, String>,
    pub(super) text_file: Option<PathBuf>,
    pub(super) binary_log: BinaryLog,
    pub(super) allow_replica: bool,
    pub(super) server_agent: Option<String>,
    pub(super) profile: Option<PathBuf>,
    pub(super) profile_self: Option<PathBuf>,
    pub(super) dry_run: bool,
    pub(super) order_entry: OrderEntryWorkload,
}

/// Options of the load that have no other name in sysbench.
pub(super) fn load_options() -> impl Iterator<Item = &'static LoadOption> {
    LOAD_OPTIONS.iter().filter(|option| option.has_flag)
}

impl OwnOptions {
    /// Takes a value of an option of the load.
    pub(super) fn take(
        &mut self,
        option: &'static LoadOption,
        value: Value<'_>,
    ) -> Result<(), UsageError> {
        let text = match option.kind {
            LoadOptionKind::Count => value.small(0)?.to_string(),
            _ => value.text()?,
        };
        option
            .check(&text)
            .map_err(|expected| value.wrong(expected))?;
        self.load.insert(option.name, text);
        Ok(())
    }

    /// Sets what was given of the load, in the order of the table, whatever theirs was.
    pub(super) fn set_load(&self, load: &mut LoadSpec) -> Result<(), UsageError> {
        for option in load_options() {
            let Some(value) = self.load.get(option.name) else {
                continue;
            };
            option
                .set(load, value)
                .map_err(|expected| UsageError::Value {
                    name: option.flag(),
                    value: value.clone(),
                    expected,
                })?;
        }
        Ok(())
    }

    /// Completes the plan of the tables.
    pub(super) fn complete(&self, prepare: &mut PreparePlan) {
        prepare.binary_log = self.binary_log;
    }

    /// Refuses options of order entry with another workload, where they would do nothing.
    pub(super) fn fits(&self, workload: &WorkloadSpec) -> Result<(), UsageError> {
        match (workload, self.order_entry.unusual().first()) {
            (WorkloadSpec::OrderEntry(_), _) | (_, None) => Ok(()),
            (_, Some((name, _))) => Err(UsageError::OfOrderEntry((*name).to_owned())),
        }
    }
}

/// An option of order entry.
pub(super) fn order_entry(
    order_entry: &mut OrderEntryWorkload,
    value: Value<'_>,
) -> Result<(), UsageError> {
    let name = value.name.replace('-', "_");
    // A bare switch is on.
    let text = value.text.unwrap_or("on");
    let set = order_entry.set(&name, text);
    set.map_err(|why| UsageError::OrderEntry {
        name: value.name.to_owned(),
        why,
    })
}

pub(super) fn binary_log(value: Value<'_>) -> Result<BinaryLog, UsageError> {
    match value.text {
        Some("on") => Ok(BinaryLog::On),
        Some("off") => Ok(BinaryLog::Off),
        _ => Err(value.wrong("must be on or off")),
    }
}
