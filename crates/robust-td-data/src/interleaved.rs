//! Describes what is uncertain about the pairing of interleaved rows.

use crate::findings::finding;
use crate::inspect::{Finding, FindingKind};
use crate::pairing::Pairing;
use crate::words::counted;

/// If names were used again for other episodes, rows that are together would be whole episodes, which have at least this number.
const EPISODE: f64 = 2.0;

/// The findings about interleaved rows that were paired.
pub(crate) fn findings(pairing: &Pairing) -> Vec<Finding> {
    let mut list = Vec::new();
    let (times, in_runs) = (pairing.resumed(), pairing.rows_together() >= EPISODE);
    if times > 0 && in_runs && !pairing.has_ends() {
        let message = format!(
            "rows of the same episode are {} apart, with rows of others in between, and the log does not show where episodes end: they \
             are read as one episode; if the name of an episode was used again for another one, make the names distinct or mark the \
             ends (terminated, truncated)",
            counted(times, "time", "times")
        );
        list.push(Finding {
            count: times,
            ..finding(FindingKind::MixedEpisodes, message)
        });
    }
    // In a log with whole episodes, nothing is lost.
    let closed = pairing.closed();
    if closed > 0 && (times > 0 || !in_runs) {
        let message = format!(
            "too many episodes were open at the same time: {} without rows for long and without an end were closed, and rows of theirs \
             that follow start new episodes; sort the rows by episode, or mark the ends of episodes (terminated, truncated)",
            counted(closed, "episode", "episodes")
        );
        list.push(Finding {
            count: closed,
            ..finding(FindingKind::MixedEpisodes, message)
        });
    }
    list
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::batch::Batch;
    use crate::schema::Schema;

    /// Pairs rows of these episodes, with little memory for open ones.
    fn paired(episodes: impl Iterator<Item = u64>) -> Pairing {
        let schema = Schema {
            episode: true,
            ..Schema::default()
        };
        let mut pairing = Pairing::with_memory(0);
        for (i, episode) in episodes.enumerate() {
            let batch = Batch {
                dimension: 1,
                obs: vec![i as f64],
                rewards: vec![1.0],
                terminated: vec![false].into(),
                truncated: vec![false].into(),
                episodes: vec![episode].into(),
                clusters: vec![0].into(),
                ratios: vec![1.0].into(),
                rows: vec![i as u64 + 1],
                gaps: vec![false].into(),
                ..Batch::default()
            };
            pairing.push(&schema, &batch, 0, |_| ControlFlow::Continue(()));
            assert!(pairing.waiting() <= 1025);
        }
        let counts = (pairing.transitions(), pairing.without_transition());
        assert_eq!(pairing.rows(), counts.0 + counts.1);
        pairing
    }

    #[test]
    fn open_episodes_are_bounded_and_what_is_closed_is_a_finding() {
        // 400 episodes at a time fit.
        let fits = paired((0..20_000).map(|i| i / 4000 * 400 + i % 400));
        assert_eq!(fits.transitions(), 20_000 - 2000);
        assert!(fits.closed() > 0);
        // 3000 do not.
        let lost = paired((0..9000).map(|i| i % 3000));
        assert_eq!(lost.transitions(), 0);
        let found = findings(&lost);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].count, lost.closed());
        assert!(found[0].message.starts_with("too many episodes were open"));
        // Whole episodes without an end are all paired.
        let whole = paired((0..9000).map(|i| i / 3));
        assert_eq!(whole.transitions(), 6000);
        assert!(whole.closed() > 1000 && findings(&whole).is_empty());
    }
}
