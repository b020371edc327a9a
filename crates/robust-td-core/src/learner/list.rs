//! Lists every algorithm: its file, its learner and the methods that it declares.
//!
//! **A new algorithm is a file in this folder and a line in this list** (CONTRIBUTING has the recipe)**.** The line declares the module, makes the learner a
//! kind of [`AnyLearner`](crate::registry::AnyLearner), and adds the methods to [`METHODS`](crate::registry::METHODS). The
//! documentation uses the same order. Leave the learner out if the file only sets up another one, such as
//! [`Td0`](crate::learner::Td0).

/// Calls a macro with the given bracketed arguments followed by the list.
macro_rules! algorithms {
    ($macro:ident $($argument:tt)*) => {
        $macro! {
            [$($argument)*]
            alg1: Alg1 [DECAYING, CONSTANT];
            doubling: Doubling [METHOD];
            whitened: Whitened [FULL, DIAGONAL];
            td0: Td0 [];
            bhandari [A, B, C];
            liu_olshevsky: MeanAdjusted [METHOD];
            adatd: AdaTd [METHOD];
            srikant_ying [METHOD];
            patil [TAIL, REGULARISED];
            samsonov [METHOD];
            mitra [METHOD];
            li_exponential [PLAIN, REGULARISED];
            single_stepsize [METHOD, MIXING_FREE];
            certified_constant [METHOD];
            td_lambda: TdLambda [METHOD];
            true_online: TrueOnline [METHOD];
            implicit_td: ImplicitTd [METHOD];
            least_squares: LeastSquares [METHOD];
            lstd: Lstd [METHOD];
            lspe: Lspe [METHOD];
            gtd2: Gtd2 [METHOD];
            tdc: Tdc [METHOD];
            tdrc: Tdrc [METHOD];
            etd: Etd [METHOD];
            td_svrg: TdSvrg [METHOD];
            richardson_romberg: RichardsonRomberg [METHOD];
            clipped_td: ClippedTd [METHOD];
            differential_td: DifferentialTd [METHOD];
            swift_td: SwiftTd [METHOD];
            coin_betting: CoinBetting [METHOD];
            dog: Dog [DOG, T_DOG];
            optimal_stopping [METHOD];
            q_learning [METHOD];
            portfolio: RobustTd [METHOD];
        }
    };
}
pub(crate) use algorithms;

/// Declares the modules of the list and re-exports their learners.
macro_rules! modules {
    ([] $($module:ident $(: $learner:ident)? [$($method:ident),*];)*) => {
        $(pub mod $module;)*
        $($(pub use $module::$learner;)?)*

        /// The ids of all methods.
        pub(crate) static IDS: &[&str] = &[$($($module::$method.id,)*)*];
    };
}
pub(super) use modules;
