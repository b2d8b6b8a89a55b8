//! `weir predict`.

mod agreement;
mod calibrated;
mod chosen;
mod equal;
mod growth;
mod misses;
mod observe;
mod part;
mod prices;
mod promise;
mod simulated;
mod surface;
mod traced;
mod verify;

use std::collections::BTreeSet;

use anyhow::{Context as _, bail};
use weir_drive::TraceReader;
use weir_model::variables::BUFFER_POOL_SIZE as POOL;
use weir_model::{Bytes, LRU_SCAN_DEPTH, Plan, StudyResult};
use weir_predict::{PoolUse, Popularity, TableSet, popularity_of};
use weir_study::Overrides;

use self::calibrated::Calibrated;
use self::chosen::Chosen;
use self::prices::PriceList;
use self::surface::{Surface, Wanted};
use crate::cli::PredictArguments;
use crate::commands::{report, study_file};
use crate::{Outcome, output};

/// Pools by default, as shares of the data.
const SHARES: [f64; 8] = [0.1, 0.2, 0.33, 0.5, 0.7, 0.85, 1.0, 1.2];
/// Doublings of a range of pools.
const DOUBLINGS_MAX: usize = 20;

/// The word that asks to look at a server.
const OBSERVE: &str = "observe";
/// The word that asks for runs.
const VERIFY: &str = "verify";

pub(crate) fn execute(arguments: &PredictArguments) -> anyhow::Result<Outcome> {
    match arguments.more.as_deref() {
        Some(server) if arguments.of.as_os_str() == OBSERVE => {
            return observe::execute(server, arguments);
        }
        Some(word) if word != VERIFY => bail!(
            "predict: `{word}` (not understood); write `weir predict RESULT verify`, or `weir predict observe SERVER`"
        ),
        _ => {}
    }
    if arguments
        .of
        .extension()
        .is_some_and(|ending| ending == "toml")
    {
        let overrides = Overrides {
            server: None,
            seed: study_file::clock_seed(),
        };
        let text = study_file::read(&arguments.of, false)?;
        let plan = study_file::resolve(&arguments.of, &text, &overrides)?;
        let chosen = Chosen::of(&plan, &arguments.at)?;
        let plan = weir_study::part_of_plan(plan, &chosen.cells);
        misses::execute(&plan, &chosen.assumed, arguments)?;
        return Ok(Outcome::Done);
    }
    if TraceReader::is_trace(&arguments.of) {
        traced::execute(&arguments.of, arguments)?;
        return Ok(Outcome::Done);
    }
    let result = weir_study::read_result(&arguments.of)?;
    let chosen = Chosen::of(&result.plan, &arguments.at)?;
    let result = weir_study::part_of_result(result, &chosen.cells);
    // A server of the user's has settings that no study says.
    for run in &result.runs {
        weir_predict::check_variables(&run.variables)?;
    }
    if arguments.more.is_some() {
        return verify::execute(&result, arguments);
    }
    throughput(&result, &chosen.assumed, arguments)?;
    Ok(Outcome::Done)
}

/// What is predicted of a plan, before any run.
struct Subject {
    popularity: Popularity,
    /// Bytes of the pages that are used.
    data_bytes: f64,
    pools: Vec<Bytes>,
    pool_use: PoolUse,
    /// The pool of the plan's first cell.
    pool_today: Bytes,
}

/// The servers' default.
const POOL_DEFAULT: Bytes = Bytes(128 << 20);

impl Subject {
    fn of(plan: &Plan, arguments: &PredictArguments) -> anyhow::Result<Self> {
        let Some(cell) = plan.cells.first() else {
            bail!("predict: the study has no cell; give it one");
        };
        let data = plan.data_of(cell);
        let (mix, distribution) = weir_study::workload_settings(data.workload, plan.load_of(cell))?;
        let flavor = plan.server_of(cell).flavor;
        let tables = TableSet::prepared(data.workload, data.tables, data.rows, flavor);
        let popularity = popularity_of(data.workload, &mix, distribution, &tables)?;
        let data_bytes = popularity.pages() * weir_predict::PAGE_BYTES;
        let pools = match &arguments.pool {
            Some(text) => pools(text)?,
            None => default_pools(plan, data_bytes)?,
        };
        let variables = plan.variables_of(cell);
        weir_predict::check_variables(&variables)?;
        let start = plan.deployment_of(cell).pool;
        let changes_pages = popularity.changes() > 0.0;
        Ok(Self {
            popularity,
            data_bytes,
            pools,
            pool_use: PoolUse::of(flavor, &variables, start, changes_pages)
                .with_context(|| format!("predict: {LRU_SCAN_DEPTH} of the study is no number"))?,
            pool_today: variables
                .get(POOL)
                .map_or(Ok(POOL_DEFAULT), |size| size.parse())?,
        })
    }

