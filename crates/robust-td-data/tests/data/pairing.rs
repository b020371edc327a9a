//! Tests which rows become transitions.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use proptest::prelude::*;
use robust_td_core::learner::Outcome;
use robust_td_data::{
    Batch, Format, Pairing, ReadOptions, Reader, Source, Step, Table, Transitions,
};

use crate::table::{LogRow, any_table, text};

/// A transition in one line: `*` for a restart, obs, reward, what follows.
fn show(step: Step<'_>) -> String {
    let star = if step.restart { "*" } else { " " };
    let next = step.next_obs().map(|next| next[0]).unwrap_or_default();
    let end = match step.outcome {
        Outcome::Continues(_) => format!("->{next}"),
        Outcome::Terminated => "end".to_owned(),
        Outcome::Truncated(_) => format!("cut {next}"),
        other => panic!("a log has no {other:?}"),
    };
    format!("{star}{} {} {end}", step.obs[0], step.reward)
}

pub fn steps_with(sources: Vec<Source>, options: ReadOptions) -> Vec<String> {
    let reader = Reader::open(sources, options).unwrap();
    let mut transitions = Transitions::new(reader, Pairing::default());
    let mut seen = Vec::new();
    let end = transitions.for_each(|step| {
        seen.push(show(step));
        ControlFlow::Continue(())
    });
    assert!(end.unwrap().is_continue());
    seen
}

fn steps(csv: &str) -> Vec<String> {
    for batch_rows in [1, 2, 3] {
        let options = ReadOptions {
            batch_rows,
            ..ReadOptions::default()
        };
        let small = steps_with(vec![text(Format::Csv, csv)], options);
        assert_eq!(
            small,
            steps_with(vec![text(Format::Csv, csv)], ReadOptions::default())
        );
    }
    steps_with(vec![text(Format::Csv, csv)], ReadOptions::default())
}

#[test]
fn each_row_with_a_next_observation_is_a_transition() {
    let csv = "obs,reward,next_obs,terminated,truncated\n\
               1,10,2,0,0\n2,20,3,0,1\n7,70,8,1,0\n9,90,9,1,1\n5,50,6,0,0\n";
    assert_eq!(
        steps(csv),
        [
            "*1 10 ->2",
            " 2 20 cut 3",
            "*7 70 end",
            "*9 90 end",
            "*5 50 ->6"
        ]
    );
}

#[test]
fn an_episode_that_changes_restarts_even_without_a_flag() {
    let csv = "obs,reward,next_obs,episode\n1,10,2,a\n2,20,3,a\n7,70,8,b\n8,80,9,b\n";
    assert_eq!(
        steps(csv),
        ["*1 10 ->2", " 2 20 ->3", "*7 70 ->8", " 8 80 ->9"]
    );
    let csv = "obs,reward,episode\n1,10,a\n2,20,a\n3,30,a\n7,70,b\n8,80,b\n";
    assert_eq!(steps(csv), ["*1 10 ->2", " 2 20 ->3", "*7 70 ->8"]);
}

#[test]
fn without_episodes_the_flags_delimit_them() {
    let csv = "obs,reward,terminated,truncated\n\
               1,10,0,0\n2,20,1,0\n3,30,0,0\n4,40,0,1\n5,50,0,0\n6,60,0,0\n";
    // Row 4 was truncated and its successor is not in the log; row 6 still waits.
    assert_eq!(
        steps(csv),
        ["*1 10 ->2", " 2 20 end", "*3 30 ->4", "*5 50 ->6"]
    );
}

#[test]
fn the_last_row_of_an_episode_is_used_only_if_terminated() {
    let csv = "obs,reward,terminated,episode\n1,10,0,1\n2,20,1,1\n3,30,0,2\n4,40,0,2\n5,50,1,3\n";
    assert_eq!(
        steps(csv),
        ["*1 10 ->2", " 2 20 end", "*3 30 ->4", "*5 50 end"]
    );
}

#[test]
fn a_cut_episode_is_bootstrapped_from_its_own_next_row_only() {
    let csv = "obs,reward,truncated,episode\n1,10,0,1\n2,20,1,1\n3,30,0,1\n4,40,1,2\n5,50,0,3\n";
    assert_eq!(steps(csv), ["*1 10 ->2", " 2 20 cut 3"]);
}

