//! The advice of a screen: changes that new runs have confirmed, their lines for an option file and statements, and what gave nothing.

use std::fmt::Write as _;

use weir_model::{Candidate, Comparison, JudgedResult, Ratio, ScreenPlan, ScreenRanking, Verdict};

use crate::comparison_sentences::refusal;
use crate::insights::ratio_words;
use crate::screen::ScreenOutcome;
use crate::table::table;
use crate::words::metric_name;

const CPU_PER_QUERY: &str = "server_cpu_us_per_query";

/// Columns of gains: the study's metrics of a ranking.
struct Row<'a> {
    candidate: &'a Candidate,
    comparison: &'a Comparison,
}

/// The advice of `result` as text; empty for a study that is no screen.
pub fn screen_advice(result: &JudgedResult) -> String {
    let plan = &result.evidence.plan;
    let (Some(screen), Some(ranking)) = (&plan.screen, &result.analysis.screen) else {
        return String::new();
    };
    let rows = rows(screen, &result.comparisons);
    let (gains, others): (Vec<_>, Vec<_>) = rows.iter().partition(|row| is_gain(row.comparison));
    let together = together(screen, &result.comparisons);
    let mut out = String::new();
    push_gains(&mut out, screen, &gains, ranking);
    push_together(&mut out, together, ranking);
    if gains.is_empty() && together.is_some_and(is_gain) {
        out.push_str("they are worth changing together; which of them it is was not shown\n");
        push_lines(&mut out, screen, &others);
    } else {
        push_lines(&mut out, screen, &gains);
    }
    push_others(&mut out, screen, &others, ranking);
    push_rest(&mut out, screen, ranking);
    out
}

/// Returns true for a level that is better: by the comparison's verdict, or by that of the server's CPU time per query
/// where the metric itself decides nothing.
fn is_gain(comparison: &Comparison) -> bool {
    match comparison.verdict {
        Verdict::Invalid => false,
        Verdict::Effect => comparison.improvement().ratio > 1.0,
        Verdict::Inconclusive | Verdict::Equal => {
            let mut costs = comparison.costs.iter();
            let cpu = costs.find(|cost| cost.metric == CPU_PER_QUERY);
            cpu.is_some_and(|cpu| cpu.verdict == Verdict::Effect && cpu.ratio.ratio < 1.0)
        }
    }
}

/// The comparisons of winners, each against the others without it.
fn rows<'a>(screen: &'a ScreenPlan, comparisons: &'a [Comparison]) -> Vec<Row<'a>> {
    let row = |comparison: &'a Comparison| {
        let mut candidates = screen.candidates.iter();
        let candidate = candidates.find(|candidate| candidate.factor == comparison.factor)?;
        Some(Row {
            candidate,
            comparison,
        })
    };
    comparisons.iter().filter_map(row).collect()
}

fn change(screen: &ScreenPlan, candidate: &Candidate) -> String {
    match screen.statement_of(candidate) {
        Some(statement) => statement.to_owned(),
        None => format!(
            "{} {} -> {}",
            candidate.factor, candidate.present, candidate.level
        ),
    }
}

/// The ratio in `metric`, from the comparison itself or from what stands beside it.
fn ratio_in(comparison: &Comparison, metric: &str) -> Option<Ratio> {
    if comparison.metric == metric {
        return Some(comparison.estimate());
    }
    let mut others = comparison.others.iter();
    let mut costs = comparison.costs.iter();
    let other = others
        .find(|other| other.metric == metric)
        .map(|other| other.ratio);
    other.or_else(|| {
        costs
            .find(|cost| cost.metric == metric)
            .map(|cost| cost.ratio)
    })
}

fn ratios(comparison: &Comparison, ranking: &ScreenRanking) -> Vec<String> {
    let metrics = ranking.metrics.iter();
    let words = metrics.map(|metric| {
        ratio_in(comparison, &metric.metric).map_or_else(String::new, |ratio| ratio_words(&ratio))
    });
    words.collect()
}

