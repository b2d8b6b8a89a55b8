//! One row per run as an Apache Parquet file, for `DuckDB`, `ClickHouse` or Spark.
//!
//! Built with the cargo feature `parquet` only: the library takes as long to build as half of Weir.

use std::sync::Arc;

use ::parquet::basic::{ConvertedType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::{Type, TypePtr};
use weir_model::StudyResult;

use crate::ReportError;
use crate::run_table::{Column, columns};

/// The bytes of the file; the columns are those of [`crate::csv`].
///
/// # Errors
/// If the rows cannot be encoded.
pub fn parquet(result: &StudyResult) -> Result<Vec<u8>, ReportError> {
    write(&columns(result)).map_err(|error| ReportError::Parquet(error.to_string()))
}

fn write(columns: &[(String, Column)]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(|(name, column)| field(name, column));
    let schema = Type::group_type_builder("runs")
        .with_fields(fields.collect::<Result<_, _>>()?)
        .build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    let mut rows = writer.next_row_group()?;
    for (_, column) in columns {
        if let Some(open) = rows.next_column()? {
            fill(open, column)?;
        }
    }
    rows.close()?;
    writer.into_inner()
}

fn field(name: &str, column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, converted) = match column {
        Column::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        Column::Number(_) => (Physical::DOUBLE, ConvertedType::NONE),
        Column::Count(_) => (Physical::INT64, ConvertedType::UINT_64),
    };
    let field = Type::primitive_type_builder(name, physical)
        .with_converted_type(converted)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    Ok(Arc::new(field))
}

fn fill(mut open: SerializedColumnWriter<'_>, column: &Column) -> Result<(), ParquetError> {
    match column {
        Column::Text(values) => {
            let values: Vec<ByteArray> = values.iter().map(|text| text.as_str().into()).collect();
            open.typed::<ByteArrayType>()
                .write_batch(&values, None, None)?
        }
        Column::Number(values) => open.typed::<DoubleType>().write_batch(values, None, None)?,
        Column::Count(values) => {
            let values: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
            open.typed::<Int64Type>().write_batch(&values, None, None)?
        }
    };
    open.close()
}

#[cfg(test)]
mod tests {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use crate::sample;

    #[test]
    fn what_is_read_back_is_what_was_measured() {
        let result = sample::study(4, 3);
        let file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut &file, &parquet(&result.evidence).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), result.evidence.runs.len());
        for (row, run) in rows.iter().zip(&result.evidence.runs) {
            let value = |wanted: &str| {
                let mut columns = row.get_column_iter();
                columns
                    .find(|(name, _)| *name == wanted)
                    .unwrap()
                    .1
                    .to_string()
            };
            let drive = &result.evidence.plan.cells[run.record.cell].levels["drive"];
            assert_eq!(value("drive"), format!("\"{drive}\""));
            assert_eq!(value("repetition"), run.record.repetition.to_string());
            let throughput: f64 = value("queries_per_s").parse().unwrap();
            assert!((throughput / run.record.queries_per_s - 1.0).abs() < 1e-9);
        }
    }
}
