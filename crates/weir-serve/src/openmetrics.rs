//! Running studies as OpenMetrics 1.0 text, for Prometheus. Method: the OpenMetrics specification
//! (`prometheus.io/docs/specs/om/open_metrics_spec`).

use std::fmt::Write as _;

use weir_model::Bottleneck;
use weir_report::bottleneck_name;
use weir_store::progress::Progress;

pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The state set of what limits a run.
const BOTTLENECK: &str = "weir_run_bottleneck";

/// A gauge with its value for a study, if there is one now.
struct Gauge {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    value: fn(&Progress) -> Option<f64>,
}

const GAUGES: [Gauge; 7] = [
    Gauge {
        name: "weir_study_runs_done",
        unit: "",
        help: "Runs of the study that are complete.",
        value: |progress| Some(progress.runs_done as f64),
    },
    Gauge {
        name: "weir_study_runs_planned",
        unit: "",
        help: "Runs of the study, as far as they are known.",
        value: |progress| Some(progress.runs_total as f64),
    },
    Gauge {
        name: "weir_study_time_left_seconds",
        unit: "seconds",
        help: "Estimated time to the end of the study.",
        value: |progress| Some(progress.time_left_s as f64),
    },
    Gauge {
        name: "weir_run_queries_per_second",
        unit: "",
        help: "Statements completed in the last second of the run in progress.",
        value: |progress| Some(progress.last_second()?.queries_per_s),
    },
    Gauge {
        name: "weir_run_latency_p50_seconds",
        unit: "seconds",
        help: "Median latency of transactions in the last second of the run in progress.",
        value: |progress| Some(progress.last_second()?.latency_ms_p50 / 1e3),
    },
    Gauge {
        name: "weir_run_latency_p95_seconds",
        unit: "seconds",
        help: "95th percentile of the latency of transactions in the last second.",
        value: |progress| Some(progress.last_second()?.latency_ms_p95 / 1e3),
    },
    Gauge {
        name: "weir_run_latency_p99_seconds",
        unit: "seconds",
        help: "99th percentile of the latency of transactions in the last second.",
        value: |progress| Some(progress.last_second()?.latency_ms_p99 / 1e3),
    },
];

/// The exposition of `studies`, by folder, and of the number of results.
pub(crate) fn exposition(studies: &[(String, Progress)], results: usize) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "# TYPE weir_results gauge\n# HELP weir_results Results in the folder.\nweir_results {results}\n\
         # TYPE weir_studies_running gauge\n# HELP weir_studies_running Studies that run now.\n\
         weir_studies_running {}\n",
        studies.len()
    );
    for gauge in GAUGES {
        let _ = writeln!(out, "# TYPE {} gauge", gauge.name);
        if !gauge.unit.is_empty() {
            let _ = writeln!(out, "# UNIT {} {}", gauge.name, gauge.unit);
        }
        let _ = writeln!(out, "# HELP {} {}", gauge.name, gauge.help);
        for (folder, progress) in studies {
            if let Some(value) = (gauge.value)(progress) {
                let labels = labels(folder, progress);
                let _ = writeln!(out, "{}{{{labels}}} {value}", gauge.name);
            }
        }
    }
    bottlenecks(&mut out, studies);
    out.push_str("# EOF\n");
    out
}

/// Adds the present bottleneck of each run: a state set, 1 for the one that holds.
fn bottlenecks(out: &mut String, studies: &[(String, Progress)]) {
    let _ = write!(
        out,
        "# TYPE {BOTTLENECK} stateset\n# HELP {BOTTLENECK} What limits the run in progress.\n"
    );
    for (folder, progress) in studies {
        let limits = progress.run.as_ref().and_then(|run| run.limits.clone());
        let Some(limits) = limits else {
            continue;
        };
        let labels = labels(folder, progress);
        for bottleneck in Bottleneck::ALL {
            let (name, holds) = (
                bottleneck_name(bottleneck),
                u8::from(bottleneck == limits.bottleneck),
            );
            let _ = writeln!(
                out,
                "{BOTTLENECK}{{{labels},{BOTTLENECK}=\"{name}\"}} {holds}"
            );
        }
    }
}

fn labels(folder: &str, progress: &Progress) -> String {
    let run = progress.run.as_ref().map(|run| run.label.as_str());
    format!(
        "study=\"{}\",folder=\"{}\",run=\"{}\"",
        escaped(&progress.title),
        escaped(folder),
        escaped(run.unwrap_or_default())
    )
}

