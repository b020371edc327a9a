//! Checks what a model reports about its errors, and that it resumes where it was saved.

use std::ops::ControlFlow;

use robust_td_core::features::{FeatureMap, Fitting, Row};
use robust_td_core::learner::{Features, Learner, Outcome, Transition, alg1};
use robust_td_data::{
    Batch, Compression, Format, Learned, Model, Pairing, ReadOptions, Reader, Source, Transitions,
};

/// A log of one long episode: a noisy walk on a circle.
fn log(rows: usize) -> String {
    let mut text = String::from("obs_0,obs_1,reward\n");
    let mut angle = 0.0_f64;
    for i in 0..rows {
        text += &format!("{},{},{}\n", angle.cos(), angle.sin(), (angle * 0.5).sin());
        angle += 0.7 + ((i * i) % 13) as f64 * 0.1;
    }
    text
}

fn reader(text: &str) -> Reader {
    reader_of_batches(text, 100)
}

fn reader_of_batches(text: &str, batch_rows: usize) -> Reader {
    let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
    let source = Source::stream("log", Format::Csv, Compression::None, bytes).unwrap();
    let options = ReadOptions {
        batch_rows,
        skip_bad_rows: 1000,
        ..ReadOptions::default()
    };
    Reader::open(vec![source], options).unwrap()
}

fn learner(dimension: usize) -> robust_td_core::learner::Alg1 {
    let params = alg1::Alg1Params::decaying(0.8, 3000, 0.05, 1.0);
    robust_td_core::learner::Alg1::new(params, dimension).unwrap()
}

fn learn(model: &mut Learned, text: &str) {
    let (mut reader, mut batch) = (reader(text), Batch::default());
    while reader.read(&mut batch).unwrap() {
        let schema = reader.schema().clone();
        model.learn(&schema, &batch, 0, u64::MAX).unwrap();
    }
}

fn json(learned: Learned) -> String {
    Model::Learned(Box::new(learned)).to_json().unwrap()
}

