//! Sorts numbers into the bars of a histogram.

use robust_td_report::Bar;

use super::parts::{count as counted, range, short};

/// Whole numbers get one bar each up to this range.
const WHOLE: f64 = 40.0;
/// The fewest and the most bars of other numbers.
const FEWEST: f64 = 8.0;
const MOST: f64 = 30.0;

/// The bars of the finite numbers among `values`; `noun` is what is counted.
pub fn bars(values: &[f64], noun: &str) -> Vec<Bar> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else {
        return Vec::new();
    };
    let one_each = (high - low <= WHOLE && sorted.iter().all(|x| x.fract() == 0.0)) || low == high;
    let (start, width, count) = match one_each {
        true => (low - 0.5, 1.0, (high - low) as usize + 1),
        false => {
            let count = bins(&sorted);
            (low, (high - low) / count as f64, count)
        }
    };
    let edge = |k: usize| match k == count {
        true if !one_each => high,
        _ => start + width * k as f64,
    };
    let mut from = 0;
    let mut bars: Vec<Bar> = (0..count)
        .map(|k| {
            let (left, right) = (edge(k), edge(k + 1));
            let to = match k + 1 == count {
                true => sorted.len(),
                false => sorted.partition_point(|x| *x < right).max(from),
            };
            let counted = counted((to - from) as u64, noun);
            let place = match one_each {
                true => short(low + k as f64),
                false => range(left, right),
            };
            let bar = Bar {
                low: left,
                high: right,
                value: (to - from) as f64,
                hint: format!("{place}: {counted}"),
            };
            from = to;
            bar
        })
        .collect();
    // A lone bar gets empty neighbours, so that it does not fill the picture.
    if let [alone] = &bars[..] {
        let empty = |low: f64| Bar {
            low,
            high: low + width,
            value: 0.0,
            hint: String::new(),
        };
        let (before, after) = (empty(alone.low - width), empty(alone.high));
        bars.insert(0, before);
        bars.push(after);
    }
    bars
}

/// The number of bars by the rule of Freedman and Diaconis (1981): width 2 IQR / n^(1/3).
fn bins(sorted: &[f64]) -> usize {
    let n = sorted.len();
    let spread = sorted[3 * (n - 1) / 4] - sorted[(n - 1) / 4];
    let width = 2.0 * spread / (n as f64).cbrt();
    let count = (sorted[n - 1] - sorted[0]) / width;
    // A spread of 0 makes this infinite.
    count.ceil().clamp(FEWEST, MOST) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[f64]) -> Vec<f64> {
        let bars = bars(values, "row");
        assert!(
            bars.windows(2)
                .all(|pair| (pair[0].high - pair[1].low).abs() < 1e-9)
        );
        bars.iter().map(|bar| bar.value).collect()
    }

    #[test]
    fn every_finite_number_is_counted_once() {
        let values: Vec<f64> = (0..1000)
            .map(|k| (f64::from(k) * 0.7).sin() * 1e-3)
            .collect();
        assert_eq!(counts(&values).iter().sum::<f64>(), 1000.0);
        let odd = [f64::NAN, f64::INFINITY, 0.1, 0.3, 1e300, -1e300];
        assert_eq!(counts(&odd).iter().sum::<f64>(), 4.0);
        assert!(counts(&[f64::NAN]).is_empty() && counts(&[]).is_empty());
    }

    #[test]
    fn whole_numbers_have_a_bar_each_and_equal_ones_a_single_bar() {
        assert_eq!(counts(&[0.0, 3.0, 1.0, 3.0]), [1.0, 1.0, 0.0, 2.0]);
        assert_eq!(counts(&[0.25; 7]), [0.0, 7.0, 0.0]);
        let one = &bars(&[0.25; 7], "row")[1];
        assert_eq!(one.hint, "0.25: 7 rows");
    }
}
