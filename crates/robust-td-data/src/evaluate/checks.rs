//! Refuses options that do not go together.

use robust_td_core::registry;

use super::{Evaluation, MOST_DISCOUNTS};
use crate::choice::Wanted;
use crate::error::Result;
use crate::model::Model;
use crate::option_error::{OptionError, OptionName};

impl Evaluation {
    /// Several discounts need an answer that is solved for from files.
    pub(super) fn check_discounts(&self, discounts: &[f64]) -> Result<()> {
        let option = OptionName::Discount;
        let value = || {
            let all: Vec<String> = discounts.iter().map(f64::to_string).collect();
            all.join(", ")
        };
        Err(match &self.resumed {
            _ if discounts.is_empty() => OptionError::Missing {
                option,
                why: "gamma, from 0 to 1".into(),
            },
            _ if discounts.len() > MOST_DISCOUNTS => OptionError::Range {
                option,
                value: format!("a list of {}", discounts.len()),
                expected: format!("at most {MOST_DISCOUNTS} values"),
            },
            Some(model) => OptionError::Differs {
                option,
                given: value(),
                own: model.discount().to_string(),
            },
            None if !self.request.is_auto() => OptionError::Range {
                option,
                value: value(),
                expected: "one value for a learner; only the algorithm auto takes several".into(),
            },
            None if self.log.is_stream() => OptionError::ReadOnce { option },
            None => return Ok(()),
        }
        .into())
    }

    /// The variance of the return needs the value first, so that the log is read again.
    pub(super) fn check_variance(&self) -> Result<()> {
        let option = OptionName::ReturnVariance;
        let learner = match &self.resumed {
            Some(model) => matches!(model, Model::Learned(_)),
            None => !self.request.is_auto(),
        };
        Err(match learner {
            true => OptionError::Needs {
                option,
                other: OptionName::Algorithm,
                value: registry::FOR_LOGS,
                why: "learners estimate values only".into(),
            },
            false if self.log.is_stream() => OptionError::ReadOnce { option },
            false => return Ok(()),
        }
        .into())
    }

    /// Feature maps can be compared only by solving a log that can be read several times.
    pub(super) fn check_choice(&self, wanted: &Wanted) -> Result<()> {
        let option = OptionName::Features;
        Err(match &self.resumed {
            Some(model) => OptionError::Differs {
                option,
                given: wanted.text(),
                own: model.features().spec().into(),
            },
            None if !self.request.is_auto() => OptionError::Range {
                option,
                value: wanted.text(),
                expected: "one map for a learner; only the algorithm auto compares maps".into(),
            },
            None if self.log.is_stream() => OptionError::ReadOnce { option },
            None => return Ok(()),
        }
        .into())
    }
}
