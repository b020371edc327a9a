//! Prints the comparison of returns with predicted values.

use robust_td_data::{ReturnCheck, Tenth, Verdict};

use robust_td::number::counted;

use crate::text::{self, number};

/// Whether the features can express the values, in a sentence.
pub fn verdict(check: &ReturnCheck) -> String {
    let errors = check.largest().map_or(String::new(), |largest| {
        format!(" (largest difference {} standard errors)", tenths(largest))
    });
    match check.verdict() {
        Verdict::Fits => format!("yes: predicted values match the returns{errors}"),
        Verdict::DoesNotFit => format!("no: predicted values differ from the returns{errors}"),
        Verdict::AllEqual => {
            "not known: nearly all predicted values are equal, so the returns cannot show whether values differ".into()
        }
        Verdict::Unknown => {
            format!("not known: {}{errors}", check.why_unknown())
        }
    }
}

/// A number with one decimal, unless it is large.
fn tenths(x: f64) -> String {
    match x {
        ..1000.0 => format!("{x:.1}"),
        _ => number(x),
    }
}

/// The table.
pub fn page(check: &ReturnCheck) -> String {
    let held_out = match check.held_out {
        true => "held out from the fit",
        false => "the same rows as in the fit",
    };
    let mut page = format!("\nPredicted values against returns, by tenths ({held_out})\n");
    let head = [
        "tenth",
        "rows",
        "predicted",
        "return",
        "difference",
        "stderr",
        "",
    ];
    let mut rows = vec![head.map(String::from)];
    rows.extend(
        check
            .tenths
            .iter()
            .enumerate()
            .map(|(k, tenth)| row(check, k, tenth)),
    );
    page += &text::columns(&rows);
    if check.undetermined > 0 {
        page += &text::wrap(
            "  ",
            2,
            &format!(
                "{} not compared: the other rows do not have their features",
                counted(check.undetermined, "row held out is", "rows held out are")
            ),
        );
    }
    if check.cut > 0 {
        page += &text::wrap(
            "  ",
            2,
            &format!(
                "{} of {} episodes or parts were cut; what would have followed is replaced by the predicted value there",
                check.cut, check.episodes
            ),
        );
    }
    page
}

fn row(check: &ReturnCheck, k: usize, tenth: &Tenth) -> [String; 7] {
    [
        (k + 1).to_string(),
        tenth.rows.to_string(),
        number(tenth.predicted),
        number(tenth.discounted_return),
        number(tenth.difference),
        tenth.stderr.map_or("-".into(), number),
        match (check.is_far_off(tenth), check.is_remarkable(tenth)) {
            (true, _) => "far off",
            (false, true) => "large",
            (false, false) => "",
        }
        .into(),
    ]
}
