//! Tests CSV as other tools write it: every file in `files` is the same log as `files/plain.csv`.
//!
//! - `pandas-*` are by pandas 3.1 (`to_csv`): with its index, read and written again, `sep=";", decimal=","`, `sep="\t"`, `decimal=","`.
//! - `polars-*` are by polars 2.1 (`write_csv`): `separator="|"`, `decimal_comma=True`, `include_bom=True` with CRLF.
//! - `r-csv2.csv` is by hand, as `write.csv2` of R writes it: quoted names, row names without a name, decimal commas.
//! - `excel.csv` is by hand, as Excel with German settings saves "CSV UTF-8": byte order mark, CRLF, `1.234,5`.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use robust_td_data::{
    Batch, Error, Evaluation, FindingKind, Fit, Format, Log, Purpose, Table, evaluate,
};

fn file(name: &str) -> String {
    format!("{}/tests/data/files/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn theta(evaluation: Evaluation) -> Vec<u64> {
    let fit = evaluation.discount(0.9).run().unwrap();
    assert_eq!(fit.steps(), 30);
    fit.theta_bar().iter().map(|x| x.to_bits()).collect()
}

fn plain() -> Vec<u64> {
    theta(evaluate([file("plain.csv")]))
}

/// The log of a text.
fn log(text: &str) -> Log {
    Log::stream(Format::Csv, std::io::Cursor::new(text.to_owned())).unwrap()
}

/// The observations and the reward of each row, with its number.
fn rows(mut log: Log) -> Result<Vec<(Vec<f64>, f64, u64)>, Error> {
    let mut reader = log.open(Purpose::Evaluate)?;
    let (mut rows, mut batch) = (Vec::new(), Batch::default());
    while reader.read(&mut batch)? {
        for i in 0..batch.len() {
            let row = (
                batch.obs(i).to_vec(),
                batch.rewards()[i],
                batch.row_numbers()[i],
            );
            rows.push(row);
        }
    }
    Ok(rows)
}

fn refused(log: Log) -> String {
    rows(log).unwrap_err().to_string()
}

#[test]
fn files_of_other_tools_give_the_same_answer() {
    let plain = plain();
    for name in [
        "pandas-index.csv",
        "pandas-index-again.csv",
        "pandas-tab.tsv",
        "polars-pipe.csv",
        "polars-mark.csv",
    ] {
        assert_eq!(theta(evaluate([file(name)])), plain, "{name}");
    }
    for name in [
        "pandas-semicolon.csv",
        "pandas-quoted-decimal.csv",
        "polars-decimal.csv",
        "r-csv2.csv",
    ] {
        let evaluation = evaluate([file(name)]).decimal(',');
        assert_eq!(theta(evaluation), plain, "{name}");
    }
    let excel = || evaluate([file("excel.csv")]).decimal(',');
    assert_eq!(theta(excel().thousands('.')), plain);
    let words = excel().discount(0.9).run().unwrap_err().to_string();
    assert!(
        words.contains("row 1 (line 2), column obs_1: \"1.156,44\" is not a number"),
        "{words}"
    );
    // Files of different dialects are one log.
    let names = ["plain.csv", "polars-pipe.csv"].map(file);
    assert_eq!(evaluate(names).discount(0.9).run().unwrap().steps(), 60);
}

#[test]
fn a_model_remembers_the_dialect() {
    let fit = evaluate([file("r-csv2.csv")])
        .discount(0.9)
        .decimal(',')
        .run()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    fit.save(&path).unwrap();
    let fit = Fit::load(&path).unwrap();
    let bits = |fit: &Fit, name| -> Vec<u64> {
        let found = fit.predict(file(name)).unwrap();
        found.values.iter().map(|x| x.to_bits()).collect()
    };
    let values = bits(&fit, "r-csv2.csv");
    assert_eq!(bits(&fit, "pandas-semicolon.csv"), values);
    let plain = fit
        .predict_log(Log::files([file("plain.csv")]).decimal('.'))
        .unwrap();
    let plain: Vec<u64> = plain.values.iter().map(|x| x.to_bits()).collect();
    assert_eq!(plain, values);
    assert!(fit.predict(file("plain.csv")).is_err());
}

#[test]
fn compression_is_recognised_by_the_first_bytes() {
    let bytes = std::fs::read(file("plain.csv")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    let zstd = zstd::encode_all(&bytes[..], 1).unwrap();
    let expected = rows(Log::files([file("plain.csv")])).unwrap();
    for bytes in [gzip.finish().unwrap(), zstd, bytes] {
        let log = Log::stream(Format::Csv, std::io::Cursor::new(bytes)).unwrap();
        assert_eq!(rows(log).unwrap(), expected);
    }
    // A stream may start with the first byte of another kind, or end there.
    assert!(refused(log("")).contains("empty"));
    assert!(refused(log("(x),reward\n1,2\n")).contains("(x), reward"));
    assert!(refused(log("(")).contains("no rows"));
}

#[test]
fn the_separator_is_that_of_the_header_and_the_first_record() {
    let expected = [(vec![1.0, 2.0], 3.0, 1)];
    for text in [
        "obs_0;obs_1;reward\n1;2;3\n",
        "obs_0\tobs_1\treward\n1\t2\t3\n",
        "\"obs_0\"|\"obs_1\"|\"reward\"\n\"1\"|2|3\n",
        // In names, a separator is text: in quotes, or where the first record shows it.
        "\"a, b\";obs_0;obs_1;reward\n;1;2;3\n",
        "a, b;obs_0;obs_1;reward\n;1;2;3\n",
        "a;b,obs_0,obs_1,reward\nx,1,2,3\n",
        "a|b;obs_0;obs_1;reward\nx;1;2;3\n",
        "\"a;\nb\";obs_0;obs_1;reward\nx;1;2;3\n",
        "sep=;\na,b;obs_0;obs_1;reward\n1,5;1;2;3\n",
        "\u{feff}sep=|\nobs_0|obs_1|reward\n1|2|3\n",
    ] {
        assert_eq!(rows(log(text)).unwrap(), expected, "{text}");
    }
    // An empty cell before a tab is missing; the line is not blank.
    let words = refused(log("reward\tobs_0\n1\t2\n\t\n"));
    assert!(
        words.contains("row 2 (line 3), column reward: the value is missing"),
        "{words}"
    );
    // A row with another number of fields is bad, whatever separates its fields.
    let words = refused(log("obs_0,reward\n1;2\n"));
    assert!(words.contains("1 fields, but the header has 2"), "{words}");
}

#[test]
fn lines_with_a_hash_are_comments_unless_they_are_needed() {
    let expected = [(vec![1.0], 3.0, 1), (vec![2.0], 4.0, 2)];
    for text in [
        "# made by x, y\n#\nobs_0,reward\n# one\n1,3\n\n#5,6\n2,4\n# end",
        "\u{feff}# x\nobs_0;reward\n1;3\n2;4\n",
        // The only header, as NumPy writes it.
        "#obs_0,reward\n1,3\n2,4\n",
        "# made today\n# obs_0;reward\n1;3\n2;4\n",
        "#\tobs_0\treward\n1\t1\t3\n2\t2\t4\n",
    ] {
        assert_eq!(rows(log(text)).unwrap(), expected, "{text}");
    }
    // Lines are counted with comments, rows without.
    let words = refused(log("# x\nobs_0,reward\n1,3\n# y\nx,4\n"));
    assert!(words.contains("row 2 (line 5), column obs_0"), "{words}");
    // Names of episodes may start with it.
    let text = "episode,obs_0,reward\n#1,1,3\n# between\n#1,2,4\n";
    assert_eq!(rows(log(text)).unwrap(), expected);
    assert!(refused(log("# x\n")).contains("no rows"));
    assert!(refused(log("obs_0,reward\n# x\n")).contains("no rows"));
}

#[test]
fn commas_in_numbers_need_quotes_or_another_separator() {
    let words = refused(log("obs_0,reward\n1,5,2,5\n").decimal(','));
    assert_eq!(
        words,
        "stream: commas separate the fields, so a number with a comma must be in quotes (\"1,5\"); use quotes or another \
         separator, such as a semicolon"
    );
    let quoted = log("obs_0,reward\n\"1,5\",\"1.002,5\"\n")
        .decimal(',')
        .thousands('.');
    assert_eq!(rows(quoted).unwrap(), [(vec![1.5], 1002.5, 1)]);
    let grouped = log("obs_0,reward\n\"1,500\",2.5\n").thousands(',');
    assert_eq!(rows(grouped).unwrap(), [(vec![1500.0], 2.5, 1)]);
    let episodes = log("obs_0;reward;episode;terminated\n1,5;2;1,0;0,0\n2,5;2;1;1,0\n");
    assert_eq!(rows(episodes.decimal(',')).unwrap().len(), 2);
}

#[test]
fn words_for_true_and_false_are_numbers_or_say_how() {
    let text = "obs_0,reward\ntrue,1\nFALSE,True\n";
    let expected = [(vec![1.0], 1.0, 1), (vec![0.0], 1.0, 2)];
    assert_eq!(rows(log(text)).unwrap(), expected);
    let json = "{\"obs_0\": true, \"reward\": 1}\n{\"obs_0\": false, \"reward\": true}\n";
    let json = Log::stream(Format::Ndjson, json.as_bytes()).unwrap();
    assert_eq!(rows(json).unwrap(), expected);
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let table = Table::default().column("obs_0", flags).unwrap();
    let rewards: ArrayRef = Arc::new(BooleanArray::from(vec![true, true]));
    let table = Log::table(table.column("reward", rewards).unwrap());
    assert_eq!(rows(table).unwrap(), expected);
    let words = refused(log("obs_0,reward\nyes,1\n"));
    assert!(
        words.ends_with("\"yes\" is not a number (true and false are read as 1 and 0)"),
        "{words}"
    );
    let words = refused(log("obs_0;reward\n1,5;1\n"));
    let end = "\"1,5\" is not a number with a decimal point and no thousands separator";
    assert!(words.ends_with(end), "{words}");
}

#[test]
fn codes_for_missing_values_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.csv");
    let mut text = String::from("obs_0,obs_1,reward\n");
    for i in 0..40 {
        let x = if i % 10 == 3 {
            -999.0
        } else {
            f64::from(i % 7)
        };
        let reward = if i > 37 { 9999.0 } else { f64::from(i % 3) };
        text += &format!("{x},{},{reward}\n", f64::from(i % 11) * 100.0);
    }
    std::fs::write(&path, text).unwrap();
    let name = path.display().to_string();
    let report = robust_td_data::inspect([&name]).unwrap();
    let fit = evaluate([&name]).discount(0.5).run().unwrap();
    for findings in [report.findings, fit.findings().to_vec()] {
        let found: Vec<_> = (findings.iter())
            .filter(|finding| finding.kind == FindingKind::SentinelValues)
            .map(|finding| (finding.message.as_str(), finding.count, finding.row))
            .collect();
        let expected = [
            (
                "obs_0 is -999 in 4 rows, and from 0 to 6 elsewhere: if -999 stands for a missing value, remove these rows",
                4,
                Some(4),
            ),
            (
                "the reward is 9999 in 2 rows, and from 0 to 2 elsewhere: if 9999 stands for a missing value, remove these rows",
                2,
                Some(39),
            ),
        ];
        assert_eq!(found, expected);
    }
}
