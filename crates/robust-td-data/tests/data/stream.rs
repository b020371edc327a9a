//! Checks the default algorithm on streams: the answers of files, found in one pass.

use std::io::Cursor;

use robust_td_core::random::Stream;
use robust_td_data::{Evaluation, FindingKind, Fit, Format, Log, Model, Unit, evaluate};

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
    let told = found.findings();
    assert!(
        told.len() == 1 && told[0].message.contains("mean over all rows"),
        "{told:?}"
    );
    let [own, other] = [&found, &expected].map(Fit::report);
    assert_eq!((own.converged, own.rank), (Some(true), Some(3)));
    assert!(own.relative_residual.unwrap() < 1e-9);
    assert_eq!(
        (own.features.as_str(), own.phi_inf),
        ("identity + bias", other.phi_inf)
    );
    assert!(!own.diverged && own.choice.is_none());
    // The same errors, from other parts of the log.
    let width = |(lower, upper): (f64, f64)| upper - lower;
    for obs in [[0.0, 5e-4], [1e5, 0.0]] {
        let [x, y] = [&found, &expected].map(|fit| width(fit.interval(&obs).unwrap().unwrap()));
        assert!((0.6..1.6).contains(&(x / y)), "{x} {y}");
    }
    let [x, y] = [&found, &expected].map(|fit| fit.start_value().unwrap());
    assert_eq!((x.starts, y.starts), (5999, 5999));
    assert!((x.value - y.value).abs() < 1e-9 * y.value.abs());
    let ratio = width((x.lower, x.upper)) / width((y.lower, y.upper));
    assert!((0.6..1.6).contains(&ratio), "{ratio}");
    assert!(found.monte_carlo().is_none() && !found.typical_rows().is_empty());
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

/// Episodes of several users: rows of (user, episode, observation, reward, terminated).
fn episodes(count: usize) -> Vec<String> {
    let mut stream = Stream::new(12, 0);
    let mut rows = Vec::new();
    for episode in 0..count {
        let user = (stream.uniform() * 30.0) as usize;
        let effect = (user % 7) as f64 / 10.0;
        let length = 1 + (stream.uniform() * 12.0) as usize;
        for t in 0..length {
            let (x, noise) = (stream.uniform(), stream.uniform());
            let over = u8::from(t + 1 == length);
            rows.push(format!(
                "{user},{episode},{x},{},{over}\n",
                x + effect + noise
            ));
        }
    }
    rows
}

const EPISODES: &str = "user,episode,obs_0,reward,terminated\n";

fn stream_of(head: &str, rows: &[String]) -> Evaluation {
    let text = format!("{head}{}", rows.concat());
    Evaluation::new(Log::stream(Format::Csv, Cursor::new(text)).unwrap()).discount(0.8)
}

#[test]
fn episodes_have_the_value_of_the_policy_and_the_mean_return_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let (file, rows) = (folder.path().join("log.csv"), episodes(200));
    std::fs::write(&file, format!("{EPISODES}{}", rows.concat())).unwrap();
    for cluster in [None, Some("user")] {
        let of_file = evaluate([file.display().to_string()])
            .discount(0.8)
            .features("identity + bias");
        let [found, expected] = [stream_of(EPISODES, &rows), of_file].map(|evaluation| {
            match cluster {
                Some(column) => evaluation.cluster(column),
                None => evaluation,
            }
            .run()
            .unwrap()
        });
        let [own, other] = [&found, &expected].map(Fit::report);
        assert_eq!((own.unit, own.steps), (other.unit, other.steps));
        let unit = cluster.map_or(Unit::Episode, |_| Unit::Cluster);
        assert_eq!(own.unit, Some(unit));
        let [clusters, others] = [&own, &other].map(|r| r.intervals.as_ref().unwrap().clusters);
        assert_eq!(clusters, others);
        assert_eq!(clusters, Some(cluster.map_or(200, |_| 30)));
        assert_eq!(own.monte_carlo, other.monte_carlo);
        let [x, y] = [own.start_value.unwrap(), other.start_value.unwrap()];
        assert_eq!((x.starts, y.starts), (200, 200));
        // Each group is one episode or user, and the errors are exact.
        assert_close(
            &[x.value, x.lower, x.upper],
            &[y.value, y.lower, y.upper],
            1e-9,
        );
        assert_close(&own.theta_bar, &other.theta_bar, 1e-10);
        assert!((own.td_error.mean - other.td_error.mean).abs() < 1e-9);
        // The observations do not show how long an episode will last, and both say so.
        let kinds = [&found, &expected].map(|fit| {
            let findings = fit.findings().into_iter();
            findings.map(|found| found.kind).collect::<Vec<_>>()
        });
        // The errors are larger if users are not independent.
        let differs = cluster.is_none();
        assert_eq!(
            kinds[0],
            vec![FindingKind::MonteCarloDiffers; usize::from(differs)]
        );
        assert_eq!(kinds[1].contains(&FindingKind::MonteCarloDiffers), differs);
    }
}