#[test]
fn nothing_is_paired_across_a_hole() {
    let options = || ReadOptions {
        skip_bad_rows: 9,
        ..ReadOptions::default()
    };
    let csv = "obs,reward\n1,10\n2,20\nx,30\n4,40\n5,50\n6,y\n";
    for batch_rows in [1, 2, 3, 100] {
        let options = ReadOptions {
            batch_rows,
            ..options()
        };
        let seen = steps_with(vec![text(Format::Csv, csv)], options);
        assert_eq!(seen, ["*1 10 ->2", "*4 40 ->5"]);
    }
    // Nor across files: the second row of the first, or the first of the second, is bad.
    for (first, second) in [
        ("1,10\n2,y\n", "3,30\n4,40\n"),
        ("1,10\n", "2,y\n3,30\n4,40\n"),
    ] {
        let sources = [first, second].map(|rows| text(Format::Csv, &format!("obs,reward\n{rows}")));
        assert_eq!(steps_with(sources.into(), options()), ["*3 30 ->4"]);
    }
    // With next observations only the bad row is lost, but traces restart.
    let csv = "obs,next_obs,reward\n1,2,10\nx,3,20\n3,4,30\n4,5,40\n";
    let seen = steps_with(vec![text(Format::Csv, csv)], options());
    assert_eq!(seen, ["*1 10 ->2", "*3 30 ->4", " 4 40 ->5"]);
}

