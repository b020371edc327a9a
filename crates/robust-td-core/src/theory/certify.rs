//! Collects everything proved about Algorithm 1 on one problem at one horizon.

use super::certificate::{self, Certificate, Hypothesis, Inputs};
use super::constants::{C0, rho};
use super::coordinates::{Common, CoordinateBounds, Coordinates};
use super::horizon::{Horizon, paper_required_log_t};
use super::lemma_sums::shape;
use super::recommend::{Recommendation, recommend};
use super::step_sums::StepProfile;
use crate::check::check_horizon;
use crate::error::{Error, Result};
use crate::model::constants::Constants;
use crate::model::mixing::Mixing;
use crate::model::problem::Problem;

/// The maximum lag. A chain that needs more mixes too slowly for any bound to be small.
const MAX_LAG: u64 = 1 << 20;

/// The guarantees for a problem at a horizon with a step size constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Certification {
    /// The constants of the problem; those related to mixing are present exactly when [`Self::mixing`] is `Ok`.
    pub constants: Constants,
    /// The horizon `T`.
    pub horizon: u64,
    /// `log T`.
    pub log_t: f64,
    /// The threshold `c_0`.
    pub c0: f64,
    /// The requested constant, or else the recommended one.
    pub c: Option<f64>,
    /// The radius `rho_c`; `None` unless `c > c_0`.
    pub rho_c: Option<f64>,
    /// The bounds that depend on mixing, or why mixing was not computed.
    pub mixing: std::result::Result<MixingBounds, String>,
}

/// The part of a [`Certification`] that depends on mixing.
#[derive(Debug, Clone, PartialEq)]
pub struct MixingBounds {
    /// The rate `2^(-1/t_mix)` used in the horizon conditions, with `C = 2`.
    pub alpha: f64,
    /// Both horizon conditions.
    pub conditions: Horizon,
    /// The `log T` that the paper's condition requires with `|lambda_2|` for `alpha`; no admissible rate requires less.
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
    /// The certificates for Algorithm 1 in several linear coordinates of the features, the identity first; empty when these were not computed.
    pub coordinates: Vec<CoordinateBounds>,
}

/// The smallest bound that is proved for Algorithm 1, and the certificate that proves it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestBound<'a> {
    /// The letter of the certificate.
    pub name: &'static str,
    /// The bound on `E f(avg_T)`.
    pub bound: f64,
    /// The certificate.
    pub certificate: &'a Certificate,
}

impl Certification {
    /// Whether a bound is below `f(0)`, so that learning is proved to help.
    #[must_use]
    pub fn beats_zero(&self, bound: f64) -> bool {
        bound < self.constants.f_zero
    }

    /// Whether `c` is the recommended constant, within a thousandth.
    #[must_use]
    pub fn has_recommended_c(&self) -> bool {
        let recommended = self.mixing.as_ref().ok().and_then(|b| b.recommended);
        let pair = self.c.zip(recommended);
        pair.is_some_and(|(c, recommended)| (c / recommended.c - 1.0).abs() < 1e-3)
    }
}

impl MixingBounds {
    /// All certificates under their letters: P, X and Y for Algorithm 1, C for the tuned constant step.
    #[must_use]
    pub fn certificates(&self) -> [(&'static str, Option<&Certificate>); 4] {
        [
            ("P", self.p.as_ref()),
            ("X", self.x.as_ref()),
            ("Y", self.y.as_ref()),
            ("C", Some(&self.constant_step)),
        ]
    }

    /// The smallest bound that is proved for Algorithm 1 with this `c`; `None` when no certificate applies.
    #[must_use]
    pub fn best(&self) -> Option<BestBound<'_>> {
        let [p, x, y, _] = self.certificates();
        [p, x, y]
            .into_iter()
            .filter_map(|(name, certificate)| {
                let certificate = certificate.filter(|certificate| certificate.applies())?;
                Some(BestBound {
                    name,
                    bound: certificate.bound?,
                    certificate,
                })
            })
            .min_by(|left, right| left.bound.total_cmp(&right.bound))
    }

    /// The coordinates in which the smallest bound is proved; the first of equals.
    #[must_use]
    pub fn best_coordinates(&self) -> Option<&CoordinateBounds> {
        let proved = self
            .coordinates
            .iter()
            .filter_map(|bounds| Some((bounds, bounds.best()?)));
        let best = proved.min_by(|(_, left), (_, right)| left.total_cmp(right));
        best.map(|(bounds, _)| bounds)
    }

