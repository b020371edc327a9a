//! Defines the fitted maps of one kind, of which stages are made.

use serde::{Deserialize, Serialize};

use super::category::Category;
use super::fourier::Fourier;
use super::one_hot::OneHot;
use super::part::Part;
use super::per_action::PerAction;
use super::polynomial::Polynomial;
use super::rbf::Rbf;
use super::running::Running;
use super::sink::{Shifted, Sink};
use super::standardise::Standardise;
use super::tiles::Tiles;
use crate::error::{Error, Result};

/// A fitted map of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Map {
    /// The input itself.
    Identity {
        /// Its length.
        inputs: usize,
    },
    /// A constant 1.
    Bias,
    Standardise(Standardise),
    Running(Running),
    Polynomial(Polynomial),
    Fourier(Fourier),
    Tiles(Tiles),
    Rbf(Rbf),
    OneHot(OneHot),
    Category(Category),
    Part(Part),
    PerAction(PerAction),
}

impl Map {
    /// The number of features.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Identity { inputs } => *inputs,
            Self::Bias => 1,
            Self::Standardise(map) => map.outputs(),
            Self::Running(map) => map.outputs(),
            Self::Polynomial(map) => map.outputs(),
            Self::Fourier(map) => map.outputs(),
            Self::Tiles(map) => map.outputs(),
            Self::Rbf(map) => map.outputs(),
            Self::OneHot(map) => map.outputs(),
            Self::Category(map) => map.outputs(),
            Self::Part(part) => part.map().outputs(),
            Self::PerAction(map) => map.outputs(),
        }
    }

    /// The largest number of features that are not 0 at the same time.
    pub fn active(&self) -> usize {
        match self {
            Self::Tiles(map) => map.tilings(),
            Self::OneHot(_) | Self::Category(_) => 1,
            Self::PerAction(map) => map.active(),
            Self::Part(part) => part.map().active(),
            map => map.outputs(),
        }
    }

    /// Whether most of its features are zero.
    pub fn is_sparse(&self) -> bool {
        match self {
            Self::Part(part) => part.map().is_sparse(),
            map => matches!(
                map,
                Self::Tiles(_) | Self::OneHot(_) | Self::Category(_) | Self::PerAction(_)
            ),
        }
    }

    /// Writes each feature that may be nonzero, in increasing order of index.
    #[inline]
    pub fn write(&self, x: &[f64], sink: &mut (impl Sink + ?Sized)) {
        match self {
            Self::Part(part) => part.of(x, |x| part.map().write_all(x, sink)),
            map => map.write_all(x, sink),
        }
    }

    /// As [`Map::write`], for a map of all columns.
    #[inline]
    fn write_all(&self, x: &[f64], sink: &mut (impl Sink + ?Sized)) {
        let put = &mut |index, value| sink.put(index, value);
        match self {
            Self::Identity { .. } => x.iter().enumerate().for_each(|(i, &v)| put(i, v)),
            Self::Bias => put(0, 1.0),
            Self::Standardise(map) => map.write(x, put),
            Self::Running(map) => map.write(x, put),
            Self::Polynomial(map) => map.write(x, put),
            Self::Fourier(map) => map.write(x, put),
            Self::Tiles(map) => map.write(x, sink),
            Self::Rbf(map) => map.write(x, put),
            Self::OneHot(map) => map.write(x, put),
            Self::Category(map) => map.write(x, put),
            Self::Part(_) => unreachable!("a part of a part"),
            Self::PerAction(map) => map.write(x, sink),
        }
    }

    /// Writes all features of a map that is not sparse; those of the most common maps many at a time.
    #[inline]
    pub fn write_dense(&self, x: &[f64], out: &mut [f64]) {
        match self {
            Self::Identity { .. } => out.copy_from_slice(x),
            Self::Bias => out.fill(1.0),
            Self::Standardise(map) => map.write_dense(x, out),
            _ => self.write(x, out),
        }
    }

    /// As [`write_dense`](Self::write_dense), for several observations.
    pub fn write_dense_rows<'a>(&self, rows: impl Iterator<Item = (&'a [f64], &'a mut [f64])>) {
        match self {
            Self::Bias => rows.for_each(|(_, out)| out[0] = 1.0),
            Self::Standardise(map) => rows.for_each(|(x, out)| map.write_dense(x, out)),
            _ => rows.for_each(|(x, out)| self.write_dense(x, out)),
        }
    }

    /// A bound on the squared norm of the features that holds for every observation, if there is one.
    pub fn norm_sq_bound(&self) -> Option<f64> {
        match self {
            Self::Identity { .. } | Self::Standardise(_) | Self::Polynomial(_) => None,
            Self::Bias | Self::OneHot(_) | Self::Category(_) => Some(1.0),
            Self::Part(part) => part.map().norm_sq_bound(),
            Self::Running(map) => Some(map.norm_sq_bound()),
            Self::Tiles(map) => Some(map.tilings() as f64),
            Self::PerAction(map) => map.norm_sq_bound(),
            // Every feature lies within [-1, 1].
            Self::Fourier(_) | Self::Rbf(_) => Some(self.outputs() as f64),
        }
    }

    /// Checks a restored map against the input length.
    pub fn check(&self, inputs: usize) -> Result<()> {
        let fits = match self {
            Self::Identity { inputs: own } => *own == inputs,
            Self::Bias => true,
            Self::Standardise(map) => map.fits(inputs),
            Self::Running(map) => map.fits(inputs),
            Self::Polynomial(map) => map.fits(inputs),
            Self::Fourier(map) => map.fits(inputs),
            Self::Tiles(map) => map.fits(inputs),
            Self::Rbf(map) => map.fits(inputs),
            Self::OneHot(map) => map.fits(inputs),
            Self::Category(map) => map.fits(inputs),
            Self::Part(part) => part.fits(inputs),
            Self::PerAction(map) => map.fits(inputs),
        };
        if fits {
            return Ok(());
        }
        Err(Error::Saved {
            contradiction: format!("its feature map does not fit an input of length {inputs}"),
        })
    }
}

/// The number of features of a stage, which may be one that was read and not checked yet.
pub(super) fn stage_outputs(stage: &[Map]) -> usize {
    let outputs = stage.iter().map(Map::outputs);
    outputs.fold(0, usize::saturating_add)
}

/// Concatenates the outputs of the maps of a stage without sparse maps.
#[inline]
pub(super) fn write_dense_stage(stage: &[Map], x: &[f64], mut out: &mut [f64]) {
    for map in stage {
        let (own, rest) = out.split_at_mut(map.outputs());
        map.write_dense(x, own);
        out = rest;
    }
}

/// Concatenates the outputs of the maps of a stage.
#[inline]
pub(super) fn write_stage(stage: &[Map], x: &[f64], sink: &mut (impl Sink + ?Sized)) {
    let mut first = 0;
    for map in stage {
        map.write(x, &mut Shifted { first, sink });
        first += map.outputs();
    }
}
