//! Checks the mode `tdx` against the authors' engine: numbers that their program prints.
//!
//! Their source (github.com/SupernovaTitanium/TDexperiments, April 2026) was compiled with `g++ -O2 -std=c++17` and run as
//! `tdx run --env E7 --set feature_omega_beta=0.1 --set reward_mode=uniform --n_steps 5000 --n_runs 2 --base_values 0.1,1`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use robust_td_core::catalog;
use robust_td_engine::{Family, Lane, Mode, Options, Plan, Projection, Tables, run};

/// Mean over the two runs of (1-gamma)|V - V*|_D^2 and of f, both of the average, and of max_t |theta_t|^2; `None` where both diverged.
type Row = (Family, Projection, Option<[f64; 3]>);

#[rustfmt::skip]
const PRINTED: [Row; 24] = [
    (Family::Theory, Projection::None, Some([3.04485704288, 10.643915841, 217.008935186])),
    (Family::TheoryLog2, Projection::None, Some([1.48151864285, 5.249991686, 453.59902882])),
    (Family::InvT, Projection::None, Some([0.535638077776, 1.95099469756, 783.989258725])),
    (Family::InvSqrtT, Projection::None, Some([0.0156169635235, 0.0408744561967, 2786.50971476])),
    (Family::InvT23, Projection::None, Some([0.0189212837368, 0.0495030958685, 1877.85130828])),
    (Family::InvOmegaT, Projection::None, None),
    (Family::ConstantOmega, Projection::None, Some([6.60116691989, 22.8207499437, 0.721599363418])),
    (Family::InvC, Projection::None, Some([0.159847915959, 0.552366660164, 6530236.84876])),
    (Family::Theory, Projection::Oracle, Some([3.04485704288, 10.643915841, 217.008935186])),
    (Family::TheoryLog2, Projection::Oracle, Some([1.48151864285, 5.249991686, 453.59902882])),
    (Family::InvT, Projection::Oracle, Some([0.535638077776, 1.95099469756, 783.989258725])),
    (Family::InvSqrtT, Projection::Oracle, Some([0.0121227636545, 0.062699657632, 1399.70432838])),
    (Family::InvT23, Projection::Oracle, Some([0.00437026200452, 0.0251108986947, 1399.70432838])),
    (Family::InvOmegaT, Projection::Oracle, Some([0.00640761502601, 0.0215662724131, 1399.70432838])),
    (Family::ConstantOmega, Projection::Oracle, Some([6.60116691989, 22.8207499437, 0.721599363418])),
    (Family::InvC, Projection::Oracle, Some([0.0051211838927, 0.0279046737186, 1399.70432838])),
    (Family::Theory, Projection::Upper, Some([3.04485704288, 10.643915841, 217.008935186])),
    (Family::TheoryLog2, Projection::Upper, Some([1.48151864285, 5.249991686, 453.59902882])),
    (Family::InvT, Projection::Upper, Some([0.535638077776, 1.95099469756, 783.989258725])),
    (Family::InvSqrtT, Projection::Upper, Some([0.0156169635235, 0.0408744561967, 2786.50971476])),
    (Family::InvT23, Projection::Upper, Some([0.0189212837368, 0.0495030958685, 1877.85130828])),
    (Family::InvOmegaT, Projection::Upper, Some([190.134609404, 611.87861649, 156252180657.0])),
    (Family::ConstantOmega, Projection::Upper, Some([6.60116691989, 22.8207499437, 0.721599363418])),
    (Family::InvC, Projection::Upper, Some([0.159847915959, 0.552366660164, 6530236.84876])),
];

#[test]
fn every_schedule_and_projection_has_the_printed_values() {
    let problem = catalog::problem("e7", &[("beta", 0.1)]).unwrap();
    let lane = |&(family, projection, _): &Row| Lane {
        variant: 0,
        family,
        c: 0.1,
        projection,
    };
    let plan = Plan {
        variants: vec![Tables::from(&problem)],
        lanes: PRINTED.iter().map(lane).collect(),
        runs: 2,
        horizon: 5000,
        simulate: 5000,
        mode: Mode::Tdx,
        curve_points_per_decade: 1,
    };
    let results = run(plan, &Options::default()).unwrap().finished().unwrap();
    for (found, (family, projection, printed)) in results.lanes.iter().zip(&PRINTED) {
        let sampled = found.sampled.unwrap();
        let Some(printed) = printed else {
            assert_eq!(sampled.divergence_rate, 1.0, "{family:?}");
            continue;
        };
        assert_eq!(sampled.divergence_rate, 0.0, "{family:?}");
        let d_norm = found.curve.last().unwrap().d_norm.unwrap();
        // With two runs the median is their mean.
        let ours = [0.01 * d_norm, found.gap, sampled.max_norm.median];
        for (ours, printed) in ours.into_iter().zip(printed) {
            let error = (ours / printed - 1.0).abs();
            // Twelve digits are printed; fused multiply-add rounds differently, and expanding steps amplify that.
            assert!(
                error <= 1e-9,
                "{family:?} {projection:?}: {ours} is not {printed}"
            );
        }
    }
}
