//! Evaluates a policy that was not followed, beside the answer of least squares.

use robust_td_core::features::FeatureMap;
use robust_td_core::fixed_point::Identified;
use robust_td_core::learner::LinearValue;

use super::answer::Answer;
use super::gather::Plan;
use crate::actions::PolicyKind;
use crate::error::Result;
use crate::inspect::FindingKind;
use crate::off_policy::support::TOLERATED;
use crate::off_policy::{self, Doubt, OffPolicy, TargetKind, Wanted};
use crate::replay::Replay;
use crate::returns::CompleteReturns;
use crate::survey::Survey;

/// What importance sampling finds about a policy that was not followed, and the returns of the one that was; what depends on actions that the
/// log does not show becomes unknown.
pub(super) fn other_policy(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    survey: &Survey,
    answer: &mut Answer,
) -> Result<Option<Other>> {
    let schema = &survey.report.schema;
    let (target, has_ratios, knows_starts) = match &schema.policy {
        None if !schema.ratio => return Ok(None),
        None => (TargetKind::Ratios, true, true),
        Some(policy) => {
            let known = policy.own != PolicyKind::Unknown;
            let shown = if known { policy.own } else { policy.next };
            let ratios = schema.ratio || (policy.propensity && known);
            (shown.into(), ratios, known)
        }
    };
    let unsupported = answer
        .shown
        .as_ref()
        .filter(|found| found.share > TOLERATED);
    let mut findings = survey.report.findings.iter();
    let doubt = match unsupported {
        Some(_) => Some(Doubt::Unsupported),
        None => findings
            .any(|finding| finding.kind == FindingKind::WrongPropensities)
            .then_some(Doubt::Propensities),
    };
    if let Some(shown) = unsupported {
        answer.identified = std::mem::replace(&mut answer.identified, Identified::all(Vec::new()))
            .without(&shown.missing);
    }
    let value = LinearValue {
        theta: answer.theta.clone(),
        offset: 0.0,
    };
    let wanted = Wanted {
        value: &value,
        has_ratios,
        knows_starts,
        has_actions: schema.policy.is_some(),
        units: answer.units,
    };
    let mut found = off_policy::estimate(replay, plan, &wanted)?;
    for estimate in &mut found.estimates {
        estimate.doubt = doubt.or(estimate.doubt);
    }
    Ok(Some(Other {
        complete: found.complete,
        answer: OffPolicy {
            target,
            actions: survey.features.actions().to_vec(),
            unsupported_share: answer.shown.as_ref().map(|shown| shown.share),
            knows_starts,
            has_ratios,
            cut: found.cut,
            estimates: found.estimates,
        },
    }))
}

/// What is known about a policy that was not followed.
pub(super) struct Other {
    /// The complete returns of the policy that was followed.
    pub complete: Option<CompleteReturns>,
    pub answer: OffPolicy,
}

/// The columns of the observation, and the weights of actions.
pub(super) fn columns(replay: &Replay<'_>, map: &FeatureMap) -> Vec<String> {
    let actions = map.actions();
    let mut columns = replay.columns(map.inputs() - actions.len());
    columns.extend(actions.iter().map(|action| format!("target_{action}")));
    columns
}
