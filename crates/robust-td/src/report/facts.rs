//! Lists how an answer was computed, and from what.

use robust_td_data::{EvaluationReport, Fit, Unit};
use robust_td_report::{Block, Cell, Fact, Section};

use super::parts::{count, names, section};

/// The number of columns, or files, that are listed by name.
const COLUMNS: usize = 40;

/// How the answer was computed.
pub fn convergence(fit: &Fit, report: &EvaluationReport) -> Section {
    let mut facts = vec![Fact::text(
        "Method",
        match report.solver {
            Some(solver) => format!("{} (algorithm {})", solver.name(), report.algorithm),
            None => match report.learners {
                Some(learners) => format!(
                    "average of {} learners (algorithm {})",
                    learners.averaged, report.algorithm
                ),
                None => report.algorithm.into(),
            },
        },
    )];
    let yes_or_no = |yes: bool| if yes { "yes" } else { "no" };
    facts.push(Fact::text(
        "Converged",
        report.converged.map_or("not known", yes_or_no),
    ));
    if report.relative_residual.is_some() {
        let residual = Cell::exact(report.relative_residual, "relative_residual");
        facts.push(Fact::new(
            "Relative residual of the log's equations",
            residual,
        ));
    }
    facts.push(Fact::new(
        "Features",
        Cell::exact_count(report.dimension as u64, "dimension"),
    ));
    if let Some(rank) = report.rank {
        let rank = Cell::exact_count(rank as u64, "rank");
        facts.push(Fact::new("Independent features (rank)", rank));
    }
    if let Some(passes) = fit.passes() {
        facts.push(Fact::count("Passes of the iterative solution", passes));
    }
    for (name, key, value) in [
        ("Mean TD error", "td_error.mean", report.td_error.mean),
        (
            "Root mean square TD error",
            "td_error.rms",
            report.td_error.rms,
        ),
        ("Largest TD error", "td_error.max", report.td_error.max),
        (
            "Largest |theta|²",
            "max_theta_norm_sq",
            report.max_theta_norm_sq,
        ),
    ] {
        facts.push(Fact::new(name, Cell::exact(Some(value), key)));
    }
    if let Some(step) = report.diverged_at {
        facts.push(Fact::new(
            "Diverged at step",
            Cell::exact_count(step, "diverged_at"),
        ));
    }
    if let Some(choice) = &report.choice {
        facts.push(Fact::new(
            "Constant c, chosen by the data",
            Cell::exact(Some(choice.c), "c"),
        ));
    }
    let seconds = Cell::Exact {
        value: report.seconds,
        digits: 3,
        key: "seconds".into(),
    };
    facts.push(Fact::new("Seconds", seconds));
    section("Convergence", "Convergence", vec![Block::Facts(facts)])
}

/// What the answer was computed from.
pub fn data(fit: &Fit, report: &EvaluationReport) -> Section {
    let files: Vec<String> = fit.files().into_iter().map(String::from).collect();
    let mut facts = Vec::new();
    if !files.is_empty() {
        facts.push(Fact::new("Files", Cell::prose(names(&files, COLUMNS))));
    }
    facts.push(Fact::new("Rows", Cell::exact_count(report.rows, "rows")));
    facts.push(Fact::new(
        "Transitions",
        Cell::exact_count(report.steps, "steps"),
    ));
    facts.push(Fact::new(
        "Rows without a successor",
        Cell::exact_count(report.left_out, "left_out"),
    ));
    facts.push(Fact::new(
        "Bad rows skipped",
        Cell::exact_count(report.bad_rows, "bad_rows"),
    ));
    if let Some(start) = report.start_value.filter(|_| report.episodic) {
        let starts = Cell::exact_count(start.starts, "start_value.starts");
        facts.push(Fact::new("Episodes", starts));
    }
    if !report.columns.is_empty() {
        facts.push(Fact::new(
            "Columns of the observation",
            Cell::prose(names(&report.columns, COLUMNS)),
        ));
    }
    facts.push(Fact::new(
        "Feature map",
        Cell::Code {
            text: report.features.clone(),
        },
    ));
    facts.push(Fact::new(
        "Discount",
        Cell::exact(Some(report.discount), "discount"),
    ));
    if let Some(found) = &report.intervals {
        facts.push(Fact::text(
            "Intervals",
            intervals(report.unit, found.meaning, found.clusters),
        ));
    }
    section("Data", "Data", vec![Block::Facts(facts)])
}

/// What the intervals measure, and what they take to be independent.
fn intervals(unit: Option<Unit>, meaning: &str, clusters: Option<u64>) -> String {
    let groups = clusters.unwrap_or(0);
    let unit = match unit {
        Some(Unit::Time) => {
            "the rows are one trajectory whose noise may be correlated over time".into()
        }
        Some(Unit::Cluster) => {
            format!("{} are independent of each other", count(groups, "cluster"))
        }
        Some(_) => format!("{} are independent of each other", count(groups, "episode")),
        None => return meaning.into(),
    };
    format!("{meaning}; {unit}")
}
