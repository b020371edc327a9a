//! Compares the sparse route with the dense one.

use super::*;
use crate::equations::Equations;
use crate::influence::{GroupSums, Grouping, Influence};
use crate::phi::{Features, Transition};
use crate::random::Stream;

/// A walk on `states` states with features: one-hot, or overlapping tilings, which are never independent.
struct Log {
    features: Vec<Vec<u32>>,
    ones: Vec<f64>,
    dimension: usize,
    /// State, reward, next state unless the episode ends, ratio.
    rows: Vec<(usize, f64, Option<usize>, f64)>,
}

impl Log {
    fn new(states: usize, tilings: usize, ends: bool, weighted: bool, seed: u64) -> Self {
        let mut random = Stream::new(states as u64, seed);
        let mut features = Vec::new();
        let mut dimension = 3;
        for state in 0..states {
            let of = |tiling: usize| match tilings {
                1 => state,
                _ => tiling * states + (state + tiling) / tilings,
            };
            features.push((0..tilings).map(|tiling| of(tiling) as u32).collect());
            dimension = dimension.max(of(tilings - 1) + 3);
        }
        let mut state = 0;
        let mut rows = Vec::new();
        for _ in 0..20 * states {
            let step = (random.uniform() * 7.0) as usize;
            let next = (state + states + step - 3) % states;
            let over = ends && random.uniform() < 0.05;
            let ratio = if weighted {
                2.0 * random.uniform()
            } else {
                1.0
            };
            let reward = random.uniform() + (state % 5) as f64;
            rows.push((state, reward, (!over).then_some(next), ratio));
            state = if over { 0 } else { next };
        }
        Self {
            features,
            ones: vec![1.0; tilings],
            dimension,
            rows,
        }
    }

    fn phi(&self, state: usize) -> Features<'_> {
        Features::Sparse {
            indices: &self.features[state],
            values: &self.ones,
        }
    }

    fn for_each(&self, mut visit: impl FnMut(usize, &Transition<'_>)) {
        for (t, &(state, reward, next, ratio)) in self.rows.iter().enumerate() {
            let phi = self.phi(state);
            let transition = match next {
                Some(next) => Transition::new(phi, reward, self.phi(next)),
                None => Transition::terminated(phi, reward),
            };
            visit(t, &transition.with_ratio(ratio));
        }
    }
}

#[test]
fn agrees_with_the_dense_solution() {
    const GROUPS: usize = 60;
    let gamma = 0.95;
    for (states, tilings) in [(40, 1), (300, 1), (120, 3), (200, 4)] {
        for (ends, weighted) in [(false, false), (true, false), (true, true)] {
            let log = Log::new(states, tilings, ends, weighted, 1);
            let d = log.dimension;
            let mut dense = Equations::new(d, gamma).unwrap();
            let mut sums = SparseSums::new(d, gamma, true).unwrap();
            let mut part = sums.clone();
            log.for_each(|t, transition| {
                dense.add(transition);
                part.add(transition);
                if t % 100 == 99 {
                    sums.merge(std::mem::replace(
                        &mut part,
                        SparseSums::new(d, gamma, true).unwrap(),
                    ));
                }
            });
            sums.merge(part);
            let expected = dense.solve().unwrap();
            let system = sums.into_system().unwrap();
            let factors = system.factor(1e9, 1e12).unwrap();
            let found = factors.solve().unwrap();
            let case = format!("{states} {tilings} {ends} {weighted}");
            assert!(found.relative_residual < 1e-9, "{case}");
            assert_eq!(found.rank, Some(expected.rank), "{case}");
            for (x, y) in found.theta.iter().zip(&expected.theta) {
                assert!((x - y).abs() < 1e-5 * y.abs().max(1.0), "{case}: {x} {y}");
            }
            let mut all = GroupSums::new(GROUPS, d);
            let mut seen = GroupSums::new(GROUPS, system.seen());
            let mut part = SparseGroupSums::new(&system, GROUPS);
            log.for_each(|t, transition| {
                let group = t * GROUPS / log.rows.len();
                let delta = transition.td_error(&expected.theta, gamma);
                all.add(group, transition, delta);
                part.add(group, transition, delta);
            });
            part.add_to(&mut seen);
            let grouping = Grouping::Independent;
            let dense = Influence::new(&expected, grouping, &all, GROUPS as u64).unwrap();
            let rows = factors.influence(seen.scores().clone());
            let features = system.features().to_vec();
            let sparse =
                Influence::of_seen(rows, features, grouping, &seen, GROUPS as u64).unwrap();
            assert!(sparse.fits(d));
            for state in 0..states {
                let phi = log.phi(state);
                let covered = expected.identified.covers(phi);
                assert_eq!(found.identified.covers(phi), covered, "{case}");
                if !covered {
                    continue;
                }
                let value = phi.dot(&expected.theta);
                assert!(
                    (phi.dot(&found.theta) - value).abs() < 1e-7 * value.abs(),
                    "{case}"
                );
                let [x, y] = [&sparse, &dense].map(|influence| influence.spread(phi));
                let [a, b] = [x, y].map(|spread| spread.standard_error());
                assert!(a == b || (a - b).abs() < 1e-5 * b, "{case}: {a} {b}");
                assert!(
                    (x.freedom() - y.freedom()).abs() < 1e-3 * y.freedom(),
                    "{case}"
                );
            }
            // One tile of several: open, unless tiles are single states.
            let tile = [log.features[1][0]];
            let one = Features::Sparse {
                indices: &tile,
                values: &[1.0],
            };
            let [x, y] = [&found.identified, &expected.identified].map(|i| i.covers(one));
            assert_eq!((x, y), (tilings == 1, tilings == 1), "{case}");
        }
    }
}

