//! Finds consecutive rows that pairing need not look at one by one.

use std::ops::{ControlFlow, Range};

use super::Step;
use crate::batch::Batch;
use crate::schema::Schema;

/// Consecutive transitions of one episode and one cluster between rows of a batch: each continues the one before it, and none ends
/// an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The rows that the transitions leave. Each leads to the next row, unless rows contain their next observations.
    pub rows: Range<usize>,
    /// A row of the batch in the same cluster.
    pub cluster_row: usize,
    /// The number of their episode.
    pub run: u64,
}

impl Stretch {
    /// The number of transitions.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
}

/// What receives transitions.
pub(crate) trait StepSink {
    /// The maximum number of transitions in a stretch; 0 if all are wanted one by one.
    fn most(&self) -> usize;
    /// Takes one transition.
    fn step(&mut self, step: Step<'_>) -> ControlFlow<()>;
    /// Takes several.
    fn stretch(&mut self, stretch: Stretch) -> ControlFlow<()>;
}

/// A function of single transitions.
pub(super) struct OneByOne<F>(pub F);

impl<F: FnMut(Step<'_>) -> ControlFlow<()>> StepSink for OneByOne<F> {
    #[inline(always)]
    fn most(&self) -> usize {
        0
    }

    #[inline(always)]
    fn step(&mut self, step: Step<'_>) -> ControlFlow<()> {
        (self.0)(step)
    }

    fn stretch(&mut self, _: Stretch) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Counts transitions up to a limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count {
    pub count: u64,
    pub limit: u64,
}

impl Count {
    fn add(&mut self, more: u64) -> ControlFlow<()> {
        self.count += more;
        match self.count >= self.limit {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl StepSink for Count {
    fn most(&self) -> usize {
        usize::try_from(self.limit - self.count).unwrap_or(usize::MAX)
    }

    fn step(&mut self, _: Step<'_>) -> ControlFlow<()> {
        self.add(1)
    }

    fn stretch(&mut self, stretch: Stretch) -> ControlFlow<()> {
        self.add(stretch.len() as u64)
    }
}

/// The end of the rows from `from` on, at most `most` of them, that have no flag, follow no gap, and have the episode and the
/// cluster of the first one.
pub(crate) fn plain_until(schema: &Schema, batch: &Batch, from: usize, most: usize) -> usize {
    // Each column is looked at only as far as those before it allow: episodes may be short.
    let mut end = batch.len().min(from.saturating_add(most));
    let names = [
        (schema.episode, &batch.episodes),
        (schema.cluster, &batch.clusters),
    ];
    for (_, names) in names.iter().filter(|(is_given, _)| *is_given) {
        let rows = names[from..end].iter();
        end = from + rows.take_while(|name| **name == names[from]).count();
    }
    for flags in [&batch.terminated, &batch.truncated, &batch.gaps] {
        let rows = flags[from..end].iter();
        end = from + rows.take_while(|flag| !**flag).count();
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pairing::Pairing;

    /// What tells transitions apart: reward, next observation, episode, restart, row of the cluster.
    type Seen = (f64, Option<f64>, u64, bool, u64);

    /// Takes transitions in stretches, up to a limit.
    struct Together<'a> {
        batch: &'a Batch,
        seen: Vec<Seen>,
        left: usize,
        stretches: usize,
    }

    impl StepSink for Together<'_> {
        fn most(&self) -> usize {
            self.left
        }

        fn step(&mut self, step: Step<'_>) -> ControlFlow<()> {
            self.seen.push(seen(self.batch, &step));
            self.take(1)
        }

        fn stretch(&mut self, stretch: Stretch) -> ControlFlow<()> {
            self.stretches += 1;
            for i in stretch.rows.clone() {
                let next = match self.batch.next_obs(i) {
                    Some(next) => next[0],
                    None => self.batch.obs(i + 1)[0],
                };
                let cluster = self.batch.clusters[stretch.cluster_row];
                let reward = self.batch.rewards[i];
                self.seen
                    .push((reward, Some(next), stretch.run, false, cluster));
            }
            self.take(stretch.len())
        }
    }

    impl Together<'_> {
        fn take(&mut self, count: usize) -> ControlFlow<()> {
            self.left -= count;
            match self.left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        }
    }

    fn seen(batch: &Batch, step: &Step<'_>) -> Seen {
        let next = step.next_obs().map(|next| next[0]);
        let cluster = batch.clusters[step.row];
        (step.reward, next, step.run, step.restart, cluster)
    }

    /// Rows from draws below 1,000: what is rare in logs is rare here, so that there are stretches.
    fn batch(draws: &[u16], first: usize, next_obs: bool) -> Batch {
        let mut batch = Batch {
            dimension: 1,
            ..Batch::default()
        };
        let mut names = (0, 0);
        for (i, &draw) in draws.iter().enumerate() {
            names.0 = if draw % 13 == 0 {
                draw / 13 % 3
            } else {
                names.0
            };
            names.1 = if draw % 17 == 0 {
                draw / 17 % 2
            } else {
                names.1
            };
            batch.obs.push((first + i) as f64);
            batch.rewards.push(-((first + i) as f64));
            batch.terminated.to_mut().push(draw % 19 == 0);
            batch.truncated.to_mut().push(draw % 23 == 0);
            batch.gaps.to_mut().push(draw % 29 == 0);
            batch.episodes.to_mut().push(names.0.into());
            batch.clusters.to_mut().push(names.1.into());
            batch.ratios.to_mut().push(1.0);
            batch.rows.push((first + i + 1) as u64);
        }
        if next_obs {
            batch.next_obs = batch.obs.iter().map(|x| x + 1.0).collect();
        }
        batch
    }

    proptest! {
        /// The transitions are the same together as one by one, wherever batches and limits cut them, and so is what is counted.
        #[test]
        fn stretches_are_the_transitions_one_by_one(
            draws in prop::collection::vec(0_u16..1000, 1..200),
            cut in 1_usize..60,
            limit in 1_usize..40,
            episode: bool, next_obs: bool, cluster: bool,
        ) {
            let schema = Schema { episode, next_obs, cluster, reward: true, ..Schema::default() };
            let (mut one, mut many) = (Pairing::default(), Pairing::default());
            for (k, draws) in draws.chunks(cut).enumerate() {
                let batch = batch(draws, k * cut, next_obs);
                let mut expected = Vec::new();
                one.push(&schema, &batch, 0, |step| {
                    expected.push(seen(&batch, &step));
                    ControlFlow::Continue(())
                });
                let mut found = Vec::new();
                let mut from = 0;
                loop {
                    let mut sink = Together { batch: &batch, seen: Vec::new(), left: limit, stretches: 0 };
                    from = many.push_to(&schema, &batch, from, &mut sink);
                    found.extend(sink.seen);
                    if sink.left > 0 {
                        break;
                    }
                }
                // Without a cluster column, any row of the batch stands for the cluster.
                let blank = |all: &mut Vec<Seen>| all.iter_mut().for_each(|seen| seen.4 *= u64::from(cluster));
                blank(&mut expected);
                blank(&mut found);
                prop_assert_eq!(found, expected);
                prop_assert_eq!(&many, &one);
            }
        }
    }

    #[test]
    fn plain_rows_are_one_stretch() {
        let mut batch = batch(&[1; 50], 0, false);
        batch.terminated.to_mut()[40] = true;
        let mut sink = Together {
            batch: &batch,
            seen: Vec::new(),
            left: 1000,
            stretches: 0,
        };
        Pairing::default().push_to(&Schema::default(), &batch, 0, &mut sink);
        // Row 0 starts; rows 1 to 39 continue; row 40 terminates; row 41 starts; the last one waits.
        assert_eq!((sink.stretches, sink.seen.len()), (2, 49));
    }
}
