//! Checks evaluation through the library: values against a known problem, options, and resuming to the bit.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use robust_td_core::catalog;
use robust_td_core::problem::Problem;
use robust_td_core::random::Stream;
use robust_td_core::simulate::Sampler;
use robust_td_data::files::WriteError;
use robust_td_data::{
    Divergence, Error, Evaluation, Fit, Format, Log, OptionError, OptionName, Progress, ReportAt,
    ValueFormat, Warning, evaluate,
};

/// A problem with a known fixed point, and rows of a log that it generated.
fn simulated(rows: usize) -> (Problem, Vec<String>) {
    let problem = catalog::problem("ref-3", &[]).unwrap();
    let mut stream = Stream::new(3, 0);
    let states = Sampler::new(&problem).trajectory(problem.start(), rows, &mut stream);
    let line = |pair: &[usize]| {
        let (phi, mut line) = (problem.phi(pair[0]), String::new());
        for x in phi {
            write!(line, "{x},").unwrap();
        }
        writeln!(line, "{}", problem.reward(pair[0], pair[1])).unwrap();
        line
    };
    let lines = states.windows(2).map(line).collect();
    (problem, lines)
}

fn write(folder: &Path, name: &str, lines: &[String]) -> String {
    let path = folder.join(name);
    let text = format!("obs_0,obs_1,reward\n{}", lines.concat());
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn two_files_give_the_values_of_the_problem() {
    let folder = tempfile::tempdir().unwrap();
    let (problem, lines) = simulated(40_000);
    write(folder.path(), "log-1.csv", &lines[..15_000]);
    write(folder.path(), "log-2.csv", &lines[15_000..]);
    let pattern = folder.path().join("log-*.csv").display().to_string();
    let truth = problem.theta_star();
    for algorithm in ["alg1", "lstd"] {
        let fit = evaluate([&pattern])
            .discount(problem.discount())
            .algorithm(algorithm)
            .confidence(0.99)
            .run()
            .unwrap();
        assert_eq!(fit.steps(), 39_999);
        assert!(!fit.diverged());
        for s in 0..problem.states() {
            let phi = problem.phi(s);
            let exact: f64 = phi.iter().zip(truth).map(|(x, y)| x * y).sum();
            let (low, high) = fit.interval(phi).unwrap().unwrap();
            let value = fit.value(phi).unwrap();
            assert!(low < value && value < high, "{algorithm}");
            assert!(
                low < exact && exact < high,
                "{algorithm}: {low} {exact} {high}"
            );
            assert!(high - low < 1.0, "{algorithm}");
        }
        // Predictions for a file equal those for single observations.
        let found = fit.predict(folder.path().join("log-1.csv").display().to_string());
        let found = found.unwrap();
        assert_eq!(found.values.len(), 15_000);
        let first: Vec<f64> = lines[0]
            .trim()
            .split(',')
            .map(|x| x.parse().unwrap())
            .collect();
        assert_eq!(found.values[0], fit.value(&first[..2]).unwrap());
        let ends = Some((found.lower[0], found.upper[0]));
        assert_eq!(ends, fit.interval(&first[..2]).unwrap());
    }
}

#[test]
fn a_stream_is_read_once_and_reported_on() {
    let (problem, lines) = simulated(600);
    let text = format!("obs_0,obs_1,reward\n{}", lines.concat());
    let stream = || Log::stream(Format::Csv, io::Cursor::new(text.clone())).unwrap();
    let steps = Arc::new(Mutex::new(Vec::new()));
    let seen = steps.clone();
    let fit = Evaluation::new(stream())
        .discount(problem.discount())
        .c(0.1)
        .phi_inf(2.0)
        .report_at(ReportAt::PowersOfTwo)
        .on_progress(move |progress| {
            if let Progress::SoFar(model) = progress {
                seen.lock().unwrap().push(model.pairing().transitions());
            }
        })
        .run()
        .unwrap();
    assert_eq!((fit.algorithm(), fit.steps()), ("alg1-doubling", 599));
    assert_eq!(
        *steps.lock().unwrap(),
        [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    );
    let passes = Evaluation::new(stream()).passes(2);
    let refused = passes.discount(0.9).run().unwrap_err();
    let option = OptionName::Passes;
    assert!(
        matches!(&refused, Error::Option(OptionError::ReadOnce { option: o }) if *o == option),
        "{refused}"
    );
}

#[test]
fn resuming_ends_with_the_same_bits_as_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    let (problem, lines) = simulated(3000);
    let whole = write(folder.path(), "whole.csv", &lines);
    let discount = problem.discount();
    let ask = |file: &str, algorithm: &str| {
        let asked = evaluate([file]).discount(discount).algorithm(algorithm);
        asked.phi_inf(2.0).horizon(2500)
    };
    for algorithm in ["alg1", "lstd", "swift-td"] {
        let expected = ask(&whole, algorithm).run().unwrap();
        for cut in [1, 777, 2400] {
            let first = write(folder.path(), "a.csv", &lines[..cut]);
            let second = write(folder.path(), "b.csv", &lines[cut..]);
            let model = folder.path().join("model.json");
            ask(&first, algorithm).run().unwrap().save(&model).unwrap();
            let model = Fit::load(&model).unwrap().into_model();
            // Every option may be repeated.
            let resumed = ask(&second, algorithm).resume(model).run().unwrap();
            assert_eq!(
                resumed.model().to_json().unwrap(),
                expected.model().to_json().unwrap(),
                "{algorithm}, cut before row {cut}"
            );
        }
    }
}

#[test]
fn a_resumed_model_takes_its_own_options_again_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let (_, lines) = simulated(200);
    let file = write(folder.path(), "log.csv", &lines);
    let fixed = evaluate([&file])
        .discount(0.9)
        .c(0.05)
        .algorithm("td-lambda")
        .parameter("lambda", 0.5)
        .features("standardise + bias")
        .phi_inf(3.0)
        .horizon(900)
        .run()
        .unwrap()
        .into_model();
    let auto = evaluate([&file])
        .discount(0.9)
        .algorithm("alg1")
        .phi_inf(2.0)
        .horizon(900)
        .replicates(16)
        .run()
        .unwrap()
        .into_model();
    let new = || evaluate([&file]);
    for again in [
        new(),
        new().c(0.05),
        new().parameter("c", 0.05).parameter("lambda", 0.5),
        new().discount(0.9).algorithm("td-lambda").horizon(900),
        new()
            .features("standardise+bias")
            .phi_inf(3.0)
            .replicates(0),
    ] {
        let fit = again.resume(fixed.clone()).run().unwrap();
        assert!(fit.steps() > 300);
    }
    for again in [
        new().c_auto().replicates(16).sandwich(),
        new().algorithm("alg1").features("identity"),
    ] {
        again.resume(auto.clone()).run().unwrap();
    }
    for (other, model, words) in [
        (
            new().c(0.06),
            &fixed,
            "c is 0.06, but the model was made with 0.05",
        ),
        (
            new().c_auto(),
            &fixed,
            "c is auto, but the model was made with 0.05",
        ),
        (
            new().parameter("lambda", 0.4),
            &fixed,
            "the parameter lambda is 0.4, but the model was made with 0.5",
        ),
        (
            new().parameter("speed", 1.0),
            &fixed,
            "the parameter speed is 1, but the model was made with none",
        ),
        (
            new().features("bias"),
            &fixed,
            "features is bias, but the model was made with standardise + bias",
        ),
        (
            new().sandwich(),
            &fixed,
            "sandwich is true, but the model was made with false",
        ),
        (
            new().c(0.05),
            &auto,
            "c is 0.05, but the model was made with auto",
        ),
        (
            new().replicates(8),
            &auto,
            "replicates is 8, but the model was made with 16",
        ),
        (
            new().horizon(901),
            &auto,
            "horizon is 901, but the model was made with 900",
        ),
        (
            new().phi_inf(2.5),
            &auto,
            "phi_inf is 2.5, but the model was made with 2",
        ),
        (
            new().discount(0.8),
            &auto,
            "discount is 0.8, but the model was made with 0.9",
        ),
    ] {
        let refused = other.resume(model.clone()).run().unwrap_err();
        assert_eq!(refused.to_string(), words);
    }
}

