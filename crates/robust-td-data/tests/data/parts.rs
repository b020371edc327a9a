//! Checks evaluations in parts against those in one piece: the same bits, whoever computes a part, in whatever order.

use std::fmt::Write;
use std::path::Path;

use robust_td_core::random::Stream;
use robust_td_core::sealed::{self, Job, Kind};
use robust_td_data::{
    Engine, Error, Evaluation, FindingKind, Fit, Model, Result, Tasks, compute_task, evaluate,
    merge_states,
};

/// The number of states that are merged at a time.
const FAN: usize = 64;
/// More than two nodes of 262,144 transitions.
const ROWS: usize = 600_000;

/// A job that ran: its name, its description and its states.
type Run = (&'static str, Vec<u8>, Vec<Vec<u8>>);

/// Computes tasks from the last to the first, and some of them twice.
#[derive(Default)]
struct Backwards {
    jobs: Vec<Run>,
    largest: usize,
}

impl Engine for Backwards {
    fn run(&mut self, name: &'static str, description: Vec<u8>, tasks: Tasks) -> Result<Vec<u8>> {
        assert_eq!(tasks.get(tasks.len()), None);
        let mut states = Vec::new();
        for k in (0..tasks.len()).rev() {
            let task = &tasks.get(k).unwrap();
            let state = compute_task(&description, task, 1 + k % 2)?;
            if k == 0 {
                assert_eq!(compute_task(&description, task, 2)?, state);
            }
            self.largest = self.largest.max(state.len());
            states.push(state);
        }
        states.reverse();
        self.jobs.push((name, description.clone(), states.clone()));
        while states.len() > 1 {
            let groups = states.chunks(FAN);
            let merged = groups
                .map(|group| merge_states(&description, group.iter().map(Vec::as_slice)))
                .collect::<Result<Vec<_>>>()?;
            states = merged;
        }
        Ok(states.remove(0))
    }
}

/// x' = 0.9 x + noise with reward x, in episodes of random lengths up to `longest`, which end in one of three ways.
struct Walk {
    longest: f64,
    header: &'static str,
    row: fn(&Place) -> String,
}

struct Place {
    x: f64,
    next: f64,
    reward: f64,
    episode: usize,
    number: usize,
    /// Terminated, truncated.
    end: (bool, bool),
}

fn write(folder: &Path, walk: &Walk, files: usize) -> Vec<String> {
    let mut random = Stream::new(18, 0);
    let (mut x, mut episode, mut left) = (0.0, 0, 100);
    let names = (0..files).map(|k| folder.join(format!("log-{k}.csv")).display().to_string());
    let names: Vec<String> = names.collect();
    for (k, name) in names.iter().enumerate() {
        let mut text = walk.header.to_owned() + "\n";
        for number in k * ROWS / files..(k + 1) * ROWS / files {
            left -= 1;
            let next = 0.9 * x + random.uniform() - 0.5;
            let kind = episode % 3;
            let end = (left == 0 && kind == 0, left == 0 && kind == 1);
            let place = Place {
                x,
                next,
                reward: x + random.uniform(),
                episode,
                number,
                end,
            };
            writeln!(text, "{}", (walk.row)(&place)).unwrap();
            x = next;
            if left == 0 {
                (x, episode) = (random.uniform(), episode + 1);
                left = 1 + (walk.longest * random.uniform().powi(2)) as usize;
            }
        }
        std::fs::write(name, text).unwrap();
    }
    names
}

fn flag(flag: bool) -> u8 {
    u8::from(flag)
}

fn report(fit: &Fit) -> String {
    let mut report = serde_json::to_value(fit.report()).unwrap();
    report.as_object_mut().unwrap().remove("seconds");
    report.to_string()
}

fn assert_same(one: &Fit, other: &Fit) {
    assert_eq!(report(one), report(other));
    let [one, other] = [one, other].map(|fit| fit.model().to_json().unwrap());
    assert!(one == other, "the models differ");
}

fn check(walk: &Walk, files: usize, with: fn(Evaluation) -> Evaluation) -> (Fit, Backwards) {
    let folder = tempfile::tempdir().unwrap();
    let names = write(folder.path(), walk, files);
    let log = || with(evaluate(names.clone()).discount(0.95));
    let whole = log().threads(1).run().unwrap();
    assert_same(&whole, &log().threads(3).run().unwrap());
    let mut engine = Backwards::default();
    let parts = log().run_in_parts(&mut engine).unwrap();
    assert_same(&whole, &parts);
    let passes: Vec<_> = engine
        .jobs
        .iter()
        .map(|(name, _, states)| (*name, states.len()))
        .collect();
    let (first, others) = passes.split_at(passes.len() - 3);
    assert_eq!(others, [("equations", 3), ("scores", 3), ("returns", 3)]);
    // Where bad rows may be skipped, the first pass is made here.
    let skips = parts
        .model()
        .to_json()
        .unwrap()
        .contains("\"skip_bad_rows\":100");
    match skips {
        true => assert_eq!(first, []),
        false => assert_eq!(first[..2], [("rows", 1), ("survey", 3)]),
    }
    (parts, engine)
}

#[test]
fn episodes_that_cross_files_and_nodes() {
    let walk = Walk {
        longest: 60_000.0,
        header: "obs_0,obs_1,reward,terminated,truncated,episode",
        row: |p| {
            let (terminated, truncated) = p.end;
            let (x, r, e) = (p.x, p.reward, p.episode);
            format!(
                "{x},{},{r},{},{},{e}",
                x * x,
                flag(terminated),
                flag(truncated)
            )
        },
    };
    check(&walk, 3, |log| log);
}

#[test]
fn next_observations_and_clusters() {
    let walk = Walk {
        longest: 300.0,
        header: "obs_0,next_obs_0,reward,terminated,truncated,episode,site",
        row: |p| {
            let (terminated, truncated) = p.end;
            let (x, next, r, e) = (p.x, p.next, p.reward, p.episode);
            let site = e % 97;
            format!(
                "{x},{next},{r},{},{},{e},{site}",
                flag(terminated),
                flag(truncated)
            )
        },
    };
    check(&walk, 1, |log| log.cluster("site"));
}

#[test]
fn one_trajectory_with_bad_rows() {
    let walk = Walk {
        longest: 1e9,
        header: "obs_0,reward",
        row: |p| match p.number % 50_021 {
            50_000 => "oops,1".to_owned(),
            _ => format!("{},{}", p.x, p.reward),
        },
    };
    check(&walk, 2, |log| log.skip_bad_rows(100));
}

/// A category, maps of several stages, and rows that look wrong, some of them at the edges of parts.
#[test]
fn the_first_pass_finds_the_same_in_parts() {
    const EDGE: usize = 262_144;
    let walk = Walk {
        longest: 3000.0,
        header: "obs_0,city,next_obs_0,next_city,reward,terminated,truncated,episode",
        row: |p| {
            let (mut terminated, mut truncated) = p.end;
            let (mut x, city) = (p.x, ["Rome", "Oslo", "Lima"][p.episode % 3]);
            // The episode goes on after its end.
            if [EDGE - 2, EDGE - 1, 2 * EDGE - 1, 2 * EDGE].contains(&p.number) {
                (terminated, truncated) = (true, p.number % 2 == 1);
            }
            if p.number % 70_001 == 5 {
                x = -9999.0;
            }
            let (next, r, e) = (p.next, p.reward, p.episode);
            format!(
                "{x},{city},{next},{city},{r},{},{},{e}",
                flag(terminated),
                flag(truncated)
            )
        },
    };
    let (fit, engine) = check(&walk, 5, |log| {
        log.features("standardise + one-hot(city) + bias | standardise + bias")
    });
    assert_eq!(engine.jobs[2].0, "fit");
    let kinds: Vec<FindingKind> = fit.findings().iter().map(|found| found.kind).collect();
    for kind in [
        FindingKind::RowsAfterEnd,
        FindingKind::TerminatedAndTruncated,
        FindingKind::Misaligned,
        FindingKind::SentinelValues,
    ] {
        assert!(kinds.contains(&kind), "{kind:?}: {kinds:?}");
    }
}

/// The name of an episode occurs again after rows of others: the rows are read one after the other.
#[test]
fn names_that_occur_again_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("log.csv").display().to_string();
    let mut text = "obs_0,next_obs_0,reward,truncated,episode\n".to_owned();
    for t in 0..2000_usize {
        let ends = flag(t % 10 == 9);
        writeln!(text, "{},{},1,{ends},{}", t % 7, (t + 1) % 7, t / 10 % 4).unwrap();
    }
    std::fs::write(&name, text).unwrap();
    let log = || evaluate([name.clone()]).discount(0.9);
    let mut engine = Backwards::default();
    let parts = log().run_in_parts(&mut engine).unwrap();
    assert_same(&log().run().unwrap(), &parts);
}

