//! The tables of a run: made where they are missing.

use std::path::Path;

use weir_load::{BinaryLog, PreparePlan};
use weir_model::{Bytes, Cell, Endpoint, RunSpec, WorkloadSpec};
use weir_mysql::Gate;
use weir_script::ScriptProcess;
use weir_server::ExternalServer;
use weir_store::progress::Event;

use crate::RunError;
use crate::cancel::Control;

/// Seed of the rows. Fixed: studies with the same workload and size share their snapshot.
pub(crate) const DATA_SEED: u64 = 1;

/// Connections that load in parallel, at most one a table.
const LOADING_THREADS: u32 = 4;

/// Makes the tables of a run that are missing at `endpoint`, as part of `what`.
pub(crate) fn make_tables(
    spec: &RunSpec,
    endpoint: Endpoint,
    gate: &Gate,
    what: &str,
    control: &mut Control<'_>,
) -> Result<(), RunError> {
    if let WorkloadSpec::Lua(_) = spec.workload {
        // Whether they are there, only their owner can say.
        return Ok(());
    }
    let plan = PreparePlan {
        threads: LOADING_THREADS,
        seed: DATA_SEED,
        // No replica follows a server of Weir's own while its data are made.
        binary_log: if gate.is_own() {
            BinaryLog::Off
        } else {
            BinaryLog::On
        },
        ..PreparePlan::of_spec(spec, endpoint).map_err(RunError::Workload)?
    };
    let cancel = control.cancel;
    let loaded = weir_load::prepare(&plan, gate, cancel.flag(), &mut |rows_done, rows_total| {
        control.tell(&Event::Loading {
            rows_done,
            rows_total,
        });
    });
    // Also where the stop is an error for the load.
    cancel.check()?;
    loaded.map_err(|source| RunError::Load {
        run: what.to_owned(),
        source: Box::new(source),
        server: String::new(),
    })
}

/// Lets a script make its tables on a server; `weir` is the program.
pub(crate) fn make_by_script(
    spec: &RunSpec,
    (endpoint, gate): (&Endpoint, &Gate),
    weir: &Path,
    what: &str,
    control: &mut Control<'_>,
) -> Result<(), RunError> {
    let cancel = control.cancel;
    control.tell(&Event::Loading {
        rows_done: 0,
        rows_total: 0,
    });
    let made = weir_load::make_missing_schema(endpoint, gate).and_then(|()| {
        let (mut script, how) = (ScriptProcess::start(weir)?, (LOADING_THREADS, DATA_SEED));
        script.prepare(spec, endpoint, how, gate.is_own(), cancel.flag())
    });
    cancel.check()?;
    made.map_err(|source| RunError::Load {
        run: what.to_owned(),
        source: Box::new(source),
        server: String::new(),
    })
}

/// Makes the tables of `cell` that are missing on a server that the user gives; what they occupy. Tables
/// that are there with as many rows are used as they are, others are refused.
pub(crate) fn make_on_external(
    cell: &Cell,
    server: &ExternalServer,
    control: &mut Control<'_>,
) -> Result<Bytes, RunError> {
    // What a capture is sent to are its owner's tables, as they are.
    if cell.spec.load.replay.is_none() {
        let what = format!("the tables of `{}`", server.url);
        let (endpoint, gate) = (server.endpoint.clone(), server.gate());
        make_tables(&cell.spec, endpoint, gate, &what, control)?;
    }
    let size = server.tables_size()?;
    control.tell(&Event::DataReady {
        size,
        from_cache: false,
    });
    Ok(size)
}
