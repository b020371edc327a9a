//! Checks step sizes, projections and the authors' engine against straight-line code, to the bit.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::random_tables;
use robust_td_core::catalog;
use robust_td_core::random::{Dsfmt, SplitMix64, Stream};
use robust_td_engine::grid::published_seed;
use robust_td_engine::{Family, Kernel, Lane, Mode, Options, Plan, Projection, Tables, run};

fn plan(tables: Tables, lanes: Vec<Lane>, mode: Mode, steps: u64) -> Plan {
    Plan {
        variants: vec![tables],
        lanes,
        runs: 1,
        horizon: 10_000,
        simulate: steps,
        mode,
        curve_points_per_decade: 1,
    }
}

/// The table of the authors' step sizes: c = 2, T = 10^4 on E10 with eps2 = 0.1.
#[test]
fn step_sizes_have_their_formulas() {
    let tables = Tables::from(&catalog::problem("e10", &[("eps2", 0.1)]).unwrap());
    assert!((tables.curvature() / 9.900990099e-5 - 1.0).abs() <= 1e-10);
    let rows: [(Family, [f64; 3]); 8] = [
        (
            Family::Theory,
            [0.0276900582768, 0.0194741929851, 2.48285898104e-4],
        ),
        (
            Family::TheoryLog2,
            [0.183968765078, 0.111445085565, 3.30904369332e-4],
        ),
        (Family::InvT, [0.5, 0.25, 5e-4]),
        (Family::InvSqrtT, [0.5, 0.353553390593, 0.0158113883008]),
        (Family::InvT23, [0.5, 0.314980262474, 5e-3]),
        (Family::InvOmegaT, [5050.0, 2525.0, 5.05]),
        (Family::ConstantOmega, [4.95049504950e-5; 3]),
        (Family::InvC, [0.5; 3]),
    ];
    for mode in [Mode::Tdx, Mode::Published, Mode::Algorithm { seed: 1 }] {
        let plan = plan(tables.clone(), Vec::new(), mode, 10);
        for (family, expected) in rows {
            for (update, expected) in [1, 2, 1000].into_iter().zip(expected) {
                let found = plan.eta(&Lane::new(0, family, 2.0), update);
                let error = (found / expected - 1.0).abs();
                assert!(error <= 1e-11, "{family:?}: {found} is not {expected}");
            }
        }
        // The paper's own schedule starts one step earlier in Algorithm 1.
        let [theory, decaying] = [Family::Theory, Family::Decaying].map(|f| Lane::new(0, f, 2.0));
        let delayed = if mode.is_theirs() { 7 } else { 8 };
        assert_eq!(plan.eta(&theory, 7), plan.eta(&decaying, delayed));
    }
}

#[test]
fn radii_have_their_formulas() {
    for (name, settings) in [("toyexample", [("beta", 0.01)]), ("e10", [("eps2", 0.1)])] {
        let problem = catalog::problem(name, &settings).unwrap();
        let plan = plan(Tables::from(&problem), Vec::new(), Mode::Tdx, 10);
        let radius = |projection| {
            let lane = Lane {
                projection,
                ..Lane::new(0, Family::InvT, 1.0)
            };
            plan.radius(&lane)
        };
        assert_eq!(radius(Projection::None), f64::INFINITY);
        assert!((radius(Projection::Oracle) / problem.theta_star_norm() - 1.0).abs() <= 1e-14);
        let rest = 1.0 - problem.discount();
        let upper = 2.0 * problem.r_max() / (problem.omega().sqrt() * rest * rest);
        assert!((radius(Projection::Upper) / upper - 1.0).abs() <= 1e-13);
    }
    // Without rewards the radius is zero, which switches the projection off.
    let zero = catalog::find("e2").unwrap();
    let zero = zero
        .build(&[("mode", catalog::Setting::from("zero"))])
        .unwrap();
    let plan = plan(Tables::from(&zero), Vec::new(), Mode::Tdx, 10);
    for projection in Projection::ALL {
        let lane = Lane {
            projection,
            ..Lane::new(0, Family::InvT, 1.0)
        };
        assert_eq!(plan.radius(&lane), f64::INFINITY);
    }
}

