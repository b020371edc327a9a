//! Compares SwiftTD with the pseudo-code of the specification, and with TD(0) where they must agree.

use proptest::prelude::*;
use robust_td_core::learner::{Learner, SwiftTd, swift_td};

use crate::references::direction;
use crate::stream::{End, Stream, assert_close};

/// The pseudo-code, with one vector per symbol.
struct Reference {
    params: swift_td::SwiftTdParams,
    w: Vec<f64>,
    z: Vec<f64>,
    zd: Vec<f64>,
    dw: Vec<f64>,
    h: Vec<f64>,
    h_old: Vec<f64>,
    h_tmp: Vec<f64>,
    zbar: Vec<f64>,
    p: Vec<f64>,
    beta: Vec<f64>,
    v_old: f64,
    v_delta: f64,
}

impl Reference {
    fn new(params: swift_td::SwiftTdParams, d: usize) -> Self {
        let zero = || vec![0.0; d];
        Self {
            params,
            w: zero(),
            z: zero(),
            zd: zero(),
            dw: zero(),
            h: zero(),
            h_old: zero(),
            h_tmp: zero(),
            zbar: zero(),
            p: zero(),
            beta: vec![params.alpha_init.ln(); d],
            v_old: 0.0,
            v_delta: 0.0,
        }
    }

    fn step(&mut self, x: &[f64], reward: f64) {
        let s = self;
        let swift_td::SwiftTdParams {
            discount: gamma,
            lambda,
            eta_max,
            eta_min,
            decay,
            meta,
            ..
        } = s.params;
        let d = x.len();
        let v: f64 = (0..d).map(|i| s.w[i] * x[i]).sum();
        let delta = reward + gamma * v - s.v_old;
        for i in 0..d {
            s.dw[i] = delta * s.z[i] - s.zd[i] * s.v_delta;
            s.w[i] += s.dw[i];
            s.beta[i] += (meta / s.beta[i].exp()) * (delta - s.v_delta) * s.p[i];
            if s.beta[i].exp() > eta_max {
                s.beta[i] = eta_max.ln();
            }
            if s.beta[i].exp() < eta_min {
                s.beta[i] = eta_min.ln();
            }
            s.h_old[i] = s.h[i];
            s.h[i] = s.h_tmp[i] + delta * s.zbar[i] - s.zd[i] * s.v_delta;
            s.h_tmp[i] = s.h[i];
            s.zd[i] = 0.0;
            s.z[i] *= gamma * lambda;
            s.p[i] *= gamma * lambda;
            s.zbar[i] *= gamma * lambda;
        }
        s.v_delta = 0.0;
        let e: f64 = (0..d).map(|i| s.beta[i].exp() * x[i] * x[i]).sum();
        let mult = if e > eta_max { eta_max / e } else { 1.0 };
        let b: f64 = (0..d).map(|i| s.z[i] * x[i]).sum();
        for i in 0..d {
            s.v_delta += s.dw[i] * x[i];
            s.zd[i] = mult * s.beta[i].exp() * x[i];
            s.z[i] += s.zd[i] * (1.0 - b);
            s.p[i] += s.h_old[i] * x[i];
            s.zbar[i] += s.zd[i] * (1.0 - b - s.zbar[i] * x[i]);
            s.h_tmp[i] = s.h[i] - s.h_old[i] * x[i] * (s.z[i] - s.zd[i]) - s.h[i] * s.zd[i] * x[i];
            if e > eta_max {
                s.h_tmp[i] = 0.0;
                s.h[i] = 0.0;
                s.h_old[i] = 0.0;
                s.zbar[i] = 0.0;
                s.beta[i] += decay.ln() * x[i] * x[i];
            }
        }
        s.v_old = v;
    }

    /// Starts a new episode: clears the traces and the look-ahead h_tmp.
    fn restart(&mut self) {
        for trace in [&mut self.z, &mut self.zd, &mut self.zbar, &mut self.p] {
            trace.fill(0.0);
        }
        self.h_tmp.clone_from(&self.h);
        (self.v_old, self.v_delta) = (0.0, 0.0);
    }

