//! Tests the types of columns as other tools write them: every file `files/categories-*` is the same log.
//!
//! - `categories-pandas.csv` and `.parquet` are by pandas 3.1: text and `category`, a time zone, a duration, integers above 2^53.
//! - `categories-polars.parquet` and `.ndjson` are by polars 2.1: `Categorical`, `Decimal`; no duration.
//! - `categories-pyarrow.parquet` is by pyarrow 26: large strings, a decimal, unsigned integers, milliseconds, text episodes, a date.

use robust_td_data::{Batch, FindingKind, Fit, Keep, Log, Purpose, ValueFormat, evaluate, inspect};

const SPEC: &str =
    "standardise(price) + one-hot(city; missing=level) + one-hot(member, shop) + bias";
const FILES: [&str; 5] = [
    "pandas.csv",
    "pandas.parquet",
    "polars.parquet",
    "polars.ndjson",
    "pyarrow.parquet",
];

fn file(name: &str) -> String {
    let folder = env!("CARGO_MANIFEST_DIR");
    format!("{folder}/tests/data/files/categories-{name}")
}

fn fit(name: &str, spec: &str) -> Fit {
    let evaluation = evaluate([file(name)]).discount(0.5).features(spec);
    evaluation.run().unwrap()
}

/// The values of one column.
fn column(name: &str, spec: &str) -> Vec<f64> {
    let fit = fit(name, spec);
    assert_eq!(fit.model().features().inputs(), 1);
    let mut log = Log::files([file(name)]).columns(
        robust_td_data::ColumnMap::parse([format!(
            "obs={}",
            fit.model().features().columns()[0].name
        )])
        .unwrap(),
    );
    let mut reader = log.open(Purpose::Predict).unwrap();
    let (mut all, mut batch) = (Vec::new(), Batch::default());
    while reader.read(&mut batch).unwrap() {
        all.extend_from_slice(batch.observations());
    }
    all
}

#[test]
fn every_tool_gives_the_same_bits() {
    let first = fit(FILES[0], SPEC);
    let theta = |fit: &Fit| -> Vec<u64> { fit.theta_bar().iter().map(|x| x.to_bits()).collect() };
    assert_eq!(
        first.feature_names()[1..6],
        [
            "one-hot(city=Bern)",
            "one-hot(city=New York)",
            "one-hot(city=Oslo, Norway)",
            "one-hot(city=Zürich)",
            "one-hot(city is missing)"
        ]
    );
    assert_eq!(
        first.feature_names()[8],
        "one-hot(shop=1152921504606846977)"
    );
    for name in FILES {
        let other = fit(name, SPEC);
        assert_eq!(theta(&other), theta(&first), "{name}");
        assert_eq!(other.feature_names(), first.feature_names(), "{name}");
        let values = first.predict(file(name)).unwrap();
        assert_eq!(values, first.predict(file(FILES[0])).unwrap(), "{name}");
        assert!(values.unseen.is_none());
    }
}

#[test]
fn times_are_seconds_and_a_finding_says_so() {
    // 2024-03-30 22:00 in Zurich is 21:00 UTC; the night has only three hours to four.
    let start = 1_711_832_400.0;
    let expected: Vec<f64> = (0..60).map(|k| start + 1800.0 * f64::from(k)).collect();
    for name in ["pandas.parquet", "polars.parquet", "pyarrow.parquet"] {
        assert_eq!(column(name, "standardise(when)"), expected, "{name}");
        let found = fit(name, "standardise(when) + bias").findings();
        let times = found.iter().find(|f| f.kind == FindingKind::TimesAsSeconds);
        let message = &times.unwrap().message;
        assert!(message.contains("when is a time: it is read as seconds since 1970-01-01 UTC"));
    }
    let stays = column("pyarrow.parquet", "standardise(stay)");
    assert_eq!(stays[..3], [2.598, 1.871, 1.268]);
    assert_eq!(column("pandas.parquet", "standardise(stay)"), stays);
    let days = column("pyarrow.parquet", "standardise(day)");
    assert_eq!(
        (days[0], days[59]),
        (19_812.0 * 86_400.0, 19_814.0 * 86_400.0)
    );
    let prices = column("pandas.csv", "standardise(price)");
    for name in ["polars.parquet", "pyarrow.parquet"] {
        assert_eq!(column(name, "standardise(price)"), prices, "{name}");
    }
}

