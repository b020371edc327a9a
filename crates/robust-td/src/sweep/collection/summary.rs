//! Summarises a collection: how often methods diverge, and how good they are at their best stable c.

use robust_td_engine::{Family, Projection};

use super::CollectionResults;
use crate::number::csv as number;
use crate::sweep::row::SweepRow;

/// One schedule with one projection over all cases.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodSummary {
    /// The step sizes.
    pub schedule: Family,
    /// The projection.
    pub projection: Projection,
    /// Share of diverged runs, mean over cases and c.
    pub divergence_rate: f64,
    /// The same by c, with the number of cases without a diverged run.
    pub by_c: Vec<(f64, f64, usize)>,
    /// Number of c without a diverged run, mean over cases.
    pub stable_constants: f64,
    /// Cases with at least one such c.
    pub stable_cases: usize,
    /// Cases in which it ties the best of all methods (within 1 %) at its best stable c.
    pub ties_best: usize,
}

/// The best stable c of a method in a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Best<'a> {
    /// The case.
    pub case: &'a str,
    /// omega of its problem.
    pub omega: f64,
    /// The row, with c and the learning curve.
    pub row: &'a SweepRow,
    /// (1-gamma) E|V - V*|_D^2 of the averaged iterate at the last step.
    pub error: f64,
}

/// The slope of log error against log omega over cases, by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// The step.
    pub step: u64,
    /// The slope.
    pub slope: f64,
    /// The number of cases.
    pub cases: usize,
}

/// How far above the best error counts as a tie.
const TIE: f64 = 1.01;

fn stable(row: &SweepRow) -> bool {
    row.divergence_rate() == Some(0.0)
}

impl CollectionResults {
    /// The methods in the order of the spec.
    fn rules(&self) -> Vec<(Family, Projection)> {
        let figures = self.cases.first().map(|(_, found)| &found.study.figures);
        let figures = figures.into_iter().flatten();
        figures.map(|f| (f.family, f.projection)).collect()
    }

    fn rows_of(&self, rule: (Family, Projection)) -> impl Iterator<Item = Vec<&SweepRow>> {
        self.cases.iter().map(move |(_, found)| {
            let rows = found.rows.iter();
            rows.filter(|row| (row.schedule(), row.projection()) == rule)
                .collect()
        })
    }

