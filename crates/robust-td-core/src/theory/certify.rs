//! Gathers all that is proved about Algorithm 1 on one problem at one horizon.

use super::certificate::{self, Certificate, Inputs};
use super::constants::{C0, rho};
use super::horizon::{Horizon, paper_required_log_t};
use super::lemma_sums::shape;
use super::recommend::{Recommendation, recommend};
use super::step_sums::StepProfile;
use crate::constants::Constants;
use crate::error::{Error, Result};
use crate::mixing::{Mixing, TooManyStates};
use crate::problem::Problem;

/// The most lags that are tried. A chain that needs more mixes too slowly for any of the bounds to be small.
const MAX_LAG: u64 = 1 << 20;

/// What is guaranteed for a problem, at a horizon, with a stepsize constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Certification {
    /// The constants of the problem; those of mixing are present exactly when [`Self::mixing`] has bounds.
    pub constants: Constants,
    /// The horizon `T`.
    pub horizon: u64,
    /// `log T`.
    pub log_t: f64,
    /// The threshold `c_0`.
    pub c0: f64,
    /// The constant that was asked for, or else the recommended one.
    pub c: Option<f64>,
    /// The radius `rho_c`; `None` unless `c > c_0`.
    pub rho_c: Option<f64>,
    /// What rests on mixing, or why the chain's mixing is not computed.
    pub mixing: std::result::Result<MixingBounds, String>,
}

/// The part of a [`Certification`] that needs to know how the chain mixes.
#[derive(Debug, Clone, PartialEq)]
pub struct MixingBounds {
    /// The rate `2^(-1/t_mix)` with which the horizon conditions are tested, `C = 2`.
    pub alpha: f64,
    /// Both horizon conditions.
    pub conditions: Horizon,
    /// The `log T` of the paper's condition with `|lambda_2|` for `alpha`: no admissible rate needs less.
    pub best_rate_required_log_t: f64,
    /// The largest lag tried.
    pub max_lag: u64,
    /// The `c` that minimises certificate Y; `None` when none is certified.
    pub recommended: Option<Recommendation>,
    /// The paper's certificate.
    pub p: Option<Certificate>,
    /// The certificate centred at zero.
    pub x: Option<Certificate>,
    /// The certificate centred at the solution.
    pub y: Option<Certificate>,
    /// The certificate of the tuned constant step, which does not depend on `c`.
    pub constant_step: Certificate,
    /// The constant step that it certifies.
    pub certified_step: Option<f64>,
}

impl Problem {
    /// Certifies Algorithm 1 on this problem with horizon `T` and constant `c`; `None` means the recommended `c`.
    ///
    /// # Error cases
    /// A horizon below 3, and a `c` that is not a positive finite number. A chain too large for its mixing to be computed is not
    /// an error: [`Certification::mixing`] then holds the reason.
    ///
    /// ```
    /// let problem = robust_td_core::catalog::problem("two-state", &[])?;
    /// let certified = problem.certify(100_000, 50.0)?;
    /// assert!(certified.rho_c.is_some_and(|rho| rho > 2.0));
    /// let bounds = certified.mixing.expect("two states");
    /// assert!(bounds.y.is_some_and(|y| y.applies()));
    /// let best = problem.certify(100_000, None)?.c;
    /// assert_eq!(best, bounds.recommended.map(|recommended| recommended.c));
    /// # Ok::<(), robust_td_core::Error>(())
    /// ```
    pub fn certify(&self, horizon: u64, c: impl Into<Option<f64>>) -> Result<Certification> {
        let c = c.into();
        check(horizon, c)?;
        self.certify_with(&Mixing::of(self.chain())?, horizon, c)
    }

    /// As [`Self::certify`], with the mixing of the chain, which problems that differ in their features share.
    ///
    /// # Error cases
    /// As for [`Self::certify`].
    pub fn certify_with(
        &self,
        known: &std::result::Result<Mixing, TooManyStates>,
        horizon: u64,
        c: impl Into<Option<f64>>,
    ) -> Result<Certification> {
        let c = c.into();
        check(horizon, c)?;
        let mixing = match known {
            Ok(mixing) => bounds(self, mixing, horizon, c),
            Err(reason) => Err(reason.to_string()),
        };
        let recommended = mixing.as_ref().ok().and_then(|bounds| bounds.recommended);
        let c = c.or(recommended.map(|recommended| recommended.c));
        Ok(Certification {
            constants: Constants::new(self, known.as_ref().ok().filter(|_| mixing.is_ok())),
            horizon,
            log_t: (horizon as f64).ln(),
            c0: C0,
            c,
            rho_c: c.and_then(rho),
            mixing,
        })
    }
}