/// A label's value: quote, backslash and line break are escaped.
pub fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use weir_model::Utilization;
    use weir_store::progress::{Limits, RunInProgress, Second, Step};

    use super::*;

    const DASHBOARD: &str = include_str!("../../../docs/grafana-dashboard.json");

    fn running(title: &str) -> Progress {
        let text = serde_json::json!({
            "version": 1, "writer": { "pid": 1, "started_ticks": 1 },
            "title": title, "question": "", "started_at": "", "step": { "name": "measuring" },
            "runs_done": 2, "runs_total": 8, "time_left_s": 90, "run": null, "finished": [],
        });
        let mut progress: Progress = serde_json::from_value(text).unwrap();
        assert_eq!(progress.step, Step::Measuring);
        progress.run = Some(RunInProgress {
            position: 3,
            label: "innodb_doublewrite OFF".to_owned(),
            repetition: 1,
            seconds: vec![Second {
                time_s: 1.0,
                queries_per_s: 1234.5,
                latency_ms_p50: 1.0,
                latency_ms_p95: 20.0,
                latency_ms_p99: 40.0,
            }],
            limits: Some(Limits {
                bottleneck: Bottleneck::DriveWrite,
                utilization: Utilization::default(),
            }),
        });
        progress
    }

    /// Asserts the specification's ABNF for the lines that are used here.
    fn assert_valid(text: &str) {
        assert!(text.ends_with("\n# EOF\n"));
        let mut family = String::new();
        let mut families = BTreeSet::new();
        for line in text.trim_end_matches("# EOF\n").lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert!(["gauge", "stateset"].contains(&kind), "{line}");
                family = name.to_owned();
                assert!(families.insert(family.clone()), "{family} twice");
            } else if let Some(rest) = line.strip_prefix("# UNIT ") {
                let (name, unit) = rest.split_once(' ').unwrap();
                assert!(
                    name == family && name.ends_with(&format!("_{unit}")),
                    "{line}"
                );
            } else if let Some(rest) = line.strip_prefix("# HELP ") {
                assert!(rest.starts_with(&format!("{family} ")), "{line}");
            } else {
                let (name, value) = line.rsplit_once(' ').unwrap();
                value.parse::<f64>().unwrap();
                let labels = name.strip_prefix(family.as_str()).unwrap();
                let inner = labels
                    .strip_prefix('{')
                    .map(|text| text.strip_suffix('}').unwrap());
                assert!(
                    labels.is_empty() || inner.is_some_and(quotes_match),
                    "{line}"
                );
            }
        }
    }

    /// Returns true if all quotes that are not escaped come in pairs.
    fn quotes_match(labels: &str) -> bool {
        let plain = labels.replace("\\\\", "").replace("\\\"", "");
        let (begun, quotes) = (plain.matches("=\"").count(), plain.matches('"').count());
        begun >= 3 && quotes == 2 * begun && !labels.contains('\n')
    }

    #[test]
    fn the_exposition_is_openmetrics_whatever_a_study_is_called() {
        assert_valid(&exposition(&[], 0));
        let hostile = "a \"quoted\" title \\ with\na line break";
        let text = exposition(&[("results/a".to_owned(), running(hostile))], 7);
        assert_valid(&text);
        assert!(text.contains("weir_results 7\n"));
        let p99 = text
            .lines()
            .find(|line| line.starts_with("weir_run_latency_p99_seconds{"));
        assert!(p99.unwrap().ends_with(" 0.04"), "{p99:?}");
        let states = text
            .lines()
            .filter(|line| line.starts_with("weir_run_bottleneck{"));
        let (holding, others): (Vec<_>, Vec<_>) = states.partition(|line| line.ends_with(" 1"));
        assert_eq!(
            (holding.len(), others.len()),
            (1, Bottleneck::ALL.len() - 1)
        );
        assert!(
            holding[0].contains(",weir_run_bottleneck=\"drive write\"}"),
            "{holding:?}"
        );
    }

    #[test]
    fn the_dashboard_asks_for_what_there_is() {
        let text = exposition(&[("a".to_owned(), running("a"))], 1);
        let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
        let panels = dashboard["panels"].as_array().unwrap().iter();
        let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
        let asked: Vec<_> = targets
            .map(|target| target["expr"].as_str().unwrap())
            .collect();
        assert!(asked.len() > 5);
        // The others are of `weir load --metrics`.
        let of_studies = asked
            .iter()
            .filter(|expression| !expression.contains("weir_load_"));
        for expression in of_studies {
            let (name, _) = expression.split_once('{').unwrap();
            assert!(text.contains(&format!("\n{name}{{")), "{name}");
        }
    }
}
