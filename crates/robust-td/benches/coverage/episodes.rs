//! Simulates episodes whose rewards share an effect of the episode or of the user.
//!
//! The observation x is a stationary AR(1) process with coefficient `rho`, the reward `1 + x + effect + noise`. The effect has
//! mean 0 and is the same in all rows of a user. An episode terminates after each row with probability p, or is cut at a
//! random length. So `V(x) = x / (1 - gamma rho (1 - p)) + 1 / (1 - gamma (1 - p))`.

use std::io::Write;

use crate::draws::Draws;
use crate::scenario::Scenario;

const DISCOUNT: f64 = 0.9;
const RHO: f64 = 0.5;

/// The standard deviation of the effect, under noise of standard deviation 1.
const EFFECT: f64 = 0.3;

/// How a log is made of episodes.
#[derive(Clone, Copy)]
enum Kind {
    /// Episodes of random users in random order; each row is the last of its episode with probability 0.1.
    Users(usize),
    /// The same, but user k of n has a share of the episodes like that of a Pareto distribution: 1 / (k + 1/2)^0.8.
    Unequal(usize),
    /// This number of episodes of the same length, cut.
    Long(usize),
    /// This number of episodes, cut at lengths that differ by a factor of up to 20, log-uniformly.
    Uneven(usize),
}

/// Users, long episodes and episodes of different lengths.
pub fn scenarios() -> Vec<Scenario> {
    use Kind::{Long, Unequal, Uneven, Users};
    vec![
        scenario("100 users, shuffled episodes", 20_000, Users(100)),
        scenario("20 users, shuffled episodes", 20_000, Users(20)),
        scenario("30 users of different sizes", 20_000, Unequal(30)),
        scenario("8 users of different sizes", 20_000, Unequal(8)),
        scenario("10 long episodes", 20_000, Long(10)),
        scenario("50 episodes of different lengths", 5_000, Uneven(50)),
        scenario("500 episodes of different lengths", 50_000, Uneven(500)),
    ]
}

fn scenario(name: &str, rows: usize, kind: Kind) -> Scenario {
    let ends = match kind {
        Kind::Users(_) | Kind::Unequal(_) => 0.1,
        Kind::Long(_) | Kind::Uneven(_) => 0.0,
    };
    let left = DISCOUNT * (1.0 - ends);
    let (slope, constant) = (1.0 / (1.0 - left * RHO), 1.0 / (1.0 - left));
    let write = move |rows: usize, draws: &mut Draws, out: &mut dyn Write| {
        let (episodes, effects) = match kind {
            Kind::Users(users) | Kind::Unequal(users) => ((rows as f64 * ends) as usize, users),
            Kind::Long(episodes) | Kind::Uneven(episodes) => (episodes, episodes),
        };
        let effects: Vec<f64> = (0..effects).map(|_| EFFECT * draws.normal()).collect();
        writeln!(out, "episode,user,obs_0,reward,terminated,truncated")?;
        for episode in 0..episodes {
            let (user, length) = match kind {
                Kind::Users(users) => (draws.below(users), usize::MAX),
                Kind::Unequal(users) => (unequal(users, draws.uniform()), usize::MAX),
                Kind::Long(_) => (episode, rows / episodes),
                Kind::Uneven(_) => (episode, uneven(rows / episodes, draws.uniform())),
            };
            let mut x = draws.normal();
            for t in 1.. {
                let reward = 1.0 + x + effects[user] + draws.normal();
                let terminated = draws.chance(ends);
                let truncated = !terminated && t >= length;
                let flags = [terminated, truncated].map(u8::from);
                writeln!(
                    out,
                    "{episode},{user},{x:.6},{reward:.6},{},{}",
                    flags[0], flags[1]
                )?;
                if terminated || truncated {
                    break;
                }
                x = draws.autoregressive(RHO, x);
            }
        }
        Ok(())
    };
    Scenario {
        name: name.into(),
        rows,
        dimension: 2,
        discount: DISCOUNT,
        features: "standardise + bias".into(),
        cluster: matches!(kind, Kind::Users(_) | Kind::Unequal(_)).then_some("user"),
        queries: [-1.0, 0.0, 1.0]
            .map(|x| (vec![x], slope * x + constant))
            .into(),
        start_value: constant,
        write: Box::new(write),
    }
}

/// A user, drawn by the sizes of [`Kind::Unequal`].
fn unequal(users: usize, uniform: f64) -> usize {
    let size = |user: usize| (user as f64 + 0.5).powf(-0.8);
    let mut left = uniform * (0..users).map(size).sum::<f64>();
    let found = (0..users).find(|&user| {
        left -= size(user);
        left < 0.0
    });
    found.unwrap_or(users - 1)
}

/// A length around this mean: log-uniform over a factor of 20, whose mean is 19 / ln 20 times the shortest.
fn uneven(mean: usize, uniform: f64) -> usize {
    let shortest = mean as f64 * 20_f64.ln() / 19.0;
    (shortest * 20_f64.powf(uniform)).round().max(2.0) as usize
}
