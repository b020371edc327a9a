//! Checks logs whose rows of several episodes are mixed by time against the same logs sorted by episode.

use std::io::Cursor;
use std::ops::ControlFlow;

use proptest::prelude::*;
use robust_td_core::random::Stream;
use robust_td_data::{
    Evaluation, FindingKind, Fit, Format, Log, Model, Pairing, ReadOptions, Reader, Transitions,
    Unit, evaluate,
};

use crate::pairing::steps_with;
use crate::solved::log::{Folder, Row, assert_near, csv, episodes, parquet};
use crate::table::text;

/// Mixes the rows of about `open` episodes at a time; those of each stay in order.
fn mixed(rows: &[Row], open: usize, seed: u64) -> Vec<Row> {
    let mut random = Stream::new(seed, 9);
    let mut waiting: Vec<&[Row]> = rows.chunk_by(|a, b| a.episode == b.episode).rev().collect();
    let (mut now, mut list): (Vec<&[Row]>, Vec<Row>) = (Vec::new(), Vec::new());
    while !(now.is_empty() && waiting.is_empty()) {
        while now.len() < open.max(1) && !waiting.is_empty() {
            now.extend(waiting.pop());
        }
        let k = (random.uniform() * now.len() as f64) as usize;
        list.push(now[k][0]);
        now[k] = &now[k][1..];
        if now[k].is_empty() {
            now.remove(k);
        }
    }
    list
}

/// A log without next observations.
fn plain(rows: &[Row]) -> String {
    let drop = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells.drain(3..5);
        cells.pop();
        cells.join(",") + "\n"
    };
    csv(rows).lines().map(drop).collect()
}

/// A log with next observations, without ratios.
fn complete(rows: &[Row]) -> String {
    let drop = |line: &str| line.rsplit_once(',').unwrap().0.to_owned() + "\n";
    csv(rows).lines().map(drop).collect()
}

fn kinds(fit: &Fit) -> Vec<FindingKind> {
    fit.findings().iter().map(|found| found.kind).collect()
}

fn assert_same(found: &Fit, sorted: &Fit, tolerance: f64) {
    let [a, b] = [found, sorted].map(Fit::report);
    assert_eq!((a.steps, a.rows, a.left_out), (b.steps, b.rows, b.left_out));
    assert_eq!((a.unit, a.rank), (b.unit, b.rank));
    let near = |x: f64, y: f64, what: &str| match x.is_finite() {
        true => assert_near(x, y, tolerance, what),
        false => assert_eq!(x, y, "{what}"),
    };
    for (x, y) in found.theta_bar().iter().zip(sorted.theta_bar()) {
        near(*x, *y, "theta");
    }
    let [x, y] = [found, sorted].map(|fit| fit.start_value().unwrap());
    assert_eq!(x.starts, y.starts);
    near(x.value, y.value, "start value");
    // Groups of several episodes depend on their order.
    if x.starts < 200 || !x.upper.is_finite() {
        near(x.lower, y.lower, "its lower end");
        near(x.upper, y.upper, "its upper end");
    } else {
        let ratio = (x.upper - x.lower) / (y.upper - y.lower);
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
    }
    match [found, sorted].map(Fit::monte_carlo) {
        [Some(x), Some(y)] => {
            assert_eq!(x.episodes, y.episodes);
            near(x.value, y.value, "mean return");
            near(x.upper, y.upper, "its upper end");
        }
        other => assert_eq!(other, [None, None]),
    }
    match [found, sorted].map(Fit::check) {
        [Some(x), Some(y)] if !x.held_out => {
            assert_eq!((x.rows, x.cut, x.episodes), (y.rows, y.cut, y.episodes));
            for (x, y) in x.tenths.iter().zip(&y.tenths) {
                assert_eq!((x.rows, x.units), (y.rows, y.units));
                near(x.predicted, y.predicted, "prediction");
                near(x.discounted_return, y.discounted_return, "return");
                near(x.stderr.unwrap_or(0.0), y.stderr.unwrap_or(0.0), "error");
            }
        }
        // Which episodes are held out depends on their order.
        [Some(x), Some(y)] => assert_eq!(x.held_out, y.held_out),
        other => assert_eq!(other, [None, None]),
    }
}

