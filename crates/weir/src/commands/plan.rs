//! `weir plan`.

use std::fmt::Display;

use weir_judge::SettingsPreview;
use weir_model::variables::BUFFER_POOL_SIZE;
use weir_model::{
    Bytes, Candidate, Cell, DataSource, Plan, PlannedRun, ScreenPlan, SearchGoal, SearchPlan,
    Warmup,
};
use weir_report::table;
use weir_study::Overrides;

use crate::cli::PlanArguments;
use crate::commands::study_file;
use crate::{Outcome, output};

pub(crate) fn execute(arguments: &PlanArguments) -> anyhow::Result<Outcome> {
    let seed = study_file::clock_seed();
    let overrides = Overrides {
        server: arguments.server.clone(),
        seed,
    };
    let text = study_file::read(&arguments.study, arguments.reduced)?;
    let plan = study_file::resolve(&arguments.study, &text, &overrides)?;
    weir_study::check_drives(&plan)?;
    let preview = weir_study::preview_settings(&plan)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&plan)?)?;
    } else {
        print(&plan, &preview)?;
    }
    Ok(Outcome::Done)
}

fn print(plan: &Plan, preview: &SettingsPreview) -> anyhow::Result<()> {
    output::line(format_args!("{}\n{}\n", plan.title, plan.question))?;
    if let Some(screen) = &plan.screen {
        output::text(factors(screen))?;
    } else {
        let rows: Vec<_> = plan.cells.iter().map(cell_row).collect();
        output::text(table(&["cell", "connections", "drive"], &rows))?;
    }
    output::line("")?;
    match &plan.search {
        Some(search) => output::line(search_line(search))?,
        None => print_order(plan)?,
    }
    let runs = weir_judge::expected_runs(plan);
    let time = weir_model::run_time(plan, runs);
    output::line(format_args!("\ndata:  {}", data(plan, preview)))?;
    output::line(format_args!(
        "space: about {} for each run, {}; the loaded data are kept in the user's cache",
        weir_model::run_space(plan),
        if plan
            .cells
            .iter()
            .any(|cell| cell.spec.drive_name().is_some())
        {
            "in memory if half of it is free, else in the temporary directory or --work"
        } else {
            "on disk: in the temporary directory or --work"
        }
    ))?;
    output::line(format_args!(
        "time:  about {time} for {runs} runs{}, and once the loading of the data",
        if plan.designed().any(warms_up_by_rule) {
            " with the shortest warm-ups"
        } else {
            ""
        }
    ))?;
    for prospect in weir_judge::prospects(plan) {
        output::line(prospect)?;
    }
    if let Some(line) = study_file::flush_line(plan) {
        output::line(line)?;
    }
    for note in &preview.notes {
        output::line(note)?;
    }
    let drives = weir_study::drive_profiles(plan);
    for finding in weir_judge::findings_of_design(plan, &drives, preview) {
        output::line(weir_report::finding_line(&finding))?;
    }
    Ok(())
}

fn print_order(plan: &Plan) -> anyhow::Result<()> {
    output::line(format_args!("order (seed {}):", plan.seed))?;
    let mut before: Option<PlannedRun> = None;
    for (index, run) in plan.runs.iter().enumerate() {
        let shares = |before: PlannedRun| {
            before.repetition == run.repetition && plan.shares_server(before.cell, run.cell)
        };
        let server = if before.is_some_and(shares) {
            ", on the same server"
        } else {
            ""
        };
        let cell = &plan.cells[run.cell];
        output::line(format_args!(
            "{:>4}  repetition {}{}  {}{server}",
            index + 1,
            run.repetition,
            host_words(cell, run.repetition),
            label(plan, cell)
        ))?;
        before = Some(*run);
    }
    Ok(())
}

/// The factors of a screen, numbered as its rows name them.
fn factors(screen: &ScreenPlan) -> String {
    let row = |(index, candidate): (usize, &Candidate)| {
        let number = (index + 1).to_string();
        let (present, level) = (candidate.present.clone(), candidate.level.clone());
        vec![number, candidate.factor.clone(), present, level]
    };
    let rows: Vec<_> = screen.candidates.iter().enumerate().map(row).collect();
    table(&["", "factor", "present", "candidate"], &rows)
}

/// The levels of a cell; of a row of a screen the numbers of its candidates, too.
fn label(plan: &Plan, cell: &Cell) -> String {
    match (&plan.screen, &cell.screened) {
        (Some(_), Some(screened)) if !screened.candidates.is_empty() => {
            let numbers = screened
                .candidates
                .iter()
                .map(|index| (index + 1).to_string());
            let numbers: Vec<_> = numbers.collect();
            format!("{}, with candidates {}", cell.label(), numbers.join(" "))
        }
        _ => cell.label(),
    }
}

