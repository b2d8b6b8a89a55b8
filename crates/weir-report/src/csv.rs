//! One row per run for spreadsheets and data frames (RFC 4180).

use weir_model::StudyResult;

use crate::csv_columns::{Column, columns};

/// The runs of `result` in the order in which they were made; nothing rounded.
pub fn csv(result: &StudyResult) -> String {
    let columns = columns(result);
    let header = columns.iter().map(|(name, _)| field(name)).collect();
    let row = |index| {
        let fields = columns.iter().map(|(_, column)| value(column, index));
        fields.collect::<Vec<_>>()
    };
    let lines = std::iter::once(header).chain((0..result.runs.len()).map(row));
    lines.map(|line| line.join(",") + "\r\n").collect()
}

fn value(column: &Column, index: usize) -> String {
    match column {
        Column::Text(values) => field(&values[index]),
        Column::Number(values) if values[index].is_nan() => String::new(),
        Column::Number(values) => values[index].to_string(),
        Column::Count(values) => values[index].to_string(),
    }
}

/// A field, quoted where its text asks for it.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_run_is_a_row_with_its_levels_and_unrounded_numbers() {
        let result = sample::study(4, 3);
        let text = csv(&result.evidence);
        let lines: Vec<_> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 1 + result.evidence.runs.len());
        assert!(lines[0].starts_with("drive,innodb_doublewrite,repetition,started_at,"));
        let columns = lines[0].split(',').count();
        for (line, run) in lines[1..].iter().zip(&result.evidence.runs) {
            let fields: Vec<_> = line.split(',').collect();
            assert_eq!(fields.len(), columns);
            assert_eq!(
                fields[0],
                result.evidence.plan.cells[run.record.cell].levels["drive"]
            );
            let throughput: f64 = fields[5].parse().unwrap();
            assert_eq!(throughput.to_bits(), run.record.queries_per_s.to_bits());
        }
    }

    #[test]
    fn text_with_commas_and_quotes_stays_one_field() {
        assert_eq!(field("CSD, \"off\""), "\"CSD, \"\"off\"\"\"");
    }
}
