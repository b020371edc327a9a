//! Names the types that appear in evaluations of log files: options, findings, warnings and results.
//!
//! [`evaluate`](crate::evaluate), [`inspect`](crate::inspect), [`Evaluation`](crate::Evaluation), [`Fit`](crate::Fit) and
//! [`Log`](crate::Log) are at the root of the crate.

// How to read a log.
pub use robust_td_data::{ColumnMap, Dialect, Format, Preset, ReadOptions, Role, Source, Table};
// While it runs.
pub use robust_td_data::{Monitor, Progress, ReportAt};
// What a log holds.
pub use robust_td_data::{
    ActionReport, DataReport, DataSample, Finding, FindingKind, PolicyReport,
};
// What was learned.
pub use robust_td_data::{
    Candidate, ConstantChoice, DiscountsReport, Divergence, EpisodeSample, Error, EvaluationReport,
    FeatureCandidate, FeatureChoice, Learned, Model, MonteCarlo, OffPolicyEstimate,
    OffPolicyMethod, OffPolicyReport, OptionError, OptionName, Predictions, ReturnCheck,
    ReturnVariance, Route, Solved, Solver, StartValue, TargetKind, Tenth, Uncertainty, Unit,
    ValueFormat, ValueSample, Verdict, Warning,
};
