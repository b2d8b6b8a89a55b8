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
use std::path::Path;

use anyhow::{Context as _, bail};
use weir_model::variables::BUFFER_POOL_SIZE as POOL;
use weir_model::{Bytes, DataSource, LRU_SCAN_DEPTH, Plan, RunSpec, StudyResult, WorkloadSpec};
use weir_predict::{PoolUse, Popularity, TableSet, popularity_of};
use weir_study::Overrides;

use self::calibrated::Calibrated;
use self::chosen::Chosen;
use self::prices::PriceList;
use self::surface::{Surface, Wanted};
use crate::cli::{LevelsArgument, PoolsArgument, PredictCommand, PredictResultArguments};
use crate::commands::{report, study_file};
use crate::{Outcome, output};

/// Pools by default, as shares of the data.
const SHARES: [f64; 8] = [0.1, 0.2, 0.33, 0.5, 0.7, 0.85, 1.0, 1.2];
/// Doublings of a range of pools.
const DOUBLINGS_MAX: usize = 20;

pub(crate) fn execute(command: &PredictCommand) -> anyhow::Result<Outcome> {
    match command {
        PredictCommand::Observe(arguments) => return observe::execute(arguments),
        PredictCommand::Verify(arguments) => {
            let (result, _) = chosen_result(&arguments.result, &arguments.levels)?;
            return verify::execute(&result, arguments);
        }
        PredictCommand::Result(arguments) => {
            let (result, assumed) = chosen_result(&arguments.result, &arguments.levels)?;
            throughput(&result, &assumed, arguments)?;
        }
        PredictCommand::Study(arguments) => {
            let overrides = Overrides {
                server: None,
                seed: study_file::clock_seed(),
            };
            let text = study_file::read(&arguments.study, false)?;
            let plan = study_file::resolve(&arguments.study, &text, &overrides)?;
            let chosen = Chosen::of(&plan, &arguments.levels.at)?;
            let plan = weir_judge::part_of_plan(plan, &chosen.cells);
            misses::execute(&plan, &chosen.assumed, arguments)?;
        }
        PredictCommand::Trace(arguments) => traced::execute(arguments)?,
    }
    Ok(Outcome::Done)
}

/// The part of a result that is asked about, and what was assumed in choosing it.
fn chosen_result(
    path: &Path,
    levels: &LevelsArgument,
) -> anyhow::Result<(StudyResult, Vec<String>)> {
    let result = weir_judge::read_result(path)?;
    let chosen = Chosen::of(&result.plan, &levels.at)?;
    let result = weir_judge::part_of_result(result, &chosen.cells);
    // A server of the user's has settings that no study says.
    for run in &result.runs {
        weir_predict::check_variables(&run.variables)?;
    }
    Ok((result, chosen.assumed))
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
    fn of(plan: &Plan, asked: &PoolsArgument) -> anyhow::Result<Self> {
        let spec = first_cell(plan)?;
        let primary = spec.primary();
        let flavor = primary.server.flavor;
        let popularity = popularity(spec)?;
        let data_bytes = popularity.pages() * weir_predict::PAGE_BYTES;
        let pools = match &asked.pool {
            Some(text) => pools(text)?,
            None => default_pools(plan, data_bytes)?,
        };
        let variables = &primary.variables;
        weir_predict::check_variables(variables)?;
        let start = primary.pool;
        let changes_pages = popularity.changes() > 0.0;
        Ok(Self {
            popularity,
            data_bytes,
            pools,
            pool_use: PoolUse::of(flavor, variables, start, changes_pages)
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

/// What the first cell of `plan` is set to: those that are asked about differ from it in pool, drive and
/// connections alone.
fn first_cell(plan: &Plan) -> anyhow::Result<&RunSpec> {
    match plan.cells.first() {
        Some(cell) => Ok(&cell.spec),
        None => bail!("predict: the study has no cell; give it one"),
    }
}

/// The pages that a run's transactions ask for.
fn popularity(spec: &RunSpec) -> anyhow::Result<Popularity> {
    let (WorkloadSpec::Sysbench(sysbench), DataSource::Sysbench { tables, rows }) =
        (&spec.workload, &spec.data.source)
    else {
        bail!(
            "predict: workload `{}` (not sysbench's, and its pages are not modelled); predict a study of one of \
             sysbench's workloads",
            spec.workload
        );
    };
    let Some(name) = sysbench.shares.single() else {
        bail!(
            "predict: workload `{}` (several at once, whose pages are not modelled together); predict a study of \
             one of them",
            spec.workload
        );
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

/// The plan's own pools if it has several, else shares of the data.
fn default_pools(plan: &Plan, data_bytes: f64) -> anyhow::Result<Vec<Bytes>> {
    let own = plan
        .cells
        .iter()
        .filter_map(|cell| cell.spec.variable(POOL));
    let own: BTreeSet<Bytes> = own.map(str::parse).collect::<Result<_, _>>()?;
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
    arguments: &PredictResultArguments,
) -> anyhow::Result<()> {
    let mut subject = Subject::of(&result.plan, &arguments.pools)?;
    let mut calibrated = Calibrated::of(
        result,
        &subject,
        &arguments.places.drive,
        &arguments.places.threads,
    )?;
    if arguments.full_size {
        subject = Subject::of(&weir_study::full_size(&result.plan), &arguments.pools)?;
        calibrated = calibrated.at_full_size(&first_cell(&result.plan)?.data, &subject);
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
         machine with `weir predict verify`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_SERVERS: &str = r#"
        [study]
        title = "T"
        question = "Q?"
        [server]
        flavor = "mysql"
        [data]
        workload = "oltp_write_only"
        rows = 1_000
        [load]
        threads = 8
        warmup = "5s"
        measure = "10s"
        [factors]
        server = ["mysql", "mariadb"]
        innodb_old_blocks_time = [0, 500]
    "#;

    /// A result without runs of the part of a study that has these levels.
    fn part_at(levels: [(&str, &str); 2]) -> StudyResult {
        let path = std::path::Path::new("s.toml");
        let plan = study_file::resolve(path, TWO_SERVERS, &Overrides::default()).unwrap();
        let at = levels.map(|(name, level)| (name.to_owned(), level.to_owned()));
        let cells = weir_judge::cells_at(&plan, &at.into()).unwrap();
        let result = StudyResult {
            plan,
            started_at: String::new(),
            weir_version: String::new(),
            flavor: weir_model::Flavor::Mysql,
            server_version: "9.7.0".parse().unwrap(),
            host: std::collections::BTreeMap::new(),
            drives: Vec::new(),
            data_bytes: 0,
            runs: Vec::new(),
            comparisons: Vec::new(),
            analysis: weir_model::Analysis::default(),
            findings: Vec::new(),
            searches: Vec::new(),
            provenance: weir_model::Provenance::default(),
        };
        weir_judge::part_of_result(result, &cells)
    }

    #[test]
    fn levels_of_server_and_variables_are_those_that_are_asked_about() {
        for (server, drops) in [("mysql", true), ("mariadb", false)] {
            for (time, seconds) in [("0", 0.0), ("500", 0.5)] {
                let levels = [("server", server), ("innodb_old_blocks_time", time)];
                let result = part_at(levels);
                let writes = weir_predict::write_settings(&result, 1.0).unwrap();
                assert_eq!(writes.flushing.drops, drops, "{server}");
                let spec = first_cell(&result.plan).unwrap();
                assert!((weir_predict::old_blocks_time_s(spec) - seconds).abs() < 1e-9);
            }
        }
    }

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