/// Files are copies, or have other columns than the first.
#[test]
fn files_are_compared_across_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |k: usize| folder.path().join(format!("{k}.csv")).display().to_string();
    let file = |seed: usize| {
        let rows = (0..150_000).map(|t: usize| format!("{},{}\n", (t * seed) % 11, t % 3));
        format!("obs_0,reward\n{}", rows.collect::<String>())
    };
    for (k, seed) in [2, 3, 2].into_iter().enumerate() {
        std::fs::write(path(k), file(seed)).unwrap();
    }
    let log = |files: usize| evaluate((0..files).map(path)).discount(0.9);
    let parts = log(3).run_in_parts(&mut Backwards::default()).unwrap();
    assert_same(&log(3).run().unwrap(), &parts);
    let copied = |fit: &Fit| {
        fit.findings()
            .iter()
            .any(|f| f.message.contains("same 150000 rows"))
    };
    assert!(copied(&parts));
    std::fs::write(path(3), "obs_0,reward,terminated\n1,2,0\n").unwrap();
    let whole = log(4).run().unwrap_err();
    let parts = log(4).run_in_parts(&mut Backwards::default()).unwrap_err();
    assert!(matches!(&parts, Error::SchemaChanged { .. }), "{parts}");
    assert_eq!(parts.to_string(), whole.to_string());
}

