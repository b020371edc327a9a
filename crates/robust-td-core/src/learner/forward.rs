//! Generates the methods of [`Learner`](crate::learner::Learner) that only delegate, with each signature written once.

/// Delegates methods to the learner that a macro selects: `forward!(picks: id discount)`.
///
/// The macro is called as `picks!(self, learner => learner.id())`, with any name for the learner.
macro_rules! forward {
    ($pick:ident: $($method:ident)*) => { $($crate::learner::forward::forward!(@$method $pick);)* };
    (@id $pick:ident) => {
        fn id(&self) -> &'static str { $pick!(self, learner => learner.id()) }
    };
    (@dimension $pick:ident) => {
        #[inline]
        fn dimension(&self) -> usize { $pick!(self, learner => learner.dimension()) }
    };
    (@discount $pick:ident) => {
        #[inline]
        fn discount(&self) -> f64 { $pick!(self, learner => learner.discount()) }
    };
    (@steps $pick:ident) => {
        #[inline]
        fn steps(&self) -> u64 { $pick!(self, learner => learner.steps()) }
    };
    (@updates $pick:ident) => {
        fn updates(&self) -> u64 { $pick!(self, learner => learner.updates()) }
    };
    (@projections $pick:ident) => {
        fn projections(&self) -> Option<u64> { $pick!(self, learner => learner.projections()) }
    };
    (@recipe $pick:ident) => {
        fn recipe(&self) -> Option<$crate::learner::Recipe> {
            $pick!(self, learner => learner.recipe())
        }
    };
    (@choice $pick:ident) => {
        fn choice(&self) -> Option<$crate::learner::portfolio::Answer> {
            $pick!(self, learner => learner.choice())
        }
    };
    (@replicates $pick:ident) => {
        fn replicates(&self) -> usize { $pick!(self, learner => learner.replicates()) }
    };
    (@step $pick:ident) => {
        #[inline]
        fn step(&mut self, transition: &$crate::phi::Transition<'_>) {
            $pick!(self, learner => learner.step(transition))
        }
    };
    (@learn $pick:ident) => {
        #[inline]
        fn learn(&mut self, transition: &$crate::phi::Transition<'_>) -> f64 {
            $pick!(self, learner => learner.learn(transition))
        }
    };
    (@start_episode $pick:ident) => {
        fn start_episode(&mut self) { $pick!(self, learner => learner.start_episode()) }
    };
    (@has_traces $pick:ident) => {
        fn has_traces(&self) -> bool { $pick!(self, learner => learner.has_traces()) }
    };
    (@theta $pick:ident) => {
        #[inline]
        fn theta(&self) -> &[f64] { $pick!(self, learner => learner.theta()) }
    };
    (@output $pick:ident) => {
        fn output(&self) -> Vec<f64> { $pick!(self, learner => learner.output()) }
    };
    (@value_offset $pick:ident) => {
        fn value_offset(&self) -> f64 { $pick!(self, learner => learner.value_offset()) }
    };
    (@health $pick:ident) => {
        fn health(&self) -> &$crate::iterate::Health { $pick!(self, learner => learner.health()) }
    };
}
pub(crate) use forward;

/// Reads `steps`, `theta` and `health` from the field that holds the iterate: `read_iterate!(state)`.
macro_rules! read_iterate {
    ($($field:ident).+) => {
        #[inline]
        fn steps(&self) -> u64 {
            self.$($field).+.steps()
        }

        #[inline]
        fn theta(&self) -> &[f64] {
            self.$($field).+.theta()
        }

        fn health(&self) -> &$crate::iterate::Health {
            self.$($field).+.health()
        }
    };
}
pub(crate) use read_iterate;
