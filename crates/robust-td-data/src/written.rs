//! Holds the precomputed features of all rows of a batch, if there are any.

use std::sync::Arc;

use robust_td_core::features::{FeatureMap, Rows};

/// The maximum number of dense features kept for a whole batch; more would need too much memory.
const LARGEST: usize = 64;

/// Features of rows, or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Written {
    /// The map that computed them.
    map: Option<Arc<FeatureMap>>,
    rows: Rows,
}

impl Written {
    /// Whether computing the features of many rows in advance is possible for a map, and worthwhile.
    pub fn suits(map: &FeatureMap) -> bool {
        let small = map.is_sparse() || map.outputs() <= LARGEST;
        small && !map.is_identity() && !map.adapts()
    }

    /// Removes all features.
    pub fn clear(&mut self) {
        self.map = None;
        self.rows.clear();
    }

    /// Whether these are the features of the given map.
    pub fn are_of(&self, map: &FeatureMap) -> bool {
        self.map.as_deref() == Some(map)
    }

    /// Writes the features of consecutive observations.
    pub fn write(&mut self, map: &Arc<FeatureMap>, observations: &[f64]) {
        self.map = Some(map.clone());
        map.write_rows(observations, &mut self.rows);
    }

    /// The features.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use robust_td_core::features::Fitting;
    use robust_td_core::learner::{Alg1, alg1};

    use super::*;
    use crate::{Batch, Compression, Format, Learned, Model, ReadOptions, Reader, Source};

    /// The model after a log with episodes, gaps and next rows in other batches, with the features of some
    /// batches precomputed.
    fn learned(spec: &str, written: impl Fn(usize) -> bool) -> String {
        let mut text = String::from("obs_0,obs_1,reward,episode,terminated,truncated\n");
        for i in 0..300 {
            let (x, y) = ((i as f64 * 0.7).cos(), (i as f64 * 1.3).sin());
            let reward = if i % 31 == 30 { "bad" } else { "0.5" };
            let flags = [i % 37 == 36, i % 11 == 10].map(u8::from);
            text += &format!("{x},{y},{reward},{},{},{}\n", i / 37, flags[0], flags[1]);
        }
        let bytes = std::io::Cursor::new(text.into_bytes());
        let source = Source::stream("log", Format::Csv, Compression::None, bytes).unwrap();
        let options = ReadOptions {
            batch_rows: 13,
            skip_bad_rows: 1000,
            ..ReadOptions::default()
        };
        let mut reader = Reader::open(vec![source], options).unwrap();
        let map = Fitting::new(spec, 2).unwrap().finish().unwrap();
        assert!(Written::suits(&map));
        let params = alg1::Alg1Params::decaying(0.8, 300, 0.05, 1.0);
        let learner = Alg1::new(params, map.outputs()).unwrap().into();
        let mut model = Learned::new(map.clone(), learner, Some(3.0), None).unwrap();
        let mut batch = Batch::default();
        let other = Fitting::new("bias + identity", 2).unwrap().finish();
        let [map, other] = [map, other.unwrap()].map(Arc::new);
        let mut batches = 0;
        while reader.read(&mut batch).unwrap() {
            if written(batches) {
                batch.write_features(&map);
                assert!(batch.features.are_of(&map) && !batch.features.are_of(&other));
            } else {
                // Features of another map must be ignored.
                batch.write_features(&other);
            }
            let schema = reader.schema().clone();
            model.learn(&schema, &batch, 0, u64::MAX).unwrap();
            batches += 1;
        }
        assert!(batches > 20);
        Model::Learned(Box::new(model)).to_json().unwrap()
    }

    #[test]
    fn features_written_before_give_the_same_model() {
        for spec in [
            "tiles(tilings=9, bins=3, low=-1, high=1)",
            "polynomial(degree=2)",
        ] {
            let expected = learned(spec, |_| false);
            assert!(learned(spec, |_| true) == expected, "{spec}");
            assert!(learned(spec, |batch| batch % 3 == 1) == expected, "{spec}");
        }
    }

    #[test]
    fn a_batch_read_anew_remembers_no_features() {
        let batch = || {
            let text = "obs_0,reward\n1,2\n3,4\n";
            let source = Source::stream("log", Format::Csv, Compression::None, text.as_bytes());
            let options = ReadOptions::default();
            let mut reader = Reader::open(vec![source.unwrap()], options).unwrap();
            move |batch: &mut Batch| reader.read(batch).unwrap()
        };
        let (mut used, mut fresh) = (Batch::default(), Batch::default());
        batch()(&mut used);
        let map = Fitting::new("bias + identity", 1).unwrap().finish();
        used.write_features(&Arc::new(map.unwrap()));
        batch()(&mut used);
        batch()(&mut fresh);
        assert_eq!(used, fresh);
    }

    #[test]
    fn what_adapts_or_is_large_is_not_written_before() {
        let suits = |spec: &str, inputs| {
            Written::suits(&Fitting::new(spec, inputs).unwrap().finish().unwrap())
        };
        assert!(suits("tiles(tilings=8, bins=8, low=0, high=1)", 3));
        assert!(suits("polynomial(degree=2)", 3));
        assert!(!suits("identity", 3) && !suits("running", 3));
        assert!(!suits("polynomial(degree=4)", 8));
    }
}
