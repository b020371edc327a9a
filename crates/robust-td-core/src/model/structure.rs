//! Finds the communicating classes and the period of a Markov chain.

use crate::error::CommunicatingClass;
use crate::matrix::SparseMatrix;

const UNSEEN: usize = usize::MAX;

/// The communicating classes, by smallest state: Tarjan's algorithm (1972) with an explicit stack.
///
/// Every stored entry counts as a possible transition.
pub(crate) fn communicating_classes(transition: &SparseMatrix) -> Vec<CommunicatingClass> {
    let n = transition.size();
    let mut index = vec![UNSEEN; n];
    let mut low = vec![0; n];
    let mut class_of = vec![UNSEEN; n];
    let mut open: Vec<usize> = Vec::new();
    let mut classes: Vec<Vec<usize>> = Vec::new();
    let mut seen = 0;
    for root in 0..n {
        if index[root] != UNSEEN {
            continue;
        }
        // A frame is a state and the number of its successors already visited.
        let mut frames: Vec<(usize, usize)> = Vec::new();
        let mut enter = Some(root);
        while let Some((state, done)) = enter
            .take()
            .map(|state| (state, 0))
            .or_else(|| frames.pop())
        {
            if done == 0 {
                index[state] = seen;
                low[state] = seen;
                seen += 1;
                open.push(state);
            } else {
                // Returning from successor `done - 1`.
                let child = transition.row(state).0[done - 1] as usize;
                low[state] = low[state].min(low[child]);
            }
            for (k, &column) in transition.row(state).0.iter().enumerate().skip(done) {
                let successor = column as usize;
                if index[successor] == UNSEEN {
                    frames.push((state, k + 1));
                    enter = Some(successor);
                    break;
                }
                if class_of[successor] == UNSEEN {
                    low[state] = low[state].min(index[successor]);
                }
            }
            if enter.is_none() && low[state] == index[state] {
                let first = open
                    .iter()
                    .rposition(|&member| member == state)
                    .unwrap_or(0);
                let class = open.split_off(first);
                class
                    .iter()
                    .for_each(|&member| class_of[member] = classes.len());
                classes.push(class);
            }
        }
    }
    let mut described: Vec<CommunicatingClass> = classes
        .into_iter()
        .enumerate()
        .map(|(number, mut states)| {
            states.sort_unstable();
            let stays = |&state: &usize| {
                transition
                    .entries(state)
                    .all(|(to, _)| class_of[to] == number)
            };
            let closed = states.iter().all(stays);
            CommunicatingClass { states, closed }
        })
        .collect();
    described.sort_by_key(|class| class.states[0]);
    described
}

/// The period of an irreducible chain: the greatest common divisor of the lengths of its cycles.
///
/// With breadth-first levels from state 0 it is the gcd of `level(s) + 1 - level(s')` over all transitions.
pub(crate) fn period(transition: &SparseMatrix) -> usize {
    let mut level = vec![UNSEEN; transition.size()];
    level[0] = 0;
    let mut queue = std::collections::VecDeque::from([0]);
    let mut divisor = 0;
    while let Some(state) = queue.pop_front() {
        for (successor, _) in transition.entries(state) {
            if level[successor] == UNSEEN {
                level[successor] = level[state] + 1;
                queue.push_back(successor);
            } else {
                divisor = gcd(divisor, (level[state] + 1).abs_diff(level[successor]));
            }
        }
    }
    divisor
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(n: usize, edges: &[(usize, usize)]) -> SparseMatrix {
        let triplets = edges.iter().map(|&(from, to)| (from, to, 1.0));
        SparseMatrix::from_triplets("graph", n, triplets).unwrap()
    }

    fn class(states: &[usize], closed: bool) -> CommunicatingClass {
        CommunicatingClass {
            states: states.to_vec(),
            closed,
        }
    }

    #[test]
    fn classes_of_a_graph_with_every_kind() {
        let edges = [
            (0, 1),
            (1, 2),
            (2, 0),
            (2, 3),
            (3, 4),
            (4, 3),
            (5, 0),
            (5, 5),
            (6, 6),
        ];
        let expected = [
            class(&[0, 1, 2], false),
            class(&[3, 4], true),
            class(&[5], false),
            class(&[6], true),
        ];
        assert_eq!(communicating_classes(&graph(7, &edges)), expected);
    }

    #[test]
    fn classes_agree_with_reachability_on_random_graphs() {
        let mut state = 12345_u64;
        let mut random = move |below: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for _ in 0..200 {
            let n = 1 + random(9);
            let edges: std::collections::BTreeSet<(usize, usize)> = (0..random(2 * n + 1))
                .map(|_| (random(n), random(n)))
                .collect();
            let edges: Vec<_> = edges.into_iter().collect();
            let mut reach = vec![vec![false; n]; n];
            (0..n).for_each(|i| reach[i][i] = true);
            edges.iter().for_each(|&(i, j)| reach[i][j] = true);
            for k in 0..n {
                for i in 0..n {
                    for j in 0..n {
                        reach[i][j] |= reach[i][k] && reach[k][j];
                    }
                }
            }
            for class in communicating_classes(&graph(n, &edges)) {
                let s = class.states[0];
                let mates: Vec<usize> = (0..n).filter(|&t| reach[s][t] && reach[t][s]).collect();
                assert_eq!(class.states, mates);
                assert_eq!(
                    class.closed,
                    (0..n).all(|t| !reach[s][t] || mates.contains(&t))
                );
            }
        }
    }

    #[test]
    fn a_long_path_does_not_overflow_the_stack() {
        let n = 300_000;
        let ring: Vec<(usize, usize)> = (0..n).map(|i| (i, (i + 1) % n)).collect();
        assert_eq!(communicating_classes(&graph(n, &ring)).len(), 1);
        assert_eq!(period(&graph(n, &ring)), n);
    }

    #[test]
    fn periods() {
        assert_eq!(period(&graph(2, &[(0, 1), (1, 0)])), 2);
        assert_eq!(
            period(&graph(
                6,
                &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (2, 0)]
            )),
            3
        );
        assert_eq!(period(&graph(3, &[(0, 1), (1, 2), (2, 0), (1, 0)])), 1);
        assert_eq!(period(&graph(1, &[(0, 0)])), 1);
    }
}
