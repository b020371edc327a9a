//! Tries logs: text, compressed text and Parquet.

use std::io::Cursor;

use robust_td_data::{
    Batch, Compression, Evaluation, Fit, Format, Log, Model, ReadOptions, Reader, Source,
};

use crate::{Verdict, refused};

/// The name of the input in messages.
const NAME: &str = "fuzzed";

pub(crate) fn csv(bytes: &[u8]) -> Verdict {
    text(bytes, Format::Csv, Compression::None)
}

pub(crate) fn ndjson(bytes: &[u8]) -> Verdict {
    text(bytes, Format::Ndjson, Compression::None)
}

pub(crate) fn gzip(bytes: &[u8]) -> Verdict {
    text(bytes, Format::Csv, Compression::Gzip)
}

pub(crate) fn zstd(bytes: &[u8]) -> Verdict {
    text(bytes, Format::Csv, Compression::Zstd)
}

fn text(bytes: &[u8], format: Format, compression: Compression) -> Verdict {
    let source = || Source::stream(NAME, format, compression, Cursor::new(bytes.to_vec()));
    let Ok(source) = source() else {
        return Verdict::Refused;
    };
    let verdict = read(source);
    if compression == Compression::None && verdict == Verdict::Accepted {
        let log = Log::stream(format, Cursor::new(bytes.to_vec()));
        if let Ok(log) = log {
            evaluate(log.skip_bad_rows(bytes.len() as u64));
        }
    }
    verdict
}

pub(crate) fn parquet(bytes: &[u8]) -> Verdict {
    let mut file = tempfile::NamedTempFile::with_prefix(NAME).expect("a temporary file");
    std::io::Write::write_all(&mut file, bytes).expect("room for a temporary file");
    let verdict = match Source::file(file.path(), Some(Format::Parquet)) {
        Ok(source) => read(source),
        Err(_) => Verdict::Refused,
    };
    if verdict == Verdict::Accepted {
        let name = file.path().display().to_string();
        evaluate(Log::files([name]).format(Format::Parquet));
    }
    verdict
}

/// Reads all rows, with bad ones skipped, and checks them.
fn read(source: Source) -> Verdict {
    let options = ReadOptions {
        skip_bad_rows: 1 << 40,
        ..ReadOptions::default()
    };
    let mut reader = match Reader::open(vec![source], options) {
        Ok(reader) => reader,
        Err(error) => return refused(&error.to_string(), NAME),
    };
    let mut batch = Batch::default();
    loop {
        match reader.read(&mut batch) {
            Ok(true) => {
                for row in 0..batch.len() {
                    assert!(batch.obs(row).iter().all(|x| x.is_finite()));
                }
                assert!(batch.rewards().iter().all(|x| x.is_finite()));
            }
            Ok(false) => break,
            Err(error) => return refused(&error.to_string(), NAME),
        }
    }
    Verdict::Accepted
}

/// Evaluates a log; the answer must read back to the same bits.
fn evaluate(log: Log) {
    let evaluation = Evaluation::new(log).discount(0.9).threads(1);
    let Ok(fit) = evaluation.run() else {
        return;
    };
    let saved = fit.model().to_json().expect("JSON");
    // A log with numbers that overflow gives a model that is refused when it is saved.
    let Ok(model) = Model::from_json(&saved) else {
        return;
    };
    assert_eq!(
        model.to_json().expect("JSON"),
        saved,
        "a model reads back to the same bits"
    );
    let restored = Fit::new(model, 0.95).expect("a fit");
    let observation = vec![0.5; restored.model().features().inputs()];
    if let (Ok(one), Ok(other)) = (fit.value(&observation), restored.value(&observation)) {
        assert!(one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan());
    }
    let _ = (
        restored.start_value(),
        restored.uncertainty(),
        restored.findings(),
        fit.report(),
    );
}
