//! Checks the certificates against published values, scaling laws and each other.

use robust_td_core::random::Stream;
use robust_td_core::theory::certificate::{Inputs, centred, constant_step, paper, zero_centred};
use robust_td_core::theory::certify::unit_steps;
use robust_td_core::theory::constants::{C0, rho};
use robust_td_core::theory::horizon::Horizon;
use robust_td_core::theory::lemma_sums::shape;
use robust_td_core::theory::{StepProfile, StepSums, recommend};

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value / expected - 1.0).abs() <= tolerance,
        "{value} is not {expected}"
    );
}

/// REF-2: the two-state chain with alpha = 0.6, epsilon = 0.3, discount 0.9.
fn ref_2(lags: usize) -> Inputs {
    Inputs {
        phi_inf: 1.09f64.sqrt(),
        r_inf: 1.0,
        discount: 0.9,
        distance: 1.7917578957241584,
        update_at_solution: 0.40784989582860953,
        update_at_start: 1.044030650891055,
        distances: (0..=lags).map(|j| 0.5 * 0.6f64.powi(j as i32)).collect(),
    }
}

fn profile(inputs: &Inputs, horizon: u64) -> StepProfile<impl Fn(u64) -> f64> {
    StepProfile::new(
        unit_steps(inputs.phi_inf, horizon),
        horizon,
        &inputs.distances,
    )
}

#[test]
fn the_published_vectors_are_met() {
    let inputs = ref_2(60);
    let sums = profile(&inputs, 1000).at(10).scaled(1.0 / 5.0);
    close(sums.e1, 0.01948883171231891, 1e-10);
    close(sums.e2, 0.0008766776926257724, 1e-10);
    close(sums.w1, 0.003072750219858844, 1e-10);
    close(sums.w2, 0.002242625181093719, 1e-10);
    close(sums.h, 0.0012299694618731437, 1e-10);
    close(sums.s, 0.3748031618399948, 1e-10);

    let x = zero_centred::solve(&inputs, 2.0, &sums);
    close(
        x.distance.unwrap() + inputs.distance,
        4.699387316615547,
        1e-10,
    );
    close(x.bound(sums.s).unwrap(), 11.278331815197406, 1e-10);
    close(x.a2, 0.15716450421476968, 1e-10);
    let x = zero_centred::solve(&inputs, 1.9, &sums);
    close(
        x.distance.unwrap() + inputs.distance,
        4.589359728589083,
        1e-10,
    );
    close(x.bound(sums.s).unwrap(), 10.440915141732967, 1e-10);
    close(x.a2, 0.1422040849541152, 1e-10);
    let y = centred::solve(&inputs, &sums);
    close(y.distance.unwrap(), 2.068772015769262, 1e-10);
    close(y.bound(sums.s).unwrap(), 5.709420422468433, 1e-10);
    close(y.a2, 0.1422040849541152, 1e-10);
}

#[test]
fn the_best_lag_is_the_best_of_all() {
    let inputs = ref_2(108);
    for (horizon, c) in [(50, 3.0), (2000, 5.0), (2000, 0.4), (1500, 40.0)] {
        let mut unit = profile(&inputs, horizon);
        let y = centred::certify(&inputs, &mut unit, c);
        let x = zero_centred::certify(&inputs, 1.9, &mut unit, c);
        let mut all = profile(&inputs, horizon);
        let sums: Vec<StepSums> = (0..=all.max_lag())
            .map(|u| all.at(u).scaled(1.0 / c))
            .collect();
        for (certificate, solutions) in [
            (
                y,
                sums.iter()
                    .map(|s| centred::solve(&inputs, s))
                    .collect::<Vec<_>>(),
            ),
            (
                x,
                sums.iter()
                    .map(|s| zero_centred::solve(&inputs, 1.9, s))
                    .collect(),
            ),
        ] {
            let best = |values: Vec<f64>| values.into_iter().fold(f64::INFINITY, f64::min);
            let bounds = best(
                solutions
                    .iter()
                    .filter_map(|s| s.bound(sums[0].s))
                    .collect(),
            );
            if bounds.is_finite() {
                assert_eq!(certificate.bound, Some(bounds));
                assert!(certificate.applies() && certificate.why_not().is_none());
            } else {
                let smallest = best(solutions.iter().map(|s| s.a2).collect());
                assert_eq!(certificate.a2, Some(smallest));
                assert!(certificate.bound.is_none() && !certificate.applies());
                assert!(certificate.why_not().unwrap().contains("A2 < 1 required"));
            }
        }
    }
}

