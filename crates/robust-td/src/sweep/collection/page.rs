//! Builds the page of a collection.

use robust_td_report::{Cell, Column, Fact, Page, Rerun, Table};

use super::CollectionResults;
use super::summary::MethodSummary;
use crate::number::short;

impl CollectionResults {
    pub(super) fn page(&self) -> Page {
        let methods = self.methods();
        let rate = self.computed() as f64 / self.seconds;
        let first = self.cases.first().map(|(_, found)| found);
        let mut facts = Vec::new();
        if let Some(command) = &self.command {
            let text = command.clone();
            facts.push(Fact::new("Command", Cell::Code { text }));
        }
        facts.push(Fact::count("Cases", self.cases.len() as u64));
        if let Some(found) = first {
            facts.push(Fact::text("Mode", found.study.mode.name()));
            facts.push(Fact::count("Horizon T", found.study.steps));
            facts.push(Fact::count("Steps simulated", found.study.simulate));
            facts.push(Fact::count("Runs per c", found.study.runs as u64));
            facts.push(Fact::count("Values of c", found.study.grid.len() as u64));
            facts.push(Fact::text("Kernel", found.execution.kernel));
            facts.push(Fact::count("Threads", found.execution.threads as u64));
        }
        facts.push(Fact::new("Seconds", Cell::number(Some(self.seconds))));
        facts.push(Fact::count("TD updates", self.lane_steps()));
        facts.push(Fact::new(
            "TD updates per second",
            Cell::digits(Some(rate), 3),
        ));
        Page {
            title: self.title.clone(),
            summary: format!(
                "The same schedules and projections on {} problems: how many runs diverge, and the error of the averaged iterate \
                 at the best c without a diverged run.",
                self.cases.len()
            ),
            facts,
            tables: vec![
                summary(&methods),
                by_c(&methods),
                self.slopes_table(&methods),
            ],
            rerun: self
                .command
                .iter()
                .map(|command| Rerun {
                    what: "Repeat the sweeps".into(),
                    command: command.clone(),
                })
                .collect(),
            ..Page::default()
        }
    }

    /// How the error depends on omega, by step.
    fn slopes_table(&self, methods: &[MethodSummary]) -> Table {
        let slopes: Vec<_> = methods
            .iter()
            .map(|m| self.slopes(m.schedule, m.projection))
            .collect();
        let mut steps: Vec<u64> = slopes.iter().flatten().map(|s| s.step).collect();
        steps.sort_unstable();
        steps.dedup();
        let row = |(method, slopes): (&MethodSummary, &Vec<super::Slope>)| {
            let at = |step: &u64| slopes.iter().find(|s| s.step == *step).map(|s| s.slope);
            let mut cells = name(method);
            cells.extend(steps.iter().map(|step| Cell::digits(at(step), 3)));
            cells
        };
        let heading = |step: &u64| Column::numbers(format!("t = {}", short(*step as f64)));
        Table {
            title: "Error against ω".into(),
            link: "Error against ω".into(),
            text: vec![
                "Slope of log E|V − V*|² in the D-norm against log ω over the cases, at the best stable c of each: −1 means an error \
                 proportional to 1/ω."
                    .into(),
            ],
            columns: [Column::words("schedule"), Column::words("projection")]
                .into_iter()
                .chain(steps.iter().map(heading))
                .collect(),
            rows: methods.iter().zip(&slopes).map(row).collect(),
        }
    }
}

fn name(method: &MethodSummary) -> Vec<Cell> {
    vec![
        Cell::word(method.schedule.name()),
        Cell::word(method.projection.name()),
    ]
}

fn summary(methods: &[MethodSummary]) -> Table {
    let row = |method: &MethodSummary| {
        let mut cells = name(method);
        cells.extend([
            Cell::digits(Some(method.divergence_rate), 3),
            Cell::digits(Some(method.stable_constants), 4),
            Cell::count(Some(method.stable_cases as u64)),
            Cell::count(Some(method.ties_best as u64)),
        ]);
        cells
    };
    Table {
        title: "Methods".into(),
        link: "Methods".into(),
        text: vec![
            "Divergence rate: mean over all cases and c. A c is stable in a case if no run diverged. Ties best: cases in which the \
             error at the best stable c is within 1 % of the best of all methods."
                .into(),
        ],
        columns: vec![
            Column::words("schedule"),
            Column::words("projection"),
            Column::numbers("divergence rate"),
            Column::numbers("stable c per case"),
            Column::numbers("cases with a stable c"),
            Column::numbers("ties best"),
        ],
        rows: methods.iter().map(row).collect(),
    }
}

fn by_c(methods: &[MethodSummary]) -> Table {
    let constants = methods.first().map(|method| &method.by_c);
    let constants = constants.into_iter().flatten();
    let row = |method: &MethodSummary| {
        let mut cells = name(method);
        let rates = method.by_c.iter();
        cells.extend(rates.map(|(_, rate, quiet)| Cell::word(format!("{rate:.3} ({quiet})"))));
        cells
    };
    Table {
        title: "Divergence by c".into(),
        link: "Divergence by c".into(),
        text: vec![
            "Mean share of diverged runs and, in brackets, the number of cases without one. A small c means large steps.".into(),
        ],
        columns: [Column::words("schedule"), Column::words("projection")]
            .into_iter()
            .chain(constants.map(|(c, ..)| Column::numbers(format!("c = {}", short(*c)))))
            .collect(),
        rows: methods.iter().map(row).collect(),
    }
}
