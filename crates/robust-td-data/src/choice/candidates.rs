//! Lists feature maps that suit a log.

/// A map needs at least this number of transitions per feature.
const PER_FEATURE: u64 = 5;
/// The maximum number of features of a dense map, and of a sparse one.
const MOST_DENSE: usize = 1000;
const MOST_SPARSE: usize = 10_000;
/// The maximum number of multiplications for the equations of one dense map: tens of seconds.
const MOST_WORK: f64 = 4e11;
/// A column with up to this number of values is not one-hot encoded: a straight line through two values is the same.
const BINARY: usize = 2;

/// What is known about a log.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub transitions: u64,
    /// For each column, the number of values if it looks discrete.
    pub discrete: Vec<Option<usize>>,
}

/// A map to compare, or why not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listed {
    pub spec: String,
    /// The number of features, if it is known beforehand.
    pub dimension: Option<u64>,
    pub left_out: Option<String>,
}

/// The list of `auto`: simple maps first.
pub(super) fn auto(facts: &Facts) -> Vec<Listed> {
    let p = facts.discrete.len();
    let power = |base: usize| {
        u32::try_from(p)
            .ok()
            .and_then(|p| base.checked_pow(p))
            .unwrap_or(usize::MAX)
    };
    let mut list = vec![
        (String::from("bias"), 1, true),
        ("standardise + bias".into(), p + 1, true),
    ];
    for degree in [2, 3] {
        let count = monomials(p, degree);
        list.push((
            format!("standardise | polynomial(degree={degree})"),
            count,
            true,
        ));
    }
    let orders: &[usize] = match p {
        1 => &[3, 7, 15],
        2 => &[2, 3, 5, 7],
        _ => &[2, 3],
    };
    for &order in orders {
        list.push((format!("fourier(order={order})"), power(order + 1), true));
    }
    if p > 2 {
        let count = 3_usize.saturating_mul(p).saturating_add(1);
        list.push(("fourier(order=3, coupled=0)".into(), count, true));
    }
    list.push((
        "rbf(centres=4) + bias".into(),
        power(4).saturating_add(1),
        true,
    ));
    for bins in [4, 8] {
        let count = power(bins + 1).saturating_mul(8);
        list.push((format!("tiles(tilings=8, bins={bins})"), count, false));
    }
    list.extend(one_hot(&facts.discrete));
    let listed = list.into_iter().map(|(spec, dimension, dense)| Listed {
        left_out: too_large(facts.transitions, dimension, dense),
        dimension: (dimension < usize::MAX).then_some(dimension as u64),
        spec,
    });
    listed.collect()
}

/// The maps for discrete columns.
fn one_hot(discrete: &[Option<usize>]) -> Vec<(String, usize, bool)> {
    let several = |&(_, count): &(usize, Option<usize>)| count.is_some_and(|n| n > BINARY);
    let columns: Vec<(usize, Option<usize>)> = discrete.iter().copied().enumerate().collect();
    let chosen: Vec<usize> = columns.iter().filter(|c| several(c)).map(|c| c.0).collect();
    let levels = |columns: &[usize]| -> usize {
        let counts = columns.iter().filter_map(|&k| discrete[k]);
        counts.fold(0, usize::saturating_add)
    };
    let maps: Vec<String> = chosen
        .iter()
        .map(|k| format!("one-hot(column={k})"))
        .collect();
    match (chosen.len(), discrete.len()) {
        (0, _) => Vec::new(),
        (1, 1) => vec![("one-hot".into(), levels(&chosen), false)],
        // The other columns enter as they are.
        (_, p) => vec![(
            format!("{} + standardise + bias", maps.join(" + ")),
            levels(&chosen).saturating_add(p + 1),
            false,
        )],
    }
}

/// The number of monomials of up to this degree in p variables.
fn monomials(p: usize, degree: usize) -> usize {
    let mut count = 1_u128;
    for k in 1..=degree {
        count = count.saturating_mul((p + k) as u128) / k as u128;
    }
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Why a map of this size is left out, if it is.
fn too_large(transitions: u64, dimension: usize, dense: bool) -> Option<String> {
    let d = dimension as f64;
    let most = if dense { MOST_DENSE } else { MOST_SPARSE };
    if dimension > most {
        return Some(format!("more than {most} features"));
    }
    if d * PER_FEATURE as f64 > transitions as f64 {
        return Some(format!("fewer than {PER_FEATURE} transitions per feature"));
    }
    // A constant costs no more than reading the rows.
    (dense && dimension > 1 && d * d * transitions as f64 > MOST_WORK)
        .then(|| "its equations would take too long to add up".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specs(facts: &Facts, left_out: bool) -> Vec<String> {
        let list = auto(facts).into_iter();
        let list = list.filter(|listed| listed.left_out.is_some() == left_out);
        list.map(|listed| listed.spec).collect()
    }

    #[test]
    fn counts_are_those_of_the_maps() {
        use robust_td_core::features::Fitting;
        for p in 1..=4 {
            let facts = Facts {
                transitions: 1 << 40,
                discrete: vec![None; p],
            };
            for listed in auto(&facts) {
                if listed.dimension > Some(20_000) {
                    continue;
                }
                let mut fitting = Fitting::new(&listed.spec, p).unwrap();
                while fitting.needs_pass() {
                    for k in 0..50 {
                        let row: Vec<f64> =
                            (0..p).map(|i| f64::from(k * 7 % (11 + i as i32))).collect();
                        fitting.observe(&row).unwrap();
                    }
                    fitting.end_pass().unwrap();
                }
                let map = fitting.finish().unwrap();
                assert_eq!(
                    Some(map.outputs() as u64),
                    listed.dimension,
                    "{}",
                    listed.spec
                );
            }
        }
    }

    #[test]
    fn a_single_discrete_column_is_one_hot_encoded() {
        let facts = |n| Facts {
            transitions: 30_000,
            discrete: vec![n],
        };
        assert!(specs(&facts(Some(500)), false).contains(&"one-hot".to_owned()));
        assert!(!specs(&facts(Some(2)), false).contains(&"one-hot".to_owned()));
        assert!(!specs(&facts(None), false).contains(&"one-hot".to_owned()));
        let mixed = Facts {
            transitions: 30_000,
            discrete: vec![None, Some(4), Some(2)],
        };
        let map = "one-hot(column=1) + standardise + bias".to_owned();
        assert!(specs(&mixed, false).contains(&map));
    }

    #[test]
    fn large_maps_are_left_out_before_they_are_made() {
        let wide = Facts {
            transitions: 1000,
            discrete: vec![None; 300],
        };
        assert_eq!(specs(&wide, false), ["bias"]);
        let many = Facts {
            transitions: 1 << 40,
            discrete: vec![None; 100],
        };
        // Too many rows for quadratic work in 5151 features; powers overflow to usize::MAX.
        assert_eq!(specs(&many, false), ["bias"], "{:?}", auto(&many));
    }
}
