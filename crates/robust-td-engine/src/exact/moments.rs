//! Advances the exact moments of eight lanes by one step.
//!
//! For each state s, with S the weighted sum of the iterates theta_0..theta_{t-1}:
//! ```text
//! p = P(s_t = s)   m = E[theta 1{s}]   M = E[theta theta' 1{s}]   q = E[S 1{s}]   C = E[theta S' 1{s}]
//! ```
//! A step adds w theta to S, then eta (r + psi.theta) phi to theta. With K = C + w M and q+ = q + w m, a
//! transition of probability P contributes to the next state
//! ```text
//! g = eta phi,  v = r m + M psi,  e = r^2 p + r psi.m + psi.v,  u = v + (e / 2) g,  z = r q+ + K' psi
//! m += P (m + (r p + psi.m) g)      M += P (M + g u' + u g')
//! q += P q+                         C += P (K + g z')
//! ```
//! and E[S' A S] grows by w tr(A (K + K')) - w^2 tr(A M), summed over the states. All operations are
//! lane-wise in a fixed order with fused multiply-add, so every kernel gives the same bits.
//!
//! The source states are processed in turn. After its last contribution, the memory of a source is still in the
//! L1 cache, so it is reused for the next new row: a step reads and writes every row once.

use robust_td_simd::{Register, Simd, Vector};

use super::pack::Drive;
use crate::kernel::Line;
use crate::tables::Tables;

/// The number of lanes in a block of moments.
pub const WIDTH: usize = 8;

/// One transition with its data.
#[derive(Clone, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub probability: f64,
    pub reward: f64,
    /// Whether it is the first edge into `to`.
    pub fresh: bool,
    /// Whether it is the last edge into `to`.
    pub last: bool,
}

/// The chain and the features of one variant.
#[derive(Clone, Debug)]
pub struct Chain {
    pub dimension: usize,
    /// Sorted by `from`.
    pub edges: Vec<Edge>,
    /// For each edge psi.
    pub psi: Vec<f64>,
    /// For each state phi.
    pub phi: Vec<f64>,
    /// The symmetric part of A.
    pub form: Vec<f64>,
    /// The memory row that holds state s after a step held state `turn[s]` before it. Entries
    /// beyond the states are spare rows.
    pub turn: Vec<u32>,
}

/// The positions of the moments in a state's row, in units of WIDTH.
#[derive(Clone, Copy)]
pub struct Layout {
    d: usize,
}

impl Chain {
    /// The transitions of a problem.
    pub fn new(tables: &Tables) -> Self {
        let d = tables.dimension;
        let mut chain = Self {
            dimension: d,
            edges: Vec::new(),
            psi: Vec::new(),
            phi: tables.features.clone(),
            form: vec![0.0; d * d],
            turn: Vec::new(),
        };
        for i in 0..d {
            for j in 0..d {
                chain.form[i * d + j] = 0.5 * (tables.a[i * d + j] + tables.a[j * d + i]);
            }
        }
        for (from, row) in tables.rows.iter().enumerate() {
            let probabilities = balanced(&row.probabilities);
            for (i, &column) in row.columns.iter().enumerate() {
                let to = column as usize;
                chain.edges.push(Edge {
                    from,
                    to,
                    probability: probabilities[i],
                    reward: row.rewards[i],
                    fresh: false,
                    last: false,
                });
                let psi = |j: usize| tables.discount * tables.phi(to)[j] - tables.phi(from)[j];
                chain.psi.extend((0..d).map(psi));
            }
        }
        let mut reached = vec![false; tables.states()];
        for e in &mut chain.edges {
            e.fresh = !std::mem::replace(&mut reached[e.to], true);
        }
        for e in chain.edges.iter_mut().rev() {
            e.last = std::mem::replace(&mut reached[e.to], false);
        }
        chain.turn = turn(&chain.edges, tables.states());
        chain
    }

    /// The number of memory rows: one per state plus the spare ones.
    pub fn rows(&self) -> usize {
        self.turn.len()
    }

    /// The distribution of the state after a step from the distribution `p`.
    pub fn move_distribution(&self, p: &[f64], next: &mut Vec<f64>) {
        next.clear();
        next.resize(p.len(), 0.0);
        for e in &self.edges {
            next[e.to] += e.probability * p[e.from];
        }
    }
}

