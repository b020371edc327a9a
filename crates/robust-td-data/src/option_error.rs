//! Defines the options of an evaluation and their errors; an interface can substitute its own names of the options.

use std::fmt;

/// An option of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionName {
    /// The discount factor gamma.
    Discount,
    /// The algorithm's id.
    Algorithm,
    /// The stepsize constant c.
    C,
    /// The horizon T.
    Horizon,
    /// A bound on the norm of the features.
    PhiInf,
    /// A parameter of the algorithm, by its name.
    Parameter(String),
    /// The feature map.
    Features,
    /// The number of passes over the files.
    Passes,
    /// Bootstrap replicates.
    Replicates,
    /// Least squares alongside the learner.
    Sandwich,
    /// The confidence level of intervals.
    Confidence,
    /// The model to resume.
    Resume,
    /// The cluster column.
    Cluster,
    /// The decimal sign of CSV files.
    Decimal,
    /// The thousands separator of CSV files.
    Thousands,
    /// The variance of the return.
    ReturnVariance,
    /// The number of learners that are averaged.
    Learners,
}

impl fmt::Display for OptionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discount => "discount",
            Self::Algorithm => "algorithm",
            Self::C => "c",
            Self::Horizon => "horizon",
            Self::PhiInf => "phi_inf",
            Self::Parameter(name) => return write!(f, "the parameter {name}"),
            Self::Features => "features",
            Self::Passes => "passes",
            Self::Replicates => "replicates",
            Self::Sandwich => "sandwich",
            Self::Confidence => "confidence",
            Self::Resume => "resume",
            Self::Cluster => "cluster",
            Self::Decimal => "decimal",
            Self::Thousands => "thousands",
            Self::ReturnVariance => "return_variance",
            Self::Learners => "learners",
        })
    }
}

/// Why an option is invalid.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OptionError {
    /// A value outside its range.
    Range {
        /// The option.
        option: OptionName,
        /// Its value.
        value: String,
        /// The range in words.
        expected: String,
    },
    /// An option without a default.
    Missing {
        /// The option.
        option: OptionName,
        /// Why it is needed.
        why: String,
    },
    /// An option that needs another one to have a value.
    Needs {
        /// The option.
        option: OptionName,
        /// The other one.
        other: OptionName,
        /// The value that the other one must have.
        value: &'static str,
        /// Why.
        why: String,
    },
    /// An option that the algorithm does not have.
    NotOf {
        /// The option.
        option: OptionName,
        /// The algorithm's id.
        algorithm: &'static str,
    },
    /// An option that reads the log again, where that is not possible.
    ReadOnce {
        /// The option.
        option: OptionName,
    },
    /// An option that is limited to fewer features.
    TooManyFeatures {
        /// The option.
        option: OptionName,
        /// The number of features.
        found: usize,
        /// The maximum number.
        limit: usize,
    },
    /// An option that differs from that of a resumed model.
    Differs {
        /// The option.
        option: OptionName,
        /// Its value.
        given: String,
        /// The model's own value.
        own: String,
    },
}

impl OptionError {
    /// The message with the option names of an interface: `name` receives an option, and a value if the message suggests one.
    #[must_use]
    pub fn message(&self, name: impl Fn(&OptionName, Option<&str>) -> String) -> String {
        let of = |option| name(option, None);
        match self {
            Self::Range {
                option,
                value,
                expected,
            } => format!("{} is {value}, but must be {expected}", of(option)),
            Self::Missing { option, why } => format!("{} is required: {why}", of(option)),
            Self::Needs {
                option,
                other,
                value,
                why,
            } => format!("{} needs {}: {why}", of(option), name(other, Some(value))),
            Self::NotOf { option, algorithm } => {
                format!(
                    "{} is not an option of {algorithm}; leave it out",
                    of(option)
                )
            }
            Self::ReadOnce { option } => format!(
                "{}: the log must be read again, but a stream can be read only once",
                of(option)
            ),
            Self::TooManyFeatures {
                option,
                found,
                limit,
            } => format!(
                "{} takes up to {limit} features, but there are {found}",
                of(option)
            ),
            Self::Differs { option, given, own } => {
                format!(
                    "{} is {given}, but the model was made with {own}",
                    of(option)
                )
            }
        }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(|option, value| match value {
            Some(value) => format!("{option} = {value}"),
            None => option.to_string(),
        }))
    }
}

impl std::error::Error for OptionError {}
