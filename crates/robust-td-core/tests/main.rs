//! Runs the integration tests as one program, to link only once.

mod catalog;
mod certificates;
mod certificates_hold;
mod certify;
mod common;
mod coordinates;
mod edges;
mod exact_expectations;
mod families;
mod features;
mod mixing;
mod problem_identities;
mod proof_lemmas;
mod trajectory_theory;
