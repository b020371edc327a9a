//! Learns from rows in memory as a Rust program does, for `benches/python_speed.py` to compare with.
//!
//! `stream_speed estimator|ALGORITHM DIMENSION ROWS PASSES [C]`: the caller subtracts the time of 0 passes, which is that of making the rows.

use robust_td::{Estimator, Evaluation, Learner, Transition};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [method, dimension, rows, passes, constant @ ..] = arguments.as_slice() else {
        return Err("usage: stream_speed estimator|ALGORITHM DIMENSION ROWS PASSES [C]".into());
    };
    let (d, rows, passes): (usize, usize, usize) =
        (dimension.parse()?, rows.parse()?, passes.parse()?);
    // Any numbers of order 1 do.
    let x: Vec<f64> = (0..(rows + 1) * d)
        .map(|i| ((i * 7919 % 10007) as f64 / 10007.0) - 0.5)
        .collect();
    let row = |i: usize| &x[i * d..][..d];
    let transitions = || (0..rows).map(|i| Transition::new(row(i), row(i)[0], row(i + 1)));
    let value = if method == "estimator" {
        let mut estimator = Estimator::new(0.9, d)?;
        for _ in 0..passes {
            transitions().for_each(|transition| estimator.learn(&transition));
        }
        estimator.value(row(0))
    } else {
        let evaluation = Evaluation::online().discount(0.9).algorithm(method);
        let evaluation = match constant {
            [c, ..] => evaluation.c(c.parse()?).phi_inf(d as f64).horizon(1 << 40),
            [] => evaluation,
        };
        let mut learner = evaluation.learner(d)?;
        for _ in 0..passes {
            transitions().for_each(|transition| learner.step(&transition));
        }
        learner.value(row(0).into())
    };
    println!("{value}");
    Ok(())
}
