//! Finds an unused column that may name the episodes of a log.

/// What such columns are called, the likeliest first.
const WORDS: [&str; 18] = [
    "episode",
    "trajectory",
    "traj",
    "rollout",
    "session",
    "run",
    "user",
    "customer",
    "client",
    "patient",
    "player",
    "agent",
    "machine",
    "device",
    "site",
    "env",
    "environment",
    "id",
];

/// The likeliest of the names: `user`, `user_id`, `UserID`.
pub(super) fn likely<S: AsRef<str>>(names: &[S]) -> Option<&str> {
    let means = |name: &str, word: &str| {
        let name = name.to_lowercase();
        let mut parts = name.split(|c: char| !c.is_alphanumeric());
        parts.any(|part| part == word || part.strip_suffix("id") == Some(word))
    };
    WORDS.iter().find_map(|word| {
        let names = names.iter().map(AsRef::as_ref);
        names.into_iter().find(|name| means(name, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_name_is_found() {
        for (names, expected) in [
            (vec!["t", "user_id"], Some("user_id")),
            (vec!["UserID", "Episode No"], Some("Episode No")),
            (vec!["t", "price"], None),
            (vec!["runtime", "grid"], None),
            (vec!["ID"], Some("ID")),
        ] {
            assert_eq!(likely(&names), expected, "{names:?}");
        }
    }
}