/// The uniforms of the first run.
fn uniforms(mode: Mode, c: f64) -> Box<dyn FnMut() -> f64> {
    match mode {
        Mode::Published => {
            let mut generator = Dsfmt::new(published_seed(c, 1));
            Box::new(move || generator.uniform())
        }
        Mode::Tdx => {
            let mut generator = SplitMix64::new(published_seed(c, 1));
            Box::new(move || generator.uniform())
        }
        Mode::Algorithm { seed } => {
            let mut stream = Stream::new(seed, 0);
            Box::new(move || stream.uniform())
        }
    }
}

/// What one run leaves: |theta_T|^2, max |theta_t|^2 and the average.
struct Straight {
    last: f64,
    max: f64,
    average: Vec<f64>,
}

/// One run of one lane, line by line.
fn straight(plan: &Plan, lane: &Lane) -> Straight {
    let tables = &plan.variants[0];
    let d = tables.dimension;
    let mut uniform = uniforms(plan.mode, lane.c);
    let radius = plan.radius(lane);
    let (mut theta, mut sum, mut total) = (vec![0.0_f64; d], vec![0.0; d], 0.0);
    let (mut state, mut max) = (tables.start, 0.0_f64);
    for update in 1..=plan.simulate {
        let (u, row) = (uniform(), &tables.rows[state]);
        let (mut cumulative, mut next) = (0.0, None);
        for (k, p) in row.probabilities.iter().enumerate() {
            cumulative += p;
            if next.is_none() && u <= cumulative {
                next = Some(k);
            }
        }
        let next = next.unwrap_or(row.columns.len() - 1);
        let to = row.columns[next] as usize;
        let eta = plan.eta(lane, update);
        let weight = match plan.weighted(lane.family) {
            true => plan.eta(&Lane::new(0, Family::Decaying, 1.0), update),
            false => 1.0,
        };
        if !plan.mode.is_theirs() {
            (0..d).for_each(|j| sum[j] += weight * theta[j]);
        }
        total += weight;
        let psi = |j: usize| tables.discount * tables.phi(to)[j] - tables.phi(state)[j];
        let half = if d <= 5 { d } else { d / 2 };
        let mut delta = row.rewards[next];
        for (j, x) in theta.iter().enumerate().take(half) {
            delta = psi(j).mul_add(*x, delta);
        }
        if half < d {
            let mut second = psi(half) * theta[half];
            for (j, x) in theta.iter().enumerate().skip(half + 1) {
                second = psi(j).mul_add(*x, second);
            }
            delta += second;
        }
        let g = eta * delta;
        for j in 0..d {
            theta[j] = g.mul_add(tables.phi(state)[j], theta[j]);
        }
        let norm = |theta: &[f64]| {
            let first = theta[0] * theta[0];
            theta[1..].iter().fold(first, |norm, x| x.mul_add(*x, norm))
        };
        if norm(&theta) > radius * radius {
            let factor = radius / norm(&theta).sqrt();
            theta.iter_mut().for_each(|x| *x *= factor);
        }
        max = max.max(norm(&theta));
        if plan.mode.is_theirs() {
            (0..d).for_each(|j| sum[j] += weight * theta[j]);
        }
        state = to;
    }
    Straight {
        last: theta.iter().map(|x| x * x).sum(),
        max,
        average: sum.iter().map(|x| x / total).collect(),
    }
}

