//! R2: what is compared loses equally little in a power cut.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::variables::{
    DATA_LOST_BECAUSE, DOUBLEWRITE, FLUSH_LOG_AT_COMMIT, FLUSH_METHOD, FLUSHES_DISABLED_BY,
    LOG_BIN, OTHER_ENGINES, REDO_LOG_ENABLED, SYNC_BINLOG, UNSAID,
};
use weir_model::{
    Comparison, DriveProfile, Finding, FlushMethod, RedoFlush, RuleId, ServerVariables, WriteCache,
};

use super::evidence::{RunList, some_of};
use super::pages::{self, Protection};
use super::{Design, Evidence, Rule, WARNS_OR_FORBIDS};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R2,
    title: "levels are ranked at equal durability",
    checked: "Each cell gets a grade from the server's own variables, by meaning, and from the drive's \
              profile. The grade has four questions. Redo flushed at commit: innodb_flush_log_at_trx_commit \
              = 1 (MariaDB: also 3), and not MySQL's innodb_flush_method = nosync. Binary log flushed: \
              sync_binlog = 1, or no binary log. Pages whole after a power cut: proven, claimed or none. \
              Doublewrite proves them, and so does a crash test of this server in `[[crash_tests]]`; a \
              vendor only claims them. Flushes reach the media: innodb_flush_method, or a power-protected \
              cache. Some facts without a variable count as well: a disabled redo log, a library that \
              disables flushes (libeatmydata), tables of another engine. So do data in memory, or on a mount \
              without flushes. Before a run Weir asks an installed server of that version. Error: the grades \
              of two cells differ and the factor is another setting; or one of these settings changed during \
              a run. Warning: the factor is one of these settings, so the ratio is the price of safety. A \
              fact without a variable that made a server less durable is a warning, too.",
    reason: "A setting that may lose the last second, or a page, is faster because it does less. Percona 2020 \
             compared a drive without doublewrite with one with it. Percona 2010 mounted `nobarrier` over volatile \
             caches (\"may lose transactions on power outage\").",
    remedy: "Give all levels the same durability, or ask for the price of safety in a factor of its own.",
    reference: "Percona, \"Should I buy a Fast SSD or more memory?\", 2010 (docs/studies/memory-or-ssd.md); \
                Percona on ScaleFlux, 2020 (docs/studies/scaleflux-csd2000.md); MySQL 8.4 manual, \"InnoDB and the \
                ACID Model\" and \"Disabling Redo Logging\"",
    severities: WARNS_OR_FORBIDS,
    design: check_design,
    comparison: check,
    study: |evidence| not_durable(evidence).into_iter().collect(),
};

/// Variables that are durability: a factor among them asks for its price.
const DURABILITY: [&str; 5] = [
    DOUBLEWRITE,
    FLUSH_LOG_AT_COMMIT,
    FLUSH_METHOD,
    LOG_BIN,
    SYNC_BINLOG,
];

/// The name of the question about pages; R3 reports page protection alone.
const PAGES: &str = "pages whole after a power cut";
const REDO: &str = "redo log flushed";

/// Question -> answer; a missing answer is unknown.
type Grade = BTreeMap<&'static str, String>;

/// The grade of a cell with these variables, whose pages are protected so.
fn grade(
    variables: &ServerVariables<'_>,
    pages: Option<&Protection<'_>>,
    drive: Option<&DriveProfile>,
) -> Grade {
    let mut grade = Grade::new();
    if let Some(answer) = redo(variables) {
        grade.insert(REDO, answer);
    }
    let binary_log = match variables.binary_log() {
        Some(false) => Some("no binary log".to_owned()),
        _ => variables
            .sync_binlog()
            .map(|commits| format!("{SYNC_BINLOG} = {commits}")),
    };
    grade.extend(binary_log.map(|answer| ("binary log flushed", answer)));
    let protected = pages.map(|protection| match protection {
        Protection::Doublewrite | Protection::Tested(_) => "yes",
        Protection::Promised(..) => "claimed by the vendor",
        Protection::None(_) if drive.is_some() => "no",
        Protection::None(_) => "unknown",
    });
    if let Some(answer) = protected {
        grade.insert(PAGES, answer.to_owned());
    }
    if let Some(answer) = unflushed(variables, drive) {
        grade.insert("flushes reach the media", answer);
    }
    let of_other_engines = variables.get(OTHER_ENGINES);
    grade.extend(of_other_engines.map(|engines| ("tables of InnoDB", format!("no ({engines})"))));
    grade
}

