//! Checks averages of independent learners: the same bits, whoever computes them; weights, errors, and what is said about them.

use std::fmt::Write;
use std::path::Path;

use robust_td_core::random::Stream;
use robust_td_data::{
    Engine, Error, Evaluation, FindingKind, Fit, Model, Result, Tasks, compute_task, evaluate,
    merge_states,
};

/// Computes tasks from the last to the first, and merges 64 states at a time.
#[derive(Default)]
struct Backwards {
    jobs: Vec<(&'static str, usize)>,
    largest: usize,
}

impl Engine for Backwards {
    fn run(&mut self, name: &'static str, description: Vec<u8>, tasks: Tasks) -> Result<Vec<u8>> {
        let mut states = Vec::new();
        for k in (0..tasks.len()).rev() {
            states.push(compute_task(
                &description,
                &tasks.get(k).unwrap(),
                1 + k % 2,
            )?);
        }
        states.reverse();
        self.jobs.push((name, states.len()));
        self.largest = self.largest.max(states.iter().map(Vec::len).max().unwrap());
        while states.len() > 1 {
            let groups = states.chunks(64);
            let merged = groups
                .map(|group| merge_states(&description, group.iter().map(Vec::as_slice)))
                .collect::<Result<Vec<_>>>();
            states = merged?;
        }
        Ok(states.remove(0))
    }
}

/// Two states: from either, the next is 0 or 1 with probability 1/2; the reward is the state plus noise. With one-hot features and discount gamma,
/// V(s) = s + gamma / 2 / (1 - gamma).
fn two_states(folder: &Path, rows: usize, seed: u64, episode: Option<usize>) -> Vec<String> {
    let mut random = Stream::new(seed, 0);
    let names = (0..3).map(|k| folder.join(format!("log-{k}.csv")).display().to_string());
    let names: Vec<String> = names.collect();
    for (k, name) in names.iter().enumerate() {
        let mut text = "obs_0,obs_1,reward,episode,truncated,next_obs_0,next_obs_1\n".to_owned();
        let mut state = 0;
        for row in k * rows / 3..(k + 1) * rows / 3 {
            let next = usize::from(random.uniform() < 0.5);
            let reward = state as f64 + random.uniform() - 0.5;
            let length = episode.unwrap_or(usize::MAX);
            let (number, last) = (row / length, row % length == length - 1);
            let one_hot = |s: usize| format!("{},{}", 1 - s, s);
            let (own, after, cut) = (one_hot(state), one_hot(next), u8::from(last));
            writeln!(text, "{own},{reward},{number},{cut},{after}").unwrap();
            state = if last { 0 } else { next };
        }
        std::fs::write(name, text).unwrap();
    }
    names
}

fn log(names: &[String]) -> Evaluation {
    evaluate(names.to_vec()).discount(0.5)
}

/// TD(0) with a constant step and the average of the later half of its iterates.
fn with_step(names: &[String], step: f64) -> Evaluation {
    log(names)
        .algorithm("samsonov")
        .parameter("drop", 1.0)
        .parameter("step", step)
}

fn stepping(names: &[String]) -> Evaluation {
    with_step(names, 0.05)
}

fn report(fit: &Fit) -> String {
    let mut report = serde_json::to_value(fit.report()).unwrap();
    report.as_object_mut().unwrap().remove("seconds");
    report.to_string()
}

#[test]
fn averages_have_the_same_bits_whoever_computes_them() {
    for episode in [None, Some(1), Some(700), Some(40_000)] {
        let folder = tempfile::tempdir().unwrap();
        let names = two_states(folder.path(), 60_000, 3, episode);
        let averaged = || stepping(&names).learners(70);
        let alone = averaged().threads(1).run().unwrap();
        let json = alone.model().to_json().unwrap();
        assert_eq!(
            averaged()
                .threads(3)
                .run()
                .unwrap()
                .model()
                .to_json()
                .unwrap(),
            json
        );
        let mut engine = Backwards::default();
        let parts = averaged().run_in_parts(&mut engine).unwrap();
        assert_eq!(report(&parts), report(&alone), "{episode:?}");
        assert_eq!(parts.model().to_json().unwrap(), json);
        let names: Vec<_> = engine.jobs.iter().map(|(name, _)| *name).collect();
        let all = ["rows", "survey", "norms", "learn", "assess", "returns"];
        assert_eq!(names, all);
        assert_eq!(engine.jobs[3].1, 70);
        // What a model says is the same after it was saved.
        let restored = Fit::new(Model::from_json(&json).unwrap(), 0.95).unwrap();
        assert_eq!(restored.start_value(), alone.start_value());
        assert_eq!(restored.model().to_json().unwrap(), json);
        let learners = alone.learners().unwrap();
        // Two episodes of 40,000 rows, cut by files: learners without an episode of their own have no part.
        let own = if episode == Some(40_000) {
            2..=4
        } else {
            70..=70
        };
        assert!(
            own.contains(&learners.averaged),
            "{episode:?}: {learners:?}"
        );
        assert_eq!(alone.steps(), 60_000);
    }
}

#[test]
fn one_shard_is_what_a_learner_learns_alone() {
    let folder = tempfile::tempdir().unwrap();
    let names = two_states(folder.path(), 9_000, 5, Some(100));
    // Three files of 30 episodes: each learner has one file.
    let averaged = stepping(&names).learners(3).run().unwrap();
    let mut sum = [0.0; 2];
    for name in &names {
        let one = stepping(std::slice::from_ref(name)).run().unwrap();
        sum.iter_mut()
            .zip(one.theta_bar())
            .for_each(|(sum, x)| *sum += x / 3.0);
    }
    for (average, sum) in averaged.theta_bar().iter().zip(sum) {
        assert!((average - sum).abs() < 1e-14, "{average} {sum}");
    }
    assert_eq!(averaged.learners().unwrap().fewest_transitions, 3000);
}

#[test]
fn learners_that_have_not_learned_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let names = two_states(folder.path(), 30_000, 7, Some(50));
    let good = log(&names).algorithm("lstd").learners(16).run().unwrap();
    assert_eq!(good.converged(), Some(true));
    let start = good.start_value().unwrap();
    assert!(
        start.upper.is_finite() && start.upper - start.lower < 0.1,
        "{start:?}"
    );
    // Every episode starts in state 0, where the value is 0.5 * 0.5 / 0.5.
    assert!((start.value - 0.5).abs() < 0.05, "{start:?}");
    let kinds = |fit: &Fit| -> Vec<FindingKind> {
        let findings = fit.findings().into_iter();
        findings.map(|finding| finding.kind).collect()
    };
    assert!(kinds(&good).contains(&FindingKind::AverageOfLearners));
    // Steps so small that every learner stays near its start: they agree with each other, and all are wrong.
    let bad = with_step(&names, 1e-5).learners(16).run().unwrap();
    assert_eq!(bad.converged(), Some(false));
    assert!(bad.learners().unwrap().standard_error.unwrap() < 1e-3);
    assert_eq!(bad.start_value().unwrap().upper, f64::INFINITY);
    assert!(bad.uncertainty().is_none() && bad.interval(&[1.0, 0.0]).unwrap().is_none());
    assert_eq!(kinds(&bad)[0], FindingKind::NotLearned);
}