#[test]
fn wrong_options_are_named_without_flags() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "log.csv", &simulated(50).1);
    let new = || evaluate([&file]).discount(0.9);
    for (wrong, words) in [
        (new().passes(0), "passes is 0, but must be at least 1"),
        (
            new().discount(f64::NAN),
            "discount is NaN, but must be from 0 to 1",
        ),
        (
            new().confidence(1.0),
            "confidence is 1, but must be above 0 and below 1",
        ),
        (
            new().replicates(5),
            "replicates is 5, but must be 0 (no intervals)",
        ),
        (new().c(0.1).replicates(8), "replicates needs c = auto"),
        (
            new().algorithm("alg1").passes(2).replicates(8),
            "replicates needs passes = 1",
        ),
        (new().passes(2), "passes is not an option of auto"),
        (new().replicates(8), "replicates is not an option of auto"),
        (new().sandwich(), "sandwich is not an option of auto"),
        (new().algorithm("auto").c(1.0), "c is not an option of auto"),
        (new().algorithm("td-lambda"), "c is required"),
        (new().algorithm("lstd").c(1.0), "c is not an option of lstd"),
        (new().algorithm("q-learning"), "q-learning does not apply"),
        (new().algorithm("alg2"), "unknown algorithm \"alg2\""),
        (evaluate([&file]), "discount is required"),
    ] {
        let refused = wrong.run().unwrap_err().to_string();
        assert!(refused.starts_with(words), "{refused}");
        assert!(!refused.contains("--"), "{refused}");
    }
}

