//! Tests the reports on logs.

use robust_td_data::{DataReport, FindingKind, Format, Inspector, Purpose, ReadOptions, Reader};

use crate::table::text;

fn inspect(csv: &str) -> DataReport {
    let report = |batch_rows| {
        let options = ReadOptions {
            batch_rows,
            skip_bad_rows: u64::MAX,
            ..ReadOptions::default()
        };
        Inspector::inspect(Reader::open(vec![text(Format::Csv, csv)], options).unwrap()).unwrap()
    };
    assert_eq!(report(1), report(1000), "batches must not matter");
    report(2)
}

/// Kind, count and first row of each finding.
fn findings(report: &DataReport) -> Vec<(FindingKind, u64, Option<u64>)> {
    report
        .findings
        .iter()
        .map(|f| (f.kind, f.count, f.row))
        .collect()
}

#[test]
fn a_good_log_has_its_numbers_and_no_findings() {
    let csv = "obs_0,obs_1,reward,next_obs_0,next_obs_1,terminated,episode\n\
               3,4,1,0,1,0,7\n0,1,2,6,8,0,7\n6,8,6,0,0,1,7\n1,1,3,5,2,0,8\n5,2,5,0,0,1,8\n";
    let report = inspect(csv);
    assert_eq!(report.findings, []);
    assert_eq!(
        (report.rows, report.transitions, report.left_out),
        (5, 5, 0)
    );
    let episodes = &report.episodes;
    assert_eq!(
        (episodes.count, episodes.terminated, episodes.truncated),
        (2, 2, 0)
    );
    let length = episodes.length.unwrap();
    assert_eq!((length.min, length.mean, length.max), (2.0, 2.5, 3.0));
    let reward = report.reward.unwrap();
    assert_eq!((reward.min, reward.max), (1.0, 6.0));
    assert!((reward.mean - 3.4).abs() < 1e-12);
    assert!((reward.std - 3.44_f64.sqrt()).abs() < 1e-12);
    assert_eq!(report.features[1].name, "obs_1");
    assert_eq!(
        (report.features[0].stats.min, report.features[0].stats.max),
        (0.0, 6.0)
    );
    assert_eq!(
        (report.obs_norm.unwrap().max, report.max_norm),
        (10.0, 10.0)
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["episodes"]["count"], 2);
}

#[test]
fn misaligned_next_observations_are_found() {
    // Shifted by one row: next_obs is the observation of the row itself.
    let csv = "obs,next_obs,reward\n1,1,0\n2,2,1\n3,3,0\n5,5,1\n";
    let report = inspect(csv);
    assert_eq!(
        findings(&report),
        [
            (FindingKind::Misaligned, 3, Some(1)),
            (FindingKind::NextIsSame, 4, Some(1)),
            (FindingKind::EpisodesWithoutEnd, 1, Some(4))
        ]
    );
    assert!(report.findings[0].message.contains("never"));
    let csv = "obs,next_obs,reward\n1,2,0\n2,3,1\n4,5,0\n5,6,1\n";
    assert_eq!(
        findings(&inspect(csv)),
        [
            (FindingKind::Misaligned, 1, Some(2)),
            (FindingKind::EpisodesWithoutEnd, 1, Some(4))
        ]
    );
}

#[test]
fn bad_values_are_counted_by_kind() {
    let csv = "obs,reward\n1,1\n,2\n3,nan\n4,\n5,x\n7,3\n8,4\n";
    let report = inspect(csv);
    assert_eq!(
        findings(&report),
        [
            (FindingKind::MissingValues, 2, Some(2)),
            (FindingKind::NotFiniteValues, 1, Some(3)),
            (FindingKind::BadRows, 1, Some(5)),
            (FindingKind::EpisodesWithoutEnd, 1, Some(7)),
        ]
    );
    assert_eq!((report.rows, report.bad_rows.count()), (3, 4));
    assert_eq!(
        report.findings[0].message,
        "bad rows: 2; first: log: row 2 (line 3), column obs: the value is missing"
    );
}

#[test]
fn episodes_that_have_no_end_are_found() {
    let csv = "obs,reward,terminated,episode\n1,1,0,a\n2,2,0,b\n3,3,0,a\n4,4,1,b\n";
    let report = inspect(csv);
    assert_eq!(
        findings(&report),
        [(FindingKind::EpisodesWithoutEnd, 1, Some(3))]
    );
    assert_eq!((report.transitions, report.episodes.resumed), (3, 2));
    let csv = "obs,reward,terminated,episode\n1,1,1,a\n2,2,0,a\n3,3,0,a\n4,4,0,a\n5,5,0,b\n";
    assert_eq!(
        findings(&inspect(csv)),
        [
            (FindingKind::RowsAfterEnd, 2, Some(3)),
            (FindingKind::EpisodesWithoutEnd, 1, Some(5))
        ]
    );
}