    /// The best stable c of a method in every case that has one.
    #[must_use]
    pub fn best(&self, schedule: Family, projection: Projection) -> Vec<Best<'_>> {
        let rows = self.rows_of((schedule, projection));
        let mut found = Vec::new();
        for ((name, results), rows) in self.cases.iter().zip(rows) {
            let problem = &results.study.variants[0].problem;
            let rest = 1.0 - problem.discount();
            let error = |row: &SweepRow| Some(rest * row.d_norm_sq()?).filter(|x| x.is_finite());
            let stable = rows.into_iter().filter(|row| stable(row));
            let scored = stable.filter_map(|row| Some((row, error(row)?)));
            if let Some((row, error)) = scored.min_by(|a, b| a.1.total_cmp(&b.1)) {
                found.push(Best {
                    case: name,
                    omega: problem.omega(),
                    row,
                    error,
                });
            }
        }
        found
    }

    /// Every method over all cases.
    #[must_use]
    pub fn methods(&self) -> Vec<MethodSummary> {
        let rules = self.rules();
        let best: Vec<Vec<Best<'_>>> = rules.iter().map(|&(f, p)| self.best(f, p)).collect();
        let smallest = |case: &str| {
            let all = best.iter().flatten().filter(|b| b.case == case);
            all.map(|b| b.error).fold(f64::INFINITY, f64::min)
        };
        rules
            .iter()
            .zip(&best)
            .map(|(&rule, own)| {
                let cases: Vec<Vec<&SweepRow>> = self.rows_of(rule).collect();
                let all = cases.iter().flatten();
                let rates: Vec<f64> = all.filter_map(|row| row.divergence_rate()).collect();
                let count = |rows: &Vec<&SweepRow>| rows.iter().filter(|row| stable(row)).count();
                let stable_constants = cases.iter().map(count).sum::<usize>() as f64;
                let ties = |b: &&Best<'_>| b.error <= TIE * smallest(b.case);
                MethodSummary {
                    schedule: rule.0,
                    projection: rule.1,
                    divergence_rate: mean(&rates),
                    by_c: by_c(&cases),
                    stable_constants: stable_constants / cases.len().max(1) as f64,
                    stable_cases: cases.iter().filter(|rows| count(rows) > 0).count(),
                    ties_best: own.iter().filter(ties).count(),
                }
            })
            .collect()
    }

    /// The slope of log error against log omega at the best stable c, at every power of ten that the curves have.
    ///
    /// Cases whose error is zero or not finite at a step are left out there.
    #[must_use]
    pub fn slopes(&self, schedule: Family, projection: Projection) -> Vec<Slope> {
        let best = self.best(schedule, projection);
        let last = best.iter().filter_map(|b| b.row.found.curve.last());
        let last = last.map(|point| point.step).min().unwrap_or(0);
        let steps = (0..19).map(|k| 10_u64.pow(k)).filter(|&step| step <= last);
        steps
            .filter_map(|step| {
                let points = best.iter().filter_map(|b| {
                    let curve = b.row.found.curve.iter();
                    let error = curve.filter(|p| p.step == step).find_map(|p| p.d_norm)?;
                    let point = (b.omega.ln(), error.ln());
                    (point.0.is_finite() && point.1.is_finite()).then_some(point)
                });
                let points: Vec<(f64, f64)> = points.collect();
                slope(&points).map(|slope| Slope {
                    step,
                    slope,
                    cases: points.len(),
                })
            })
            .collect()
    }

    /// `results.csv`: the rows of all cases.
    pub(super) fn results_csv(&self) -> String {
        let mut csv = String::new();
        for (name, found) in &self.cases {
            let own = found.to_csv();
            let mut lines = own.lines();
            let heading = lines.next().unwrap_or_default();
            if csv.is_empty() {
                csv.push_str(&format!("case,{heading}\n"));
            }
            let name = quoted(name);
            lines.for_each(|line| csv.push_str(&format!("{name},{line}\n")));
        }
        csv
    }

    /// `summary.csv`: one row per method.
    pub(super) fn summary_csv(&self) -> String {
        let mut csv = String::from(
            "schedule,projection,divergence_rate,stable_constants,stable_cases,cases,ties_best\n",
        );
        for method in self.methods() {
            csv.push_str(&format!(
                "{},{},{},{},{},{},{}\n",
                method.schedule.name(),
                method.projection.name(),
                number(method.divergence_rate),
                number(method.stable_constants),
                method.stable_cases,
                self.cases.len(),
                method.ties_best
            ));
        }
        csv
    }

    /// `cases.csv`: the best stable c of every case and method.
    pub(super) fn cases_csv(&self) -> String {
        let mut csv = String::from("case,omega,schedule,projection,c,error,f\n");
        for (schedule, projection) in self.rules() {
            for best in self.best(schedule, projection) {
                csv.push_str(&format!(
                    "{},{},{},{},{},{},{}\n",
                    quoted(best.case),
                    number(best.omega),
                    schedule.name(),
                    projection.name(),
                    number(best.row.c()),
                    number(best.error),
                    number(best.row.gap())
                ));
            }
        }
        csv
    }
}

/// A text as a field of a CSV file.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// For each c: the mean divergence rate over cases, and the cases without a diverged run.
fn by_c(cases: &[Vec<&SweepRow>]) -> Vec<(f64, f64, usize)> {
    let constants = cases.first().into_iter().flatten().map(|row| row.c());
    constants
        .map(|c| {
            let here = cases.iter().flatten().filter(|row| row.c() == c);
            let rates: Vec<f64> = here.filter_map(|row| row.divergence_rate()).collect();
            let quiet = rates.iter().filter(|&&rate| rate == 0.0).count();
            (c, mean(&rates), quiet)
        })
        .collect()
}

/// The slope of y against x; `None` for fewer than two different x.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
    let (x, y) = (x / count, y / count);
    let (mut xx, mut xy) = (0.0, 0.0);
    for p in points {
        xx += (p.0 - x) * (p.0 - x);
        xy += (p.0 - x) * (p.1 - y);
    }
    (points.len() >= 2 && xx > 0.0).then(|| xy / xx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_lines_are_exact() {
        let line: Vec<(f64, f64)> = [1.0, 2.0, 5.0].map(|x| (x, 3.0 - 2.0 * x)).to_vec();
        assert!((slope(&line).unwrap() + 2.0).abs() <= 1e-15);
        assert_eq!(slope(&line[..1]), None);
        assert_eq!(slope(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn names_with_commas_are_quoted() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("e1-eps2-0.1"), "e1-eps2-0.1");
    }
}
