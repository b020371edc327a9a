//! Tests how inputs are found.

use robust_td_data::{Error, Format, Source};

#[test]
fn patterns_are_files_in_the_order_of_their_names() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["b.csv", "a.csv.gz", "c.jsonl", "[x].csv"] {
        std::fs::write(directory.path().join(name), "").unwrap();
    }
    let path = |name: &str| directory.path().join(name).display().to_string();
    let find = |name: &str| -> Vec<String> {
        let sources = Source::find(&[path(name)], None).unwrap();
        sources
            .iter()
            .map(|source| source.name().to_owned())
            .collect()
    };
    assert_eq!(find("?.csv*"), [path("a.csv.gz"), path("b.csv")]);
    assert_eq!(find("[x].csv"), [path("[x].csv")]);
    assert_eq!(find("c.jsonl"), [path("c.jsonl")]);
    assert!(matches!(
        Source::find(&[path("*.txt")], None),
        Err(Error::NoMatch { .. })
    ));
    assert!(matches!(
        Source::find(&[path("[")], None),
        Err(Error::Pattern { .. })
    ));
    assert!(matches!(
        Source::find(&[path("***")], None),
        Err(Error::Pattern { .. })
    ));
}

#[test]
fn formats_are_told_by_names_or_given() {
    let format = |name: &str| Source::file(name, None).map(|source| source.format());
    assert_eq!(format("a.csv").unwrap(), Format::Csv);
    assert_eq!(format("a.CSV.GZ").unwrap(), Format::Csv);
    assert_eq!(format("a.ndjson.zst").unwrap(), Format::Ndjson);
    assert_eq!(format("a.parquet").unwrap(), Format::Parquet);
    assert!(matches!(format("a.txt"), Err(Error::UnknownFormat { .. })));
    assert!(matches!(
        format("a.parquet.gz"),
        Err(Error::NotAStream { .. })
    ));
    let given = Source::file("a.txt", Some("csv".parse().unwrap())).unwrap();
    assert_eq!(given.format(), Format::Csv);
    assert!(matches!(
        Source::find(&["-"], None),
        Err(Error::UnknownFormat { .. })
    ));
    assert!(matches!(
        Source::find(&["-"], Some(Format::Parquet)),
        Err(Error::NotAStream { .. })
    ));
    assert!(Source::find(&["-"], Some(Format::Csv)).unwrap()[0].is_stream());
    assert!(matches!(
        Source::find(&["-", "-"], Some(Format::Csv)),
        Err(Error::NoInput { .. })
    ));
}

#[test]
fn a_file_is_named_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(path("a.csv"), "obs_0,reward\n1,1\n2,1\n").unwrap();
    std::fs::write(path("b.csv"), "obs_0,reward\n1,1\n2,1\n").unwrap();
    assert_eq!(Source::find(&[path("*.csv")], None).unwrap().len(), 2);
    for names in [
        [path("a.csv"), path("a.csv")],
        [path("*.csv"), path("./b.csv")],
    ] {
        let refused = Source::find(&names, None).unwrap_err();
        assert!(refused.is_invalid_input());
        let words = refused.to_string();
        assert!(words.contains("rows would count twice"), "{words}");
    }
}
