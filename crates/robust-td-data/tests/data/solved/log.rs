//! Simulates logs for the default algorithm and evaluates them.

use std::fmt::Write as _;
use std::path::PathBuf;

use robust_td_core::random::Stream;
use robust_td_data::{Evaluation, Fit, ValueFormat, ValueWriter, evaluate};
use tempfile::TempDir;

/// The columns of [`Row`] as CSV.
pub const HEADER: &str =
    "obs_0,obs_1,reward,next_obs_0,next_obs_1,terminated,truncated,episode,rho";

/// One row of a log.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub obs: [f64; 2],
    pub next: [f64; 2],
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
    pub episode: u64,
    pub rho: f64,
}

impl Row {
    /// The row as a line of CSV.
    pub fn line(&self) -> String {
        let ([x, y], [u, v]) = (self.obs, self.next);
        let flags = [self.terminated, self.truncated].map(u8::from);
        let (reward, rho, episode) = (self.reward, self.rho, self.episode);
        let [terminated, truncated] = flags;
        format!("{x},{y},{reward},{u},{v},{terminated},{truncated},{episode},{rho}")
    }
}

/// Two autoregressive features around 2 and -1 in episodes that terminate, are truncated, or simply stop.
pub fn episodes(rows: usize, seed: u64) -> Vec<Row> {
    let mut stream = Stream::new(seed, 0);
    let mut noise = move || stream.uniform() - 0.5;
    let (mut obs, mut episode) = ([2.0, -1.0], 0);
    let mut list = Vec::new();
    for _ in 0..rows {
        let next = [
            2.0 + 0.8 * (obs[0] - 2.0) + noise(),
            -1.0 + 0.5 * (obs[1] + 1.0) + 0.2 * (obs[0] - 2.0) + noise(),
        ];
        let end = noise() + 0.5;
        list.push(Row {
            obs,
            next,
            reward: obs[0] - 2.0 * obs[1] + 3.0 * noise(),
            terminated: end < 0.04,
            truncated: (0.04..0.07).contains(&end),
            episode,
            rho: 0.5 + (noise() + 0.5),
        });
        let ends = end < 0.09;
        episode += u64::from(ends);
        obs = match ends {
            true => [2.0 + 2.0 * noise(), -1.0 + 2.0 * noise()],
            false => next,
        };
    }
    list
}

/// A log as CSV.
pub fn csv(rows: &[Row]) -> String {
    let mut text = format!("{HEADER}\n");
    rows.iter()
        .for_each(|row| writeln!(text, "{}", row.line()).unwrap());
    text
}

/// A log as Parquet.
pub fn parquet(rows: &[Row]) -> Vec<u8> {
    let names: Vec<&str> = HEADER.split(',').collect();
    let cells: Vec<Vec<f64>> = (rows.iter())
        .map(|row| row.line().split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let column = |k: usize| cells.iter().map(|row| row[k]).collect();
    let table: Vec<Vec<f64>> = (0..names.len()).map(column).collect();
    let slices: Vec<&[f64]> = table.iter().map(Vec::as_slice).collect();
    let mut writer = ValueWriter::new(ValueFormat::Parquet, Vec::new(), &names).unwrap();
    writer.write(&slices).unwrap();
    writer.finish().unwrap()
}

/// A folder for logs.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its name.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    /// The evaluation of a text.
    pub fn evaluation(&self, text: &str) -> Evaluation {
        evaluate([self.write("log.csv", text)]).discount(0.9)
    }
}

/// The default evaluation of a text with a feature map and discount 0.9.
pub fn fit(text: &str, features: &str) -> Fit {
    let folder = Folder::new();
    folder.evaluation(text).features(features).run().unwrap()
}

/// Episodes of a walk on the states 0 to n - 1 that starts at random and terminates at n, with noisy rewards.
pub fn walk(states: u32, episodes: usize, seed: u64) -> String {
    let mut stream = Stream::new(seed, 0);
    let mut text = String::from("obs_0,reward,terminated,episode\n");
    for episode in 0..episodes {
        let mut state = (stream.uniform() * f64::from(states)) as u32;
        while state < states {
            let step = stream.uniform();
            let next = match step < 0.3 {
                true => state.saturating_sub(1),
                false => state + 1,
            };
            let reward = f64::from(state % 5) + 4.0 * stream.uniform();
            let terminated = u8::from(next >= states);
            writeln!(text, "{state},{reward},{terminated},{episode}").unwrap();
            state = next;
        }
    }
    text
}

/// Requires equality up to a relative error.
pub fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let scale = 1.0_f64.max(expected.abs());
    assert!(
        (found - expected).abs() <= tolerance * scale,
        "{what}: {found} is not {expected}"
    );
}

/// The finite ends of the interval of an observation.
pub fn interval(fit: &Fit, obs: &[f64]) -> [f64; 2] {
    let (lower, upper) = fit.interval(obs).unwrap().unwrap();
    [lower, upper]
}
