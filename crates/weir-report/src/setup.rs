//! The set-up in words: server, data, load, scales, drives and host.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use weir_model::variables::{BUFFER_POOL_SIZE, DATA_LOST_BECAUSE};
use weir_model::{
    Bytes, CrashTest, DATA_PLACE, DataSource, DataSpec, JudgedResult, LOAD_OPTIONS, LoadOptionKind,
    LoadSpec, Plan, REPLAY_OPTIONS, ReplaySpec, RunSpec, StudyResult, Warmup,
};

use crate::data_sheet::DataSheet;
use crate::number::{bytes_words, grouped};
use crate::over_cells::{Variables, distinct, each, shared_variables};
use crate::words::{count, data_scale_words, distribution_words, drive_scale_words, server_names};

/// All that a reader needs to run the same study.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Setup<'a> {
    pub(crate) facts: Vec<Fact>,
    /// Variables that the study sets to the same in all cells.
    variables: Variables<'a>,
    drives: Vec<DataSheet<'a>>,
    host: &'a BTreeMap<String, String>,
}

/// A line of the set-up.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) text: String,
}

/// The set-up of `result`.
pub(crate) fn setup(result: &StudyResult) -> Setup<'_> {
    Setup {
        facts: facts(result),
        variables: shared_variables(&result.plan),
        drives: result.drives.iter().map(DataSheet::new).collect(),
        host: &result.host,
    }
}

fn facts(result: &StudyResult) -> Vec<Fact> {
    let plan = &result.plan;
    let repetitions = plan.runs.iter().map(|run| run.repetition).max();
    let fact = |label, text| Fact { label, text };
    let mut facts = vec![
        fact("Server", server_names(result)),
        fact("Data", data_words(result)),
        fact(
            "Scale of the data",
            each(plan, |spec| data_scale_words(spec.data.data_scale)),
        ),
        fact(
            "Scale of the drives",
            each(plan, |spec| drive_scale_words(spec.data.drive_scale)),
        ),
        fact("Load", load_words(plan)),
        fact(
            "Runs",
            format!(
                "{} completed of {} planned: {} x {}, in an order drawn from seed {}",
                result.runs.len(),
                plan.runs.len(),
                count(plan.cells.len(), "combination"),
                count(repetitions.unwrap_or(0) as usize, "repetition"),
                plan.seed,
            ),
        ),
        fact("Started", result.started_at.clone()),
        fact("Measured by", format!("Weir {}", result.weir_version)),
    ];
    facts.extend(storage_words(result).map(|text| fact("Storage", text)));
    let tests = plan.crash_tests.iter();
    facts.extend(tests.map(|test| fact("Power-cut test", crash_test_words(test))));
    facts
}

/// The line on where the data of private servers lay: `data: on disk: /var/tmp (ext4)`; `None` without such a server.
pub(crate) fn data_line(result: &JudgedResult) -> Option<String> {
    let place = result.evidence.host.get(DATA_PLACE)?;
    Some(format!("{DATA_PLACE}: {place}"))
}

/// Returns the words for data that do not survive a power cut, where that is known of runs.
fn storage_words(result: &StudyResult) -> Option<String> {
    let runs = result.runs.iter();
    let lost: Vec<_> = runs
        .filter_map(|run| run.variables.get(DATA_LOST_BECAUSE))
        .collect();
    let why: BTreeSet<_> = lost.iter().map(|why| why.as_str()).collect();
    let why: Vec<_> = why.into_iter().collect();
    let text = || {
        format!(
            "the data of {} of {} runs do not survive a power cut: {}",
            lost.len(),
            result.runs.len(),
            why.join(" or ")
        )
    };
    (!why.is_empty()).then(text)
}

/// Returns the words for a power-cut test that the study relies on, with its bound.
fn crash_test_words(test: &CrashTest) -> String {
    let bound = if test.lost == 0 {
        let at_most = weir_stats::proportion_at_most(0, test.states, 0.95);
        format!(
            ", so with 95 % confidence fewer than {:.2} % do",
            at_most * 100.0
        )
    } else {
        String::new()
    };
    let server = test.server.as_deref().unwrap_or("an unnamed server");
    format!(
        "{server} on the emulated {} without doublewrite: {} of {} lost anything{bound} ({}). A real drive of that \
         name was not cut",
        test.drive,
        test.lost,
        count(test.states as usize, "crash state"),
        test.source
    )
}

