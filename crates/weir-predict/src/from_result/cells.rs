//! Cells of a study that are asked about: one server and one load, of those that it varies.

use std::collections::BTreeMap;

use weir_model::variables::BUFFER_POOL_SIZE as POOL;
use weir_model::{Cell, Doublewrite, Pace, Plan, ServerVariables, WorkloadSpec};

use crate::from_result::ForecastError;

/// The settings that a prediction is made for many of.
const VARIED: [&str; 3] = ["drive", POOL, "threads"];

/// The cells that are asked about, and what was chosen for want of a choice.
#[derive(Debug)]
pub struct ChosenCells {
    /// Positions in the plan, ascending.
    pub cells: Vec<usize>,
    /// In words.
    pub assumed: Vec<String>,
}

impl ChosenCells {
    /// The cells of `plan` with the levels of `at`, and with the first of those in all else but drive,
    /// pool and connections.
    ///
    /// # Errors
    ///
    /// Levels that no cell has.
    pub fn choose(plan: &Plan, at: &[(String, String)]) -> Result<Self, ForecastError> {
        let mut levels: BTreeMap<_, _> = at.iter().cloned().collect();
        let first = weir_judge::cells_at(plan, &levels)?[0];
        let mut assumed = Vec::new();
        for factor in &plan.factors {
            let mut settings = factor.settings.iter().map(String::as_str);
            let level = plan.cells[first].levels.get(&factor.name);
            let Some(level) = level.filter(|_| !levels.contains_key(&factor.name)) else {
                continue;
            };
            if settings.all(|setting| VARIED.contains(&setting)) {
                continue;
            }
            if factor.levels.len() > 1 {
                assumed.push(format!(
                    "{} {level}, the first of {} levels (--where \"{}=LEVEL\" chooses)",
                    factor.name,
                    factor.levels.len(),
                    factor.name
                ));
            }
            levels.insert(factor.name.clone(), level.clone());
        }
        let cells = weir_judge::cells_at(plan, &levels)?;
        let first = cells.first().and_then(|cell| plan.cells.get(*cell));
        assumed.extend(first.and_then(unprotected));
        assumed.extend(first.and_then(not_validated));
        assumed.extend(first.and_then(left_out_of_the_load));
        Ok(Self { cells, assumed })
    }
}

/// Returns a note on parts that no run has confirmed yet.
fn not_validated(cell: &Cell) -> Option<String> {
    match cell.spec.workload {
        WorkloadSpec::OrderEntry(_) => Some(
            "not validated: how often order entry asks for its pages was not compared with runs; that its transactions wait \
             for each other's locks and that its tables grow is left out"
                .to_owned(),
        ),
        WorkloadSpec::File(_) => Some(
            "not validated: how often a workload file asks for its pages was not compared with runs; joins, locks and \
             tables that grow are left out"
                .to_owned(),
        ),
        WorkloadSpec::Sysbench(_) | WorkloadSpec::Lua(_) => None,
    }
}

/// Returns a note on the load that a prediction leaves out: its connections ask again as soon as they are answered.
fn left_out_of_the_load(cell: &Cell) -> Option<String> {
    let load = &cell.spec.load;
    if load.replay.is_some() {
        return Some(
            "the replay is left out: the transactions of the study's workload are predicted"
                .to_owned(),
        );
    }
    (load.pace != Pace::default()).then(|| {
        "the load's rate, think time or pacing is left out: each connection asks again as soon as it is answered, \
         which is the most that the server can do"
            .to_owned()
    })
}

/// Returns a note that drives without doublewrite are not predicted: only their profiles say which of them keep pages
/// whole.
fn unprotected(cell: &Cell) -> Option<String> {
    let node = cell.spec.primary();
    let variables = ServerVariables::written(node.server.flavor, &node.variables);
    let doublewrite = variables.doublewrite()?;
    (doublewrite != Doublewrite::Repairs).then(|| {
        "doublewrite is off on each drive; whether a drive then tears pages is not predicted \
         (`weir drive show` has the vendor's claim, `weir plan` the rules)"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {

    use weir_model::StudyResult;
    use weir_study::plan_from_text;

    use super::*;
    use crate::from_result::data_model::first_cell;

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

    fn plan() -> Plan {
        plan_from_text(TWO_SERVERS, weir_model::Flavor::Mysql).unwrap()
    }

    #[test]
    fn a_rate_is_told_to_be_left_out() {
        let paced = TWO_SERVERS.replace("threads = 8", "threads = 8\n        rate = 50");
        for (text, told) in [(TWO_SERVERS, false), (&paced, true)] {
            let plan = plan_from_text(text, weir_model::Flavor::Mysql).unwrap();
            let assumed = ChosenCells::choose(&plan, &[]).unwrap().assumed;
            assert_eq!(
                assumed.iter().any(|line| line.contains("rate")),
                told,
                "{assumed:?}"
            );
        }
    }

    /// A result without runs of the part of a study that has these levels.
    fn part_at(levels: [(&str, &str); 2]) -> StudyResult {
        let plan = plan();
        let at = levels.map(|(name, level)| (name.to_owned(), level.to_owned()));
        let chosen = ChosenCells::choose(&plan, &at).unwrap();
        let version = "9.7.0".parse().unwrap();
        let result = StudyResult::new(plan, weir_model::Flavor::Mysql, version);
        weir_judge::part_of_result(result, &chosen.cells)
    }

    #[test]
    fn levels_of_server_and_variables_are_those_that_are_asked_about() {
        for (server, drops) in [("mysql", true), ("mariadb", false)] {
            for (time, seconds) in [("0", 0.0), ("500", 0.5)] {
                let levels = [("server", server), ("innodb_old_blocks_time", time)];
                let result = part_at(levels);
                let writes = crate::write_settings(&result, 1.0).unwrap();
                assert_eq!(writes.flushing.drops, drops, "{server}");
                let spec = first_cell(&result.plan).unwrap();
                assert!((crate::old_blocks_time_s(spec) - seconds).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_nobody_chose_is_the_first_level_and_told() {
        let chosen = ChosenCells::choose(&plan(), &[]).unwrap();
        assert_eq!(chosen.cells, [0]);
        let told = chosen.assumed.join("\n");
        assert!(
            told.contains("server mysql, the first of 2 levels"),
            "{told}"
        );
    }
}
