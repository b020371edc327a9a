//! Sets a new model up from the command line and a first look at the data.

use robust_td_core::features::{FeatureMap, Fitting};
use robust_td_core::learner::recipe::{Output, Recipe};
use robust_td_core::learner::{Learner, Td0};
use robust_td_core::portfolio::{self, RobustTd};
use robust_td_core::registry::{self, AnyLearner, IntervalSource, Method, Setting};
use robust_td_core::sandwich;
use robust_td_core::schedule::SHORTEST_HORIZON;
use robust_td_data::{Model, Purpose, Survey};

use super::{Arguments, Learning};
use crate::failure::Failure;
use crate::log_argument::wrong_data;
use crate::{count, inspect, suggestion, text};

/// Stands for a horizon that nobody knows; a method that asks for it is refused.
const UNKNOWN: u64 = u64::MAX;

/// What a model needs beyond the length of observations.
pub struct Start {
    method: &'static Method,
    discount: f64,
    given: Vec<(String, f64)>,
    spec: String,
    phi_inf: Option<f64>,
    limit: Option<u64>,
    replicates: usize,
    least_squares: LeastSquares,
}

/// Whether least squares runs beside the learner, for its standard errors.
#[derive(Clone, Copy, PartialEq)]
enum LeastSquares {
    /// It was asked for.
    Always,
    /// Where it costs little.
    IfSmall,
    /// It would say nothing about the answer.
    Never,
}

/// The most features with which least squares costs little.
const SMALL: usize = 64;
/// Replicates by default.
const REPLICATES: usize = 64;

/// What to say when there is nothing to learn from.
pub fn no_transition() -> Failure {
    let message = "no transition comes of the data: robust-td inspect says why \
                   (the first part of a longer log needs --horizon and --out)";
    Failure::Usage(message.into())
}

/// Checks the command line, and surveys files where something must be measured.
pub fn prepare(arguments: &Arguments) -> Result<Learning, Failure> {
    let start = Start::new(arguments)?;
    let all_given = start.phi_inf.is_some() && start.limit.is_some() && start.spec == "identity";
    if arguments.log.is_stream() || all_given {
        return Ok(Learning::Ahead(start));
    }
    let mut open = || arguments.log.open(Purpose::Evaluate);
    let survey = Survey::take(&mut open, &start.spec).map_err(wrong_data)?;
    let transitions = survey.transitions.saturating_mul(arguments.passes);
    // With a horizon these rows may be the first part of a log that goes on.
    if transitions == 0 && start.limit.is_none() {
        return Err(no_transition());
    }
    let phi_inf = start.phi_inf.unwrap_or(survey.phi_inf);
    let horizon = start.limit.unwrap_or(transitions);
    let model = start.build(survey.features, phi_inf, horizon)?;
    if !survey.report.findings.is_empty() && !arguments.json {
        eprint!("{}", inspect::findings(&survey.report));
    }
    Ok(Learning::Under(Box::new(model)))
}

