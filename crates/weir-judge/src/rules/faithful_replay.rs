//! R21: a replay is faithful.

use weir_model::{Comparison, Finding, ReplayFidelity, RuleId};

use super::{Evidence, Rule, WARNS_OR_FORBIDS};
use crate::fingerprints::{compared, differing};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R21,
    title: "a replay is faithful",
    checked: "Errors: a session is refused or loses its connection. More than 1 % of the statements are not sent, other \
              schemas apart. The capture lacks more than 1 % of the statements of its time. Statements of \
              free sessions are more than 20 ms late at p99. More than 1 % have a lock error that the capture does \
              not have. Warnings: late by more than 2 ms at p99. More than 1 % of the results differ from the capture. \
              Transactions end out of the capture's order with `order = \"commit\"`. The capture lacks sessions, or its end.",
    reason: "A replay that sends less, later or to other data measures another load. Its statements are faster or \
             slower for that reason alone.",
    remedy: "Look at the fidelity of the runs. Restore the data of the capture's beginning, allow as many \
             connections, use a lower speed, or take a shorter part of the capture.",
    reference: "Oracle's Real Application Testing reports divergence by rows and errors; lateness is the first \
                question of users of pgreplay (its issue 4).",
    severities: WARNS_OR_FORBIDS,
    comparison: check,
    ..Rule::NONE
};

const NOT_SENT_MAX: f64 = 0.01;
const LOCK_ERRORS_MAX: f64 = 0.01;
const DIFFERING_MAX: f64 = 0.01;
const LATE_US_MAX: u64 = 20_000;
const LATE_US_TOLD: u64 = 2_000;

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let runs = || evidence.runs_of(comparison);
    let all = || runs().filter_map(|run| Some(&run.replay.as_ref()?.fidelity));
    if let Some(why) = all().find_map(unfaithful) {
        return Some(RULE.error(format!(
            "{why}; this measures another load than the captured one"
        )));
    }
    let why = all().find_map(doubtful)?;
    Some(RULE.warning(format!("{why}; look at the fidelity of the runs")))
}

fn share(count: u64, of: u64) -> f64 {
    count as f64 / of.max(1) as f64
}

fn unfaithful(found: &ReplayFidelity) -> Option<String> {
    let absent = found.sessions.saturating_sub(found.sessions_joined);
    if let (true, Some(why)) = (absent > 0, &found.not_joined_why) {
        return Some(format!(
            "{absent} sessions of a replay were refused ({why})"
        ));
    }
    if found.connections_lost > 0 {
        let lost = found.connections_lost;
        return Some(format!("{lost} connections of a replay were lost"));
    }
    let not_sent = found.not_sent.all() - found.not_sent.other_schema;
    if share(not_sent, found.captured) > NOT_SENT_MAX {
        let reasons = found.not_sent.reasons();
        let most = reasons.iter().max_by_key(|(_, count)| *count);
        let most = most.map_or("", |(reason, _)| reason);
        return Some(format!(
            "{:.1} % of the statements of a replay were not sent (most: {most})",
            100.0 * share(not_sent, found.captured)
        ));
    }
    let missing = found.statements_missing;
    let missing = share(missing, found.captured + missing);
    if missing > NOT_SENT_MAX {
        return Some(format!(
            "the capture lacks {:.1} % of the statements of its time",
            100.0 * missing
        ));
    }
    if found.late_us.p99 > LATE_US_MAX {
        return Some(format!(
            "statements of a replay were {:.1} ms late at p99, more than {} ms",
            found.late_us.p99 as f64 / 1e3,
            LATE_US_MAX / 1_000
        ));
    }
    (share(found.lock_errors_new, found.sent) > LOCK_ERRORS_MAX).then(|| {
        format!(
            "{} statements of a replay had a lock error that the capture does not have",
            found.lock_errors_new
        )
    })
}

