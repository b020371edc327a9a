//! Prints a certification as a page: the answer in words, then constants, hypotheses and certificates.

use robust_td::theory::certify::MixingBounds;
use robust_td::theory::{Certification, Hypothesis, Recommendation};

use super::verdict;
use crate::constants;
use crate::text::{self, number, whole};

/// The whole page.
pub fn page(
    name: &str,
    certification: &Certification,
    longer: Option<(u64, Recommendation)>,
) -> String {
    let c = match certification.c {
        Some(c) => format!(", c = {}", number(c)),
        None => String::new(),
    };
    let mut page = format!("{name}, T = {}{c}\n\n", whole(certification.horizon));
    for paragraph in verdict::paragraphs(certification, longer) {
        page.push_str(&text::wrap("", 0, &paragraph));
        page.push('\n');
    }
    let bounds = certification.mixing.as_ref().ok();
    page.push_str("Constants\n");
    page.push_str(&constants::table(&certification.constants));
    page.push_str(&text::definitions(&thresholds(certification)));
    if let Some(bounds) = bounds {
        page.push_str("\nHypotheses\n");
        page.push_str(&hypotheses(bounds));
        page.push_str("\nCertificates\n");
        page.push_str(&certificates(certification, bounds));
        page.push_str("\nIn other linear coordinates\n");
        page.push_str(&coordinates(certification, bounds));
        page.push_str("\nf is the same in all of them. A bound is for Algorithm 1 run on the transformed features.\n");
        page.push_str(
            "The bounds hold in expectation; by Markov's inequality P(f >= x) <= bound/x.\n",
        );
    }
    page
}

fn thresholds(certification: &Certification) -> Vec<(&'static str, String)> {
    let rho = match certification.rho_c {
        Some(rho) => format!(
            "{} (where Theorem 1 applies, E|theta_t|^2 <= rho_c^2 max(r_inf/phi_inf, |theta*|)^2)",
            number(rho)
        ),
        None => "undefined unless c > c_0".into(),
    };
    vec![
        // Padded to the width of the constants above.
        ("c_0           ", number(certification.c0)),
        ("rho_c", rho),
    ]
}

/// One line per hypothesis: which certificate, whether it holds, and by how much it fails.
fn hypotheses(bounds: &MixingBounds) -> String {
    let line = |(name, hypothesis): (&str, Hypothesis)| {
        let state = if hypothesis.holds { "holds:" } else { "FAILS:" };
        let words = format!("{state} {hypothesis}");
        text::wrap(&format!("  {name:<9}  "), 20, &words)
    };
    bounds.hypotheses().into_iter().map(line).collect()
}

/// The four certificates side by side.
fn certificates(certification: &Certification, bounds: &MixingBounds) -> String {
    let mut rows = vec![[
        String::new(),
        "E[f(avg)] <=".into(),
        "over f(0)".into(),
        "E|theta_t-theta*|^2 <=".into(),
        "lag u".into(),
        "proved".into(),
    ]];
    let names = [
        "P  Theorem 1, explicit",
        "X  centred at 0",
        "Y  centred at theta*",
        "C  tuned constant step",
    ];
    for (name, (_, certificate)) in names.into_iter().zip(bounds.certificates()) {
        let show = |value: Option<f64>| value.map_or("-".to_string(), number);
        let bound = certificate.and_then(|c| c.bound);
        rows.push([
            name.into(),
            show(bound),
            show(
                bound
                    .map(|bound| bound / certification.constants.f_zero)
                    .filter(|x| x.is_finite()),
            ),
            show(certificate.and_then(|c| c.iterate_bound)),
            certificate
                .and_then(|c| c.lag)
                .map_or("-".to_string(), |lag| lag.to_string()),
            match certificate {
                Some(certificate) if certificate.applies() => "yes".into(),
                _ => "no".into(),
            },
        ]);
    }
    text::number_columns(&rows)
}

/// The best bound in every coordinates, with the c that gives it.
fn coordinates(certification: &Certification, bounds: &MixingBounds) -> String {
    let mut rows = vec![[
        String::new(),
        "phi_inf".into(),
        "|theta*|".into(),
        "best c".into(),
        "E[f(avg)] <=".into(),
        "over f(0)".into(),
        "algorithm".into(),
    ]];
    for found in &bounds.coordinates {
        let (coordinates, show) = (&found.coordinates, |value: Option<f64>| {
            value
                .filter(|x| x.is_finite())
                .map_or("-".to_string(), number)
        });
        let words = match coordinates.name {
            "identity" => "features as they are",
            "diagonal" => "second moments 1",
            "whitened" => "covariance I",
            _ => "best diagonal scaling",
        };
        let bound = found.recommended.map(|recommended| recommended.bound);
        rows.push([
            words.into(),
            number(coordinates.phi_inf),
            number(coordinates.theta_star_norm),
            show(found.recommended.map(|recommended| recommended.c)),
            show(bound),
            show(bound.map(|bound| bound / certification.constants.f_zero)),
            coordinates.method.unwrap_or("-").into(),
        ]);
    }
    text::number_columns(&rows)
}
