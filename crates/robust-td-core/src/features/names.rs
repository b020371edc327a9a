//! Names the features of a map after the columns that it reads.

use super::{FeatureMap, Map};

impl Map {
    /// The name of a feature; `input` names the inputs of the map.
    pub(super) fn name(&self, index: usize, input: &dyn Fn(usize) -> String) -> String {
        match self {
            Self::Identity { .. } | Self::Standardise(_) | Self::Running(_) => input(index),
            Self::Bias => "bias".into(),
            Self::Polynomial(map) => map.name(index, input),
            Self::Fourier(map) => map.name(index, input),
            Self::Tiles(map) => map.name(index),
            Self::Rbf(map) => map.name(index, input),
            Self::OneHot(map) => map.name(index, input),
            Self::Category(map) => map.name(index, input),
            Self::Part(part) => part.name(index, input),
            Self::PerAction(map) => map.name(index, input),
        }
    }
}

impl FeatureMap {
    /// The name of one feature, for observations with the given column names. Columns without a name are `obs_0`,
    /// `obs_1`, ...
    ///
    /// | map | names |
    /// |---|---|
    /// | `identity`, `standardise`, `running` | `x`, the name of the column |
    /// | `bias` | `bias` |
    /// | `polynomial` | `1`, `x`, `x^2`, `x*y` |
    /// | `fourier` | `1`, `cos(2 pi x)`, `cos(pi(x + 2 y))`, with `x` and `y` scaled to [0, 1] |
    /// | `tiles` | `tiles(3:417)`: tiling and tile, both from 0 |
    /// | `rbf` | `rbf(x=0.5, y=1)`: the centre, in the units of the map's input |
    /// | `one-hot` | `one-hot(state=6)`, `one-hot(city=Paris)`, `one-hot(city is missing)`, `one-hot(city is rare)` |
    ///
    /// The names of a later stage contain those of the earlier ones.
    ///
    /// # Panics
    /// When the index is not below [`FeatureMap::outputs`].
    #[must_use]
    pub fn name(&self, index: usize, inputs: &[String]) -> String {
        assert!(index < self.outputs(), "a feature of the map");
        name_after(&self.stages, index, inputs)
    }

    /// The names of all features, in order; see [`FeatureMap::name`]. Large maps have millions of features: name
    /// only those that are shown.
    #[must_use]
    pub fn names(&self, inputs: &[String]) -> Vec<String> {
        (0..self.outputs()).map(|i| self.name(i, inputs)).collect()
    }
}

/// The name of a feature of the last stage.
fn name_after(stages: &[Vec<Map>], mut index: usize, inputs: &[String]) -> String {
    let Some((last, before)) = stages.split_last() else {
        let given = inputs.get(index).cloned();
        return given.unwrap_or_else(|| format!("obs_{index}"));
    };
    for map in last {
        if index < map.outputs() {
            return map.name(index, &|i| name_after(before, i, inputs));
        }
        index -= map.outputs();
    }
    unreachable!("the index is below the number of features")
}

/// The name as a factor of a product: in parentheses if it is a sum, a product or a power.
pub(super) fn factor(name: String) -> String {
    let mut depth = 0_u32;
    let mut compound = false;
    for c in name.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '*' | '^' | '+' | '/' | ' ' => compound |= depth == 0,
            _ => {}
        }
    }
    if compound { format!("({name})") } else { name }
}

/// The shortest text that reads back as the same number; very large and very small numbers have an exponent.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) || !size.is_finite() {
        format!("{}", value + 0.0)
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Fitting;
    use super::*;

    /// A map of two columns, the first from -1 to 3 and the second with the values 0, 6 and 7.5.
    fn fit(spec: &str) -> FeatureMap {
        let mut fitting = Fitting::new(spec, 2).unwrap();
        while fitting.needs_pass() {
            for x in [[-1.0, 0.0], [3.0, 6.0], [0.3, 7.5]] {
                fitting.observe(&x).unwrap();
            }
            fitting.end_pass().unwrap();
        }
        fitting.finish().unwrap()
    }

    fn names(spec: &str) -> Vec<String> {
        let map = fit(spec);
        let names = map.names(&["x".into(), "y".into()]);
        assert_eq!(names.len(), map.outputs());
        names
    }

    #[test]
    fn every_map_names_its_features() {
        assert_eq!(names("standardise + bias"), ["x", "y", "bias"]);
        assert_eq!(names("running"), ["x", "y"]);
        let one_hot = ["one-hot(y=0)", "one-hot(y=6)", "one-hot(y=7.5)"];
        assert_eq!(names("one-hot(column=1)"), one_hot);
        let polynomial = [
            "1", "x", "y", "x^2", "x*y", "y^2", "x^3", "x^2*y", "x*y^2", "y^3",
        ];
        assert_eq!(names("polynomial(degree=3)"), polynomial);
        let uncoupled = ["1", "cos(pi x)", "cos(2 pi x)", "cos(pi y)", "cos(2 pi y)"];
        assert_eq!(names("fourier(order=2,coupled=0)"), uncoupled);
        let coupled = names("fourier(order=2)");
        assert_eq!(coupled[..4], ["1", "cos(pi x)", "cos(2 pi x)", "cos(pi y)"]);
        assert_eq!(
            coupled[7..],
            ["cos(pi(x + 2 y))", "cos(pi(2 x + 2 y))"],
            "{coupled:?}"
        );
        let rbf = names("rbf(centres=3)");
        assert_eq!(rbf[1], "rbf(x=1, y=0)");
        assert_eq!(rbf[8], "rbf(x=3, y=7.5)");
        let tiles = names("tiles(tilings=2,bins=3)");
        assert_eq!(
            (&tiles[0][..], &tiles[31][..]),
            ("tiles(0:0)", "tiles(1:15)")
        );
    }

    #[test]
    fn a_stage_names_what_the_stage_before_made() {
        let spec = "standardise + bias | polynomial + one-hot(column=2)";
        let chained = names(spec);
        assert_eq!(chained[8], "y*bias");
        assert_eq!(chained.last().unwrap(), "one-hot(bias=1)");
        let twice = names("polynomial | polynomial");
        assert!(twice.contains(&"x*(x*y)".into()), "{twice:?}");
        assert!(twice.contains(&"(x^2)^2".into()), "{twice:?}");
        let cosines = names("fourier(order=1) | polynomial");
        assert!(cosines.contains(&"cos(pi x)*cos(pi(x + y))".into()));
    }

    #[test]
    fn columns_without_names_are_numbered() {
        let map = fit("identity + bias");
        assert_eq!(map.names(&[]), ["obs_0", "obs_1", "bias"]);
        assert_eq!(map.names(&["speed".into()])[..2], ["speed", "obs_1"]);
        assert_eq!(FeatureMap::identity(3).name(2, &[]), "obs_2");
    }

    #[test]
    fn one_of_millions_is_named_alone() {
        let map = fit("tiles(tilings=8,bins=1000) + bias");
        assert_eq!(map.name(3 * 1001 * 1001 + 417, &[]), "tiles(3:417)");
        assert_eq!(map.name(8 * 1001 * 1001, &[]), "bias");
    }

    #[test]
    fn numbers_read_back() {
        for value in [0.1, -7.0, 1.0 / 3.0, 1e-300, -2.5e20, 1e16, 123456789.0] {
            assert_eq!(number(value).parse::<f64>().unwrap(), value);
        }
        let written = [-0.0, 6.0, 0.3, 1e-7, 1e22].map(number);
        assert_eq!(written, ["0", "6", "0.3", "1e-7", "1e22"]);
    }
}
