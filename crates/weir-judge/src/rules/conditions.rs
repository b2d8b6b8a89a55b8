//! R10: the data are as large as they are said to be.

use weir_model::{Finding, RuleId};

use super::{Evidence, ONLY_WARNS, Rule};
use weir_model::known_row_bytes;

pub(super) const RULE: Rule = Rule {
    id: RuleId::R10,
    title: "rows x bytes per row are the size of the data",
    checked: "Tables of sysbench's schema as loaded: their size must be rows x 256 bytes within 25 %, from 64 MiB \
              on. Bulk inserts, tables with text and other schemas are not checked: their bytes per row were not \
              measured. The report prints the data as a multiple of the buffer pool.",
    reason: "The published sysbench sets have 220 to 230 bytes per row, those with text columns 435 to 463. One \
             translation of Percona 2020 has rows that would need 2,200 bytes each, one of Percona 2010 1,800. A \
             digit was lost, and with it whether the data fit into memory.",
    remedy: "Check `data.rows` and `data.tables`. Look for compression, or for a table that was not loaded.",
    reference: "Percona on ScaleFlux, 2020 (docs/studies/scaleflux-csd2000.md); Percona, \"Should I buy a Fast SSD \
                or more memory?\", 2010 (docs/studies/memory-or-ssd.md)",
    severities: ONLY_WARNS,
    study: |evidence| check(evidence).into_iter().collect(),
    ..Rule::NONE
};

const TOLERANCE: f64 = 0.25;
const BYTES_MIN: u64 = 64 << 20;

fn check(evidence: &Evidence<'_>) -> Option<Finding> {
    let result = evidence.result;
    // The size that is kept is that of the first cell's tables.
    let spec = &result.plan.cells.first()?.spec;
    // Of a snapshot or a script's tables the number of rows is not known.
    let rows = Some(spec.data.rows_total()).filter(|rows| *rows > 0)?;
    let row_bytes = known_row_bytes(&spec.workload)?;
    let expected = rows * row_bytes;
    if result.data_bytes.max(expected) < BYTES_MIN || result.data_bytes == 0 {
        return None;
    }
    let ratio = result.data_bytes as f64 / expected as f64;
    ((ratio - 1.0).abs() > TOLERANCE).then(|| {
        RULE.warning(format!(
            "the data have {:.0} bytes per row, {row_bytes} are usual; check data.rows and data.tables",
            result.data_bytes as f64 / rows as f64
        ))
    })
}