#[test]
fn parts_may_be_cut_anywhere_within_rounding_and_the_matrix_left_out() {
    let log = Log::new(100, 3, true, true, 1);
    let d = log.dimension;
    let sums = |length: usize| {
        let mut all = SparseSums::new(d, 0.9, true).unwrap();
        let mut part = all.clone();
        let empty = all.clone();
        log.for_each(|t, transition| {
            part.add(transition);
            part.add_start(transition.features);
            if t % length == length - 1 {
                all.merge(std::mem::replace(&mut part, empty.clone()));
            }
        });
        all.merge(part);
        all
    };
    let mut without = sums(70);
    let stored = without.stored();
    without.leave_out_matrix();
    assert!(2 * without.stored() < stored);
    let [whole, cut, without] = [sums(1 << 20), sums(7), without].map(|s| s.into_system().unwrap());
    assert_eq!((whole.stored(), without.stored()), (cut.stored(), None));
    let x: Vec<f64> = (0..d).map(|j| (j as f64).cos()).collect();
    for adjoint in [false, true] {
        let [mut a, mut b] = [(); 2].map(|()| vec![0.0; d]);
        whole.product(&x, &mut a, adjoint);
        cut.product(&x, &mut b, adjoint);
        let mut expected = vec![0.0; d];
        let rows = crate::krylov::RowProducts { discount: 0.9 };
        log.for_each(|_, transition| {
            rows.terms(transition, &x, adjoint, |j, term| expected[j] += term);
        });
        for ((a, b), e) in a.iter().zip(&b).zip(&expected) {
            assert!((a - e).abs() < 1e-8 && (b - e).abs() < 1e-8, "{a} {b} {e}");
        }
    }
    for (a, b) in [
        (&whole.b, &without.b),
        (&whole.squares, &without.squares),
        (&whole.starts, &without.starts),
    ] {
        assert!(
            a.iter()
                .zip(b)
                .all(|(a, b)| (a - b).abs() <= 1e-10 * a.abs())
        );
    }
}