#[test]
fn the_residual_is_that_of_the_answers_before_their_blocks() {
    let text = log(3001);
    let mut model =
        Learned::new(FeatureMap::identity(2), learner(2).into(), Some(1.0), None).unwrap();
    learn(&mut model, &text);
    // The same computed directly: blocks of 64 in every 512 samples; the reported sum began when the number of
    // 512s was last half a power of two.
    let mut own = learner(2);
    let (mut seen, mut answer) = (0_u64, Vec::new());
    let mut blocks: Vec<(u64, f64, [f64; 2])> = Vec::new();
    let mut squares = 0.0;
    let mut transitions = Transitions::new(reader(&text), Pairing::default());
    let _ = transitions
        .for_each(|step| {
            let here = Features::Dense(step.obs);
            let next = Features::Dense(step.next_obs().unwrap());
            let transition = Transition::new(here, step.reward, next);
            squares += transition.td_error(own.theta(), 0.8).powi(2);
            if seen % 512 == 0 {
                answer = own.output();
                blocks.push((seen / 512, 0.0, [0.0; 2]));
            }
            if seen % 512 < 64 {
                let delta = transition.td_error(&answer, 0.8);
                let (_, count, sum) = blocks.last_mut().unwrap();
                *count += 1.0;
                sum[0] += delta * step.obs[0];
                sum[1] += delta * step.obs[1];
            }
            own.step(&transition);
            seen += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((seen, blocks.len()), (3000, 6));
    // Blocks 0..=5: the younger sum began at block 4, the reported one at block 2.
    let counted = || blocks.iter().filter(|(index, ..)| *index >= 2);
    let count: f64 = counted().map(|(_, count, _)| count).sum();
    let sum = |k: usize| counted().map(|(_, _, sum)| sum[k]).sum::<f64>() / count;
    let expected = sum(0).hypot(sum(1));
    let found = model.diagnostics().residual().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    let rms = model.diagnostics().td_errors().rms();
    assert!((rms / (squares / 3000.0).sqrt() - 1.0).abs() < 1e-12);
    assert_eq!(model.learner().theta(), own.theta());
}

#[test]
fn features_are_those_of_the_rows_whatever_the_batches_and_stops() {
    // Episodes of all lengths that end in every way, with bad rows between, and next observations that do or do not
    // belong to the next row.
    let mut plain = String::from("obs_0,obs_1,reward,episode,terminated,truncated\n");
    let mut complete = String::from("obs_0,obs_1,next_obs_0,next_obs_1,reward,terminated\n");
    let at = |i: usize| ((i as f64 * 0.7).cos(), (i as f64 * 1.3).sin());
    for i in 0..400_usize {
        let ((x, y), (u, v)) = (at(i), at(if i % 7 == 3 { i + 5 } else { i + 1 }));
        let (reward, episode) = (if i % 31 == 30 { "bad" } else { "0.5" }, i / 37);
        let (terminated, truncated) = (u8::from(i % 37 == 36), u8::from(i % 11 == 10));
        plain += &format!("{x},{y},{reward},{episode},{terminated},{truncated}\n");
        complete += &format!("{x},{y},{u},{v},{reward},{terminated}\n");
    }
    for (text, spec) in [&plain, &complete].into_iter().flat_map(|text| {
        [
            "tiles(tilings=9, bins=3, low=-1, high=1)",
            "polynomial(degree=2)",
        ]
        .map(|s| (text, s))
    }) {
        let features = Fitting::new(spec, 2).unwrap().finish().unwrap();
        let mut own = learner(features.outputs());
        let [mut here, mut next] = [Row::for_map(&features), Row::for_map(&features)];
        let _ = Transitions::new(reader(text), Pairing::default())
            .for_each(|step| {
                features.write(step.obs, &mut here);
                if let Some(obs) = step.next_obs() {
                    features.write(obs, &mut next);
                }
                let outcome = match step.outcome {
                    Outcome::Terminated => Outcome::Terminated,
                    _ => Outcome::Continues(next.features()),
                };
                own.step(&Transition::new(here.features(), step.reward, outcome));
                ControlFlow::Continue(())
            })
            .unwrap();
        assert!(own.steps() > 300);
        for (batch_rows, stop) in [(1, 1), (2, 1000), (15, 4), (16, 1), (33, 50), (1000, 1000)] {
            let learner = learner(features.outputs()).into();
            let mut model = Learned::new(features.clone(), learner, Some(3.0), None).unwrap();
            let (mut reader, mut batch) = (reader_of_batches(text, batch_rows), Batch::default());
            while reader.read(&mut batch).unwrap() {
                let (schema, mut from) = (reader.schema().clone(), 0);
                while from < batch.len() {
                    let until = model.learner().steps() + stop;
                    from = model.learn(&schema, &batch, from, until).unwrap();
                }
            }
            assert_eq!(
                model.learner().output(),
                own.output(),
                "{spec} {batch_rows}"
            );
        }
    }
}

#[test]
fn a_saved_model_goes_on_to_the_same_bytes() {
    let text = log(700);
    let spec = "tiles(tilings=4, bins=3, low=-1, high=1) + bias";
    let features = Fitting::new(spec, 2).unwrap().finish().unwrap();
    let new = || {
        Learned::new(
            features.clone(),
            learner(features.outputs()).into(),
            Some(3.0),
            None,
        )
    };
    let mut whole = new().unwrap();
    learn(&mut whole, &text);
    let lines: Vec<&str> = text.lines().collect();
    for cut in [2, 3, 64, 333, 699] {
        let part = |rows: &[&str]| format!("{}\n{}\n", lines[0], rows.join("\n"));
        let mut first = new().unwrap();
        learn(&mut first, &part(&lines[1..cut]));
        let Model::Learned(mut second) = Model::from_json(&json(first)).unwrap() else {
            panic!("a learner is restored as a learner");
        };
        learn(&mut second, &part(&lines[cut..]));
        assert_eq!(json(*second), json(whole.clone()), "cut at {cut}");
    }
}

#[test]
fn other_files_are_not_models() {
    for (text, expected) in [
        ("", "not a robust-td model"),
        (
            "{\"kind\":\"robust-td checkpoint\",\"version\":1}",
            "robust-td checkpoint",
        ),
        (
            "{\"kind\":\"robust-td model\",\"version\":99}",
            "of version 99",
        ),
        ("{\"kind\":\"robust-td model\",\"version\":13}", "damaged"),
    ] {
        let message = Model::from_json(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
