//! Compares coin betting and DoG with plain references written from their formulas.

use proptest::prelude::*;
use robust_td_core::learner::{CoinBetting, Dog, Learner, coin_betting, dog};

use crate::stream::{End, Sample, Stream, assert_close};

/// The TD direction g(theta) of a sample.
pub fn direction(sample: &Sample, theta: &[f64], discount: f64) -> Vec<f64> {
    let dot = |x: &[f64]| x.iter().zip(theta).map(|(x, y)| x * y).sum::<f64>();
    let next = if sample.end == End::Terminated {
        0.0
    } else {
        dot(&sample.next)
    };
    let delta = sample.reward + discount * next - dot(&sample.features);
    sample.features.iter().map(|x| delta * x).collect()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The last iterate and the average of theta_0, ..., theta_{T-1} with the given weights.
type Answer = (Vec<f64>, Vec<f64>);

fn average(thetas: &[Vec<f64>], weights: &[f64]) -> Answer {
    let last = thetas.last().unwrap().clone();
    let total: f64 = weights.iter().sum();
    let mean = (0..last.len()).map(|i| {
        let terms = weights.iter().zip(thetas).map(|(w, theta)| w * theta[i]);
        if weights.is_empty() {
            0.0
        } else {
            terms.sum::<f64>() / total
        }
    });
    let mean = mean.collect();
    (last, mean)
}

/// One bettor of Algorithm 1, as in the specification.
struct Coin {
    w: f64,
    v: f64,
    a: f64,
}

impl Coin {
    fn play(&self) -> f64 {
        self.v * self.w
    }

    fn get(&mut self, s: f64) {
        let x = self.play();
        self.w -= s * x;
        let zz = s / (1.0 - s * self.v);
        self.a += zz.powi(2);
        let moved = self.v - (2.0 / (2.0 - 3f64.ln())) * zz / self.a;
        self.v = moved.clamp(-0.5, 0.5);
    }
}

fn coin_norm(stream: &Stream, eps: f64, h0: f64) -> Answer {
    let d = stream.dimension;
    let mut coin = Coin {
        w: eps,
        v: 0.0,
        a: 1.0,
    };
    let (mut y, mut squares, mut h) = (vec![0.0; d], 0.0, h0);
    let mut thetas = vec![vec![0.0; d]];
    for sample in &stream.samples {
        let g = direction(sample, thetas.last().unwrap(), stream.discount);
        let mut l: Vec<f64> = g.iter().map(|g| -g / h).collect();
        let size = norm(&l);
        if size > 1.0 {
            l.iter_mut().for_each(|l| *l /= size);
        }
        h = h.max(norm(&g));
        let s: f64 = l.iter().zip(&y).map(|(l, y)| l * y).sum();
        coin.get(s);
        squares += norm(&l).powi(2);
        if squares > 0.0 {
            for (y, l) in y.iter_mut().zip(&l) {
                *y -= 2f64.sqrt() / squares.sqrt() * l;
            }
            let size = norm(&y);
            if size > 1.0 {
                y.iter_mut().for_each(|y| *y /= size);
            }
        }
        thetas.push(y.iter().map(|y| coin.play() * y).collect());
    }
    average(&thetas, &vec![1.0; stream.samples.len()])
}

fn coin_coordinates(stream: &Stream, eps: f64, h0: f64) -> Answer {
    let d = stream.dimension;
    let mut coins: Vec<Coin> = (0..d)
        .map(|_| Coin {
            w: eps,
            v: 0.0,
            a: 1.0,
        })
        .collect();
    let mut h = vec![h0; d];
    let mut thetas = vec![vec![0.0; d]];
    for sample in &stream.samples {
        let g = direction(sample, thetas.last().unwrap(), stream.discount);
        for i in 0..d {
            coins[i].get((-g[i] / h[i]).clamp(-1.0, 1.0));
            h[i] = h[i].max(g[i].abs());
        }
        thetas.push(coins.iter().map(Coin::play).collect());
    }
    average(&thetas, &vec![1.0; stream.samples.len()])
}

fn dog_reference(stream: &Stream, r_eps: f64, tame: Option<(f64, f64, f64)>) -> Answer {
    let mut thetas = vec![vec![0.0; stream.dimension]];
    let (mut weights, mut squares) = (Vec::new(), Vec::new());
    for (t, sample) in stream.samples.iter().enumerate() {
        let furthest = thetas.iter().map(|theta| norm(theta)).fold(0.0, f64::max);
        let rbar = f64::max(r_eps, furthest);
        let g = direction(sample, &thetas[t], stream.discount);
        let before: f64 = squares.iter().sum();
        squares.push(norm(&g).powi(2));
        let under = match tame {
            None => squares.iter().sum::<f64>() + 1e-8,
            Some((horizon, delta, lg)) => {
                let th = (60.0 * (6.0 * horizon).ln() / delta).ln();
                let log = 1.0 + (t as f64 + 1.0).ln();
                8f64.powi(4) * th * log.powi(2) * (before + 16.0 * th * lg.powi(2))
            }
        };
        let eta = rbar / under.sqrt();
        thetas.push(thetas[t].iter().zip(&g).map(|(x, g)| x + eta * g).collect());
        weights.push(rbar);
    }
    average(&thetas, &weights)
}

/// Feeds the stream in dense and sparse form and compares with the reference.
#[track_caller]
fn check<L: Learner + Clone>(learner: &L, stream: &Stream, (last, mean): &Answer) {
    let (mut dense, mut sparse) = (learner.clone(), learner.clone());
    for sample in &stream.samples {
        sample.feed(&mut dense);
        sample.feed_sparse(&mut sparse);
    }
    for learner in [dense, sparse] {
        assert_close(learner.theta(), last, 1e-10);
        assert_close(&learner.output(), mean, 1e-10);
        assert_eq!(learner.steps(), stream.samples.len() as u64);
    }
}

proptest! {
    #[test]
    fn coin_betting_is_its_formula(
        stream in Stream::any(150),
        eps in 0.01..10.0,
        h0 in prop::sample::select(vec![1e-8, 0.1, 1.0, 5.0]),
    ) {
        for coordinatewise in [false, true] {
            let params = coin_betting::CoinBettingParams {
                eps,
                h0,
                coordinatewise,
                ..coin_betting::CoinBettingParams::new(stream.discount)
            };
            let learner = CoinBetting::new(params, stream.dimension).unwrap();
            let reference = if coordinatewise { coin_coordinates } else { coin_norm };
            check(&learner, &stream, &reference(&stream, eps, h0));
        }
    }

    #[test]
    fn dog_is_its_formula(stream in Stream::any(150), r_eps in 1e-6..1.0, lg in 0.1..10.0, delta in 0.001..0.5) {
        let params = dog::DogParams { r_eps, ..dog::DogParams::new(stream.discount) };
        let learner = Dog::new(params, stream.dimension).unwrap();
        prop_assert_eq!(learner.id(), "dog");
        check(&learner, &stream, &dog_reference(&stream, r_eps, None));

        let horizon = stream.horizon();
        let taming = Some(dog::Taming { horizon, delta, lg });
        let learner = Dog::new(dog::DogParams { taming, ..params }, stream.dimension).unwrap();
        prop_assert_eq!(learner.id(), "t-dog");
        let reference = dog_reference(&stream, r_eps, Some((horizon as f64, delta, lg)));
        check(&learner, &stream, &reference);
    }
}

/// The bettors' wealth is not spent, so a parameter-free method stays near its start if there is nothing to learn.
#[test]
fn without_rewards_nothing_moves() {
    let mut stream = Stream::random(5, 0.9, 60, 1);
    stream.samples.iter_mut().for_each(|s| s.reward = 0.0);
    let mut coin = CoinBetting::new(coin_betting::CoinBettingParams::new(0.9), 5).unwrap();
    let mut dog = Dog::new(dog::DogParams::new(0.9), 5).unwrap();
    for sample in &stream.samples {
        sample.feed(&mut coin);
        sample.feed_sparse(&mut dog);
    }
    assert_eq!((coin.theta(), coin.output()), (&[0.0; 5][..], vec![0.0; 5]));
    assert_eq!((dog.theta(), dog.output()), (&[0.0; 5][..], vec![0.0; 5]));
}
