//! Determines what to do with each column of a file.

use std::collections::HashSet;

use crate::actions::{At, ChoiceCell};
use crate::cast::{Cast, Vector};
use crate::columns::ColumnMap;
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::kept::Keep;
use crate::labels::Labels;
use crate::observed::Observed;
use crate::options::Purpose;
use crate::preset::Preset;
use crate::role::Role;
use crate::schema::Schema;

/// Separators between the stem of a vector's columns and their number.
pub(crate) const SEPARATORS: [&str; 2] = ["_", ":"];
/// Column names that may mean terminated or truncated, in lower case.
pub(crate) const DONE: [&str; 6] = [
    "done",
    "dones",
    "is_done",
    "terminal",
    "terminals",
    "is_terminal",
];

/// The type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellKind {
    Scalar,
    /// Single values that are text.
    Text,
    /// Single values whose first ones are text, in a format without types.
    Words,
    /// Single values whose first ones are neither numbers nor words, such as dates.
    Odd,
    List,
}

impl CellKind {
    /// Whether values are text.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Words)
    }
}

/// One column of a file.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub name: String,
    pub kind: CellKind,
}

/// The destination of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Skip,
    Obs(usize),
    NextObs(usize),
    /// A level of a category in the observation or the next one; a missing cell may be a level.
    Level {
        index: usize,
        next: bool,
        missing: bool,
        /// Whether numbers are refused: nothing but the first rows says that it is a category.
        only_text: bool,
    },
    ObsList,
    NextObsList,
    Reward,
    Terminated,
    Truncated,
    Episode,
    Cluster,
    Ratio,
    Choice(ChoiceCell),
}

impl Target {
    /// Whether a cell has one meaning, whatever the cells of other columns and rows: not a list, a category or a part of a policy.
    pub fn is_independent(self) -> bool {
        matches!(
            self,
            Self::Skip
                | Self::Obs(_)
                | Self::NextObs(_)
                | Self::Reward
                | Self::Ratio
                | Self::Terminated
                | Self::Truncated
                | Self::Episode
                | Self::Cluster
        )
    }

    /// Whether cells are names: integers or text that are only compared.
    pub fn is_name(self) -> bool {
        match self {
            Self::Episode | Self::Cluster => true,
            Self::Choice(cell) => cell.is_name(),
            _ => false,
        }
    }

    /// Whether cells are lists of numbers.
    pub fn is_list(self) -> bool {
        match self {
            Self::ObsList | Self::NextObsList => true,
            Self::Choice(cell) => cell.is_list(),
            _ => false,
        }
    }

    /// The role that the column fills, if any.
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Skip => None,
            Self::Obs(_) | Self::ObsList | Self::Level { next: false, .. } => Some(Role::Obs),
            Self::NextObs(_) | Self::NextObsList | Self::Level { next: true, .. } => {
                Some(Role::NextObs)
            }
            Self::Reward => Some(Role::Reward),
            Self::Terminated => Some(Role::Terminated),
            Self::Truncated => Some(Role::Truncated),
            Self::Episode => Some(Role::Episode),
            Self::Cluster => Some(Role::Cluster),
            Self::Ratio => Some(Role::Rho),
            Self::Choice(cell) => Some(match cell {
                ChoiceCell::Taken => Role::Action,
                ChoiceCell::Wanted(At::Own) => Role::TargetAction,
                ChoiceCell::Wanted(At::Next) => Role::NextAction,
                ChoiceCell::Weight(At::Own, _) | ChoiceCell::Weights(At::Own) => Role::Target,
                ChoiceCell::Weight(At::Next, _) | ChoiceCell::Weights(At::Next) => Role::NextTarget,
                ChoiceCell::Propensity => Role::BehaviourProb,
            }),
        }
    }
}

/// The user's settings for the columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    pub columns: ColumnMap,
    pub preset: Preset,
    pub purpose: Purpose,
    pub dialect: Dialect,
    /// What is known about the columns of the observation.
    pub observed: Observed,
    /// The texts of categories.
    pub labels: Labels,
    /// Whether a text file may be read ahead to recognise columns of text.
    pub looks_ahead: bool,
    /// The columns to copy.
    pub keep: Keep,
    /// The actions of a model of state-action features; empty otherwise.
    pub actions: Vec<String>,
}

impl Wanted {
    /// The column names accepted for a role.
    pub fn names(&self, role: Role) -> Vec<String> {
        match self.columns.get(role) {
            Some(names) => names.to_vec(),
            None => self
                .preset
                .names(role)
                .iter()
                .map(ToString::to_string)
                .collect(),
        }
    }
}

/// The columns of one file with their roles.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Names of all columns.
    pub names: Vec<String>,
    /// What to do with each of them.
    pub targets: Vec<Target>,
    /// The length of the observations; `None` if only lists determine it.
    pub dimension: Option<usize>,
    pub schema: Schema,
    /// The reward of rows without a reward column; `None` if rewards are not needed.
    pub reward: Option<f64>,
    /// The texts of categories.
    pub labels: Labels,
    /// The columns to copy.
    pub kept: Vec<usize>,
}