fn check(horizon: u64, c: Option<f64>) -> Result<()> {
    if horizon < 3 {
        return Err(Error::Parameter {
            name: "horizon",
            value: horizon as f64,
            expected: "at least 3",
        });
    }
    if let Some(c) = c
        && !(c > 0.0 && c.is_finite())
    {
        return Err(Error::Parameter {
            name: "c",
            value: c,
            expected: "positive and finite",
        });
    }
    Ok(())
}

/// What the certificates need to know about `problem`, with the mixing distances `d(0..=max_lag)`.
pub fn inputs(problem: &Problem, mixing: &Mixing, max_lag: u64) -> Inputs {
    inputs_with(problem, mixing.distances(max_lag as usize))
}

/// The same with upper bounds on the mixing distances `d(0), d(1), ...`.
pub fn inputs_with(problem: &Problem, distances: Vec<f64>) -> Inputs {
    Inputs {
        phi_inf: problem.phi_inf(),
        r_inf: problem.r_inf(),
        discount: problem.discount(),
        distance: problem.theta_star_norm(),
        update_at_solution: problem.largest_update(problem.theta_star()),
        update_at_start: problem.largest_update(&vec![0.0; problem.dimension()]),
        distances,
    }
}

/// The lags that compete: `0..=min(T-1, 4 ceil(log T / log(1/|lambda_2|)))`, at most `2^20`.
pub fn max_lag(horizon: u64, lambda2: f64) -> u64 {
    let rate = -lambda2.ln();
    // A chain with lambda_2 = 0 is the limit of ever smaller ones, whose ceiling is 1.
    let times = ((horizon as f64).ln() / rate).ceil().max(1.0);
    let lags = if rate > 0.0 {
        4.0 * times
    } else {
        f64::INFINITY
    };
    (horizon - 1).min(MAX_LAG).min(lags as u64)
}

/// Algorithm 1's stepsizes for `c = 1`: `1/(phi_inf^2 log T log(t+3) sqrt(t+1))`.
pub fn unit_steps(phi_inf: f64, horizon: u64) -> impl Fn(u64) -> f64 {
    let scale = 1.0 / (phi_inf * phi_inf * (horizon as f64).ln());
    move |t| scale * shape(t)
}

fn bounds(
    problem: &Problem,
    mixing: &Mixing,
    horizon: u64,
    c: Option<f64>,
) -> std::result::Result<MixingBounds, String> {
    let (lambda2, alpha) = (mixing.lambda2(), mixing.alpha());
    let max_lag = max_lag(horizon, lambda2);
    let conditions = Horizon::new(horizon, alpha).ok_or_else(|| {
        format!(
            "the chain mixes too slowly for floating-point numbers: t_mix is {}",
            mixing.t_mix()
        )
    })?;
    // d(t) <= 2 * 2^(-t/t_mix) is below 1/sqrt(T) at the latest here; certificate C looks for where it is.
    let surely_mixed = mixing.t_mix() as f64 * (2.0 + 0.5 * (horizon as f64).log2());
    let reach = (surely_mixed.ceil().min(MAX_LAG as f64) as u64).max(max_lag);
    let all_lags = inputs(problem, mixing, reach);
    let inputs = Inputs {
        distances: all_lags.distances[..=max_lag as usize].to_vec(),
        ..all_lags.clone()
    };
    let mut unit = StepProfile::new(
        unit_steps(inputs.phi_inf, horizon),
        horizon,
        &inputs.distances,
    );
    let recommended = recommend(&inputs, &mut unit);
    let c = c.or(recommended.map(|recommended| recommended.c));
    Ok(MixingBounds {
        alpha,
        conditions,
        best_rate_required_log_t: paper_required_log_t(lambda2.max(0.5)),
        max_lag,
        recommended,
        p: c.map(|c| certificate::paper::certify(&inputs, horizon, &conditions, unit.total(), c)),
        x: c.map(|c| certificate::zero_centred::certify(&inputs, inputs.growth(), &mut unit, c)),
        y: c.map(|c| certificate::centred::certify(&inputs, &mut unit, c)),
        constant_step: certificate::constant_step::certify(&all_lags, horizon),
        certified_step: certificate::constant_step::lag(&all_lags, horizon)
            .map(|lag| certificate::constant_step::step_size(&all_lags, horizon, lag)),
    })
}
