//! The whole result as JSON, in the form that `docs/result.schema.json` (JSON Schema, draft 2020-12)
//! publishes.

use serde::Serialize;
use weir_model::JudgedResult;

use crate::ReportError;

/// Version of the published form. A key that is added keeps it; one that is removed, renamed or
/// means something else raises it.
const JSON_SCHEMA_VERSION: u32 = 4;

#[derive(Serialize)]
struct Document<'a> {
    json_schema_version: u32,
    #[serde(flatten)]
    result: &'a JudgedResult,
}

/// The whole result as indented JSON: everything that was measured, nothing rounded.
///
/// # Errors
/// If the result cannot be written as JSON.
pub fn json(result: &JudgedResult) -> Result<String, ReportError> {
    let document = Document {
        json_schema_version: JSON_SCHEMA_VERSION,
        result,
    };
    serde_json::to_string_pretty(&document).map_err(ReportError::Serialize)
}

#[cfg(test)]
mod schema;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use weir_model::{
        ArrivalKind, Confirmation, CostRow, DataSource, Distribution, Duration, FileWorkload,
        FingerprintComparison, FingerprintRecord, FingerprintVerdict, FoundPlace, Interaction,
        KindLatency, LatencyStatistic, MemoryEquivalent, Objective, Pace, PoolElasticity, Probe,
        Rate, RateRamp, Ratio, ReplayComparison, ReplayFidelity, ReplayRecord, Scalability,
        SearchAnswer, SearchGoal, SearchPlan, TableSize, Warmup, WorkloadSpec,
    };

    use super::*;
    use crate::sample;

    const SCHEMA: &str = include_str!("../../../docs/result.schema.json");

    /// Returns the objections of the published schema to `document`.
    fn objections(document: &Value) -> Vec<String> {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors = validator.iter_errors(document);
        errors
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }

    fn document(result: &JudgedResult) -> Value {
        serde_json::from_str(&super::json(result).unwrap()).unwrap()
    }

    /// A result in which everything that may be empty is there.
    fn full() -> JudgedResult {
        let mut result = sample::study(8, 3);
        let ratio = Ratio {
            ratio: 1.5,
            low: Some(1.4),
            high: None,
        };
        let context = result.evidence.plan.cells[0].levels.clone();
        result.evidence.plan.cells[1].probe = Some(Probe {
            of_cell: 0,
            place: 9,
            confirms: true,
        });
        fill_specs(&mut result);
        result.evidence.plan.search = Some(SearchPlan {
            goal: SearchGoal::Rate {
                objective: Objective {
                    statistic: LatencyStatistic::P99,
                    at_most: Duration::from_secs(1),
                },
            },
            factor: "rate".into(),
            low: 1,
            high: 2,
            tolerance: 0.1,
            runs: 1,
            confirm: 3,
        });
        result.searches = vec![SearchAnswer {
            of_cell: 0,
            factor: "rate".into(),
            runs: 4,
            found: vec![FoundPlace {
                meaning: "highest rate".into(),
                place: Some(1),
                below: None,
                above: Some(2),
            }],
            confirmation: Some(Confirmation {
                place: 1,
                runs: 3,
                queries_per_s: 1.0,
                queries_per_s_low: None,
                queries_per_s_high: None,
                latency_us_p99: 7.0,
                objective_kept: Some(3),
            }),
        }];
        result.analysis.interactions = vec![Interaction {
            first: "a on".into(),
            second: "b on".into(),
            neither: "a off, b off".into(),
            context: context.clone(),
            first_effect: ratio,
            second_effect: ratio,
            both_effect: ratio,
            interaction: ratio,
        }];
        result.analysis.elasticities = vec![PoolElasticity {
            context: context.clone(),
            from: "1G".into(),
            to: "2G".into(),
            value: 1.0,
            low: None,
            high: None,
        }];
        result.analysis.equivalents = vec![MemoryEquivalent {
            drive: "quick".into(),
            baseline: "slow".into(),
            context: context.clone(),
            pool: "1G".into(),
            memory: Some(ratio),
            why_not: None,
        }];
        result.analysis.scalability = vec![Scalability {
            context: context.clone(),
            lambda: 1.0,
            sigma: 0.1,
            kappa: 0.0,
            connections_min: 1,
            connections_max: 64,
            peak: None,
            relative_error: 0.01,
        }];
        result.analysis.costs = vec![CostRow {
            factor: "drive".into(),
            level: "quick".into(),
            context,
            price: 1.0,
            currency: "USD".into(),
            queries_per_s_per_price: 1.0,
            dominated: false,
        }];
        result
    }

    /// Runs with all that may be empty in most.
    fn fill_specs(result: &mut JudgedResult) {
        let spec = result.evidence.plan.cells[2].spec_mut();
        let primary = spec.primary_mut();
        primary.server.given = "mysql://app@db1:3306/sbtest".parse().ok();
        primary.limits.cpus = "0-1".parse().ok();
        primary.limits.memory = Some(weir_model::Bytes(1 << 30));
        spec.topology.set_replicas(1);
        spec.load.warmup = Warmup::UntilSteady {
            at_least: Duration::from_secs(1),
            at_most: Duration::from_secs(2),
        };
        spec.load.pace = Pace::Open(Rate {
            per_s: 100.0,
            arrivals: ArrivalKind::Constant,
            ramp: Some(RateRamp {
                from_per_s: 0.0,
                length: Duration::from_secs(9),
            }),
        });
        let spec = result.evidence.plan.cells[3].spec_mut();
        spec.workload = WorkloadSpec::File(FileWorkload {
            path: "shop.toml".into(),
            text: "[[transactions]]".into(),
            distribution: Distribution::Zipfian { exponent: 0.5 },
        });
        spec.data.source = DataSource::File {
            sizes: vec![TableSize {
                name: "customer".into(),
                rows: 7,
            }],
        };
        fill_replay(result);
        result.evidence.runs[0].kinds = vec![KindLatency {
            name: "commit".into(),
            is_statement: true,
            count: 3,
            latency: result.evidence.runs[0].record.latency,
        }];
    }

    /// A replay with all that may be empty.
    fn fill_replay(result: &mut JudgedResult) {
        let spec = result.evidence.plan.cells[3].spec_mut();
        spec.load.replay = Some(weir_model::ReplaySpec::default());
        let latency = result.evidence.runs[0].record.latency;
        result.evidence.runs[0].replay = Some(ReplayRecord {
            fidelity: ReplayFidelity {
                not_joined_why: Some("full".into()),
                ..ReplayFidelity::default()
            },
            fingerprints: vec![FingerprintRecord {
                fingerprint: "select ?".into(),
                captured_us_mean: Some(1.0),
                latency: Some(latency),
                plan: Some("t: ALL".into()),
                ..FingerprintRecord::default()
            }],
        });
        result.comparisons[0].replay = Some(ReplayComparison {
            fidelity: vec!["1 of 1".into()],
            fingerprints: vec![FingerprintComparison {
                fingerprint: "select ?".into(),
                verdict: FingerprintVerdict::NotShown,
                count: 1.0,
                share: 1.0,
                baseline_us: 1.0,
                level_us: 1.0,
                ratio: Some(1.0),
                ratio_low: None,
                ratio_high: None,
                p99_ratio: None,
                p_value: None,
                p_value_adjusted: None,
                equal_p_value_adjusted: Some(1.0),
                differs: vec!["rows".into()],
                baseline_plan: None,
                level_plan: None,
            }],
        });
    }

    #[test]
    fn the_published_form_is_that_of_the_types() {
        const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/result.schema.json");
        let made = super::schema::published();
        if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
            std::fs::write(FILE, &made).unwrap();
        }
        let kept = std::fs::read_to_string(FILE).unwrap_or_default();
        assert!(
            kept == made,
            "docs/result.schema.json is out of date; run `make schema`"
        );
    }

    #[test]
    fn results_have_the_published_form() {
        for result in [sample::study(4, 3), full()] {
            assert_eq!(objections(&document(&result)), Vec::<String>::new());
        }
    }

    #[test]
    fn the_schema_objects_to_what_is_missing_unknown_or_of_another_type() {
        let changed = |change: fn(&mut Value)| {
            let mut document = document(&sample::study(4, 3));
            change(&mut document);
            objections(&document).len()
        };
        assert_eq!(changed(|_| ()), 0);
        assert_eq!(changed(|d| d["json_schema_version"] = json!(1)), 1);
        assert_eq!(
            changed(|d| d["runs"][0]["record"]["errors"] = json!("no")),
            1
        );
        assert_eq!(changed(|d| d["comparisons"][0]["unheard_of"] = json!(1)), 1);
        assert_eq!(
            changed(|d| drop(d["plan"].as_object_mut().unwrap().remove("seed"))),
            1
        );
    }
}
