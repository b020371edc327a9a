//! Tests that one pass over a stream gives the answer and the errors of two passes over a file.

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

/// A constant and d - 1 autoregressions; the reward is their sum and noise; episodes end with probability `ends`.
fn rows(n: usize, d: usize, rho: f64, ends: f64) -> Vec<Row> {
    let mut stream = Stream::new(5, 0);
    let mut x: Vec<f64> = (1..d).map(|_| normal(&mut stream)).collect();
    let (mut unit, mut starts) = (0, true);
    let row = |_| {
        let phi = |x: &[f64]| -> Vec<f64> { [&[1.0], x].concat() };
        let here = phi(&x);
        x.iter_mut()
            .for_each(|x| *x = rho * *x + (1.0 - rho * rho).sqrt() * normal(&mut stream));
        let reward = here.iter().sum::<f64>() + normal(&mut stream);
        let over = stream.uniform() < ends;
        let row = Row {
            phi: here,
            next: (!over).then(|| phi(&x)),
            reward,
            unit,
            starts,
        };
        starts = over;
        unit += u64::from(over);
        row
    };
    (0..n).map(row).collect()
}

fn fed(rows: &[Row]) -> Online {
    let mut online = Online::new(rows[0].phi.len(), DISCOUNT).unwrap();
    rows.iter()
        .for_each(|row| online.add(&row.transition(), row.unit, row.starts));
    online
}

/// The influence of the same groups by a second pass.
fn by_a_second_pass(rows: &[Row], online: &Online, found: &FixedPoint) -> Influence {
    let mut closed = online.groups.clone();
    closed.close();
    let groups = closed.list().len();
    let mut sums = GroupSums::new(groups, found.theta.len());
    let (mut units, mut length) = (units::Units::default(), 1);
    while length * 192 < rows.len() {
        length *= 2;
    }
    for (t, row) in rows.iter().enumerate() {
        let group = match online.grouping() {
            Grouping::Ordered => (t / length).min(groups - 1),
            Grouping::Independent => units.group(row.unit),
        };
        let transition = row.transition();
        let delta = transition.td_error(&found.theta, DISCOUNT);
        sums.add(group, &transition, delta);
    }
    Influence::new(found, online.grouping(), &sums, closed.clusters()).unwrap()
}

#[test]
fn errors_are_those_of_a_second_pass() {
    for (n, d, rho, ends, tolerance) in [
        // The first transitions are kept, or every group keeps its matrix.
        (80, 3, 0.5, 0.0, 1e-9),
        (300, 40, 0.5, 0.0, 1e-9),
        (3000, 3, 0.99, 0.0, 1e-9),
        (10_000, 10, 0.5, 0.0, 1e-9),
        (3000, 3, 0.5, 0.1, 1e-9),
        (3000, 3, 0.5, 0.01, 1e-9),
        // Scores follow the reference by shares.
        (5000, 40, 0.5, 0.0, 0.15),
        (20_000, 40, 0.5, 0.01, 0.05),
        (20_000, 40, 0.5, 0.1, 0.05),
    ] {
        let rows = rows(n, d, rho, ends);
        let online = fed(&rows);
        let found = online.fixed_point().unwrap();
        let own = online.influence(&found).unwrap();
        let other = by_a_second_pass(&rows, &online, &found);
        for row in [3, n / 2] {
            let phi = Features::Dense(&rows[row].phi);
            let [x, y] = [&own, &other].map(|influence| influence.spread(phi).half_width(0.95));
            assert!((x / y - 1.0).abs() < tolerance, "{n} {d} {ends}: {x} {y}");
        }
    }
}

#[test]
fn averages_and_errors_are_those_of_the_rows() {
    for ends in [0.0, 0.05] {
        let rows = rows(5000, 3, 0.5, ends);
        let online = fed(&rows);
        let theta = online.fixed_point().unwrap().theta;
        let delta = |row: &Row| row.transition().td_error(&theta, DISCOUNT);
        let sum: f64 = rows.iter().map(delta).sum();
        let squares: f64 = rows.iter().map(|row| delta(row).powi(2)).sum();
        let errors = online.td_errors(&theta);
        assert!((errors.sum - sum).abs() < 1e-7);
        assert!((errors.squares / squares - 1.0).abs() < 0.25);
        for (which, used) in [
            (Rows::All, rows.iter().collect::<Vec<_>>()),
            (Rows::Starts, rows.iter().filter(|row| row.starts).collect()),
        ] {
            let average = online.average(which, &theta);
            assert_eq!(average.count, used.len() as u64);
            for (j, mean) in average.features.iter().enumerate() {
                let sum: f64 = used.iter().map(|row| row.phi[j]).sum();
                assert!((mean - sum / used.len() as f64).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn one_unit_is_a_trajectory_and_more_are_groups() {
    let all = rows(5000, 2, 0.5, 0.0);
    let online = fed(&all);
    assert_eq!((online.grouping(), online.units()), (Grouping::Ordered, 1));
    // Parts of 32 rows.
    assert_eq!(online.groups.list().len(), 157);
    let online = fed(&rows(5000, 2, 0.5, 0.1));
    assert_eq!(online.grouping(), Grouping::Independent);
    assert_eq!(online.groups.list().len(), 256);
    assert!((400..600).contains(&online.units()));
}

#[test]
fn a_saved_stream_resumes_with_the_same_bits() {
    for (d, ends) in [(3, 0.0), (3, 0.02), (40, 0.02)] {
        let rows = rows(1500, d, 0.5, ends);
        let whole = fed(&rows);
        for cut in [1, 70, 385, 1200] {
            let text = serde_json::to_string(&fed(&rows[..cut])).unwrap();
            let mut resumed: Online = serde_json::from_str(&text).unwrap();
            for row in &rows[cut..] {
                resumed.add(&row.transition(), row.unit, row.starts);
            }
            assert_eq!(resumed, whole, "{d} {cut}");
        }
        let text = serde_json::to_string(&whole).unwrap();
        for (what, with) in [
            ("\"reference\":[", "\"reference\":[1.0,"),
            ("\"discount\":0.9", "\"discount\":1.5"),
            ("\"count\":1500", "\"count\":1499"),
            ("\"nonzero\":[", "\"nonzero\":[0.0,"),
        ] {
            let broken = text.replacen(what, with, 1);
            assert!(serde_json::from_str::<Online>(&broken).is_err(), "{what}");
        }
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    for (dimension, discount) in [(0, 0.5), (4001, 0.5), (2, 1.0), (2, f64::NAN)] {
        assert!(Online::new(dimension, discount).is_err());
    }
    let mut online = Online::new(1, 0.5).unwrap();
    for _ in 0..200 {
        online.add(&Transition::terminated(&[1e300], 1.0), 0, true);
    }
    assert!(online.fixed_point().is_err());
    let few = fed(&rows(12, 3, 0.5, 0.0));
    assert!(few.influence(&few.fixed_point().unwrap()).is_none());
}
