//! Builds the parts that both pages have: findings, figures, and how to run it again.

use robust_td_data::{Finding, FindingKind};
use robust_td_report::{
    Answer, Block, Cell, Drawing, Error as ReportError, Mood, Note, PageFigure, Rerun, Section,
    Text, number::grouped,
};

use super::advice::advice;
use crate::error::Result;
use crate::number;

/// A section with its name in the list of sections.
pub fn section(link: &str, title: &str, blocks: Vec<Block>) -> Section {
    Section {
        id: link.to_lowercase(),
        title: title.into(),
        link: link.into(),
        blocks,
    }
}

/// A paragraph.
pub fn paragraph(text: impl Into<Text>) -> Block {
    Block::Text(text.into())
}

/// An answer.
pub fn answer(name: &str, value: Cell, detail: Vec<Cell>, mood: Mood) -> Answer {
    Answer {
        name: name.into(),
        value,
        detail,
        mood,
    }
}

/// A figure, or nothing if it has no values to draw.
///
/// # Errors
/// When it cannot be drawn for another reason.
pub fn figure(
    title: impl Into<String>,
    caption: impl Into<String>,
    drawing: Result<Drawing, ReportError>,
) -> Result<Option<PageFigure>> {
    match drawing {
        Ok(drawing) => Ok(Some(PageFigure {
            title: title.into(),
            caption: caption.into(),
            drawing,
        })),
        Err(ReportError::NothingToDraw { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The findings and what to do about each.
pub fn findings(list: &[Finding]) -> Section {
    let block = match list.is_empty() {
        true => Block::Notes(vec![Note {
            text: "Nothing looks wrong.".into(),
            advice: String::new(),
            place: String::new(),
            mood: Mood::Good,
        }]),
        false => Block::Notes(list.iter().map(note).collect()),
    };
    section("Findings", "Findings", vec![block])
}

fn note(finding: &Finding) -> Note {
    let place = match (&finding.file, finding.row) {
        (Some(file), Some(row)) => format!("First: {file}, row {row}."),
        _ => String::new(),
    };
    Note {
        text: match finding.kind {
            // These start with the name of a column.
            FindingKind::ConstantFeature | FindingKind::CollinearFeature => {
                format!("{}.", finding.message)
            }
            _ => sentence(&finding.message),
        },
        advice: advice(finding.kind).into(),
        place,
        mood: match is_serious(finding.kind) {
            true => Mood::Bad,
            false => Mood::Plain,
        },
    }
}

/// Whether a finding puts the values in doubt.
fn is_serious(kind: FindingKind) -> bool {
    kind.is_about_the_answer()
        || matches!(
            kind,
            FindingKind::MissingValues
                | FindingKind::NotFiniteValues
                | FindingKind::BadRows
                | FindingKind::NoReward
                | FindingKind::NoTransitions
                | FindingKind::Misaligned
                | FindingKind::NextIsSame
                | FindingKind::MixedEpisodes
                | FindingKind::RowsAfterEnd
                | FindingKind::CutRowsLeftOut
                | FindingKind::WrongPropensities
                | FindingKind::RatioContradicts
        )
}

/// A message as a sentence: a capital letter first (unless it starts with a name), a full stop last.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let word = message.split_whitespace().next().unwrap_or_default();
    let is_word = (word.chars()).all(|c| c.is_ascii_lowercase() || ":,;?".contains(c));
    let start = match letters.next() {
        Some(first) if is_word => first.to_uppercase().collect::<String>() + letters.as_str(),
        _ => message.into(),
    };
    match start.ends_with(['.', '?']) {
        true => start,
        false => start + ".",
    }
}

/// How to make the page again, and with which version.
pub fn rerun(command: Option<String>) -> Section {
    let version = env!("CARGO_PKG_VERSION");
    let blocks = match command {
        Some(command) => vec![Block::Rerun(Rerun {
            what: format!("Made by robust-td {version}:"),
            command,
        })],
        None => vec![paragraph(format!(
            "Made by the library robust-td {version}."
        ))],
    };
    section("Rerun", "How to run it again", blocks)
}

/// A word of a shell, in quotes if it needs them.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// About four significant digits, with a real minus sign.
pub fn short(x: f64) -> String {
    number::short(x).replace('-', "−")
}

/// A count with its noun, digits in groups of three.
pub fn count(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(n))
}

/// `1.5 to 2.5`.
pub fn range(lower: f64, upper: f64) -> String {
    format!("{} to {}", short(lower), short(upper))
}

/// A number with a key, with enough digits to compare it with an error; four if that is not known.
pub fn precise(value: Option<f64>, error: Option<f64>, key: String) -> Cell {
    let Some(value) = value else {
        return Cell::Empty;
    };
    let extra = error.map_or(0.0, |error| (value.abs() / error).log10().ceil() + 2.0);
    // Errors of 0, and infinite ones, ask for nothing.
    let digits = if extra.is_finite() {
        extra.clamp(4.0, 12.0)
    } else {
        4.0
    };
    Cell::Exact {
        value,
        digits: digits as usize,
        key,
    }
}

/// A percentage such as `95 %`.
pub fn percent(share: f64) -> String {
    // 100 * 0.95 is not exactly 95.
    format!("{} %", short((1e6 * share).round() / 1e4))
}

/// Names separated by commas; of a long list the first ones and the number of all.
pub fn names(list: &[String], most: usize) -> String {
    let mut words: Vec<&str> = list.iter().take(most).map(String::as_str).collect();
    let rest = format!("... {} in all", list.len());
    if list.len() > most {
        words.push(&rest);
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_sentences_and_names_stay() {
        assert_eq!(sentence("no intervals: why"), "No intervals: why.");
        assert_eq!(sentence("obs_0 is 1"), "obs_0 is 1.");
        assert_eq!(sentence("shuffled?"), "Shuffled?");
    }

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("log.csv"), "log.csv");
        assert_eq!(quoted("standardise + bias"), "'standardise + bias'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn digits_suffice_to_see_the_error() {
        let digits = |value, error| match precise(Some(value), error, String::new()) {
            Cell::Exact { digits, .. } => digits,
            _ => 0,
        };
        assert_eq!(digits(1e9, Some(100.0)), 9);
        for error in [
            None,
            Some(0.0),
            Some(f64::INFINITY),
            Some(f64::NAN),
            Some(5.0),
        ] {
            assert_eq!(digits(3.0, error), 4);
        }
    }

    #[test]
    fn percentages_are_round() {
        assert_eq!(percent(0.95), "95 %");
        assert_eq!(percent(0.999), "99.9 %");
    }
}