#[test]
fn the_answer_is_that_of_the_log_sorted_by_episode() {
    let folder = Folder::new();
    for (count, open, seed) in [(400, 7, 1), (400, 1000, 2), (6000, 25, 3)] {
        let rows = episodes(count, seed);
        let mixed = mixed(&rows, open, seed);
        for write in [plain, complete] {
            let of = |rows: &[Row]| {
                let file = folder.write("log.csv", write(rows));
                evaluate([file]).discount(0.9).run().unwrap()
            };
            let (found, sorted) = (of(&mixed), of(&rows));
            assert_same(&found, &sorted, 1e-9);
            assert_eq!(found.report().unit, Some(Unit::Episode));
            assert!(!kinds(&found).contains(&FindingKind::MixedEpisodes));
            assert!(!kinds(&found).contains(&FindingKind::Misaligned));
        }
    }
}

#[test]
fn the_counts_of_episodes_and_interleavings_are_right() {
    let rows = episodes(3000, 4);
    let mixed = mixed(&rows, 12, 4);
    let of = |rows: &[Row]| {
        let log = Log::stream(Format::Csv, Cursor::new(plain(rows))).unwrap();
        log.inspect().unwrap()
    };
    let (found, sorted) = (of(&mixed), of(&rows));
    assert_eq!(
        (found.rows, found.transitions, found.left_out),
        (sorted.rows, sorted.transitions, sorted.left_out)
    );
    assert_eq!(found.rows, found.transitions + found.left_out);
    let (a, b) = (&found.episodes, &sorted.episodes);
    assert_eq!(
        (a.count, a.terminated, a.truncated),
        (b.count, b.terminated, b.truncated)
    );
    let [x, y] = [a, b].map(|episodes| episodes.length.unwrap());
    assert_eq!((x.min, x.max), (y.min, y.max));
    assert_near(x.mean, y.mean, 1e-12, "length");
    assert_eq!(b.resumed, 0);
    // A row resumes its episode if that has a row before it, but not directly before it.
    let resumed = (1..mixed.len())
        .filter(|&i| mixed[i - 1].episode != mixed[i].episode)
        .filter(|&i| mixed[..i].iter().any(|row| row.episode == mixed[i].episode));
    assert_eq!(a.resumed, resumed.count() as u64);
}

#[test]
fn threads_and_formats_give_the_same_bits() {
    let folder = Folder::new();
    let mixed = mixed(&episodes(50_000, 5), 300, 5);
    let model = |file: &str, threads: usize| {
        let fit = evaluate([file])
            .discount(0.9)
            .threads(threads)
            .run()
            .unwrap();
        let mut model: serde_json::Value =
            serde_json::from_str(&fit.model().to_json().unwrap()).unwrap();
        model["model"]["solved"]["origin"] = serde_json::Value::Null;
        model["model"]["solved"]["facts"]["findings"] = serde_json::Value::Null;
        model["digest"] = serde_json::Value::Null;
        (model, format!("{:?}", fit.sample()))
    };
    let file = folder.write("log.csv", csv(&mixed));
    let expected = model(&file, 1);
    assert!(expected.0["model"]["solved"]["theta"].is_array());
    for threads in [2, 3, 4] {
        assert!(model(&file, threads) == expected, "{threads} threads");
    }
    let file = folder.write("log.parquet", parquet(&mixed));
    assert!(model(&file, 2) == expected);
    let plain = folder.write("plain.csv", plain(&mixed));
    let expected = model(&plain, 1);
    assert!(model(&plain, 3) == expected);
}

fn stream(header: &str, rows: &str) -> Evaluation {
    let log = Log::stream(Format::Csv, Cursor::new(format!("{header}\n{rows}"))).unwrap();
    Evaluation::new(log).discount(0.9)
}

#[test]
fn a_stream_has_the_answer_of_the_file_and_resumes_with_the_same_bits() {
    let folder = Folder::new();
    let rows = episodes(3000, 6);
    let mixed = mixed(&rows, 20, 6);
    for write in [plain, complete] {
        let text = write(&mixed);
        let (header, body) = text.split_once('\n').unwrap();
        let whole = stream(header, body).run().unwrap();
        for (rows, what) in [(&mixed, "file"), (&rows, "sorted file")] {
            let file = evaluate([folder.write("log.csv", write(rows))]).discount(0.9);
            let file = file.features("identity + bias").run().unwrap();
            for (x, y) in whole.theta_bar().iter().zip(file.theta_bar()) {
                assert_near(*x, *y, 1e-9, what);
            }
            let [x, y] = [&whole, &file].map(|fit| fit.start_value().unwrap());
            assert_eq!(x.starts, y.starts, "{what}");
            assert_near(x.value, y.value, 1e-9, what);
            let [x, y] = [&whole, &file].map(|fit| fit.monte_carlo().unwrap());
            assert_eq!(x.episodes, y.episodes, "{what}");
            assert_near(x.value, y.value, 1e-9, what);
        }
        let lines: Vec<&str> = body.split_inclusive('\n').collect();
        for cut in [1, 5, 700, 2999] {
            let part = stream(header, &lines[..cut].concat()).run().unwrap();
            let model = Model::from_json(&part.model().to_json().unwrap()).unwrap();
            let rest = stream(header, &lines[cut..].concat());
            let resumed = rest.resume(model).run().unwrap();
            let [x, y] = [&resumed, &whole].map(|fit| fit.model().to_json().unwrap());
            assert!(x == y, "cut before row {cut}");
        }
    }
}

