//! Simulates linear systems with dense observations, whose values are exactly linear.
//!
//! The observation follows `x' = M x + noise`, the reward is `1 + w.x + noise`, and an episode terminates after each row with probability p.
//! So `V(x) = v.x + 1 / (1 - gamma (1 - p))` with `v = w + gamma (1 - p) M' v`.

use std::io::Write;

use crate::draws::Draws;
use crate::scenario::{Scenario, fixed_point};

/// A linear system.
struct System {
    /// The entries of M, by row.
    next: Vec<Vec<(usize, f64)>>,
    /// The standard deviation of the noise of each coordinate, and of its first value.
    noise: Vec<f64>,
    first: Vec<f64>,
    weights: Vec<f64>,
    ends: f64,
}

/// Independent AR(1) features, and a cart that balances a pole.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        scenario("cart and pole, linear", 20_000, 0.99, cart_pole()),
        scenario("dense linear", 50_000, 0.99, dense(10)),
        scenario("dense linear", 50_000, 0.95, dense(100)),
    ]
}

fn dense(dimension: usize) -> System {
    let rho: f64 = 0.8;
    let norm = (2.0 / dimension as f64).sqrt();
    System {
        next: (0..dimension).map(|j| vec![(j, rho)]).collect(),
        noise: vec![(1.0 - rho * rho).sqrt(); dimension],
        first: vec![1.0; dimension],
        weights: (0..dimension).map(|j| norm * (j as f64).cos()).collect(),
        ends: 0.0,
    }
}

/// CartPole near its upright position (position, speed, angle, angular speed; steps of 0.02 s) under linear feedback and random pushes.
fn cart_pole() -> System {
    let (step, feedback) = (0.02, [1.0, 2.4, 35.0, 8.0]);
    let push = |scale: f64| -> Vec<(usize, f64)> {
        (feedback.iter().enumerate())
            .map(|(k, gain)| (k, step * scale * gain))
            .collect()
    };
    // Accelerations: 0.98 u - 0.72 angle, and 15.8 angle - 1.46 u, for a push of u.
    let (mut speed, mut turn) = (push(0.98), push(-1.46));
    speed.extend([(1, 1.0), (2, -0.72 * step)]);
    turn.extend([(3, 1.0), (2, 15.8 * step)]);
    System {
        next: vec![
            vec![(0, 1.0), (1, step)],
            speed,
            vec![(2, 1.0), (3, step)],
            turn,
        ],
        noise: vec![0.0, 0.1, 0.0, 0.15],
        first: vec![0.05; 4],
        weights: vec![0.1, 0.1, 1.0, 0.2],
        ends: 0.01,
    }
}

impl System {
    fn slopes(&self, discount: f64) -> Vec<f64> {
        fixed_point(self.weights.len(), |v| {
            let mut next = self.weights.clone();
            for (row, v) in self.next.iter().zip(v) {
                let add = |&(k, m): &(usize, f64)| next[k] += discount * (1.0 - self.ends) * m * v;
                row.iter().for_each(add);
            }
            next
        })
    }

    fn start(&self, draws: &mut Draws) -> Vec<f64> {
        self.first
            .iter()
            .map(|deviation| deviation * draws.normal())
            .collect()
    }

    fn step(&self, x: &[f64], draws: &mut Draws) -> Vec<f64> {
        let mean = |row: &Vec<(usize, f64)>| -> f64 { row.iter().map(|&(k, m)| m * x[k]).sum() };
        let rows = self.next.iter().zip(&self.noise);
        rows.map(|(row, noise)| mean(row) + noise * draws.normal())
            .collect()
    }

    fn write(&self, rows: usize, draws: &mut Draws, out: &mut dyn Write) -> std::io::Result<()> {
        let episodic = self.ends > 0.0;
        for k in 0..self.weights.len() {
            write!(out, "obs_{k},")?;
        }
        writeln!(
            out,
            "reward{}",
            if episodic { ",terminated,episode" } else { "" }
        )?;
        let (mut x, mut episode) = (self.start(draws), 0);
        for _ in 0..rows {
            x.iter().try_for_each(|x| write!(out, "{x:.6},"))?;
            let reward = 1.0 + dot(&self.weights, &x) + draws.normal();
            let terminated = draws.chance(self.ends);
            write!(out, "{reward:.6}")?;
            match episodic {
                true => writeln!(out, ",{},{episode}", u8::from(terminated))?,
                false => writeln!(out)?,
            }
            episode += usize::from(terminated);
            x = match terminated {
                true => self.start(draws),
                false => self.step(&x, draws),
            };
        }
        Ok(())
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn scenario(name: &str, rows: usize, discount: f64, system: System) -> Scenario {
    let (slopes, left) = (system.slopes(discount), discount * (1.0 - system.ends));
    let constant = 1.0 / (1.0 - left);
    // Typical rows: states after a hundred steps.
    let mut draws = Draws::new(0, "typical rows", 0);
    let query = |_| {
        let start = system.start(&mut draws);
        let x = (0..100).fold(start, |x, _| system.step(&x, &mut draws));
        let value = constant + dot(&slopes, &x);
        (x, value)
    };
    Scenario {
        name: name.into(),
        rows,
        dimension: slopes.len() + 1,
        discount,
        features: "standardise + bias".into(),
        cluster: None,
        queries: (0..8).map(query).collect(),
        start_value: constant,
        write: Box::new(move |rows, draws, out| system.write(rows, draws, out)),
    }
}