#[test]
fn an_inspection_counts_levels() {
    for name in FILES {
        let report = inspect([file(name)]).unwrap();
        let city = report
            .categories
            .iter()
            .find(|category| category.name == "city")
            .unwrap();
        assert_eq!(
            (city.levels, city.missing, city.complete),
            (4, 2, true),
            "{name}"
        );
        assert_eq!(city.most.iter().map(|level| level.rows).sum::<u64>(), 58);
        assert!(
            report
                .features
                .iter()
                .any(|feature| feature.name == "price")
        );
        let rounded = |found: &&robust_td_data::Finding| found.kind == FindingKind::RoundedIntegers;
        let found = report.findings.iter().find(rounded).unwrap();
        assert!(
            found.message.starts_with("shop is above 2^53"),
            "{}",
            found.message
        );
    }
}

fn csv_of(name: &str, keep: Keep) -> String {
    let log = Log::files([file(name)]).keep(keep);
    let fit = fit(FILES[0], SPEC);
    let (out, limits) = fit
        .write_predictions(log, ValueFormat::Csv, Vec::new())
        .unwrap();
    assert!(limits.unseen.is_none());
    String::from_utf8(out).unwrap()
}

#[test]
fn kept_columns_are_copied() {
    let keys = || Keep::Columns(["city", "shop", "episode"].map(str::to_owned).to_vec());
    let expected = csv_of("pandas.csv", keys());
    let mut lines = expected.lines();
    assert_eq!(lines.next(), Some("city,shop,episode,value,lower,upper"));
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("Bern,1152921504606846977,0,")
    );
    assert!(expected.contains("\n\"Oslo, Norway\",11529"));
    assert_eq!(expected.lines().count(), 61);
    for name in ["pandas.parquet", "polars.parquet", "polars.ndjson"] {
        assert_eq!(csv_of(name, keys()), expected, "{name}");
    }
    assert!(csv_of("pyarrow.parquet", keys()).contains("\nBern,1152921504606846977,e0,"));
    let all = csv_of("pyarrow.parquet", Keep::All);
    let first = "0.5,Bern,81.33,true,1152921504606846977,";
    assert!(all.lines().nth(1).unwrap().starts_with(first), "{all}");
    assert!(
        all.contains(",2.598,2024-03-30T21:00:00Z,2024-03-30,e0,"),
        "{all}"
    );
}

#[test]
fn kept_columns_keep_their_types_in_parquet() {
    let fit = fit(FILES[0], SPEC);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values.parquet");
    let path = path.to_str().unwrap();
    for name in FILES {
        let log = Log::files([file(name)]).keep(Keep::All);
        let (out, _) = fit
            .write_predictions(log, ValueFormat::Parquet, Vec::new())
            .unwrap();
        std::fs::write(path, out).unwrap();
        // The copy is the log again.
        let again = evaluate([path]).discount(0.5).features(SPEC).run().unwrap();
        assert_eq!(again.theta_bar(), fit.theta_bar(), "{name}");
        assert_eq!(
            again.predict(path).unwrap(),
            fit.predict(file(name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let fit = fit(FILES[0], SPEC);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.csv");
    let text = "price,city,member,shop,value\n1,Bern,1,1152921504606846977,7\n";
    std::fs::write(&path, text).unwrap();
    let refused = |keep: Keep| {
        let log = Log::files([path.to_str().unwrap()]).keep(keep);
        let written = fit.write_predictions(log, ValueFormat::Csv, Vec::new());
        written.unwrap_err().to_string()
    };
    let message = refused(Keep::All);
    assert!(message.contains("column value cannot be kept"), "{message}");
    let message = refused(Keep::Columns(vec!["citty".into()]));
    assert!(
        message.contains("no column is named citty; did you mean city?"),
        "{message}"
    );
}
