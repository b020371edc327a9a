//! Joins an option whose value may be left out with a number that follows it.

use std::ffi::OsString;

use crate::count;

/// The options that take a number, or nothing.
const OPTIONS: [&str; 1] = ["--report-every"];

/// The arguments with `--report-every 100` written as `--report-every=100`. Without that, the next word could be a file or the number.
pub fn joined(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    for word in arguments {
        let number = word.to_str().is_some_and(|text| count::parse(text).is_ok());
        match words.last_mut() {
            Some(last) if number && OPTIONS.iter().any(|option| last == option) => {
                last.push("=");
                last.push(word);
            }
            _ => words.push(word),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_belongs_to_the_option_before_it() {
        for (given, expected) in [
            (
                "evaluate - --report-every 100",
                "evaluate - --report-every=100",
            ),
            (
                "evaluate --report-every log.csv",
                "evaluate --report-every log.csv",
            ),
            (
                "evaluate --report-every --json",
                "evaluate --report-every --json",
            ),
            ("evaluate --report-every=5 7", "evaluate --report-every=5 7"),
            ("evaluate log.csv --c 100", "evaluate log.csv --c 100"),
        ] {
            let words = joined(given.split(' ').map(OsString::from));
            let expected: Vec<OsString> = expected.split(' ').map(OsString::from).collect();
            assert_eq!(words, expected);
        }
    }
}
