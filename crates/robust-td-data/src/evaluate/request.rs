//! Holds the options of an evaluation and checks their ranges.

use crate::choice::Wanted;
use crate::error::Result;
use crate::option_error::{OptionError, OptionName};
use crate::solved;
use crate::spec::Spec;
use robust_td_core::registry;
use robust_td_core::schedule::SHORTEST_HORIZON;

/// The features of the default algorithm.
pub(crate) const DEFAULT_FEATURES: &str = "standardise + bias";
/// The same on a stream, which cannot be measured beforehand. Least squares does not depend on units.
pub(crate) const STREAM_FEATURES: &str = "identity + bias";

/// The constant c of the step sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Constant {
    /// Chosen by the data from several that run at once.
    Auto,
    /// A fixed value.
    Fixed(f64),
}

/// The options that are set; the others have defaults that depend on the algorithm and the data.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub discount: Option<f64>,
    pub algorithm: Option<String>,
    pub c: Option<Constant>,
    pub horizon: Option<u64>,
    pub phi_inf: Option<f64>,
    pub parameters: Vec<(String, f64)>,
    pub features: Option<String>,
    /// What to choose the features among, instead.
    pub wanted: Option<Wanted>,
    pub passes: u64,
    pub replicates: Option<usize>,
    pub sandwich: bool,
    pub variance: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            discount: None,
            algorithm: None,
            c: None,
            horizon: None,
            phi_inf: None,
            parameters: Vec::new(),
            features: None,
            wanted: None,
            passes: 1,
            replicates: None,
            sandwich: false,
            variance: false,
        }
    }
}

impl Request {
    /// Whether the best answer for the log is asked for, rather than a certain algorithm.
    pub fn is_auto(&self) -> bool {
        match &self.algorithm {
            Some(id) => registry::find(id).is_ok_and(|method| method.abilities.solves_files),
            None => self.c.is_none() && self.parameters.iter().all(|(name, _)| name != "c"),
        }
    }

    /// The discount, which has no default.
    pub fn discount(&self) -> Result<f64> {
        let missing = || OptionError::Missing {
            option: OptionName::Discount,
            why: "gamma, from 0 to 1".into(),
        };
        Ok(self.discount.ok_or_else(missing)?)
    }

    /// Refuses the options of learners, for the default algorithm.
    pub fn check_auto(&self) -> Result<()> {
        let parameter = self.parameters.first();
        let parameter = parameter.map(|(name, _)| OptionName::Parameter(name.clone()));
        let others = [
            (self.c.is_some(), OptionName::C),
            (self.passes > 1, OptionName::Passes),
            (self.replicates.is_some(), OptionName::Replicates),
            (self.sandwich, OptionName::Sandwich),
        ];
        let other = others.into_iter().find(|(set, _)| *set);
        match parameter.or(other.map(|(_, option)| option)) {
            None => Ok(()),
            Some(option) => {
                let algorithm = registry::FOR_LOGS;
                Err(OptionError::NotOf { option, algorithm }.into())
            }
        }
    }

    /// The request to solve for the answer; options of learners are refused.
    pub fn to_solve(&self, check: bool, threads: usize) -> Result<solved::Request> {
        self.check_auto()?;
        Ok(solved::Request {
            discount: self.discount()?,
            spec: Spec::or(self.features.as_ref(), DEFAULT_FEATURES),
            wanted: self.wanted.clone(),
            horizon: self.horizon,
            check,
            variance: self.variance,
            threads: self::threads(threads),
        })
    }

    /// Checks every range; NaN fails each check.
    pub fn check(&self) -> Result<()> {
        if self.passes == 0 {
            return Err(out_of_range(OptionName::Passes, 0, "at least 1"));
        }
        if let Some(discount) = self.discount
            && !(0.0..=1.0).contains(&discount)
        {
            let expected = "from 0 to 1";
            return Err(out_of_range(OptionName::Discount, discount, expected));
        }
        if let Some(phi_inf) = self.phi_inf
            && !(phi_inf > 0.0 && phi_inf.is_finite())
        {
            let expected = "finite and above 0";
            return Err(out_of_range(OptionName::PhiInf, phi_inf, expected));
        }
        if let Some(horizon) = self.horizon.filter(|horizon| *horizon < SHORTEST_HORIZON) {
            let expected = "at least 3, so that log T > 1";
            return Err(out_of_range(OptionName::Horizon, horizon, expected));
        }
        if let Some(replicates) = self.replicates
            && !(replicates == 0 || (8..=4096).contains(&replicates))
        {
            let expected = "0 (no intervals) or from 8 to 4096";
            return Err(out_of_range(OptionName::Replicates, replicates, expected));
        }
        Ok(())
    }
}

/// The largest number of threads.
const MOST_THREADS: usize = 1024;

/// The number of threads, at most 1,024; 0 means one per CPU.
pub(crate) fn threads(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads.min(MOST_THREADS),
    }
}

/// Checks the confidence level.
pub(crate) fn check_confidence(confidence: f64) -> Result<()> {
    match confidence > 0.0 && confidence < 1.0 {
        true => Ok(()),
        false => Err(out_of_range(
            OptionName::Confidence,
            confidence,
            "above 0 and below 1",
        )),
    }
}

pub(crate) fn out_of_range(
    option: OptionName,
    value: impl ToString,
    expected: &str,
) -> crate::error::Error {
    OptionError::Range {
        option,
        value: value.to_string(),
        expected: expected.into(),
    }
    .into()
}