#[test]
fn a_time_limit_that_is_called_termination_is_suspected() {
    let csv = "obs,reward,terminated\n1,1,0\n2,3,1\n3,2,0\n4,1,1\n5,3,0\n6,2,1\n";
    let report = inspect(csv);
    assert_eq!(
        findings(&report),
        [(FindingKind::EqualTermination, 3, None)]
    );
    assert!(
        report.findings[0]
            .message
            .contains("all 3 terminated episodes have 2 rows")
    );
}

#[test]
fn columns_without_information_are_found() {
    let csv = "obs_0,obs_1,obs_2,reward\n1,5,3,7\n2,5,5,7\n4,5,9,7\n4,5,9,7\n3,5,7,7\n0,5,1,7\n";
    let report = inspect(csv);
    assert_eq!(
        findings(&report),
        [
            (FindingKind::DuplicatedRows, 1, Some(4)),
            (FindingKind::EpisodesWithoutEnd, 1, Some(6)),
            (FindingKind::ConstantFeature, 1, Some(1)),
            (FindingKind::CollinearFeature, 1, Some(1)),
            (FindingKind::ConstantReward, 1, Some(1)),
        ]
    );
    assert_eq!(
        report.findings[3].message,
        "obs_2 is a linear function of obs_0"
    );
}

#[test]
fn a_log_without_transitions_says_so() {
    let csv = "obs,reward,episode\n1,1,1\n2,2,2\n3,3,3\n";
    let report = inspect(csv);
    assert_eq!((report.transitions, report.left_out), (0, 3));
    assert_eq!(
        findings(&report),
        [
            (FindingKind::NoTransitions, 1, Some(1)),
            (FindingKind::EpisodesWithoutEnd, 3, Some(1))
        ]
    );
}

#[test]
fn a_log_that_says_nothing_of_ends_is_named() {
    let message = |csv: &str| {
        let report = inspect(csv);
        assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
        let finding = &report.findings[0];
        assert_eq!(finding.kind, FindingKind::EpisodesWithoutEnd);
        (finding.message.clone(), finding.count, finding.row)
    };
    let all = "the value of the policy is the mean over all rows, because no row is known to start an episode";
    let run = "no column shows where episodes end (episode, terminated, truncated): the rows are read as one run";
    assert_eq!(
        message("obs,reward\n1,1\n2,3\n5,2\n"),
        (
            format!("{run}; its last row has no successor, so no transition starts there; {all}"),
            1,
            Some(3)
        )
    );
    assert_eq!(
        message("obs,reward,next_obs\n1,1,2\n2,3,5\n5,2,7\n"),
        (
            format!("{run}; assumed to continue after its last row; {all}"),
            1,
            Some(3)
        )
    );
    let (words, count, row) = message("obs,reward,episode\n1,1,1\n2,3,1\n5,2,2\n6,4,2\n");
    assert_eq!((count, row), (2, Some(2)));
    assert_eq!(
        words,
        "no column shows how episodes end (terminated, truncated): 2 stop; \
         their last rows have no successor, so no transition starts there"
    );
    let (words, count, row) =
        message("obs,reward,episode,truncated\n1,1,1,0\n2,3,1,0\n5,2,2,0\n6,4,2,1\n");
    assert_eq!((count, row), (1, Some(2)));
    assert_eq!(
        words,
        "1 of 2 episodes stops without being terminated or truncated; \
         its last row has no successor, so no transition starts there"
    );
}

#[test]
fn a_log_without_rewards_is_described() {
    let options = ReadOptions {
        purpose: Purpose::Inspect,
        ..ReadOptions::default()
    };
    let open = |csv: &str| Reader::open(vec![text(Format::Csv, csv)], options.clone());
    let csv = "obs,episode,terminated\n1,1,0\n2,1,1\n5,2,0\n7,2,0\n6,2,1\n";
    let report = Inspector::inspect(open(csv).unwrap()).unwrap();
    assert_eq!(
        (report.rows, report.transitions, report.reward),
        (5, 5, None)
    );
    assert_eq!(findings(&report), [(FindingKind::NoReward, 1, Some(1))]);
    assert!(!report.schema.reward);
    let with = Inspector::inspect(open("obs,reward\n1,2\n3,5\n").unwrap()).unwrap();
    assert_eq!(with.reward.map(|stats| stats.max), Some(5.0));
}

