//! Suggests the known name closest to a mistyped one.

/// The known name nearest to `name` (Levenshtein, ignoring case), if it is close enough to be a typo.
///
/// One edit per four characters is, at most three; so is a character too many or too few at the end.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let allowed = (name.chars().count() / 4).min(3);
    let distance = |candidate: &'a str| {
        let other = candidate.to_lowercase();
        let distance = strsim::levenshtein(&name, &other);
        let at_the_end = name.starts_with(&other) || other.starts_with(&name);
        let allowed = if at_the_end { allowed.max(1) } else { allowed };
        (distance <= allowed).then_some((distance, candidate))
    };
    let nearest = known.into_iter().filter_map(distance).min();
    nearest.map(|(_, candidate)| candidate)
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
        let short = ["tdc", "alg1"];
        assert_eq!(nearest("alg2", short), Some("alg1"));
        assert_eq!(nearest("alg", short), Some("alg1"));
        assert_eq!(nearest("td0", short), None);
    }
}
