//! Arranges a certification under the JSON keys that scripts rely on.

use serde::Serialize;

use super::certificate::Certificate;
use super::certify::{Certification, MixingBounds};
use super::coordinates::CoordinateBounds;
use super::recommend::Recommendation;
use crate::constants::Constants;

/// A certification as one JSON object. The keys and their order are stable; new keys are added at the end.
#[derive(Debug, Serialize)]
pub struct CertificationReport<'a> {
    #[serde(flatten)]
    constants: &'a Constants,
    c0: f64,
    c: Option<f64>,
    rho_c: Option<f64>,
    horizon: Horizon,
    certificates: Certificates,
    recommended: Recommended,
    alpha: Option<f64>,
    certified_step: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mixing_unavailable: Option<&'a str>,
    /// Empty when the chain's mixing is not available.
    coordinates: Vec<InCoordinates<'a>>,
    best_coordinates: Option<&'a str>,
}

/// The certificates for Algorithm 1 run on linearly transformed features.
#[derive(Debug, Serialize)]
struct InCoordinates<'a> {
    name: &'a str,
    algorithm: Option<&'a str>,
    phi_inf: f64,
    theta_star_norm: f64,
    scaling: Option<&'a [f64]>,
    c: Option<f64>,
    certificates: Certificates,
    recommended: Recommended,
}

#[derive(Debug, Serialize)]
struct Horizon {
    log_t: f64,
    paper_required_log_t: Option<f64>,
    paper_holds: Option<bool>,
    relaxed_holds: Option<bool>,
    paper_required_log_t_at_lambda2: Option<f64>,
}

/// Each field is null only when the chain's mixing is not available.
#[derive(Debug, Serialize)]
struct Certificates {
    p: Option<Entry>,
    x: Option<Entry>,
    y: Option<Entry>,
    c: Option<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    bound: Option<f64>,
    iterate_bound: Option<f64>,
    u: Option<u64>,
    a2: Option<f64>,
    applies: bool,
    why_not: Option<String>,
}

#[derive(Debug, Serialize)]
struct Recommended {
    c: Option<f64>,
    bound: Option<f64>,
}

impl Certification {
    /// The certification in the form written as JSON.
    pub fn report(&self) -> CertificationReport<'_> {
        CertificationReport::new(self)
    }
}

impl<'a> CertificationReport<'a> {
    fn new(certification: &'a Certification) -> Self {
        let bounds = certification.mixing.as_ref().ok();
        let recommended = bounds.and_then(|bounds| bounds.recommended);
        Self {
            constants: &certification.constants,
            c0: certification.c0,
            c: certification.c,
            rho_c: certification.rho_c,
            horizon: Horizon {
                log_t: certification.log_t,
                paper_required_log_t: bounds.map(|b| b.conditions.paper_required_log_t),
                paper_holds: bounds.map(|b| b.conditions.paper_holds),
                relaxed_holds: bounds.map(|b| b.conditions.relaxed_holds),
                paper_required_log_t_at_lambda2: bounds.map(|b| b.best_rate_required_log_t),
            },
            certificates: Certificates::new(bounds.map(MixingBounds::certificates)),
            recommended: Recommended::new(recommended),
            alpha: bounds.map(|b| b.alpha),
            certified_step: bounds.and_then(|b| b.certified_step),
            mixing_unavailable: certification.mixing.as_ref().err().map(String::as_str),
            coordinates: bounds.map_or(Vec::new(), |b| {
                b.coordinates.iter().map(InCoordinates::new).collect()
            }),
            best_coordinates: bounds
                .and_then(MixingBounds::best_coordinates)
                .map(|best| best.coordinates.name),
        }
    }
}

impl<'a> InCoordinates<'a> {
    fn new(bounds: &'a CoordinateBounds) -> Self {
        let coordinates = &bounds.coordinates;
        Self {
            name: coordinates.name,
            algorithm: coordinates.method,
            phi_inf: coordinates.phi_inf,
            theta_star_norm: coordinates.theta_star_norm,
            scaling: coordinates.scaling.as_deref(),
            c: bounds.c,
            certificates: Certificates::new(Some(bounds.certificates())),
            recommended: Recommended::new(bounds.recommended),
        }
    }
}

impl Certificates {
    fn new(named: Option<[(&str, Option<&Certificate>); 4]>) -> Self {
        let entry = |k: usize| named.map(|named| Entry::new(named[k].1));
        Self {
            p: entry(0),
            x: entry(1),
            y: entry(2),
            // A2 belongs to X and Y; the closed form does not have it.
            c: entry(3).map(|entry| Entry { a2: None, ..entry }),
        }
    }
}

impl Recommended {
    fn new(recommended: Option<Recommendation>) -> Self {
        Self {
            c: recommended.map(|r| r.c),
            bound: recommended.map(|r| r.bound),
        }
    }
}

impl Entry {
    fn new(certificate: Option<&Certificate>) -> Self {
        match certificate {
            Some(certificate) => Self {
                bound: certificate.bound,
                iterate_bound: certificate.iterate_bound,
                u: certificate.lag,
                a2: certificate.a2,
                applies: certificate.applies(),
                why_not: certificate.why_not(),
            },
            None => Self {
                bound: None,
                iterate_bound: None,
                u: None,
                a2: None,
                applies: false,
                why_not: Some("no c was given, and no c is certified".into()),
            },
        }
    }
}
