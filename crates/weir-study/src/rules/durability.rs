//! R2: what is compared loses equally little in a power cut.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{Cell, Comparison, DriveProfile, Finding, Plan, WriteCache};

use super::evidence::{page_bytes, some_of};
use super::page_protection::is_off;
use super::{Design, Evidence, Rule, WARNS_OR_FORBIDS};

pub(super) const RULE: Rule = Rule {
    id: "R2",
    title: "levels are ranked at equal durability",
    checked: "A grade per cell from the server's own variables and the drive's profile: commits flushed \
              (innodb_flush_log_at_trx_commit = 1), binary log flushed (sync_binlog = 1, or no binary \
              log), pages whole after a power cut (doublewrite on, or atomic writes of a page that a power-cut test in `[[crash_tests]]` showed; a maker's word is another grade), flushes \
              sent to the media (innodb_flush_method, or a power-protected cache). Error: the grades of \
              two cells differ and the factor is something else, or one of these settings had another value \
              after a run than before it. Warning: the factor is one of these \
              settings, so that the ratio is the price of safety.",
    reason: "A setting that may lose the last second, or a page, is faster because it does less. Study 1 \
             compared a drive without doublewrite with one with it; study 2 mounted `nobarrier` over \
             volatile caches (\"may lose transactions on power outage\").",
    remedy: "Give all levels the same durability, and ask for the price of safety in a factor of its own.",
    reference: "published studies, sections 1, 2, 5 and 6; MySQL 8.4 manual, \"InnoDB and the ACID Model\"",
    severities: WARNS_OR_FORBIDS,
    design: check_design,
    comparison: check,
    ..Rule::NONE
};

/// Settings that are durability: a factor among them asks for its price.
const DURABILITY: [&str; 7] = [
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "log_bin",
    "skip_log_bin",
    "skip_innodb_doublewrite",
    "sync_binlog",
];

/// What is said of pages; page protection alone is told by R3.
const PAGES: &str = "pages whole after a power cut";

/// Question -> answer; a missing answer is one that nobody knows.
type Grade = BTreeMap<&'static str, String>;

/// The grade of a cell whose variables are told by `variable`.
fn grade<'a>(
    plan: &Plan,
    variable: impl Fn(&str) -> Option<&'a str>,
    drive: Option<&DriveProfile>,
) -> Grade {
    let is = |name: &str, wanted: &str| variable(name).map(|value| value == wanted);
    let mut grade = Grade::new();
    if let Some(value) = variable("innodb_flush_log_at_trx_commit") {
        let text = match value {
            "1" => "at each commit".to_owned(),
            other => format!("not at each commit (innodb_flush_log_at_trx_commit = {other})"),
        };
        grade.insert("redo log flushed", text);
    }
    let without_binlog = is("log_bin", "OFF") == Some(true) || variable("skip_log_bin").is_some();
    if !without_binlog && let Some(value) = variable("sync_binlog") {
        grade.insert("binary log flushed", format!("sync_binlog = {value}"));
    }
    let page = page_bytes(variable("innodb_page_size"));
    let protected = match variable("innodb_doublewrite") {
        Some(value) if !is_off(value) => Some("yes"),
        Some(_) => Some(match drive {
            Some(drive)
                if plan
                    .crash_tests
                    .iter()
                    .any(|test| test.shows_whole_pages(&drive.name)) =>
            {
                "yes"
            }
            Some(drive) if drive.atomicity.keeps_whole(page.0) => "on its maker's word",
            Some(_) => "no",
            None => "unknown",
        }),
        None => None,
    };
    if let Some(answer) = protected {
        grade.insert(PAGES, answer.to_owned());
    }
    let skips_flush = ["nosync", "littlesync", "O_DIRECT_NO_FSYNC"];
    let method = variable("innodb_flush_method").unwrap_or_default();
    let volatile = drive.is_some_and(|drive| drive.write.cache == WriteCache::Volatile);
    if volatile && skips_flush.contains(&method) {
        grade.insert(
            "flushes reach the media",
            format!("no (innodb_flush_method = {method})"),
        );
    }
    grade
}

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    if let Some(finding) = changed_meanwhile(evidence, comparison) {
        return Some(finding);
    }
    let grade_of = |cell: usize| {
        let run = evidence.first_run(cell)?;
        let variable = |name: &str| run.variables.get(name).map(String::as_str);
        Some(grade(
            &evidence.result.plan,
            variable,
            evidence.profile(cell),
        ))
    };
    let baseline = grade_of(comparison.baseline_cell)?;
    let level = grade_of(comparison.level_cell)?;
    let declared = evidence
        .declared(comparison)
        .into_iter()
        .collect::<Vec<_>>();
    judge(&comparison.factor, &declared, &baseline, &level)
}

