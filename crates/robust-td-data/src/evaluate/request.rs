//! Holds the options of an evaluation and checks their ranges.

use crate::error::Result;
use crate::option_error::{OptionError, OptionName};
use robust_td_core::schedule::SHORTEST_HORIZON;

/// The stepsize constant c.
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
    pub passes: u64,
    pub replicates: Option<usize>,
    pub sandwich: bool,
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
            passes: 1,
            replicates: None,
            sandwich: false,
        }
    }
}

impl Request {
    /// Checks every range; NaN fails each check.
    pub fn check(&self) -> Result<()> {
        if self.passes == 0 {
            return Err(out_of_range(OptionName::Passes, 0, "at least 1"));
        }
        if let Some(discount) = self.discount
            && !(0.0..1.0).contains(&discount)
        {
            let expected = "at least 0 and below 1";
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