#[test]
fn traces_need_the_rows_of_an_episode_together() {
    let folder = Folder::new();
    let rows = episodes(2000, 7);
    let mixed = folder.write("mixed.csv", plain(&mixed(&rows, 5, 7)));
    let sorted = folder.write("sorted.csv", plain(&rows));
    let ask = |file: &str, algorithm: &str, lambda: Option<f64>| {
        let asked = evaluate([file])
            .discount(0.9)
            .algorithm(algorithm)
            .features("identity + bias");
        let asked = if algorithm == "td-lambda" {
            asked.c(0.1)
        } else {
            asked
        };
        match lambda {
            Some(lambda) => asked.parameter("lambda", lambda).run(),
            None => asked.run(),
        }
    };
    for (algorithm, lambda) in [
        ("td-lambda", None),
        ("lstd", Some(0.5)),
        ("implicit-td", Some(0.5)),
        ("etd", None),
        ("swift-td", None),
    ] {
        let refused = ask(&mixed, algorithm, lambda).unwrap_err();
        assert!(refused.is_invalid_input());
        let expected = format!(
            "its episode resumes after rows of another one, but {algorithm} keeps traces, which need the rows of an episode one after \
             the other; sort the rows by episode"
        );
        let words = refused.to_string();
        assert!(
            words.starts_with(&mixed) && words.contains(&expected),
            "{words}"
        );
        ask(&sorted, algorithm, lambda).unwrap();
    }
    let [found, expected] = [&mixed, &sorted].map(|file| ask(file, "lstd", Some(0.0)).unwrap());
    for (x, y) in found.theta_bar().iter().zip(expected.theta_bar()) {
        assert_near(*x, *y, 1e-9, "lstd");
    }
    assert_eq!(
        found.start_value().unwrap().starts,
        expected.start_value().unwrap().starts
    );
    assert_eq!(found.report().left_out, expected.report().left_out);
}

fn steps(files: &[&str], skip_bad_rows: u64) -> Vec<String> {
    let sources = files.iter().map(|file| text(Format::Csv, file)).collect();
    let options = ReadOptions {
        skip_bad_rows,
        ..ReadOptions::default()
    };
    steps_with(sources, options)
}

#[test]
fn a_name_that_comes_back_continues_unless_its_episode_terminated() {
    let csv = "obs,reward,terminated,episode\n1,1,0,a\n5,1,0,b\n2,1,1,a\n6,1,0,b\n3,1,0,a\n7,1,0,b\n4,1,0,a\n";
    assert_eq!(
        steps(&[csv], 0),
        ["*1 1 ->2", " 2 1 end", "*5 1 ->6", " 6 1 ->7", "*3 1 ->4"]
    );
    // Observation of a stopped at row 3; its next row has what it saw last.
    let csv = "obs,reward,truncated,episode\n1,1,0,a\n5,1,0,b\n2,1,1,a\n6,1,0,b\n3,1,0,a\n";
    assert_eq!(steps(&[csv], 0), ["*1 1 ->2", "*5 1 ->6", " 2 1 cut 3"]);
}

#[test]
fn bad_rows_may_belong_to_any_open_episode() {
    let csv = "obs,reward,episode\n1,1,a\n5,1,b\n2,1,a\n6,1,b\nx,1,b\n3,1,a\n7,1,b\n4,1,a\n8,1,b\n9,1,c\n10,1,c\n";
    assert_eq!(
        steps(&[csv], 1),
        ["*1 1 ->2", "*5 1 ->6", "*3 1 ->4", "*7 1 ->8", "*9 1 ->10"]
    );
    let options = ReadOptions {
        skip_bad_rows: 1,
        ..ReadOptions::default()
    };
    let reader = Reader::open(vec![text(Format::Csv, csv)], options).unwrap();
    let mut transitions = Transitions::new(reader, Pairing::default());
    let (mut starts, mut runs) = (0, Vec::new());
    let _ = transitions.for_each(|step| {
        starts += u64::from(step.starts_episode());
        runs.push(step.run);
        ControlFlow::Continue(())
    });
    // The parts after the gap are of the same episodes, and not their starts.
    assert_eq!((starts, runs), (3, vec![0, 1, 0, 1, 2]));
    let pairing = transitions.pairing();
    assert_eq!(
        (
            pairing.rows(),
            pairing.transitions(),
            pairing.left_out(),
            pairing.waiting()
        ),
        (10, 5, 2, 3)
    );
    assert_eq!(pairing.resumed(), 6);
}

