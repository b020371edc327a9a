//! Kills long commands at random moments and checks that the bytes of their results do not show it, and that nothing is left behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The number of kills after which a command may end. The commands take a few seconds, so that they write checkpoints on the way.
const ROUND: u64 = 10;

/// A command that is killed. `OUT` stands for its output directory.
struct Victim {
    name: &'static str,
    /// The second set of arguments gives other results in the same directory.
    arguments: [&'static [&'static str]; 2],
    /// The file with the results, and those that differ from run to run in their times.
    results: &'static str,
}

const VICTIMS: [Victim; 5] = [
    Victim {
        name: "evaluate",
        arguments: [
            &[
                "evaluate",
                "log.csv",
                "--discount",
                "0.9",
                "--features",
                "polynomial(degree=3)",
                "--out",
                "OUT/model.json",
            ],
            &[
                "evaluate",
                "log.csv",
                "--discount",
                "0.8",
                "--features",
                "polynomial(degree=3)",
                "--out",
                "OUT/model.json",
            ],
        ],
        results: "model.json",
    },
    Victim {
        name: "reproduce",
        arguments: [
            &[
                "reproduce",
                "fig1",
                "--c-index",
                "31",
                "--scales",
                "1",
                "--simulate",
                "3000000",
                "--resume",
                "--out",
                "OUT",
            ],
            &[
                "reproduce",
                "fig2",
                "--c-index",
                "31",
                "--scales",
                "1",
                "--simulate",
                "3000000",
                "--resume",
                "--out",
                "OUT",
            ],
        ],
        results: "results.csv",
    },
    Victim {
        name: "sweep",
        arguments: [
            &["sweep", "sweep.toml", "--resume", "--out", "OUT"],
            &[
                "sweep",
                "sweep.toml",
                "--runs",
                "24",
                "--resume",
                "--out",
                "OUT",
            ],
        ],
        results: "results.csv",
    },
    Victim {
        name: "experiment",
        arguments: [
            &["experiment", "experiment.toml", "--resume", "--out", "OUT"],
            &["experiment", "other.toml", "--resume", "--out", "OUT"],
        ],
        results: "results.csv",
    },
    Victim {
        name: "compare",
        arguments: [
            &[
                "compare",
                "two-state",
                "--horizon",
                "40000",
                "--resume",
                "--out",
                "OUT",
            ],
            &[
                "compare",
                "two-state",
                "--horizon",
                "40000",
                "--seed",
                "2",
                "--resume",
                "--out",
                "OUT",
            ],
        ],
        results: "compare.csv",
    },
];

/// What came of the kills of a command.
#[derive(Default)]
struct Tally {
    kills: u64,
    /// Moments at which the command had ended.
    late: u64,
    ends: u64,
    wrong_bytes: u64,
    /// Directories that mixed two sets of results, or had more files than a run without a kill.
    mixed: u64,
    left: u64,
    failed: u64,
}

/// Whether no kill left a trace.
pub fn check(arguments: &[String]) -> bool {
    let Some((kills, only)) = options(arguments) else {
        eprintln!("cargo xtask faults [--kills N] [--only COMMAND]");
        return false;
    };
    // With the features of the whole workspace, so that dependencies are not built again.
    let build = ["build", "--release", "--workspace", "--bin", "robust-td"];
    if !crate::cargo(&build, &[]) {
        return false;
    }
    match run(kills, only) {
        Ok(passed) => passed,
        Err(error) => {
            eprintln!("{error}");
            false
        }
    }
}

/// The number of kills, and the command to kill, if not all.
fn options(arguments: &[String]) -> Option<(u64, Option<&str>)> {
    let (mut kills, mut only) = (1000, None);
    for pair in arguments.chunks(2) {
        match pair {
            [flag, number] if flag == "--kills" => kills = number.parse().ok()?,
            [flag, name] if flag == "--only" => {
                only = Some(VICTIMS.iter().find(|victim| victim.name == name)?.name);
            }
            _ => return None,
        }
    }
    Some((kills, only))
}

fn run(kills: u64, only: Option<&str>) -> std::io::Result<bool> {
    let built = crate::target().join("release/robust-td");
    let place = crate::target().join("faults");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    // A copy, so that a build meanwhile does not change the program.
    fs::copy(built, place.join("program"))?;
    let program = fs::canonicalize(place.join("program"))?;
    inputs(&place)?;
    let mut random = Random(20_250_601);
    let mut clean = true;
    println!("command     kills     late  ends  wrong bytes  mixed  left behind  failed");
    let chosen = |victim: &&Victim| only.is_none_or(|name| name == victim.name);
    let victims: Vec<&Victim> = VICTIMS.iter().filter(chosen).collect();
    for victim in &victims {
        let share = kills.div_ceil(victims.len() as u64);
        let found = torment(&program, &place, victim, share, &mut random)?;
        println!(
            "{:<10} {:>6} {:>8} {:>5} {:>12} {:>6} {:>12} {:>7}",
            victim.name,
            found.kills,
            found.late,
            found.ends,
            found.wrong_bytes,
            found.mixed,
            found.left,
            found.failed
        );
        clean &= found.wrong_bytes + found.mixed + found.left + found.failed == 0;
    }
    Ok(clean)
}

