//! Content of the page: the words of this crate and the numbers that its figures draw.
//!
//! `web/src/types.ts` is made of these types; `web/fixtures/result.json` is an example that both
//! sides test.

use serde::Serialize;
use weir_model::{
    Agreement, Cell, CostRow, JudgedResult, RuleId, Severity, StudyResult, Utilization,
};

use crate::cells::{self, CellSummary};
use crate::comparison_sentences::Answer;
use crate::counters::{self, CounterRow};
use crate::events::{self, EVENT_NOTE, EventRow};
use crate::first_sentence::advice;
use crate::flames::{FLAME_NOTE, FlameDifference};
use crate::gaps;
use crate::hosts::{self, HOST_NOTE, HostRow};
use crate::insights::{self, ratio_words};
use crate::percentiles::{self, Percentiles};
use crate::predicted_throughput::PredictedThroughput;
use crate::ranked_findings::RankedFindings;
use crate::runs::{self, RunView};
use crate::screen::ScreenTable;
use crate::searches;
use crate::server_hosts::{self, SERVER_HOST_NOTE, ServerHostRow};
use crate::setup::{self, Setup};
use crate::spread::Spread;
use crate::statements::{STATEMENT_NOTE, StatementTable};
use crate::sweeps::{self, Sweep};
use crate::timeline::Timelines;
use crate::traffic::{self, CellTraffic};
use crate::variables::{self, Variables};
use crate::words::{agreement_name, levels_phrase, server_names, severity_name};

/// The page's whole content.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Page<'a> {
    title: &'a str,
    question: &'a str,
    /// `MySQL 9.7.0`, or all that there are.
    server: String,
    started_at: &'a str,
    seed: u64,
    /// The answer in a sentence without its period.
    pub(crate) advice: Option<String>,
    pub(crate) answers: Vec<Answer<'a>>,
    pub(crate) ranked: RankedFindings,
    pub(crate) findings: Vec<FindingView<'a>>,
    pub(crate) cells: Vec<CellSummary<'a>>,
    #[serde(skip)]
    is_search: bool,
    /// The share from which a resource stands out in the table of cells.
    saturated_share: f64,
    /// Length of the steps of all series, seconds.
    step_s: f64,
    runs: Vec<RunView<'a>>,
    traffic: Vec<CellTraffic>,
    counters: Vec<CounterRow>,
    sweeps: Vec<Sweep>,
    predicted: &'a [PredictedThroughput],
    percentiles: Vec<Percentiles>,
    costs: Vec<CostView<'a>>,
    timelines: Timelines,
    /// Records of the study's events.
    pub(crate) events: Vec<EventRow>,
    /// Note on the numbers of `events`.
    event_note: &'static str,
    /// Load hosts, where several shared the load.
    pub(crate) hosts: Vec<HostRow>,
    /// Note on the numbers of `hosts`.
    host_note: &'static str,
    /// Hosts of servers that the user gives, where agents there sampled them.
    pub(crate) server_hosts: Vec<ServerHostRow>,
    /// Note on the numbers of `server_hosts`.
    server_host_note: &'static str,
    /// Arms of replays by kind of statement.
    pub(crate) statements: Vec<StatementTable>,
    /// Note on the numbers of `statements`.
    statement_note: &'static str,
    /// Differences of the server's stacks, where it was profiled.
    pub(crate) flames: Vec<FlameDifference>,
    /// Note on the numbers of `flames`.
    flame_note: &'static str,
    /// Ranking of a screen's factors.
    pub(crate) screen: Option<ScreenTable<'a>>,
    /// Gaps in the samples, a sentence each.
    pub(crate) not_measured: Vec<String>,
    /// Sentences about several comparisons together.
    pub(crate) insights: Vec<String>,
    pub(crate) claims: Vec<ClaimView<'a>>,
    pub(crate) setup: Setup<'a>,
    variables: Variables<'a>,
}

