//! Tries what describes problems, sweeps, experiments and features.

use robust_td::{Experiment, Sweep};
use robust_td_core::features::{Fitting, Row};
use robust_td_data::{ProblemFileError, parse_problem};

use crate::{Verdict, refused, scratch};

fn utf8(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

pub(crate) fn sweep(bytes: &[u8]) -> Verdict {
    match utf8(bytes).map(|text| Sweep::from_toml(text, scratch::folder())) {
        Some(Ok(_)) => Verdict::Accepted,
        Some(Err(error)) => refused(&error.to_string(), ""),
        None => Verdict::Refused,
    }
}

pub(crate) fn experiment(bytes: &[u8]) -> Verdict {
    match utf8(bytes).map(|text| Experiment::from_toml(text, scratch::folder())) {
        Some(Ok(_)) => Verdict::Accepted,
        Some(Err(error)) => refused(&error.to_string(), ""),
        None => Verdict::Refused,
    }
}

/// A problem file; the files that it may name are good.
pub(crate) fn problem(bytes: &[u8]) -> Verdict {
    scratch::fixed("P.csv", b"0.2,0.8\n0.8,0.2\n");
    scratch::fixed(
        "edges.csv",
        b"from,to,probability,reward\n0,1,1,0.5\n1,0,0.5,1\n1,1,0.5,0\n",
    );
    match utf8(bytes) {
        Some(text) => check(parse_problem(text, scratch::folder().join("fuzzed.toml"))),
        None => Verdict::Refused,
    }
}

/// A matrix of a problem, or its edges: NumPy's format if it starts like that, text otherwise.
pub(crate) fn matrix(bytes: &[u8]) -> Verdict {
    let (name, key) = match bytes {
        [0x93, ..] => ("fuzzed.npy", "transition"),
        [b'f', ..] => ("edges-fuzzed.csv", "edges"),
        _ => ("fuzzed.csv", "transition"),
    };
    scratch::file(name, bytes);
    let reward = match key {
        "edges" => "",
        _ => "reward = [[0.2, 1.0], [-1.0, 0.4]]\n",
    };
    let spec = format!(
        "discount = 0.9\n{key} = \"{name}\"\n{reward}features = [[0.3, 1.0], [-0.3, 1.0]]\n"
    );
    check(parse_problem(&spec, scratch::folder().join("problem.toml")))
}

fn check(loaded: Result<robust_td_core::Problem, ProblemFileError>) -> Verdict {
    match loaded {
        Ok(problem) => {
            assert!(problem.theta_star().iter().all(|x| x.is_finite()));
            assert!(problem.states() > 0 && problem.dimension() > 0);
            let stationary = problem.chain().stationary();
            let total: f64 = stationary.iter().sum();
            assert!((total - 1.0).abs() < 1e-9, "probabilities sum to {total}");
            assert!(stationary.iter().all(|p| (0.0..=1.0).contains(p)));
            Verdict::Accepted
        }
        Err(error) => refused(&error.to_string(), "toml"),
    }
}

pub(crate) fn features(bytes: &[u8]) -> Verdict {
    let Some(text) = utf8(bytes) else {
        return Verdict::Refused;
    };
    let mut fitting = match Fitting::new(text, 2) {
        Ok(fitting) => fitting,
        Err(error) => return refused(&error.to_string(), ""),
    };
    let rows = [[0.5, 2.0], [-1.0, 0.0], [1e308, -1e308], [5e-324, -0.0]];
    let shown = bytes.len() % rows.len();
    while fitting.needs_pass() {
        for row in &rows[..=shown] {
            if let Err(error) = fitting.observe(row) {
                return refused(&error.to_string(), "");
            }
        }
        if let Err(error) = fitting.end_pass() {
            return refused(&error.to_string(), "");
        }
    }
    let map = match fitting.finish() {
        Ok(map) => map,
        Err(error) => return refused(&error.to_string(), ""),
    };
    assert!(map.outputs() > 0 && map.outputs() <= 1 << 24);
    if map.outputs() <= 1 << 12 {
        let mut row = Row::for_map(&map);
        map.write(&[0.25, -0.5], &mut row);
        let saved = serde_json::to_string(&map).expect("JSON");
        let again = serde_json::from_str::<robust_td_core::features::FeatureMap>(&saved);
        let again = again.unwrap_or_else(|error| panic!("a map does not read back: {error}"));
        assert_eq!(serde_json::to_string(&again).expect("JSON"), saved);
    }
    Verdict::Accepted
}