fn push_gains(out: &mut String, screen: &ScreenPlan, gains: &[&Row<'_>], ranking: &ScreenRanking) {
    if gains.is_empty() {
        out.push_str("worth changing: nothing was confirmed\n");
        return;
    }
    let metrics: Vec<_> = ranking
        .metrics
        .iter()
        .map(|metric| metric_name(&metric.metric))
        .collect();
    let header: Vec<&str> = std::iter::once("change")
        .chain(metrics.iter().map(String::as_str))
        .collect();
    let row = |row: &&Row<'_>| {
        let named = std::iter::once(change(screen, row.candidate));
        named.chain(ratios(row.comparison, ranking)).collect()
    };
    let rows: Vec<Vec<String>> = gains.iter().map(row).collect();
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "worth changing: {}, each against the other winners without it\n{}",
        gains.len(),
        table(&header, &rows)
    );
}

/// All winners against the present configuration.
fn together<'a>(screen: &ScreenPlan, comparisons: &'a [Comparison]) -> Option<&'a Comparison> {
    let mut comparisons = comparisons.iter();
    comparisons.find(|found| {
        let mut candidates = screen.candidates.iter();
        !candidates.any(|candidate| candidate.factor == found.factor)
    })
}

fn push_together(out: &mut String, all: Option<&Comparison>, ranking: &ScreenRanking) {
    let Some(all) = all else {
        return;
    };
    if all.verdict == Verdict::Invalid {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "all winners together: {}", refusal(all));
        return;
    }
    let words = of_all(ratios(all, ranking), ranking);
    let _ = writeln!(out, "all winners together: {words}");
}

/// `1.31x (1.27 to 1.35) the queries per second, ...`, for each metric that is known.
fn of_all(ratios: Vec<String>, ranking: &ScreenRanking) -> String {
    let known = ratios.into_iter().zip(&ranking.metrics);
    let words = known.filter(|(ratio, _)| !ratio.is_empty());
    let words: Vec<_> = words
        .map(|(ratio, metric)| format!("{ratio} the {}", metric_name(&metric.metric)))
        .collect();
    words.join(", ")
}

