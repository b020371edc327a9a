//! Formats words and numbers for printed pages.

pub use robust_td::number::{count, short as number, whole};

/// The maximum width of a line.
pub const WIDTH: usize = 100;

/// Numbers in parentheses; of a long list the first few and the total count.
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

/// Lines of cells, the first and last column aligned left, the others right.
pub fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    aligned(rows, |j| j == 0 || j + 1 == N)
}

/// Lines of cells, the first column aligned left, the others right.
pub fn number_columns<const N: usize>(rows: &[[String; N]]) -> String {
    aligned(rows, |j| j == 0)
}

/// Lines of cells, all of them aligned left.
pub fn left_columns<const N: usize>(rows: &[[String; N]]) -> String {
    aligned(rows, |_| true)
}

fn aligned<const N: usize>(rows: &[[String; N]], left: impl Fn(usize) -> bool) -> String {
    let width = |j: usize| rows.iter().map(|row| row[j].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|j| width(j).unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (j, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            line.push_str(&match left(j) {
                true => format!("  {cell:<width$}"),
                false => format!("  {cell:>width$}"),
            });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
