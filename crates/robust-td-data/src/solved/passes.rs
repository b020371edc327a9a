//! The passes over a log after the first, in parts: see [`crate::elsewhere`].

use robust_td_core::features::FeatureMap;
use robust_td_core::fixed_point::Identified;
use robust_td_core::learner::LinearValue;
use robust_td_core::sealed;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::direct::{DenseScores, Scored};
use super::gather::{Dense, Gathered, Plan};
use super::scores::{At, Job};
use super::unit::{Groups, Unit};
use crate::elsewhere::misfit::{check_pass, if_it_fits};
use crate::elsewhere::tasks::List;
use crate::elsewhere::{Description, Fitted, seal, unseal};
use crate::error::Result;
use crate::fold::{Fold, Merge};
use crate::mark::Mark;
use crate::reading::Reading;
use crate::replay::{Elsewhere, Replay};
use crate::returns::{self, Checked, Predicts};

/// A pass over a log.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Described {
    pub log: Reading,
    map: FeatureMap,
    discount: f64,
    unit: Unit,
    episodic: bool,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    transitions: u64,
    holds_out: bool,
    checks: bool,
    pass: Pass,
}

/// What is computed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Pass {
    /// The equations.
    Equations,
    /// The scores at their solution.
    Scores {
        #[serde(with = "robust_td_core::exact_float")]
        theta: Vec<f64>,
        #[serde(with = "robust_td_core::exact_float")]
        start_features: Vec<f64>,
        #[serde(deserialize_with = "robust_td_core::count::read")]
        starts: u64,
        identified: Identified,
        groups: Groups,
    },
    /// Returns against predictions.
    Check {
        #[serde(with = "robust_td_core::exact_float")]
        theta: Vec<f64>,
        identified: Option<Identified>,
        #[serde(with = "robust_td_core::exact_float")]
        all: Vec<f64>,
        /// The constant that both add to values.
        #[serde(with = "robust_td_core::exact_float")]
        offset: f64,
        #[serde(with = "robust_td_core::exact_float")]
        edges: Vec<f64>,
    },
}

/// Runs a pass elsewhere, for a plan; returns what the nodes of the log give.
///
/// # Errors
/// Those of the engine, and states that do not fit.
pub(super) fn run<T: State>(
    elsewhere: &mut Elsewhere<'_>,
    log: Reading,
    plan: &Plan<'_>,
    pass: Pass,
) -> Result<Fold<T>> {
    let described = Described {
        log,
        map: plan.map.clone(),
        discount: plan.discount,
        unit: plan.unit,
        episodic: plan.episodic,
        transitions: plan.transitions,
        holds_out: plan.holds_out,
        checks: plan.checks,
        pass,
    };
    let nodes = List::Nodes(elsewhere.places.clone());
    let (job, state) = Description::Pass(&described).run(elsewhere, &Fitted::default(), nodes)?;
    open(&described, job, &state)
}

/// Compares returns with predictions elsewhere.
///
/// # Errors
/// As [`run`].
pub(crate) fn check(
    elsewhere: &mut Elsewhere<'_>,
    log: Reading,
    plan: &Plan<'_>,
    predicts: &Predicts<'_>,
    mut edges: Vec<Vec<f64>>,
) -> Result<Fold<Vec<Checked>>> {
    let pass = Pass::Check {
        theta: predicts.value.theta.clone(),
        identified: predicts.identified.cloned(),
        all: predicts.all.theta.clone(),
        offset: predicts.value.offset,
        edges: edges.pop().unwrap_or_default(),
    };
    run(elsewhere, log, plan, pass)
}

/// What a chunk gives, as a state.
pub(super) trait State: Merge + Serialize + DeserializeOwned {
    /// Whether its sizes are those of the pass.
    fn fits(&self, map: &FeatureMap, pass: &Pass, holds_out: bool) -> bool;
}

impl State for Vec<Gathered<Dense>> {
    fn fits(&self, map: &FeatureMap, _: &Pass, holds_out: bool) -> bool {
        matches!(&self[..], [one] if one.fits(map.outputs(), map.inputs(), holds_out))
    }
}

impl State for Vec<Scored> {
    fn fits(&self, map: &FeatureMap, pass: &Pass, _: bool) -> bool {
        let Pass::Scores { groups, .. } = pass else {
            return false;
        };
        matches!(&self[..], [one] if one.fits(groups.count(), map.outputs()))
    }
}

