//! Reduces methods to each other, bit-identically where the operations are the same.

use proptest::prelude::*;
use robust_td_core::learner::recipe::{Output, Recipe, Samples};
use robust_td_core::learner::td0::projection_factor;
use robust_td_core::learner::{Alg1, Doubling, Learner, Steps, Td0, alg1, doubling};
use robust_td_core::random::Stream;
use robust_td_core::registry;
use robust_td_core::registry::Setting;

use crate::common::{distance, norm, random_vector};
use crate::reference::{Answer, Line};
use crate::stream::{Stream as Fed, assert_close, bits};
use crate::walk::{feed, mixing, samples, sparse_problem};

fn stream() -> impl Strategy<Value = Fed> {
    Fed::any(120).prop_filter("a sample", |stream| !stream.samples.is_empty())
}

/// T34: the projection ends within the ball, leaves points inside unchanged and is nonexpansive.
#[test]
fn the_projection_is_one() {
    let mut stream = Stream::new(34, 0);
    let project = |x: &[f64], radius: f64| -> Vec<f64> {
        let norm_sq = x.iter().map(|x| x * x).sum();
        let factor = projection_factor(norm_sq, radius).unwrap_or(1.0);
        x.iter().map(|x| x * factor).collect()
    };
    for _ in 0..2000 {
        let radius = 0.01 + 3.0 * stream.uniform();
        let [x, y] = [0, 1].map(|_| random_vector(&mut stream, 5, 2.0));
        let [px, py] = [&x, &y].map(|x| project(x, radius));
        assert!(norm(&px) <= radius * (1.0 + 1e-15));
        if norm(&x) < radius {
            assert_eq!(bits(&px), bits(&x));
        }
        assert!(distance(&px, &py) <= distance(&x, &y) * (1.0 + 1e-15) + 1e-15);
    }
    assert_eq!(projection_factor(f64::NAN, 1.0), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_huge_ball_changes_no_bit(stream in stream(), sparse: bool) {
        for output in [Output::Last, Output::Uniform, Output::StepWeighted, Output::DoublingTail] {
            let steps = Steps::Constant { eta: 0.1 };
            let plain = Recipe::plain("bhandari-a", stream.discount, steps, output);
            let mut free = Td0::new(plain, stream.dimension).unwrap();
            let mut projected = Td0::new(plain.projected(1e100), stream.dimension).unwrap();
            feed(&mut free, &stream.samples, sparse);
            feed(&mut projected, &stream.samples, sparse);
            prop_assert_eq!(bits(free.theta()), bits(projected.theta()));
            prop_assert_eq!(bits(&free.output()), bits(&projected.output()));
            prop_assert_eq!((free.projections(), projected.projections()), (None, Some(0)));
        }
    }

    #[test]
    fn algorithm_1_is_its_recipe(stream in stream(), log_c in -2.0..2.0_f64, sparse: bool) {
        let c = 10f64.powf(log_c);
        for params in [
            alg1::Alg1Params::decaying(stream.discount, stream.horizon(), c, stream.phi_inf),
            alg1::Alg1Params::constant(stream.discount, stream.horizon(), c, stream.phi_inf),
        ] {
            let mut own = Alg1::new(params, stream.dimension).unwrap();
            let mut general = Td0::new(own.recipe().unwrap(), stream.dimension).unwrap();
            feed(&mut own, &stream.samples, sparse);
            feed(&mut general, &stream.samples, sparse);
            prop_assert_eq!(bits(own.theta()), bits(general.theta()));
            prop_assert_eq!(bits(&own.output()), bits(&general.output()));
            prop_assert_eq!((own.id(), own.health()), (general.id(), general.health()));
        }
    }

    #[test]
    fn one_phase_of_doubling_is_algorithm_1(stream in stream(), log_c in -2.0..2.0_f64) {
        let c = 10f64.powf(log_c);
        let (t0, phi_inf) = (stream.horizon(), stream.phi_inf);
        let params = alg1::Alg1Params::decaying(stream.discount, t0, c, phi_inf);
        let mut whole = Alg1::new(params, stream.dimension).unwrap();
        let params = doubling::DoublingParams { t0, ..doubling::DoublingParams::new(stream.discount, c, phi_inf) };
        let mut phased = Doubling::new(params, stream.dimension).unwrap();
        feed(&mut whole, &stream.samples, false);
        feed(&mut phased, &stream.samples, false);
        prop_assert_eq!(bits(whole.theta()), bits(phased.theta()));
        prop_assert_eq!(bits(&whole.output()), bits(&phased.output()));
    }

    /// A group of one drops nothing, with either way of counting.
    #[test]
    fn groups_of_one_use_every_sample(stream in stream()) {
        let plain = Recipe::plain("samsonov", stream.discount, Steps::Constant { eta: 0.1 }, Output::half_of(50));
        let run = |samples: Samples| {
            let mut learner = Td0::new(plain.on(samples), stream.dimension).unwrap();
            feed(&mut learner, &stream.samples, true);
            (bits(learner.theta()), bits(&learner.output()), learner.updates())
        };
        let every = run(Samples::Every);
        prop_assert_eq!(&run(Samples::FirstOf(1)), &every);
        prop_assert_eq!(&run(Samples::LastOf(1)), &every);
    }

    /// The tail average of a run of unknown length, against the mean of the stored iterates.
    #[test]
    fn the_doubling_tail_is_a_mean(stream in stream(), regulariser in 0.0..0.5, radius in 0.05..2.0, sparse: bool) {
        let steps = Steps::Constant { eta: 0.2 };
        let recipe = Recipe::plain("patil-reg", stream.discount, steps, Output::DoublingTail);
        let recipe = recipe.regularised(regulariser).projected(radius);
        let mut learner = Td0::new(recipe, stream.dimension).unwrap();
        for n in 1..=stream.samples.len() {
            feed(&mut learner, &stream.samples[n - 1..n], sparse);
            // The largest power of two below n/2; 0 if there is none.
            let first = (0..).map(|k| 1_usize << k).take_while(|m| 2 * m < n).last().unwrap_or(0);
            prop_assert!(first == 0 || 4 * first >= n);
            let line = Line {
                eta: Box::new(|_| 0.2),
                uses: Box::new(|_| true),
                radius,
                lambda: regulariser,
                answer: Answer::From(first),
            };
            let expected = line.run(&stream.samples[..n], stream.discount);
            assert_close(&learner.output(), &expected.output, 1e-11);
            assert_close(learner.theta(), &expected.theta, 1e-11);
        }
    }

    /// A recipe describes the method completely: a new learner built from it does the same.
    #[test]
    fn a_method_is_its_recipe(seed in any::<u64>()) {
        let problem = sparse_problem(seed);
        let mixing = mixing(&problem);
        let samples = samples(&problem, 200, seed);
        let setting = Setting::of_problem(&problem, Some(&mixing), 200);
        for method in registry::METHODS {
            let Ok(mut prepared) = method.prepare::<&str>(&setting, &[]) else { continue };
            let Some(recipe) = prepared.learner.recipe() else { continue };
            let mut general = Td0::new(recipe, problem.dimension()).unwrap();
            feed(&mut prepared.learner, &samples, false);
            feed(&mut general, &samples, false);
            prop_assert_eq!(prepared.learner.id(), method.id);
            prop_assert_eq!(bits(prepared.learner.theta()), bits(general.theta()));
            prop_assert_eq!(bits(&prepared.learner.output()), bits(&general.output()));
        }
    }
}