impl Start {
    fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let Some(discount) = arguments.discount else {
            return Err(Failure::Usage(
                "--discount is needed: gamma, in [0, 1)".into(),
            ));
        };
        if !(0.0..1.0).contains(&discount) {
            let message = format!("--discount is {discount}, but must be at least 0 and below 1");
            return Err(Failure::Usage(message));
        }
        if let Some(phi_inf) = arguments.phi_inf
            && !(phi_inf > 0.0 && phi_inf.is_finite())
        {
            let message = format!("--phi-inf is {phi_inf}, but must be finite and above 0");
            return Err(Failure::Usage(message));
        }
        let unknown_length = arguments.log.is_stream() && arguments.horizon.is_none();
        let fixed = arguments.c.as_deref().is_some_and(|c| c != "auto")
            || (arguments.parameters.iter()).any(|text| text.trim_start().starts_with("c="));
        let id = arguments.algorithm.as_deref().unwrap_or(registry::DEFAULT);
        let find = |id: &str| {
            registry::find(id).map_err(|_| {
                let known: Vec<&str> = registry::METHODS.iter().map(|method| method.id).collect();
                let hint = suggestion::or_known(id, &known);
                Failure::Usage(format!("--algorithm: there is no {id:?}; {hint}"))
            })
        };
        let named = find(id)?;
        let stand_in = match (fixed, unknown_length) {
            (false, _) => named.abilities.without_c,
            (true, true) => named.abilities.without_horizon,
            (true, false) => None,
        };
        let method = stand_in.map_or(Ok(named), find)?;
        let replicates = replicates(arguments, method)?;
        let given = given(arguments, method)?;
        Ok(Self {
            replicates,
            least_squares: least_squares(arguments, method, &given, replicates)?,
            method,
            discount,
            given,
            spec: arguments
                .features
                .clone()
                .unwrap_or_else(|| "identity".into()),
            phi_inf: arguments.phi_inf,
            limit: arguments.horizon,
        })
    }

    /// The algorithm's id.
    pub fn id(&self) -> &'static str {
        self.method.id
    }

    /// The model for observations of a length that the first row tells.
    pub fn model(&self, inputs: usize) -> Result<Model, Failure> {
        let features = Fitting::new(&self.spec, inputs).and_then(Fitting::finish);
        let features = features.map_err(|error| Failure::Usage(error.to_string()))?;
        let bound = self.phi_inf.or_else(|| features.norm_bound());
        let phi_inf = bound.ok_or_else(|| {
            let why = "standard input cannot be measured ahead";
            Failure::Usage(format!("--phi-inf is needed: {why}"))
        })?;
        self.build(features, phi_inf, self.limit.unwrap_or(UNKNOWN))
    }

    fn build(&self, features: FeatureMap, phi_inf: f64, horizon: u64) -> Result<Model, Failure> {
        let setting = Setting {
            discount: self.discount,
            dimension: features.outputs(),
            horizon,
            phi_inf,
            known: None,
        };
        let wrong = |error: robust_td_core::Error| Failure::Usage(error.to_string());
        let model = |learner: AnyLearner| {
            let model = Model::new(features, learner, phi_inf, self.limit).map_err(wrong_data)?;
            self.add_least_squares(model)
        };
        if horizon < SHORTEST_HORIZON && self.limit.is_none() && self.method.needs_horizon() {
            let id = self.method.id;
            return Err(Failure::Usage(format!(
                "the data hold {}, but {id} needs at least 3",
                text::count(horizon as usize, "transition")
            )));
        }
        let prepared = self.method.prepare(&setting, &self.given).map_err(wrong)?;
        if self.method.abilities.intervals == IntervalSource::Replicates {
            let params = portfolio::RobustTdParams {
                horizon: (horizon != UNKNOWN).then_some(horizon),
                replicates: self.replicates,
                ..portfolio::RobustTdParams::new(self.discount, phi_inf)
            };
            let learner = RobustTd::new(params, setting.dimension);
            return model(learner.map_err(wrong)?.into());
        }
        let mut learner = prepared.learner;
        if horizon == UNKNOWN {
            if prepared.inputs.iter().any(|input| input.name == "T") {
                let id = self.method.id;
                let message = format!("{id} needs --horizon on standard input");
                return Err(Failure::Usage(message));
            }
            learner = without_horizon(learner).map_err(wrong)?;
        }
        model(learner)
    }

    /// Puts least squares beside the learner, where it is wanted.
    fn add_least_squares(&self, model: Model) -> Result<Model, Failure> {
        let dimension = model.features().outputs();
        let wanted = match self.least_squares {
            LeastSquares::Always => true,
            LeastSquares::IfSmall => dimension <= SMALL,
            LeastSquares::Never => false,
        };
        if !wanted {
            return Ok(model);
        }
        if dimension > sandwich::LARGEST_DIMENSION {
            return Err(Failure::Usage(format!(
                "--sandwich takes up to {} features, but there are {dimension}",
                sandwich::LARGEST_DIMENSION
            )));
        }
        model.with_least_squares().map_err(wrong_data)
    }
}