    /// Frames for the pages in question: the upper levels of the indexes take theirs first.
    fn frames(&self, pool: Bytes) -> f64 {
        self.pool_use.frames(pool, &self.popularity)
    }

    /// Pages of a pool that has frames for so many of the data's.
    fn pages_of_pool(&self, frames: f64) -> f64 {
        self.pool_use.pages(frames, &self.popularity)
    }
}

/// The plan's own pools if it has several, else shares of the data.
fn default_pools(plan: &Plan, data_bytes: f64) -> anyhow::Result<Vec<Bytes>> {
    let own = plan
        .cells
        .iter()
        .filter_map(|cell| cell.variables.get(POOL));
    let own: BTreeSet<Bytes> = own.map(|size| size.parse()).collect::<Result<_, _>>()?;
    if own.len() > 1 {
        return Ok(own.into_iter().collect());
    }
    asked_pools(None, data_bytes / weir_predict::PAGE_BYTES)
}

/// The pools that were `given`, or else shares of so many pages.
fn asked_pools(given: Option<&str>, pages: f64) -> anyhow::Result<Vec<Bytes>> {
    let shares = || {
        SHARES
            .iter()
            .map(|share| whole_mebibytes(pages * share))
            .collect()
    };
    given.map_or_else(|| Ok(shares()), pools)
}

/// `1G..64G`, or `1G,2G,3G`.
fn pools(text: &str) -> anyhow::Result<Vec<Bytes>> {
    let Some((low, high)) = text.split_once("..") else {
        let sizes = text.split(',').map(str::parse::<Bytes>);
        return Ok(sizes.collect::<Result<_, _>>()?);
    };
    let (low, high): (Bytes, Bytes) = (low.parse()?, high.parse()?);
    if low.0 == 0 || high < low {
        bail!("--pool {text} (from the smaller to the larger, above 0); write it as `1G..64G`");
    }
    let sizes = (0..DOUBLINGS_MAX).map(|step| Bytes(low.0 << step));
    Ok(sizes.take_while(|size| *size <= high).collect())
}

/// A pool as tables have it, or `none` where no pool does what is asked.
fn pool_or_none(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "none".to_owned(), |bytes| Bytes(bytes).to_string())
}

/// Bytes of so many pages, rounded up to what a pool's size is written in.
fn whole_mebibytes(pages: f64) -> Bytes {
    let mebibytes = (pages * weir_predict::PAGE_BYTES / 1_048_576.0).ceil() as u64;
    Bytes(mebibytes << 20)
}

fn throughput(
    result: &StudyResult,
    assumed: &[String],
    arguments: &PredictArguments,
) -> anyhow::Result<()> {
    let mut subject = Subject::of(&result.plan, arguments)?;
    let mut calibrated = Calibrated::of(result, &subject, &arguments.drive, &arguments.threads)?;
    if arguments.full_size {
        subject = Subject::of(&weir_study::full_size(&result.plan), arguments)?;
        calibrated = calibrated.at_full_size(&result.plan, &subject);
    }
    let calibrated = calibrated.on_cores(arguments.cores);
    let drives = calibrated.drives.iter();
    let drives: Vec<_> = drives.map(|(_, drive)| drive.name.as_str()).collect();
    let wanted = Wanted {
        growth: arguments.growth,
        objective: arguments.objective,
        prices: PriceList::of(&result.plan, &arguments.price, &drives)?,
    };
    let surface = Surface::of(&calibrated, &subject, &wanted)?;
    if let Some(file) = &arguments.report {
        let page = weir_report::html_with_predictions(result, &surface.figures())?;
        report::write(file, page.as_bytes())?;
    }
    if arguments.json {
        return output::line(serde_json::to_string_pretty(&surface)?);
    }
    output::line(format_args!("{}", result.plan.title))?;
    for part in surface.parts() {
        output::line(format_args!("\n{}", part.title()))?;
        output::text(part.table())?;
        output::line(part.places())?;
        for line in part.break_even().into_iter().chain(part.growth()) {
            output::line(line)?;
        }
    }
    for (title, table) in surface.overviews() {
        output::line(format_args!("\n{title}"))?;
        output::text(table)?;
    }
    for line in assumed.iter().chain(&surface.assumed()) {
        output::line(format_args!("assumed: {line}"))?;
    }
    if let Some(line) = surface.agreement() {
        output::line(line)?;
    }
    output::line(
        "throughput and latency can be far off where the server writes much, see docs/predict.md; hold them against this \
         machine with `verify`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_are_a_range_or_a_list() {
        let sizes = |text| {
            pools(text)
                .unwrap()
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes("1G..8G"), ["1G", "2G", "4G", "8G"]);
        assert_eq!(sizes("128M,1G"), ["128M", "1G"]);
        assert!(pools("8G..1G").unwrap_err().to_string().contains("1G..64G"));
    }
}
