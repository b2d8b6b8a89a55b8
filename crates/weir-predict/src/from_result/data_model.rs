//! The data of a study as a model has them: which pages are asked for how often, and the pools in question.

use crate::{
    PAGE_BYTES, PoolUse, Popularity, TableSet, file_popularity, order_entry_popularity,
    popularity_of,
};
use weir_model::variables::BUFFER_POOL_SIZE as POOL;
use weir_model::{Bytes, DataSource, Plan, RunSpec, WorkloadSpec};
use weir_mysql::NameCase;
use weir_workload::{ScriptInputs, TableOptions, Workload};

use crate::from_result::ForecastError;
use crate::from_result::pools::{default_pools, pools};

/// The servers' default.
const POOL_DEFAULT: Bytes = Bytes(128 << 20);

/// Model of a plan's data before any run.
#[derive(Debug)]
pub struct DataModel {
    pub(crate) popularity: Popularity,
    /// Bytes of the pages that are used.
    pub(crate) data_bytes: f64,
    /// The pools that are asked about.
    pub(crate) pools: Vec<Bytes>,
    pub(crate) pool_use: PoolUse,
    /// The pool of the plan's first cell.
    pub(crate) pool_today: Bytes,
}

impl DataModel {
    /// Of the data of `plan`; `asked` names pools as `1G..64G` or `1G,2G`, by default those of the plan or shares of
    /// the data.
    ///
    /// # Errors
    ///
    /// A workload or setting that no model describes, and a pool that is no size.
    pub fn from_plan(plan: &Plan, asked: Option<&str>) -> Result<Self, ForecastError> {
        let spec = first_cell(plan)?;
        let primary = spec.primary();
        let popularity = popularity(spec)?;
        let data_bytes = popularity.pages() * PAGE_BYTES;
        let pools = match asked {
            Some(text) => pools(text)?,
            None => default_pools(plan, data_bytes)?,
        };
        let variables = &primary.variables;
        crate::check_variables(variables)?;
        let changes_pages = popularity.changes() > 0.0;
        let pool_use = PoolUse::new(
            primary.server.flavor,
            variables,
            primary.pool,
            changes_pages,
        );
        Ok(Self {
            popularity,
            data_bytes,
            pools,
            pool_use: pool_use.map_err(ForecastError::LruScanDepth)?,
            pool_today: variables
                .get(POOL)
                .map_or(Ok(POOL_DEFAULT), |size| size.parse())?,
        })
    }

    /// Bytes of the pages that are used.
    pub fn data_bytes(&self) -> Bytes {
        Bytes(self.data_bytes as u64)
    }

    /// Pages that a transaction asks for.
    pub fn references(&self) -> f64 {
        self.popularity.references()
    }

    /// Frames for the pages in question: the upper levels of the indexes take theirs first.
    pub(crate) fn frames(&self, pool: Bytes) -> f64 {
        self.pool_use.frames(pool, &self.popularity)
    }

    /// Pages of a pool that has frames for so many of the data's.
    pub(crate) fn pages_of_pool(&self, frames: f64) -> f64 {
        self.pool_use.pages(frames, &self.popularity)
    }
}

/// Returns the settings of the first cell of `plan`: those that are asked about differ from it in pool, drive and
/// connections alone.
pub(crate) fn first_cell(plan: &Plan) -> Result<&RunSpec, ForecastError> {
    let first = plan.cells.first().ok_or(ForecastError::NoCell)?;
    Ok(&first.spec)
}

/// The pages that a run's transactions ask for.
fn popularity(spec: &RunSpec) -> Result<Popularity, ForecastError> {
    if let WorkloadSpec::OrderEntry(workload) = &spec.workload {
        return Ok(order_entry_popularity(
            workload,
            spec.primary().server.flavor,
        ));
    }
    if !spec.data.table_options.is_empty() {
        return Err(ForecastError::TableOptions {
            options: spec.data.table_options.clone(),
        });
    }
    if let WorkloadSpec::File(_) = &spec.workload {
        return of_file(spec);
    }
    let (WorkloadSpec::Sysbench(sysbench), DataSource::Sysbench { tables, rows }) =
        (&spec.workload, &spec.data.source)
    else {
        return Err(ForecastError::OwnWorkload {
            workload: spec.workload.to_string(),
        });
    };
    let Some(name) = sysbench.shares.single() else {
        return Err(ForecastError::SeveralWorkloads {
            workload: spec.workload.to_string(),
        });
    };
    let flavor = spec.primary().server.flavor;
    let tables = TableSet::prepared(name, *tables, *rows, flavor);
    Ok(popularity_of(
        name,
        &sysbench.mix,
        sysbench.distribution,
        &tables,
    )?)
}

/// The pages that a workload file's transactions ask for.
fn of_file(spec: &RunSpec) -> Result<Popularity, ForecastError> {
    let own = |why: String| ForecastError::FileWorkload {
        workload: spec.workload.to_string(),
        why,
    };
    let workload = Workload::try_from(&spec.workload).map_err(own)?;
    // A file says its tables itself.
    let inputs = ScriptInputs {
        tables: 1,
        rows: 1,
        connections: 1,
        seed: spec.seed,
        auto_increment: true,
    };
    let script = workload
        .script(&inputs)
        .map_err(|error| own(error.to_string()))?;
    let tables = workload.tables(&TableOptions::default());
    let tables = tables.map_err(|error| own(error.to_string()))?;
    let primary = spec.primary();
    let case = primary.variables.get("lower_case_table_names");
    let case = NameCase::parse(case.map_or("", String::as_str));
    Ok(file_popularity(
        &script,
        &tables,
        primary.server.flavor,
        case,
    )?)
}
