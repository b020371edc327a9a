//! Parses counts as people write them: `10000000`, `1e7`, `10_000_000`.

use robust_td_core::schedule::SHORTEST_HORIZON;

/// Parses a whole number that fits in 64 bits.
pub fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a whole number such as 10000000, 1e7 or 10_000_000");
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    if text.starts_with('_')
        || text.ends_with('_')
        || !digits.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(wrong());
    }
    if let Ok(count) = digits.parse::<u64>() {
        return Ok(count);
    }
    // 2^64 as f64; every whole f64 below it is exactly a u64.
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    match digits.parse::<f64>() {
        Ok(count) if count.fract() == 0.0 && count < LIMIT => Ok(count as u64),
        Ok(count) if count.fract() == 0.0 => Err(format!("{text} does not fit in 64 bits")),
        Ok(_) | Err(_) => Err(wrong()),
    }
}

/// Parses a horizon: at least 3, so that log T > 1.
pub fn horizon(text: &str) -> Result<u64, String> {
    match parse(text)? {
        count if count < SHORTEST_HORIZON => {
            Err("the horizon must be at least 3, so that log T > 1".into())
        }
        count => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_people_write_counts() {
        for (text, count) in [
            ("3", 3),
            ("10000000", 10_000_000),
            ("1e7", 10_000_000),
            ("1E7", 10_000_000),
            ("10_000_000", 10_000_000),
            ("1.5e3", 1500),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(count), "{text}");
        }
        for text in [
            "", "abc", "-3", "1.5", "1e-3", "nan", "inf", "_1", "1_", "+3", "1e30", ".5e1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(horizon("2").is_err() && horizon("3").is_ok());
    }
}
