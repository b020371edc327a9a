//! Tries the stored corpus and some mutations on every target.

use robust_td_fuzz::mutate::{Random, mutate};
use robust_td_fuzz::{TARGETS, Target, Verdict, panics};

/// Mutations per target: seconds in all. `cargo xtask fuzz` tries more.
const MUTATIONS: usize = 300;

fn attempt(target: &Target, bytes: &[u8], what: &str) -> Verdict {
    target.attempt(bytes).unwrap_or_else(|| {
        let places = panics::places();
        panic!("{}, {what}: {places:?}", target.name)
    })
}

#[test]
fn seeds_are_accepted_and_mutations_break_nothing() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{}", target.name);
        let accepted = (seeds.iter())
            .filter(|seed| attempt(target, seed, "a seed") == Verdict::Accepted)
            .count();
        let least = match target.name {
            // Most of its seeds are files that failed once.
            "parquet" => 5,
            _ => seeds.len(),
        };
        assert!(
            accepted >= least,
            "{}: {accepted} seeds are accepted",
            target.name
        );
        let mut random = Random::new(20);
        for k in 0..MUTATIONS {
            let [one, two] = [random.below(seeds.len()), random.below(seeds.len())];
            let input = mutate(&mut random, &seeds[one], &seeds[two]);
            attempt(target, &input, &format!("mutation {k}"));
        }
    }
}

/// Files whose name starts with `good` are read, all others are refused.
#[test]
fn everything_that_failed_once_is_refused() {
    for target in TARGETS {
        for (path, bytes) in target.corpus() {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let good = name.is_some_and(|name| name.starts_with("good"));
            let expected = [Verdict::Refused, Verdict::Accepted][usize::from(good)];
            let path = path.display().to_string();
            assert_eq!(attempt(target, &bytes, &path), expected, "{path}");
        }
    }
    assert!(Target::find("parquet").is_some_and(|target| target.corpus().len() > 10));
}