#[test]
fn another_file_may_use_the_same_names_again() {
    let first = "obs,reward,episode\n1,1,a\n5,1,b\n2,1,a\n6,1,b\n";
    let second = "obs,reward,episode\n7,1,b\n3,1,a\n8,1,b\n4,1,a\n";
    // Only the last row of a file may continue in the first of the next.
    assert_eq!(
        steps(&[first, second], 0),
        ["*1 1 ->2", "*5 1 ->6", " 6 1 ->7", " 7 1 ->8", "*3 1 ->4"]
    );
    let other = "obs,reward,episode\n3,1,a\n7,1,b\n4,1,a\n8,1,b\n";
    assert_eq!(
        steps(&[first, other], 0),
        ["*1 1 ->2", "*5 1 ->6", "*3 1 ->4", "*7 1 ->8"]
    );
    let folder = Folder::new();
    let files = [folder.write("1.csv", first), folder.write("2.csv", other)];
    let report = robust_td_data::inspect(&files).unwrap();
    let found = report
        .findings
        .iter()
        .find(|found| found.kind == FindingKind::MixedEpisodes)
        .unwrap();
    assert_eq!(
        (found.count, found.row, found.file.as_ref()),
        (2, Some(1), Some(&files[1]))
    );
    assert!(
        found.message.contains("put the rows into one file"),
        "{}",
        found.message
    );
    assert_eq!((report.episodes.count, report.episodes.resumed), (4, 4));
    // The same two files to a learner, one after the other.
    let ask = |files: &[String]| evaluate(files).discount(0.5).algorithm("lstd").phi_inf(9.0);
    let whole = ask(&files).run().unwrap();
    let part = ask(&files[..1]).run().unwrap();
    let model = Model::from_json(&part.model().to_json().unwrap()).unwrap();
    let resumed = evaluate(&files[1..]).resume(model).run().unwrap();
    assert_eq!(resumed.theta_bar(), whole.theta_bar());
    assert_eq!(resumed.steps(), 4);
}

#[test]
fn names_that_may_have_been_used_again_are_a_finding() {
    let of = |names: &[&str], ends: &str| {
        let mut csv = format!(
            "obs,reward,episode{}\n",
            if ends.is_empty() { "" } else { ",terminated" }
        );
        for (k, name) in names.iter().enumerate() {
            csv += &format!("{},1,{name}{ends}\n", k % 7);
        }
        let log = Log::stream(Format::Csv, Cursor::new(csv)).unwrap();
        let findings = log.inspect().unwrap().findings;
        findings
            .into_iter()
            .find(|found| found.kind == FindingKind::MixedEpisodes)
    };
    let found = of(&["a", "a", "a", "b", "b", "a", "a", "b", "b"], "").unwrap();
    assert_eq!(found.count, 2);
    assert!(
        found.message.contains("does not show where episodes end"),
        "{}",
        found.message
    );
    // Single rows are not episodes.
    assert_eq!(of(&["a", "b", "a", "b", "a", "b", "a"], ""), None);
    assert_eq!(of(&["a", "a", "b", "b", "c", "c"], ""), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_interleaving_is_the_sorted_log(seed in any::<u64>(), count in 30_usize..300, open in 1_usize..40, next in any::<bool>()) {
        let folder = Folder::new();
        let rows = episodes(count, seed);
        let write = if next { complete } else { plain };
        let of = |name: &str, rows: &[Row]| {
            let file = folder.write(name, write(rows));
            evaluate([file]).discount(0.9).run()
        };
        match (of("mixed.csv", &mixed(&rows, open, seed)), of("sorted.csv", &rows)) {
            (Ok(found), Ok(sorted)) => assert_same(&found, &sorted, 1e-7),
            (found, sorted) => prop_assert_eq!(found.is_ok(), sorted.is_ok()),
        }
    }
}
