//! Writes numbers into CSV files.

/// The shortest text that reads back as the same number; `inf` and `nan` for what is not finite.
pub fn number(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else {
        format!("{x:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_read_back() {
        for x in [0.1, 1e-8, 1.0 / 3.0, 5e-324, f64::MAX, f64::INFINITY, -0.0] {
            assert_eq!(number(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(number(f64::INFINITY), "inf");
        assert_eq!(number(f64::NAN), "nan");
        assert_eq!(number(1e-8), "1e-8");
    }
}
