//! Holds the actions of rows, and what the policy to be evaluated does there.

use serde::{Deserialize, Serialize};

use crate::fault::FaultKind;

/// The largest number of actions.
pub(crate) const MOST_ACTIONS: usize = 10_000;
/// Probabilities may miss a sum of 1 by this much, because they were printed with few digits; they are then scaled to it.
const ROUNDING: f64 = 1e-3;

/// How a log shows what the policy to be evaluated does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyKind {
    /// It does not.
    #[default]
    Unknown,
    /// By one action, that it takes or that was drawn from it.
    Action,
    /// By the probabilities of all actions.
    Probabilities,
}

/// How a log describes a policy that was not followed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySchema {
    /// What it does at the observation of a row.
    pub own: PolicyKind,
    /// What it does at the next observation of a row; unknown where this is the observation of another row.
    pub next: PolicyKind,
    /// Whether rows have the probability with which the logged action was taken.
    pub propensity: bool,
    /// The names of the actions; empty if they are numbers from 0, of which the log does not say the largest beforehand.
    pub actions: Vec<String>,
}

impl PolicySchema {
    /// The columns in words.
    pub(crate) fn words(&self) -> String {
        let kind = |kind: PolicyKind| match kind {
            PolicyKind::Unknown => "no columns",
            PolicyKind::Action => "an action",
            PolicyKind::Probabilities => "probabilities",
        };
        format!(
            "a policy by {} (and {} at the next observation), {} behaviour_prob, actions {}",
            kind(self.own),
            kind(self.next),
            if self.propensity { "with" } else { "without" },
            match self.actions.len() {
                0 => "by number".into(),
                _ => self.actions.join(", "),
            }
        )
    }
}

/// What a policy does at an observation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Policy<'a> {
    #[default]
    Unknown,
    /// It takes this action.
    Takes(usize),
    /// It draws an action with these probabilities.
    Draws(&'a [f64]),
}

impl Policy<'_> {
    /// The probability of an action.
    pub fn probability(self, action: usize) -> f64 {
        match self {
            Self::Unknown => f64::NAN,
            Self::Takes(own) => f64::from(u8::from(own == action)),
            Self::Draws(weights) => weights.get(action).copied().unwrap_or(0.0),
        }
    }

    /// Appends the probabilities of this number of actions.
    pub fn write(self, actions: usize, out: &mut Vec<f64>) {
        match self {
            Self::Draws(weights) => out.extend_from_slice(weights),
            _ => out.extend((0..actions).map(|action| self.probability(action))),
        }
    }

    fn save(self) -> Vec<f64> {
        match self {
            Self::Unknown => Vec::new(),
            Self::Takes(action) => vec![action as f64],
            Self::Draws(weights) => weights.to_vec(),
        }
    }
}

/// The action of a row, with the policy at its observation and at the next one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Choice<'a> {
    pub action: usize,
    /// The probability with which it was taken.
    pub propensity: Option<f64>,
    pub own: Policy<'a>,
    pub next: Policy<'a>,
}

impl Choice<'_> {
    /// The importance ratio of the action, as far as probabilities show it.
    pub fn ratio(&self) -> Option<f64> {
        let ratio = self.own.probability(self.action) / self.propensity?;
        (!ratio.is_nan()).then_some(ratio)
    }
}

/// A choice that waits for the next row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedChoice {
    action: usize,
    propensity: Option<f64>,
    takes: bool,
    #[serde(with = "robust_td_core::exact_float")]
    own: Vec<f64>,
}

impl SavedChoice {
    pub fn of(choice: Choice<'_>) -> Self {
        Self {
            action: choice.action,
            propensity: choice.propensity,
            takes: matches!(choice.own, Policy::Takes(_)),
            own: choice.own.save(),
        }
    }

    /// The number of numbers.
    pub fn len(&self) -> usize {
        self.own.len() + 3
    }

    pub fn view(&self) -> Choice<'_> {
        Choice {
            action: self.action,
            propensity: self.propensity,
            own: match (self.takes, &self.own[..]) {
                (_, []) => Policy::Unknown,
                (true, [action, ..]) => Policy::Takes(*action as usize),
                (false, weights) => Policy::Draws(weights),
            },
            next: Policy::Unknown,
        }
    }
}

/// What a policy does in each row of a batch.
#[derive(Debug, Clone, Default, PartialEq)]
struct PolicyColumn {
    kind: PolicyKind,
    width: usize,
    values: Vec<f64>,
}

impl PolicyColumn {
    /// Adds the policy of a row after this number of rows. What follows a terminated row may have no width yet.
    fn push(&mut self, kind: PolicyKind, row: &RowPolicy, before: usize) {
        self.kind = kind;
        self.width = self.width.max(row.values.len());
        self.values.resize(before * self.width, 0.0);
        self.values.extend_from_slice(&row.values);
        self.values.resize((before + 1) * self.width, 0.0);
    }