#[test]
fn what_is_not_averaged_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let names = two_states(folder.path(), 300, 1, Some(10));
    let refused = |evaluation: Evaluation| match evaluation.run() {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it was not refused"),
    };
    let step = || stepping(&names);
    for (evaluation, words) in [
        (
            step().learners(1),
            "learners is 1, but must be from 2 to 1024",
        ),
        (step().learners(2000), "learners is 2000, but must be"),
        (log(&names).learners(4), "learners is not an option of auto"),
        (step().learners(4).horizon(100), "with a horizon"),
        (step().learners(4).passes(2), "with several passes"),
        (step().learners(4).cluster("episode"), "cluster column"),
        (step().learners(4).features("auto"), "choose among"),
        (step().learners(200), "needs"),
    ] {
        let found = refused(evaluation);
        assert!(found.contains(words), "{found}");
    }
    let mut engine = Backwards::default();
    let error = step().run_in_parts(&mut engine).unwrap_err();
    assert!(matches!(&error, Error::NotInParts { what } if what.contains("option learners")));
    let model = step().learners(4).run().unwrap().into_model();
    let error = step().resume(model).run().unwrap_err().to_string();
    assert!(error.contains("cannot be resumed"), "{error}");
}

#[test]
fn states_are_small() {
    let folder = tempfile::tempdir().unwrap();
    let names = two_states(folder.path(), 30_000, 9, None);
    let mut engine = Backwards::default();
    let averaged = with_step(&names, 1e-3).features("polynomial(degree=22)");
    let fit = averaged.learners(8).run_in_parts(&mut engine).unwrap();
    assert_eq!(fit.theta_bar().len(), 276);
    assert!(engine.largest < 200_000, "{}", engine.largest);
}
