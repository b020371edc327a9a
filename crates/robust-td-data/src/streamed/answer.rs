//! Solves for the answer of a stream.

use robust_td_core::influence::Grouping;
use robust_td_core::learner::LinearValue;
use robust_td_core::online::Rows;

use super::Streamed;
use crate::assess::{Assessment, Starts, TOLERANCE};
use crate::diagnostics::TdErrors;
use crate::error::Result;
use crate::findings::{self, finding};
use crate::inspect::{FindingKind, starts_unknown};
use crate::interleaved;
use crate::origin::Origin;
use crate::solved::{Facts, Solved, Solver, Unit};

impl Streamed {
    /// The answer so far, given how the stream is read.
    ///
    /// # Errors
    /// When the sums overflow.
    pub fn solved(self, origin: Origin) -> Result<Solved> {
        let found = self.online.fixed_point()?;
        let influence = self.online.influence(&found);
        let unit = self.unit();
        let units = match unit {
            Unit::Time => self.transitions(),
            _ => self.online.units(),
        };
        // A single cluster says nothing about how clusters vary.
        let influence = influence.filter(|_| units > 1);
        let episodic = self.episodic;
        let rows = match episodic {
            true => Rows::Starts,
            false => Rows::All,
        };
        let starts = self.online.average(rows, &found.theta);
        let value = LinearValue {
            theta: found.theta.clone(),
            offset: 0.0,
        };
        let predictions = self.sample.sample().predictions(&self.features, &value);
        let pairing = &self.pairing;
        let td_errors = self.online.td_errors(&found.theta);
        let mut solved = Solved {
            discount: self.online.discount(),
            origin,
            limit: self.limit,
            assessment: Assessment {
                relative_residual: match self.transitions() {
                    0 => 1.0,
                    _ => found.relative_residual,
                },
                tolerance: TOLERANCE,
                columns: self.columns.clone(),
                starts: Starts {
                    count: starts.count,
                    episodic,
                    features: starts.features,
                    contributions: match influence {
                        Some(_) => starts.contributions,
                        None => Vec::new(),
                    },
                },
                check: None,
                // The returns are those of the logging policy.
                complete: match self.ratios {
                    true => None,
                    false => self.whole.clone().finish(),
                },
                typical: predictions.typical(),
                sample: Some(predictions.into_sample()),
            },
            facts: Facts {
                solver: Solver::LeastSquares,
                products: None,
                unit,
                units,
                rows: pairing.rows(),
                transitions: self.transitions(),
                left_out: pairing.without_transition(),
                bad_rows: self.bad_rows,
                episodes: None,
                rank: Some(found.rank),
                phi_inf: self.norm_sq.sqrt(),
                td_errors: TdErrors::of(self.transitions(), &td_errors),
                findings: Vec::new(),
            },
            identified: found.identified,
            influence,
            theta: found.theta,
            features: self.features.clone(),
            off_policy: None,
            stream: None,
            choice: None,
            variance: None,
        };
        solved.forget_unknown_errors();
        solved.facts.findings = findings::of_solved(&solved);
        let mut about_the_log = interleaved::findings(&self.pairing);
        if !episodic {
            let kind = FindingKind::EpisodesWithoutEnd;
            about_the_log.push(finding(kind, starts_unknown()));
        }
        solved.facts.findings.extend(about_the_log);
        solved.stream = Some(Box::new(self));
        Ok(solved)
    }

    /// The unit of independence.
    fn unit(&self) -> Unit {
        match self.online.grouping() {
            _ if self.clusters => Unit::Cluster,
            Grouping::Ordered => Unit::Time,
            Grouping::Independent => Unit::Episode,
        }
    }
}
