//! Checks feature maps in normal use: from text, fitted to data, saved and restored.

#![allow(clippy::unwrap_used)]

use robust_td_core::features::{FeatureMap, Fitting, Row, Rows};

/// Forty observations of two coordinates.
fn observations() -> Vec<[f64; 2]> {
    let wave = |k: usize| (k as f64 * 0.7).sin();
    (0..40)
        .map(|k| [3.0 + 2.0 * wave(k), (k % 4) as f64])
        .collect()
}

fn fit(spec: &str) -> (FeatureMap, usize) {
    let mut fitting = Fitting::new(spec, 2).unwrap();
    let mut passes = 0;
    while fitting.needs_pass() {
        for x in observations() {
            fitting.observe(&x).unwrap();
        }
        fitting.end_pass().unwrap();
        passes += 1;
    }
    (fitting.finish().unwrap(), passes)
}

fn dense(map: &FeatureMap, x: &[f64; 2]) -> Vec<f64> {
    let mut row = Row::for_map(map);
    map.write(x, &mut row);
    row.features().check(map.outputs()).unwrap();
    row.to_dense()
}

#[test]
fn standardised_features_have_mean_0_and_deviation_1() {
    let (map, passes) = fit("standardise");
    assert_eq!(passes, 1);
    let rows: Vec<Vec<f64>> = observations().iter().map(|x| dense(&map, x)).collect();
    for i in 0..2 {
        let mean = rows.iter().map(|row| row[i]).sum::<f64>() / 40.0;
        let square = rows.iter().map(|row| row[i] * row[i]).sum::<f64>() / 40.0;
        assert!(mean.abs() < 1e-14 && (square - 1.0).abs() < 1e-13);
    }
}

#[test]
fn a_later_stage_is_fitted_to_what_the_earlier_ones_make() {
    // The second standardisation sees the monomials at any scale.
    let (map, passes) = fit("standardise | polynomial(degree=3) | standardise | identity + bias");
    assert_eq!((passes, map.outputs(), map.is_sparse()), (2, 11, false));
    let mut total = vec![0.0; map.outputs()];
    for x in observations() {
        let row = dense(&map, &x);
        assert_eq!(row[0], 0.0, "a constant is only shifted");
        assert_eq!(row[10], 1.0);
        total.iter_mut().zip(row).for_each(|(t, v)| *t += v);
    }
    assert!(total[..10].iter().all(|t| t.abs() < 1e-11), "{total:?}");
}

#[test]
fn joined_maps_are_their_parts_one_after_the_other() {
    let parts = [
        "identity",
        "fourier(order=2)",
        "tiles(tilings=4,bins=3)",
        "one-hot(column=1)",
        "bias",
    ];
    let (joined, _) = fit(&parts.join(" + "));
    let parts = parts.map(|part| fit(part).0);
    assert!(joined.is_sparse());
    assert_eq!(
        joined.outputs(),
        parts.iter().map(FeatureMap::outputs).sum::<usize>()
    );
    for x in observations() {
        let pieces = parts.iter().flat_map(|part| dense(part, &x));
        assert_eq!(dense(&joined, &x), pieces.collect::<Vec<_>>());
    }
}

#[test]
fn many_observations_are_written_as_one_by_one() {
    let mut rows = Rows::default();
    let mut check = |map: &FeatureMap, observations: &[f64]| {
        let mut row = Row::for_map(map);
        map.write_rows(observations, &mut rows);
        for (i, x) in observations.chunks_exact(map.inputs()).enumerate() {
            map.write(x, &mut row);
            assert_eq!(rows.features(i), row.features(), "{} at {x:?}", map.spec());
        }
    };
    let pairs = observations().concat();
    for spec in [
        "tiles(tilings=4, bins=3)",
        "standardise | tiles(tilings=9, bins=2)",
        // Also after another map.
        "tiles(tilings=5, bins=3)",
        "tiles(tilings=3, bins=5) + bias",
        "polynomial(degree=2)",
        "one-hot(column=1)",
    ] {
        let map = fit(spec).0;
        // Also with observations that it was not fitted to.
        check(&map, &pairs);
        check(
            &map,
            &pairs.iter().map(|x| 1.5 * x - 0.3).collect::<Vec<_>>(),
        );
        check(&map, &[]);
    }
    for inputs in 1..=20 {
        let spec = format!("tiles(tilings={inputs}, bins=4, size=64, low=3, high=5)");
        let map = Fitting::new(&spec, inputs).unwrap().finish().unwrap();
        check(&map, &pairs[..pairs.len() / inputs * inputs]);
    }
}

