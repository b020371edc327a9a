//! Explains a certification in words: what is guaranteed, why not more, and what would improve it.

use robust_td::theory::certify::MixingBounds;
use robust_td::theory::{Certification, Recommendation};

use crate::text::{number, whole};

/// The answer, paragraph by paragraph; `longer` is a horizon at which the certificates beat `f(0)`, with its recommendation.
pub fn paragraphs(
    certification: &Certification,
    longer: Option<(u64, Recommendation)>,
) -> Vec<String> {
    match &certification.mixing {
        Err(reason) => vec![format!(
            "Nothing is guaranteed here: every certificate needs the mixing time, and {reason}. \
             The constants below are exact."
        )],
        Ok(bounds) if certification.constants.f_zero == 0.0 => vec![
            "There is nothing to learn: theta* = 0, and Algorithm 1 starts there.".into(),
            theorem(certification, bounds),
        ],
        Ok(bounds) => {
            let mut paragraphs = vec![
                answer(certification, bounds),
                theorem(certification, bounds),
                constant_step(certification, bounds),
                change(certification, bounds, longer),
            ];
            paragraphs.extend(other_coordinates(certification, bounds));
            paragraphs
        }
    }
}

fn setting(certification: &Certification) -> String {
    let c = match certification.c {
        Some(c) => format!("c = {}", number(c)),
        None => "no certified c".into(),
    };
    format!(
        "Algorithm 1 with T = {} and {c}",
        whole(certification.horizon)
    )
}

fn answer(certification: &Certification, bounds: &MixingBounds) -> String {
    let f_zero = number(certification.constants.f_zero);
    let setting = setting(certification);
    let Some(best) = bounds.best() else {
        return format!(
            "Nothing is guaranteed for {setting}: no certificate applies. \
             For comparison, theta = 0 has f(0) = {f_zero}."
        );
    };
    let iterates = match best.certificate.iterate_bound {
        Some(squared) => format!(
            "The iterates stay bounded: E|theta_t-theta*|^2 <= {} for all t <= T.",
            number(squared)
        ),
        None => String::new(),
    };
    let (name, bound) = (best.name, number(best.bound));
    if certification.beats_zero(best.bound) {
        format!(
            "Guaranteed for {setting}: E[f(avg)] <= {bound} (certificate {name}), while theta = 0 \
             has f(0) = {f_zero}. {iterates}"
        )
    } else {
        format!(
            "No better than theta = 0: the guarantee for {setting} is E[f(avg)] <= {bound} \
             (certificate {name}), but theta = 0 already has f(0) = {f_zero}. {iterates}"
        )
    }
}

/// What the paper's own theorem guarantees.
fn theorem(certification: &Certification, bounds: &MixingBounds) -> String {
    let conditions = &bounds.conditions;
    let log_t = format!("{:.1}", certification.log_t);
    let horizon = format!(
        "its horizon condition needs log T >= {} with the rigorous rate alpha = 2^(-1/{}) \
         ({} even with the best possible rate |lambda_2|), but log T = {log_t}",
        rough(conditions.paper_required_log_t),
        certification
            .constants
            .t_mix
            .map_or("t_mix".into(), |t| t.to_string()),
        rough(bounds.best_rate_required_log_t)
    );
    let threshold = certification
        .c
        .filter(|&c| !(c > certification.c0))
        .map(|c| {
            format!(
                "it needs c > c_0 = {}, but c = {}",
                number(certification.c0),
                number(c)
            )
        });
    let p = bounds.p.as_ref().and_then(|p| p.bound).map(number);
    match (threshold, conditions.paper_holds, p) {
        (None, true, Some(bound)) => format!(
            "The paper's Theorem 1 applies: log T = {log_t} meets its horizon condition, and Corollary 1 with \
             explicit constants (certificate P) gives {bound}."
        ),
        (None, false, Some(bound)) if conditions.relaxed_holds => format!(
            "The paper's Theorem 1 as printed certifies nothing here: {horizon}. Its proof also works under the \
             relaxed condition u_T + 1 <= log^2 T, which holds, and certificate P gives {bound}."
        ),
        (None, _, _) => format!(
            "The paper's Theorem 1 certifies nothing here: {horizon}. Even the relaxed condition \
             u_T + 1 <= log^2 T fails: {} > {}.",
            number(conditions.lag as f64 + 1.0),
            number(conditions.log_t * conditions.log_t)
        ),
        (Some(threshold), true, _) => {
            format!("The paper's Theorem 1 certifies nothing here: {threshold}.")
        }
        (Some(threshold), false, _) => {
            format!("The paper's Theorem 1 certifies nothing here: {threshold}, and {horizon}.")
        }
    }
}