/// The bytes that are kept are those of the first combination's tables.
fn data_words(result: &StudyResult) -> String {
    let tables = distinct(&result.plan, |spec| table_words(&spec.data));
    let Some((first, others)) = tables.split_first() else {
        return bytes_words(result.data_bytes);
    };
    let pool = match pool_bytes(result).as_slice() {
        [] => String::new(),
        [pool] => format!(
            ": {} times the buffer pool of {}",
            times(result.data_bytes, *pool),
            bytes_words(*pool),
        ),
        [smallest, .., largest] => format!(
            ": {} to {} times the buffer pool, which is {} to {}",
            times(result.data_bytes, *largest),
            times(result.data_bytes, *smallest),
            bytes_words(*smallest),
            bytes_words(*largest),
        ),
    };
    let others = match others {
        [] => String::new(),
        others => format!("; other combinations have {}", others.join(" or ")),
    };
    format!(
        "{} in {first}{pool}{others}",
        bytes_words(result.data_bytes)
    )
}

fn table_words(data: &DataSpec) -> String {
    match &data.source {
        DataSource::Sysbench { tables, rows } => {
            let options = match data.table_options.as_str() {
                "" => String::new(),
                options => format!(" with {options}"),
            };
            let tables = count(*tables as usize, "table");
            format!("{tables} of {} rows each{options}", grouped(*rows as f64))
        }
        DataSource::File { sizes } | DataSource::OrderEntry { sizes } => format!(
            "{} of {} rows together",
            count(sizes.len(), "table"),
            grouped(data.rows_total() as f64)
        ),
        DataSource::Lua => "the tables that the script makes".to_owned(),
        DataSource::Snapshot { name } => format!("the snapshot {name}"),
    }
}

/// Returns the ratio of `data` to `pool`: `8`, `8.5`, `42`.
fn times(data: u64, pool: u64) -> String {
    let ratio = data as f64 / pool as f64;
    if ratio >= 9.95 {
        grouped(ratio.round())
    } else {
        let text = format!("{ratio:.1}");
        text.trim_end_matches(".0").to_owned()
    }
}