/// Returns the reason that a commit may not be in a flushed redo log before it is acknowledged;
/// `None`: unknown.
fn redo(variables: &ServerVariables<'_>) -> Option<String> {
    let flavor = variables.flavor();
    if variables.switch(REDO_LOG_ENABLED) == Some(false) {
        return Some(format!(
            "no ({REDO_LOG_ENABLED} = OFF: it is not even written)"
        ));
    }
    let method = variables.flush_method();
    if method.is_some_and(|method| method.skips_redo_flush(flavor)) {
        return Some(format!("no ({FLUSH_METHOD} = nosync)"));
    }
    Some(match variables.redo_flush()? {
        RedoFlush::EachCommit => "at each commit".to_owned(),
        RedoFlush::Written | RedoFlush::EachSecond => format!(
            "not at each commit ({FLUSH_LOG_AT_COMMIT} = {})",
            variables.get(FLUSH_LOG_AT_COMMIT).unwrap_or_default()
        ),
    })
}

/// Returns the reason that flushed data are not on the media; `None`: nothing known speaks against
/// it.
fn unflushed(variables: &ServerVariables<'_>, drive: Option<&DriveProfile>) -> Option<String> {
    if let Some(library) = variables.get(FLUSHES_DISABLED_BY) {
        return Some(format!("no ({library} is loaded)"));
    }
    if let Some(why) = variables.get(DATA_LOST_BECAUSE) {
        return Some(format!("no ({why})"));
    }
    let volatile = drive.is_some_and(|drive| drive.write.cache == WriteCache::Volatile);
    let skips = variables
        .flush_method()
        .is_some_and(FlushMethod::skips_data_flush);
    let method = variables.get(FLUSH_METHOD).unwrap_or_default();
    (volatile && skips).then(|| format!("no ({FLUSH_METHOD} = {method})"))
}

/// Servers that were not durable for a reason that no variable says, once for the whole study.
fn not_durable(evidence: &Evidence<'_>) -> Option<Finding> {
    let why = |run: &weir_model::RunResult| {
        let server = &evidence.cell(run.record.cell).spec.primary().server;
        let variables = ServerVariables::said(server.flavor, &run.variables);
        let redo_off = variables.switch(REDO_LOG_ENABLED) == Some(false);
        let redo_off = redo_off.then(|| format!("{REDO_LOG_ENABLED} = OFF"));
        let library = variables.get(FLUSHES_DISABLED_BY);
        let library = library.map(|library| format!("{library} disables flushes"));
        let lost = variables.get(DATA_LOST_BECAUSE).map(str::to_owned);
        let engines = variables.get(OTHER_ENGINES);
        let engines = engines.map(|engines| format!("tables of {engines}"));
        redo_off.or(library).or(lost).or(engines)
    };
    let runs = evidence.result.runs.iter();
    let not_durable: Vec<_> = runs.filter(|run| why(run).is_some()).collect();
    let RunList { count, first } = evidence.named(&not_durable)?;
    let reasons: BTreeSet<_> = not_durable.iter().filter_map(|run| why(run)).collect();
    Some(RULE.warning(format!(
        "{count} used a server that may lose its data in a crash ({}), such as {first}: no variable shows that, and \
         it makes the server faster",
        some_of(reasons, 4)
    )))
}

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    if let Some(finding) = changed_meanwhile(evidence, comparison) {
        return Some(finding);
    }
    let grade_of = |cell: usize| {
        let pages = pages::of_result(evidence, cell);
        let variables = evidence.variables(cell)?;
        Some(grade(&variables, pages.as_ref(), evidence.profile(cell)))
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
        let durable = of_run.filter(|(name, _)| {
            DURABILITY.contains(&name.as_str()) || UNSAID.contains(&name.as_str())
        });
        durable.map(move |(name, after)| (run, name, after))
    });
    let (run, name, after) = changes.next()?;
    let before = run.variables.get(name).map_or("unknown", String::as_str);
    Some(RULE.error(format!(
        "{name} was {before} before and {after} after repetition {} of {}: durability changed under \
         the run, so it cannot be ranked; let no other program change settings",
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
    let grade_of = |cell: usize| {
        let pages = pages::of_design(design, cell);
        let drive = design.profile(&design.plan.cells[cell]);
        grade(design.variables(cell), pages.as_ref(), drive)
    };
    let mut findings: Vec<Finding> = Vec::new();
    for contrast in &design.contrasts {
        let declared: Vec<_> = design.differing(contrast).into_iter().collect();
        let found = judge(
            &contrast.factor,
            &declared,
            &grade_of(contrast.baseline_cell),
            &grade_of(contrast.level_cell),
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
