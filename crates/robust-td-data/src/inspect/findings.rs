//! Describes what looks wrong with a log.

use crate::bad_rows::BadRows;
use crate::fault::FaultKind;
use crate::inspect::Inspector;
use crate::inspect::episode_column;
use crate::inspect::report::{Finding, FindingKind};
use crate::inspect::sentinels::Sentinels;
use crate::inspect::tally::Tally;
use crate::inspect::values::constant;
use crate::interleaved;
use crate::schema::Schema;
use crate::words::{counted, quoted};

/// Up to here all integers are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// With fewer episodes, equal lengths are no evidence of a time limit.
const FEW_EPISODES: u64 = 3;

/// This many rows that are left out because their episodes were cut do not matter, nor does one row in [`RARE_CUT`].
const FEW_CUT: u64 = 10;
const RARE_CUT: u64 = 50;

/// The findings so far.
struct Findings<'a> {
    files: &'a [String],
    list: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, kind: FindingKind, tally: Tally, message: String) {
        if tally.count > 0 {
            self.list.push(Finding {
                kind,
                message,
                file: tally
                    .first
                    .and_then(|(file, _)| self.files.get(file).cloned()),
                row: tally.first.map(|(_, row)| row),
                count: tally.count,
            });
        }
    }
}

impl Inspector {
    /// All findings, most serious first.
    pub(super) fn findings(
        &self,
        schema: &Schema,
        files: &[String],
        bad: &BadRows,
    ) -> Vec<Finding> {
        let mut findings = Findings {
            files,
            list: Vec::new(),
        };
        bad_rows(&mut findings, bad);
        self.copied_files(&mut findings);
        findings.list.extend(self.policy.findings(schema, files));
        self.alignment(&mut findings, schema);
        self.ends(&mut findings, schema);
        self.columns(&mut findings, schema);
        abridged(findings.list)
    }

    fn copied_files(&self, findings: &mut Findings<'_>) {
        let Some(found) = self.order.copies.found() else {
            return;
        };
        let name = |file: usize| findings.files.get(file).map_or("", String::as_str);
        let others = match found.count {
            1 => String::new(),
            count => format!(" ({count} files repeat an earlier one)"),
        };
        let message = format!(
            "{} has the same {} rows as {}{others}; if it is a copy, its rows count twice: leave it out",
            name(found.file),
            found.rows,
            name(found.original),
        );
        let tally = Tally {
            count: found.count,
            first: Some((found.file, 1)),
        };
        findings.add(FindingKind::CopiedFiles, tally, message);
    }

    fn alignment(&self, findings: &mut Findings<'_>, schema: &Schema) {
        let rows = self.pairing.rows();
        let whole = |count| Tally {
            count,
            first: self.order.first,
        };
        if !schema.reward {
            let message = "no reward column: `predict` needs none, but `evaluate` does";
            findings.add(FindingKind::NoReward, whole(1), message.to_owned());
        }
        if rows > 0 && self.pairing.transitions() == 0 {
            let rows = counted(rows, "row", "rows");
            let message = format!("no transitions from {rows}: none has a successor");
            findings.add(FindingKind::NoTransitions, whole(1), message);
        }
        let (count, comparable) = (self.order.misaligned.count, self.order.comparable);
        let message = match count == comparable {
            true => format!(
                "next_obs is never the obs of the following row ({} compared): \
                 are the columns shifted, or the rows shuffled?",
                counted(comparable, "row", "rows")
            ),
            false => format!(
                "next_obs differs from the obs of the following row in {count} of {comparable} rows"
            ),
        };
        findings.add(FindingKind::Misaligned, self.order.misaligned, message);
        if rows > 1 && self.values.next_is_same == rows {
            let message = "next_obs equals obs in every row".to_owned();
            findings.add(FindingKind::NextIsSame, whole(rows), message);
        }
        findings.list.extend(interleaved::findings(&self.pairing));
        let across = self.order.episodes.across_files;
        let message = format!(
            "{} unfinished at the end of a file with interleaved episodes, and the same names occur in the next file: they are read as other \
             episodes; if they continue, put the rows into one file",
            counted(across.count, "episode was", "episodes were")
        );
        findings.add(FindingKind::MixedEpisodes, across, message);
        // Without next observations, a state that recurs may follow itself.
        if schema.next_obs || !self.values.states_recur() {
            let message = counted(
                self.order.duplicated.count,
                "row equals the row before it; if it was written twice, remove the copy",
                "rows equal the row before them; if they were written twice, remove the copies",
            );
            findings.add(FindingKind::DuplicatedRows, self.order.duplicated, message);
        }
    }

