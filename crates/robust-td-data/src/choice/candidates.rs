//! Lists feature maps that suit a log.

use robust_td_core::features::Input;

use crate::words::quoted;

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

/// The list of `auto` for a log with categories: maps of its numbers, each with `one-hot` of all categories.
pub(super) fn with_categories(facts: &Facts, inputs: &[Input]) -> Vec<Listed> {
    let names = |category: bool| -> Vec<String> {
        let chosen = inputs.iter().filter(|input| input.category == category);
        chosen.map(|input| quoted(&input.name)).collect()
    };
    let (numbers, one_hot) = (names(false), format!("one-hot({})", names(true).join(", ")));
    let levels = inputs.iter().zip(&facts.discrete);
    let levels = levels
        .filter(|(input, _)| input.category)
        .fold(0_usize, |sum, (_, count)| {
            sum.saturating_add(count.unwrap_or(usize::MAX))
        });
    let (p, numbers) = (numbers.len(), numbers.join(", "));
    let power = |base: usize| base.saturating_pow(u32::try_from(p).unwrap_or(u32::MAX));
    let mut list = vec![(format!("{one_hot} + bias"), 1)];
    if p > 0 {
        list.push((format!("standardise({numbers}) + {one_hot} + bias"), p + 1));
        for degree in [2, 3] {
            let map = format!("polynomial({numbers}; degree={degree}) + {one_hot}");
            list.push((map, monomials(p, degree)));
        }
        for order in [3, 7] {
            let map = format!("fourier({numbers}; order={order}) + {one_hot}");
            list.push((map, power(order + 1)));
        }
        for bins in [4, 8] {
            let map = format!("tiles({numbers}; tilings=8, bins={bins}) + {one_hot}");
            list.push((map, power(bins + 1).saturating_mul(8)));
        }
    }
    let listed = list.into_iter().map(|(spec, of_numbers)| {
        let dense = !spec.starts_with("tiles");
        let dimension = levels.saturating_add(of_numbers);
        Listed {
            left_out: too_large(facts.transitions, of_numbers, dense)
                .or_else(|| too_large(facts.transitions, dimension, false)),
            dimension: (dimension < usize::MAX).then_some(dimension as u64),
            spec,
        }
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
    fn categories_are_part_of_every_map() {
        use robust_td_core::features::Fitting;
        let text = Input {
            category: true,
            ..Input::number("my city")
        };
        let inputs = [Input::number("x"), text, Input::number("y")];
        let facts = Facts {
            transitions: 30_000,
            discrete: vec![None, Some(3), None],
        };
        let list = with_categories(&facts, &inputs);
        assert!(list.len() > 5 && list.iter().all(|listed| listed.left_out.is_none()));
        for listed in &list {
            assert!(
                listed.spec.contains("one-hot(\"my city\")"),
                "{}",
                listed.spec
            );
            Fitting::with_columns(&listed.spec, inputs.to_vec()).unwrap();
        }
        assert_eq!((list[1].dimension, list[2].dimension), (Some(6), Some(9)));
        let alone = with_categories(&facts, &inputs[1..2]);
        assert_eq!(alone.len(), 1);
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