/// A run whose durability was changed under it was as safe as neither value says.
pub(super) fn changed_meanwhile(
    evidence: &Evidence<'_>,
    comparison: &Comparison,
) -> Option<Finding> {
    let plan = &evidence.result.plan;
    let mut changes = evidence.runs_of(comparison).flat_map(|run| {
        let of_run = run.variables_changed.iter();
        let durable = of_run.filter(|(name, _)| DURABILITY.contains(&name.as_str()));
        durable.map(move |(name, after)| (run, name, after))
    });
    let (run, name, after) = changes.next()?;
    let before = run.variables.get(name).map_or("unknown", String::as_str);
    Some(RULE.error(format!(
        "{name} was {before} before and {after} after repetition {} of {}: durability changed under \
         the run, so it cannot be ranked; keep others off the server",
        run.record.repetition,
        plan.cells[run.record.cell].label()
    )))
}

/// The finding about two grades of cells that differ in the settings `declared`.
fn judge(factor: &str, declared: &[String], baseline: &Grade, level: &Grade) -> Option<Finding> {
    let all: BTreeSet<&'static str> = baseline.keys().chain(level.keys()).copied().collect();
    let differs = |question: &&'static str| baseline.get(question) != level.get(question);
    let questions: Vec<_> = all.into_iter().filter(differs).collect();
    if questions.is_empty() {
        return None;
    }
    let answer = |grade: &Grade, question| {
        let known: Option<&String> = grade.get(question);
        known.cloned().unwrap_or_else(|| "as by default".to_owned())
    };
    let words = questions.iter().map(|question| {
        format!(
            "{question}: {} against {}",
            answer(level, question),
            answer(baseline, question)
        )
    });
    let words = some_of(words, 4);
    let asks_for_the_price = declared
        .iter()
        .all(|name| DURABILITY.contains(&name.as_str()));
    if asks_for_the_price {
        // R3 tells the price of whole pages.
        let only_pages = questions == [PAGES];
        return (!only_pages).then(|| {
            RULE.warning(format!(
                "{factor} changes durability ({words}): read the ratio as the price of safety, not \
                 as a gain"
            ))
        });
    }
    Some(RULE.error(format!(
        "the levels are not equally durable ({words}), so they cannot be ranked; give both the same \
         durability"
    )))
}

/// The same from the design: defaults are the servers', so only what is set is compared.
fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let grade_of = |cell| {
        grade(
            design.plan,
            |name| cell.spec.variable(name),
            design.profile(cell),
        )
    };
    let mut findings: Vec<Finding> = Vec::new();
    for contrast in &design.contrasts {
        let (baseline, level): (&Cell, &Cell) = design.cells(contrast);
        let declared: Vec<_> = design.differing(contrast).into_iter().collect();
        let found = judge(
            &contrast.factor,
            &declared,
            &grade_of(baseline),
            &grade_of(level),
        );
        let Some(mut finding) = found else { continue };
        finding.message = format!(
            "{} {} against {}: {}",
            contrast.factor, contrast.level, contrast.baseline, finding.message
        );
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    findings
}
