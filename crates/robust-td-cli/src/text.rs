//! Lays out words and numbers for people.

/// The width that no line exceeds.
pub const WIDTH: usize = 100;

/// A number with about four significant digits.
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return x.to_string();
    }
    if x == 0.0 || (x.fract() == 0.0 && x.abs() < 1e6) {
        return format!("{x}");
    }
    if !(1e-3..1e6).contains(&x.abs()) {
        return trim_exponent(&format!("{x:.3e}"));
    }
    let decimals = (3 - x.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// `1.900e7` as `1.9e7`.
fn trim_exponent(text: &str) -> String {
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits}e{exponent}")
        }
        None => text.to_string(),
    }
}

/// A whole number, long round ones as a power of ten, always exact.
pub fn whole(x: u64) -> String {
    if x < 1_000_000 || !x.is_multiple_of(1000) {
        return x.to_string();
    }
    format!("{x:e}")
}

/// A count with its noun: `1 state`, `2 states`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A few numbers in parentheses; of many the first ones and how many there are.
pub fn list(numbers: &[f64]) -> String {
    const SHOWN: usize = 5;
    let mut words: Vec<String> = numbers.iter().take(SHOWN).map(|&x| number(x)).collect();
    if numbers.len() > SHOWN {
        words.push(format!("... {} numbers", numbers.len()));
    }
    format!("({})", words.join(", "))
}

/// Breaks a paragraph at [`WIDTH`]; `first` starts its first line, the others are indented by `indent`.
pub fn wrap(first: &str, indent: usize, paragraph: &str) -> String {
    let mut text = String::from(first);
    let mut column = first.chars().count();
    let mut at_start = true;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        let space = usize::from(!at_start);
        if !at_start && column + space + length > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if !at_start {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
        at_start = false;
    }
    text.push('\n');
    text
}

/// Lines of a name and a value, aligned, the values wrapped.
pub fn definitions(rows: &[(impl AsRef<str>, String)]) -> String {
    let width = rows
        .iter()
        .map(|(name, _)| name.as_ref().chars().count())
        .max()
        .unwrap_or(0);
    rows.iter()
        .map(|(name, value)| {
            let name = name.as_ref();
            wrap(&format!("  {name:<width$}  "), width + 4, value)
        })
        .collect()
}

/// Lines of cells: the first and last column to the left, the others to the right.
pub fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |j: usize| rows.iter().map(|row| row[j].chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|j| width(j).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = format!("  {:<w$}", row[0], w = widths[0]);
        for j in 1..N - 1 {
            line.push_str(&format!("  {:>w$}", row[j], w = widths[j]));
        }
        line.push_str(&format!("  {}", row[N - 1]));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        for (x, text) in [
            (0.0, "0"),
            (147.0, "147"),
            (16.118_095, "16.12"),
            (0.431_064_935, "0.4311"),
            (0.001_234_56, "0.001235"),
            (0.000_123_4, "1.234e-4"),
            (40.455_844, "40.46"),
            (123_456.7, "123457"),
            (1.9077e7, "1.908e7"),
            (1e7, "1e7"),
            (-2.5, "-2.5"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn whole_numbers_stay_exact() {
        for (x, text) in [
            (1000, "1000"),
            (10_000_000, "1e7"),
            (12_345_000, "1.2345e7"),
            (12_345_678, "12345678"),
        ] {
            assert_eq!(whole(x), text);
        }
    }

    #[test]
    fn paragraphs_are_broken_before_the_edge() {
        let paragraph = "word ".repeat(60);
        let text = wrap("name  ", 6, &paragraph);
        assert!(text.lines().all(|line| line.len() <= WIDTH));
        assert!(
            text.lines()
                .skip(1)
                .all(|line| line.starts_with("      word"))
        );
        assert_eq!(text.split_whitespace().count(), 61);
    }
}
