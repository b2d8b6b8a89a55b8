//! The panels of a run's page: what a DBA looks at first, in that order, then everything else that a
//! probe samples, by what it is about.

mod table;

use std::collections::BTreeSet;

use serde::Serialize;
use weir_model::RunResult;

use self::table::PANELS;
use super::curves::{Curve, Source};
use crate::words::instance_name;

/// A panel: curves of one unit.
#[derive(Debug)]
pub(crate) struct Panel {
    /// Group of the panel; [`FIRST`] stands open on the page, the others are folds.
    group: &'static str,
    title: &'static str,
    unit: &'static str,
    /// Names of curves and where they come from; an empty name: one curve for each instance.
    series: &'static [(&'static str, Source)],
}

/// The panels that every reader wants.
pub(crate) const FIRST: &str = "";

/// Head of a panel on the page.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PanelHead {
    pub(crate) group: &'static str,
    title: &'static str,
    unit: &'static str,
    series: Vec<String>,
    #[serde(skip)]
    pub(crate) curves: Vec<Curve>,
}

/// Heads of the panels that at least one of `runs` has samples for, with the curves that are there.
pub(crate) fn heads<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Vec<PanelHead> {
    let mut sampled = BTreeSet::new();
    let mut has_seconds = false;
    for run in runs {
        has_seconds |= !run.intervals.is_empty();
        let names = run.series.iter();
        sampled.extend(names.map(|one| (one.metric.as_str(), one.instance.as_str())));
    }
    let head = |panel: &Panel| {
        let found = panel
            .series
            .iter()
            .flat_map(|one| curves(one, &sampled, has_seconds));
        let (series, curves): (Vec<_>, Vec<_>) = found.unzip();
        (!curves.is_empty()).then_some(PanelHead {
            group: panel.group,
            title: panel.title,
            unit: panel.unit,
            series,
            curves,
        })
    };
    PANELS.iter().filter_map(head).collect()
}

/// The curves that there are of `name` from `source`, with their names.
fn curves(
    (name, source): &(&'static str, Source),
    sampled: &BTreeSet<(&str, &str)>,
    has_seconds: bool,
) -> Vec<(String, Curve)> {
    let curve = |instance: &str| Curve {
        source: *source,
        instance: instance.to_owned(),
    };
    let Source::Metric(metric, _) = source else {
        return if has_seconds {
            vec![((*name).to_owned(), curve(""))]
        } else {
            Vec::new()
        };
    };
    if metric.per.is_empty() {
        let is_there = sampled.contains(&(metric.name, ""));
        return Vec::from_iter(is_there.then(|| ((*name).to_owned(), curve(""))));
    }
    let all = sampled.iter().filter(|(of, _)| *of == metric.name);
    let named = |instance: &str| {
        let own = instance_name(metric.per, instance);
        match *name {
            "" => own,
            name => format!("{own}, {name}"),
        }
    };
    all.map(|(_, instance)| (named(instance), curve(instance)))
        .collect()
}

#[cfg(test)]
mod tests {
    use weir_model::metrics;

    use super::*;
    use crate::sample;

    #[test]
    fn every_metric_that_a_probe_samples_has_its_curve() {
        let drawn: BTreeSet<_> = PANELS
            .iter()
            .flat_map(|panel| panel.series)
            .filter_map(|(_, source)| match source {
                Source::Metric(metric, _) => Some(metric.name),
                Source::Seconds(_) => None,
            })
            .collect();
        let missing: Vec<_> = metrics::ALL
            .iter()
            .map(|metric| metric.name)
            .filter(|name| !drawn.contains(name))
            .collect();
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn what_has_instances_has_a_curve_for_each_and_what_was_not_sampled_has_none() {
        let mut result = sample::study(1, 1);
        let run = &mut result.evidence.runs[0];
        run.series
            .retain(|series| series.metric == "drive.file_reads");
        let mut redo = run.series[0].clone();
        redo.instance = "redo".to_owned();
        run.series.push(redo);
        let heads = heads([&*run]);
        let titles: Vec<_> = heads.iter().map(|head| head.title).collect();
        assert_eq!(titles, ["Throughput", "Latency of transactions", "Reads"]);
        assert_eq!(heads[2].series, ["data", "redo log"]);
    }
}