#[test]
fn warnings_and_divergence_are_values() {
    let folder = tempfile::tempdir().unwrap();
    let (_, lines) = simulated(3000);
    let rated: String = lines
        .iter()
        .map(|line| format!("{},1\n", line.trim()))
        .collect();
    let file = folder.path().join("rated.csv").display().to_string();
    std::fs::write(&file, format!("obs_0,obs_1,reward,rho\n{rated}")).unwrap();
    let ask = || evaluate([&file]).discount(0.9).c(1e-6).phi_inf(2.0);
    let fit = ask().horizon(10).run().unwrap();
    let warnings = fit.warnings();
    assert!(
        matches!(warnings[0], Warning::Diverged { .. }),
        "{warnings:?}"
    );
    assert!(
        matches!(warnings[1], Warning::UnusedRatios { .. }),
        "{warnings:?}"
    );
    assert!(fit.diverged() && fit.is_finite() && fit.predict(&file).is_ok());
    let fit = ask().run().unwrap();
    assert!(fit.diverged() && !fit.is_finite());
    let refused = fit.predict(&file).unwrap_err();
    assert!(matches!(refused, Error::ModelDiverged { .. }), "{refused}");
}

/// TD is linear in the rewards, so a power of two as their unit changes no bit but the exponent of theta.
#[test]
fn divergence_does_not_depend_on_the_unit_of_rewards() {
    let folder = tempfile::tempdir().unwrap();
    let (_, lines) = simulated(3000);
    let in_units = |unit: f64| {
        let rows = lines.iter().map(|line| {
            let (obs, reward) = line.trim().rsplit_once(',').unwrap();
            format!("{obs},{}\n", unit * reward.parse::<f64>().unwrap())
        });
        let file = folder.path().join(format!("{unit}.csv"));
        let text = format!("obs_0,obs_1,reward\n{}", rows.collect::<String>());
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let step = |file: &String, algorithm: &str, c: Option<f64>| {
        let ask = evaluate([file])
            .discount(0.9)
            .algorithm(algorithm)
            .phi_inf(2.0);
        let ask = match c {
            Some(c) => ask.c(c),
            None => ask,
        };
        let fit = ask.horizon(40).run();
        fit.unwrap().divergence().map(Divergence::step)
    };
    let plain = in_units(1.0);
    for unit in [2f64.powi(60), 2f64.powi(-60)] {
        let file = in_units(unit);
        let at = step(&plain, "alg1", Some(1e-3));
        assert!(at.is_some_and(|at| at.is_some()), "{at:?}");
        assert_eq!(step(&file, "alg1", Some(1e-3)), at);
        assert_eq!(step(&file, "alg1", Some(10.0)), None);
        assert_eq!(step(&file, "lstd", None), None);
    }
}

/// A closed pipe.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_broken_pipe_is_known_by_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "log.csv", &simulated(50).1);
    let fit = evaluate([&file]).discount(0.9).c(1.0).run().unwrap();
    let written = fit.write_predictions(Log::files([&file]), ValueFormat::Csv, Closed);
    assert!(written.err().unwrap().is_broken_pipe());
    let refused = fit.save(folder.path().join("no/model.json")).unwrap_err();
    assert!(
        matches!(refused, Error::File(WriteError::NoDirectory { .. })),
        "{refused}"
    );
    assert!(!refused.is_broken_pipe());
}