    fn ends(&self, findings: &mut Findings<'_>, schema: &Schema) {
        let episodes = &self.order.episodes;
        let message = counted(
            episodes.after_end.count,
            "row follows the end of its own episode: a name that is used again, or rows that are not in the order of time",
            "rows follow the end of their own episode: names that are used again, or rows that are not in the order of time",
        );
        findings.add(FindingKind::RowsAfterEnd, episodes.after_end, message);
        let lengths = &episodes.terminated_lengths;
        let longest = episodes.lengths.stats().map(|stats| stats.max);
        if lengths.count() >= FEW_EPISODES
            && lengths.is_constant()
            && lengths.stats().map(|stats| stats.max) == longest
        {
            let message = format!(
                "all {} terminated episodes have {}; if this is a time limit, mark them as truncated",
                lengths.count(),
                counted(longest.unwrap_or_default() as u64, "row", "rows")
            );
            let tally = Tally {
                count: lengths.count(),
                first: None,
            };
            findings.add(FindingKind::EqualTermination, tally, message);
        }
        let message = counted(
            self.order.both_ends.count,
            "row is both terminated and truncated; it is read as terminated",
            "rows are both terminated and truncated; they are read as terminated",
        );
        findings.add(
            FindingKind::TerminatedAndTruncated,
            self.order.both_ends,
            message,
        );
        let message = without_end(schema, episodes.without_end.count, episodes.lengths.count());
        findings.add(
            FindingKind::EpisodesWithoutEnd,
            episodes.without_end,
            message,
        );
        self.cut_rows(findings, schema);
        let flags = schema.terminated || schema.truncated;
        let aligned = flags && schema.next_obs && self.order.misaligned.count == 0;
        let once = Tally {
            count: 1,
            first: self.order.first,
        };
        if let Some(column) = episode_column::of_episodes(&schema.unused)
            && !schema.episode
            && !aligned
        {
            let message = format!(
                "no column has the role episode, so every row is taken to follow the row before it; if the column {column} names episodes, map it to this \
                 role: their rows may then be mixed"
            );
            findings.add(FindingKind::EpisodeColumnUnused, once, message);
        }
        if let Some(column) = episode_column::of_clusters(&schema.unused)
            && schema.episode
            && !schema.cluster
        {
            let message = format!(
                "intervals take episodes to be independent; if those with the same value of the column {} resemble each other, intervals are too short: \
                 map it to the role cluster",
                quoted(column)
            );
            findings.add(FindingKind::ClusterColumnUnused, once, message);
        }
    }

    /// Where episodes are cut, the last row has no successor and is left out, unless it terminates. So terminations are too frequent.
    fn cut_rows(&self, findings: &mut Findings<'_>, schema: &Schema) {
        let (terminated, left_out) = (
            self.order.episodes.terminated_lengths.count(),
            self.pairing.without_transition(),
        );
        let going_on = self.pairing.transitions().saturating_sub(terminated);
        if schema.next_obs || terminated == 0 || left_out <= FEW_CUT.max(going_on / RARE_CUT) {
            return;
        }
        let message = format!(
            "{} left out, because the next observation is not known, while rows that terminate are kept: these weigh {} too much, and values are off \
             accordingly; add next_obs columns",
            counted(left_out, "row is", "rows are"),
            match going_on {
                0 => "much".into(),
                _ => format!("about {:.0} %", 100.0 * left_out as f64 / going_on as f64),
            }
        );
        let tally = Tally {
            count: left_out,
            first: None,
        };
        findings.add(FindingKind::CutRowsLeftOut, tally, message);
    }

