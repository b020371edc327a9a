//! Prints the comparison of returns of complete episodes with predicted values.

use robust_td_data::{Decile, MonteCarloCheck};

use crate::text::{self, number};

/// The table and its meaning.
pub fn page(check: &MonteCarloCheck) -> String {
    let mut page = String::from("\nReturns of complete episodes against predicted values\n");
    if let Some(found) = &check.found {
        page += &text::wrap(
            "  ",
            2,
            &format!(
                "{} of {}; left out: {} of {} that did not terminate",
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
    page + &text::wrap("  ", 2, &check.meaning)
}

fn row((k, decile): (usize, &Decile)) -> [String; 7] {
    [
        (k + 1).to_string(),
        decile.rows.to_string(),
        number(decile.predicted),
        number(decile.discounted_return),
        number(decile.difference),
        decile.stderr.map_or("-".into(), number),
        if decile.is_far_off() { "far off" } else { "" }.into(),
    ]
}
