//! Tests that the answer depends on the rows only: not on threads, formats or files.

use std::io::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use robust_td_data::{Evaluation, Format, evaluate};
use serde_json::Value;

use super::log::{Folder, HEADER, Row, csv, episodes, parquet};

/// The model without what names files and rows.
fn model(evaluation: Evaluation) -> Value {
    let fit = evaluation.discount(0.95).run().unwrap();
    let mut model: Value = serde_json::from_str(&fit.model().to_json().unwrap()).unwrap();
    let findings = &mut model["model"]["solved"]["facts"]["findings"];
    for finding in findings.as_array_mut().unwrap() {
        finding["file"] = Value::Null;
        finding["row"] = Value::Null;
    }
    // The names of the files.
    model["model"]["solved"]["origin"] = Value::Null;
    assert!(model["model"]["solved"]["theta"].is_array());
    model["model"].take()
}

#[test]
fn every_number_of_threads_gives_the_same_bits() {
    let folder = Folder::new();
    let file = folder.write("log.csv", csv(&episodes(60_000, 5)));
    for features in ["standardise + bias", "fourier(order=3)"] {
        let of = |threads| model(evaluate([&file]).features(features).threads(threads));
        let expected = of(1);
        for threads in [2, 3, 8] {
            assert!(of(threads) == expected, "{features}, {threads} threads");
        }
    }
    // Sparse features, in several chunks.
    let file = folder.write("long.csv", csv(&episodes(150_000, 5)));
    let features = "tiles(tilings=4, bins=15)";
    let of = |threads| model(evaluate([&file]).features(features).threads(threads));
    let expected = of(1);
    for threads in [2, 3] {
        assert!(of(threads) == expected, "{features}, {threads} threads");
    }
    // Rows of one trajectory.
    let plain: Vec<Row> = (episodes(40_000, 6).iter())
        .map(|row| Row {
            terminated: false,
            truncated: false,
            episode: 0,
            ..*row
        })
        .collect();
    let file = folder.write("plain.csv", csv(&plain));
    let of = |threads| model(evaluate([&file]).threads(threads));
    assert!(of(1) == of(3));
}

fn ndjson(rows: &[Row]) -> String {
    let names: Vec<&str> = HEADER.split(',').collect();
    let line = |row: &Row| {
        let line = row.line();
        let fields = names.iter().zip(line.split(','));
        let fields: Vec<String> = fields.map(|(name, x)| format!("\"{name}\": {x}")).collect();
        format!("{{{}}}\n", fields.join(", "))
    };
    rows.iter().map(line).collect()
}

#[test]
fn every_format_and_every_split_gives_the_same_bits() {
    let folder = Folder::new();
    let rows = episodes(40_000, 8);
    let text = csv(&rows);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let expected = model(evaluate([folder.write("log.csv", &text)]));
    for file in [
        folder.write("log.ndjson", ndjson(&rows)),
        folder.write("log.parquet", parquet(&rows)),
        folder.write("log.csv.gz", gzip.finish().unwrap()),
    ] {
        assert!(model(evaluate([&file])) == expected, "{file}");
    }
    // Large enough for its columns to be decoded on several threads.
    let bytes = parquet(&rows);
    assert!(bytes.len() > 1 << 20, "{}", bytes.len());
    let file = folder.write("log.parquet", bytes);
    for threads in [1, 2, 20] {
        assert!(
            model(evaluate([&file]).threads(threads)) == expected,
            "{threads} threads"
        );
    }
    let other = folder.write("log.txt", &text);
    assert!(model(evaluate([&other]).format(Format::Csv)) == expected);
    for cuts in [[1, 2], [13_000, 29_999], [16_384, 32_768]] {
        let parts = [&rows[..cuts[0]], &rows[cuts[0]..cuts[1]], &rows[cuts[1]..]];
        let files = [0, 1, 2].map(|k| folder.write(&format!("part-{k}.csv"), csv(parts[k])));
        assert!(model(evaluate(files)) == expected, "{cuts:?}");
    }
    // Without next observations, episodes go on in the next file.
    let plain = |rows: &[Row]| -> String {
        let lines = csv(rows);
        let drop = |line: &str| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.drain(3..5);
            cells.join(",") + "\n"
        };
        lines.lines().map(drop).collect()
    };
    let expected = model(evaluate([folder.write("log.csv", plain(&rows))]));
    let parts = [&rows[..7_777], &rows[7_777..7_778], &rows[7_778..]];
    let files = [0, 1, 2].map(|k| folder.write(&format!("part-{k}.csv"), plain(parts[k])));
    assert!(model(evaluate(files)) == expected);
}

/// With 300 columns a record batch has fewer rows than a batch, and several threads transpose it.
#[test]
fn many_columns_give_the_same_bits() {
    let (columns, count) = (300, 5_000);
    let folder = Folder::new();
    let at = |k: usize, t: usize| ((t * (2 * k + 7)) % 1009) as f64 / 64.0 - 0.1 * k as f64;
    let cell = |k: usize, t: usize| (t != 2_500 || k != 17).then(|| at(k, t));
    let names: Vec<String> = (0..columns).map(|k| format!("obs_{k}")).collect();
    let mut text = format!("{},reward\n", names.join(","));
    for t in 0..count {
        let cells = (0..columns).map(|k| cell(k, t).map_or(String::new(), |x| x.to_string()));
        text += &format!("{},{}\n", cells.collect::<Vec<_>>().join(","), t % 5);
    }
    let column = |k: usize| Float64Array::from_iter((0..count).map(|t| cell(k, t)));
    let rewards = Float64Array::from_iter_values((0..count).map(|t| (t % 5) as f64));
    let observed = (0..columns).map(|k| (names[k].clone(), Arc::new(column(k)) as ArrayRef));
    let all = observed.chain([("reward".to_owned(), Arc::new(rewards) as ArrayRef)]);
    let records = RecordBatch::try_from_iter(all).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .set_max_row_group_row_count(Some(3_000))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), records.schema(), Some(properties)).unwrap();
    writer.write(&records).unwrap();
    let bytes = writer.into_inner().unwrap();
    assert!(bytes.len() > 1 << 20, "{}", bytes.len());
    let of = |file: &str, threads| {
        let mut model = model(evaluate([file]).threads(threads).skip_bad_rows(1));
        // The message about the bad row names the file.
        model["solved"]["facts"]["findings"] = Value::Null;
        model
    };
    let expected = of(&folder.write("log.csv", &text), 1);
    let file = folder.write("log.parquet", bytes);
    for threads in [1, 2, 20] {
        assert!(of(&file, threads) == expected, "{threads} threads");
    }
}
