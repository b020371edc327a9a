//! Averages independent learners, each on its own shard of the log.

use std::time::Instant;

use robust_td_core::learner::Learner;
use robust_td_core::registry;

use super::learner_choice::NewModel;
use super::request::{Request, out_of_range, threads};
use super::{Evaluation, Progress};
use crate::assess::Assessment;
use crate::averaged::learn::Outcome;
use crate::averaged::passes::{self, Pass};
use crate::averaged::{Averaged, Facts, average, start_contributions};
use crate::diagnostics::TdErrors;
use crate::elsewhere::Engine;
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::learned::Learned;
use crate::model::Model;
use crate::option_error::{OptionError, OptionName};
use crate::options::ReadAs;
use crate::replay::Replay;
use crate::solved::gather::Plan;
use crate::solved::{Unit, check_parts, refused_map};
use crate::survey::Survey;

/// The fewest and most learners.
const LEARNERS: std::ops::RangeInclusive<u64> = 2..=1024;
/// The most numbers that the answers of all learners may have together: 128 megabytes.
const MOST_NUMBERS: u64 = 1 << 24;

impl Evaluation {
    /// Refuses what learners are not averaged with.
    pub(super) fn check_average(&self, learners: u64) -> Result<()> {
        let option = OptionName::Learners;
        if !LEARNERS.contains(&learners) {
            return Err(out_of_range(option, learners, "from 2 to 1024"));
        }
        if self.request.is_auto() {
            return Err(OptionError::NotOf {
                option,
                algorithm: registry::FOR_LOGS,
            }
            .into());
        }
        let Request {
            horizon,
            replicates,
            sandwich,
            variance,
            passes,
            ..
        } = &self.request;
        let what = match () {
            () if !self.log.is_files() => "of a log in memory or a stream",
            () if self.resumed.is_some() => "with a resumed model",
            () if self.log.has_clusters() => "with a cluster column",
            () if horizon.is_some() => "with a horizon: each has its share of the transitions",
            () if *passes > 1 => "with several passes",
            () if replicates.is_some() => "with replicates: how they differ shows their error",
            () if *sandwich => "with the option sandwich",
            () if *variance => "with the variance of the return",
            () if self.request.wanted.is_some() => "to choose among feature maps",
            () => return Ok(()),
        };
        Err(Error::NotAveraged { what: what.into() })
    }

    /// Averages learners, with the work in parts that an engine computes.
    pub(super) fn averaged(
        mut self,
        learners: u64,
        engine: &mut dyn Engine,
        started: Instant,
    ) -> Result<Fit> {
        self.use_columns()?;
        let mut fit = self.average(learners, engine)?;
        fit.layout = ReadAs {
            inputs: fit.layout.inputs,
            ..self.log.layout_used()
        };
        fit.elapsed = started.elapsed();
        Ok(fit)
    }

    fn average(&mut self, learners: u64, engine: &mut dyn Engine) -> Result<Fit> {
        let request = Request {
            replicates: Some(0),
            ..self.request.clone()
        };
        let new = NewModel::choose(&request, false)?;
        let threads = threads(self.threads);
        let check = self.check;
        let mut replay = Replay::elsewhere(&mut self.log, threads, engine);
        let survey = Survey::take(&mut replay, new.features(), false)?;
        let (map, report) = (&survey.features, &survey.report);
        if let Some(listener) = &mut self.listener {
            listener(Progress::Surveyed(report));
        }
        if map.adapts() {
            return Err(refused_map(map.spec()));
        }
        check_parts(map, report).map_err(|error| match error {
            Error::NotInParts { what } => Error::NotAveraged { what },
            error => error,
        })?;
        if report.transitions == 0 {
            return Err(Error::NoTransitions);
        }
        if learners.saturating_mul(map.outputs() as u64) > MOST_NUMBERS {
            let most = MOST_NUMBERS / map.outputs() as u64;
            let expected = format!("at most {most} with {} features", map.outputs());
            return Err(out_of_range(OptionName::Learners, learners, &expected));
        }
        let plan = Plan {
            map,
            discount: request.discount()?,
            unit: Unit::Time,
            episodic: report.has_episodes(),
            interleaved: false,
            transitions: report.transitions,
            holds_out: false,
            checks: check,
            threads,
            limit: None,
        };
        let counts = replay.parts().map(|(elsewhere, _)| elsewhere.counts);
        let counts = counts.unwrap_or_default();
        let phi_inf = match request.phi_inf {
            Some(phi_inf) => phi_inf,
            None => passes::largest_norm(&mut replay, &plan)?,
        };
        // All have the same steps, whatever the lengths of their episodes.
        let share = report.transitions.div_ceil(learners);
        let first = new.build(map.clone(), Some(phi_inf), share)?;
        let pass = Pass::Learn {
            learner: Box::new(first.learner().clone()),
            phi_inf,
            // One episode is divided.
            whole: plan.episodic && counts.runs > 1,
        };
        let outcomes = passes::outcomes(&mut replay, &plan, pass, learners)?;
        let (value, mut spread) = average(&outcomes, map.outputs());
        let method = registry::find(first.learner().id())?;
        let parameter = |name: &str| first.parameters().get(name).copied();
        let assessment = match method.solves_td0(parameter) {
            true => {
                let sums = passes::sums(&mut replay, &plan, &value, &spread)?;
                spread.bias = sums.worst_bias();
                let mut found = sums.finish(&mut replay, &plan, &value, check)?;
                let starts = &mut found.starts;
                starts.contributions =
                    start_contributions(&outcomes, &value, &starts.features, starts.count);
                Some(found)
            }
            false => None,
        };
        let averaged = Averaged {
            algorithm: first.learner().id().into(),
            parameters: first.parameters().clone(),
            discount: plan.discount,
            features: map.clone(),
            phi_inf,
            theta: value.theta,
            offset: value.offset,
            learners,
            spread,
            assessment: assessment.map(without_unknown),
            origin: replay.origin(),
            facts: Facts {
                rows: report.rows,
                transitions: report.transitions,
                left_out: counts.left_out,
                bad_rows: replay.bad_rows().count(),
                findings: report.findings.clone(),
                ..facts(&outcomes, &first)
            },
        };
        Fit::new(Model::Averaged(Box::new(averaged)), self.confidence)
    }
}

/// An answer that is not finite has no contributions that JSON can hold.
fn without_unknown(mut found: Assessment) -> Assessment {
    if found.starts.contributions.iter().any(|x| !x.is_finite()) {
        found.starts.contributions.clear();
    }
    found
}

/// What the learners say together.
fn facts(outcomes: &[Outcome], first: &Learned) -> Facts {
    let own = || outcomes.iter().filter(|one| one.steps > 0);
    let mut td_errors = TdErrors::default();
    own().for_each(|one| td_errors.merge(&one.td_errors));
    let projections = own().map(|one| one.projections).sum::<Option<u64>>();
    Facts {
        rows: 0,
        transitions: 0,
        left_out: 0,
        bad_rows: 0,
        fewest: own().map(|one| one.steps).min().unwrap_or(0),
        most: own().map(|one| one.steps).max().unwrap_or(0),
        updates: own().map(|one| one.updates).sum(),
        projections: projections.filter(|_| first.learner().projections().is_some()),
        max_theta_norm_sq: own().map(|one| one.max_theta_norm_sq).fold(0.0, f64::max),
        divergence: own().find_map(|one| one.divergence),
        td_errors,
        findings: Vec::new(),
    }
}
