//! Describes the contents of a report: plain facts that the caller fills in.
//!
//! Every section is optional: what is `None` or empty is absent from the page.

use serde::Serialize;

use crate::scene::Drawing;
use crate::table::Table;

/// The contents of `report.html`; [`Report::to_html`] writes the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Heading of the page.
    pub title: String,
    /// One or two sentences under the heading that say what the reader sees.
    pub summary: String,
    /// What was run.
    pub run: Option<RunFacts>,
    /// The figures, in order.
    pub figures: Vec<ReportFigure>,
    /// Tables of the caller's own, in order.
    pub tables: Vec<Table>,
    /// Agreement with points that were printed elsewhere.
    pub agreement: Option<Agreement>,
    /// Where the sweep becomes stable.
    pub thresholds: Vec<ThresholdRow>,
    /// Sampled values next to exact expectations.
    pub expectations: Vec<ExpectationRow>,
    /// Constants of each problem.
    pub constants: Vec<ConstantsRow>,
    /// What the certificates say.
    pub certificates: Vec<CertificateRow>,
    /// How to run it again.
    pub rerun: Vec<Rerun>,
}

/// What was run, on what, for how long.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunFacts {
    /// The command line.
    pub command: String,
    /// Mode, with a word on what it means.
    pub mode: String,
    /// Problem, such as "paper-ring: 50 states, d = 5, discount 0.99".
    pub problem: String,
    /// Horizon T in the stepsize.
    pub horizon: Option<u64>,
    /// Steps that were simulated.
    pub simulated_steps: Option<u64>,
    /// Runs per c.
    pub runs: Option<u64>,
    /// Number of values of c.
    pub c_values: Option<u64>,
    /// Number of problems (feature scalings).
    pub problems: Option<u64>,
    /// The seeds, or how they are derived.
    pub seeds: String,
    /// Kernel of the engine.
    pub kernel: String,
    /// Threads.
    pub threads: Option<u64>,
    /// Wall time.
    pub seconds: Option<f64>,
    /// TD updates that were computed.
    pub lane_steps: Option<u64>,
    /// TD updates per second.
    pub lane_steps_per_second: Option<f64>,
    /// Anything else: version, machine.
    pub more: Vec<Fact>,
}

/// A named value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// A figure on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportFigure {
    /// Heading, such as "Figure 1".
    pub title: String,
    /// Caption under the figure.
    pub caption: String,
    /// The figure.
    pub drawing: Drawing,
}

/// Comparison with printed points.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Agreement {
    /// Relative difference up to which a point agrees.
    pub tolerance: f64,
    /// The points.
    pub points: Vec<AgreementPoint>,
}

/// A diagnostic of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Quantity {
    /// Boundedness ratio.
    #[serde(rename = "ratio")]
    Ratio,
    /// Divergence rate.
    #[serde(rename = "divergence rate")]
    DivergenceRate,
    /// Suboptimality gap.
    #[serde(rename = "gap")]
    Gap,
}

/// One printed point and our value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgreementPoint {
    /// Figure, such as "1".
    pub figure: String,
    /// Row of the figure, such as "scale 0.0625".
    pub problem: String,
    /// Stepsize scale.
    pub c: f64,
    /// Which diagnostic.
    pub quantity: Quantity,
    /// The printed value; `None` when it is printed as clamped.
    pub printed: Option<f64>,
    /// Our value.
    pub ours: f64,
    /// |ours - printed| / |printed|; `None` where it is not defined (clamped).
    pub relative_difference: Option<f64>,
    /// Whether the two agree.
    pub agrees: bool,
}

/// Where one row of a figure becomes stable.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThresholdRow {
    /// Figure, such as "1".
    pub figure: String,
    /// Row of the figure.
    pub problem: String,
    /// Smallest c of the grid from which on no run diverged.
    pub first_c_without_divergence: Option<f64>,
    /// The c of the smallest gap.
    pub best_c: Option<f64>,
    /// That gap.
    pub best_gap: Option<f64>,
    /// The c of the grid that is nearest to c_0.
    pub c_near_c0: Option<f64>,
    /// The boundedness ratio there.
    pub ratio_near_c0: Option<f64>,
    /// The c at which the iteration becomes stable in mean square.
    pub mean_square_threshold: Option<f64>,
}

/// Sampled against exact, at one c.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExpectationRow {
    /// Figure, such as "1".
    pub figure: String,
    /// Row of the figure.
    pub problem: String,
    /// Stepsize scale.
    pub c: f64,
    /// Boundedness ratio from the runs.
    pub sampled_ratio: Option<f64>,
    /// Its standard error.
    pub sampled_ratio_stderr: Option<f64>,
    /// Boundedness ratio in expectation.
    pub exact_ratio: Option<f64>,
    /// Gap from the runs.
    pub sampled_gap: Option<f64>,
    /// Gap in expectation.
    pub exact_gap: Option<f64>,
}

/// Constants of a problem.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConstantsRow {
    /// Problem, such as "scale 0.0625".
    pub problem: String,
    /// Smallest eigenvalue of Phi' D Phi.
    pub omega: f64,
    /// Condition number of Phi' D Phi.
    pub kappa: f64,
    /// |theta*|^2.
    pub theta_star_norm_sq: f64,
    /// phi_inf^2, the largest |phi(s)|^2.
    pub phi_inf_sq: f64,
    /// f(0).
    pub f_zero: f64,
    /// Mixing time.
    pub t_mix: Option<u64>,
    /// Modulus of the second eigenvalue.
    pub lambda2: Option<f64>,
}

/// What one certificate says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CertificateRow {
    /// Problem, such as "scale 0.0625".
    pub problem: String,
    /// Certificate, such as "Y (centred)".
    pub certificate: String,
    /// Stepsize scale.
    pub c: f64,
    /// Whether all its hypotheses hold.
    pub applies: bool,
    /// Bound on E f of the averaged iterate.
    pub bound: Option<f64>,
    /// f(0), without which the bound cannot be judged.
    pub f_zero: Option<f64>,
    /// Bound on E|theta_t - theta*|^2.
    pub iterate_bound: Option<f64>,
    /// Which hypothesis failed, and by how much.
    pub why_not: Option<String>,
}

/// A command and what it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rerun {
    /// What the command does.
    pub what: String,
    /// The command line.
    pub command: String,
}