/// Adds lines of the option file and statements that make these changes.
fn push_lines(out: &mut String, screen: &ScreenPlan, rows: &[&Row<'_>]) {
    push_option_file(out, rows);
    push_statements(out, screen, rows);
}

fn push_option_file(out: &mut String, gains: &[&Row<'_>]) {
    let mut variables = gains.iter().flat_map(|row| lines(row.candidate)).peekable();
    if variables.peek().is_some() {
        out.push_str("\nlines for the option file:\n[mysqld]\n");
    }
    for line in variables {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{line}");
    }
}

/// Lines of an option file; the only value of a candidate as the study has it, `64M` for 67108864.
fn lines(candidate: &Candidate) -> Vec<String> {
    let line = |(name, value): (&String, &Option<String>)| match value {
        Some(_) if candidate.variables.len() == 1 => format!("{name} = {}", candidate.level),
        Some(value) => format!("{name} = {value}"),
        None => format!("# leave out {name}"),
    };
    candidate.variables.iter().map(line).collect()
}

fn push_statements(out: &mut String, screen: &ScreenPlan, gains: &[&Row<'_>]) {
    let statements = gains
        .iter()
        .filter_map(|row| screen.statement_of(row.candidate));
    let statements: Vec<_> = statements.collect();
    if !statements.is_empty() {
        let _ = writeln!(
            out,
            "\nstatements (`weir ddl advise` says how to run one):\n{};",
            statements.join(";\n")
        );
    }
}

/// Winners of the screen that new runs did not confirm.
fn push_others(
    out: &mut String,
    screen: &ScreenPlan,
    others: &[&Row<'_>],
    ranking: &ScreenRanking,
) {
    if others.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nwon the screen, and not confirmed: {}", others.len());
    for row in others {
        let why = match row.comparison.verdict {
            Verdict::Invalid => refusal(row.comparison),
            Verdict::Inconclusive | Verdict::Equal | Verdict::Effect => {
                of_all(ratios(row.comparison, ranking), ranking)
            }
        };
        let _ = writeln!(out, "  {}: {why}", change(screen, row.candidate));
    }
}

/// Candidates that did not win, apart for those that make something worse: what one need not change.
fn push_rest(out: &mut String, screen: &ScreenPlan, ranking: &ScreenRanking) {
    for (outcome, title) in [
        (ScreenOutcome::Worse, "worse, so keep the present value"),
        (ScreenOutcome::NotShown, "tried, and no gain was shown"),
        (
            ScreenOutcome::LeftOut,
            "won the screen, and not measured anew, since there were more than can be told apart",
        ),
    ] {
        let candidates = screen.candidates.iter().enumerate();
        let found = candidates.filter(|(index, _)| ScreenOutcome::new(ranking, *index) == outcome);
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{title}: {}", found.len());
        for (index, candidate) in found {
            let effects = ranking
                .metrics
                .iter()
                .map(|metric| ratio_words(&metric.effects[index].ratio));
            let words = of_all(effects.collect(), ranking);
            let _ = writeln!(out, "  {}: {words}", change(screen, candidate));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::tests::screened;
    use weir_model::{CostRatio, DataChange, MetricRatio};

    fn compared(factor: &str, ratio: f64, verdict: Verdict, of: &JudgedResult) -> Comparison {
        let ends = Ratio {
            ratio,
            low: Some(ratio - 0.02),
            high: Some(ratio + 0.02),
        };
        Comparison {
            factor: factor.to_owned(),
            baseline: "0".to_owned(),
            level: "1".to_owned(),
            ratio,
            ratio_low: ends.low,
            ratio_high: ends.high,
            verdict,
            findings: Vec::new(),
            others: vec![MetricRatio {
                metric: "latency_us_p99".to_owned(),
                ratio: ends,
            }],
            costs: vec![CostRatio {
                metric: "server_cpu_us_per_query".to_owned(),
                baseline: 40.0,
                level: 38.0,
                ratio: ends,
                p_value: None,
                p_value_adjusted: None,
                verdict: Verdict::Inconclusive,
            }],
            ..of.comparisons[0].clone()
        }
    }

    #[test]
    fn confirmed_changes_come_with_their_lines_and_the_rest_by_what_came_of_it() {
        let mut result = screened();
        result.comparisons = vec![
            compared("configuration", 1.25, Verdict::Effect, &result),
            compared("b", 1.2, Verdict::Effect, &result),
        ];
        let text = screen_advice(&result);
        for part in [
            "worth changing: 1, each against",
            "b 0 -> 1  1.20x (1.18 to 1.22)",
            "all winners together: 1.25x (1.23 to 1.27) the queries per second",
            "[mysqld]\nb = 1\n",
            "worse, so keep the present value: 1\n  c 0 -> 1: 0.90x",
            "tried, and no gain was shown: 1\n  a 0 -> 1: 1.00x",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // The same factor, as an index.
        let statement = "ALTER TABLE t ADD INDEX (b)".to_owned();
        let mut with_index = result.clone();
        let screen = with_index.evidence.plan.screen.as_mut().unwrap();
        screen.changes = vec![DataChange {
            name: "t (b)".to_owned(),
            statement,
        }];
        let factors = &mut screen.candidates;
        let index = factors
            .iter_mut()
            .find(|candidate| candidate.factor == "b")
            .unwrap();
        index.change = Some("t (b)".to_owned());
        index.variables.clear();
        let text = screen_advice(&with_index);
        assert!(
            text.contains("ALTER TABLE t ADD INDEX (b)  1.20x"),
            "{text}"
        );
        assert!(
            text.contains("one):\nALTER TABLE t ADD INDEX (b);\n"),
            "{text}"
        );
        assert!(!text.contains("[mysqld]"), "{text}");
        result.comparisons[1].verdict = Verdict::Inconclusive;
        let text = screen_advice(&result);
        assert!(text.contains("nothing was confirmed"), "{text}");
        assert!(
            text.contains("won the screen, and not confirmed: 1"),
            "{text}"
        );
        assert!(text.contains("worth changing together"), "{text}");
        assert!(text.contains("[mysqld]\nb = 1\n"), "{text}");
        result.comparisons[0].verdict = Verdict::Inconclusive;
        assert!(!screen_advice(&result).contains("[mysqld]"));
        // Less CPU per query is a gain of its own.
        result.comparisons[1].costs[0].ratio.ratio = 0.9;
        result.comparisons[1].costs[0].verdict = Verdict::Effect;
        let text = screen_advice(&result);
        assert!(text.contains("worth changing: 1"), "{text}");
        assert!(text.contains("[mysqld]\nb = 1\n"), "{text}");
        result.analysis.screen = None;
        assert_eq!(screen_advice(&result), "");
    }
}
