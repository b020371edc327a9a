//! Checks the default algorithm on streams: least squares of all transitions, and the portfolio where there are too many features.

use std::io::Cursor;

use robust_td_core::random::Stream;
use robust_td_data::{Evaluation, Fit, Format, Log, Model, evaluate};

const HEAD: &str = "obs_0,obs_1,reward\n";

/// A noisy pair of numbers, one of them slow, in units far apart.
fn lines(rows: usize) -> Vec<String> {
    let (mut stream, mut slow) = (Stream::new(11, 0), 0.0);
    let line = |_| {
        slow = 0.8 * slow + stream.uniform() - 0.5;
        let fast = stream.uniform();
        let reward = slow + fast + stream.uniform();
        format!("{},{},{reward}\n", 1e5 * slow, 1e-3 * fast)
    };
    (0..rows).map(line).collect()
}

fn stream(lines: &[String]) -> Evaluation {
    let text = format!("{HEAD}{}", lines.concat());
    Evaluation::new(Log::stream(Format::Csv, Cursor::new(text)).unwrap())
}

fn assert_close(x: &[f64], y: &[f64], tolerance: f64) {
    assert_eq!(x.len(), y.len());
    for (x, y) in x.iter().zip(y) {
        assert!((x - y).abs() <= tolerance * y.abs(), "{x} {y}");
    }
}

#[test]
fn the_answer_is_that_of_the_same_rows_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, lines) = (folder.path().join("log.csv"), lines(6000));
    std::fs::write(&file, format!("{HEAD}{}", lines.concat())).unwrap();
    let found = stream(&lines).discount(0.9).run().unwrap();
    let expected = evaluate([file.display().to_string()])
        .discount(0.9)
        .features("identity + bias")
        .run()
        .unwrap();
    assert_eq!((found.algorithm(), found.steps()), ("auto", 5999));
    assert_close(found.theta_bar(), expected.theta_bar(), 1e-9);
    assert!(found.findings().is_empty(), "{:?}", found.findings());
    let [own, other] = [&found, &expected].map(Fit::report);
    assert_eq!((own.converged, own.rank), (Some(true), Some(3)));
    assert!(own.relative_residual.unwrap() < 1e-9);
    assert_eq!(
        (own.features.as_str(), own.phi_inf),
        ("identity + bias", other.phi_inf)
    );
    assert!(!own.diverged && own.choice.is_none());
    // Both estimate the same errors in their own way.
    for obs in [[0.0, 5e-4], [1e5, 0.0]] {
        let [x, y] = [&found, &expected].map(|fit| {
            let (lower, upper) = fit.interval(&obs).unwrap().unwrap();
            upper - lower
        });
        assert!((0.3..2.0).contains(&(x / y)), "{x} {y}");
    }
}

#[test]
fn parts_of_a_stream_end_with_the_same_bits_as_the_whole() {
    let lines = lines(3000);
    for horizon in [None, Some(2500)] {
        let ask = |lines: &[String]| {
            let asked = stream(lines).discount(0.9).algorithm("auto");
            match horizon {
                Some(horizon) => asked.horizon(horizon),
                None => asked,
            }
        };
        let whole = ask(&lines).run().unwrap();
        assert_eq!(whole.steps(), horizon.unwrap_or(2999));
        for cut in [1, 64, 65, 777, 2400] {
            let part = ask(&lines[..cut]).run().unwrap();
            let model = Model::from_json(&part.model().to_json().unwrap()).unwrap();
            // Every option may be repeated.
            let resumed = ask(&lines[cut..]).resume(model).run().unwrap();
            assert_eq!(
                resumed.model().to_json().unwrap(),
                whole.model().to_json().unwrap(),
                "cut before row {cut}"
            );
            assert_eq!(
                resumed.interval(&[1e4, 1e-4]).unwrap(),
                whole.interval(&[1e4, 1e-4]).unwrap()
            );
        }
    }
}

#[test]
fn a_bound_is_required_only_where_it_is_used() {
    let lines = lines(300);
    for algorithm in ["auto", "swift-td", "dog"] {
        let fit = stream(&lines).discount(0.9).algorithm(algorithm).run();
        assert_eq!(fit.unwrap().algorithm(), algorithm);
    }
    let bound = stream(&lines).discount(0.9).phi_inf(1e7).run().unwrap();
    assert_eq!(bound.report().phi_inf, 1e7);
    for evaluation in [
        stream(&lines).c_auto(),
        stream(&lines).algorithm("alg1"),
        stream(&lines).algorithm("lstd"),
    ] {
        let refused = evaluation.discount(0.9).run().unwrap_err().to_string();
        let expected = "phi_inf is required: a stream cannot be measured beforehand";
        assert_eq!(refused, expected);
    }
    for (evaluation, option) in [
        (stream(&lines).replicates(64), "replicates"),
        (stream(&lines).sandwich(), "sandwich"),
        (stream(&lines).algorithm("auto").c(1.0), "c"),
        (stream(&lines).parameter("lambda", 0.5), "lambda"),
    ] {
        let refused = evaluation.discount(0.9).run().unwrap_err().to_string();
        assert!(
            refused.contains(option) && refused.contains("auto"),
            "{refused}"
        );
    }
}

#[test]
fn many_features_are_learned_by_the_portfolio() {
    let rows = |inputs: usize| {
        let names: Vec<String> = (0..inputs).map(|k| format!("obs_{k}")).collect();
        let mut text = format!("{},reward\n", names.join(","));
        for t in 0..40 {
            let obs: Vec<&str> = (0..inputs)
                .map(|k| if k % 40 == t { "1" } else { "0" })
                .collect();
            text += &format!("{},{}\n", obs.join(","), t % 2);
        }
        Evaluation::new(Log::stream(Format::Csv, Cursor::new(text)).unwrap()).discount(0.5)
    };
    assert_eq!(rows(499).run().unwrap().algorithm(), "auto");
    let refused = rows(500).run().unwrap_err().to_string();
    assert!(refused.starts_with("phi_inf is required"), "{refused}");
    let wide = rows(500).phi_inf(4.0).run().unwrap();
    assert_eq!(wide.algorithm(), "alg1-auto");
    assert_eq!(wide.report().features, "identity + bias");
    let resumed = rows(500).algorithm("auto").resume(wide.into_model()).run();
    assert_eq!(resumed.unwrap().steps(), 79);
}

#[test]
fn a_stream_that_determines_nothing_has_no_intervals() {
    let short = stream(&lines(5)).discount(0.9).run().unwrap();
    assert!(short.lacks_rows() && short.interval(&[0.0, 0.0]).unwrap().is_none());
    let one = stream(&lines(1)).discount(0.9).run().unwrap();
    assert_eq!((one.steps(), one.converged()), (0, None));
}