/// Reward 1 in every row: an episode of n rows returns (1 - gamma^n) / (1 - gamma). Every episode is longer than a node.
#[test]
fn returns_of_episodes_are_continued_across_nodes() {
    let lengths = [270_000_usize, 300_000, 280_000];
    let folder = tempfile::tempdir().unwrap();
    let mut text = "obs_0,reward,terminated,episode\n".to_owned();
    for (episode, length) in lengths.into_iter().enumerate() {
        for t in 0..length {
            writeln!(text, "{},1,{},{episode}", t % 7, flag(t + 1 == length)).unwrap();
        }
    }
    let name = folder.path().join("log.csv").display().to_string();
    std::fs::write(&name, text).unwrap();
    let discount = 0.999_995;
    let log = || evaluate([name.clone()]).discount(discount);
    let whole = log().run().unwrap();
    let returned = |n: usize| (1.0 - f64::powi(discount, n as i32)) / (1.0 - discount);
    let mean = lengths.into_iter().map(returned).sum::<f64>() / 3.0;
    let found = whole.monte_carlo().unwrap();
    assert_eq!(found.episodes, 3);
    assert!(
        (found.value / mean - 1.0).abs() < 1e-9,
        "{} {mean}",
        found.value
    );
    let parts = log().run_in_parts(&mut Backwards::default()).unwrap();
    assert_same(&whole, &parts);
}

