//! Checks the authors' problem families against numbers computed with sixty digits.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use robust_td_core::{Mixing, Problem, catalog};

/// Cases 1 and 3 of each family: name, swept value, n, d, omega, |theta*|, |lambda_2|, f(0), t_mix.
type Case = (&'static str, f64, usize, usize, [f64; 4], u64);

const CASES: [Case; 22] = [
    (
        "toyexample",
        1e-3,
        50,
        5,
        [
            5.6977103954e-08,
            7.0231906836e+03,
            0.9936149074,
            4.0304340560e+00,
        ],
        147,
    ),
    (
        "toyexample",
        1e-1,
        50,
        5,
        [
            5.6521708849e-04,
            7.0605693773e+01,
            0.9936149074,
            4.0304340560e+00,
        ],
        147,
    ),
    (
        "e1",
        1e-4,
        2,
        1,
        [
            5.0000000500e-01,
            1.0011892045e+00,
            0.9980000000,
            5.0059460227e-01,
        ],
        347,
    ),
    (
        "e1",
        1e-1,
        2,
        1,
        [
            5.0500000000e-01,
            1.2327445047e+00,
            0.9980000000,
            6.1637225235e-01,
        ],
        347,
    ),
    (
        "e2",
        1e-4,
        2,
        2,
        [
            2.4999999688e-09,
            8.3472454512e+05,
            0.9980000000,
            4.5868113523e+01,
        ],
        347,
    ),
    (
        "e2",
        1e-1,
        2,
        2,
        [
            2.4690594446e-03,
            8.3892889008e+02,
            0.9980000000,
            4.5868113523e+01,
        ],
        347,
    ),
    (
        "e3",
        1e-4,
        3,
        2,
        [
            1.6666666458e-09,
            4.7894838090e+03,
            0.9994996246,
            1.5964163645e+01,
        ],
        1386,
    ),
    (
        "e3",
        1e-1,
        3,
        2,
        [
            1.6460396297e-03,
            4.7892514883e+01,
            0.9994996246,
            1.5964163645e+01,
        ],
        1386,
    ),
    (
        "e4",
        1e-3,
        20,
        20,
        [
            5.0000000000e-08,
            2.1713991191e+04,
            0.9995153421,
            2.7483915728e-01,
        ],
        1921,
    ),
    (
        "e4",
        1e-1,
        20,
        20,
        [
            5.0000000000e-04,
            2.1720946790e+02,
            0.9995153421,
            2.7483915728e-01,
        ],
        1921,
    ),
    (
        "e5",
        1e-3,
        21,
        20,
        [
            8.3333333333e-09,
            1.0000000000e+00,
            0.8554404592,
            8.3333333333e-03,
        ],
        20,
    ),
    (
        "e5",
        1e-1,
        21,
        20,
        [
            8.3333333333e-05,
            1.0000000000e+00,
            0.8554404592,
            8.3333333333e-03,
        ],
        20,
    ),
    (
        "e6",
        1e-3,
        32,
        2,
        [
            5.0000000000e-07,
            5.1136334937e+03,
            0.9998097562,
            3.8554357824e-01,
        ],
        4912,
    ),
    (
        "e6",
        1e-1,
        32,
        2,
        [
            5.0000000000e-03,
            5.1142147655e+01,
            0.9998097562,
            3.8554357824e-01,
        ],
        4912,
    ),
    (
        "e7",
        1e-3,
        65,
        2,
        [
            2.5683381689e-07,
            1.0824112855e+03,
            0.9903075190,
            2.3376780512e+01,
        ],
        73,
    ),
    (
        "e7",
        1e-1,
        65,
        2,
        [
            2.5599642726e-03,
            3.7412622581e+01,
            0.9903075190,
            2.3376780512e+01,
        ],
        73,
    ),
    (
        "e8",
        1e-4,
        4,
        2,
        [
            2.5000000250e-01,
            7.1416785090e-01,
            0.9900505038,
            2.5376246700e-01,
        ],
        102,
    ),
    (
        "e8",
        1e-1,
        4,
        2,
        [
            2.5247524752e-01,
            7.1616555150e-01,
            0.9900505038,
            2.4161815573e-01,
        ],
        102,
    ),
    (
        "e9",
        1e-4,
        51,
        2,
        [
            3.4666666320e-09,
            8.9928789870e+05,
            0.9990516644,
            3.1175313666e+01,
        ],
        985,
    ),
    (
        "e9",
        1e-1,
        51,
        2,
        [
            3.4323432343e-03,
            9.0377314843e+02,
            0.9990516644,
            3.1175313666e+01,
        ],
        985,
    ),
    (
        "e10",
        1e-4,
        20,
        2,
        [
            9.9999999000e-09,
            8.3472454508e+05,
            0.9980000000,
            8.3472454090e+01,
        ],
        347,
    ),
    (
        "e10",
        1e-1,
        20,
        2,
        [
            9.9009900990e-03,
            8.3888778140e+02,
            0.9980000000,
            8.3472454090e+01,
        ],
        347,
    ),
];

/// The parameter that the authors sweep.
fn swept(name: &str) -> &'static str {
    match name {
        "toyexample" | "e4" | "e5" | "e6" | "e7" => "beta",
        _ => "eps2",
    }
}