impl State for Vec<Checked> {
    fn fits(&self, _: &FeatureMap, pass: &Pass, _: bool) -> bool {
        let Pass::Check { edges, .. } = pass else {
            return false;
        };
        matches!(&self[..], [one] if one.fits(edges.len() + 1))
    }
}

fn open<T: State>(described: &Described, job: sealed::Job, bytes: &[u8]) -> Result<Fold<T>> {
    let fold: Fold<T> = unseal(job, bytes)?;
    let Described {
        map,
        pass,
        holds_out,
        ..
    } = described;
    let fits = fold.nodes().all(|node| node.fits(map, pass, *holds_out));
    if_it_fits(fold, fits)
}

impl Described {
    /// What it is, for messages and checkpoints.
    pub fn name(&self) -> &'static str {
        match self.pass {
            Pass::Equations => "equations",
            Pass::Scores { .. } => "scores",
            Pass::Check { .. } => "returns",
        }
    }

    /// Refuses a pass that does not fit its map.
    fn check(&self) -> Result<()> {
        let d = self.map.outputs();
        let whole = match &self.pass {
            Pass::Equations => true,
            Pass::Scores {
                theta,
                start_features,
                identified,
                ..
            } => theta.len() == d && start_features.len() == d && identified.fits(d),
            Pass::Check {
                theta,
                identified,
                all,
                ..
            } => {
                let known = identified.as_ref().is_none_or(|known| known.fits(d));
                theta.len() == d && all.len() == d && known
            }
        };
        check_pass(whole, d)
    }

    /// The state of a node.
    ///
    /// # Errors
    /// Those of reading, and a pass that does not fit its map.
    pub fn compute(&self, job: sealed::Job, mark: Mark, threads: usize) -> Result<Vec<u8>> {
        self.check()?;
        let described = self;
        let mut log = described.log.log()?;
        let replay = &mut Replay::of_node(&mut log, mark, threads);
        let plan = Plan {
            map: &described.map,
            discount: described.discount,
            unit: described.unit,
            episodic: described.episodic,
            interleaved: false,
            transitions: described.transitions,
            holds_out: described.holds_out,
            checks: described.checks,
            threads,
            limit: None,
        };
        Ok(match &described.pass {
            Pass::Equations => {
                let (fold, _) = Gathered::<Dense>::fold(replay, &[plan])?;
                seal(job, &fold)
            }
            Pass::Scores {
                theta,
                start_features,
                starts,
                identified,
                groups,
            } => {
                let scoring = DenseScores::new(groups.count(), theta.len());
                let at = At {
                    theta,
                    start_features,
                    starts: *starts,
                    identified,
                };
                let job_here = Job {
                    plan: &plan,
                    groups,
                    at,
                    scoring: &scoring,
                };
                seal(job, &Scored::fold(replay, &[job_here])?)
            }
            Pass::Check {
                theta,
                identified,
                all,
                offset,
                edges,
            } => {
                let value = |theta: &Vec<f64>| LinearValue {
                    theta: theta.clone(),
                    offset: *offset,
                };
                let predicts = Predicts {
                    value: value(theta),
                    identified: identified.as_ref(),
                    all: value(all),
                    noise: 0.0,
                };
                let edges = std::slice::from_ref(edges);
                seal(job, &returns::fold(replay, &[(plan, predicts)], edges)?)
            }
        })
    }

    /// Merges states.
    ///
    /// # Errors
    /// States that do not fit, or in another order.
    pub fn merge<'a>(
        &self,
        job: sealed::Job,
        states: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<u8>> {
        self.check()?;
        match &self.pass {
            Pass::Equations => merged::<Vec<Gathered<Dense>>>(self, job, states),
            Pass::Scores { .. } => merged::<Vec<Scored>>(self, job, states),
            Pass::Check { .. } => merged::<Vec<Checked>>(self, job, states),
        }
    }
}

fn merged<'a, T: State>(
    described: &Described,
    job: sealed::Job,
    states: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<u8>> {
    let parts = states.map(|state| open::<T>(described, job, state));
    Ok(seal(job, &Fold::of_parts(parts)?))
}