    fn get(&self, i: usize) -> Policy<'_> {
        match self.kind {
            PolicyKind::Unknown => Policy::Unknown,
            PolicyKind::Action => Policy::Takes(self.values[i] as usize),
            PolicyKind::Probabilities => {
                Policy::Draws(&self.values[i * self.width..][..self.width])
            }
        }
    }
}

/// The choices of all rows of a batch; empty unless the log has a policy to be evaluated.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Choices {
    actions: Vec<usize>,
    propensities: Vec<f64>,
    own: PolicyColumn,
    next: PolicyColumn,
}

impl Choices {
    /// The choice of row i.
    #[inline]
    pub fn get(&self, i: usize) -> Choice<'_> {
        match self.actions.get(i) {
            None => Choice::default(),
            Some(action) => Choice {
                action: *action,
                propensity: self.propensities.get(i).copied(),
                own: self.own.get(i),
                next: self.next.get(i),
            },
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    pub fn push(&mut self, row: &RowChoice) {
        let Some(schema) = &row.schema else { return };
        let before = self.actions.len();
        self.actions.push(row.action);
        if schema.propensity {
            self.propensities.push(row.propensity);
        }
        self.own.push(schema.own, &row.own, before);
        self.next.push(schema.next, &row.next, before);
    }

    pub fn clear(&mut self) {
        self.actions.clear();
        self.propensities.clear();
        self.own.values.clear();
        self.next.values.clear();
    }

    /// The number of bytes.
    pub fn bytes(&self) -> usize {
        let numbers = self.own.values.len() + self.next.values.len() + self.propensities.len();
        8 * (numbers + self.actions.len())
    }
}

/// Which observation a policy column belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    Own,
    Next,
}

/// A cell of the choice of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChoiceCell {
    /// The action that was taken.
    Taken,
    /// The action of the policy.
    Wanted(At),
    /// The probability of an action under the policy.
    Weight(At, usize),
    /// These in a list.
    Weights(At),
    /// The probability with which the action was taken.
    Propensity,
}

impl ChoiceCell {
    /// Whether the cell is the name of an action.
    pub fn is_name(self) -> bool {
        matches!(self, Self::Taken | Self::Wanted(_))
    }

    /// Whether the cell is a list.
    pub fn is_list(self) -> bool {
        matches!(self, Self::Weights(_))
    }

    /// Whether the cell is about the next observation, which matters only if something follows.
    pub fn is_next(self) -> bool {
        matches!(
            self,
            Self::Wanted(At::Next) | Self::Weight(At::Next, _) | Self::Weights(At::Next)
        )
    }
}

#[derive(Debug, Clone, Default)]
struct RowPolicy {
    /// The name of an action, as a number to compare.
    id: u64,
    values: Vec<f64>,
}

/// The choice of a row under construction.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowChoice {
    schema: Option<PolicySchema>,
    /// The names of the actions, as numbers to compare; empty if all numbers from 0 are names.
    ids: Vec<u64>,
    /// The number of actions, once it is known.
    count: Option<usize>,
    /// Whether there is an action that was taken, which rows to be predicted need not have.
    taken: bool,
    id: u64,
    action: usize,
    propensity: f64,
    own: RowPolicy,
    next: RowPolicy,
    /// The last text of a cell that is none of the actions, for a message.
    unknown: Option<(ChoiceCell, String)>,
}

impl RowChoice {
    /// Whether rows have actions, or a policy.
    pub fn is_given(&self) -> bool {
        self.schema.is_some()
    }

    /// A row with space for the columns of a layout.
    pub fn of(schema: Option<&PolicySchema>, flat: [usize; 2], taken: bool) -> Self {
        let policy = |width: usize| RowPolicy {
            id: 0,
            values: vec![0.0; width],
        };
        let actions = schema.map_or(&[][..], |schema| &schema.actions);
        let id = |name: &String| crate::value::episode(name.as_bytes()).unwrap_or(u64::MAX);
        Self {
            schema: schema.cloned(),
            ids: actions.iter().map(id).collect(),
            count: (!actions.is_empty()).then_some(actions.len()),
            taken,
            own: policy(flat[0]),
            next: policy(flat[1]),
            ..Self::default()
        }
    }

    fn policy(&mut self, at: At) -> &mut RowPolicy {
        match at {
            At::Own => &mut self.own,
            At::Next => &mut self.next,
        }
    }

    pub fn set_number(&mut self, cell: ChoiceCell, value: f64) {
        match cell {
            ChoiceCell::Weight(at, k) => self.policy(at).values[k] = value,
            _ => self.propensity = value,
        }
    }