/// Kills a command again and again; now and then it may end, and is compared with a run without kills.
fn torment(
    program: &Path,
    place: &Path,
    victim: &Victim,
    kills: u64,
    random: &mut Random,
) -> std::io::Result<Tally> {
    let mut tally = Tally::default();
    let mut expected = Vec::new();
    let mut whole = Duration::ZERO;
    for (k, arguments) in victim.arguments.iter().enumerate() {
        let out = format!("{}-{k}", victim.name);
        fs::create_dir_all(place.join(&out))?;
        let start = Instant::now();
        let status = command(program, place, arguments, &out).status()?;
        tally.failed += u64::from(!status.success());
        whole = whole.max(start.elapsed());
        expected.push(contents(&place.join(&out))?);
    }
    let out = format!("{}-killed", victim.name);
    let folder = place.join(&out);
    fs::create_dir_all(&folder)?;
    let mut which = 0;
    while tally.kills < kills {
        let before = tally.kills;
        while tally.kills < before + ROUND.min(kills - before) {
            let mut child = command(program, place, victim.arguments[which], &out).spawn()?;
            std::thread::sleep(whole.mul_f64(1.1 * random.uniform()));
            let running = child.try_wait()?.is_none();
            child.kill()?;
            child.wait()?;
            // A kill counts if it found the command running. Other work on the machine changes how long that is.
            tally.kills += u64::from(running);
            tally.late += u64::from(!running);
            whole = whole.mul_f64(if running { 1.03 } else { 0.9 });
            tally.mixed += u64::from(is_mixed(&folder, victim, &expected));
        }
        let ended = command(program, place, victim.arguments[which], &out).status()?;
        tally.ends += 1;
        tally.failed += u64::from(!ended.success());
        let (found, wanted) = (contents(&folder)?, &expected[which]);
        tally.wrong_bytes += u64::from(found.get(victim.results) != wanted.get(victim.results));
        tally.left += u64::from(found.keys().ne(wanted.keys()));
        // The next round starts from these results, with other arguments.
        which = 1 - which;
        // A checkpoint of other arguments is refused by design; after an end there is none.
    }
    Ok(tally)
}

/// Whether the files of a directory are of two runs: with a manifest, all results are those of one of the two sets of arguments.
fn is_mixed(folder: &Path, victim: &Victim, expected: &[BTreeMap<String, Vec<u8>>]) -> bool {
    let Ok(found) = contents(folder) else {
        return true;
    };
    let fixed = |name: &str| !matches!(name, "manifest.json" | "report.html");
    let same = |set: &BTreeMap<String, Vec<u8>>| {
        set.iter()
            .filter(|(name, _)| fixed(name))
            .all(|(name, bytes)| found.get(name) == Some(bytes))
    };
    match found.contains_key("manifest.json") {
        true => !expected.iter().any(same),
        // Without one the results are being replaced, or there are none yet. A model stands alone.
        false => match found.get(victim.results) {
            Some(bytes) if victim.results == "model.json" => !expected
                .iter()
                .any(|set| set.get("model.json") == Some(bytes)),
            _ => false,
        },
    }
}

fn command(program: &Path, place: &Path, arguments: &[&str], out: &str) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(place)
        .args(arguments.iter().map(|word| word.replace("OUT", out)))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// The files of a directory.
fn contents(folder: &Path) -> std::io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = match path.is_dir() {
            true => Vec::new(),
            false => fs::read(&path)?,
        };
        files.insert(name.into_owned(), bytes);
    }
    Ok(files)
}

/// A log and the specs.
fn inputs(place: &Path) -> std::io::Result<()> {
    let mut log = String::from("obs_0,obs_1,obs_2,reward,episode,terminated\n");
    let mut random = Random(7);
    for k in 0..60_000_u64 {
        let [x, y, z] = [random.uniform(), random.uniform(), random.uniform()];
        let last = u8::from(k % 20 == 19);
        log += &format!("{x},{y},{z},{},{},{last}\n", x - y * z, k / 20);
    }
    let sweep = "problem = \"two-state\"\nc = [0.1, 1, 10]\nsteps = 20_000_000\nruns = 16\n";
    let experiment = "problem = \"two-state\"\nalgorithms = [\"alg1:c=0.1\", \"bhandari-c\", \"lstd\", \"adatd\"]\nhorizon = 500_000\n\
         vary = { epsilon = [0.3, 0.1] }\nruns = 16\n";
    for (name, text) in [
        ("log.csv", log.as_str()),
        ("sweep.toml", sweep),
        ("experiment.toml", experiment),
        ("other.toml", &(experiment.to_owned() + "seed = 2\n")),
    ] {
        fs::write(place.join(name), text)?;
    }
    Ok(())
}

/// Xorshift: the moments of the kills, the same ones in each campaign.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