    fn columns(&self, findings: &mut Findings<'_>, schema: &Schema) {
        let once = Tally {
            count: 1,
            first: self.order.first,
        };
        let values = &self.values;
        let dimension = values.features.columns();
        let name = |k| schema.feature_name(k, dimension);
        for (column, origin) in &schema.times {
            let message = format!("column {column} is a time: it is read as {origin}");
            findings.add(FindingKind::TimesAsSeconds, once, message);
        }
        for k in (0..dimension).filter(|&k| !schema.is_category(k)) {
            let (low, high) = (values.features.low()[k], values.features.high()[k]);
            if high > EXACT || low < -EXACT {
                let message = format!(
                    "{} is above 2^53: integers of this size are rounded; if it names a category, one-hot({}) takes it exactly",
                    name(k),
                    quoted(&name(k))
                );
                findings.add(FindingKind::RoundedIntegers, once, message);
            }
        }
        for (k, codes) in values.sentinels.iter().enumerate() {
            if schema.is_category(k) {
                continue;
            }
            sentinels(findings, &name(k), codes);
        }
        sentinels(findings, "the reward", &values.reward_sentinels);
        for k in (0..dimension).filter(|&k| !schema.is_category(k)) {
            if let Some(value) = constant(&values.features, k) {
                let message = format!("{} is {value} in every row", name(k));
                findings.add(FindingKind::ConstantFeature, once, message);
            }
        }
        for (k, alone) in values.moments.collinear() {
            // The codes of categories are no numbers.
            if schema.is_category(k) || alone.is_some_and(|other| schema.is_category(other)) {
                continue;
            }
            let message = match alone {
                Some(other) => format!("{} is a linear function of {}", name(k), name(other)),
                None => format!(
                    "{} is a linear combination of the features before it",
                    name(k)
                ),
            };
            findings.add(FindingKind::CollinearFeature, once, message);
        }
        if let Some(value) = constant(&values.reward, 0) {
            let message = format!("the reward is {value} in every row");
            findings.add(FindingKind::ConstantReward, once, message);
        }
    }
}

/// The same findings, with a few columns of a kind and the number of the others.
fn abridged(list: Vec<Finding>) -> Vec<Finding> {
    const MOST: u64 = 8;
    let of_columns = [
        FindingKind::RoundedIntegers,
        FindingKind::ConstantFeature,
        FindingKind::CollinearFeature,
    ];
    let mut counts = of_columns.map(|kind| (kind, 0));
    let mut short: Vec<Finding> = Vec::new();
    for finding in list {
        let count = counts.iter_mut().find(|(kind, _)| *kind == finding.kind);
        let number = count.map_or(0, |(_, count)| {
            *count += 1;
            *count
        });
        // The others replace the first of them, so that they stay beside those of their kind.
        if number <= MOST + 1 {
            short.push(finding);
        } else if let Some(others) = short.iter_mut().rfind(|other| other.kind == finding.kind) {
            others.count = number - MOST;
            others.message = format!("the same holds for {} more columns", number - MOST);
        }
    }
    short
}

/// Adds the codes for missing values in a column.
fn sentinels(findings: &mut Findings<'_>, name: &str, codes: &Sentinels) {
    let (low, high) = codes.others();
    for (code, tally) in codes.found() {
        let message = format!(
            "{name} is {code} in {}, and from {low} to {high} elsewhere: if {code} stands for a missing value, remove these rows",
            counted(tally.count, "row", "rows")
        );
        findings.add(FindingKind::SentinelValues, tally, message);
    }
}

/// What it means that a log does not show the first rows of episodes.
pub(crate) fn starts_unknown() -> &'static str {
    "the value of the policy is the mean over all rows, because no row is known to start an episode"
}

/// The message for episodes that stop without a flag, and how they are treated.
fn without_end(schema: &Schema, stopped: u64, episodes: u64) -> String {
    let flags = schema.terminated || schema.truncated;
    let one = stopped == 1;
    let (what, its) = match (flags, schema.episode) {
        (true, _) => (
            format!("{stopped} of {episodes} episodes {} without being terminated or truncated", if one { "stops" } else { "stop" }),
            if one { "its" } else { "their" },
        ),
        (false, true) => (
            format!("no column shows how episodes end (terminated, truncated): {}", counted(stopped, "stops", "stop")),
            if one { "its" } else { "their" },
        ),
        (false, false) => (
            "no column shows where episodes end (episode, terminated, truncated): the rows are read as one run".to_owned(),
            "its",
        ),
    };
    let last = if one { "last row" } else { "last rows" };
    let mut message = match schema.next_obs {
        true => format!("{what}; assumed to continue after {its} {last}"),
        false => format!(
            "{what}; {its} {last} {} no successor, so no transition starts there",
            if one { "has" } else { "have" }
        ),
    };
    if !schema.episode && stopped == episodes {
        message += "; ";
        message += starts_unknown();
    }
    message
}

fn bad_rows(findings: &mut Findings<'_>, bad_rows: &BadRows) {
    for bad in bad_rows.kinds() {
        let kind = match bad.first.kind {
            FaultKind::Missing | FaultKind::MissingLevel { .. } => FindingKind::MissingValues,
            FaultKind::NotFinite { .. } => FindingKind::NotFiniteValues,
            _ => FindingKind::BadRows,
        };
        findings.list.push(Finding {
            kind,
            message: format!("bad rows: {}; first: {}", bad.count, bad.first),
            file: Some(bad.first.file.clone()),
            row: Some(bad.first.row),
            count: bad.count,
        });
    }
}
