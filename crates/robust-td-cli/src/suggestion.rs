//! Guesses which known name a mistyped one was meant to be.

/// The known name nearest to `name`, if it is near enough to be a slip of the fingers.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The nearest known name as a question, or else the list of what there is.
pub fn or_known(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("there are {}", known.join(", ")),
    }
}

/// The number of characters to insert, delete or replace (Levenshtein), case aside.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (left, right, distance) in [
            ("kitten", "sitting", 3),
            ("", "abc", 3),
            ("abc", "", 3),
            ("flaw", "lawn", 2),
            ("Reward", "reward", 0),
        ] {
            assert_eq!(edit_distance(left, right), distance, "{left} {right}");
        }
    }

    #[test]
    fn only_a_near_name_is_suggested() {
        let known = ["transition", "reward", "features"];
        assert_eq!(nearest("transitions", known), Some("transition"));
        assert_eq!(nearest("feature", known), Some("features"));
        assert_eq!(nearest("gamma", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