impl Layout {
    /// Assigns columns to roles.
    pub fn resolve(file: &str, columns: &[Column], wanted: &Wanted) -> Result<Self> {
        let mut cast = Cast::new(file, columns, wanted);
        let (obs, inputs) = cast.observations()?;
        let categories = inputs.iter().filter(|input| input.category);
        let mut schema = Schema {
            observations: cast.names_of(&obs),
            categories: categories.map(|input| input.name.clone()).collect(),
            ..Schema::default()
        };
        let mut dimension = obs.width();
        if wanted.purpose != Purpose::Predict {
            let next = cast.following(&obs, &inputs)?;
            if let Some(width) = next.as_ref().and_then(Vector::width) {
                cast.same_width(width, *dimension.get_or_insert(width))?;
            }
            schema.next_obs = next.is_some();
            schema.reward = cast.scalar(Role::Reward, Target::Reward)?;
            if !schema.reward && wanted.purpose == Purpose::Evaluate {
                return Err(cast.missing(Role::Reward));
            }
            schema.terminated = cast.scalar(Role::Terminated, Target::Terminated)?;
            schema.truncated = cast.scalar(Role::Truncated, Target::Truncated)?;
            schema.episode = cast.scalar(Role::Episode, Target::Episode)?;
            schema.cluster = cast.cluster()?;
            schema.ratio = cast.scalar(Role::Rho, Target::Ratio)?;
            cast.refuse_other_case(&schema)?;
            cast.refuse_done(&schema)?;
            schema.policy = cast.policy(schema.next_obs)?;
            if wanted.preset == Preset::Minari && !schema.next_obs && !schema.episode {
                return Err(Error::LayoutNeeds {
                    file: file.to_owned(),
                    layout: Preset::Minari.name(),
                    role: Role::Episode,
                    why: "the final observation of an episode is a separate row",
                });
            }
        }
        if wanted.purpose == Purpose::Predict && !wanted.actions.is_empty() {
            schema.policy = Some(cast.predicted_policy()?);
        }
        schema.inputs = inputs;
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let targets = cast.into_targets();
        let unused = names.iter().zip(&targets);
        let unused = unused.filter(|(name, target)| **target == Target::Skip && !name.is_empty());
        schema.unused = unused.map(|(name, _)| (*name).to_owned()).collect();
        Ok(Self {
            kept: wanted.keep.find(file, &names)?,
            labels: wanted.labels.clone(),
            names: columns.iter().map(|column| column.name.clone()).collect(),
            targets,
            dimension,
            schema,
            reward: (wanted.purpose == Purpose::Inspect).then_some(0.0),
        })
    }

    /// Names that the file does not have but that would fill a role.
    pub fn absent(&self, wanted: &Wanted) -> Vec<String> {
        let mut absent = Vec::new();
        if wanted.purpose == Purpose::Predict {
            return absent;
        }
        let skipped = |role: &Role| role.is_of_actions() && self.schema.policy.is_none();
        for role in Role::ALL.into_iter().filter(|role| !skipped(role)) {
            for name in wanted.names(role) {
                if role.is_vector() {
                    // The first numbered column, and the one after the last.
                    for (k, separator) in [0, self.dimension.unwrap_or(0)]
                        .into_iter()
                        .flat_map(|k| SEPARATORS.map(|separator| (k, separator)))
                    {
                        absent.push(format!("{name}{separator}{k}"));
                    }
                }
                absent.push(name);
            }
        }
        let names = self.schema.inputs.iter().map(|input| &input.name);
        absent.extend(names.map(|name| format!("next_{name}")));
        if !self.schema.terminated && !self.schema.truncated {
            absent.extend(DONE.map(str::to_owned));
        }
        let present: HashSet<&String> = self.names.iter().collect();
        absent.retain(|name| !present.contains(name));
        absent
    }

    /// The names of the columns to copy.
    pub fn kept_names(&self) -> Vec<String> {
        self.kept.iter().map(|&index| self.name(index)).collect()
    }

    /// The column of a cell of the choice, or of the list that holds it.
    pub fn place(&self, cell: ChoiceCell) -> Option<usize> {
        let list = match cell {
            ChoiceCell::Weight(at, _) => ChoiceCell::Weights(at),
            ChoiceCell::Weights(at) => ChoiceCell::Weight(at, 0),
            cell => cell,
        };
        let mut targets = self.targets.iter();
        targets.position(|t| [Target::Choice(cell), Target::Choice(list)].contains(t))
    }

    /// The name of a column.
    pub fn name(&self, index: usize) -> String {
        self.names.get(index).cloned().unwrap_or_default()
    }
}