/// Sizes of the buffer pool that the runs on the first combination's data had, ascending: from the server, else
/// from the study.
fn pool_bytes(result: &StudyResult) -> Vec<u64> {
    let cells = &result.plan.cells;
    let on_first = |spec: &RunSpec| spec.data.source == cells[0].spec.data.source;
    let runs = result.runs.iter();
    let of_server = runs
        .filter(|run| on_first(&cells[run.record.cell].spec))
        .filter_map(|run| run.variables.get(BUFFER_POOL_SIZE).map(String::as_str));
    let of_cells = cells
        .iter()
        .filter(|cell| on_first(&cell.spec))
        .filter_map(|cell| cell.spec.variable(BUFFER_POOL_SIZE));
    let read = |texts: Vec<&str>| {
        let sizes = texts.into_iter().filter_map(|text| text.parse().ok());
        let mut sizes: Vec<u64> = sizes.map(|Bytes(bytes)| bytes).filter(|b| *b > 0).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    let measured = read(of_server.collect());
    if measured.is_empty() {
        read(of_cells.collect())
    } else {
        measured
    }
}

fn load_words(plan: &Plan) -> String {
    let mut connections = distinct(plan, |spec| spec.load.connections);
    connections.sort_unstable();
    let connections: Vec<_> = connections.iter().map(u32::to_string).collect();
    format!(
        "{} on {} connections, keys {}{}; {}, then {} measured",
        each(plan, what_words),
        connections.join(", "),
        each(plan, |spec| distribution_words(
            spec.workload.distribution()
        )),
        each(plan, |spec| extras_words(&spec.load)),
        each(plan, |spec| warmup_words(spec.load.warmup)),
        each(plan, |spec| seconds_words(spec.load.measure.as_secs_f64())),
    )
}

/// Returns the words for the options of a load beyond connections that ask again at once.
fn extras_words(load: &LoadSpec) -> String {
    let words = LOAD_OPTIONS.iter().filter_map(|option| {
        let value = option.written(load)?;
        let value = match option.kind {
            LoadOptionKind::Rate => value.parse().map_or(value, grouped),
            _ => value,
        };
        Some(format!(", {}", option.report_text.replace("{}", &value)))
    });
    words.collect()
}

/// Returns the words for the transactions of connections.
fn what_words(spec: &RunSpec) -> String {
    match &spec.load.replay {
        Some(replay) => replay_words(replay),
        None => spec.workload.to_string(),
    }
}

/// The capture that is sent, and how.
fn replay_words(replay: &ReplaySpec) -> String {
    let name = replay
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let options = REPLAY_OPTIONS.iter().filter_map(|option| {
        let value = option.written(replay)?;
        Some(format!(", {} {value}", option.name))
    });
    let options: String = options.collect();
    let digest = replay.digest.get(..16).unwrap_or(&replay.digest);
    format!("replay of {name} (SHA-256 {digest}...{options})")
}

fn warmup_words(warmup: Warmup) -> String {
    let least = seconds_words(warmup.least().as_secs_f64());
    match warmup {
        Warmup::Fixed { .. } => format!("{least} of warm-up"),
        Warmup::UntilSteady { at_most, .. } => format!(
            "warm-up until steady, {least} to {}",
            seconds_words(at_most.as_secs_f64())
        ),
    }
}

fn seconds_words(seconds: f64) -> String {
    let decimals = usize::from(seconds.fract() != 0.0);
    format!("{seconds:.decimals$} s")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use weir_model::Pace;

    use super::*;
    use crate::sample;

    fn text(result: &StudyResult, label: &str) -> String {
        let setup = setup(result);
        let fact = setup.facts.iter().find(|fact| fact.label == label);
        fact.unwrap().text.clone()
    }

    #[test]
    fn data_are_set_against_the_pool_that_the_server_had() {
        let mut result = sample::study(2, 1);
        result.evidence.data_bytes = 1 << 30;
        for (run, pool) in result.evidence.runs.iter_mut().zip([128 << 20, 256 << 20]) {
            Arc::make_mut(&mut run.variables)
                .insert("innodb_buffer_pool_size".to_owned(), pool.to_string());
        }
        let words = text(&result.evidence, "Data");
        assert!(
            words.ends_with("4 to 8 times the buffer pool, which is 128 MiB to 256 MiB"),
            "{words}"
        );
    }

    #[test]
    fn all_workloads_data_and_paces_of_a_study_are_told() {
        let mut result = sample::study(4, 1);
        let spec = result.evidence.plan.cells[1].spec_mut();
        spec.workload = weir_model::WorkloadName::OltpReadOnly.into();
        spec.load.pace = Pace::open(500.0);
        spec.data.source = DataSource::Sysbench {
            tables: 10,
            rows: 800_000,
        };
        let load = text(&result.evidence, "Load");
        assert!(
            load.starts_with("oltp_write_only or oltp_read_only on"),
            "{load}"
        );
        assert!(load.contains("500 transactions/s due"), "{load}");
        let data = text(&result.evidence, "Data");
        assert!(data.contains("in 10 tables of 400,000 rows each"), "{data}");
        assert!(
            data.ends_with("; other combinations have 10 tables of 800,000 rows each"),
            "{data}"
        );
    }

    #[test]
    fn data_in_memory_are_told() {
        let mut result = sample::study(2, 1);
        let run = &mut result.evidence.runs[0];
        let why = "they lie in memory (tmpfs)".to_owned();
        Arc::make_mut(&mut run.variables).insert(DATA_LOST_BECAUSE.to_owned(), why);
        assert_eq!(
            text(&result.evidence, "Storage"),
            "the data of 1 of 2 runs do not survive a power cut: they lie in memory (tmpfs)"
        );
    }

    #[test]
    fn the_first_lines_of_an_answer_say_where_the_data_lay() {
        let mut result = sample::study(2, 1);
        assert_eq!(data_line(&result), None);
        let place = "on disk: /var/tmp (ext4)".to_owned();
        result.evidence.host.insert(DATA_PLACE.to_owned(), place);
        let line = "data: on disk: /var/tmp (ext4)";
        let answers = [
            crate::terminal(&result, false),
            crate::markdown(&result),
            crate::upgrade(&result),
        ];
        for answer in answers {
            let mut first = answer.lines().take(5);
            assert!(first.any(|found| found == line), "{answer}");
        }
    }

    #[test]
    fn power_cut_tests_are_told_with_what_they_bound() {
        let mut result = sample::study(2, 1);
        result.evidence.plan.crash_tests = vec![CrashTest {
            drive: "scaleflux-csd2000".to_owned(),
            server: Some("mysql 9.7.4".to_owned()),
            states: 300,
            source: "crash-test.json".to_owned(),
            ..CrashTest::default()
        }];
        assert_eq!(
            text(&result.evidence, "Power-cut test"),
            "mysql 9.7.4 on the emulated scaleflux-csd2000 without doublewrite: 0 of 300 crash states lost \
             anything, so with 95 % confidence fewer than 0.99 % do (crash-test.json). A real drive of that name \
             was not cut"
        );
        result.evidence.plan.crash_tests[0].lost = 2;
        let failed = text(&result.evidence, "Power-cut test");
        assert!(
            failed.contains("2 of 300 crash states lost anything ("),
            "{failed}"
        );
    }
}