/// The number of replicates, checked.
fn replicates(arguments: &Arguments, method: &Method) -> Result<usize, Failure> {
    let auto = method.abilities.intervals == IntervalSource::Replicates;
    let Some(text) = &arguments.replicates else {
        // Rows that are learned from again are not new samples.
        return Ok(if auto && arguments.passes == 1 {
            REPLICATES
        } else {
            0
        });
    };
    let number = count::parse(text)
        .ok()
        .filter(|n| *n == 0 || (8..=4096).contains(n));
    let Some(number) = number else {
        let message =
            format!("--replicates is {text}, but must be 0 (no intervals) or from 8 to 4096");
        return Err(Failure::Usage(message));
    };
    if number > 0 && !auto {
        let id = method.id;
        let message =
            format!("--replicates belongs to --c auto; {id} with a constant of its own has none");
        return Err(Failure::Usage(message));
    }
    if number > 0 && arguments.passes > 1 {
        let why = "rows that are learned from again are not new samples";
        let message = format!("--replicates needs --passes 1: {why}");
        return Err(Failure::Usage(message));
    }
    Ok(number as usize)
}

/// Whether least squares is wanted for its standard errors.
fn least_squares(
    arguments: &Arguments,
    method: &Method,
    given: &[(String, f64)],
    replicates: usize,
) -> Result<LeastSquares, Failure> {
    let traces = given
        .iter()
        .any(|(key, value)| key == "lambda" && *value != 0.0);
    let intervals = method.abilities.intervals;
    let fits = match intervals {
        IntervalSource::LeastSquares => !traces,
        IntervalSource::Replicates => true,
        IntervalSource::None => false,
    };
    let once = arguments.passes == 1;
    if arguments.sandwich && !(fits && once) {
        let message = "--sandwich belongs to --c auto and to lstd with lambda = 0, in one pass";
        return Err(Failure::Usage(message.into()));
    }
    Ok(match (arguments.sandwich, fits && once) {
        (true, _) => LeastSquares::Always,
        (false, true) if intervals == IntervalSource::LeastSquares || replicates > 0 => {
            LeastSquares::IfSmall
        }
        _ => LeastSquares::Never,
    })
}

/// The same learner with a tail average that need not know how many samples come.
fn without_horizon(learner: AnyLearner) -> robust_td_core::Result<AnyLearner> {
    match learner.recipe() {
        Some(recipe) if matches!(recipe.output, Output::Tail { .. }) => {
            let recipe = Recipe {
                output: Output::DoublingTail,
                ..recipe
            };
            Ok(Td0::new(recipe, learner.dimension())?.into())
        }
        _ => Ok(learner),
    }
}

/// The parameters that the user gives, c among them.
fn given(arguments: &Arguments, method: &Method) -> Result<Vec<(String, f64)>, Failure> {
    let mut given = Vec::new();
    for text in &arguments.parameters {
        let pair = text.split_once('=');
        let number = |value: &str| value.trim().parse::<f64>().ok();
        match pair.and_then(|(key, value)| Some((key.trim().to_owned(), number(value)?))) {
            Some(pair) => given.push(pair),
            None => {
                let message = format!("--param {text:?} is not key=value with a number");
                return Err(Failure::Usage(message));
            }
        }
    }
    if !method.abilities.logs {
        let why = "it learns from choices, which a log of one policy does not show";
        return Err(Failure::Usage(format!(
            "{} does not apply: {why}",
            method.id
        )));
    }
    let has_c = method.parameter("c").is_some();
    let id = method.id;
    match arguments.c.as_deref() {
        Some("auto") | None if has_c && given.iter().all(|(key, _)| key != "c") => {
            Err(Failure::Usage(format!(
                "{id} needs --c, which must be finite and above 0; --algorithm alg1 can choose it by itself"
            )))
        }
        Some("auto") | None => Ok(given),
        Some(_) if !has_c => Err(Failure::Usage(format!(
            "{id} has no constant c: leave --c out"
        ))),
        Some(text) => match text.parse::<f64>() {
            Ok(c) => {
                given.push(("c".into(), c));
                Ok(given)
            }
            Err(_) => Err(Failure::Usage(format!(
                "--c is {text:?}, but must be a number or auto"
            ))),
        },
    }
}
