//! Simulates one long trajectory whose rewards have noise of different kinds.
//!
//! The observation x is white noise and the reward is `1 + x + noise`, where the noise has mean 0 and does not depend on x. So
//! `V(x) = x + 1 / (1 - gamma)`, and the mean value is `1 / (1 - gamma)`.

use std::io::Write;

use crate::draws::Draws;
use crate::scenario::Scenario;

const DISCOUNT: f64 = 0.9;

/// The standard deviation of the slow component, under white noise of standard deviation 1.
const SLOW: f64 = 0.1;

/// White noise, slow components and variances that change over time.
pub fn scenarios() -> Vec<Scenario> {
    let mut all = vec![scenario("white noise", 20_000, |_, _, draws| {
        draws.normal()
    })];
    for rho in [0.99, 0.995, 0.999, 0.9995] {
        let name = format!("white noise + small AR({rho})");
        all.push(scenario(&name, 50_000, move |_, slow, draws| {
            *slow = draws.autoregressive(rho, *slow);
            draws.normal() + SLOW * *slow
        }));
    }
    let drift =
        |time: f64, _: &mut f64, draws: &mut Draws| 50_f64.powf(time / 2.0) * draws.normal();
    all.push(scenario("variance grows 50x", 20_000, drift));
    let jump = |time: f64, _: &mut f64, draws: &mut Draws| {
        let variance: f64 = if time > 0.8 { 50.0 } else { 1.0 };
        variance.sqrt() * draws.normal()
    };
    all.push(scenario("variance 50x in the last fifth", 20_000, jump));
    all
}

/// Noise is a function of the time in [0, 1) and of a hidden state that starts as a standard normal variate.
fn scenario<N>(name: &str, rows: usize, noise: N) -> Scenario
where
    N: Fn(f64, &mut f64, &mut Draws) -> f64 + Sync + 'static,
{
    let constant = 1.0 / (1.0 - DISCOUNT);
    let write = move |rows: usize, draws: &mut Draws, out: &mut dyn Write| {
        writeln!(out, "obs_0,reward")?;
        let mut hidden = draws.normal();
        for t in 0..rows {
            let x = draws.normal();
            let noise = noise(t as f64 / rows as f64, &mut hidden, draws);
            writeln!(out, "{x:.6},{:.6}", 1.0 + x + noise)?;
        }
        Ok(())
    };
    Scenario {
        name: name.into(),
        rows,
        dimension: 2,
        discount: DISCOUNT,
        features: "standardise + bias".into(),
        cluster: None,
        queries: [-1.0, 0.0, 1.0].map(|x| (vec![x], x + constant)).into(),
        start_value: constant,
        write: Box::new(write),
    }
}