/// A rule's finding, said once, with all that it concerns.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct FindingView<'a> {
    pub(crate) rule: RuleId,
    severity: Severity,
    pub(crate) severity_name: &'static str,
    pub(crate) message: &'a str,
    /// The comparisons that it concerns; empty: the whole study.
    concerns: Vec<String>,
}

/// A published claim beside what was measured here, at one place.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ClaimView<'a> {
    pub(crate) source: &'a str,
    pub(crate) says: &'a str,
    /// `1.48x`, `above 1x`.
    pub(crate) published: String,
    /// Levels of the other factors, in words.
    pub(crate) context: String,
    /// `1.31x (1.24 to 1.39)`; `None` if it was not measured.
    pub(crate) measured: Option<String>,
    pub(crate) agreement: Agreement,
    pub(crate) agreement_name: &'static str,
    pub(crate) why: &'a str,
}

/// Value for money at one level.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct CostView<'a> {
    level: &'a str,
    /// Levels of the other factors, in words.
    context: String,
    price: f64,
    currency: &'a str,
    queries_per_s_per_price: Option<Spread>,
    dominated: bool,
}

impl<'a> Page<'a> {
    /// The cells for a table: those of a search's design are places to search in and have no runs.
    pub(crate) fn measured_cells(&self) -> impl Iterator<Item = &CellSummary<'a>> {
        let is_search = self.is_search;
        self.cells
            .iter()
            .filter(move |cell| cell.repetitions > 0 || !is_search)
    }

    /// The same with predictions.
    pub(crate) fn with_predictions(self, predicted: &'a [PredictedThroughput]) -> Self {
        Self { predicted, ..self }
    }

    pub(crate) fn new(judged: &'a JudgedResult) -> Self {
        let result = &judged.evidence;
        let step_s = runs::step_s(&result.runs);
        let runs = runs::views(&result.runs, step_s);
        let drawn = runs.iter().map(RunView::values).sum();
        Self {
            title: &result.plan.title,
            question: &result.plan.question,
            server: server_names(result),
            started_at: &result.started_at,
            seed: result.plan.seed,
            advice: advice(judged),
            answers: Answer::all(&judged.comparisons),
            ranked: RankedFindings::new(&judged.comparisons, &judged.findings),
            findings: findings(judged),
            saturated_share: Utilization::SATURATED,
            cells: cells::summaries(result),
            step_s,
            runs,
            traffic: traffic::traffic(result),
            counters: counters::rows(result),
            sweeps: sweeps::sweeps(judged),
            predicted: &[],
            percentiles: percentiles::percentiles(result),
            costs: costs(judged),
            timelines: Timelines::new(&result.runs, drawn),
            events: events::rows(result),
            event_note: EVENT_NOTE,
            hosts: hosts::rows(result),
            host_note: HOST_NOTE,
            server_hosts: server_hosts::rows(result),
            server_host_note: SERVER_HOST_NOTE,
            statements: StatementTable::tables(&judged.comparisons),
            statement_note: STATEMENT_NOTE,
            flames: FlameDifference::all(judged),
            flame_note: FLAME_NOTE,
            screen: ScreenTable::new(judged),
            is_search: result.plan.search.is_some(),
            not_measured: gaps::sentences(result),
            insights: [
                searches::sentences(judged),
                insights::sentences(&judged.analysis),
            ]
            .concat(),
            claims: claims(judged),
            setup: setup::setup(result),
            variables: variables::variables(result),
        }
    }
}