#[test]
fn every_schedule_and_projection_is_its_straight_line_version() {
    for (seed, states, d) in [(1, 6, 1), (2, 9, 3), (3, 30, 8)] {
        let tables = random_tables(seed, states, d);
        for mode in [Mode::Tdx, Mode::Published, Mode::Algorithm { seed }] {
            let mut lanes = Vec::new();
            for family in Family::ALL {
                for projection in Projection::ALL {
                    for c in [0.3, 5.0] {
                        lanes.push(Lane {
                            variant: 0,
                            family,
                            c,
                            projection,
                        });
                    }
                }
            }
            let plan = plan(tables.clone(), lanes, mode, 2500);
            let mut projected = 0;
            for kernel in [Kernel::Scalar, Kernel::best()] {
                let options = Options {
                    threads: 1,
                    kernel,
                    ..Options::default()
                };
                let results = run(plan.clone(), &options).unwrap().finished().unwrap();
                for (lane, found) in plan.lanes.iter().zip(&results.lanes) {
                    let expected = straight(&plan, lane);
                    let sampled = found.sampled.unwrap();
                    if !expected.last.is_finite() {
                        assert!(!sampled.final_norm.median.is_finite());
                        continue;
                    }
                    let bits = |x: f64| x.to_bits();
                    assert_eq!(
                        bits(sampled.final_norm.median),
                        bits(expected.last),
                        "{lane:?}"
                    );
                    assert_eq!(
                        bits(sampled.max_norm.median),
                        bits(expected.max),
                        "{lane:?}"
                    );
                    // The program sums averages by parts, and Published reports at the last logged step.
                    if mode != Mode::Published && expected.max < 1e9 {
                        let f = plan.variants[0].f(&expected.average);
                        assert!(
                            (found.gap / f - 1.0).abs() <= 1e-7,
                            "{lane:?}: {} {f}",
                            found.gap
                        );
                    }
                    let radius = plan.radius(lane);
                    if expected.max > radius * radius * (1.0 - 1e-9) {
                        projected += 1;
                        assert!(expected.max <= radius * radius * (1.0 + 1e-12));
                    }
                }
            }
            assert!(projected >= 10, "only {projected} lanes met their ball");
        }
    }
}

/// A sweep in which all modes, patterns and projections meet gives each lane what it gives it alone.
#[test]
fn a_lane_does_not_depend_on_its_neighbours() {
    let tables = random_tables(7, 12, 4);
    let mut lanes = Vec::new();
    for (k, family) in Family::ALL.into_iter().enumerate() {
        for projection in Projection::ALL {
            lanes.push(Lane {
                variant: 0,
                family,
                c: [0.5, 2.0][k % 2],
                projection,
            });
        }
    }
    for mode in [Mode::Tdx, Mode::Algorithm { seed: 3 }] {
        let together = Plan {
            runs: 11,
            ..plan(tables.clone(), lanes.clone(), mode, 1500)
        };
        let all = run(together.clone(), &Options::default()).unwrap();
        for (lane, found) in lanes.iter().zip(&all.finished().unwrap().lanes) {
            let alone = Plan {
                lanes: vec![*lane],
                ..together.clone()
            };
            let alone = run(alone, &Options::default()).unwrap().finished().unwrap();
            assert_eq!(format!("{:?}", alone.lanes[0]), format!("{found:?}"));
        }
    }
}

/// The exact expectation of every schedule agrees with the mean of many runs.
#[test]
fn expectations_agree_with_many_runs() {
    let tables = random_tables(5, 4, 2);
    let lanes: Vec<Lane> = Family::ALL
        .into_iter()
        .map(|family| Lane::new(0, family, if family == Family::Plain { 0.05 } else { 20.0 }))
        .collect();
    for mode in [Mode::Published, Mode::Algorithm { seed: 9 }] {
        let sampled = Plan {
            runs: 4000,
            ..plan(tables.clone(), lanes.clone(), mode, 100)
        };
        let exact = robust_td_engine::exact(sampled.clone(), &Options::default()).unwrap();
        let exact = exact.finished().unwrap();
        let found = run(sampled, &Options::default())
            .unwrap()
            .finished()
            .unwrap();
        for (found, expected) in found.lanes.iter().zip(&exact.lanes) {
            let error = found.sampled.unwrap().gap_standard_error;
            let z = (found.gap - expected.gap) / error;
            assert!(z.abs() <= 5.0, "{:?}: z = {z}", found.lane);
        }
    }
    let projected = Lane {
        projection: Projection::Oracle,
        ..lanes[0]
    };
    let refused = plan(tables, vec![projected], Mode::Published, 10);
    let message = robust_td_engine::exact(refused, &Options::default());
    assert!(message.unwrap_err().to_string().contains("projections"));
}