/// `, on db1`, if repetitions are on several hosts.
fn host_words(cell: &Cell, repetition: u32) -> String {
    let agents = cell.spec.primary().several_agents();
    agents.map_or_else(String::new, |agents| {
        format!(", on {}", agents.of_repetition(repetition))
    })
}

fn search_line(search: &SearchPlan) -> String {
    let goal = match &search.goal {
        SearchGoal::Rate { objective } => format!("the highest rate with {objective}"),
        SearchGoal::Threads { objective } => format!("the most connections with {objective}"),
        SearchGoal::Peak => "the highest throughput".to_owned(),
        SearchGoal::Knee { shares } => {
            let shares: Vec<_> = shares
                .iter()
                .map(|s| format!("{:.0} %", s * 100.0))
                .collect();
            format!("where {} of the plateau are reached", shares.join(", "))
        }
    };
    let place = |place: u64| match search.factor.as_str() {
        "rate" | "threads" => place.to_string(),
        _ => Bytes(place).to_string(),
    };
    format!(
        "search in each cell: {goal}, {} from {} to {}, to {:.0} %",
        search.factor,
        place(search.low),
        place(search.high),
        search.tolerance * 100.0
    )
}

fn warms_up_by_rule(cell: &Cell) -> bool {
    matches!(cell.spec.load.warmup, Warmup::UntilSteady { .. })
}

/// Rows and size, and how the size compares with memory: the ratio decides what a study can show. Each from the
/// least to the most of all cells.
fn data(plan: &Plan, preview: &SettingsPreview) -> String {
    let is_snapshot = |cell: &Cell| matches!(cell.spec.data.source, DataSource::Snapshot { .. });
    if plan.designed().any(is_snapshot) {
        return "a snapshot of a server's data".to_owned();
    }
    let is_of_script = |cell: &Cell| matches!(cell.spec.data.source, DataSource::Lua);
    if plan.designed().any(is_of_script) {
        return "what a Lua script's prepare makes, which is known when it has run".to_owned();
    }
    let specs: Vec<_> = plan.designed().map(|cell| &*cell.spec).collect();
    let rows = specs.iter().map(|spec| spec.data.rows_total());
    let sizes = specs.iter().map(|spec| weir_model::data_size(spec));
    let text = format!("{} rows, about {}", range(ends(rows)), range(ends(sizes)));
    let cells = plan.cells.iter().enumerate();
    let pools = cells.filter(|(_, cell)| cell.is_designed());
    let pools = pools.filter_map(|(index, cell)| {
        let pool = pool(index, cell, preview)?;
        Some((pool, weir_model::data_size(&cell.spec)))
    });
    let (pools, tenths): (Vec<Bytes>, Vec<u64>) = pools
        .map(|(pool, size)| (pool, (size.0 as f64 / pool.0 as f64 * 10.0).round() as u64))
        .unzip();
    if pools.is_empty() {
        return text;
    }
    let times = ends(tenths).map(|tenths| format!("{:.1}", tenths as f64 / 10.0));
    let (times, pools) = (range(times), range(ends(pools)));
    format!("{text}, {times} times the buffer pool of {pools}")
}

/// The buffer pool that the server of a cell will make of its setting, as far as it was asked.
fn pool(index: usize, cell: &Cell, preview: &SettingsPreview) -> Option<Bytes> {
    let written = cell.spec.variable(BUFFER_POOL_SIZE)?;
    let made = preview
        .cell(index)
        .and_then(|said| said.values.get(BUFFER_POOL_SIZE));
    let pool = made.map_or(written, String::as_str).parse().ok();
    pool.filter(|pool: &Bytes| pool.0 > 0)
}

/// The least and the most of `values`.
fn ends<T: Ord + Copy + Default>(values: impl IntoIterator<Item = T>) -> [T; 2] {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_unstable();
    let end = |value: Option<&T>| value.copied().unwrap_or_default();
    [end(values.first()), end(values.last())]
}

/// `4`, or `4 to 8`.
fn range<T: PartialEq + Display>([least, most]: [T; 2]) -> String {
    if least == most {
        least.to_string()
    } else {
        format!("{least} to {most}")
    }
}

fn cell_row(cell: &Cell) -> Vec<String> {
    let drive = cell
        .spec
        .drive_name()
        .unwrap_or_else(|| "the host's own storage".to_owned());
    let connections = cell.spec.load.connections.to_string();
    vec![cell.label(), connections, drive]
}
