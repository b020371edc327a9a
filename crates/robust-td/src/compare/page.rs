//! Fills in the report of a comparison.

use robust_td_core::Constants;
use robust_td_core::registry::{Quantity, Source};
use robust_td_engine::contest::Score;
use robust_td_report::{Cell, Column, Drawing, Fact, Page, PageFigure, Table};

use super::results::{ComparisonResults, quantity_words};
use crate::constants::constants_table;
use crate::contest::field::Contestant;
use crate::contest::figure::rerun;
use crate::number::{count, short, whole};

/// The report with its figure.
pub fn page(comparison: &ComparisonResults, drawing: Drawing) -> Page {
    let ranked = comparison.ranked();
    let mut tables = vec![ranking(&ranked), inputs(&ranked)];
    tables.extend(
        [notes(&ranked), guarantees(&ranked), absent(comparison)]
            .into_iter()
            .flatten(),
    );
    tables.push(constants(comparison));
    Page {
        title: format!("Comparison of methods on {}", comparison.problem_words()),
        summary: summary(comparison),
        facts: facts(comparison),
        figures: vec![PageFigure {
            title: "Error against samples".into(),
            caption: caption(comparison),
            drawing,
        }],
        tables,
        rerun: rerun(&comparison.command),
    }
}

fn summary(comparison: &ComparisonResults) -> String {
    let ranked = comparison.ranked();
    let diverged = ranked
        .iter()
        .filter(|(_, score)| score.divergence_rate > 0.0)
        .count();
    let best = ranked.first().map_or(String::new(), |(contestant, score)| {
        format!(
            " The smallest mean error is that of {}: f = {}, against f(0) = {} at θ = 0.",
            contestant.label,
            short(score.f.mean),
            short(comparison.problem.f_zero())
        )
    });
    format!(
        "{} learned the same value function from the same {} sampled trajectories of {} steps each.{best} {}",
        count(ranked.len(), "method"),
        comparison.length.runs,
        whole(comparison.length.horizon),
        match diverged {
            0 => "None diverged.".to_string(),
            1 => "One diverged in some runs.".to_string(),
            n => format!("{n} diverged in some runs."),
        }
    )
}

fn facts(comparison: &ComparisonResults) -> Vec<Fact> {
    let problem = &comparison.problem;
    let size = format!(
        "{}: {}, {}, discount {}",
        comparison.problem_words(),
        count(problem.states(), "state"),
        count(problem.dimension(), "feature"),
        problem.discount()
    );
    let seeds = format!(
        "{}, the same trajectories for all methods",
        comparison.length.seed
    );
    vec![
        Fact::new(
            "Command",
            Cell::Code {
                text: comparison.command.clone(),
            },
        ),
        Fact::text("Problem", size),
        Fact::text("Seeds", seeds),
        Fact::text("Kernel", comparison.kernel),
        Fact::count("Threads", comparison.threads as u64),
        Fact::new("Seconds", Cell::number(Some(comparison.outcome.seconds))),
        Fact::text("Samples per run (T)", whole(comparison.length.horizon)),
        Fact::text("Runs", comparison.length.runs.to_string()),
        Fact::text("Version", env!("CARGO_PKG_VERSION")),
    ]
}

fn caption(comparison: &ComparisonResults) -> String {
    format!(
        "f of each method's output against the samples seen: the mean of {} with a band of one standard error. \
         Dropped samples still count. Labels are sorted by final error. Triangles mark curves that leave the panel, \
         which ends at a hundred times f(0).",
        count(comparison.length.runs as usize, "run")
    )
}

fn ranking(ranked: &[(&Contestant, &Score)]) -> Table {
    let row = |&(contestant, score): &(&Contestant, &Score)| {
        vec![
            Cell::word(&contestant.label),
            Cell::Estimate {
                value: score.f.mean,
                stderr: score.f.standard_error,
            },
            match score.divergence_rate {
                0.0 => Cell::word("no"),
                rate => Cell::Mark {
                    text: format!("{} % of runs", short(100.0 * rate)),
                    good: false,
                },
            },
            match contestant.prepared.oracle() {
                true => Cell::Mark {
                    text: "oracle".into(),
                    good: false,
                },
                false => Cell::word("no"),
            },
            Cell::word(contestant.method.standing.word()),
            Cell::number(Some(score.d_norm_sq.mean)),
            Cell::number(Some(score.max_mean_theta_norm_sq)),
            Cell::number(score.projections),
            Cell::Count {
                value: score.updates,
            },
        ]
    };
    Table {
        title: "Ranking".into(),
        text: vec![
            "Sorted by f(θ) = (1−γ)|V−V*|²_D + γ|V−V*|²_Dir at the method's own output after the last sample, where V* is the value \
             function of the projected Bellman equation; ± is one standard error over runs. A method diverged in a run when |θ|² \
             exceeded 10¹² or was not a number. An oracle has an input that only the exact model provides, so its \
             error cannot be reached in practice."
                .into(),
            "Theory: proved methods have a theorem for Markovian samples, baselines another kind of theory, and experimental ones \
             no known guarantee for TD learning. The other columns are means over runs at the output, the largest mean |θ|² \
             over all steps, and projections and updates per run; a method that drops samples makes fewer updates. compare.csv has more."
                .into(),
        ],
        columns: vec![
            Column::words("method"),
            Column::numbers("f"),
            Column::words("diverged"),
            Column::words("oracle"),
            Column::words("theory"),
            Column::numbers("|V − V*|²_D"),
            Column::numbers("largest mean |θ|²"),
            Column::numbers("projected"),
            Column::numbers("updates"),
        ],
        rows: ranked.iter().map(row).collect(),
        ..Table::default()
    }
}