    /// Every hypothesis with the theorem or certificate that needs it.
    #[must_use]
    pub fn hypotheses(&self) -> Vec<(&'static str, Hypothesis)> {
        let printed = certificate::paper::printed_condition(&self.conditions);
        let mut hypotheses = vec![("Theorem 1", printed)];
        for (name, certificate) in self.certificates() {
            let own = certificate.iter().flat_map(|c| &c.hypotheses);
            hypotheses.extend(own.map(|hypothesis| (name, hypothesis.clone())));
        }
        hypotheses
    }
}

impl Problem {
    /// Certifies Algorithm 1 on this problem with horizon `T` and constant `c`; `None` means the recommended `c`.
    ///
    /// # Errors
    /// When the horizon is below 3 or `c` is not positive and finite. A chain too large for its mixing to be computed is not
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
        certification(self, horizon, c.into(), true)
    }
}

/// As [`Problem::certify`], with or without the certificates in other coordinates.
pub(super) fn certification(
    problem: &Problem,
    horizon: u64,
    c: Option<f64>,
    in_coordinates: bool,
) -> Result<Certification> {
    check_horizon("horizon", horizon)?;
    if let Some(c) = c
        && !(c > 0.0 && c.is_finite())
    {
        return Err(Error::Parameter {
            name: "c",
            value: c,
            expected: "positive and finite",
        });
    }
    let known = Mixing::of(problem.chain())?;
    let mixing = match &known {
        Ok(mixing) => bounds(problem, mixing, horizon, c, in_coordinates),
        Err(reason) => Err(reason.to_string()),
    };
    let recommended = mixing.as_ref().ok().and_then(|bounds| bounds.recommended);
    let c = c.or(recommended.map(|recommended| recommended.c));
    Ok(Certification {
        constants: Constants::new(problem, known.as_ref().ok().filter(|_| mixing.is_ok())),
        horizon,
        log_t: (horizon as f64).ln(),
        c0: C0,
        c,
        rho_c: c.and_then(rho),
        mixing,
    })
}

/// The inputs of the certificates for `problem`, with the mixing distances `d(0..=max_lag)`.
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

/// The largest candidate lag: `min(T-1, 4 ceil(log T / log(1/|lambda_2|)))`, at most `2^20`.
pub fn max_lag(horizon: u64, lambda2: f64) -> u64 {
    let rate = -lambda2.ln();
    // As lambda_2 tends to 0 the ceiling tends to 1, so lambda_2 = 0 gets 1.
    let times = ((horizon as f64).ln() / rate).ceil().max(1.0);
    let lags = if rate > 0.0 {
        4.0 * times
    } else {
        f64::INFINITY
    };
    (horizon - 1).min(MAX_LAG).min(lags as u64)
}

/// Algorithm 1's step sizes for `c = 1`: `1/(phi_inf^2 log T log(t+3) sqrt(t+1))`.
pub fn unit_steps(phi_inf: f64, horizon: u64) -> impl Fn(u64) -> f64 {
    let scale = 1.0 / (phi_inf * phi_inf * (horizon as f64).ln());
    move |t| scale * shape(t)
}

fn bounds(
    problem: &Problem,
    mixing: &Mixing,
    horizon: u64,
    c: Option<f64>,
    in_coordinates: bool,
) -> std::result::Result<MixingBounds, String> {
    let (lambda2, alpha) = (mixing.lambda2(), mixing.alpha());
    let max_lag = max_lag(horizon, lambda2);
    let conditions = Horizon::new(horizon, alpha).ok_or_else(|| {
        format!(
            "the chain mixes too slowly for floating-point numbers: t_mix is {}",
            mixing.t_mix()
        )
    })?;
    // d(t) <= 2 * 2^(-t/t_mix) is below 1/sqrt(T) by this lag; certificate C searches for the exact one.
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
    let asked = c;
    let c = asked.or(recommended.map(|recommended| recommended.c));
    let mut bounds = MixingBounds {
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
        coordinates: Vec::new(),
    };
    if in_coordinates {
        let common = Common {
            problem,
            horizon,
            conditions: &conditions,
            distances: &inputs.distances,
            all_distances: &all_lags.distances,
            c: asked,
        };
        let identity = common.identity(&bounds, c);
        let others = Coordinates::others(problem).map_err(|error| error.to_string())?;
        bounds.coordinates = std::iter::once(identity)
            .chain(
                others
                    .into_iter()
                    .map(|coordinates| common.bounds(coordinates, &mut unit)),
            )
            .collect();
    }
    Ok(bounds)
}
