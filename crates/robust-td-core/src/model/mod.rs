//! Describes what is given: chains, rewards, decision processes, policy-evaluation problems, and how fast they mix.

pub mod average_reward;
pub(crate) mod basis;
pub mod chain;
pub mod constants;
pub(crate) mod elimination;
pub mod mdp;
pub mod mixing;
pub(crate) mod perron;
mod powers;
pub mod problem;
pub mod reward;
pub mod simulate;
mod structure;
pub(crate) mod whitening;
