//! Tests which columns and rows of a file are predicted.

use std::fmt::Write as _;
use std::path::Path;

use robust_td_data::{Error, Fit, Keep, Log, ValueFormat, evaluate};

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A log whose columns of the observation have these names.
fn fit(folder: &Path, names: [&str; 2], spec: &str) -> Fit {
    let mut text = format!("{},{},reward\n", names[0], names[1]);
    for t in 0..200_u32 {
        let (x, y) = (t * 7 % 11, t * t % 13);
        writeln!(text, "{x},{y},{}", x + 2 * y).unwrap();
    }
    let file = write(folder, "log.csv", &text);
    evaluate([file]).discount(0.5).features(spec).run().unwrap()
}

#[test]
fn numbers_of_the_layout_do_not_replace_names() {
    let folder = tempfile::tempdir().unwrap();
    let named = fit(
        folder.path(),
        ["speed", "height"],
        "standardise(speed, height) + bias",
    );
    for text in [
        "obs_0,obs_1\n1,2\n",
        "speed,obs_1\n1,2\n",
        "speed,hight\n1,2\n",
    ] {
        let error = named
            .predict(write(folder.path(), "new.csv", text))
            .unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::MissingInput { .. }), "{message}");
        assert!(
            message.contains("new.csv: no column is named "),
            "{message}"
        );
        assert!(
            message.contains("need speed, height, in this order"),
            "{message}"
        );
        assert_eq!(
            message.contains("did you mean hight?"),
            text.contains("hight"),
            "{message}"
        );
    }
    let list = write(folder.path(), "new.ndjson", "{\"obs\": [1, 2]}\n");
    assert!(named.predict(list).is_err());
    // By name in any order.
    let swapped = write(folder.path(), "new.csv", "height,t,speed\n2,0,1\n");
    assert_eq!(
        named.predict(swapped).unwrap().values,
        [named.value(&[1.0, 2.0]).unwrap()]
    );
}

#[test]
fn a_list_replaces_numbered_columns() {
    let folder = tempfile::tempdir().unwrap();
    let numbered = fit(folder.path(), ["obs_0", "obs_1"], "standardise + bias");
    let list = write(folder.path(), "new.ndjson", "{\"obs\": [1, 2]}\n");
    let expected = numbered.value(&[1.0, 2.0]).unwrap();
    assert_eq!(numbered.predict(list).unwrap().values, [expected]);
}

#[test]
fn skipped_rows_are_counted_and_the_others_keep_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let fit = fit(folder.path(), ["x", "y"], "standardise(x, y) + bias");
    let one = write(folder.path(), "one.csv", "x,y\n1,2\n1,\n3,4\nz,1\n5,6\n");
    let two = write(folder.path(), "two.csv", "x,y\nz,2\n7,8\n");
    let predicted = |files: &[&String], keep: Keep| {
        let log = Log::files(files.iter().map(|file| file.as_str()))
            .skip_bad_rows(5)
            .keep(keep);
        let (out, limits) = fit
            .write_predictions(log, ValueFormat::Csv, Vec::new())
            .unwrap();
        (String::from_utf8(out).unwrap(), limits)
    };
    let columns = |text: &str, count: usize| -> Vec<String> {
        let head = |line: &str| line.split(',').take(count).collect::<Vec<_>>().join(",");
        text.lines().map(head).collect()
    };
    let (text, limits) = predicted(&[&one], Keep::Nothing);
    assert_eq!(columns(&text, 1), ["row", "1", "3", "5"]);
    assert_eq!(limits.skipped.count(), 2);
    assert_eq!(limits.skipped.first()[0].row, 2);
    let (text, limits) = predicted(&[&one, &two], Keep::Columns(vec!["y".into()]));
    let expected: Vec<String> = ["file,row,y"]
        .map(String::from)
        .into_iter()
        .chain([(1, 2), (3, 4), (5, 6)].map(|(row, y)| format!("{one},{row},{y}")))
        .chain([format!("{two},2,8")])
        .collect();
    assert_eq!(columns(&text, 3), expected);
    assert_eq!(limits.skipped.count(), 3);
    // Without bad rows to skip the output is as before.
    let log = Log::files([two.as_str()]);
    let message = fit
        .write_predictions(log, ValueFormat::Csv, Vec::new())
        .unwrap_err();
    assert!(
        message.to_string().contains("row 1 (line 2), column x"),
        "{message}"
    );
}
