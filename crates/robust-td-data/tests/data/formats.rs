//! Tests that a log is the same in every format.

use std::io::{Read, Write};

use flate2::write::GzEncoder;
use proptest::prelude::*;
use robust_td_data::{Compression, Format, ReadOptions, Source};

use crate::table::{any_table, file, read_bits, text};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A few bytes at a time, like a slow pipe.
struct Trickle(std::io::Cursor<Vec<u8>>, usize);

impl Read for Trickle {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = out.len().min(self.1);
        self.0.read(&mut out[..length])
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_format_gives_the_same_bits(table in any_table(), batch_rows in 1_usize..50, chunk in 1_usize..9) {
        let directory = tempfile::tempdir().unwrap();
        let options = ReadOptions { batch_rows, ..ReadOptions::default() };
        let read = |source| read_bits(vec![source], options.clone()).unwrap();
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let got = read(text(Format::Csv, &table.csv(false)));
        prop_assert_eq!(got.len(), table.rows.len());
        for (i, (row, got)) in table.rows.iter().zip(&got).enumerate() {
            prop_assert_eq!(&got.0, &bits(&row.obs));
            prop_assert_eq!(&got.1, &bits(&row.next_obs));
            prop_assert_eq!(got.2, row.reward.to_bits());
            prop_assert_eq!((got.3, got.4), (row.terminated, row.truncated));
            prop_assert_eq!(got.6, row.rho.to_bits());
            prop_assert_eq!(got.7, i as u64 + 1);
        }
        for (a, got_a) in table.rows.iter().zip(&got) {
            for (b, got_b) in table.rows.iter().zip(&got) {
                prop_assert_eq!(a.episode == b.episode, got_a.5 == got_b.5);
            }
        }
        for lists in [false, true] {
            let (csv, ndjson) = (table.csv(lists), table.ndjson(lists));
            prop_assert_eq!(&read(text(Format::Csv, &csv)), &got);
            prop_assert_eq!(&read(text(Format::Csv, &csv.replace('\n', "\r\n"))), &got);
            prop_assert_eq!(&read(text(Format::Csv, &format!("\u{feff}{}\n\n", csv.trim_end()))), &got);
            prop_assert_eq!(&read(text(Format::Ndjson, &ndjson)), &got);
            prop_assert_eq!(&read(file(&directory, "a.parquet", &table.parquet(lists))), &got);
            prop_assert_eq!(&read(file(&directory, "a.csv.gz", &gzip(csv.as_bytes()))), &got);
            let zstd = zstd::encode_all(ndjson.as_bytes(), 1).unwrap();
            prop_assert_eq!(&read(file(&directory, "a.jsonl.zst", &zstd)), &got);
            let pipe = Trickle(std::io::Cursor::new(csv.into_bytes()), chunk);
            let pipe = Source::stream("pipe", Format::Csv, Compression::None, pipe).unwrap();
            prop_assert_eq!(&read(pipe), &got);
        }
    }

    #[test]
    fn the_json_scanner_agrees_with_the_full_parser(table in any_table()) {
        // An escape in a field's name makes the scanner leave the line to the full parser.
        let plain = table.ndjson(true);
        let escaped = plain.replace("\"reward\"", "\"rew\\u0061rd\"");
        prop_assert_ne!(&plain, &escaped);
        let read = |t: &str| read_bits(vec![text(Format::Ndjson, t)], ReadOptions::default()).unwrap();
        prop_assert_eq!(read(&plain), read(&escaped));
    }
}

#[test]
fn quotes_hold_commas_line_feeds_and_quotes() {
    let csv = "\"obs_0\",note,reward\n1,\"a, \"\"b\"\"\nc\",2\n\"3\",plain \" quote, 4 \n";
    let rows = read_bits(vec![text(Format::Csv, csv)], ReadOptions::default()).unwrap();
    let values: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| (f64::from_bits(row.0[0]), f64::from_bits(row.2)))
        .collect();
    assert_eq!(values, [(1.0, 2.0), (3.0, 4.0)]);
}

#[test]
fn flags_are_read_as_logs_write_them() {
    let flags = "true,false,True,False,TRUE,FALSE,1,0,1.0,0.0";
    let mut csv = "obs,reward,terminated\n".to_owned();
    for flag in flags.split(',') {
        csv.push_str(&format!("1,2,{flag}\n"));
    }
    let rows = read_bits(vec![text(Format::Csv, &csv)], ReadOptions::default()).unwrap();
    let read: Vec<bool> = rows.iter().map(|row| row.3).collect();
    assert_eq!(read, [true, false].repeat(5));
}

#[test]
fn files_of_several_formats_are_one_log() {
    let directory = tempfile::tempdir().unwrap();
    let sources = vec![
        file(&directory, "1.csv", b"reward,obs_0,obs_1\n1,2,3\n"),
        file(
            &directory,
            "2.ndjson",
            b"{\"obs\": [4, 5], \"reward\": 6}\n",
        ),
        file(&directory, "3.csv", b"obs_0,obs_1,reward\n7,8,9\n"),
    ];
    let rows = read_bits(sources, ReadOptions::default()).unwrap();
    let rewards: Vec<f64> = rows.iter().map(|row| f64::from_bits(row.2)).collect();
    assert_eq!(rewards, [1.0, 6.0, 9.0]);
}