fn doubtful(found: &ReplayFidelity) -> Option<String> {
    if found.late_us.p99 > LATE_US_TOLD {
        let late_ms = found.late_us.p99 as f64 / 1e3;
        return Some(format!(
            "statements of a replay were {late_ms:.1} ms late at p99"
        ));
    }
    let differing = share(differing(found), compared(found));
    if differing > DIFFERING_MAX {
        return Some(format!(
            "{:.1} % of the results of a replay differ from the capture",
            100.0 * differing
        ));
    }
    if found.order_given_up > 0 {
        let given_up = found.order_given_up;
        return Some(format!(
            "{given_up} transactions of a replay ended out of the capture's order"
        ));
    }
    if found.sessions_missing > 0 {
        let missing = found.sessions_missing;
        return Some(format!(
            "the capture lacks {missing} sessions, whole or in part"
        ));
    }
    found.is_cut.then(|| {
        "the capture has no end: it is cut or damaged, or its writer was killed".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use weir_model::{LatenessUs, NotSent, ReplayRecord, Severity, Verdict};

    use super::*;
    use crate::evaluate;
    use crate::rules::tests::fair;

    fn faithful() -> ReplayFidelity {
        ReplayFidelity {
            sessions: 10,
            sessions_joined: 10,
            captured: 10_000,
            sent: 10_000,
            rows_compared: 10_000,
            late_us: LatenessUs {
                p99: 300,
                ..LatenessUs::default()
            },
            ..ReplayFidelity::default()
        }
    }

    /// Returns the finding of the rule on a study of which one run had such a fidelity.
    fn found(change: impl Fn(&mut ReplayFidelity)) -> Option<(Severity, Verdict)> {
        let mut result = fair();
        for (number, run) in result.runs.iter_mut().enumerate() {
            let mut fidelity = faithful();
            if number == 1 {
                change(&mut fidelity);
            }
            run.replay = Some(ReplayRecord {
                fidelity,
                ..ReplayRecord::default()
            });
        }
        let judged = evaluate(result).unwrap();
        let comparison = &judged.comparisons[0];
        let mut findings = comparison.findings.iter();
        let finding = findings.find(|finding| finding.rule == RuleId::R21)?;
        Some((finding.severity, comparison.verdict))
    }

    #[test]
    fn an_unfaithful_replay_is_invalid() {
        assert_eq!(found(|_| ()), None);
        let invalid = Some((Severity::Error, Verdict::Invalid));
        assert_eq!(found(|fidelity| fidelity.late_us.p99 = 30_000), invalid);
        assert_eq!(found(|fidelity| fidelity.connections_lost = 1), invalid);
        assert_eq!(found(|fidelity| fidelity.lock_errors_new = 101), invalid);
        let not_sent = |fidelity: &mut ReplayFidelity| {
            fidelity.not_sent = NotSent {
                not_allowed: 101,
                ..NotSent::default()
            };
        };
        assert_eq!(found(not_sent), invalid);
        let refused = |fidelity: &mut ReplayFidelity| {
            fidelity.sessions_joined = 9;
            fidelity.not_joined_why = Some("too many connections".to_owned());
        };
        assert_eq!(found(refused), invalid);
        assert_eq!(found(|fidelity| fidelity.statements_missing = 200), invalid);
        let other_schemas = |fidelity: &mut ReplayFidelity| fidelity.not_sent.other_schema = 5_000;
        assert_eq!(found(other_schemas), None);
        let warned = |change: fn(&mut ReplayFidelity)| found(change).map(|(severity, _)| severity);
        assert_eq!(
            warned(|fidelity| fidelity.late_us.p99 = 3_000),
            Some(Severity::Warning)
        );
        assert_eq!(
            warned(|fidelity| fidelity.rows_differ = 200),
            Some(Severity::Warning)
        );
        assert_eq!(
            warned(|fidelity| fidelity.order_given_up = 1),
            Some(Severity::Warning)
        );
        assert_eq!(
            warned(|fidelity| fidelity.sessions_missing = 1),
            Some(Severity::Warning)
        );
        assert_eq!(
            warned(|fidelity| fidelity.is_cut = true),
            Some(Severity::Warning)
        );
    }
}
