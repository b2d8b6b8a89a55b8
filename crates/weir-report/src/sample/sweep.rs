//! A made-up sweep of buffer pools on two drives, with prices: what the other sample has no figure for.

use std::sync::Arc;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use weir_model::{Bytes, Cell, CostRow, JudgedResult, MemoryEquivalent, PoolElasticity, Ratio};

use super::{DRIVES, spec, strings, study};
use crate::predicted_throughput::{PredictedDrive, PredictedPoint, PredictedThroughput};

/// Pools, and by how much each is quicker than a quarter of the data.
const POOLS: [(&str, f64); 6] = [
    ("128M", 0.62),
    ("256M", 1.0),
    ("512M", 1.55),
    ("768M", 2.3),
    ("1G", 3.6),
    ("1280M", 3.8),
];
/// By how much the second drive is quicker where drives matter.
const QUICKER: [f64; 6] = [2.1, 1.9, 1.7, 1.4, 1.1, 1.02];

/// Two drives x six pools x three repetitions.
pub(crate) fn sweep() -> JudgedResult {
    let mut result = study(2 * POOLS.len(), 3);
    result.evidence.plan.title = "Memory or a faster drive (synthetic example)".to_owned();
    result.evidence.plan.question =
        "Is the next euro better spent on memory or on a drive?".to_owned();
    result.evidence.plan.claims.clear();
    result.evidence.plan.cells = (0..2 * POOLS.len()).map(cell).collect();
    result.comparisons.clear();
    result.analysis.claims.clear();
    result.analysis.overall.clear();
    for run in &mut result.evidence.runs {
        let factor = factor(run.record.cell) / 4.0;
        run.record.queries_per_s *= factor;
        run.record.transactions_per_s *= factor;
        for us in [
            &mut run.record.latency.us_p50,
            &mut run.record.latency.us_p95,
            &mut run.record.latency.us_p99,
        ] {
            *us /= factor;
        }
        run.histogram = histogram(run.record.latency.us_p50);
        // A stall, and what a checkpoint looks like.
        for second in &mut run.intervals {
            second.queries = (second.queries as f64 * factor) as u64;
            if run.record.cell == 2 && (12.0..15.0).contains(&second.time_s) {
                second.queries /= 10;
            }
        }
    }
    result.analysis.costs = costs();
    result.analysis.equivalents = equivalents();
    result.analysis.elasticities = vec![PoolElasticity {
        context: strings(&[("drive", DRIVES[0].0)]),
        from: "768M".to_owned(),
        to: "1G".to_owned(),
        value: 1.56,
        low: Some(1.41),
        high: Some(1.72),
    }];
    result
}

/// Predictions for the sweep's own pools, on its drives and a third; the first drive's are held against its runs.
pub(crate) fn predicted() -> Vec<PredictedThroughput> {
    let drives = [
        (DRIVES[0].0, 1.0, true),
        (DRIVES[1].0, 1.5, false),
        ("consumer-tlc", 0.8, false),
    ];
    let point = |(pool, quicker): &(&str, f64), faster: f64, is_measured: bool| {
        let per_s = 230.0 * quicker * faster;
        PredictedPoint {
            pool_bytes: pool.parse::<Bytes>().unwrap_or_default().0,
            transactions_per_s: per_s,
            likely: Some([per_s / 1.25, per_s * 1.25]),
            measured_transactions_per_s: is_measured.then_some(per_s * 1.1),
            latency_ms_p99: Some(9_000.0 / per_s),
            miss_ratio: 0.2 / quicker,
            limit: "drive".to_owned(),
        }
    };
    let drive = |(name, faster, is_measured): (&str, f64, bool)| PredictedDrive {
        drive: name.to_owned(),
        points: POOLS
            .iter()
            .map(|pool| point(pool, faster, is_measured))
            .collect(),
    };
    vec![PredictedThroughput {
        title: "32 connections".to_owned(),
        drives: drives.map(drive).into(),
        notes: vec!["steady state, independent keys".to_owned()],
    }]
}

fn cell(index: usize) -> Cell {
    let drive = DRIVES[index % 2].0;
    let pool = POOLS[index / 2].0;
    let mut spec = spec(drive, 32);
    let size = ("innodb_buffer_pool_size".to_owned(), pool.to_owned());
    spec.primary_mut().variables.extend([size]);
    Cell {
        levels: strings(&[("drive", drive), ("innodb_buffer_pool_size", pool)]),
        spec: Arc::new(spec),
        probe: None,
        screened: None,
    }
}

fn factor(cell: usize) -> f64 {
    let quicker = if cell % 2 == 1 {
        QUICKER[cell / 2]
    } else {
        1.0
    };
    POOLS[cell / 2].1 * quicker
}

/// Latencies with the long tail that latencies have.
fn histogram(us_p50: f64) -> Vec<u8> {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    for step in 0..20_000_u32 {
        let share = (f64::from(step) + 0.5) / 20_000.0;
        let us = us_p50 * (0.5 / (1.0 - share)).powf(0.6);
        histogram.record(us as u64).unwrap();
    }
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(&histogram, &mut bytes)
        .unwrap();
    bytes
}

fn costs() -> Vec<CostRow> {
    let cost = |level: &str, pool: &str, price: f64, worth: f64, dominated| CostRow {
        factor: "drive".to_owned(),
        level: level.to_owned(),
        context: strings(&[("innodb_buffer_pool_size", pool)]),
        price,
        currency: "EUR".to_owned(),
        queries_per_s_per_price: worth,
        dominated,
    };
    vec![
        cost(DRIVES[0].0, "256M", 900.0, 1.52, false),
        cost(DRIVES[1].0, "256M", 1_250.0, 2.08, false),
        cost(DRIVES[0].0, "1280M", 900.0, 5.61, false),
        cost(DRIVES[1].0, "1280M", 1_250.0, 4.12, true),
    ]
}

fn equivalents() -> Vec<MemoryEquivalent> {
    let worth = |pool: &str, memory: Option<f64>| MemoryEquivalent {
        drive: DRIVES[1].0.to_owned(),
        baseline: DRIVES[0].0.to_owned(),
        context: strings(&[]),
        pool: pool.to_owned(),
        memory: memory.map(|ratio| Ratio {
            ratio,
            low: Some(ratio * 0.93),
            high: Some(ratio * 1.08),
        }),
        why_not: memory
            .is_none()
            .then(|| "no measured pool of intel-p4610 is as fast".to_owned()),
    };
    vec![
        worth("256M", Some(2.4)),
        worth("512M", Some(1.65)),
        worth("1280M", None),
    ]
}
