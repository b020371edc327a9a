//! Suggests the known name closest to a mistyped one.

/// The known name nearest to `name` (Levenshtein, ignoring case), if it is close enough to be a typo.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    let name = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            let distance = strsim::levenshtein(&name, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|&(distance, _)| distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The nearest known name as a question, or else the list of known names.
pub fn or_known(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("choose one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_name_is_suggested() {
        let known = ["transition", "reward", "features"];
        assert_eq!(nearest("transitions", known), Some("transition"));
        assert_eq!(nearest("feature", known), Some("features"));
        assert_eq!(nearest("Reward", known), Some("reward"));
        assert_eq!(nearest("gamma", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
