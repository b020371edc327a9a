//! Tries what describes problems, sweeps, experiments and features.

use robust_td::{Experiment, Sweep, load_problem};
use robust_td_core::features::Fitting;

use crate::{Verdict, refused};

fn utf8(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

pub(crate) fn sweep(bytes: &[u8]) -> Verdict {
    let folder = tempfile::tempdir().expect("a temporary folder");
    match utf8(bytes).map(|text| Sweep::from_toml(text, folder.path())) {
        Some(Ok(_)) => Verdict::Accepted,
        Some(Err(error)) => refused(&error.to_string(), ""),
        None => Verdict::Refused,
    }
}

pub(crate) fn experiment(bytes: &[u8]) -> Verdict {
    let folder = tempfile::tempdir().expect("a temporary folder");
    match utf8(bytes).map(|text| Experiment::from_toml(text, folder.path())) {
        Some(Ok(_)) => Verdict::Accepted,
        Some(Err(error)) => refused(&error.to_string(), ""),
        None => Verdict::Refused,
    }
}

/// A problem file; `P.csv` and `R.npy` beside it are good.
pub(crate) fn problem(bytes: &[u8]) -> Verdict {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("room for a file");
    };
    write("P.csv", b"0.2,0.8\n0.8,0.2\n");
    write("fuzzed.toml", bytes);
    check(load_problem(folder.path().join("fuzzed.toml")))
}

/// A matrix of a problem: NumPy's format if it starts like that, text otherwise.
pub(crate) fn matrix(bytes: &[u8]) -> Verdict {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("room for a file");
    };
    let name = match bytes.starts_with(b"\x93") {
        true => "fuzzed.npy",
        false => "fuzzed.csv",
    };
    write(name, bytes);
    let spec = format!(
        "discount = 0.9\ntransition = \"{name}\"\nreward = [[0.2, 1.0], [-1.0, 0.4]]\nfeatures = [[0.3, 1.0], [-0.3, 1.0]]\n"
    );
    write("problem.toml", spec.as_bytes());
    check(load_problem(folder.path().join("problem.toml")))
}

fn check(loaded: robust_td::Result<robust_td_core::Problem>) -> Verdict {
    match loaded {
        Ok(problem) => {
            assert!(problem.theta_star().iter().all(|x| x.is_finite()));
            assert!(problem.states() > 0 && problem.dimension() > 0);
            Verdict::Accepted
        }
        Err(error) => refused(&error.to_string(), ""),
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
    let _ = &mut fitting;
    match fitting.finish() {
        Ok(map) => {
            assert!(map.outputs() > 0 && map.outputs() <= 1 << 24);
            Verdict::Accepted
        }
        Err(error) => refused(&error.to_string(), ""),
    }
}