#[test]
fn a_hole_at_the_end_is_remembered() {
    let csv = "obs,reward\n1,10\n2,20\n3,y\n";
    for batch_rows in [1, 2, 100] {
        let options = ReadOptions {
            batch_rows,
            skip_bad_rows: 1,
            ..ReadOptions::default()
        };
        let reader = Reader::open(vec![text(Format::Csv, csv)], options).unwrap();
        let mut first = Transitions::new(reader, Pairing::default());
        let _ = first.for_each(|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(first.pairing().waiting(), 0);
        assert_eq!(
            (first.pairing().transitions(), first.pairing().left_out()),
            (1, 1)
        );
    }
}

/// The rules of the module, implemented again on the whole log at once.
fn expected(rows: &[LogRow], next: bool, episodes: bool) -> Vec<String> {
    // Each transition with the row that completes it, and whether it leaves that row.
    let mut out = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let same = |j: &usize| !episodes || rows[*j].episode == row.episode;
        let before = (0..i).rev().find(same).map(|j| &rows[j]);
        let after = (i + 1..rows.len()).find(same);
        let restart = before.is_none_or(|before| before.terminated || before.truncated);
        let following = match next {
            true => Some((i, &row.next_obs)),
            false if !episodes && row.truncated => None,
            false => after.map(|j| (j, &rows[j].obs)),
        };
        let (at, end) = match (row.terminated, row.truncated, following) {
            (true, _, _) => (i, "end".to_owned()),
            (_, true, Some((j, next))) => (j, format!("cut {}", next[0])),
            (_, false, Some((j, next))) => (j, format!("->{}", next[0])),
            (_, _, None) => continue,
        };
        let star = if restart { "*" } else { " " };
        out.push((
            at,
            at == i,
            format!("{star}{} {} {end}", row.obs[0], row.reward),
        ));
    }
    out.sort_by_key(|(at, own, _)| (*at, *own));
    out.into_iter().map(|(_, _, line)| line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn transitions_follow_the_rules_wherever_the_log_is_cut(
        table in any_table(),
        next in any::<bool>(),
        episodes in any::<bool>(),
        batch_rows in 1_usize..9,
        cut in any::<prop::sample::Index>(),
        stop in 1_usize..20,
    ) {
        let header = if next { "obs,next_obs,reward,terminated,truncated,episode" } else { "obs,x,reward,terminated,truncated,episode" };
        let header = if episodes { header.to_owned() } else { header.replace("episode", "y") };
        let csv = |rows: &[LogRow]| {
            let line = |r: &LogRow| format!("{:?},{:?},{:?},{},{},{}\n", r.obs[0], r.next_obs[0], r.reward, r.terminated, r.truncated, r.episode);
            text(Format::Csv, &format!("{header}\n{}", rows.iter().map(line).collect::<String>()))
        };
        let options = ReadOptions { batch_rows, ..ReadOptions::default() };
        let expected = expected(&table.rows, next, episodes);
        prop_assert_eq!(&steps_with(vec![csv(&table.rows)], options.clone()), &expected);

        // Two files, with the state saved in between and wherever the visitor stops.
        let cut = cut.index(table.rows.len());
        let (mut seen, mut saved) = (Vec::new(), serde_json::to_string(&Pairing::default()).unwrap());
        for rows in [&table.rows[..cut], &table.rows[cut..]] {
            if rows.is_empty() {
                continue;
            }
            let reader = Reader::open(vec![csv(rows)], options.clone()).unwrap();
            let mut transitions = Transitions::new(reader, serde_json::from_str(&saved).unwrap());
            loop {
                let mut left = stop;
                let flow = transitions.for_each(|step| {
                    seen.push(show(step));
                    left -= 1;
                    if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                }).unwrap();
                if flow.is_continue() {
                    break;
                }
            }
            saved = serde_json::to_string(transitions.pairing()).unwrap();
        }
        prop_assert_eq!(&seen, &expected);
        let pairing: Pairing = serde_json::from_str(&saved).unwrap();
        prop_assert_eq!(pairing.transitions(), expected.len() as u64);
        prop_assert_eq!(pairing.rows(), table.rows.len() as u64);
        prop_assert_eq!(pairing.rows(), pairing.transitions() + pairing.left_out() + pairing.waiting());
    }
}

#[test]
fn a_terminated_row_needs_no_next_observation() {
    let full = "obs_0,obs_1,next_obs_0,next_obs_1,reward,terminated\n1,2,3,4,1,0\n3,4,9,9,2,1\n5,6,7,8,3,0\n";
    let expected = steps(full);
    let rows = |next: &str| {
        format!(
            "{{\"obs\": [1, 2], \"next_obs\": [3, 4], \"reward\": 1, \"terminated\": false}}\n{{\"obs\": [3, 4], {next}\"reward\": 2, \"terminated\": true}}\n{{\"obs\": [5, 6], \"next_obs\": [7, 8], \"reward\": 3, \"terminated\": false}}\n"
        )
    };
    let sources = [
        text(Format::Csv, &full.replace("9,9", ",")),
        text(Format::Csv, &full.replace("9,9", "\"\",9")),
        text(
            Format::Csv,
            "obs,next_obs,reward,terminated\n\"[1,2]\",\"[3,4]\",1,0\n\"[3,4]\",,2,1\n\"[5,6]\",\"[7,8]\",3,0\n",
        ),
        text(Format::Ndjson, &rows("")),
        text(Format::Ndjson, &rows("\"next_obs\": null, ")),
        text(Format::Ndjson, &rows("\"next_obs\": [null, null], ")),
        Source::table("log", Arc::new(nulls())),
    ];
    for source in sources {
        let name = format!("{source:?}");
        assert_eq!(
            steps_with(vec![source], ReadOptions::default()),
            expected,
            "{name}"
        );
    }
    // Where something follows, it is needed.
    let bad = full.replace("3,4,1,0", ",4,1,0");
    let refused = Reader::open(vec![text(Format::Csv, &bad)], ReadOptions::default())
        .and_then(|mut reader| reader.read(&mut Batch::default()));
    let words = refused.unwrap_err().to_string();
    assert_eq!(
        words,
        "log: row 1 (line 2), column next_obs_0: the value is missing"
    );
}

/// The log above with nulls.
fn nulls() -> Table {
    let column =
        |values: [Option<f64>; 3]| -> ArrayRef { Arc::new(Float64Array::from(values.to_vec())) };
    let columns = [
        ("obs_0", [Some(1.0), Some(3.0), Some(5.0)]),
        ("obs_1", [Some(2.0), Some(4.0), Some(6.0)]),
        ("next_obs_0", [Some(3.0), None, Some(7.0)]),
        ("next_obs_1", [Some(4.0), None, Some(8.0)]),
        ("reward", [Some(1.0), Some(2.0), Some(3.0)]),
        ("terminated", [Some(0.0), Some(1.0), Some(0.0)]),
    ];
    columns
        .into_iter()
        .fold(Table::default(), |table, (name, values)| {
            table.column(name, column(values)).unwrap()
        })
}
