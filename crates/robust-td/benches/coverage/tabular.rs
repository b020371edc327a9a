//! Simulates processes with few states, one feature per state: a sticky chain, a rare state, a slippery lake, a taxi.

use std::io::Write;

use crate::draws::Draws;
use crate::scenario::{Scenario, fixed_point, typical};

/// A transition: its probability, the next state unless the episode ends, and the mean reward.
type Move = (f64, Option<usize>, f64);

/// Draws the reward of a state, given its mean.
type Payoff = fn(usize, f64, &mut Draws) -> f64;

/// A policy in a process with a table of transitions.
struct Process {
    moves: Vec<Vec<Move>>,
    /// The distribution of the first state; the stationary one where episodes do not end.
    starts: Vec<f64>,
    payoff: Payoff,
    /// The number of steps after which an episode is cut; without it, the log is one trajectory.
    limit: Option<usize>,
}

/// The scenarios with one feature per state.
pub fn scenarios() -> Vec<Scenario> {
    let mut rare = scenario("rare state, lognormal payoff", 2_000, 0.9, rare_state());
    rare.queries.retain(|(state, _)| state[0] == RARE as f64);
    vec![
        scenario("sticky chain", 2_000, 0.99, sticky_chain()),
        rare,
        scenario("slippery lake 4x4", 5_000, 0.99, lake(&LAKE_4)),
        scenario("slippery lake 8x8", 20_000, 0.99, lake(&LAKE_8)),
        scenario("taxi", 50_000, 0.99, taxi()),
    ]
}

/// Two states that are left with probability 0.02; the second pays 1, with noise.
fn sticky_chain() -> Process {
    let stay = |s: usize| vec![(0.98, Some(s), s as f64), (0.02, Some(1 - s), s as f64)];
    Process {
        moves: vec![stay(0), stay(1)],
        starts: vec![0.5; 2],
        payoff: |_, mean, draws| mean + 0.5 * draws.normal(),
        limit: None,
    }
}

const RARE: usize = 10;

/// The state `RARE` is drawn a dozen times in 2,000 rows and pays a lognormal variate, ten other states share the rest.
fn rare_state() -> Process {
    let rare = 12.0 / 2_000.0;
    let mut starts = vec![(1.0 - rare) / RARE as f64; RARE];
    starts.push(rare);
    // The mean of exp(z) is sqrt(e).
    let mean = |s: usize| {
        if s == RARE {
            0.5_f64.exp()
        } else {
            s as f64 / 10.0
        }
    };
    let next = |s: usize| {
        starts
            .iter()
            .enumerate()
            .map(move |(to, p)| (*p, Some(to), mean(s)))
    };
    Process {
        moves: (0..=RARE).map(|s| next(s).collect()).collect(),
        starts: starts.clone(),
        payoff: |state, mean, draws| match state {
            RARE => draws.normal().exp(),
            _ => mean + 0.1 * draws.normal(),
        },
        limit: None,
    }
}

/// The maps of FrozenLake: H is a hole, the goal is the last cell.
const LAKE_4: [&str; 4] = ["....", ".H.H", "...H", "H..."];
const LAKE_8: [&str; 8] = [
    "........", "........", "...H....", ".....H..", "...H....", ".HH...H.", ".H..H.H.", "...H....",
];

/// Steps on ice go where intended or to either side, each with probability 1/3. Right and down are intended more often.
fn lake(map: &[&str]) -> Process {
    let size = map.len();
    // Right, down, left, up.
    let intended = [0.35, 0.35, 0.15, 0.15];
    let step = |s: usize, direction: usize| {
        let (mut row, mut column) = (s / size, s % size);
        match direction {
            0 => column = (column + 1).min(size - 1),
            1 => row = (row + 1).min(size - 1),
            2 => column = column.saturating_sub(1),
            _ => row = row.saturating_sub(1),
        }
        let (to, goal) = (row * size + column, size * size - 1);
        let ended = to == goal || map[row].as_bytes()[column] == b'H';
        ((!ended).then_some(to), f64::from(u8::from(to == goal)))
    };
    let moves_of = |s: usize| {
        let of = |k: usize| {
            let probability = (intended[k] + intended[(k + 1) % 4] + intended[(k + 3) % 4]) / 3.0;
            let (to, reward) = step(s, k);
            (probability, to, reward)
        };
        (0..4).map(of).collect()
    };
    Process {
        moves: (0..size * size).map(moves_of).collect(),
        starts: (0..size * size)
            .map(|s| f64::from(u8::from(s == 0)))
            .collect(),
        payoff: |_, mean, _| mean,
        limit: Some(200),
    }
}

/// The ranks of Taxi, on a 5 x 5 grid without walls.
const RANKS: [(usize, usize); 4] = [(0, 0), (0, 4), (4, 0), (4, 3)];
/// The place of a passenger in the taxi.
const INSIDE: usize = 4;

fn taxi_state(row: usize, column: usize, passenger: usize, destination: usize) -> usize {
    ((row * 5 + column) * 5 + passenger) * 4 + destination
}