/// What a tuned constant step achieves instead.
fn constant_step(certification: &Certification, bounds: &MixingBounds) -> String {
    let certificate = &bounds.constant_step;
    match (
        certificate.why_not(),
        certificate.bound,
        bounds.certified_step,
    ) {
        (None, Some(bound), Some(step)) => {
            let against = if certification.beats_zero(bound) {
                "below f(0)"
            } else {
                "no better than f(0)"
            };
            format!(
                "Instead of Algorithm 1, the constant step {} (certificate C; it needs the mixing time) \
                 guarantees E[f(avg)] <= {}, {against}.",
                number(step),
                number(bound)
            )
        }
        (why_not, _, _) => format!(
            "A tuned constant step (certificate C) is {}.",
            why_not.unwrap_or_default()
        ),
    }
}

/// What would give a better guarantee.
fn change(
    certification: &Certification,
    bounds: &MixingBounds,
    longer: Option<(u64, Recommendation)>,
) -> String {
    let Some(recommended) = bounds.recommended else {
        return "For a better guarantee, use a longer horizon: at this one no c is certified."
            .into();
    };
    let (c, bound) = (number(recommended.c), number(recommended.bound));
    let mut words = if certification.has_recommended_c() {
        format!("c = {c} minimises certificate Y.")
    } else {
        let better = match bounds.best() {
            Some(best) => format!(" instead of {}", number(best.bound)),
            None => String::new(),
        };
        format!(
            "For a better guarantee, use c = {c}, which minimises certificate Y: E[f(avg)] <= {bound}{better}."
        )
    };
    if !certification.beats_zero(recommended.bound) {
        words.push_str(" At this horizon no c is certified to do better than f(0)");
        words.push_str(&match longer {
            Some((horizon, at)) => format!(
                "; at T = {}, c = {} gives {}.",
                whole(horizon),
                number(at.c),
                number(at.bound)
            ),
            None => "; certificate Y falls like log^2(T)/sqrt(T), so use a longer one.".into(),
        });
    }
    if !bounds.conditions.relaxed_holds && certification.c.is_some_and(|c| c > certification.c0) {
        words.push_str(&format!(
            " Certificate P needs log T >= {}, that is, T of order {}.",
            number(bounds.conditions.relaxed_required_log_t),
            power_of_ten(bounds.conditions.relaxed_required_log_t)
        ));
    }
    words
}

/// The method that runs in better coordinates, if its guarantee is clearly smaller.
fn other_coordinates(certification: &Certification, bounds: &MixingBounds) -> Option<String> {
    let proved = bounds
        .coordinates
        .iter()
        .filter_map(|found| Some((found.coordinates.method?, found.recommended?)));
    let (method, best) = proved.min_by(|(_, x), (_, y)| x.bound.total_cmp(&y.bound))?;
    let own = bounds.recommended.map_or(f64::INFINITY, |own| own.bound);
    if !(best.bound < 0.9 * own) {
        return None;
    }
    let against = match certification.beats_zero(best.bound) {
        true => "below f(0)",
        false => "no better than f(0)",
    };
    Some(format!(
        "In other coordinates of the features more is guaranteed: {method}, which needs their second moments, has \
         E[f(avg)] <= {} with c = {}, {against}.",
        number(best.bound),
        number(best.c)
    ))
}

/// A number, with two digits when it is large: then only its order of magnitude matters.
fn rough(x: f64) -> String {
    if x < 1000.0 {
        format!("{x:.1}")
    } else {
        format!("{x:.1e}")
    }
}

/// The order of magnitude of a number given by its natural logarithm.
fn power_of_ten(log: f64) -> String {
    let exponent = log / std::f64::consts::LN_10;
    if exponent < 1e6 {
        format!("1e{}", exponent.ceil())
    } else {
        format!("10^({exponent:.1e})")
    }
}
