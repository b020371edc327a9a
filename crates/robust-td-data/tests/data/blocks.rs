//! Tests that parsing CSV files on several threads changes nothing.

use std::fmt::Write as _;
use std::io::Write as _;

use robust_td_data::{Batch, Format, ReadOptions, Reader, Source};

/// What reading a file gives: all numbers as bits with the places of rows, the bad rows, and the error at the end.
fn read(text: &str, threads: usize, skip_bad_rows: u64) -> Found {
    read_bytes(text.as_bytes(), ".csv", threads, skip_bad_rows)
}

type Found = (Vec<[u64; 10]>, Vec<String>, String);

fn read_bytes(bytes: &[u8], suffix: &str, threads: usize, skip_bad_rows: u64) -> Found {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let path = file.path().to_str().unwrap();
    let sources = vec![Source::file(path, Some(Format::Csv)).unwrap()];
    let options = ReadOptions {
        threads,
        skip_bad_rows,
        batch_rows: 1000,
        ..ReadOptions::default()
    };
    let mut reader = match Reader::open(sources, options) {
        Ok(reader) => reader,
        Err(error) => {
            let message = error.to_string().replace(path, "log.csv");
            return (Vec::new(), Vec::new(), message);
        }
    };
    let (mut rows, mut batch) = (Vec::new(), Batch::default());
    let end = loop {
        match reader.read(&mut batch) {
            Ok(false) => break String::new(),
            Err(error) => break error.to_string().replace(path, "log.csv"),
            Ok(true) => {}
        }
        assert!(batch.len() <= 1000);
        for i in 0..batch.len() {
            rows.push([
                batch.obs(i)[0].to_bits(),
                batch.obs(i)[1].to_bits(),
                batch.next_obs(i).map_or(0, |next| next[1].to_bits()),
                batch.rewards()[i].to_bits(),
                u64::from(batch.terminated()[i]),
                u64::from(batch.truncated()[i]),
                batch.episodes()[i],
                batch.ratios()[i].to_bits(),
                batch.row_numbers()[i],
                u64::from(batch.gaps()[i]),
            ]);
        }
    };
    let bad = reader.bad_rows();
    let faults = bad
        .first()
        .iter()
        .map(|fault| fault.to_string().replace(path, "log.csv"));
    (rows, faults.collect(), end)
}

/// A file of some 3 megabytes whose line `t` may be replaced.
fn log(end: &str, line: impl Fn(usize) -> Option<String>) -> String {
    let mut text = format!("obs_0,obs_1,skipped,reward,terminated,episode,rho{end}");
    for t in 0..50_000 {
        let plain = || {
            let x = (t as f64 * 0.37).sin();
            let y = (t * 7919 % 1013) as f64 / 8.0;
            let ends = t % 97 == 96;
            format!(
                "{x},{y},word,{:.3},{},e{},1.5",
                x * y,
                u8::from(ends),
                t / 97
            )
        };
        write!(text, "{}{end}", line(t).unwrap_or_else(plain)).unwrap();
    }
    text
}

#[test]
fn rows_and_messages_do_not_depend_on_threads() {
    let at = |places: &'static [usize], line: &'static str| {
        move |t: usize| places.contains(&t).then(|| line.to_owned())
    };
    let several: &[usize] = &[3, 20_000, 20_001, 49_999];
    let logs = [
        ("plain", log("\n", |_| None)),
        ("returns", log("\r\n", |_| None)),
        ("blank lines", log("\n", at(several, ""))),
        (
            "comments",
            log("\n", at(several, "# a comment, with commas")),
        ),
        (
            "quotes",
            log("\n", at(several, "\"1\",2,\"a, b\",3,0,\"e\"\"1\",1")),
        ),
        (
            "line feeds",
            log("\n", at(several, "1,2,\"a\nb\n\nc\",3,0,e,1")),
        ),
        ("bad cells", log("\n", at(several, "1,x,word,3,0,e,1"))),
        ("short rows", log("\n", at(several, "1,2,word"))),
        ("missing cells", log("\n", at(several, "1,,word,3,0,e,1"))),
        (
            "negative ratios",
            log("\n", at(several, "1,2,word,3,0,e,-1")),
        ),
        (
            "an open quote",
            log("\n", at(&[30_000], "1,2,\"word,3,0,e,1")),
        ),
        (
            "a long line",
            log("\n", |t| {
                (t == 25_000).then(|| format!("1,2,{},3,0,e,1", "w".repeat(3 << 20)))
            }),
        ),
        ("no line end", log("\n", |_| None).trim_end().to_owned()),
        ("half a row", log("\n", |_| None) + "1,2,word,3,0,e,"),
    ];
    for (name, text) in &logs {
        assert!(text.len() > 1 << 21, "{name}: long enough for threads");
        for skipped in [0, 1000] {
            let one = read(text, 1, skipped);
            for threads in [2, 5] {
                let many = read(text, threads, skipped);
                assert_eq!(many.0.len(), one.0.len(), "{name}, {threads} threads");
                assert!(
                    many == one,
                    "{name}, {threads} threads: {:?} {:?}",
                    many.1,
                    many.2
                );
            }
        }
    }
    // The logs are what they are named after.
    assert_eq!(read(&logs[0].1, 2, 0).0.len(), 50_000);
    let (_, faults, _) = read(&logs[6].1, 2, 1000);
    assert_eq!(faults.len(), 4);
    assert!(faults[1].contains("row 20001 (line 20002)"), "{faults:?}");
    let (_, _, error) = read(&logs[6].1, 2, 0);
    assert!(error.contains("row 4 (line 5), column obs_1"), "{error}");
}

/// The rows before the damage come first, and a bad one among them is the error.
#[test]
fn damaged_files_give_the_same_rows_and_messages() {
    let compressed = |text: &str| {
        let level = flate2::Compression::none();
        let mut out = flate2::write::GzEncoder::new(Vec::new(), level);
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    };
    for bad in [None, Some(100), Some(30_000)] {
        let bytes = compressed(&log("\n", |t| {
            (bad == Some(t)).then(|| "1,x,word,3,0,e,1".into())
        }));
        assert!(bytes.len() > 1 << 21, "long enough for threads");
        for end in [
            1000,
            200_000,
            bytes.len() / 2,
            bytes.len() - 100_000,
            bytes.len() - 3,
        ] {
            for skipped in [0, 5] {
                // Zeros keep the file long enough.
                let mut cut = bytes[..end].to_vec();
                cut.resize(bytes.len(), 0);
                for damaged in [&cut[..], &bytes[..end.max(3 << 19)]] {
                    let one = read_bytes(damaged, ".csv.gz", 1, skipped);
                    for threads in [2, 5] {
                        let many = read_bytes(damaged, ".csv.gz", threads, skipped);
                        assert_eq!(
                            (many.0.len(), &many.2),
                            (one.0.len(), &one.2),
                            "{bad:?} {end}"
                        );
                        assert!(many == one);
                    }
                    assert!(!one.2.is_empty());
                }
            }
        }
    }
}