/// Sums have the size of the features, and samples are full after some thousand rows: those of a whole part are not larger.
#[test]
fn the_state_of_300_features_is_small() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("log.csv");
    let mut random = Stream::new(3, 1);
    for (columns, features) in [(23, "polynomial(degree=2)"), (300, "standardise")] {
        let names: Vec<String> = (0..columns).map(|k| format!("obs_{k}")).collect();
        let mut text = names.join(",") + ",reward,terminated,episode\n";
        for t in 0..5000 {
            for _ in 0..columns {
                write!(text, "{:.3},", random.uniform()).unwrap();
            }
            writeln!(text, "{},{},{}", random.uniform(), flag(t % 5 == 4), t / 5).unwrap();
        }
        std::fs::write(&name, text).unwrap();
        let log = || {
            evaluate([name.display().to_string()])
                .discount(0.9)
                .features(features)
        };
        let mut engine = Backwards::default();
        let fit = log().run_in_parts(&mut engine).unwrap();
        assert_eq!(fit.report().dimension, 300);
        assert_same(&fit, &log().run().unwrap());
        let largest = engine.largest;
        assert!(largest < 3_000_000, "{features}: {largest} bytes");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let walk = Walk {
        longest: 900.0,
        header: "obs_0,reward,terminated,episode",
        row: |p| format!("{},{},{},{}", p.x, p.reward, flag(p.end.0), p.episode),
    };
    let (_, engine) = check(&walk, 1, |log| log);
    let [.., (_, equations, states), (_, scores, others), _] = &engine.jobs[..] else {
        panic!("jobs");
    };
    let merge = |description: &[u8], states: &[&Vec<u8>]| {
        merge_states(description, states.iter().map(|state| state.as_slice()))
    };
    assert!(merge(equations, &[&states[0], &states[1], &states[2]]).is_ok());
    // In another order, of another job, damaged.
    let wrong = merge(equations, &[&states[2], &states[0]]);
    assert!(matches!(wrong, Err(Error::Parts { .. })), "{wrong:?}");
    let foreign = merge(scores, &[&states[0]]).unwrap_err().to_string();
    assert!(foreign.contains("another job"), "{foreign}");
    let mut damaged = others[0].clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    let damaged = merge(scores, &[&damaged]).unwrap_err().to_string();
    assert!(damaged.contains("checksum"), "{damaged}");
    // Bytes with a valid checksum and any content.
    let mut random = Stream::new(5, 5);
    for k in 0..2000 {
        let length = 1 + k % 90;
        let bytes: Vec<u8> = (0..length)
            .map(|_| (random.uniform() * 256.0) as u8)
            .collect();
        let tuple: Vec<[u8; 1]> = bytes.iter().map(|byte| [*byte]).collect();
        for (job, kind) in [(equations, b"state   "), (scores, b"state   ")] {
            // The body of a list is its length and its bytes: both are read as something else.
            let state = sealed::seal(Kind(kind), Job::of(job), &tuple);
            let _ = merge(job, &[&state]);
        }
        let task = sealed::seal(Kind(b"node    "), Job::of(equations), &tuple);
        assert!(compute_task(equations, &task, 1).is_err());
    }
    assert!(compute_task(b"no pass", b"", 1).is_err());
}

#[test]
fn what_is_not_computed_in_parts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let plain = write("plain.csv", "obs_0,reward\n1,1\n2,0\n1,1\n");
    let ratios = write("ratios.csv", "obs_0,reward,rho\n1,1,1\n2,0,2\n1,1,1\n");
    let mixed = write(
        "mixed.csv",
        "obs_0,reward,episode\n1,1,0\n2,1,1\n3,1,0\n4,1,1\n",
    );
    let refused = |log: Evaluation| {
        let found = log.discount(0.9).run_in_parts(&mut Backwards::default());
        let error = found.unwrap_err();
        assert!(matches!(error, Error::NotInParts { .. }), "{error}");
        error.to_string()
    };
    let of = |name: &String| evaluate([name.clone()]);
    assert!(refused(of(&plain).algorithm("alg1")).contains("steps through the log"));
    assert!(refused(of(&plain).horizon(3)).contains("horizon"));
    assert!(refused(of(&plain).features("auto")).contains("choose"));
    assert!(refused(of(&plain).return_variance()).contains("variance"));
    assert!(refused(of(&ratios)).contains("not followed"));
    assert!(refused(of(&mixed)).contains("sort them by episode"));
    let sparse = "tiles(tilings=4, bins=400)";
    assert!(refused(of(&plain).features(sparse)).contains("features"));
    let model = of(&plain).discount(0.9).run().unwrap();
    let model = Model::from_json(&model.model().to_json().unwrap()).unwrap();
    assert!(refused(of(&plain).resume(model)).contains("resumed"));
}