#[test]
fn the_recommended_constant_is_the_published_one() {
    let inputs = ref_2(108);
    let mut unit = profile(&inputs, 1_000_000);
    let found = recommend(&inputs, &mut unit).unwrap();
    assert_eq!(found.lag, 13);
    close(found.c, 2.2667, 1e-4);
    close(found.bound, 0.49773, 1e-5);
    let y = centred::certify(&inputs, &mut unit, found.c);
    close(y.bound.unwrap(), found.bound, 1e-14);
    assert_eq!(y.lag, Some(13));

    // No c on a fine grid does better.
    for i in -400..=400 {
        let c = found.c * (f64::from(i) / 100.0).exp();
        let bound = centred::certify(&inputs, &mut unit, c).bound;
        assert!(
            bound.is_none_or(|bound| bound >= found.bound * (1.0 - 1e-12)),
            "c = {c}"
        );
    }

    let p = paper::certify(
        &inputs,
        1_000_000,
        &Horizon::new(1_000_000, 0.6).unwrap(),
        unit.total(),
        198.48,
    );
    assert!(p.applies());
    close(p.bound.unwrap(), 76.0, 0.01);
}

#[test]
fn a_constant_step_is_certified_as_published() {
    // Step s/(phi_inf^2 sqrt T), so c is 1/s. The published s are rounded, hence slightly above the optimum.
    let cases = [
        (100_000u64, Some((0.0270, 13)), 0.3203),
        (1_000_000, Some((0.0247, 15)), 0.1092),
        (100_000_000, None, 0.01229),
    ];
    for (horizon, published, bound) in cases {
        let inputs = ref_2(120);
        let unit_step = 1.0 / (1.09 * (horizon as f64).sqrt());
        let mut unit = StepProfile::new(move |_| unit_step, horizon, &inputs.distances);
        let found = recommend(&inputs, &mut unit).unwrap();
        close(found.bound, bound, 5e-4);
        if let Some((step, lag)) = published {
            let sums = unit.at(lag).scaled(step);
            let value = centred::solve(&inputs, &sums).bound(sums.s).unwrap();
            close(value, bound, 5e-4);
            assert!(found.bound <= value);
            assert_eq!(found.lag, lag);
        }
    }
}

#[test]
fn bounds_do_not_depend_on_the_scale_of_the_features() {
    let inputs = ref_2(60);
    let mut unit = profile(&inputs, 5000);
    for k in [1e-3, 0.25, 7.0, 1e4] {
        let scaled = Inputs {
            phi_inf: inputs.phi_inf * k,
            distance: inputs.distance / k,
            update_at_solution: inputs.update_at_solution * k,
            update_at_start: inputs.update_at_start * k,
            ..inputs.clone()
        };
        let mut scaled_unit = profile(&scaled, 5000);
        for c in [3.0, 5.0, 60.0] {
            let pairs = [
                (
                    centred::certify(&inputs, &mut unit, c),
                    centred::certify(&scaled, &mut scaled_unit, c),
                ),
                (
                    zero_centred::certify(&inputs, 1.9, &mut unit, c),
                    zero_centred::certify(&scaled, 1.9, &mut scaled_unit, c),
                ),
                (
                    constant_step::certify(&inputs, 5000),
                    constant_step::certify(&scaled, 5000),
                ),
            ];
            for (one, other) in pairs {
                assert_eq!(one.lag, other.lag);
                close(other.bound.unwrap(), one.bound.unwrap(), 1e-10);
                close(
                    other.iterate_bound.unwrap() * k * k,
                    one.iterate_bound.unwrap(),
                    1e-10,
                );
                close(other.a2.unwrap(), one.a2.unwrap(), 1e-10);
            }
        }
        close(
            paper::closed_form(&scaled, 5000, 60.0).unwrap(),
            paper::closed_form(&inputs, 5000, 60.0).unwrap(),
            1e-10,
        );
        let (one, other) = (
            recommend(&inputs, &mut unit).unwrap(),
            recommend(&scaled, &mut scaled_unit).unwrap(),
        );
        assert_eq!(one.lag, other.lag);
        close(other.bound, one.bound, 1e-10);
        close(other.c, one.c, 1e-6);
    }
}