/// With probability 0.3 the action that leads to the next rank, otherwise any of the six.
fn taxi() -> Process {
    let mut process = Process {
        moves: Vec::new(),
        starts: Vec::new(),
        payoff: |_, mean, _| mean,
        limit: Some(200),
    };
    for s in 0..500 {
        let (row, column, passenger, destination) = (s / 100, s / 20 % 5, s / 4 % 5, s % 4);
        let target = RANKS[if passenger == INSIDE {
            destination
        } else {
            passenger
        }];
        let best = match (target.0.cmp(&row), target.1.cmp(&column)) {
            (std::cmp::Ordering::Greater, _) => 0,
            (std::cmp::Ordering::Less, _) => 1,
            (_, std::cmp::Ordering::Greater) => 2,
            (_, std::cmp::Ordering::Less) => 3,
            _ if passenger == INSIDE => 5,
            _ => 4,
        };
        let to = |row, column, passenger| Some(taxi_state(row, column, passenger, destination));
        let here = RANKS.iter().position(|&rank| rank == (row, column));
        let outcome = |action| match (action, here) {
            (0, _) => (to((row + 1).min(4), column, passenger), -1.0),
            (1, _) => (to(row.saturating_sub(1), column, passenger), -1.0),
            (2, _) => (to(row, (column + 1).min(4), passenger), -1.0),
            (3, _) => (to(row, column.saturating_sub(1), passenger), -1.0),
            (4, Some(rank)) if rank == passenger => (to(row, column, INSIDE), -1.0),
            (5, Some(rank)) if passenger == INSIDE && rank == destination => (None, 20.0),
            (5, Some(rank)) if passenger == INSIDE => (to(row, column, rank), -1.0),
            _ => (Some(s), -10.0),
        };
        let of = |action| {
            let probability = 0.7 / 6.0 + if action == best { 0.3 } else { 0.0 };
            let (next, reward) = outcome(action);
            (probability, next, reward)
        };
        process.moves.push((0..6).map(of).collect());
        let start = passenger != INSIDE && passenger != destination;
        process.starts.push(if start { 1.0 / 300.0 } else { 0.0 });
    }
    process
}

impl Process {
    /// The values: `V = r + gamma P V`.
    fn values(&self, discount: f64) -> Vec<f64> {
        fixed_point(self.moves.len(), |values| {
            let after = |to: &Option<usize>| to.map_or(0.0, |to| values[to]);
            let value = |moves: &Vec<Move>| {
                let terms = moves
                    .iter()
                    .map(|(p, to, reward)| p * (reward + discount * after(to)));
                terms.sum()
            };
            self.moves.iter().map(value).collect()
        })
    }

    /// How often each state occurs, up to a factor.
    fn visits(&self) -> Vec<f64> {
        fixed_point(self.moves.len(), |visits| {
            let mut next = self.starts.clone();
            for (moves, visits) in self.moves.iter().zip(visits) {
                for (p, to, _) in moves {
                    to.iter().for_each(|&to| next[to] += 0.999 * p * visits);
                }
            }
            next
        })
    }

    fn write(&self, rows: usize, draws: &mut Draws, out: &mut dyn Write) -> std::io::Result<()> {
        match self.limit {
            Some(_) => writeln!(out, "obs_0,next_obs_0,reward,terminated,truncated,episode")?,
            None => writeln!(out, "obs_0,next_obs_0,reward")?,
        }
        let (mut written, mut episode) = (0, 0);
        while written < rows {
            let mut state = draws.index(self.starts.iter().copied());
            for t in 1.. {
                let moves = &self.moves[state];
                let (_, to, mean) = moves[draws.index(moves.iter().map(|one| one.0))];
                let reward = (self.payoff)(state, mean, draws);
                let next = to.unwrap_or(state);
                write!(out, "{state},{next},{reward}")?;
                let ended = to.is_none();
                let cut = !ended && self.limit.is_some_and(|limit| t >= limit);
                match self.limit {
                    Some(_) => writeln!(out, ",{},{},{episode}", u8::from(ended), u8::from(cut))?,
                    None => writeln!(out)?,
                }
                written += 1;
                if ended || cut || self.limit.is_none() && written == rows {
                    break;
                }
                state = next;
            }
            episode += 1;
        }
        Ok(())
    }
}

fn scenario(name: &str, rows: usize, discount: f64, process: Process) -> Scenario {
    let (states, values) = (process.moves.len(), process.values(discount));
    let starts = process.starts.iter().zip(&values);
    let queries = match states <= 20 && process.limit.is_none() {
        true => (0..states).collect(),
        false => typical(&process.visits()),
    };
    Scenario {
        name: name.into(),
        rows,
        dimension: states,
        discount,
        features: format!("one-hot(count={states})"),
        cluster: None,
        queries: (queries.into_iter())
            .map(|s| (vec![s as f64], values[s]))
            .collect(),
        start_value: starts.map(|(p, value)| p * value).sum(),
        write: Box::new(move |rows, draws, out| process.write(rows, draws, out)),
    }
}
