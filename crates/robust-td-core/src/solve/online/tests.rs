use super::*;
use crate::random::Stream;
use crate::solve::influence::GroupSums;

const DISCOUNT: f64 = 0.9;

struct Row {
    phi: Vec<f64>,
    next: Option<Vec<f64>>,
    reward: f64,
    unit: u64,
    starts: bool,
}

impl Row {
    fn transition(&self) -> Transition<'_> {
        match &self.next {
            Some(next) => Transition::new(&self.phi, self.reward, next),
            None => Transition::terminated(&self.phi, self.reward),
        }
    }
}

fn normal(stream: &mut Stream) -> f64 {
    (0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0
}

/// d features: a constant and autoregressions; the reward is their sum and noise; episodes end with probability `ends`.
fn rows(n: usize, d: usize, rho: f64, ends: f64, seed: u64) -> Vec<Row> {
    let mut stream = Stream::new(seed, 0);
    let mut x = vec![0.0; d - 1];
    let mut list: Vec<Row> = Vec::new();
    let (mut unit, mut starts) = (0, true);
    let scale = (1.0 - rho * rho).sqrt();
    x.iter_mut().for_each(|x| *x = normal(&mut stream));
    for _ in 0..n {
        let phi: Vec<f64> = [1.0].into_iter().chain(x.iter().copied()).collect();
        x.iter_mut()
            .for_each(|x| *x = rho * *x + scale * normal(&mut stream));
        let next = [1.0].into_iter().chain(x.iter().copied()).collect();
        let reward = phi.iter().sum::<f64>() + normal(&mut stream);
        let over = stream.uniform() < ends;
        list.push(Row {
            phi,
            next: (!over).then_some(next),
            reward,
            unit,
            starts,
        });
        starts = over;
        unit += u64::from(over);
    }
    list
}

fn fed(rows: &[Row], d: usize) -> Online {
    let mut online = Online::new(d, DISCOUNT).unwrap();
    rows.iter()
        .for_each(|row| online.add(&row.transition(), row.unit, row.starts));
    online
}

/// The influence of the same groups by a second pass.
fn exact(rows: &[Row], online: &Online, found: &FixedPoint) -> Influence {
    let groups = online.groups.list().len();
    let mut sums = GroupSums::new(groups, found.theta.len());
    let mut units = units::Units::default();
    let mut length = 1;
    while length * 128 < rows.len() {
        length *= 2;
    }
    for (t, row) in rows.iter().enumerate() {
        let group = match online.grouping() {
            Grouping::Ordered => t / length,
            Grouping::Independent => units.group(row.unit),
        };
        let transition = row.transition();
        sums.add(
            group,
            &transition,
            transition.td_error(&found.theta, DISCOUNT),
        );
    }
    Influence::new(found, online.grouping(), &sums, online.groups.clusters()).unwrap()
}

#[test]
fn experiment() {
    for (n, d, rho, ends) in [
        (60, 3, 0.5, 0.0),
        (500, 3, 0.5, 0.0),
        (2000, 3, 0.5, 0.0),
        (20_000, 3, 0.5, 0.0),
        (2000, 3, 0.99, 0.0),
        (20_000, 3, 0.99, 0.0),
        (2000, 30, 0.5, 0.0),
        (20_000, 30, 0.5, 0.0),
        (2000, 3, 0.5, 0.1),
        (20_000, 3, 0.5, 0.01),
        (20_000, 30, 0.5, 0.01),
    ] {
        let mut ratios = Vec::new();
        for seed in 0..20 {
            let rows = rows(n, d, rho, ends, seed);
            let online = fed(&rows, d);
            let found = online.fixed_point().unwrap();
            let Some(own) = online.influence(&found) else {
                continue;
            };
            let exact = exact(&rows, &online, &found);
            for phi in [&rows[3].phi, &rows[n / 2].phi] {
                let [x, y] =
                    [&own, &exact].map(|i| i.spread(Features::Dense(phi)).half_width(0.95));
                ratios.push(x / y);
            }
        }
        ratios.sort_by(f64::total_cmp);
        let m = ratios.len();
        println!(
            "{n} {d} {rho} {ends}: {:?} {:?}",
            &ratios[..3.min(m)],
            &ratios[m - 3.min(m)..]
        );
    }
}
