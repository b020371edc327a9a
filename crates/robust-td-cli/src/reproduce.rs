//! Runs the experiment of the paper: Figures 1 and 2.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::count;
use crate::failure::Failure;
use crate::sweep::spec::{Indexing, Mode, Spec};
use crate::sweep::study::Study;
use crate::sweep::{self, Machine};

/// The specs of the figures; `robust-td sweep` takes the same files.
const FIGURE_1: &str = include_str!("../../../experiments/figure1.toml");
const FIGURE_2: &str = include_str!("../../../experiments/figure2.toml");

/// Recompute the paper's Figures 1 and 2
#[derive(Debug, Args)]
#[command(after_help = "\
Modes:
  published  the authors' program: its random numbers and indexing; lands on the printed points
  algorithm  Algorithm 1 to the letter with our own random streams; one trajectory per run for all c
  exact      expectations without sampling

Examples:
  robust-td reproduce
  robust-td reproduce fig1 --mode algorithm --seed 7
  robust-td reproduce --c-index 28,29,30,31 --simulate 30000
  robust-td reproduce --mode exact --simulate 20000 --indexing published

DIR gets results.csv, curves.csv, figure1 and figure2 as SVG and PNG, report.html and manifest.json. A run that was
killed goes on with --resume, to the same bytes.")]
pub struct Arguments {
    /// Which figure
    #[arg(value_enum, default_value_t = Which::All)]
    which: Which,

    /// How the expectation is taken
    #[arg(long, value_enum, default_value_t = Mode::Published)]
    mode: Mode,

    /// Horizon T in the stepsizes (default 10000000)
    #[arg(long, value_name = "T", value_parser = count::horizon, allow_negative_numbers = true)]
    steps: Option<u64>,

    /// Stop after K steps, K at most T
    #[arg(long, value_name = "K", value_parser = count::parse, allow_negative_numbers = true)]
    simulate: Option<u64>,

    /// Runs per value of c (default 48)
    #[arg(long, value_name = "N", value_parser = count::parse, allow_negative_numbers = true)]
    runs: Option<u64>,

    /// Places in the paper's grid of 97 values of c, from 0
    #[arg(
        long,
        value_name = "I,...",
        value_delimiter = ',',
        conflicts_with = "c"
    )]
    c_index: Option<Vec<usize>>,

    /// Values of c
    #[arg(
        long,
        value_name = "C,...",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    c: Option<Vec<f64>>,

    /// Feature scalings: at most 1 scales feature 0 alone, above 1 all features
    #[arg(
        long,
        value_name = "S,...",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    scales: Option<Vec<f64>>,

    /// Seed of the random streams, with --mode algorithm (default 1)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<u64>,

    /// How --mode exact counts steps and averages (default algorithm)
    #[arg(long, value_enum)]
    indexing: Option<Indexing>,

    /// Output directory
    #[arg(long, value_name = "DIR", default_value = "out/reproduce")]
    out: PathBuf,

    #[command(flatten)]
    machine: Machine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Figure 1: decaying stepsizes
    Fig1,
    /// Figure 2: constant stepsizes
    Fig2,
    /// Both, on the same trajectories
    All,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let study = study(arguments).map_err(Failure::Usage)?;
    sweep::run_study(&study, &arguments.machine, &arguments.out)
}

fn study(arguments: &Arguments) -> Result<Study, String> {
    let figures: &[(usize, &str)] = match arguments.which {
        Which::Fig1 => &[(1, FIGURE_1)],
        Which::Fig2 => &[(2, FIGURE_2)],
        Which::All => &[(1, FIGURE_1), (2, FIGURE_2)],
    };
    let mut specs = Vec::with_capacity(figures.len());
    for &(number, text) in figures {
        specs.push((number, with_overrides(Spec::parse(text)?, arguments)?));
    }
    Study::new(&specs, Path::new(""))
}

fn with_overrides(mut spec: Spec, arguments: &Arguments) -> Result<Spec, String> {
    spec.mode = arguments.mode;
    spec.steps = arguments.steps.unwrap_or(spec.steps);
    spec.simulate = arguments.simulate;
    spec.runs = arguments.runs.unwrap_or(spec.runs);
    spec.seed = arguments.seed;
    spec.indexing = arguments.indexing;
    if let Some(scales) = &arguments.scales {
        spec.scales = scales.clone();
    }
    let values = match (&arguments.c_index, &arguments.c) {
        (Some(indices), _) => Some(at_indices(indices)?),
        (None, values) => values.clone(),
    };
    if let Some(values) = values {
        spec.c = values
            .into_iter()
            .map(toml::Value::Float)
            .collect::<Vec<_>>()
            .into();
    }
    Ok(spec)
}

fn at_indices(indices: &[usize]) -> Result<Vec<f64>, String> {
    let grid = robust_td_engine::grid::published_c();
    let at = |&index: &usize| {
        let last = grid.len() - 1;
        let value = grid.get(index).copied();
        value.ok_or_else(|| format!("--c-index {index} is outside the paper's grid, 0 to {last}"))
    };
    indices.iter().map(at).collect()
}