/// Values by tiles of a walk on a ring, whose expected equations are known.
#[test]
fn intervals_of_tile_coded_values_cover_the_truth() {
    const GROUPS: usize = 100;
    let (states, gamma) = (60, 0.9);
    let truth = {
        let log = Log::new(states, 3, false, false, 0);
        let mut equations = Equations::new(log.dimension, gamma).unwrap();
        for state in 0..states {
            for step in 0..7 {
                let (phi, next) = (
                    log.phi(state),
                    log.phi((state + states + step - 3) % states),
                );
                let reward = 0.5 + (state % 5) as f64;
                equations.add(&Transition::new(phi, reward, next));
            }
        }
        equations.solve().unwrap().theta
    };
    let (mut covered, mut all) = (0, 0);
    for seed in 1..=120 {
        let log = Log::new(states, 3, false, false, seed);
        let mut sums = SparseSums::new(log.dimension, gamma, true).unwrap();
        log.for_each(|_, transition| sums.add(transition));
        let system = sums.into_system().unwrap();
        let factors = system.factor(1e9, 1e12).unwrap();
        let theta = factors.solve().unwrap().theta;
        let mut part = SparseGroupSums::new(&system, GROUPS);
        log.for_each(|t, transition| {
            let delta = transition.td_error(&theta, gamma);
            part.add(t * GROUPS / log.rows.len(), transition, delta);
        });
        let mut sums = GroupSums::new(GROUPS, system.seen());
        part.add_to(&mut sums);
        let rows = factors.influence(sums.scores().clone());
        let features = system.features().to_vec();
        let grouping = Grouping::Ordered;
        let influence = Influence::of_seen(rows, features, grouping, &sums, GROUPS as u64);
        let influence = influence.unwrap();
        for state in (0..states).step_by(7) {
            let phi = log.phi(state);
            let sides = influence.spread(phi).sides(0.95);
            let error = phi.dot(&truth) - phi.dot(&theta);
            covered += usize::from(-sides.below <= error && error <= sides.above);
            all += 1;
        }
    }
    let coverage = covered as f64 / all as f64;
    assert!((0.91..0.99).contains(&coverage), "{coverage}");
}

#[test]
fn equations_without_a_solution_are_reported() {
    // A constant feature that never ends, discount 1: A = 0; and one that does.
    let mut sums = SparseSums::new(2, 1.0, true).unwrap();
    let view = |index: &'static [u32]| Features::Sparse {
        indices: index,
        values: &[1.0],
    };
    for _ in 0..50 {
        sums.add(&Transition::new(view(&[0]), 2.0, view(&[0])));
        sums.add(&Transition::terminated(view(&[1]), 2.0));
    }
    let system = sums.into_system().unwrap();
    let found = system.factor(1e6, 1e6).unwrap().solve().unwrap();
    assert!(found.theta[0].abs() < 1e-5 && (found.theta[1] - 2.0).abs() < 1e-7);
    assert!((found.relative_residual - 0.5_f64.sqrt()).abs() < 1e-9);
    assert_eq!(found.rank, Some(1));
    assert!(!found.identified.covers(view(&[0])) && found.identified.covers(view(&[1])));
}

/// States 4 to 6 are entered and never left; both routes find how much of them follows each state.
#[test]
fn entered_states_are_those_of_the_dense_solution() {
    let (d, gamma) = (9, 0.9);
    let mut dense = Equations::new(d, gamma).unwrap();
    let mut sums = SparseSums::new(d, gamma, true).unwrap();
    let indices: Vec<[u32; 1]> = (0..9).map(|j| [j]).collect();
    let phi = |state: usize| Features::Sparse {
        indices: &indices[state],
        values: &[1.0],
    };
    for t in 0..300_usize {
        let next = [1, 2, 3, [4, 5, 5, 6, 0, 0][t / 4 % 6]][t % 4];
        let transition = Transition::new(phi(t % 4), (t % 5) as f64, phi(next));
        dense.add(&transition);
        sums.add(&transition);
    }
    let expected = dense.solve().unwrap();
    let system = sums.into_system().unwrap();
    let found = system.factor(1e9, 1e12).unwrap().solve().unwrap();
    assert_eq!(expected.identified.entered(), Some(5));
    assert_eq!(found.identified.entered(), Some(5));
    let mut last = 0.0;
    for state in 0..4 {
        let [x, y] = [&found.identified, &expected.identified].map(|i| i.doubt(phi(state)));
        assert!(y > last && (x - y).abs() <= 1e-9 * y, "{state}: {x} {y}");
        last = y;
    }
}
