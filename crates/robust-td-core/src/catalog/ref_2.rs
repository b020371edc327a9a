//! Builds the two-state reference problem with its table of answers.
//!
//! It is [`two-state`](super::two_state) with alpha = 0.6, epsilon = 0.3 and gamma = 0.9, fixed so that numbers can be
//! compared between programs:
//! ```text
//! P = [[.2, .8], [.8, .2]]   r = [[.2, 1], [-1, .4]]   Phi = [[.3, 1], [-.3, 1]]   s_0 = 0
//! A = diag(0.1386, 0.1)   c = (0.234, 0.06)   theta* = (130/77, 3/5)   omega = 0.09   d(t) = 0.6^t / 2
//! ```

use super::{Entry, Values, two_state};
use crate::error::Result;
use crate::model::problem::Problem;

pub(super) const ENTRY: Entry = Entry {
    name: "ref-2",
    aliases: &[],
    summary: "reference problem with two states and a table of exact numbers",
    source: "two-state of Lee and Orabona, arXiv:2506.01052, at alpha = 0.6, epsilon = 0.3",
    parameters: &[],
    build,
};

fn build(_: &Values) -> Result<Problem> {
    two_state::two_state(0.6, 0.3, 0.9, 0.0)
}

#[cfg(test)]
mod tests {
    use crate::catalog::{all_close, problem};
    use crate::model::mixing::Mixing;

    #[test]
    fn table_of_answers() {
        let p = problem("ref-2", &[]).unwrap();
        all_close(p.stationary(), &[0.5, 0.5]);
        all_close(p.a().as_slice(), &[0.1386, 0.0, 0.0, 0.1]);
        all_close(p.sigma().as_slice(), &[0.09, 0.0, 0.0, 1.0]);
        all_close(p.c_vector(), &[0.234, 0.06]);
        all_close(p.theta_star(), &[1.6883116883116884, 0.6]);
        all_close(&[p.theta_star_norm()], &[1.7917578957241584]);
        all_close(&[p.omega()], &[0.09]);
        all_close(&[p.phi_inf(), p.r_inf()], &[1.044030650891055, 1.0]);
        all_close(
            &[p.f_zero(), p.f(&[0.0, 0.0]), p.f(&[1.0, 1.0])],
            &[0.4310649350649352, 0.4310649350649352, 0.08166493506493502],
        );
        let values = p.values(p.theta_star());
        all_close(
            &[p.d_norm_sq(&values), p.dirichlet_sq(&values)],
            &[0.6165356721200884, 0.41045707539214044],
        );
        // Two independent features on two states: the fixed point is the true value.
        all_close(&p.true_values(), &values);
    }

    #[test]
    fn mixing() {
        let p = problem("ref-2", &[]).unwrap();
        let mixing = Mixing::of(p.chain()).unwrap().unwrap();
        let expected: Vec<f64> = (0..40).map(|t| 0.5 * 0.6_f64.powi(t)).collect();
        all_close(&mixing.distances(39), &expected);
        assert!((mixing.lambda2() - 0.6).abs() <= 1e-14);
        assert_eq!(mixing.t_mix(), 2);
    }

    #[test]
    fn two_state_at_its_defaults() {
        assert_eq!(
            problem("ref-2", &[]).unwrap(),
            problem("two-state", &[]).unwrap()
        );
    }
}
