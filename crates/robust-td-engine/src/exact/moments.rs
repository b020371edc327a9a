//! Moves the exact moments of eight lanes forward by one step.
//!
//! Per state s, with S the weighted sum of the iterates theta_0..theta_{t-1}:
//! ```text
//! p = P(s_t = s)   m = E[theta 1{s}]   M = E[theta theta' 1{s}]   q = E[S 1{s}]   C = E[theta S' 1{s}]
//! ```
//! A step adds w theta to S, then eta (r + psi.theta) phi to theta. With K = C + w M and q+ = q + w m, a
//! transition of probability P sends to the next state
//! ```text
//! v = r m + M psi,  e = r^2 p + r psi.m + psi.v,  u = eta v + (eta^2 / 2) e phi,  z = r q+ + K' psi
//! m += P (m + eta (r p + psi.m) phi)      M += P (M + phi u' + u phi')
//! q += P q+                               C += P (K + eta phi z')
//! ```
//! and E[S S'] grows by w (K + K') - w^2 M, summed over the states. All operations are lane-wise in a
//! fixed order with fused multiply-add: every kernel gives the same bits.

use crate::kernel::Simd;
use crate::tables::Tables;

/// Lanes of one block of moments.
pub const WIDTH: usize = 8;

/// One transition and what it needs.
#[derive(Clone, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub probability: f64,
    pub reward: f64,
    /// Whether it is the first edge into `to`.
    pub fresh: bool,
}

/// The chain and the features of one variant.
#[derive(Clone, Debug)]
pub struct Chain {
    pub dimension: usize,
    /// Sorted by `from`.
    pub edges: Vec<Edge>,
    /// Per edge psi.
    pub psi: Vec<f64>,
    /// Per state phi.
    pub phi: Vec<f64>,
}

/// Where the moments of a state lie in its row, in units of WIDTH.
#[derive(Clone, Copy)]
pub struct Layout {
    d: usize,
}

impl Chain {
    /// The transitions of a problem.
    pub fn new(tables: &Tables) -> Self {
        let d = tables.dimension;
        let mut reached = vec![false; tables.states()];
        let mut chain = Self {
            dimension: d,
            edges: Vec::new(),
            psi: Vec::new(),
            phi: tables.features.clone(),
        };
        for (from, row) in tables.rows.iter().enumerate() {
            for (i, &column) in row.columns.iter().enumerate() {
                let to = column as usize;
                let fresh = !std::mem::replace(&mut reached[to], true);
                let (probability, reward) = (row.probabilities[i], row.rewards[i]);
                chain.edges.push(Edge {
                    from,
                    to,
                    probability,
                    reward,
                    fresh,
                });
                let psi = |j: usize| tables.discount * tables.phi(to)[j] - tables.phi(from)[j];
                chain.psi.extend((0..d).map(psi));
            }
        }
        chain
    }

    /// The distribution of the state after a step from the distribution `p`.
    pub fn move_distribution(&self, p: &[f64]) -> Vec<f64> {
        let mut next = vec![0.0; p.len()];
        for e in &self.edges {
            next[e.to] += e.probability * p[e.from];
        }
        next
    }
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

/// Pointers to the moments of one block.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    pub chain: &'a Chain,
    /// P(s_t = s).
    pub p: &'a [f64],
    /// States x row x WIDTH moments before the step; K and q+ replace C and q.
    pub now: *mut f64,
    /// The same after the step; every state has an edge into it, so every row is written.
    pub next: *mut f64,
    /// Row x WIDTH sums over the states of m, M, q+, K.
    pub totals: *mut f64,
    /// WIDTH stepsizes and weights.
    pub eta: *const f64,
    pub weight: *const f64,
}

/// M_ij of either order.
#[inline(always)]
fn symmetric(layout: Layout, i: usize, j: usize) -> usize {
    if i <= j {
        layout.second(i, j)
    } else {
        layout.second(j, i)
    }
}

