//! The table as Parquet, for programs: columns have types, and those of metrics may have nulls.
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::result_table::{Cells, Table};

/// The bytes of the file.
pub fn of(table: &Table) -> Result<Vec<u8>> {
    let columns = table.columns();
    let fields: Result<Vec<_>> = columns
        .iter()
        .map(|(name, cells)| field(name, cells))
        .collect();
    let schema = Type::group_type_builder("sweep")
        .with_fields(fields?)
        .build()?;
    let properties = WriterProperties::builder()
        .set_created_by(format!("flick {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, cells) in &columns {
        let Some(mut column) = group.next_column()? else {
            break;
        };
        match cells {
            Cells::Text(all) => {
                let all: Vec<ByteArray> = all.iter().map(|text| text.as_str().into()).collect();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&all, None, None)?;
            }
            Cells::Real(all) => {
                let (values, levels) = present(all);
                let column = column.typed::<DoubleType>();
                column.write_batch(&values, Some(&levels), None)?;
            }
            Cells::Whole(all) => {
                let (values, levels) = present(all);
                let column = column.typed::<Int64Type>();
                column.write_batch(&values, Some(&levels), None)?;
            }
            Cells::Truth(all) => {
                let (values, levels) = present(all);
                let column = column.typed::<BoolType>();
                column.write_batch(&values, Some(&levels), None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

/// The values that are there, and for each row whether it has one.
fn present<T: Copy>(all: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let levels = all.iter().map(|value| i16::from(value.is_some())).collect();
    (all.iter().flatten().copied().collect(), levels)
}

fn field(name: &str, cells: &Cells) -> Result<Arc<Type>> {
    let (physical, logical, repetition) = match cells {
        Cells::Text(_) => (
            Physical::BYTE_ARRAY,
            Some(LogicalType::String),
            Repetition::REQUIRED,
        ),
        Cells::Real(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        Cells::Whole(_) => (Physical::INT64, None, Repetition::OPTIONAL),
        Cells::Truth(_) => (Physical::BOOLEAN, None, Repetition::OPTIONAL),
    };
    let field = Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()?;
    Ok(Arc::new(field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_table::sample;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn a_reader_finds_the_rows_again() {
        let bytes = of(&sample()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(file.path()).unwrap()).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap())
            .collect();
        assert_eq!(rows.len(), 6);
        assert_eq!(rows[1].get_string(0).unwrap(), "a,b");
        assert_eq!(rows[1].get_double(7).unwrap(), 2.5);
        assert_eq!(rows[1].get_long(8).unwrap(), 2);
        assert!(rows[1].get_bool(16).unwrap());
        assert!(rows[3].get_double(7).is_err(), "a null");
        assert_eq!(rows[3].get_string(17).unwrap(), "failed");
    }
}
