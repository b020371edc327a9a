//! Compares methods without a step size to tune with the best constant of Algorithm 1 in hindsight, on every catalog problem.
//!
//! `cargo run --release -p robust-td-engine --example tuning_free` prints the tables of `docs/findings.md`: 20 runs at
//! 10^5 and 10^6 samples; other horizons may follow after `--`.

use std::error::Error;
use std::time::Instant;

use robust_td_core::catalog;
use robust_td_core::learner::recipe::Output;
use robust_td_core::learner::{Learner, Td0};
use robust_td_core::registry::Setting;
use robust_td_core::registry::{self, AnyLearner};
use robust_td_core::{Mixing, Problem};
use robust_td_engine::{Contest, ContestOptions, Entrant, Score, contest};

const METHODS: [&str; 11] = [
    "auto",
    "alg1-auto",
    "coin-betting",
    "dog",
    "t-dog",
    "swift-td",
    "adatd",
    "implicit-td",
    "lee26",
    "lee26-mixfree",
    "lstd",
];
const RUNS: usize = 20;
const SEED: u64 = 1;
/// The constants are 10^(k/8), from 1e-4 to 56.
const PER_DECADE: i32 = 8;
const CONSTANTS: std::ops::RangeInclusive<i32> = -4 * PER_DECADE..=PER_DECADE * 7 / 4;
/// The plain average excludes the first 1/8 of a run, as in the portfolio.
const BURN_IN: u64 = 8;

/// One problem at one horizon.
struct Case {
    name: &'static str,
    f_zero: f64,
    /// For each method, its score and whether it is an oracle; `None` if it does not apply.
    methods: Vec<Option<(Score, bool)>>,
    /// Algorithm 1 over the constants, with its own average and with the plain one.
    weighted: Hindsight,
    plain: Hindsight,
}

/// The results of the best constants.
struct Hindsight {
    /// The best constant by the mean over runs.
    c: f64,
    mean: f64,
    /// Its runs.
    runs: Vec<f64>,
    /// The best result of each run separately.
    per_run: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Result<Vec<u64>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    let mut horizons = given?;
    if horizons.is_empty() {
        horizons = vec![100_000, 1_000_000];
    }
    for horizon in horizons {
        let mut cases = Vec::new();
        for entry in catalog::entries() {
            let start = Instant::now();
            cases.push(case(
                entry.name,
                entry.build(&[] as &[(&str, f64)])?,
                horizon,
            )?);
            let seconds = start.elapsed().as_secs_f64();
            eprintln!("{}, T = {horizon}: {seconds:.1} s", entry.name);
        }
        println!("\nT = {horizon}, {RUNS} runs, seed {SEED}\n");
        print_cases(&cases);
        println!();
        print_summary(&cases);
        println!();
        print_averages(&cases);
    }
    Ok(())
}

fn case(name: &'static str, problem: Problem, horizon: u64) -> Result<Case, Box<dyn Error>> {
    let mixing = Mixing::of(problem.chain())?;
    let setting = Setting::of_problem(&problem, mixing.as_ref().ok(), horizon);
    let mut entrants = Vec::new();
    let mut enter = |learner: AnyLearner| {
        let label = entrants.len().to_string();
        entrants.push(Entrant { label, learner });
        entrants.len() - 1
    };
    let mut places = Vec::new();
    for id in METHODS {
        let prepared = registry::find(id)?.prepare(&setting, &[] as &[(&str, f64)]);
        places.push(prepared.ok().map(|prepared| {
            let oracle = prepared.oracle();
            (enter(prepared.learner), oracle)
        }));
    }
    let constants: Vec<f64> = CONSTANTS
        .map(|k| 10_f64.powf(f64::from(k) / f64::from(PER_DECADE)))
        .collect();
    let (mut weighted, mut plain) = (Vec::new(), Vec::new());
    for &c in &constants {
        let learner = registry::find("alg1")?
            .prepare(&setting, &[("c", c)])?
            .learner;
        let mut recipe = learner.recipe().ok_or("alg1 has no recipe")?;
        recipe.output = Output::Tail {
            after: horizon / BURN_IN,
        };
        plain.push(enter(Td0::new(recipe, problem.dimension())?.into()));
        weighted.push(enter(learner));
    }
    let race = Contest {
        problem,
        entrants,
        horizon,
        runs: RUNS,
        seed: SEED,
        points_per_decade: 1,
    };
    let scores = contest(&race, &ContestOptions::default())?;
    let of = |&(place, oracle): &(usize, bool)| (scores[place].clone(), oracle);
    Ok(Case {
        name,
        f_zero: race.problem.f_zero(),
        methods: places.iter().map(|place| place.as_ref().map(of)).collect(),
        weighted: Hindsight::of(&constants, weighted.iter().map(|&place| &scores[place])),
        plain: Hindsight::of(&constants, plain.iter().map(|&place| &scores[place])),
    })
}

