//! Holds a learner of any kind, so that it can be chosen by name, cloned, saved and restored.

use serde::{Deserialize, Serialize};

use crate::learner::recipe::Recipe;
use crate::learner::{
    AdaTd, Alg1, CoinBetting, Dog, Doubling, Etd, Gtd2, Health, ImplicitTd, Learner, Lstd,
    MeanAdjusted, SwiftTd, Td0, TdLambda, Tdc, Transition,
};
use crate::portfolio::RobustTd;

/// Declares the enum and forwards the trait to the learner inside.
macro_rules! any_learner {
    ($($(#[$doc:meta])* $kind:ident($learner:ty),)*) => {
        /// A learner of any kind.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum AnyLearner {
            $($(#[$doc])* $kind($learner),)*
        }

        $(impl From<$learner> for AnyLearner {
            fn from(learner: $learner) -> Self {
                Self::$kind(learner)
            }
        })*

        impl AnyLearner {
            /// The learner inside.
            #[must_use]
            pub fn as_learner(&self) -> &dyn Learner {
                match self {
                    $(Self::$kind(learner) => learner,)*
                }
            }
        }

        impl Learner for AnyLearner {
            fn id(&self) -> &'static str {
                self.as_learner().id()
            }
            #[inline]
            fn dimension(&self) -> usize {
                match self {
                    $(Self::$kind(learner) => learner.dimension(),)*
                }
            }
            #[inline]
            fn discount(&self) -> f64 {
                match self {
                    $(Self::$kind(learner) => learner.discount(),)*
                }
            }
            #[inline]
            fn steps(&self) -> u64 {
                match self {
                    $(Self::$kind(learner) => learner.steps(),)*
                }
            }
            fn updates(&self) -> u64 {
                self.as_learner().updates()
            }
            fn projections(&self) -> Option<u64> {
                self.as_learner().projections()
            }
            fn recipe(&self) -> Option<Recipe> {
                self.as_learner().recipe()
            }
            #[inline]
            fn step(&mut self, transition: &Transition<'_>) {
                match self {
                    $(Self::$kind(learner) => learner.step(transition),)*
                }
            }
            #[inline]
            fn learn(&mut self, transition: &Transition<'_>) -> f64 {
                match self {
                    $(Self::$kind(learner) => learner.learn(transition),)*
                }
            }
            fn start_episode(&mut self) {
                match self {
                    $(Self::$kind(learner) => learner.start_episode(),)*
                }
            }
            #[inline]
            fn theta(&self) -> &[f64] {
                match self {
                    $(Self::$kind(learner) => learner.theta(),)*
                }
            }
            fn output(&self) -> Vec<f64> {
                self.as_learner().output()
            }
            fn value_offset(&self) -> f64 {
                self.as_learner().value_offset()
            }
            fn health(&self) -> &Health {
                self.as_learner().health()
            }
        }
    };
}

any_learner! {
    /// Algorithm 1.
    Alg1(Alg1),
    /// Algorithm 1 with c chosen by the data.
    Auto(RobustTd),
    /// Algorithm 1 in phases.
    Doubling(Doubling),
    /// Any TD(0)-type method.
    Td0(Td0),
    /// AdaTD.
    Adatd(AdaTd),
    /// TD(lambda).
    TdLambda(TdLambda),
    /// Implicit TD.
    ImplicitTd(ImplicitTd),
    /// LSTD.
    Lstd(Lstd),
    /// GTD2.
    Gtd2(Gtd2),
    /// TDC.
    Tdc(Tdc),
    /// Emphatic TD.
    Etd(Etd),
    /// SwiftTD.
    SwiftTd(SwiftTd),
    /// TD(0) by coin betting.
    CoinBetting(CoinBetting),
    /// Distance over gradients, tamed or not.
    Dog(Dog),
    /// A TD(0)-type method with mean adjustment.
    MeanAdjusted(MeanAdjusted),
}
