//! Tries the stored corpus and some mutations on every target.

use robust_td_fuzz::mutate::{Random, mutate};
use robust_td_fuzz::{TARGETS, Target, Verdict};

/// Mutations per target: seconds in all. `cargo xtask fuzz` tries more.
const MUTATIONS: usize = 150;

/// Suppresses the messages of panics that the data crate reports as errors.
fn quiet() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !robust_td_data::panics_are_caught() {
            usual(panic);
        }
    }));
}

#[test]
fn seeds_are_accepted_and_mutations_break_nothing() {
    quiet();
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{}", target.name);
        if target.name != "parquet" {
            let accepted = seeds
                .iter()
                .filter(|seed| (target.run)(seed) == Verdict::Accepted);
            assert!(accepted.count() > 0, "{}: no seed is accepted", target.name);
        }
        let mut random = Random::new(20);
        for _ in 0..MUTATIONS {
            let [one, two] = [random.below(seeds.len()), random.below(seeds.len())];
            let input = mutate(&mut random, &seeds[one], &seeds[two]);
            (target.run)(&input);
        }
    }
}

/// Files whose name starts with `good` are read, all others are refused.
#[test]
fn everything_that_failed_once_is_refused() {
    quiet();
    for target in TARGETS {
        for (path, bytes) in target.corpus() {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let good = name.is_some_and(|name| name.starts_with("good"));
            let expected = [Verdict::Refused, Verdict::Accepted][usize::from(good)];
            assert_eq!((target.run)(&bytes), expected, "{}", path.display());
        }
    }
    assert!(Target::find("parquet").is_some_and(|target| target.corpus().len() > 10));
}
