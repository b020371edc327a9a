//! Checks the facts about mixing that the certificates rely on.

use crate::common::*;
use proptest::prelude::*;
use robust_td_core::Mixing;
use robust_td_core::random::Stream;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// T11: d is nonincreasing; d <= dbar <= 2d; dbar is submultiplicative; d(t) <= 2 * 2^(-t/t_mix).
    #[test]
    fn distances((_, problem) in problems()) {
        let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
        let last = 10 * mixing.t_mix() as usize;
        let (d, dbar) = (mixing.distances(last), mixing.pairwise_distances(last));
        let least = problem.stationary().iter().copied().fold(1.0, f64::min);
        prop_assert!((d[0] - (1.0 - least)).abs() < 1e-12);
        for t in 0..=last {
            prop_assert!(t == 0 || d[t] <= d[t - 1]);
            prop_assert!(d[t] <= dbar[t] + 1e-12 && dbar[t] <= 2.0 * d[t] + 1e-12);
            prop_assert!(d[t] <= 2.0 * mixing.alpha().powi(t as i32) + 1e-12);
            for u in (0..=last - t).step_by(1 + last / 50) {
                prop_assert!(dbar[t + u] <= dbar[t] * dbar[u] + 1e-12);
            }
        }
        let t_mix = mixing.t_mix() as usize;
        prop_assert!(dbar[t_mix] <= 0.5 + 1e-12);
        prop_assert!(t_mix == 1 || dbar[t_mix - 1] > 0.5);
        // The second eigenvalue bounds every admissible rate from below: |lambda_2|^t <= 2 d(t) n.
        let slack = 2.0 * problem.states() as f64;
        prop_assert!(mixing.lambda2().powi(last as i32) <= slack * d[last] + 1e-9);
    }

    /// T12: | E[g(theta; Z_k) | s_0] - gbar(theta) | <= 2 max_z |g(theta; z)| d(k).
    #[test]
    fn go_back((seed, problem) in problems()) {
        let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
        let d = mixing.distances(12);
        let mut stream = Stream::new(seed, 2000);
        let theta = random_vector(&mut stream, problem.dimension(), 3.0);
        let mean = problem.mean_update(&theta);
        let largest = problem.largest_update(&theta);
        let from_state: Vec<Vec<f64>> =
            (0..problem.states()).map(|s| problem.mean_update_from(&theta, s)).collect();
        for s in 0..problem.states() {
            let mut law = vec![0.0; problem.states()];
            law[s] = 1.0;
            for &d in &d {
                let mut expected = vec![0.0; problem.dimension()];
                for (p, g) in law.iter().zip(&from_state) {
                    expected.iter_mut().zip(g).for_each(|(sum, x)| *sum += p * x);
                }
                prop_assert!(distance(&expected, &mean) <= 2.0 * largest * d + 1e-12 * largest);
                law = problem.chain().transition().left_times(&law);
            }
        }
    }
}