#[test]
fn every_map_is_restored_to_the_same_bits() {
    for spec in [
        "identity",
        "bias",
        "running",
        "standardise | rbf(centres=3, width=0.7)",
        "polynomial",
        "fourier(order=2, coupled=0)",
        "tiles(size=7)",
        "one-hot(column=1) + one-hot(column=0, count=6)",
    ] {
        let (mut map, _) = fit(spec);
        if map.adapts() {
            observations().iter().for_each(|x| map.observe(x));
        }
        let text = serde_json::to_string(&map).unwrap();
        let restored: FeatureMap = serde_json::from_str(&text).unwrap();
        assert_eq!((&restored, restored.spec()), (&map, spec));
        for x in observations() {
            assert_eq!(dense(&restored, &x), dense(&map, &x), "{spec}");
        }
    }
}

#[test]
fn discrete_values_get_one_feature_each() {
    let (map, passes) = fit("one-hot(column=1)");
    assert_eq!((map.outputs(), passes), (4, 1));
    assert_eq!(dense(&map, &[0.0, 2.0]), [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(dense(&map, &[0.0, 9.0]), [0.0; 4]);
    let (counted, passes) = fit("one-hot(column=1, count=3)");
    assert_eq!((counted.outputs(), passes), (3, 0));
}

#[test]
fn what_cannot_be_made_is_refused() {
    let refused = |spec: &str| Fitting::new(spec, 2).unwrap_err().to_string();
    assert!(refused("one-hot(column=2)").contains("the columns are 0 to 1"));
    assert!(refused("one-hot(column=2, count=4)").contains("the columns are 0 to 1"));
    assert!(refused("polynomial(degree=100000)").contains("at most 64"));
    assert!(
        Fitting::new("polynomial(degree=60)", 6)
            .unwrap_err()
            .to_string()
            .contains("more than")
    );
    assert!(refused("fourier(order=9999, low=0, high=1)").contains("coupled=0"));
    assert!(refused("tiles(bins=99999, low=0, high=1)").contains("hash"));
    assert!(refused("identity | running").contains("first stage"));
    // On a stream there is no first pass.
    let stream = Fitting::new("standardise", 2)
        .unwrap()
        .finish()
        .unwrap_err()
        .to_string();
    assert!(stream.contains("`running`"), "{stream}");
    let mut empty = Fitting::new("standardise", 2).unwrap();
    assert!(
        empty
            .end_pass()
            .unwrap_err()
            .to_string()
            .contains("no observation")
    );
    // A saved map that contradicts itself.
    let text = serde_json::to_string(&fit("rbf").0).unwrap();
    let broken = text.replace("\"inputs\":2", "\"inputs\":3");
    assert!(serde_json::from_str::<FeatureMap>(&broken).is_err());
}

/// One-hot features of a product that overflows would have a level that no file can hold.
#[test]
fn levels_that_overflow_are_refused() {
    for (value, refused) in [(1e200, true), (-1e200, true), (1e150, false)] {
        let mut fitting = Fitting::new("polynomial(degree=2) | one-hot(column=2)", 1).unwrap();
        let mut seen = Ok(());
        while seen.is_ok() && fitting.needs_pass() {
            seen = fitting.observe(&[value]).and_then(|()| fitting.end_pass());
        }
        let message = seen.err().map(|error| error.to_string());
        assert_eq!(message.is_some(), refused, "{value}: {message:?}");
        assert!(message.is_none_or(|message| message.contains("column 2 overflows")));
    }
}