/// Findings of the study and of its comparisons, errors first; equal ones appear once.
fn findings(result: &JudgedResult) -> Vec<FindingView<'_>> {
    let of_study = result.findings.iter().map(|finding| (finding, None));
    let of_comparisons = result.comparisons.iter().flat_map(|comparison| {
        let findings = comparison.findings.iter();
        findings.map(move |finding| (finding, Some(comparison)))
    });
    let mut views: Vec<FindingView<'_>> = Vec::new();
    for (finding, comparison) in of_study.chain(of_comparisons) {
        let concern = comparison.map(|comparison| {
            let answer = Answer::new(comparison);
            match answer.context.as_str() {
                "" => answer.what,
                context => format!("{} ({context})", answer.what),
            }
        });
        let known = views
            .iter_mut()
            .find(|view| view.rule == finding.rule && view.message == finding.message);
        match known {
            // What concerns the whole study names no comparison.
            Some(view) if !view.concerns.is_empty() => view.concerns.extend(concern),
            Some(_) => {}
            None => views.push(FindingView {
                rule: finding.rule,
                severity: finding.severity,
                severity_name: severity_name(finding.severity),
                message: &finding.message,
                concerns: concern.into_iter().collect(),
            }),
        }
    }
    views.sort_by_key(|view| std::cmp::Reverse(view.severity));
    views
}

/// Every claim at every place where it was looked at. Whether the conditions were the same is for
/// the reader to judge.
pub(crate) fn claims(result: &JudgedResult) -> Vec<ClaimView<'_>> {
    let verdicts = result.analysis.claims.iter();
    verdicts
        .filter_map(|verdict| {
            let claim = result.evidence.plan.claims.get(verdict.claim)?;
            Some(ClaimView {
                source: &claim.source,
                says: &claim.says,
                published: claim.published(),
                context: levels_phrase(&verdict.context),
                measured: verdict.measured.as_ref().map(ratio_words),
                agreement: verdict.agreement,
                agreement_name: agreement_name(verdict.agreement),
                why: &verdict.why,
            })
        })
        .collect()
}

fn costs(result: &JudgedResult) -> Vec<CostView<'_>> {
    let rows = result.analysis.costs.iter();
    rows.map(|row| CostView {
        level: &row.level,
        context: levels_phrase(&row.context),
        price: row.price,
        currency: &row.currency,
        queries_per_s_per_price: Spread::around(
            row.queries_per_s_per_price,
            &for_money(&result.evidence, row),
            4,
        ),
        dominated: row.dominated,
    })
    .collect()
}

/// Queries per second for one unit of the currency, of each run.
fn for_money(result: &StudyResult, row: &CostRow) -> Vec<f64> {
    let is_meant = |cell: &Cell| {
        let mut context = row.context.iter();
        cell.levels.get(&row.factor) == Some(&row.level)
            && context.all(|(factor, level)| cell.levels.get(factor) == Some(level))
    };
    let cells = &result.plan.cells;
    let records = result.runs.iter().map(|run| &run.record);
    records
        .filter(|record| cells.get(record.cell).is_some_and(is_meant))
        .map(|record| record.queries_per_s / row.price)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use weir_model::Finding;

    #[test]
    fn a_finding_of_many_comparisons_is_said_once_and_errors_come_first() {
        let mut result = sample::study(4, 3);
        let finding = |rule, severity| Finding {
            rule,
            severity,
            message: "same".to_owned(),
        };
        result.findings = vec![finding(RuleId::R6, Severity::Warning)];
        for comparison in &mut result.comparisons {
            comparison.findings = vec![finding(RuleId::R4, Severity::Error)];
        }
        let views = findings(&result);
        assert_eq!(views.len(), 2);
        assert_eq!(views[0].rule, RuleId::R4);
        assert_eq!(views[0].concerns.len(), result.comparisons.len());
        assert!(views[1].concerns.is_empty());
    }

    #[test]
    fn a_claim_stands_beside_what_was_measured_wherever_it_was_looked_at() {
        let result = sample::study(4, 3);
        let views = claims(&result);
        assert_eq!(views.len(), result.analysis.claims.len());
        assert_eq!(views[0].context, "intel-p4610");
        assert_eq!(views[0].agreement_name, "disagrees");
        assert!(views[0].measured.as_ref().unwrap().starts_with("1.3"));
        assert_eq!(views[1].agreement_name, "cannot say");
    }
}
