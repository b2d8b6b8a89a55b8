//! Repetitions on several hosts: what their statistics know.

use weir_model::{ServerAgents, StudyResult, Verdict};

use super::{change_all, fair, run, set_throughput};
use crate::evaluate;

/// Six pairs on two hosts, of which the second has 0.6 times the throughput, and there `effect`.
fn on_two_hosts(effect: f64) -> StudyResult {
    let mut result = fair();
    change_all(&mut result, |spec| {
        let agents = ["db1", "db2"].map(str::to_owned).to_vec();
        spec.primary_mut().agent = Some(ServerAgents::try_from(agents).unwrap());
    });
    result.plan.repeat.runs = 6;
    result.runs.clear();
    for repetition in 1..=6 {
        let noise = 1.0 + 0.003 * f64::from(repetition * repetition % 5);
        let is_first = repetition % 2 == 1;
        let (speed, effect) = if is_first {
            (1000.0, 1.5)
        } else {
            (600.0, effect)
        };
        for (cell, ratio) in [(0, 1.0), (1, effect * noise)] {
            let mut run = run(cell, repetition, 1.0);
            set_throughput(&mut run, speed * ratio);
            result.runs.push(run);
        }
    }
    result
}

fn of_hosts(result: &StudyResult) -> (Verdict, Vec<String>) {
    let judged = evaluate(result.clone()).unwrap();
    let [comparison] = judged.comparisons.as_slice() else {
        panic!("{:?}", judged.comparisons);
    };
    assert!(comparison.second_opinion.is_none());
    let findings = comparison.findings.iter().chain(&judged.findings);
    let of_rule = findings.filter(|finding| finding.rule.to_string() == "hosts");
    let words = of_rule.map(|finding| finding.message.clone()).collect();
    (comparison.verdict, words)
}

#[test]
fn a_slower_host_is_neither_noise_nor_an_effect() {
    let mut result = on_two_hosts(1.5);
    let (verdict, words) = of_hosts(&result);
    assert_eq!(verdict, Verdict::Effect);
    let both = "1.51x on db1 and 1.51x on db2: no difference between hosts was shown (p ";
    assert!(words.len() == 1 && words[0].contains(both), "{words:?}");
    let floor = evaluate(result.clone()).unwrap().analysis.noise.unwrap();
    assert!(floor.floor_ratio < 1.02, "{}", floor.floor_ratio);
    // The slow host came last, which is no drift.
    result.runs.retain(|run| run.record.repetition <= 2);
    let more = result.runs.clone();
    result.runs.extend(more);
    result.runs.sort_by_key(|run| run.record.repetition);
    let judged = evaluate(result).unwrap();
    let drifted = |finding: &&weir_model::Finding| finding.message.contains("drifted");
    assert_eq!(judged.findings.iter().find(drifted), None);
}

#[test]
fn hosts_that_differ_in_an_effect_are_named() {
    let (_, words) = of_hosts(&on_two_hosts(1.1));
    assert_eq!(words.len(), 1, "{words:?}");
    let told = [
        "1.51x on db1 and 1.1",
        "x on db2 (p 0.0",
        "on each host by itself",
    ];
    assert!(told.iter().all(|part| words[0].contains(part)), "{words:?}");
}

#[test]
fn few_repetitions_show_no_difference_of_hosts() {
    let mut result = on_two_hosts(1.1);
    result.plan.repeat.runs = 4;
    result.runs.retain(|run| run.record.repetition <= 4);
    let (_, words) = of_hosts(&result);
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(
        words[0].starts_with("4 repetitions on 2 hosts"),
        "{words:?}"
    );
    assert!(words[0].ends_with("raise repeat.runs to 6"), "{words:?}");
}
