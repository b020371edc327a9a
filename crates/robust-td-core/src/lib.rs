//! States the mathematics of unprojected temporal-difference learning with linear function approximation.
//!
//! The reference is Lee and Orabona, "A Robust O~(1/sqrt T) Rate for Unprojected TD Learning with Linear Function
//! Approximation" (arXiv:2506.01052); every definition, lemma and theorem of it exists here once. The room is pure: no input, no
//! output, no threads.
//!
//! ```
//! use robust_td_core::{catalog, moments, schedule::{RobustDecay, Schedule}};
//!
//! let problem = catalog::problem("two-state", &[("epsilon", 0.3)])?;
//! let steps = RobustDecay::new(200, 0.2, problem.phi_inf())?;
//! let exact = moments::expectation(&problem, 200, |t| steps.step_size(t));
//! assert!((exact.f_of_average - 0.15695139065052535).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Glossary
//! Formulas use the paper's symbols, interfaces use words.
//!
//! | symbol | word | meaning |
//! |---|---|---|
//! | `P`, `pi`, `D` | transition, stationary | the chain, its stationary distribution, `diag(pi)` |
//! | `gamma` | discount | in [0, 1) |
//! | `phi(s)`, `Phi`, `d` | features, dimension | feature vector of a state, all of them as rows, their length |
//! | `theta`, `theta*` | theta, theta_star | the iterate, the TD fixed point |
//! | `delta` | TD error | `r + gamma phi(s').theta - phi(s).theta` |
//! | `g`, `gbar` | update, mean update | `delta phi(s)` and its stationary mean |
//! | `eta_t` | step size | the stepsize of step t, counted from 0 |
//! | `T` | horizon | number of steps, also in the stepsize |
//! | `c`, `c_0` | c | the constant in the stepsize, `c_0 = 15 + 18 sqrt 2` |
//! | `f` | potential | `(1-gamma)\|V - V*\|_D^2 + gamma \|V - V*\|_Dir^2` |
//! | `omega`, `kappa` | | smallest eigenvalue and condition number of `Sigma = Phi' D Phi` |
//! | `phi_inf`, `r_inf` | | largest feature norm, largest reward |
//! | `d(t)`, `dbar(t)`, `t_mix` | distance | how far the chain is from stationary after t steps |
//! | `rho_c` | | the paper's bound on the iterates: `E\|theta_t\|^2 <= rho_c^2 max(r_inf/phi_inf, \|theta*\|)^2` |

mod basis;
pub mod catalog;
pub mod chain;
pub mod constants;
pub mod control;
mod elimination;
pub mod error;
pub mod exact_float;
pub mod features;
mod lanes;
pub mod learner;
mod linalg;
pub mod matrix;
pub mod mdp;
pub mod mixing;
pub mod moments;
pub mod off_policy;
mod perron;
pub mod portfolio;
pub mod problem;
mod projected;
mod quantile;
pub mod random;
pub mod reward;
pub mod sandwich;
pub mod schedule;
pub mod simulate;
pub mod stability;
pub mod stopping;
mod structure;
pub mod suggestion;
pub mod theory;

pub use chain::Chain;
pub use constants::Constants;
pub use control::ControlProblem;
pub use error::{Error, Result};
pub use matrix::{Matrix, SparseMatrix};
pub use mdp::Mdp;
pub use mixing::Mixing;
pub use problem::Problem;
pub use reward::Reward;
pub use stopping::StoppingProblem;