#[test]
fn all_rows_are_counted_once() {
    // Three interleaved episodes, bad rows, and a last row without a successor.
    let mut csv = String::from("obs_0,reward,episode,terminated\n");
    for i in 0..90 {
        let reward = if i % 40 == 17 {
            "bad".to_owned()
        } else {
            (i % 7).to_string()
        };
        csv += &format!("{},{reward},{},{}\n", i % 11, (i / 2) % 3, u8::from(i > 80));
    }
    csv += "1,1,5,0\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.csv");
    std::fs::write(&path, csv).unwrap();
    let name = path.display().to_string();
    let report = robust_td_data::inspect([&name]).unwrap();
    let expected = (report.rows, report.transitions, report.left_out);
    assert_eq!(report.rows + report.bad_rows.count(), 91);
    assert_eq!(report.rows, report.transitions + report.left_out);
    for algorithm in ["auto", "lstd"] {
        let fit = robust_td_data::evaluate([&name])
            .discount(0.5)
            .algorithm(algorithm)
            .skip_bad_rows(2)
            .run()
            .unwrap();
        let found = fit.report();
        assert_eq!(
            (found.rows, found.steps, found.left_out),
            expected,
            "{algorithm}"
        );
    }
}

#[test]
fn one_is_counted_in_the_singular() {
    let csv = "obs,reward,terminated,truncated\n1,1,0,0\n1,1,0,0\n2,3,1,1\n";
    let messages: Vec<String> = (inspect(csv).findings.into_iter())
        .map(|finding| finding.message)
        .collect();
    assert_eq!(
        messages,
        [
            "1 row equals the row before it; if it was written twice, remove the copy",
            "1 row is both terminated and truncated; it is read as terminated"
        ]
    );
}

/// Rows that stay where they are may repeat; rows that move elsewhere and are there again do not.
#[test]
fn states_that_repeat_are_not_copies() {
    let of = |report: &DataReport| {
        let kinds = report.findings.iter();
        kinds
            .filter(|found| found.kind == FindingKind::DuplicatedRows)
            .map(|found| (found.count, found.row))
            .next()
    };
    let stays = inspect("obs,next_obs,reward,terminated\n1,1,0,0\n1,1,0,0\n1,2,0,0\n2,3,1,1\n");
    assert_eq!(of(&stays), None);
    let copied = inspect("obs,next_obs,reward,terminated\n1,2,0,0\n1,2,0,0\n2,3,1,1\n2,3,1,1\n");
    assert_eq!(of(&copied), Some((2, Some(2))));
    // Without next observations: a few states, and numbers of which some are written twice.
    let few: String = (0..60).map(|k| format!("{},0\n", k * k % 7)).collect();
    let repeated: String = (0..60)
        .map(|k| format!("{}\n0,0\n", few.lines().nth(k).unwrap_or_default()))
        .collect();
    assert_eq!(of(&inspect(&format!("obs,reward\n{repeated}"))), None);
    let twice: String = (0..60).map(|k| format!("0.{k},0\n0.{k},0\n")).collect();
    assert_eq!(
        of(&inspect(&format!("obs,reward\n{twice}"))),
        Some((60, Some(2)))
    );
}

#[test]
fn many_columns_of_a_kind_are_counted() {
    let log = |columns: usize| {
        let names: Vec<String> = (0..columns).map(|k| format!("obs_{k}")).collect();
        let row = vec!["1"; columns].join(",");
        let rows: String = (0..5).map(|k| format!("{row},{k}\n")).collect();
        format!("{},reward\n{rows}", names.join(","))
    };
    let constant = |columns| {
        let report = inspect(&log(columns));
        let found = report.findings.into_iter();
        found
            .filter(|found| found.kind == FindingKind::ConstantFeature)
            .map(|found| (found.message, found.count))
            .collect::<Vec<_>>()
    };
    assert_eq!(constant(9).len(), 9);
    assert_eq!(constant(9)[8], ("obs_8 is 1 in every row".to_owned(), 1));
    let many = constant(40);
    assert_eq!(many.len(), 9);
    assert_eq!(
        many[8],
        ("the same holds for 32 more columns".to_owned(), 32)
    );
}