#[test]
fn smaller_steps_have_smaller_iterate_bounds() {
    let inputs = ref_2(60);
    for horizon in [10u64, 1000, 50_000] {
        let mut large = profile(&inputs, horizon);
        let scale = 1.0 / (1.09 * (horizon as f64).ln());
        // The constant variant is below Algorithm 1's steps, and so are steps that fall faster.
        let constant = scale / ((horizon as f64 + 3.0).ln() * (horizon as f64 + 1.0).sqrt());
        let mut flat = StepProfile::new(move |_| constant, horizon, &inputs.distances);
        let mut steep = StepProfile::new(
            move |t| scale * shape(t) / (t as f64 + 1.0).sqrt(),
            horizon,
            &inputs.distances,
        );
        for u in 0..=large.max_lag() {
            for c in [3.0, 10.0, 100.0] {
                let y = |sums: StepSums| centred::solve(&inputs, &sums.scaled(1.0 / c)).distance;
                let x = |sums: StepSums| {
                    zero_centred::solve(&inputs, 2.0, &sums.scaled(1.0 / c)).distance
                };
                let (Some(above_y), Some(above_x)) = (y(large.at(u)), x(large.at(u))) else {
                    continue;
                };
                for below in [flat.at(u), steep.at(u)] {
                    assert!(y(below).unwrap() <= above_y && x(below).unwrap() <= above_x);
                }
            }
        }
    }
}

#[test]
fn the_sharp_induction_never_exceeds_the_papers_radius() {
    let mut worst = 0f64;
    for alpha in [0.5, 0.6, 0.7, 0.8, 0.9] {
        for horizon in [10u64, 40, 500, 10_000, 1_000_000] {
            let conditions = Horizon::new(horizon, alpha).unwrap();
            if !conditions.relaxed_holds {
                continue;
            }
            let lag = conditions.lag.min(horizon - 1);
            for (phi_inf, r_inf, distance) in [
                (1.0, 1.0, 1.0),
                (2.0, 0.1, 3.0),
                (0.5, 4.0, 0.2),
                (1.0, 0.0, 1.0),
            ] {
                let inputs = Inputs {
                    phi_inf,
                    r_inf,
                    discount: 0.99,
                    distance,
                    update_at_solution: f64::NAN,
                    update_at_start: f64::NAN,
                    distances: (0..=lag)
                        .map(|j| (2.0 * alpha.powi(j as i32)).min(1.0))
                        .collect(),
                };
                let mut unit = profile(&inputs, horizon);
                for c in [C0 + 0.01, 41.0, 50.0, 75.0, 200.0, 1e4] {
                    let sums = unit.at(lag).scaled(1.0 / c);
                    let radius =
                        zero_centred::solve(&inputs, 2.0, &sums).distance.unwrap() + distance;
                    worst = worst.max(radius / (rho(c).unwrap() * inputs.scale()));
                }
            }
        }
    }
    assert!(worst <= 1.0 && worst > 0.5, "{worst}");
}

#[test]
fn the_closed_forms_bound_the_exact_ones() {
    let inputs = ref_2(60);
    for horizon in [3u64, 100, 10_000] {
        let unit = profile(&inputs, horizon);
        for c in [41.0, 60.0, 198.48, 1e4] {
            let p = paper::certify(
                &inputs,
                horizon,
                &Horizon::new(horizon, 0.6).unwrap(),
                unit.total(),
                c,
            );
            assert!(p.bound.unwrap() <= paper::closed_form(&inputs, horizon, c).unwrap());
            // The constant variant: the same numerator over T equal steps.
            let t = horizon as f64;
            let step = 1.0 / (c * 1.09 * t.ln() * (t + 3.0).ln() * (t + 1.0).sqrt());
            let exact = paper::iterate_bound(&inputs, c).unwrap() / (2.0 * t * step);
            close(
                paper::constant_step_closed_form(&inputs, horizon, c).unwrap(),
                exact,
                1e-12,
            );
        }
    }
    // The best constant of the closed form: 140.05 max(r^2, ph^2 |theta*|^2) log^2(T+3) / (sqrt(T+1) - 1).
    let p2 = paper::closed_form(&inputs, 1_000_000, 198.48).unwrap();
    let scale =
        1.09 * inputs.distance.powi(2) * 1_000_003f64.ln().powi(2) / (1_000_001f64.sqrt() - 1.0);
    close(p2 / scale, 140.05, 1e-4);
}

