//! Says how the returns of complete episodes compare with the predicted values.

use robust_td_core::learner::Learner;
use robust_td_data::{Decile, Model, Purpose, ReturnCheck};
use serde::Serialize;

use crate::failure::Failure;
use crate::log_argument::{LogArgument, wrong_data};
use crate::text::{self, number};

/// Differences beyond so many standard errors are not chance, even if ten are looked at.
const MANY: f64 = 4.0;

/// The check, with the key that scripts rely on.
#[derive(Debug, Serialize)]
pub struct MonteCarloCheck {
    #[serde(flatten)]
    found: Option<ReturnCheck>,
    meaning: String,
}

/// Refuses what cannot be read again.
pub fn refuse_stream(log: &LogArgument) -> Result<(), Failure> {
    match log.is_stream() {
        true => Err(Failure::Usage(
            "--monte-carlo-check: the log must be read again, but standard input can be read only once".into(),
        )),
        false => Ok(()),
    }
}

/// Passes over the log again.
pub fn check(log: &LogArgument, model: &Model) -> Result<MonteCarloCheck, Failure> {
    let mut rated = false;
    let mut open = || {
        let reader = log.open(Purpose::Evaluate)?;
        rated |= reader.schema().ratio;
        Ok(reader)
    };
    let found = ReturnCheck::take(&mut open, model).map_err(wrong_data)?;
    let mut meaning = meaning(found.as_ref());
    let id = model.learner().id();
    if rated && model.learner().abilities().ratios {
        meaning += &format!(
            "; {id} corrects by the importance ratios (rho), returns are those of the policy that was logged: they differ \
             unless the two policies are one"
        );
    }
    Ok(MonteCarloCheck { found, meaning })
}

/// What the numbers say, in a sentence.
fn meaning(found: Option<&ReturnCheck>) -> String {
    let Some(found) = found else {
        return "not made: a predicted value is not finite".into();
    };
    if found.episodes == 0 {
        return "not possible: no episode ends with terminated, so no return is known to its end"
            .into();
    }
    let known = found.deciles.iter().filter_map(Decile::standard_errors);
    let Some(largest) = known.max_by(f64::total_cmp) else {
        return "one complete episode tells no standard errors".into();
    };
    let largest_words = number((10.0 * largest).round() / 10.0);
    if largest > MANY {
        return format!(
            "some difference is {largest_words} standard errors: there the features cannot express the values, or the data are \
             not of one policy, or learning has not come far enough (lstd has no steps to wait for)"
        );
    }
    let passed =
        format!("no difference is beyond {MANY} standard errors (the largest is {largest_words})");
    match found.deciles.len() {
        1 => format!("{passed}, but all predictions are equal: whether values differ is not seen"),
        _ => format!("{passed}: no sign that the features cannot express the values"),
    }
}

impl MonteCarloCheck {
    /// The table for people, and what it means.
    pub fn page(&self) -> String {
        let mut page = String::from("\nReturns of complete episodes against predicted values\n");
        if let Some(found) = &self.found {
            page += &text::wrap(
                "  ",
                2,
                &format!(
                    "{} of {}; {} of {} without terminated at the end left out",
                    text::count(found.rows as usize, "row"),
                    text::count(found.episodes as usize, "complete episode"),
                    text::count(found.left_out_rows as usize, "row"),
                    text::count(found.left_out_episodes as usize, "episode"),
                ),
            );
            if !found.deciles.is_empty() {
                let head = [
                    "decile",
                    "rows",
                    "predicted",
                    "return",
                    "difference",
                    "stderr",
                    "",
                ];
                let mut rows = vec![head.map(String::from)];
                rows.extend(found.deciles.iter().enumerate().map(row));
                page += &text::columns(&rows);
            }
        }
        page + &text::wrap("  ", 2, &self.meaning)
    }
}

fn row((k, decile): (usize, &Decile)) -> [String; 7] {
    let many = decile.standard_errors().is_some_and(|errors| errors > MANY);
    [
        (k + 1).to_string(),
        decile.rows.to_string(),
        number(decile.predicted),
        number(decile.discounted_return),
        number(decile.difference),
        decile.stderr.map_or("-".into(), number),
        if many { "far off" } else { "" }.into(),
    ]
}
