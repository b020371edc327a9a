//! Tries logs: text, compressed text and Parquet.

use std::io::Cursor;
use std::path::Path;

use robust_td_data::{
    Batch, Compression, Error, Evaluation, Fit, Format, Log, Model, Predictions, ReadOptions,
    Reader, Result, Source,
};

use crate::{Verdict, refused, scratch};

/// The name of the input in messages.
const NAME: &str = "fuzzed";

pub(crate) fn csv(bytes: &[u8]) -> Verdict {
    text(bytes, Format::Csv)
}

pub(crate) fn ndjson(bytes: &[u8]) -> Verdict {
    text(bytes, Format::Ndjson)
}

pub(crate) fn gzip(bytes: &[u8]) -> Verdict {
    compressed(bytes, Compression::Gzip, "fuzzed.csv.gz")
}

pub(crate) fn zstd(bytes: &[u8]) -> Verdict {
    compressed(bytes, Compression::Zstd, "fuzzed.csv.zst")
}

fn stream(bytes: &[u8], format: Format, compression: Compression) -> Result<Source> {
    Source::stream(NAME, format, compression, Cursor::new(bytes.to_vec()))
}

fn text(bytes: &[u8], format: Format) -> Verdict {
    let verdict = read(stream(bytes, format, Compression::None));
    if verdict == Verdict::Accepted {
        let log = || {
            let log = Log::stream(format, Cursor::new(bytes.to_vec())).expect("a stream of text");
            log.skip_bad_rows(bytes.len() as u64)
        };
        evaluate(bytes, true, &log);
    }
    verdict
}

fn compressed(bytes: &[u8], compression: Compression, name: &str) -> Verdict {
    let verdict = read(stream(bytes, Format::Csv, compression));
    if verdict == Verdict::Accepted {
        evaluate_file(bytes, &scratch::file(name, bytes), Format::Csv);
    }
    verdict
}

pub(crate) fn parquet(bytes: &[u8]) -> Verdict {
    let path = scratch::file("fuzzed.parquet", bytes);
    let verdict = read(Source::file(&path, Some(Format::Parquet)));
    if verdict == Verdict::Accepted {
        evaluate_file(bytes, &path, Format::Parquet);
    }
    verdict
}

fn evaluate_file(bytes: &[u8], path: &Path, format: Format) {
    let name = path.display().to_string();
    let log = || {
        let log = Log::files([name.as_str()]).format(format);
        log.skip_bad_rows(1 << 40)
    };
    evaluate(bytes, false, &log);
}

/// Checks an error: not one of the program, and short.
fn understood(error: &Error) {
    assert!(error.is_invalid_input(), "{error:?}");
    refused(&error.to_string(), "");
}

/// Reads all rows, with bad ones skipped, and checks them.
fn read(source: Result<Source>) -> Verdict {
    let refused = |error: Error| {
        understood(&error);
        refused(&error.to_string(), NAME)
    };
    let source = match source {
        Ok(source) => source,
        Err(error) => return refused(error),
    };
    let options = ReadOptions {
        skip_bad_rows: 1 << 40,
        ..ReadOptions::default()
    };
    let mut reader = match Reader::open(vec![source], options) {
        Ok(reader) => reader,
        Err(error) => return refused(error),
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
            Err(error) => return refused(error),
        }
    }
    Verdict::Accepted
}

/// The evaluation of an input, which its length chooses.
fn evaluation(bytes: &[u8], log: Log) -> Evaluation {
    let evaluation = Evaluation::new(log).discount(0.9).threads(1);
    let chosen = bytes.len() % 16;
    match chosen {
        0..4 => {
            let id = ["alg1", "td-lambda", "lstd", "alg1-auto"][chosen];
            evaluation.horizon(60).phi_inf(2.0).algorithm(id)
        }
        4 => evaluation.features("tiles(tilings=2, bins=3, low=-1, high=1) + bias"),
        5 => evaluation.features("polynomial(degree=2)"),
        6 => evaluation.return_variance(),
        _ => evaluation,
    }
}

/// Evaluates a log; the answer must read back to the same bits and predict the same bits.
fn evaluate(bytes: &[u8], is_stream: bool, log: &dyn Fn() -> Log) {
    if bytes.len() % 8 == 7 {
        match log().inspect() {
            Ok(report) => assert!(serde_json::to_string(&report).is_ok()),
            Err(error) => understood(&error),
        }
    }
    let fit = match evaluation(bytes, log()).run() {
        Ok(fit) => fit,
        Err(error) => return understood(&error),
    };
    let saved = fit.model().to_json().expect("JSON");
    let model = Model::from_json(&saved);
    let model = model.unwrap_or_else(|error| panic!("a model does not read back: {error}"));
    let again = model.to_json().expect("JSON");
    assert_eq!(again, saved, "a model reads back to the same bits");
    let restored = Fit::new(model, fit.confidence()).expect("a fit");
    let shown = |fit: &Fit| {
        let mut report = fit.report();
        // A learner does not keep what was found about the rows that it read.
        if let Model::Learned(_) = fit.model() {
            report.findings.clear();
        }
        report
    };
    same(&shown(&fit), &shown(&restored));
    same(&fit.start_value(), &restored.start_value());
    match (fit.predict_log(log()), restored.predict_log(log())) {
        (Ok(one), Ok(other)) => assert_eq!(bits(&one), bits(&other)),
        (Err(one), Err(other)) => {
            understood(&one);
            assert_eq!(one.to_string(), other.to_string());
        }
        (one, other) => panic!("{:?} but restored {:?}", one.err(), other.err()),
    }
    if is_stream && bytes.len().is_multiple_of(4) {
        let resumed = Evaluation::new(log())
            .threads(1)
            .resume(restored.into_model());
        if let Err(error) = resumed.run() {
            understood(&error);
        }
    }
}

/// Compares what is shown of an answer before and after it was saved, but for what belongs to the run: its time, and its bad rows.
fn same(one: &impl std::fmt::Debug, other: &impl std::fmt::Debug) {
    let [one, other] = [format!("{one:?}"), format!("{other:?}")]
        .map(|text| without(without(text, "seconds: "), "bad_rows: "));
    assert_eq!(one, other);
}

fn without(text: String, key: &str) -> String {
    let Some(at) = text.find(key) else {
        return text;
    };
    let end = text[at..]
        .find([',', '}'])
        .map_or(text.len(), |end| at + end);
    text[..at].to_owned() + &text[end..]
}

fn bits(found: &Predictions) -> [Vec<u64>; 3] {
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect();
    [&found.values, &found.lower, &found.upper].map(|values| bits(values))
}