#[test]
fn the_paper_names_what_fails() {
    let inputs = ref_2(60);
    let certify = |horizon: u64, alpha: f64, c: f64| {
        paper::certify(
            &inputs,
            horizon,
            &Horizon::new(horizon, alpha).unwrap(),
            1.0,
            c,
        )
    };
    assert!(certify(1000, 0.6, 50.0).applies());
    let below = certify(1000, 0.6, 2.0);
    assert!(below.bound.is_none() && !below.applies());
    assert!(
        below
            .why_not()
            .unwrap()
            .contains("c > 40.46 required, got 2")
    );
    let short = certify(10_000_000, 0.9953, 50.0);
    assert!(short.bound.is_some() && !short.applies());
    let reason = short.why_not().unwrap();
    assert!(
        reason.contains("log^2 T") && reason.contains("got 259.8"),
        "{reason}"
    );
    assert!(certify(2, 0.5, 50.0).why_not().unwrap().contains("T >= 3"));
    assert!(!certify(1000, 0.6, f64::NAN).applies());
}

#[test]
fn the_constant_step_certificate_is_above_y() {
    let mut stream = Stream::new(7, 0);
    let mut worst = 0f64;
    for _ in 0..3000 {
        let log_uniform = |low: f64, high: f64, x: f64| low * (high / low).powf(x);
        let alpha = 1.0 - log_uniform(1e-3, 0.9, stream.uniform());
        let phi_inf = log_uniform(0.1, 10.0, stream.uniform());
        let discount = stream.uniform();
        let distance = log_uniform(0.01, 100.0, stream.uniform());
        let growth = (1.0 + discount) * phi_inf * phi_inf;
        // Half of the draws are worst cases: both terms of x equal, the first update as large as possible.
        let bad = stream.uniform() < 0.5;
        let ratio = log_uniform(0.01, 100.0, stream.uniform());
        let update_at_solution = growth * distance * if bad { 1.0 } else { ratio };
        let share = if bad { 1.0 } else { stream.uniform() };
        let prefactor = 0.5 + 1.5 * stream.uniform();
        let mut inputs = Inputs {
            phi_inf,
            r_inf: f64::NAN,
            discount,
            distance,
            update_at_solution,
            update_at_start: update_at_solution + growth * distance * share,
            distances: (0..20_000)
                .map(|j| (prefactor * alpha.powi(j)).min(1.0))
                .take_while(|&distance| distance > 1e-3)
                .chain([1e-3])
                .collect(),
        };
        let horizon = log_uniform(64.0, 3e4, stream.uniform()).ceil() as u64;
        let certificate = constant_step::certify(&inputs, horizon);
        if !certificate.applies() {
            continue;
        }
        let lag = certificate.lag.unwrap();
        inputs.distances.truncate(lag as usize + 1);
        let step = constant_step::step_size(&inputs, horizon, lag);
        let sums = StepProfile::new(move |_| step, horizon, &inputs.distances).at(lag);
        let y = centred::solve(&inputs, &sums);
        let ratio = y.bound(sums.s).unwrap() / certificate.bound.unwrap();
        worst = worst.max(ratio);
        assert!(y.distance.unwrap().powi(2) <= certificate.iterate_bound.unwrap());
        assert!(y.a2 <= certificate.a2.unwrap());
    }
    assert!(worst <= 1.0 && worst > 0.4, "{worst}");
}

#[test]
fn the_constant_step_certificate_names_what_fails() {
    let mut inputs = ref_2(60);
    assert!(constant_step::certify(&inputs, 100_000).applies());
    let short = constant_step::certify(&inputs, 300);
    assert!(!short.applies() && short.why_not().unwrap().contains("T >= "));
    inputs.distances.truncate(3);
    let unknown = constant_step::certify(&inputs, 100_000);
    assert!(
        unknown.bound.is_none()
            && unknown
                .why_not()
                .unwrap()
                .contains("mixing distance at lag 2")
    );
}

#[test]
fn very_long_horizons_are_certified() {
    let mut previous = f64::INFINITY;
    for exponent in 5..=18 {
        let horizon = 10u64.pow(exponent);
        let inputs = ref_2(4 * ((horizon as f64).ln() / -0.6f64.ln()).ceil() as usize);
        let found = recommend(&inputs, &mut profile(&inputs, horizon)).unwrap();
        assert!(found.bound < previous, "T = 1e{exponent}: {found:?}");
        previous = found.bound;
    }
    assert!(previous < 1e-5, "{previous}");
}
