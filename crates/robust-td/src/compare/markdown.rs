//! Writes a comparison as a Markdown table: the columns of the paper's Table 1 next to what was measured.

use robust_td_core::registry::Source;
use robust_td_engine::contest::Score;

use super::results::{ComparisonResults, share};
use crate::contest::field::Contestant;
use crate::number::{short as number, whole};

/// The table, methods in the requested order.
pub fn table(comparison: &ComparisonResults) -> String {
    let length = comparison.length;
    let mut table = String::from(
        "| rate | method | paper | inputs | without projection | bound independent of ω | oracle | measured f | diverged |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for (contestant, score) in comparison.entries() {
        table.push_str(&row(contestant, score));
    }
    table.push_str(
        "\nThe rate is proved for Markovian samples; ω is the smallest eigenvalue of Φ' D Φ. Inputs under \"oracle\" were \
         computed from the exact model.\n",
    );
    table.push_str(&format!(
        "\n{}, T = {}, {} runs, seed {}; f(0) = {}.\n",
        comparison.problem_words(),
        whole(length.horizon),
        length.runs,
        length.seed,
        number(comparison.problem.f_zero())
    ));
    table
}

fn row(contestant: &Contestant, score: &Score) -> String {
    let inputs = &contestant.prepared.inputs;
    let oracle: Vec<&str> = inputs
        .iter()
        .filter(|input| input.source == Source::Oracle)
        .map(|input| input.name)
        .collect();
    let rate = contestant.method.abilities.rate;
    let yes_or_no = |yes: bool| if yes { "yes" } else { "no" };
    format!(
        "| {} | `{}` | {} | {} | {} | {} | {} | {} ± {:.1e} | {} |\n",
        rate.map_or("-", |rate| rate.rate),
        contestant.label,
        contestant.method.reference,
        escaped(&contestant.method.needs.join(", ")),
        // The methods that project all come with a rate.
        yes_or_no(!rate.is_some_and(|rate| rate.projected)),
        rate.map_or("-", |rate| yes_or_no(rate.omega_free)),
        escaped(&oracle.join(", ")),
        number(score.f.mean),
        score.f.standard_error,
        share(score.divergence_rate)
    )
}

/// Escapes bars, as in |theta*|, which would end the cell.
fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|")
}