/// Moves the lanes `lane..lane + V::LANES` forward. N is the dimension, or an upper bound of it.
///
/// # Safety
/// `raw` must describe live, large enough, disjoint arrays, and the CPU must have V's instructions.
#[inline(always)]
pub unsafe fn step<V: Simd, const N: usize>(raw: &Raw<'_>, d: usize, lane: usize) {
    let layout = Layout::new(d);
    let row = layout.len() * WIDTH;
    // SAFETY: offsets are below states x row x WIDTH; edges name existing states.
    unsafe {
        let eta = V::load(raw.eta.add(lane));
        let w = V::load(raw.weight.add(lane));
        let mut edge = 0;
        for (s, &p) in raw.p.iter().enumerate() {
            let now = raw.now.add(s * row + lane);
            let at = |i: usize| V::load(now.add(i * WIDTH));
            let total = |i: usize, x: V| {
                let sum = raw.totals.add(i * WIDTH + lane);
                V::load(sum).add(x).store(sum);
            };
            for i in 0..d {
                let m = at(layout.first(i));
                let q = w.fma(m, at(layout.sum(i)));
                q.store(now.add(layout.sum(i) * WIDTH));
                total(layout.first(i), m);
                total(layout.sum(i), q);
                for j in 0..d {
                    let second = at(symmetric(layout, i, j));
                    let k = w.fma(second, at(layout.cross(i, j)));
                    k.store(now.add(layout.cross(i, j) * WIDTH));
                    total(layout.cross(i, j), k);
                    if i <= j {
                        total(layout.second(i, j), second);
                    }
                }
            }
            while edge < raw.chain.edges.len() && raw.chain.edges[edge].from == s {
                let source = Source {
                    now,
                    eta,
                    p: V::splat(p),
                    lane,
                };
                match raw.chain.edges[edge].fresh {
                    true => send::<V, N, true>(raw, d, edge, &source),
                    false => send::<V, N, false>(raw, d, edge, &source),
                }
                edge += 1;
            }
        }
    }
}

/// The state that an edge leaves.
struct Source<V> {
    now: *const f64,
    eta: V,
    p: V,
    lane: usize,
}

/// Sends the moments of one state along one edge; a fresh edge overwrites, others add.
#[inline(always)]
unsafe fn send<V: Simd, const N: usize, const FRESH: bool>(
    raw: &Raw<'_>,
    d: usize,
    edge: usize,
    source: &Source<V>,
) {
    let layout = Layout::new(d);
    // SAFETY: passed on from `step`.
    unsafe {
        let e = &raw.chain.edges[edge];
        let psi = raw.chain.psi.as_ptr().add(edge * d);
        let psi = |i: usize| V::splat(*psi.add(i));
        let phi = raw.chain.phi.as_ptr().add(e.from * d);
        let phi = |i: usize| V::splat(*phi.add(i));
        let at = |i: usize| V::load(source.now.add(i * WIDTH));
        let next = raw.next.add(e.to * layout.len() * WIDTH + source.lane);
        let probability = V::splat(e.probability);
        let reward = V::splat(e.reward);
        // probability * x on top of what other edges brought.
        let carried = |i: usize, x: V| {
            if FRESH {
                probability.mul(x)
            } else {
                probability.fma(x, V::load(next.add(i * WIDTH)))
            }
        };

        let mut psi_m = V::splat(0.0);
        let mut v = [V::splat(0.0); N];
        for i in 0..d {
            let m = at(layout.first(i));
            psi_m = psi(i).fma(m, psi_m);
            let mut x = reward.mul(m);
            for j in 0..d {
                x = psi(j).fma(at(symmetric(layout, i, j)), x);
            }
            v[i] = x;
        }
        let mean = reward.fma(source.p, psi_m);
        let mut energy = reward.mul(mean);
        for i in 0..d {
            energy = psi(i).fma(v[i], energy);
        }
        let rate = probability.mul(source.eta);
        let push = rate.mul(mean);
        let bend = V::splat(0.5).mul(rate).mul(source.eta).mul(energy);
        for (i, x) in v.iter_mut().enumerate().take(d) {
            *x = rate.fma(*x, bend.mul(phi(i)));
        }
        for i in 0..d {
            let at_m = layout.first(i);
            push.fma(phi(i), carried(at_m, at(at_m)))
                .store(next.add(at_m * WIDTH));
            for j in i..d {
                let here = layout.second(i, j);
                let turned = v[i].fma(phi(j), carried(here, at(here)));
                phi(i).fma(v[j], turned).store(next.add(here * WIDTH));
            }
        }
        let mut z = [V::splat(0.0); N];
        for j in 0..d {
            let here = layout.sum(j);
            let q = at(here);
            carried(here, q).store(next.add(here * WIDTH));
            let mut x = reward.mul(q);
            for i in 0..d {
                x = psi(i).fma(at(layout.cross(i, j)), x);
            }
            z[j] = rate.mul(x);
        }
        for i in 0..d {
            for j in 0..d {
                let here = layout.cross(i, j);
                phi(i)
                    .fma(z[j], carried(here, at(here)))
                    .store(next.add(here * WIDTH));
            }
        }
    }
}