impl Hindsight {
    fn of<'a>(constants: &[f64], scores: impl Iterator<Item = &'a Score>) -> Self {
        let mut best = Self {
            c: f64::NAN,
            mean: f64::INFINITY,
            runs: Vec::new(),
            per_run: vec![f64::INFINITY; RUNS],
        };
        for (&c, score) in constants.iter().zip(scores) {
            if score.f.mean < best.mean {
                (best.c, best.mean) = (c, score.f.mean);
                best.runs.clone_from(&score.f_of_runs);
            }
            for (best, f) in best.per_run.iter_mut().zip(&score.f_of_runs) {
                *best = best.min(*f);
            }
        }
        best
    }
}

/// The number of runs whose error is at most twice that of the same run in `others`.
fn within_two(score: &Score, others: &[f64]) -> usize {
    let runs = score.f_of_runs.iter().zip(others);
    runs.filter(|(f, best)| **f <= 2.0 * **best).count()
}

fn diverged(score: &Score) -> usize {
    (score.divergence_rate * RUNS as f64).round() as usize
}

/// Mean errors, with the ratio to the best single constant in brackets.
fn print_cases(cases: &[Case]) {
    row(["problem", "f(0)", "best c", "its f"]
        .into_iter()
        .chain(METHODS));
    row(std::iter::repeat_n("---", 4 + METHODS.len()));
    for case in cases {
        let best = &case.weighted;
        let cell = |found: &Option<(Score, bool)>| {
            let Some((score, oracle)) = found else {
                return "-".to_owned();
            };
            let star = if *oracle { "*" } else { "" };
            let note = match diverged(score) {
                0 => String::new(),
                count => format!(", {count} diverged"),
            };
            let (f, ratio) = (number(score.f.mean), number(score.f.mean / best.mean));
            format!("{f}{star} ({ratio}{note})")
        };
        let mut cells = vec![
            case.name.to_owned(),
            number(case.f_zero),
            number(best.c),
            number(best.mean),
        ];
        cells.extend(case.methods.iter().map(cell));
        row(cells.iter().map(String::as_str));
    }
}

/// The summary of each method over all problems.
fn print_summary(cases: &[Case]) {
    row([
        "method",
        "within 2x of the run's best c",
        "plain average: of the run's best c",
        "plain average: of the best c",
        "diverged",
        "worst problem",
        "geometric mean",
        "problems where it is best",
    ]);
    row(std::iter::repeat_n("---", 8));
    let total = RUNS * cases.len();
    for (k, id) in METHODS.iter().enumerate() {
        let found: Vec<(&Case, &Score)> = cases
            .iter()
            .filter_map(|case| Some((case, &case.methods[k].as_ref()?.0)))
            .collect();
        let within = |others: fn(&Case) -> &[f64]| -> String {
            let cases = found.iter();
            let runs: usize = cases
                .map(|(case, score)| within_two(score, others(case)))
                .sum();
            format!("{runs} of {total}")
        };
        let apart: usize = found.iter().map(|(_, score)| diverged(score)).sum();
        let ratios: Vec<f64> = (found.iter())
            .map(|(case, score)| score.f.mean / case.weighted.mean)
            .collect();
        let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let first = |case: &Case| {
            let others = case.methods.iter().flatten().map(|(score, _)| score.f.mean);
            others.fold(f64::INFINITY, f64::min)
        };
        let best = (found.iter()).filter(|(case, score)| score.f.mean <= first(case));
        let cells = [
            (*id).to_owned(),
            within(|case| &case.weighted.per_run),
            within(|case| &case.plain.per_run),
            within(|case| &case.plain.runs),
            apart.to_string(),
            number(ratios.iter().copied().fold(0.0, f64::max)),
            number((logs / ratios.len() as f64).exp()),
            best.count().to_string(),
        ];
        row(cells.iter().map(String::as_str));
    }
}

/// Algorithm 1's own average against the plain one, each at its best constant.
fn print_averages(cases: &[Case]) {
    row([
        "problem",
        "weighted: c",
        "f",
        "plain: c",
        "f",
        "weighted / plain",
        "alg1-auto / plain",
        "alg1-auto / lstd",
    ]);
    row(std::iter::repeat_n("---", 8));
    for case in cases {
        let of = |id: &str| {
            let place = METHODS.iter().position(|other| *other == id);
            let found = place.and_then(|place| case.methods[place].as_ref());
            found.map_or(f64::NAN, |(score, _)| score.f.mean)
        };
        let cells = [
            case.name.to_owned(),
            number(case.weighted.c),
            number(case.weighted.mean),
            number(case.plain.c),
            number(case.plain.mean),
            number(case.weighted.mean / case.plain.mean),
            number(of("alg1-auto") / case.plain.mean),
            number(of("alg1-auto") / of("lstd")),
        ];
        row(cells.iter().map(String::as_str));
    }
}

/// A line of a Markdown table.
fn row<'a>(cells: impl IntoIterator<Item = &'a str>) {
    let cells: Vec<&str> = cells.into_iter().collect();
    println!("| {} |", cells.join(" | "));
}

/// Two or three digits.
fn number(x: f64) -> String {
    match x.abs() {
        size if !(1e-3..1e4).contains(&size) => format!("{x:.1e}"),
        size if size >= 100.0 => format!("{x:.0}"),
        size if size >= 0.1 => format!("{x:.2}"),
        _ => format!("{x:.4}"),
    }
}
