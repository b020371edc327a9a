//! Arranges a certification under the JSON keys that scripts rely on.

use serde::Serialize;

use super::certificate::Certificate;
use super::certify::Certification;
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
            certificates: Certificates {
                p: bounds.map(|b| Entry::new(b.p.as_ref())),
                x: bounds.map(|b| Entry::new(b.x.as_ref())),
                y: bounds.map(|b| Entry::new(b.y.as_ref())),
                // A2 belongs to X and Y; the closed form does not have it.
                c: bounds.map(|b| Entry {
                    a2: None,
                    ..Entry::new(Some(&b.constant_step))
                }),
            },
            recommended: Recommended {
                c: recommended.map(|r| r.c),
                bound: recommended.map(|r| r.bound),
            },
            alpha: bounds.map(|b| b.alpha),
            certified_step: bounds.and_then(|b| b.certified_step),
            mixing_unavailable: certification.mixing.as_ref().err().map(String::as_str),
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
