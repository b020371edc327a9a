//! Builds the three-state reference problem with its table of answers.
//!
//! A small chain without symmetry and with fewer features than states, fixed so that numbers can be compared between
//! programs:
//! ```text
//! P = [[.5, .4, .1], [.1, .6, .3], [.6, .2, .2]]   r = [[0, 1, -1], [.5, 0, .25], [-.5, 1, .75]]
//! Phi = [[1, 0], [.5, .5], [-.25, 1]]   gamma = 0.8   s_0 = 0
//! pi = (13, 17, 8) / 38   theta* = (0.8934135908800587, 0.8229382391081345)   omega = 0.30123243155557966
//! ```

use super::{Entry, Values};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::chain::Chain;
use crate::model::problem::{Problem, Reward};

pub(super) const ENTRY: Entry = Entry {
    name: "ref-3",
    aliases: &[],
    summary: "reference problem with three states, two features and a table of exact numbers",
    source: "reference problem of this project",
    parameters: &[],
    build,
};

fn build(_: &Values) -> Result<Problem> {
    let transition = Matrix::from_rows(&[[0.5, 0.4, 0.1], [0.1, 0.6, 0.3], [0.6, 0.2, 0.2]])?;
    let reward = Matrix::from_rows(&[[0.0, 1.0, -1.0], [0.5, 0.0, 0.25], [-0.5, 1.0, 0.75]])?;
    let features = Matrix::from_rows(&[[1.0, 0.0], [0.5, 0.5], [-0.25, 1.0]])?;
    let chain = Chain::from_dense(&transition)?;
    Problem::new(chain, features, Reward::PerTransition(reward), 0.8, 0)
}

#[cfg(test)]
mod tests {
    use crate::catalog::{all_close, problem};
    use crate::model::mixing::Mixing;

    #[test]
    fn table_of_answers() {
        let p = problem("ref-3", &[]).unwrap();
        all_close(p.stationary(), &[13.0 / 38.0, 17.0 / 38.0, 8.0 / 38.0]);
        all_close(
            p.a().as_slice(),
            &[
                0.25157894736842107,
                -0.11763157894736842,
                -0.10842105263157892,
                0.16447368421052633,
            ],
        );
        all_close(p.c_vector(), &[0.12796052631578947, 0.03848684210526317]);
        all_close(p.theta_star(), &[0.8934135908800587, 0.8229382391081345]);
        all_close(
            &[p.omega(), p.phi_inf(), p.r_inf()],
            &[0.30123243155557966, 1.0307764064044151, 1.0],
        );
        all_close(
            &[p.f_zero(), p.f(&[1.0, 1.0])],
            &[0.14599396737762974, 0.003748345617634398],
        );
        all_close(
            &p.true_values(),
            &[1.0060120240480968, 0.7542585170340683, 0.7780561122244494],
        );
    }

    #[test]
    fn mixing() {
        let p = problem("ref-3", &[]).unwrap();
        let mixing = Mixing::of(p.chain()).unwrap().unwrap();
        // d(0) = 1 - min pi = 15/19; the others have the same denominator: d(t) = (15, 4.9, 1.86, 0.276) / 19.
        all_close(
            &mixing.distances(3),
            &[15.0 / 19.0, 4.9 / 19.0, 1.86 / 19.0, 0.276 / 19.0],
        );
    }
}
