//! Gaps in the samples: printed, so that an empty place in a figure is not taken for calm.

use std::collections::BTreeMap;

use serde::Serialize;
use weir_model::{Gap, StudyResult};

use crate::number::RoundedNumber;
use crate::words::count;

/// A time of a run without samples of a source.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct GapView<'a> {
    source: &'a str,
    from_s: Option<RoundedNumber>,
    to_s: Option<RoundedNumber>,
    reason: &'a str,
}

impl<'a> GapView<'a> {
    pub(crate) fn new(gap: &'a Gap) -> Self {
        Self {
            source: &gap.source,
            from_s: RoundedNumber::new(gap.from_s, 4),
            to_s: RoundedNumber::new(gap.to_s, 4),
            reason: &gap.reason,
        }
    }
}

/// A sentence for each source that was not always sampled: `not measured: server status in 2 of 12
/// runs, once for up to 3 s (no answer within 1 s)`.
pub(crate) fn sentences(result: &StudyResult) -> Vec<String> {
    let mut by_source: BTreeMap<&str, Vec<(usize, &Gap)>> = BTreeMap::new();
    for (run, result) in result.runs.iter().enumerate() {
        for gap in &result.gaps {
            by_source.entry(&gap.source).or_default().push((run, gap));
        }
    }
    let runs = count(result.runs.len(), "run");
    let sentence = |(source, mut gaps): (&str, Vec<(usize, &Gap)>)| {
        let reason = &gaps[0].1.reason;
        let times = gaps.len();
        let longest_s = gaps.iter().map(|(_, gap)| gap.to_s - gap.from_s);
        let longest_s = longest_s.fold(1.0, f64::max).ceil();
        gaps.dedup_by_key(|(run, _)| *run);
        format!(
            "not measured: {source} in {} of {runs}, {}, for at most {longest_s:.0} s ({reason})",
            gaps.len(),
            count(times, "time"),
        )
    };
    by_source.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_source_that_was_silent_is_named_once_with_how_often_and_why() {
        let mut result = sample::study(2, 2);
        result
            .evidence
            .runs
            .iter_mut()
            .for_each(|run| run.gaps.clear());
        assert_eq!(sentences(&result.evidence), [""; 0]);
        let gap = |from_s, to_s, reason: &str| Gap {
            source: "server status".to_owned(),
            from_s,
            to_s,
            reason: reason.to_owned(),
        };
        result.evidence.runs[0].gaps = vec![gap(1.0, 1.0, "no answer"), gap(5.0, 8.0, "late")];
        result.evidence.runs[3].gaps = vec![gap(2.0, 3.0, "late")];
        let expected =
            "not measured: server status in 2 of 4 runs, 3 times, for at most 3 s (no answer)";
        assert_eq!(sentences(&result.evidence), [expected]);
    }
}