/// The probabilities of a row, with the smallest adjusted for rounding so that the sum is 1.
///
/// A sum that differs from 1 by 3e-17 loses 3e-10 of all moments in 10^7 steps. The gap, a small difference
/// of large expectations, would change in the sixth digit.
fn balanced(probabilities: &[f64]) -> Vec<f64> {
    let mut balanced = probabilities.to_vec();
    let mut order: Vec<usize> = (0..balanced.len()).collect();
    order.sort_by(|&a, &b| balanced[b].total_cmp(&balanced[a]));
    if let Some((&smallest, others)) = order.split_last() {
        let rest = others.iter().fold(1.0, |rest, &i| rest - balanced[i]);
        if (rest - balanced[smallest]).abs() <= 4.0 * f64::EPSILON {
            balanced[smallest] = rest;
        }
    }
    balanced
}

/// The memory row that each state reuses: the one freed last, or else a spare one.
fn turn(edges: &[Edge], states: usize) -> Vec<u32> {
    let mut turn = vec![0; states];
    let mut free = Vec::new();
    let mut rows = states as u32;
    let mut edges = edges.iter().peekable();
    for s in 0..states {
        while let Some(e) = edges.next_if(|e| e.from == s) {
            if e.fresh {
                turn[e.to] = free.pop().unwrap_or_else(|| {
                    rows += 1;
                    rows - 1
                });
            }
        }
        free.push(s as u32);
    }
    // As many rows remain as were spare before.
    turn.extend(free);
    turn
}

impl Layout {
    pub const fn new(d: usize) -> Self {
        Self { d }
    }
    /// Length of a row.
    pub const fn len(self) -> usize {
        self.cross(self.d, 0)
    }
    /// m_i.
    pub const fn first(self, i: usize) -> usize {
        i
    }
    /// M_ij, i <= j.
    pub const fn second(self, i: usize, j: usize) -> usize {
        self.d + i * self.d - i * (i + 1) / 2 + j
    }
    /// q_i.
    pub const fn sum(self, i: usize) -> usize {
        self.d + self.d * (self.d + 1) / 2 + i
    }
    /// C_ij.
    pub const fn cross(self, i: usize, j: usize) -> usize {
        self.sum(self.d) + i * self.d + j
    }
}

/// The moments of one block and the inputs of a step.
pub struct Job<'a> {
    pub chain: &'a Chain,
    /// P(s_t = s).
    pub p: &'a [f64],
    /// Rows of moments.
    pub rows: &'a mut [Line],
    /// For each state, its row before the step. K and q+ replace C and q before the row is freed.
    pub now: &'a [u32],
    /// For each state, its row after the step; every state has an incoming edge, so every row is written.
    pub next: &'a [u32],
    /// Total probabilities (which multiply `p`), step sizes and weights.
    pub drive: &'a Drive,
    /// Sums over the states: tr(A K) and tr(A M) before the step, tr M after it.
    pub sums: [Line; 3],
}

/// M_ij, with the indices in either order.
#[inline(always)]
fn symmetric(layout: Layout, i: usize, j: usize) -> usize {
    if i <= j {
        layout.second(i, j)
    } else {
        layout.second(j, i)
    }
}

