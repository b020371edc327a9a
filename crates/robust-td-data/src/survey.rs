//! Reads a log before learning: fits the feature map, measures the features, counts the transitions.

use robust_td_core::features::{FeatureMap, Fitting, Row};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::inspect::{DataReport, Inspector};
use crate::reader::Reader;

/// The properties of a log after the first passes over it.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// The fitted feature map.
    pub features: FeatureMap,
    /// The largest norm of the features, over observations and next observations.
    pub phi_inf: f64,
    /// The number of transitions in the log.
    pub transitions: u64,
    /// The report on the log.
    pub report: DataReport,
}

impl Survey {
    /// Makes as many passes over the log as the feature map needs, and one more to measure and count.
    ///
    /// # Errors
    /// Those of reading, and those of the feature map.
    pub fn take(open: &mut dyn FnMut() -> Result<Reader>, spec: &str) -> Result<Self> {
        let mut batch = Batch::default();
        let mut reader = open()?;
        let some = reader.read(&mut batch)? && !batch.is_empty();
        if !some {
            return Err(Error::NoInput {
                what: "the files contain no usable rows",
            });
        }
        let mut fitting = Fitting::new(spec, batch.dimension())?;
        while fitting.needs_pass() {
            loop {
                for row in rows(&batch) {
                    fitting.observe(row)?;
                }
                if !reader.read(&mut batch)? {
                    break;
                }
            }
            fitting.end_pass()?;
            reader = open()?;
            reader.read(&mut batch)?;
        }
        let features = fitting.finish()?;
        let mut row = Row::for_map(&features);
        let (mut largest, mut inspector) = (0.0_f64, Inspector::default());
        loop {
            for observation in rows(&batch) {
                features.write(observation, &mut row);
                largest = largest.max(row.features().norm_sq());
            }
            inspector.push(reader.schema(), &batch);
            if !reader.read(&mut batch)? {
                break;
            }
        }
        let report = inspector.finish(&reader);
        Ok(Self {
            features,
            phi_inf: largest.sqrt(),
            transitions: report.transitions,
            report,
        })
    }
}

/// The observations and next observations of a batch.
fn rows(batch: &Batch) -> impl Iterator<Item = &[f64]> {
    let width = batch.dimension().max(1);
    let here = batch.observations().chunks_exact(width);
    here.chain(batch.next_observations().chunks_exact(width))
}
