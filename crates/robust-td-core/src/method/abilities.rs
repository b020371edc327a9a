//! Declares what the rest of the program asks about a method, so that it never compares ids.

/// What a method can do, what it needs of the data, and what to advise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// How it arrives at its answer, which decides what a divergence means.
    pub approach: Approach,
    /// Whether it weighs samples by their importance ratios; if not, it takes every sample as on-policy.
    pub ratios: bool,
    /// Whether a log of one policy is enough to learn from.
    pub logs: bool,
    /// What intervals around its answer are made of.
    pub intervals: IntervalSource,
    /// The id of the method that takes its place when no c is given.
    pub without_c: Option<&'static str>,
    /// The id of the method that takes its place when the number of samples is not known.
    pub without_horizon: Option<&'static str>,
    /// What to try after a divergence.
    pub advice: &'static str,
}

impl Abilities {
    /// A method that makes steps, on logs of the policy itself, without intervals.
    pub const PLAIN: Self = Self {
        approach: Approach::Steps,
        ratios: false,
        logs: true,
        intervals: IntervalSource::None,
        without_c: None,
        without_horizon: None,
        advice: "a smaller step, or alg1 with a larger c",
    };

    /// As [`Abilities::PLAIN`], with steps that are divided by a constant c.
    pub const DIVIDED_BY_C: Self = Self {
        advice: "a c ten times larger makes the steps ten times smaller",
        ..Self::PLAIN
    };
}

/// How a method arrives at its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// By steps, which diverge when they are too large.
    Steps,
    /// By solving a linear system; an iterate is large only while the matrix is nearly singular.
    Solution,
    /// By steps with several constants side by side; it diverges when all of them do.
    Portfolio,
}

/// What intervals around an answer are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalSource {
    /// There are none.
    None,
    /// Bootstrap replicates that the learner carries along.
    Replicates,
    /// The sandwich covariance of least squares on the same samples, without traces.
    LeastSquares,
}
