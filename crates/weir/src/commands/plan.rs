//! `weir plan`.

use weir_model::variables::BUFFER_POOL_SIZE;
use weir_model::{Bytes, Cell, Plan, PlannedRun, SearchGoal, SearchPlan};
use weir_report::table;
use weir_study::{Foreseen, Overrides};

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
    let foreseen = Foreseen::ask(&plan)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&plan)?)?;
    } else {
        print(&plan, &foreseen)?;
    }
    Ok(Outcome::Done)
}

fn print(plan: &Plan, foreseen: &Foreseen) -> anyhow::Result<()> {
    output::line(format_args!("{}\n{}\n", plan.title, plan.question))?;
    let rows: Vec<_> = plan.cells.iter().map(cell_row).collect();
    output::text(table(&["cell", "connections", "drive"], &rows))?;
    output::line("")?;
    match &plan.search {
        Some(search) => output::line(search_line(search))?,
        None => print_order(plan)?,
    }
    let runs = weir_study::expected_runs(plan);
    let time = weir_study::run_time(plan, runs);
    output::line(format_args!("\ndata:  {}", data(plan)))?;
    output::line(format_args!(
        "space: about {} for each run, in memory if half of it is free, else in the temporary directory \
         or --work; the loaded data are kept in the user's cache",
        weir_study::run_space(plan)
    ))?;
    output::line(format_args!(
        "time:  about {time} for {runs} runs{}, and once the loading of the data",
        if plan.load.warmup_max.is_some() {
            " with the shortest warm-ups"
        } else {
            ""
        }
    ))?;
    for prospect in weir_study::prospects(plan) {
        output::line(prospect)?;
    }
    for note in &foreseen.notes {
        output::line(note)?;
    }
    for finding in weir_study::findings_of_design(plan, foreseen) {
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
        output::line(format_args!(
            "{:>4}  repetition {}  {}{server}",
            index + 1,
            run.repetition,
            plan.cells[run.cell].label()
        ))?;
        before = Some(*run);
    }
    Ok(())
}

fn search_line(search: &SearchPlan) -> String {
    let goal = match &search.goal {
        SearchGoal::Rate { objective } => format!("the highest rate with {objective}"),
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

/// Rows and size, and how the size compares with memory: the ratio decides what a study can show.
fn data(plan: &Plan) -> String {
    let rows = u64::from(plan.data.tables) * plan.data.rows;
    let size = weir_study::data_size(plan);
    let text = format!("{rows} rows, about {size}");
    let pool = plan.server.variables.get(BUFFER_POOL_SIZE);
    match pool.and_then(|pool| pool.parse::<Bytes>().ok()) {
        Some(pool) if pool.0 > 0 => {
            let ratio = size.0 as f64 / pool.0 as f64;
            format!("{text}, {ratio:.1} times the buffer pool of {pool}")
        }
        _ => text,
    }
}

fn cell_row(cell: &Cell) -> Vec<String> {
    let drive = cell
        .drive_name()
        .unwrap_or_else(|| "the host's own storage".to_owned());
    vec![cell.label(), cell.threads.to_string(), drive]
}