fn case(name: &str, value: f64) -> Problem {
    catalog::problem(name, &[(swept(name), value)]).unwrap()
}

#[test]
fn the_authors_cases_to_all_printed_digits() {
    for (name, value, states, dimension, numbers, t_mix) in CASES {
        let p = case(name, value);
        let mixing = Mixing::of(p.chain()).unwrap().unwrap();
        let found = [p.omega(), p.theta_star_norm(), mixing.lambda2(), p.f_zero()];
        assert_eq!((p.states(), p.dimension()), (states, dimension), "{name}");
        assert_eq!(mixing.t_mix(), t_mix, "{name}");
        assert!((p.phi_inf() - 1.0).abs() <= 1e-15, "{name}");
        for (found, expected) in found.into_iter().zip(numbers) {
            // Ten digits are printed after the first, and |lambda_2| has ten decimals.
            let error = (found / expected - 1.0).abs();
            assert!(error <= 1e-10, "{name} {value}: {found} is not {expected}");
        }
    }
}

/// f(0) and the values do not depend on the scaling of a column, at all four cases of a family.
#[test]
fn the_swept_value_moves_weights_not_values() {
    for name in [
        "toyexample",
        "e2",
        "e3",
        "e4",
        "e5",
        "e6",
        "e7",
        "e9",
        "e10",
    ] {
        let reference = case(name, 1.0);
        let values = reference.values(reference.theta_star());
        let size = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for value in [1e-4, 1e-3, 1e-2, 1e-1] {
            let p = case(name, value);
            assert!(
                (p.f_zero() / reference.f_zero() - 1.0).abs() <= 1e-11,
                "{name}"
            );
            for (a, b) in p.values(p.theta_star()).iter().zip(&values) {
                assert!(
                    (a - b).abs() <= 1e-10 * size,
                    "{name} {value}: {a} is not {b}"
                );
            }
        }
    }
}

/// t_mix by its definition: the powers of P one by one.
#[test]
fn mixing_times_by_definition() {
    for name in ["e1", "e3", "e5", "e7", "e8"] {
        let p = case(name, 1.0);
        let t_mix = Mixing::of(p.chain()).unwrap().unwrap().t_mix();
        let n = p.states();
        let mut power: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
            .collect();
        for t in 1..=t_mix {
            power = power
                .iter()
                .map(|row| p.chain().transition().left_times(row))
                .collect();
            let mut largest = 0.0_f64;
            for i in 0..n {
                for j in 0..i {
                    let distance = power[i].iter().zip(&power[j]).map(|(a, b)| (a - b).abs());
                    largest = largest.max(distance.sum::<f64>() / 2.0);
                }
            }
            assert_eq!(largest <= 0.5, t == t_mix, "{name}: {t}");
        }
    }
}
