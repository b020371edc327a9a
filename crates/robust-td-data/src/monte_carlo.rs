//! Compares the returns of complete episodes with the predicted values.

use robust_td_core::learner::Learner;
use serde::Serialize;

use crate::error::Result;
use crate::log::Log;
use crate::model::Model;
use crate::options::Purpose;
use crate::returns::{Decile, ReturnCheck};

/// Differences beyond this number of standard errors are not chance, even among ten.
const MANY: f64 = 4.0;

/// The comparison of returns with predictions, and what it means.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MonteCarloCheck {
    /// The numbers; none if a predicted value is not finite.
    #[serde(flatten)]
    pub found: Option<ReturnCheck>,
    /// Their meaning, in a sentence.
    pub meaning: String,
}

impl MonteCarloCheck {
    /// Reads the log twice.
    pub(crate) fn take(log: &mut Log, model: &Model) -> Result<Self> {
        let mut rated = false;
        let mut open = || {
            let reader = log.open(Purpose::Evaluate)?;
            rated |= reader.schema().ratio;
            Ok(reader)
        };
        let found = ReturnCheck::take(&mut open, model)?;
        let mut meaning = meaning(found.as_ref());
        let id = model.learner().id();
        if rated && model.learner().abilities().ratios {
            meaning += &format!(
                "; {id} corrects for the importance ratios (rho), but the returns are those of the logging policy: they differ \
                 unless the two policies are the same"
            );
        }
        Ok(Self { found, meaning })
    }
}

impl Decile {
    /// Whether the difference is too large to be chance.
    #[must_use]
    pub fn is_far_off(&self) -> bool {
        self.standard_errors().is_some_and(|errors| errors > MANY)
    }
}

/// The meaning of the numbers, in a sentence.
fn meaning(found: Option<&ReturnCheck>) -> String {
    let Some(found) = found else {
        return "not possible: a predicted value is not finite".into();
    };
    if found.episodes == 0 {
        return "not possible: no episode ends with terminated, so no complete return is known"
            .into();
    }
    let known = found.deciles.iter().filter_map(Decile::standard_errors);
    let Some(largest) = known.max_by(f64::total_cmp) else {
        return "one complete episode gives no standard errors".into();
    };
    let rounded = (10.0 * largest).round() / 10.0;
    if largest > MANY {
        return format!(
            "the largest difference is {rounded} standard errors: the features cannot express the values, or the data come \
             from several policies, or learning has not converged (lstd solves for the answer directly)"
        );
    }
    let passed = format!("no difference exceeds {MANY} standard errors (the largest is {rounded})");
    match found.deciles.len() {
        1 => format!(
            "{passed}, but all predictions are equal, so this cannot show whether values differ"
        ),
        _ => format!("{passed}: no sign that the features cannot express the values"),
    }
}
