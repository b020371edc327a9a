//! Names the families of step sizes and the projections.

use serde::{Deserialize, Serialize};

/// A family of step sizes with one parameter.
///
/// The first three are the paper's and ours. With L = log T, the step size index t counts as the plan's mode says.
///
/// The others are those of the authors' engine `tdx`, where t = 1, 2, .. is the number of the update in every mode and
/// w = max((1-gamma) omega, 1e-12). A small c means large steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// eta_t = 1 / (c phi_inf^2 L log(t+3) sqrt(t+1)), Figure 1 of the paper.
    Decaying,
    /// The constant eta_T, Figure 2 of the paper.
    Constant,
    /// The constant eta given by the lane's parameter.
    Plain,
    /// 1 / (c phi_inf^2 L log(t+3) sqrt(t+1)): `decaying` delayed by one step.
    Theory,
    /// 1 / (c phi_inf^2 log(t+3)^2 sqrt(t+1)), which needs no horizon.
    TheoryLog2,
    /// 1 / (c t).
    InvT,
    /// 1 / (c sqrt(t)).
    InvSqrtT,
    /// 1 / (c t^(2/3)).
    InvT23,
    /// 1 / (c w t): with c = 1 the step sizes of Bhandari et al. (c).
    InvOmegaT,
    /// w / c.
    ConstantOmega,
    /// 1 / c, which the authors call `constant`.
    InvC,
}

impl Family {
    /// All families, the paper's first.
    pub const ALL: [Self; 11] = [
        Self::Decaying,
        Self::Constant,
        Self::Plain,
        Self::Theory,
        Self::TheoryLog2,
        Self::InvT,
        Self::InvSqrtT,
        Self::InvT23,
        Self::InvOmegaT,
        Self::ConstantOmega,
        Self::InvC,
    ];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Decaying => "decaying",
            Self::Constant => "constant",
            Self::Plain => "plain",
            Self::Theory => "theory",
            Self::TheoryLog2 => "theory_log2",
            Self::InvT => "inv_t",
            Self::InvSqrtT => "inv_sqrt_t",
            Self::InvT23 => "inv_t_2_3",
            Self::InvOmegaT => "inv_omega_t",
            Self::ConstantOmega => "constant_omega",
            Self::InvC => "inv_c",
        }
    }

    /// The family of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Whether all steps have the same size.
    pub fn is_constant(self) -> bool {
        matches!(
            self,
            Self::Constant | Self::Plain | Self::ConstantOmega | Self::InvC
        )
    }

    /// Whether step sizes are inversely proportional to phi_inf^2, so that scaling all features scales the iterates.
    pub(crate) fn follows_features(self) -> bool {
        matches!(
            self,
            Self::Decaying | Self::Constant | Self::Theory | Self::TheoryLog2
        )
    }
}

/// The ball that iterates stay in: after each update, |theta| > R becomes theta R / |theta|.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Projection {
    /// No projection.
    #[default]
    None,
    /// R = |theta*|, which is not known in practice.
    Oracle,
    /// R = 2 r_max / (sqrt(w) (1-gamma)^1.5), w = max((1-gamma) omega, 1e-12), r_max over all pairs of states: 1/sqrt(1-gamma) times
    /// the known bound 2 r_max / (sqrt(omega) (1-gamma)^1.5) on |theta*|, because w already holds a factor 1-gamma.
    Upper,
}

impl Projection {
    /// All projections.
    pub const ALL: [Self; 3] = [Self::None, Self::Oracle, Self::Upper];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Oracle => "oracle",
            Self::Upper => "upper",
        }
    }

    /// The projection of a name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|projection| projection.name() == name)
    }
}
