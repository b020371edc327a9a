//! Reproduces Figures 1 and 2 of the paper.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use robust_td::sweep::{self as lib, Sweep, paper_constants};
use robust_td::{Figures, reproduce};

use crate::failure::Failure;
use crate::sweep::{self, Machine};
use crate::{count, float};

/// Recompute the paper's Figures 1 and 2
#[derive(Debug, Args)]
#[command(after_help = "\
Modes:
  published  the authors' program: its random numbers and indexing; matches
             the printed points
  algorithm  Algorithm 1 exactly as stated, with our own random streams; all c
             share the trajectory of a run
  exact      expectations without sampling

Examples:
  robust-td reproduce
  robust-td reproduce fig1 --mode algorithm --seed 7
  robust-td reproduce --c-index 28,29,30,31 --simulate 30000
  robust-td reproduce --mode exact --simulate 20000 --indexing published

DIR gets results.csv, curves.csv, figure1 and figure2 as SVG and PNG,
report.html and manifest.json. --resume continues a killed run to the same
bytes.")]
pub struct Arguments {
    /// Which figures
    #[arg(value_enum, default_value_t = Which::All)]
    which: Which,

    /// How expectations are computed
    #[arg(long, value_enum, default_value_t = Mode::Published)]
    mode: Mode,

    /// Horizon T in the step sizes [default: 10000000]
    #[arg(long, value_name = "T", value_parser = count::horizon, allow_negative_numbers = true)]
    steps: Option<u64>,

    /// Stop after K <= T steps [default: T]
    #[arg(long, value_name = "K", value_parser = count::parse, allow_negative_numbers = true)]
    simulate: Option<u64>,

    /// Runs per value of c [default: 48]
    #[arg(long, value_name = "N", value_parser = count::parse, allow_negative_numbers = true)]
    runs: Option<u64>,

    /// Indices into the paper's grid of 97 values of c, from 0
    #[arg(
        long,
        value_name = "I,...",
        value_delimiter = ',',
        conflicts_with = "c"
    )]
    c_index: Option<Vec<usize>>,

    /// Values of c [default: the paper's grid]
    #[arg(
        long,
        value_name = "C,...",
        value_delimiter = ',',
        value_parser = float::parse,
        allow_negative_numbers = true
    )]
    c: Option<Vec<f64>>,

    /// Feature scalings; values <= 1 scale only feature 0, values > 1 all features
    #[arg(
        long,
        value_name = "S,...",
        value_delimiter = ',',
        value_parser = float::parse,
        allow_negative_numbers = true
    )]
    scales: Option<Vec<f64>>,

    /// Seed of the random streams, with --mode algorithm [default: 1]
    #[arg(long, value_name = "S", value_parser = count::parse, allow_negative_numbers = true)]
    seed: Option<u64>,

    /// How --mode exact counts steps and averages [default: algorithm]
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
    /// Figure 1: decaying step sizes
    Fig1,
    /// Figure 2: constant step sizes
    Fig2,
    /// Both, on the same trajectories
    All,
}

/// How a sweep computes expectations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// The authors' program: its random numbers, its indexing
    Published,
    /// Algorithm 1 exactly as stated, with our own random streams
    Algorithm,
    /// Expectations without sampling
    Exact,
}

/// How exact mode counts steps and averages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Indexing {
    /// Algorithm 1: t from 0, eta-weighted average, gap at the last step
    Algorithm,
    /// The authors' program: t from 1, uniform average, gap at the last logged step
    Published,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    sweep::run_and_write(requested(arguments)?, &arguments.machine, &arguments.out)
}

/// The paper's sweep with the user's changes.
fn requested(arguments: &Arguments) -> Result<Sweep<'static>, Failure> {
    let figures = match arguments.which {
        Which::Fig1 => Figures::First,
        Which::Fig2 => Figures::Second,
        Which::All => Figures::All,
    };
    let mut sweep = reproduce(figures)?.mode(match arguments.mode {
        Mode::Published => lib::Mode::Published,
        Mode::Algorithm => lib::Mode::Algorithm,
        Mode::Exact => lib::Mode::Exact,
    });
    if let Some(steps) = arguments.steps {
        sweep = sweep.horizon(steps);
    }
    if let Some(steps) = arguments.simulate {
        sweep = sweep.simulate(steps);
    }
    if let Some(runs) = arguments.runs {
        sweep = sweep.runs(runs);
    }
    if let Some(seed) = arguments.seed {
        sweep = sweep.seed(seed);
    }
    if let Some(indexing) = arguments.indexing {
        sweep = sweep.indexing(match indexing {
            Indexing::Algorithm => lib::Indexing::Algorithm,
            Indexing::Published => lib::Indexing::Published,
        });
    }
    if let Some(scales) = &arguments.scales {
        sweep = sweep.scales(scales.iter().copied());
    }
    if let Some(values) = &arguments.c {
        sweep = sweep.constants(values.iter().copied());
    }
    if let Some(indices) = &arguments.c_index {
        sweep = sweep.constants(at_indices(indices)?);
    }
    Ok(sweep)
}

fn at_indices(indices: &[usize]) -> Result<Vec<f64>, Failure> {
    let grid = paper_constants();
    let at = |&index: &usize| {
        let last = grid.len() - 1;
        grid.get(index).copied().ok_or_else(|| {
            Failure::Usage(format!(
                "--c-index {index} is outside the paper's grid, 0 to {last}"
            ))
        })
    };
    indices.iter().map(at).collect()
}