#[test]
fn episodes_and_clusters_resume_with_the_same_bits() {
    let rows = episodes(150);
    for cluster in [None, Some("user")] {
        let ask = |rows: &[String]| {
            let asked = stream_of(EPISODES, rows);
            match cluster {
                Some(column) => asked.cluster(column),
                None => asked,
            }
        };
        let whole = ask(&rows).run().unwrap().model().to_json().unwrap();
        for cut in [2, 100, 600] {
            let part = ask(&rows[..cut]).run().unwrap();
            // The model knows its columns.
            let resumed = stream_of(EPISODES, &rows[cut..]).resume(part.into_model());
            assert_eq!(resumed.run().unwrap().model().to_json().unwrap(), whole);
        }
    }
}

#[test]
fn what_a_stream_cannot_do_is_refused() {
    let rows = episodes(50);
    let ask = || stream_of(EPISODES, &rows);
    let model = |asked: Evaluation| asked.run().unwrap().into_model();
    for (asked, expected) in [
        (ask().discount(1.0), "below 1 on a stream"),
        (ask().replicates(64), "replicates"),
        (ask().sandwich(), "sandwich"),
        (ask().algorithm("auto").c(1.0), "c"),
        (ask().parameter("lambda", 0.5), "lambda"),
        (ask().passes(2), "only once"),
        (ask().features("standardise"), "standardise"),
        (ask().cluster("region"), "region"),
        (
            ask().resume(model(ask())).cluster("user"),
            "cluster is user, but the model was made with none",
        ),
        (
            ask()
                .resume(model(ask().cluster("user")))
                .cluster("episode"),
            "cluster is episode, but the model was made with user",
        ),
        (ask().resume(model(ask())).discount(0.9), "discount is 0.9"),
        (
            ask().resume(model(ask())).horizon(1000),
            "horizon is 1000, but the model was made with none",
        ),
        (
            ask().resume(model(ask().horizon(20))),
            "has already learned from its 20",
        ),
        (ask().resume(model(ask())).features("bias"), "features"),
    ] {
        let refused = asked.run().unwrap_err().to_string();
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
    // Bounds are required only where they are used.
    let lines = lines(300);
    for algorithm in ["auto", "swift-td", "dog"] {
        let fit = stream(&lines).discount(0.9).algorithm(algorithm).run();
        assert_eq!(fit.unwrap().algorithm(), algorithm);
    }
    for evaluation in [
        stream(&lines).c_auto(),
        stream(&lines).algorithm("alg1"),
        stream(&lines).algorithm("lstd"),
    ] {
        let refused = evaluation.discount(0.9).run().unwrap_err().to_string();
        let expected = "phi_inf is required: a stream cannot be measured beforehand";
        assert_eq!(refused, expected);
    }
}

#[test]
fn too_many_features_for_their_equations_are_solved_like_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.csv");
    let mut random = Stream::new(13, 0);
    let rows: Vec<String> = (0..3000)
        .map(|t| {
            let (x, y) = (random.uniform(), random.uniform());
            let over = u8::from(t % 10 == 9);
            format!("{},{x},{y},{},{over}\n", t / 10, x * y + random.uniform())
        })
        .collect();
    let head = "episode,obs_0,obs_1,reward,terminated\n";
    std::fs::write(&file, format!("{head}{}", rows.concat())).unwrap();
    let spec = "tiles(tilings=8, bins=24, low=0, high=1)";
    let asked = evaluate([file.display().to_string()]).discount(0.8);
    let expected = asked.features(spec).run().unwrap();
    let found = stream_of(head, &rows).features(spec).run().unwrap();
    assert!(found.theta_bar().len() > 4000);
    assert_eq!(found.theta_bar(), expected.theta_bar());
    assert_eq!(found.start_value(), expected.start_value());
    assert_eq!(found.check(), expected.check());
    let model = Model::from_json(&found.model().to_json().unwrap()).unwrap();
    let refused = stream_of(head, &rows).resume(model).run().unwrap_err();
    let expected = "does not contain the rows";
    assert!(refused.to_string().contains(expected), "{refused}");
}
