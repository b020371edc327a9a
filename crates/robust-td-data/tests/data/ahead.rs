//! Tests that reading ahead changes nothing but the time.

use robust_td_data::{Batch, Format, ReadAhead, ReadOptions, Reader};

use crate::table::text;

fn open(csv: &str, skip_bad_rows: u64) -> Reader {
    let options = ReadOptions {
        batch_rows: 3,
        skip_bad_rows,
        ..ReadOptions::default()
    };
    Reader::open(vec![text(Format::Csv, csv)], options).unwrap()
}

/// A log whose every tenth row is bad.
fn log(rows: u32) -> String {
    let cell = |i: u32| match i % 10 {
        9 => "x".to_owned(),
        _ => i.to_string(),
    };
    let rows = (0..rows).map(|i| format!("{},{}\n", cell(i), i * i));
    ["obs,reward\n".to_owned()]
        .into_iter()
        .chain(rows)
        .collect()
}

#[test]
fn the_same_batches_come_in_the_same_order() {
    let csv = log(100);
    let mut plain = open(&csv, 10);
    let mut ahead = ReadAhead::start(open(&csv, 10)).unwrap();
    assert_eq!(ahead.schema(), plain.schema());
    assert_eq!(ahead.files(), plain.files());
    let (mut expected, mut found) = (Batch::default(), Batch::default());
    let mut batches = 0;
    while plain.read(&mut expected).unwrap() {
        assert!(ahead.read(&mut found).unwrap());
        assert_eq!(found, expected);
        // However far it has read ahead, it counts only the bad rows up to the returned batch.
        assert_eq!(ahead.bad_rows(), plain.bad_rows());
        batches += 1;
    }
    assert!(!ahead.read(&mut found).unwrap());
    // Ninety good rows in threes, and an empty batch for the bad row at the end.
    assert_eq!((ahead.bad_rows().count(), batches), (10, 31));
}

#[test]
fn an_error_comes_after_the_batches_before_it() {
    let mut ahead = ReadAhead::start(open(&log(100), 0)).unwrap();
    let mut batch = Batch::default();
    for _ in 0..3 {
        assert!(ahead.read(&mut batch).unwrap());
    }
    let error = ahead.read(&mut batch).unwrap_err().to_string();
    assert!(error.contains("row 10"), "{error}");
    // After an error the log never appears to end normally.
    assert!(ahead.read(&mut batch).is_err());
}

#[test]
fn it_can_be_left_in_the_middle() {
    let mut ahead = ReadAhead::start(open(&log(1000), 100)).unwrap();
    let mut batch = Batch::default();
    assert!(ahead.read(&mut batch).unwrap());
    assert_eq!(batch.rewards(), [0.0, 1.0, 4.0]);
}