    /// Feeds a stream in the specified order.
    fn run(mut self, stream: &Stream) -> Self {
        let mut started = false;
        for sample in &stream.samples {
            if !started {
                self.restart();
                self.step(&sample.features, 0.0);
            }
            match sample.end {
                End::Terminated => self.step(&vec![0.0; stream.dimension], sample.reward),
                _ => self.step(&sample.next, sample.reward),
            }
            started = sample.end == End::Continues;
        }
        self
    }
}

/// The learners after a stream in dense and sparse form.
fn learned(params: swift_td::SwiftTdParams, stream: &Stream) -> [SwiftTd; 2] {
    let learner = SwiftTd::new(params, stream.dimension).unwrap();
    let (mut dense, mut sparse) = (learner.clone(), learner);
    for sample in &stream.samples {
        sample.feed(&mut dense);
        sample.feed_sparse(&mut sparse);
    }
    [dense, sparse]
}

proptest! {
    #[test]
    fn swift_td_is_its_pseudo_code(
        stream in Stream::any(150),
        lambda in 0.0..=1.0,
        alpha_init in 1e-4..0.05,
        eta_max in 0.06..0.5,
        meta in 0.0..0.01,
        decay in 0.5..=1.0,
        eta_min in prop::sample::select(vec![1e-10, 1e-3]),
    ) {
        let params = swift_td::SwiftTdParams {
            discount: stream.discount, lambda, alpha_init, eta_max, eta_min, decay, meta,
        };
        let reference = Reference::new(params, stream.dimension).run(&stream);
        for learner in learned(params, &stream) {
            assert_close(learner.theta(), &reference.w, 1e-10);
            assert_close(&learner.output(), &reference.w, 1e-10);
            let alphas: Vec<f64> = learner.step_sizes().collect();
            let expected: Vec<f64> = reference.beta.iter().map(|beta| beta.exp()).collect();
            assert_close(&alphas, &expected, 1e-10);
            prop_assert_eq!(learner.steps(), stream.samples.len() as u64);
        }
    }

    /// T43: one call of `step` behind TD(0), because the first call starts the episode.
    #[test]
    fn without_traces_and_meta_learning_it_is_td0(stream in Stream::any(150), share in 0.01..1.0) {
        let alpha = 0.1 * share / stream.phi_inf.powi(2).max(1.0);
        let params = swift_td::SwiftTdParams {
            lambda: 0.0,
            meta: 0.0,
            alpha_init: alpha,
            ..swift_td::SwiftTdParams::new(stream.discount)
        };
        let mut learner = SwiftTd::new(params, stream.dimension).unwrap();
        let mut theta = vec![0.0; stream.dimension];
        for sample in &stream.samples {
            sample.feed(&mut learner);
            let g = direction(sample, &theta, stream.discount);
            theta.iter_mut().zip(&g).for_each(|(theta, g)| *theta += alpha * g);
            assert_close(learner.theta(), &theta, 1e-12);
        }
    }
}

/// The pseudo-code without resets, as for a continuing task: only the first call is special.
#[test]
fn a_continuing_task_is_never_reset() {
    let mut stream = Stream::random(6, 0.9, 120, 9);
    for t in 0..stream.samples.len() {
        stream.samples[t].end = End::Continues;
        if t > 0 {
            stream.samples[t].features = stream.samples[t - 1].next.clone();
        }
    }
    let params = swift_td::SwiftTdParams::new(0.9);
    let mut reference = Reference::new(params, 6);
    reference.step(&stream.samples[0].features, 0.0);
    for sample in &stream.samples {
        reference.step(&sample.next, sample.reward);
    }
    for learner in learned(params, &stream) {
        assert_close(learner.theta(), &reference.w, 1e-12);
    }
}

/// The bound on the learning rate: for any alpha, the value moves by at most eta_max delta.
#[test]
fn a_large_step_size_is_cut_to_the_bound() {
    let mut stream = Stream::random(8, 0.5, 1, 3);
    stream.samples[0].features = vec![2.0; 8];
    stream.samples[0].end = End::Terminated;
    stream.samples[0].reward = 1.0;
    let params = swift_td::SwiftTdParams {
        alpha_init: 0.1,
        ..swift_td::SwiftTdParams::new(0.5)
    };
    for learner in learned(params, &stream) {
        let value: f64 = learner.theta().iter().map(|w| 2.0 * w).sum();
        assert!((value - 0.1).abs() < 1e-15);
    }
}
