//! Finds an unused column that may name the episodes of a log, or what several of them have in common.

/// What columns of episodes are called, the likeliest first.
const EPISODES: [&str; 6] = ["episode", "trajectory", "traj", "rollout", "session", "run"];

/// What columns of users or machines are called, the likeliest first; without episodes, each may be one.
const CLUSTERS: [&str; 13] = [
    "user",
    "customer",
    "client",
    "patient",
    "subject",
    "participant",
    "player",
    "member",
    "account",
    "machine",
    "device",
    "site",
    "store",
];

/// Further names of what has episodes, and may be independent from one to the next.
const OTHERS: [&str; 4] = ["agent", "env", "environment", "id"];

/// What a name may have beside such a word and still name it: not `user_age`.
const BESIDE: [&str; 6] = ["id", "name", "no", "nr", "number", "key"];

/// The name that most likely means episodes: `episode`, `user`, `user_id`, `UserID`.
pub(super) fn of_episodes<S: AsRef<str>>(names: &[S]) -> Option<&str> {
    let words = EPISODES.into_iter().chain(CLUSTERS).chain(OTHERS);
    likely(words, names)
}

/// The name that most likely means what several episodes have in common.
pub(super) fn of_clusters<S: AsRef<str>>(names: &[S]) -> Option<&str> {
    likely(CLUSTERS, names)
}

fn likely<S: AsRef<str>>(
    words: impl IntoIterator<Item = &'static str>,
    names: &[S],
) -> Option<&str> {
    let means = |name: &str, word: &str| {
        let name = name.to_lowercase();
        let parts = name.split(|c: char| !c.is_alphanumeric());
        let is_word = |part: &str| part == word || part.strip_suffix("id") == Some(word);
        let (own, others): (Vec<&str>, Vec<&str>) = parts.partition(|part| is_word(part));
        !own.is_empty()
            && others
                .iter()
                .all(|part| part.is_empty() || BESIDE.contains(part))
    };
    words.into_iter().find_map(|word| {
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
            assert_eq!(of_episodes(&names), expected, "{names:?}");
        }
        for (names, expected) in [
            (vec!["id", "site", "PatientID"], Some("PatientID")),
            (vec!["session", "id", "run", "env_id"], None),
            (vec!["user_age", "account_balance", "site temp"], None),
            (vec!["Store No."], Some("Store No.")),
        ] {
            assert_eq!(of_clusters(&names), expected, "{names:?}");
        }
    }
}
