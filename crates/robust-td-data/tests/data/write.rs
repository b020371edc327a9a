//! Tests that written predictions read back.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use robust_td_data::{Error, ValueFormat, ValueWriter, write_values};

const VALUES: [f64; 6] = [0.1, -1.0, 1e300, 5e-324, f64::INFINITY, 1.0 / 3.0];

#[test]
fn csv_reads_back_as_the_same_numbers() {
    let bytes = write_values(ValueFormat::Csv, Vec::new(), &VALUES).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("value"));
    let read: Vec<f64> = lines.map(|line| line.parse().unwrap()).collect();
    assert_eq!(read, VALUES);
    let nan = write_values(ValueFormat::Csv, Vec::new(), &[f64::NAN]).unwrap();
    assert_eq!(nan, b"value\nnan\n");
}

#[test]
fn parquet_reads_back_as_the_same_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("values.parquet");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ValueWriter::new(ValueFormat::Parquet, file, &["value", "twice"]).unwrap();
    let twice = VALUES.map(|value| 2.0 * value);
    writer.write(&[&VALUES[..4], &twice[..4]]).unwrap();
    writer.write(&[&VALUES[4..], &twice[4..]]).unwrap();
    writer.finish().unwrap();
    let file = std::fs::File::open(&path).unwrap();
    let mut read = [Vec::new(), Vec::new()];
    for records in ParquetRecordBatchReader::try_new(file, 100).unwrap() {
        let records = records.unwrap();
        for (name, column) in ["value", "twice"].iter().zip(&mut read) {
            let array = records.column_by_name(name).unwrap();
            column.extend_from_slice(array.as_primitive::<Float64Type>().values());
        }
    }
    assert_eq!(read, [VALUES.to_vec(), twice.to_vec()]);
}

#[test]
fn columns_must_fit() {
    let mut writer = ValueWriter::new(ValueFormat::Csv, Vec::new(), &["value"]).unwrap();
    assert!(matches!(
        writer.write(&[]),
        Err(Error::WriteShape {
            expected: 1,
            found: 0
        })
    ));
    let mut writer = ValueWriter::new(ValueFormat::Csv, Vec::new(), &["a", "b"]).unwrap();
    assert!(writer.write(&[&[1.0], &[]]).is_err());
    assert!("xlsx".parse::<ValueFormat>().is_err());
}