/// Advances the lanes `lane..lane + LANES`. N is the dimension, or an upper bound on it.
#[inline(always)]
pub fn step<S: Simd, const N: usize>(s: S, job: &mut Job<'_>, d: usize, lane: usize) {
    let layout = Layout::new(d);
    let length = layout.len();
    let chain = job.chain;
    let eta = s.load(&job.drive.eta[lane..]);
    let w = s.load(&job.drive.weight[lane..]);
    let mass = s.load(&job.drive.mass[lane..]);
    let zero = s.splat(0.0);
    // One sum per column shortens the chains of dependent additions.
    let mut cross = [zero; N];
    let (mut square, mut mixed, mut norm) = (zero, zero, zero);
    let form = &chain.form[..d * d];
    let mut edges = chain.edges.iter().zip(chain.psi.chunks_exact(d));
    let mut edge = edges.next();
    for (state, &p) in job.p.iter().enumerate() {
        let here = job.now[state] as usize * length;
        let now = &mut job.rows[here..here + length];
        let mut gain = [zero; N];
        let phi = &chain.phi[state * d..][..d];
        for i in 0..d {
            gain[i] = eta.mul(s.splat(phi[i]));
            let m = s.load(&now[layout.first(i)].0[lane..]);
            let sum = &mut now[layout.sum(i)].0[lane..];
            w.fma(m, s.load(sum)).store(sum);
            for j in i..d {
                let a = s.splat(form[i * d + j]);
                let m = s.load(&now[layout.second(i, j)].0[lane..]);
                let mut count = |k: usize, sum: S::Register| {
                    let moment = &mut now[k].0[lane..];
                    let new = w.fma(m, s.load(moment));
                    new.store(moment);
                    a.fma(new, sum)
                };
                cross[j] = count(layout.cross(i, j), cross[j]);
                if i == j {
                    square = a.fma(m, square);
                } else {
                    cross[i] = count(layout.cross(j, i), cross[i]);
                    mixed = a.fma(m, mixed);
                }
            }
        }
        let source = Source {
            gain,
            p: mass.mul(s.splat(p)),
            lane,
        };
        while let Some((e, psi)) = edge.filter(|(e, _)| e.from == state) {
            let there = job.next[e.to] as usize * length;
            let places = [here..here + length, there..there + length];
            let Ok([now, next]) = job.rows.get_disjoint_mut(places) else {
                unreachable!("the source and target rows overlap");
            };
            let trace = match e.fresh {
                true => send::<S, N, true>(s, d, e, psi, &source, now, next),
                false => send::<S, N, false>(s, d, e, psi, &source, now, next),
            };
            if e.last {
                norm = norm.add(trace);
            }
            edge = edges.next();
        }
    }
    let cross = cross.iter().take(d).fold(zero, |sum, &x| sum.add(x));
    let second = s.splat(2.0).fma(mixed, square);
    for (line, sum) in job.sums.iter_mut().zip([cross, second, norm]) {
        sum.store(&mut line.0[lane..]);
    }
}

/// The source state of an edge.
struct Source<S: Simd, const N: usize> {
    /// eta phi.
    gain: [S::Register; N],
    p: S::Register,
    lane: usize,
}

/// Propagates the moments of one state along one edge; a fresh edge overwrites, others add. Returns the new tr M.
#[inline(always)]
fn send<S: Simd, const N: usize, const FRESH: bool>(
    s: S,
    d: usize,
    edge: &Edge,
    psi_of_edge: &[f64],
    source: &Source<S, N>,
    now: &[Line],
    next: &mut [Line],
) -> S::Register {
    let layout = Layout::new(d);
    let (now, next) = (&now[..layout.len()], &mut next[..layout.len()]);
    let zero = s.splat(0.0);
    let mut psi = [zero; N];
    for i in 0..d {
        psi[i] = s.splat(psi_of_edge[i]);
    }
    let (gain, lane) = (&source.gain, source.lane);
    let at = |i: usize| s.load(&now[i].0[lane..]);
    let probability = s.splat(edge.probability);
    let reward = s.splat(edge.reward);
    // Adds probability * x to the contributions of other edges.
    let mut bring = |i: usize, x: S::Register| {
        let here = &mut next[i].0[lane..];
        let sum = if FRESH {
            probability.mul(x)
        } else {
            probability.fma(x, s.load(here))
        };
        sum.store(here);
        sum
    };

    let mut psi_m = zero;
    let mut v = [zero; N];
    for i in 0..d {
        let m = at(layout.first(i));
        psi_m = psi[i].fma(m, psi_m);
        let mut x = reward.mul(m);
        for j in 0..d {
            x = psi[j].fma(at(symmetric(layout, i, j)), x);
        }
        v[i] = x;
    }
    let mean = reward.fma(source.p, psi_m);
    let mut energy = reward.mul(mean);
    for i in 0..d {
        energy = psi[i].fma(v[i], energy);
    }
    let half = s.splat(0.5).mul(energy);
    // Placed here so that the cross moments keep the CPU busy while the chain above completes.
    for j in 0..d {
        let q = at(layout.sum(j));
        bring(layout.sum(j), q);
        let mut column = [zero; N];
        let mut z = reward.mul(q);
        for i in 0..d {
            column[i] = at(layout.cross(i, j));
            z = psi[i].fma(column[i], z);
        }
        for i in 0..d {
            bring(layout.cross(i, j), gain[i].fma(z, column[i]));
        }
    }
    for i in 0..d {
        v[i] = half.fma(gain[i], v[i]);
    }
    let mut trace = zero;
    for i in 0..d {
        let here = layout.first(i);
        bring(here, mean.fma(gain[i], at(here)));
        for j in i..d {
            let here = layout.second(i, j);
            let turned = gain[i].fma(v[j], v[i].fma(gain[j], at(here)));
            let second = bring(here, turned);
            if i == j {
                trace = trace.add(second);
            }
        }
    }
    trace
}
