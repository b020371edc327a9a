//! Declares the properties of a method that other code queries, so that no other code compares ids.

/// The abilities of a method, its demands on the data, and advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// How it computes its answer, which determines what divergence means.
    pub approach: Approach,
    /// Whether it weights samples by importance ratios; if not, it treats every sample as on-policy.
    pub ratios: bool,
    /// Whether it can learn from a log of one policy.
    pub logs: bool,
    /// Whether the answer for files is solved for from all rows at once, rather than by steps.
    pub solves_files: bool,
    /// The equations that its answer solves.
    pub target: Target,
    /// The source of intervals around its answer.
    pub intervals: IntervalSource,
    /// The id of the method that replaces it when no c is given.
    pub without_c: Option<&'static str>,
    /// The id of the method that replaces it when the number of samples is not known.
    pub without_horizon: Option<&'static str>,
    /// What to try after divergence.
    pub advice: &'static str,
    /// What its paper proves about its rate, if it does.
    pub rate: Option<Rate>,
}

/// A row of the paper's Table 1: what is proved about the rate of a method under Markovian samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The rate in the number T of samples.
    pub rate: &'static str,
    /// Whether the method projects its iterates onto a ball.
    pub projected: bool,
    /// Whether the bound is free of omega, the smallest eigenvalue of the features' covariance.
    pub omega_free: bool,
}

impl Rate {
    /// The fast rate, which needs curvature.
    pub const FAST: Self = Self {
        rate: "O~(1/T)",
        projected: false,
        omega_free: false,
    };
    /// The robust rate.
    pub const ROBUST: Self = Self {
        rate: "O~(1/sqrt(T))",
        projected: false,
        omega_free: true,
    };

    /// The same for a method that projects.
    #[must_use]
    pub const fn projected(self) -> Self {
        Self {
            projected: true,
            ..self
        }
    }
}

impl Abilities {
    /// A step-based method for on-policy logs, without intervals.
    pub const PLAIN: Self = Self {
        approach: Approach::Steps,
        ratios: false,
        logs: true,
        solves_files: false,
        target: Target::Td0,
        intervals: IntervalSource::None,
        without_c: None,
        without_horizon: None,
        advice: "try a smaller step, or alg1 with a larger c",
        rate: None,
    };

    /// As [`Abilities::PLAIN`], with steps divided by a constant c.
    pub const DIVIDED_BY_C: Self = Self {
        advice: "try a c ten times larger",
        ..Self::PLAIN
    };

    /// The same with a proved rate.
    #[must_use]
    pub const fn with_rate(self, rate: Rate) -> Self {
        Self {
            rate: Some(rate),
            ..self
        }
    }
}

/// The equations that the answer of a method solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Those of TD(0) under the distribution of the samples.
    Td0,
    /// Those of TD(0) while this parameter, a trace or a regulariser, is 0.
    Td0Without(&'static str),
    /// Others.
    Other,
}

/// How a method computes its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// By steps, which diverge if they are too large.
    Steps,
    /// By solving a linear system; an iterate is large only while the matrix is nearly singular.
    Solution,
    /// By steps with several constants in parallel; it diverges when all of them do.
    Portfolio,
}

/// The source of intervals around an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalSource {
    /// No intervals.
    None,
    /// Bootstrap replicates that run inside the learner.
    Replicates,
    /// The sandwich covariance of least squares on the same samples, without traces.
    LeastSquares,
}