fn inputs(ranked: &[(&Contestant, &Score)]) -> Table {
    let words = |contestant: &Contestant, source: Source| {
        let inputs = contestant.prepared.inputs.iter();
        let words: Vec<String> = inputs
            .filter(|input| input.source == source)
            .map(|input| format!("{} = {}", input.name, short(input.value)))
            .collect();
        words.join(", ")
    };
    // A column that is empty for all methods is left out.
    let sources: Vec<(&str, Source)> = [
        ("only from the model", Source::Oracle),
        ("set by hand", Source::Given),
        ("known in practice", Source::Known),
    ]
    .into_iter()
    .filter(|&(_, source)| ranked.iter().any(|(who, _)| !words(who, source).is_empty()))
    .collect();
    let row = |&(contestant, _): &(&Contestant, &Score)| {
        let mut row = vec![Cell::word(&contestant.label)];
        row.extend(
            sources
                .iter()
                .map(|&(_, source)| Cell::prose(words(contestant, source))),
        );
        row.push(Cell::prose(contestant.method.title));
        row.push(Cell::prose(contestant.method.reference));
        row
    };
    let names = sources.iter().map(|&(name, _)| name);
    let names = ["method"].into_iter().chain(names);
    Table {
        title: "Inputs of each method".into(),
        text: vec![
            "Inputs that were not set are computed from the exact model. If one of these cannot be known in practice, the method \
             is an oracle; a method whose inputs are all set by hand is not."
                .into(),
        ],
        columns: names
            .chain(["what it is", "reference"])
            .map(Column::words)
            .collect(),
        rows: ranked.iter().map(row).collect(),
        ..Table::default()
    }
}

fn notes(ranked: &[(&Contestant, &Score)]) -> Option<Table> {
    let noted = ranked.iter().flat_map(|(contestant, _)| {
        let notes = contestant.prepared.notes.iter();
        notes.map(|note| vec![Cell::word(&contestant.label), Cell::prose(note)])
    });
    let rows: Vec<_> = noted.collect();
    (!rows.is_empty()).then(|| Table {
        title: "Conditions that do not hold here".into(),
        text: vec!["These methods ran, but outside the conditions of their theorems.".into()],
        columns: ["method", "condition"].map(Column::words).into(),
        rows,
        ..Table::default()
    })
}

fn guarantees(ranked: &[(&Contestant, &Score)]) -> Option<Table> {
    let proved = ranked.iter().filter_map(|(contestant, score)| {
        let guarantee = contestant.prepared.guarantee.as_ref()?;
        let measured = match guarantee.quantity {
            Quantity::F => score.f.mean,
            Quantity::DNormSq => score.d_norm_sq.mean,
            Quantity::ThetaErrorSq => score.theta_error_sq.mean,
        };
        Some(vec![
            Cell::word(&contestant.label),
            Cell::word(quantity_words(guarantee.quantity)),
            Cell::number(Some(guarantee.bound)),
            Cell::number(Some(measured)),
            Cell::prose(guarantee.statement),
        ])
    });
    let rows: Vec<_> = proved.collect();
    (!rows.is_empty()).then(|| Table {
        title: "What is proved here".into(),
        text: vec![
            "Bounds on expectations for this problem, horizon and setting, next to the measured values.".into(),
        ],
        columns: vec![
            Column::words("method"),
            Column::words("quantity"),
            Column::numbers("bound"),
            Column::numbers("measured"),
            Column::words("by"),
        ],
        rows,
        ..Table::default()
    })
}

fn absent(comparison: &ComparisonResults) -> Option<Table> {
    let skipped = &comparison.field.skipped;
    (!skipped.is_empty()).then(|| Table {
        title: "Methods that do not apply".into(),
        text: Vec::new(),
        columns: ["method", "why"].map(Column::words).into(),
        rows: skipped
            .iter()
            .map(|skipped| vec![Cell::word(skipped.id), Cell::prose(&skipped.why)])
            .collect(),
        ..Table::default()
    })
}

fn constants(comparison: &ComparisonResults) -> Table {
    let constants = Constants::new(&comparison.problem, comparison.mixing.as_ref());
    constants_table(&[(comparison.problem_words(), constants)])
}