    /// Stores the name of an action, as a number to compare; its text is asked for only if no action has it.
    #[inline]
    pub fn set_id(&mut self, cell: ChoiceCell, id: u64, text: impl FnOnce() -> String) {
        if !is_number(id) && !self.ids.contains(&id) {
            self.unknown = Some((cell, text()));
        }
        match cell {
            ChoiceCell::Wanted(at) => self.policy(at).id = id,
            _ => self.id = id,
        }
    }

    /// The list for a list cell.
    pub fn list(&mut self, cell: ChoiceCell) -> &mut Vec<f64> {
        match cell {
            ChoiceCell::Weights(At::Next) => &mut self.next.values,
            _ => &mut self.own.values,
        }
    }

    /// Checks the choice of a whole row; what follows a terminated one does not matter.
    pub fn settle(&mut self, terminated: bool) -> Result<(), (ChoiceCell, FaultKind)> {
        let Some(PolicySchema {
            own,
            next,
            propensity,
            ..
        }) = self.schema
        else {
            return Ok(());
        };
        for (at, kind) in [(At::Own, own), (At::Next, next)] {
            if at == At::Next && terminated {
                self.ignore_next(kind);
                continue;
            }
            match kind {
                PolicyKind::Unknown => {}
                PolicyKind::Action => {
                    let id = self.policy(at).id;
                    let action = self.resolve(id, ChoiceCell::Wanted(at))?;
                    let values = &mut self.policy(at).values;
                    values.clear();
                    values.push(action as f64);
                }
                PolicyKind::Probabilities => self.check_weights(at)?,
            }
        }
        if self.taken {
            self.action = self.resolve(self.id, ChoiceCell::Taken)?;
        }
        if propensity && !(self.propensity > 0.0 && self.propensity <= 1.0) {
            let value = self.propensity.to_string();
            return Err((ChoiceCell::Propensity, FaultKind::NotAPropensity { value }));
        }
        Ok(())
    }

    /// Fills in what is never used.
    fn ignore_next(&mut self, kind: PolicyKind) {
        let width = match kind {
            PolicyKind::Unknown => 0,
            PolicyKind::Action => 1,
            PolicyKind::Probabilities => self.count.unwrap_or(self.own.values.len()),
        };
        self.next.values.clear();
        self.next.values.resize(width, 0.0);
    }

    fn check_weights(&mut self, at: At) -> Result<(), (ChoiceCell, FaultKind)> {
        let count = self.count;
        let weights = &mut self.policy(at).values;
        let (found, expected) = (weights.len(), count.unwrap_or(weights.len()));
        if found != expected || !(1..=MOST_ACTIONS).contains(&found) {
            let kind = FaultKind::Ragged { expected, found };
            return Err((ChoiceCell::Weights(at), kind));
        }
        if let Some(k) = weights
            .iter()
            .position(|p| !(0.0..=1.0 + ROUNDING).contains(p))
        {
            let value = weights[k].to_string();
            return Err((
                ChoiceCell::Weight(at, k),
                FaultKind::NotAProbability { value },
            ));
        }
        let sum: f64 = weights.iter().sum();
        if !((sum - 1.0).abs() <= ROUNDING) {
            let sum = format!("{sum}");
            return Err((ChoiceCell::Weight(at, 0), FaultKind::ProbabilitySum { sum }));
        }
        if sum != 1.0 {
            weights.iter_mut().for_each(|p| *p /= sum);
        }
        self.count = Some(found);
        Ok(())
    }

    /// The number of an action.
    fn resolve(&self, id: u64, cell: ChoiceCell) -> Result<usize, (ChoiceCell, FaultKind)> {
        let named = self.ids.iter().position(|own| *own == id);
        let number = || {
            // Actions with names may be logged by number.
            let open = !self.ids.iter().any(|own| is_number(*own));
            let number = usize::try_from(id).ok().filter(|_| open && is_number(id));
            number.filter(|n| *n < self.count.unwrap_or(MOST_ACTIONS))
        };
        named.or_else(number).ok_or_else(|| {
            let names = self.schema_names();
            let value = match &self.unknown {
                Some((own, text)) if *own == cell && !is_number(id) => text.clone(),
                _ => id.to_string(),
            };
            let expected = match (names.is_empty(), self.count) {
                (false, _) => names,
                (true, Some(count)) => format!("an integer from 0 to {}", count - 1),
                (true, None) => format!(
                    "an integer from 0 to {}; names need columns target_NAME with the probabilities of all actions",
                    MOST_ACTIONS - 1
                ),
            };
            (cell, FaultKind::not_an_action(&value, &expected))
        })
    }

    fn schema_names(&self) -> String {
        let names = self.schema.as_ref().map_or(&[][..], |found| &found.actions);
        match names.len() {
            0 => String::new(),
            1..=8 => names.join(", "),
            count => format!("one of {count}: {}, ...", names[..3].join(", ")),
        }
    }
}

/// Whether the name of an action is an integer from 0.
fn is_number(id: u64) -> bool {
    id >> 63 == 0
}
