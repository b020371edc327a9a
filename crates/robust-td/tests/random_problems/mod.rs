//! Draws the random problems over which the theory is tested.

use robust_td::random::Stream;
use robust_td::{Chain, Matrix, Problem, Reward};

/// A uniform number in `[low, high)`.
pub fn between(stream: &mut Stream, low: f64, high: f64) -> f64 {
    low + (high - low) * stream.uniform()
}

/// Problem number `seed`: 3 to 7 states, at most 4 features, a discount of 0, 0.3, 0.9 or 0.99, some chains sparse.
pub fn random_problem(seed: u64) -> Problem {
    let mut stream = Stream::new(seed, 0);
    let n = 3 + (stream.next_u64() % 5) as usize;
    let d = 1 + (stream.next_u64() % n.min(4) as u64) as usize;
    let discount = [0.0, 0.3, 0.9, 0.99][(stream.next_u64() % 4) as usize];
    let mut rows = vec![vec![0.0; n]; n];
    for (s, row) in rows.iter_mut().enumerate() {
        for (to, p) in row.iter_mut().enumerate() {
            // Staying and moving on keep every chain irreducible and aperiodic.
            let kept = to == s || to == (s + 1) % n || stream.uniform() < 0.6;
            *p = if kept {
                between(&mut stream, 0.05, 1.0)
            } else {
                0.0
            };
        }
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= total);
    }
    let mut matrix = |rows: usize, columns: usize| {
        let entries = (0..rows * columns)
            .map(|_| between(&mut stream, -1.0, 1.0))
            .collect();
        Matrix::new(rows, columns, entries).unwrap()
    };
    let (features, reward) = (matrix(n, d), matrix(n, n));
    let chain = Chain::from_dense(&Matrix::from_rows(&rows).unwrap()).unwrap();
    Problem::new(chain, features, Reward::PerTransition(reward), discount, 0).unwrap()
}

/// `count` states of a trajectory from the start state.
pub fn trajectory(problem: &Problem, stream: &mut Stream, count: usize) -> Vec<usize> {
    let mut states = vec![problem.start()];
    while states.len() < count {
        let from = states[states.len() - 1];
        let mut left = stream.uniform();
        let mut next = from;
        for (to, p) in problem.chain().transition().entries(from) {
            next = to;
            left -= p;
            if left < 0.0 {
                break;
            }
        }
        states.push(next);
    }
    states
}

/// The iterates of TD(0) with stepsizes `eta` along `states`, from 0.
pub fn iterates(problem: &Problem, states: &[usize], eta: impl Fn(u64) -> f64) -> Vec<Vec<f64>> {
    let mut thetas = vec![vec![0.0; problem.dimension()]];
    for (t, pair) in states.windows(2).enumerate() {
        let theta = &thetas[t];
        let step = eta(t as u64);
        let g = problem.update(theta, pair[0], pair[1]);
        let next = theta.iter().zip(&g).map(|(x, g)| x + step * g).collect();
        thetas.push(next);
    }
    thetas
}