/// Damages the rows before the last part while that is computed.
struct Damaging<'a> {
    files: &'a [String],
    checked: usize,
}

impl Engine for Damaging<'_> {
    fn run(&mut self, name: &'static str, description: Vec<u8>, tasks: Tasks) -> Result<Vec<u8>> {
        let state = |k: usize| compute_task(&description, &tasks.get(k).unwrap(), 1);
        let states = (0..tasks.len()).map(state).collect::<Result<Vec<_>>>()?;
        if name != "rows" {
            let file = &self.files[0];
            let good = std::fs::read(file).unwrap();
            let mut bad = good.clone();
            let header = good.iter().position(|byte| *byte == b'\n').unwrap();
            // Not the first records, which show what the columns are.
            bad[header + (1 << 17)..good.len() / 2].fill(b'?');
            std::fs::write(file, bad).unwrap();
            let last = tasks.len() - 1;
            assert_eq!(state(last)?, states[last], "{name}");
            assert!(state(0).is_err(), "{name}");
            std::fs::write(file, good).unwrap();
            self.checked += 1;
        }
        merge_states(&description, states.iter().map(Vec::as_slice))
    }
}

#[test]
fn parts_of_text_are_read_from_where_they_start() {
    for ending in ["csv", "ndjson"] {
        let folder = tempfile::tempdir().unwrap();
        let walk = Walk {
            longest: 300.0,
            header: "obs_0,reward,episode,terminated,truncated",
            row: |place| {
                let Place {
                    x,
                    reward,
                    episode,
                    end,
                    ..
                } = place;
                format!("{x},{reward},{episode},{},{}", flag(end.0), flag(end.1))
            },
        };
        let mut names = write(folder.path(), &walk, 1);
        if ending == "ndjson" {
            let text = std::fs::read_to_string(&names[0]).unwrap();
            let keys: Vec<&str> = walk.header.split(',').collect();
            let objects = text.lines().skip(1).map(|line| {
                let pairs = keys.iter().zip(line.split(','));
                let pairs: Vec<String> = pairs.map(|(key, x)| format!("\"{key}\":{x}")).collect();
                format!("{{{}}}\n", pairs.join(","))
            });
            let path = folder.path().join("log.ndjson");
            std::fs::write(&path, objects.collect::<String>()).unwrap();
            names = vec![path.display().to_string()];
        }
        let log = || evaluate(names.clone()).discount(0.95);
        let mut engine = Damaging {
            files: &names,
            checked: 0,
        };
        let parts = log().run_in_parts(&mut engine).unwrap();
        assert!(engine.checked >= 4);
        assert_same(&log().run().unwrap(), &parts);
        // The same text, compressed; only the name of the file differs.
        let name = format!("{}.zst", names[0]);
        let text = std::fs::read(&names[0]).unwrap();
        std::fs::write(&name, zstd::encode_all(&text[..], 1).unwrap()).unwrap();
        let compressed = || evaluate([name.clone()]).discount(0.95);
        let mut engine = Backwards::default();
        let parts = compressed().run_in_parts(&mut engine).unwrap();
        assert_same(&compressed().run().unwrap(), &parts);
        assert_eq!(parts.theta_bar(), log().run().unwrap().theta_bar());
    }
}
