//! Tests the messages about every kind of bad row.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use robust_td_data::{Batch, Error, Format, ReadOptions, Reader, Source};

use crate::table::{file, parquet_of, read_bits, text};

fn message(sources: Vec<Source>) -> String {
    read_bits(sources, ReadOptions::default())
        .unwrap_err()
        .to_string()
}

fn csv(rows: &str) -> String {
    let header = "obs_0,obs_1,reward,terminated,rho,episode";
    message(vec![text(
        Format::Csv,
        &format!("{header}\n1,2,3,0,1,a\n{rows}"),
    )])
}

fn csv_list(rows: &str) -> String {
    message(vec![text(
        Format::Csv,
        &format!("obs,reward\n\"[1,2]\",3\n{rows}"),
    )])
}

fn ndjson(rows: &str) -> String {
    let first = r#"{"obs": [1, 2], "reward": 3, "terminated": false, "episode": 0}"#;
    message(vec![text(Format::Ndjson, &format!("{first}\n{rows}"))])
}

#[test]
fn bad_rows_of_csv() {
    let messages = [
        csv("1,abc,3,0,1,a\n"),
        csv("\n\n1,2,,0,1,a\n"),
        csv("1,nan,3,0,1,a\n"),
        csv("1,2,inf,0,1,a\n"),
        csv("1,2,1e999,0,1,a\n"),
        csv("1,2,3,maybe,1,a\n"),
        csv("1,2,3,2,1,a\n"),
        csv("1,2,3,,1,a\n"),
        csv("1,2,3,0,-1,a\n"),
        csv("1,2,3,0,1,\n"),
        csv("1,2,3,0,1,nan\n"),
        csv("1,2,3,0,1\n"),
        csv("1,2,3,0,1,a,9\n"),
        csv("1,2,3,0,1,\"a\n1,2,3,0,1,a\n"),
        csv("1,2,3,0,1,\"a\"b\n"),
        csv(&format!("1,{},3,0,1,a\n", "x".repeat(100))),
        csv_list("\"[1,2,3]\",4\n"),
        csv_list("\"[1,x]\",4\n"),
        csv_list("5,4\n"),
        csv_list("\"[]\",4\n"),
        csv_list(",4\n"),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn bad_rows_of_ndjson() {
    let messages = [
        ndjson(r#"{"obs": [1, "x"], "reward": 3, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1, NaN], "reward": 3, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1, null], "reward": 3, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1], "reward": 3, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": 1, "reward": 3, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1, 2], "reward": Infinity, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1, 2], "reward": -1e999, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1, 2], "reward": {}, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1, 2], "reward": null, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1, 2], "reward": 3, "terminated": "maybe", "episode": 0}"#),
        ndjson(r#"{"obs": [1, 2], "reward": 3, "terminated": 0.5, "episode": 0}"#),
        ndjson(r#"{"obs": [1, 2], "reward": 3, "terminated": false, "episode": [0]}"#),
        ndjson(r#"{"obs": [1, 2], "reward": 3, "terminated": false}"#),
        ndjson(r#"{"obs": [1, 2], "reward": 3, "terminated": false, "episode": 0, "reward": 3}"#),
        ndjson(
            r#"{"obs": [1, 2], "reward": 3, "terminated": false, "episode": 0, "truncated": true}"#,
        ),
        ndjson(r#"{"obs": [1, 2], "reward": 3, "terminated": false, "episode": 0"#),
        ndjson(r#"{"obs": [1, 2], "reward": 3., "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1, 2], "reward": 03, "terminated": false, "episode": 0}"#),
        ndjson(r#"{"obs": [1, 2], "reward": 3, "terminated": false, "episode": 0} x"#),
        ndjson(r#"{"obs": [1, 2], "reward": 3, "terminated": false, "episode": 0, "note": abc}"#),
        ndjson("[1, 2, 3]"),
        message(vec![text(
            Format::Ndjson,
            "{\"obs\": 1, \"reward\": 2}\n{\"obs\": 1, \"reward\": 2, \"done\": true}\n",
        )]),
        message(vec![text(
            Format::Ndjson,
            "{\"obs_0\": 1, \"reward\": 2}\n{\"obs_0\": 1, \"obs_1\": 1, \"reward\": 2}\n",
        )]),
        message(vec![text(Format::Ndjson, "{\"obs\": [1], reward: 2}\n")]),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn the_first_of_several_faults_is_named_in_the_order_of_roles() {
    for (row, column, part) in [
        (r#"{"obs": [1], "reward": 3}"#, "obs", "1 entry"),
        (r#"{"obs": [1, 2, 3], "reward": "x"}"#, "obs", "3 entries"),
        (r#"{"obs": [1, null], "reward": 3}"#, "obs", "missing"),
        (r#"{"obs": [1, 2], "episode": []}"#, "reward", "missing"),
        (r#"{"obs": [1, 2], "reward": 3}"#, "terminated", "missing"),
    ] {
        let message = ndjson(row);
        let place = format!("log: row 2 (line 2), column {column}: ");
        assert!(
            message.starts_with(&place) && message.contains(part),
            "{row}: {message}"
        );
    }
}

/// A Parquet file in which row 2 of a column is bad.
fn parquet(change: &str) -> String {
    let mut lists = ListBuilder::new(Float64Builder::new());
    let second = match change {
        "ragged" => vec![Some(1.0)],
        "null-entry" => vec![Some(1.0), None],
        "nan-entry" => vec![Some(1.0), Some(f64::NAN)],
        _ => vec![Some(1.0), Some(2.0)],
    };
    lists.append_value([Some(1.0), Some(2.0)]);
    lists.append_value(second);
    let reward = match change {
        "null" => Float64Array::from(vec![Some(1.0), None]),
        "infinite" => Float64Array::from(vec![1.0, f64::INFINITY]),
        _ => Float64Array::from(vec![1.0, 2.0]),
    };
    let flags: ArrayRef = match change {
        "flag" => Arc::new(StringArray::from(vec!["true", "maybe"])),
        "number-flag" => Arc::new(Float64Array::from(vec![0.0, 0.5])),
        _ => Arc::new(Float64Array::from(vec![0.0, 1.0])),
    };
    let rho: ArrayRef = match change {
        "text" => Arc::new(StringArray::from(vec!["1", "2"])),
        _ => Arc::new(Float64Array::from(vec![
            1.0,
            if change == "negative" { -0.5 } else { 0.5 },
        ])),
    };
    let obs: ArrayRef = Arc::new(lists.finish());
    let columns = [
        ("obs", obs),
        ("reward", Arc::new(reward) as ArrayRef),
        ("terminated", flags),
        ("rho", rho),
    ];
    let bytes = parquet_of(columns.map(|(name, array)| (name.to_owned(), array)).into());
    let directory = tempfile::tempdir().unwrap();
    let source = file(&directory, "log.parquet", &bytes);
    let here = format!("{}/", directory.path().display());
    message(vec![source]).replace(&here, "")
}

#[test]
fn bad_rows_of_parquet() {
    let changes = [
        "ragged",
        "null-entry",
        "nan-entry",
        "null",
        "infinite",
        "flag",
        "number-flag",
        "text",
        "negative",
    ];
    insta::assert_snapshot!(changes.map(parquet).join("\n"));
}

#[test]
fn files_that_are_cut_or_empty_or_do_not_fit() {
    let directory = tempfile::tempdir().unwrap();
    let here = format!("{}/", directory.path().display());
    let table: String = (0..2000).map(|i| format!("{i},{}\n", i * i)).collect();
    let table = format!("obs_0,reward\n{table}");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(table.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(table.as_bytes(), 1).unwrap();
    let column: ArrayRef = Arc::new(Float64Array::from(vec![1.0; 50]));
    let parquet = parquet_of(vec![
        ("obs".to_owned(), column.clone()),
        ("reward".to_owned(), column),
    ]);
    let empty: ArrayRef = Arc::new(Float64Array::from(Vec::<f64>::new()));
    let no_rows = parquet_of(vec![
        ("obs".to_owned(), empty.clone()),
        ("reward".to_owned(), empty),
    ]);
    let mut damaged = parquet.clone();
    damaged[30..60].fill(0xff);
    let one = |name: &str, bytes: &[u8]| message(vec![file(&directory, name, bytes)]);
    let two = |second: &str| {
        let first = file(
            &directory,
            "1.csv",
            b"obs_0,obs_1,reward,episode\n1,2,3,4\n",
        );
        message(vec![first, file(&directory, "2.csv", second.as_bytes())])
    };
    let list_after_columns = vec![
        file(&directory, "a.csv", b"obs_0,obs_1,reward\n1,2,3\n"),
        file(
            &directory,
            "2.ndjson",
            b"{\"obs\": [1, 2, 3], \"reward\": 3}\n",
        ),
    ];
    let messages = [
        one("cut.csv.gz", &gzip[..gzip.len() / 2]),
        one("text.csv.gz", table.as_bytes()),
        one("cut.csv.zst", &zstd[..zstd.len() / 2]),
        one("cut.parquet", &parquet[..parquet.len() / 2]),
        one("text.parquet", table.as_bytes()),
        one("empty.csv", b""),
        one("empty.ndjson", b"\n\n"),
        one("empty.parquet", b""),
        one("header.csv", b"obs_0,reward\n"),
        one("header.parquet", &no_rows),
        one("open.csv", b"obs_0,\"reward\n1,2\n"),
        two("obs_0,reward,episode\n1,2,3\n"),
        two("obs_0,obs_1,reward\n1,2,3\n"),
        two("obs_0,obs_1,reward,episode,terminated\n1,2,3,4,5\n"),
        message(list_after_columns),
        message(vec![
            Source::file(directory.path().join("none.csv"), None).unwrap(),
        ]),
    ];
    insta::assert_snapshot!(messages.join("\n").replace(&here, ""));
    let damaged = one("damaged.parquet", &damaged);
    assert!(
        damaged.contains("damaged.parquet: cannot be read beyond row "),
        "{damaged}"
    );
}

#[test]
fn a_cut_parquet_file_is_an_error_and_no_damage_panics() {
    let column: ArrayRef = Arc::new(Float64Array::from_iter_values((0..50).map(f64::from)));
    let bytes = parquet_of(vec![
        ("obs".to_owned(), column.clone()),
        ("reward".to_owned(), column),
    ]);
    let directory = tempfile::tempdir().unwrap();
    let read = |bytes: &[u8]| {
        let source = file(&directory, "damaged.parquet", bytes);
        read_bits(vec![source], ReadOptions::default())
    };
    for length in (0..bytes.len()).step_by(13) {
        assert!(read(&bytes[..length]).is_err(), "{length}");
    }
    // A changed number is a number, so some of these are read; none may crash the program.
    for at in (4..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let _ = read(&damaged);
    }
}

/// Two long names that take turns need a bit per row, and each is hashed.
#[test]
fn the_texts_of_a_parquet_file_have_a_limit() {
    const ROWS: i32 = 10_000;
    let names: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(4000), "y".repeat(4000)]));
    let turns = Int32Array::from_iter_values((0..ROWS).map(|k| k % 2));
    let names = DictionaryArray::<Int32Type>::try_new(turns, names).unwrap();
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![1.0; ROWS as usize]));
    let columns: [(&str, ArrayRef); 3] = [
        ("obs_0", numbers.clone()),
        ("reward", numbers),
        ("episode", Arc::new(names)),
    ];
    let records = RecordBatch::try_from_iter(columns).unwrap();
    let read = |batches: usize| {
        let mut writer = ArrowWriter::try_new(Vec::new(), records.schema(), None).unwrap();
        (0..batches).for_each(|_| writer.write(&records).unwrap());
        let directory = tempfile::tempdir().unwrap();
        let source = file(&directory, "names.parquet", &writer.into_inner().unwrap());
        read_bits(vec![source], ReadOptions::default())
    };
    assert_eq!(read(2).unwrap().len(), 2 * ROWS as usize);
    let message = read(15).unwrap_err().to_string();
    assert!(
        message.contains("column episode: the texts of its rows have more than 5"),
        "{message}"
    );
}

#[test]
fn bad_rows_are_skipped_up_to_the_number_allowed() {
    let table = "obs_0,reward\n1,1\nx,2\n3,nan\n4,4\n5\n6,6\n";
    let open = |skip_bad_rows| {
        let options = ReadOptions {
            skip_bad_rows,
            ..ReadOptions::default()
        };
        Reader::open(vec![text(Format::Csv, table)], options).unwrap()
    };
    let mut batch = Batch::default();
    let mut reader = open(3);
    assert!(reader.read(&mut batch).unwrap());
    assert_eq!(batch.rewards(), [1.0, 4.0, 6.0]);
    assert_eq!(batch.row_numbers(), [1, 4, 6]);
    assert_eq!(batch.gaps(), [false, true, true]);
    let bad = reader.bad_rows();
    assert_eq!(bad.count(), 3);
    let places: Vec<u64> = bad.first().iter().map(|fault| fault.row).collect();
    assert_eq!(places, [2, 3, 5]);
    assert_eq!(bad.kinds().len(), 3);

    let error = open(2).read(&mut batch).unwrap_err();
    assert_eq!(
        error.to_string(),
        "log: row 5 (line 6): 1 fields, but the header has 2; \
         2 bad rows were already skipped, the maximum allowed"
    );
    assert!(matches!(
        open(0).read(&mut batch),
        Err(Error::BadRow { .. })
    ));
}

#[test]
fn a_bad_first_row_does_not_set_the_length_of_lists() {
    let table = "{\"obs\": [1, null, 3], \"reward\": 1}\n{\"obs\": [1, 2], \"reward\": 1}\n";
    let options = ReadOptions {
        skip_bad_rows: 1,
        ..ReadOptions::default()
    };
    let rows = read_bits(vec![text(Format::Ndjson, table)], options).unwrap();
    assert_eq!((rows.len(), rows[0].0.len()), (1, 2));
}

/// The columns are those of the first line that has all that are needed.
#[test]
fn first_lines_without_the_columns_are_bad_rows() {
    let rows = "{\"obs_0\": 1, \"reward\": 2}\n{\"obs_0\": 3, \"reward\": 4}\n";
    let allowing = |skip_bad_rows| ReadOptions {
        skip_bad_rows,
        ..ReadOptions::default()
    };
    for first in ["{\"obs_0\": null}\n", "{}\n", "{}\nbad\n{\"obs_0\": 1}\n"] {
        let source = text(Format::Ndjson, &format!("{first}{rows}"));
        let mut reader = Reader::open(vec![source], allowing(3)).unwrap();
        let (mut batch, mut rewards) = (Batch::default(), Vec::new());
        while reader.read(&mut batch).unwrap() {
            rewards.extend_from_slice(batch.rewards());
        }
        assert_eq!(rewards, [2.0, 4.0], "{first}");
        let bad = reader.bad_rows();
        assert_eq!(bad.count(), first.lines().count() as u64);
        assert_eq!((bad.first()[0].row, bad.first()[0].line), (1, Some(1)));
        let refused = |options| {
            let source = text(Format::Ndjson, &format!("{first}{rows}"));
            read_bits(vec![source], options).unwrap_err().to_string()
        };
        let message = refused(allowing(0));
        let expected = match first.starts_with("{}") {
            true => "no column obs or obs_0 for the role obs; the file has no columns",
            false => "no column reward for the role reward; the file has obs_0",
        };
        assert!(message.contains(expected), "{message}");
    }
    // A column that no line has is named, whatever may be skipped.
    let without = "{}\n".to_owned() + &"{\"obs_0\": 1}\n".repeat(2000);
    for options in [allowing(5), allowing(1_000_000)] {
        let message = read_bits(vec![text(Format::Ndjson, &without)], options).unwrap_err();
        let expected = "no column reward for the role reward; the file has obs_0";
        assert!(message.to_string().contains(expected), "{message}");
    }
}
