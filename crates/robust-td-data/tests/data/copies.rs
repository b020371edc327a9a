//! Tests findings about files that repeat others, and about columns that may name episodes.

use std::path::Path;

use robust_td_data::{DataReport, Finding, FindingKind, inspect};

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn found(report: &DataReport, kind: FindingKind) -> Option<&Finding> {
    report.findings.iter().find(|finding| finding.kind == kind)
}

fn rows(from: u32) -> String {
    let rows =
        (from..from + 50).map(|t| format!("{},{},{}\n", t * 7 % 11, t % 5, u8::from(t % 10 == 9)));
    format!("obs_0,reward,terminated\n{}", rows.collect::<String>())
}

#[test]
fn a_copy_under_another_name_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] =
        [("a.csv", 0), ("b.csv", 33)].map(|(name, from)| write(folder.path(), name, &rows(from)));
    // The same rows in another format of numbers.
    let copy = write(
        folder.path(),
        "copy.csv",
        &rows(0).replace(",0\n", ",0.0\n"),
    );
    let report = inspect([&a, &b, &copy]).unwrap();
    let finding = found(&report, FindingKind::CopiedFiles).unwrap();
    assert_eq!(finding.file.as_deref(), Some(copy.as_str()));
    let expected = format!("{copy} has the same 50 rows as {a}");
    assert!(
        finding.message.starts_with(&expected),
        "{}",
        finding.message
    );
    assert_eq!(
        found(&inspect([&a]).unwrap(), FindingKind::CopiedFiles),
        None
    );
    // One reward differs.
    let other = write(
        folder.path(),
        "other.csv",
        &rows(0).replacen("7,1,0", "7,2,0", 1),
    );
    assert_eq!(
        found(&inspect([&a, &other]).unwrap(), FindingKind::CopiedFiles),
        None
    );
    // One observation differs, in a row that is compared.
    let other = write(
        folder.path(),
        "other.csv",
        &rows(0).replacen("\n0,0,0", "\n1,0,0", 1),
    );
    assert_eq!(
        found(&inspect([&a, &other]).unwrap(), FindingKind::CopiedFiles),
        None
    );
}

#[test]
fn a_column_that_may_name_episodes_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let log = |header: &str| {
        let rows: String = (0..40)
            .map(|t| format!("{},{},{}\n", t % 4, t * 7 % 11, t % 3))
            .collect();
        let file = write(folder.path(), "log.csv", &format!("{header}\n{rows}"));
        inspect([file]).unwrap()
    };
    let report = log("user_id,obs_0,reward");
    let finding = found(&report, FindingKind::EpisodeColumnUnused).unwrap();
    assert!(
        finding
            .message
            .contains("if the column user_id names episodes"),
        "{}",
        finding.message
    );
    for header in ["episode,obs_0,reward", "t,obs_0,reward"] {
        assert_eq!(found(&log(header), FindingKind::EpisodeColumnUnused), None);
    }
}

#[test]
fn a_column_that_may_name_clusters_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..40)
        .map(|t| format!("{},{},{},{}\n", t / 10, t / 20, t * 7 % 11, t % 3))
        .collect();
    let log = |header: &str| {
        let file = write(folder.path(), "log.csv", &format!("{header}\n{rows}"));
        inspect([file]).unwrap()
    };
    let kind = FindingKind::ClusterColumnUnused;
    let report = log("episode,UserId,obs_0,reward");
    let message = &found(&report, kind).unwrap().message;
    assert!(message.contains("column UserId resemble"), "{message}");
    for header in ["episode,t,obs_0,reward", "t,user,obs_0,reward"] {
        assert_eq!(found(&log(header), kind), None, "{header}");
    }
}
