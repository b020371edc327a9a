//! Sweeps c on many problems with the same schedules and projections, one case after the other.

mod page;
mod summary;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use robust_td_data::files::{self, FileSet};
use robust_td_engine::{Kernel, Progress};

use super::error::SweepError;
use super::results::SweepResults;
use super::spec::Spec;
use super::study::Study;
use super::{CHECKPOINT, Sweep, in_file};
use crate::error::Result;
use crate::spec_file;

pub use summary::{Best, MethodSummary, Slope};

/// Many problems to sweep; a TOML file as for [`Sweep::load`] with `cases` instead of `problem` and `set`:
///
/// ```
/// use robust_td::sweep::SweepCollection;
///
/// let collection = SweepCollection::from_toml(
///     r#"
///     schedule = ["theory", "inv_t"]
///     c = [0.1, 10]
///     steps = 2000
///     runs = 4
///     mode = "tdx"
///     cases = [
///         { problem = "e1", set = { eps2 = 0.1 } },
///         { name = "weak trap", problem = "e3", set = { mode = "weak" } },
///     ]
///     "#,
///     ".",
/// )?;
/// # let out = tempfile::tempdir()?;
/// # let out = out.path();
/// let results = collection.run(out)?; // results.csv, summary.csv, cases.csv, report.html and a folder per case
/// assert_eq!(results.methods().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a collection does nothing until `run`"]
pub struct SweepCollection<'a> {
    title: String,
    cases: Vec<(String, Spec)>,
    directory: PathBuf,
    command: Option<String>,
    threads: usize,
    kernel: Kernel,
    resume: bool,
    progress: Option<Box<Observer<'a>>>,
    cancel: Option<&'a AtomicBool>,
}

/// A progress callback: the number of the case from 0, the number of cases, and how far the case is.
type Observer<'a> = dyn Fn(usize, usize, Progress) + Send + Sync + 'a;

/// The most cases of a collection.
const MOST_CASES: usize = 10_000;

impl<'a> SweepCollection<'a> {
    /// The collection in a file, or `None` if it cannot be read or has no `cases`; [`Sweep::load`] then says what is wrong.
    ///
    /// # Errors
    /// A file with `cases` that does not describe a collection.
    pub fn load(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let file = path.as_ref();
        let text = files::text(file, files::LONGEST_TEXT).unwrap_or_default();
        match toml::from_str::<toml::Table>(&text) {
            Ok(table) if table.contains_key("cases") => {}
            _ => return Ok(None),
        }
        let directory = file.parent().unwrap_or(Path::new(""));
        let found = Self::from_toml(&text, directory).map_err(|error| in_file(file, error))?;
        Ok(Some(found))
    }

    /// The collection that a TOML text describes; problem files are relative to `directory`.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn from_toml(text: &str, directory: impl AsRef<Path>) -> Result<Self> {
        let wrong = |message: String| SweepError::Spec { message };
        let mut common: toml::Table = spec_file::parse(text).map_err(wrong)?;
        let title = match common.get("title") {
            Some(toml::Value::String(title)) => title.clone(),
            _ => "Step size sweeps".into(),
        };
        let cases = match common.remove("cases") {
            Some(toml::Value::Array(cases)) if !cases.is_empty() => cases,
            _ => return Err(wrong("cases must be a list of { problem, set }".into()).into()),
        };
        if cases.len() > MOST_CASES {
            let message = format!("there are {} cases, but at most {MOST_CASES}", cases.len());
            return Err(wrong(message).into());
        }
        let mut found: Vec<(String, Spec)> = Vec::with_capacity(cases.len());
        for (number, case) in cases.into_iter().enumerate() {
            let at = |message: String| wrong(format!("case {number}: {message}"));
            let toml::Value::Table(mut case) = case else {
                return Err(at(format!("{case} is not a table {{ problem, set }}")).into());
            };
            let name = match case.remove("name") {
                Some(toml::Value::String(name)) => name,
                Some(other) => return Err(at(format!("name is {other}, not a text")).into()),
                None => default_name(&case),
            };
            let mut whole = common.clone();
            for (key, value) in case {
                if key != "problem" && key != "set" {
                    let message = format!("unknown key {key:?}; a case has name, problem and set");
                    return Err(at(message).into());
                }
                whole.insert(key, value);
            }
            let spec: Spec = toml::Value::Table(whole)
                .try_into()
                .map_err(|error: toml::de::Error| at(error.message().trim().replace('\n', " ")))?;
            if found
                .iter()
                .any(|(other, _)| folder(other) == folder(&name))
            {
                return Err(at(format!("the name {name:?} is taken; add name = \"...\"")).into());
            }
            found.push((name, spec));
        }
        let collection = Self {
            title,
            cases: found,
            directory: directory.as_ref().into(),
            command: None,
            threads: 0,
            kernel: Kernel::best(),
            resume: false,
            progress: None,
            cancel: None,
        };
        // Every case is checked before the first one runs.
        for k in 0..collection.cases.len() {
            Study::new(&collection.sweep(k)?.request)
                .map_err(|error| wrong(format!("{}: {error}", collection.cases[k].0)))?;
        }
        Ok(collection)
    }

    /// The names of the cases.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = &str> {
        self.cases.iter().map(|(name, _)| name.as_str())
    }

    /// Another horizon for all cases.
    pub fn horizon(mut self, steps: u64) -> Self {
        self.cases
            .iter_mut()
            .for_each(|(_, spec)| spec.steps = steps);
        self
    }

    /// Another number of runs for all cases.
    pub fn runs(mut self, runs: u64) -> Self {
        self.cases.iter_mut().for_each(|(_, spec)| spec.runs = runs);
        self
    }

    /// The command line to show on the page.
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// Number of threads; 0, the default, means one per CPU. Results do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The vector code that computes the updates, by default the best of this CPU. Results do not depend on it.
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// Whether to keep finished cases and continue the one that was interrupted, to the same bits.
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Called at the start of each case, then every few milliseconds.
    pub fn progress(
        mut self,
        progress: impl Fn(usize, usize, Progress) + Send + Sync + 'a,
    ) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Stops soon after this becomes true, with the checkpoint up to date.
    pub fn cancel(mut self, cancel: &'a AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }

    fn sweep<'s>(&self, k: usize) -> Result<Sweep<'s>> {
        let (name, spec) = &self.cases[k];
        let sweep =
            Sweep::of_spec(spec.clone(), &self.directory).map_err(|error| SweepError::Spec {
                message: format!("{name}: {error}"),
            })?;
        Ok(sweep.name(name.clone()))
    }

    /// Runs all cases and writes `results.csv` (all rows), `summary.csv` (by schedule and projection), `cases.csv` (the best stable c
    /// of each case), `report.html` and a folder per case with `results.csv` and `curves.csv`.
    ///
    /// Each case keeps its checkpoint until all are done.
    ///
    /// # Errors
    /// As for [`Sweep::run`], and files that cannot be written.
    pub fn run(self, out: impl AsRef<Path>) -> Result<CollectionResults> {
        let out = out.as_ref();
        let _lock = files::open(out)?;
        let start = Instant::now();
        let mut cases = Vec::with_capacity(self.cases.len());
        for (k, (name, _)) in self.cases.iter().enumerate() {
            let folder = out.join(folder(name));
            let mut sweep = self.sweep(k)?;
            sweep = sweep.threads(self.threads).kernel(self.kernel);
            sweep = sweep.checkpoint(&folder).resume(self.resume);
            if let Some(progress) = &self.progress {
                let count = self.cases.len();
                sweep = sweep.progress(move |p| progress(k, count, p));
            }
            if let Some(cancel) = self.cancel {
                sweep = sweep.cancel(cancel);
            }
            let results = sweep.run()?;
            let mut set = FileSet::new(&folder)?;
            set.add("results.csv", results.to_csv().as_bytes())?;
            set.add("curves.csv", results.curves_to_csv().as_bytes())?;
            set.commit()?;
            cases.push((name.clone(), results));
        }
        let found = CollectionResults {
            title: self.title,
            cases,
            seconds: start.elapsed().as_secs_f64(),
            command: self.command,
        };
        found.write(out)?;
        for (name, _) in &found.cases {
            // The results are on disk; a checkpoint that is already gone is fine.
            let _ = std::fs::remove_file(out.join(folder(name)).join(CHECKPOINT));
        }
        Ok(found)
    }
}

/// The problem and its settings: `e3-eps2-0.01`.
fn default_name(case: &toml::Table) -> String {
    let problem = case.get("problem").and_then(toml::Value::as_str);
    let mut name = problem.unwrap_or("case").to_string();
    if let Some(toml::Value::Table(set)) = case.get("set") {
        for (key, value) in set {
            let value = value.to_string();
            name.push_str(&format!("-{key}-{}", value.trim_matches('"')));
        }
    }
    name
}

/// The name of a case's folder: letters, digits, dots and hyphens.
fn folder(name: &str) -> String {
    let safe = |c: char| match c.is_ascii_alphanumeric() || c == '.' || c == '_' {
        true => c,
        false => '-',
    };
    name.chars().map(safe).collect()
}

/// The results of a collection.
#[derive(Debug, Clone)]
pub struct CollectionResults {
    pub(super) title: String,
    pub(super) cases: Vec<(String, SweepResults)>,
    pub(super) seconds: f64,
    pub(super) command: Option<String>,
}

impl CollectionResults {
    /// The cases by name.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = (&str, &SweepResults)> {
        self.cases
            .iter()
            .map(|(name, found)| (name.as_str(), found))
    }

    /// TD updates of all cases, including those before a resume.
    #[must_use]
    pub fn lane_steps(&self) -> u64 {
        self.cases
            .iter()
            .map(|(_, found)| found.execution.lane_steps)
            .sum()
    }

    /// TD updates of this invocation.
    #[must_use]
    pub fn computed(&self) -> u64 {
        self.cases
            .iter()
            .map(|(_, found)| found.execution.computed)
            .sum()
    }

    /// Wall time of this invocation.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    fn write(&self, out: &Path) -> Result<()> {
        let mut set = FileSet::new(out)?;
        set.add("results.csv", self.results_csv().as_bytes())?;
        set.add("summary.csv", self.summary_csv().as_bytes())?;
        set.add("cases.csv", self.cases_csv().as_bytes())?;
        set.add("report.html", self.page().to_html()?.as_bytes())?;
        Ok(set.commit()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        schedule = ["theory", "inv_t", "inv_c"]
        projection = ["none", "oracle"]
        c = [0.001, 1, 1000]
        steps = 3000
        runs = 5
        mode = "tdx"
        cases = [{ problem = "e1", set = { eps2 = 0.1 } }, { problem = "e10" }]
    "#;

    #[test]
    fn a_resumed_collection_has_the_same_bytes() {
        let load = || SweepCollection::from_toml(TEXT, "").unwrap();
        let names: Vec<_> = load().cases().map(str::to_string).collect();
        assert_eq!(names, ["e1-eps2-0.1", "e10"]);
        let (once, twice) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let whole = load().run(once.path()).unwrap();
        assert_eq!(whole.lane_steps(), 2 * 6 * 3 * 5 * 3000);
        // Stops at the second case, then continues.
        let cancel = AtomicBool::new(false);
        let stop = |case: usize, _: usize, _: Progress| {
            cancel.store(case == 1, std::sync::atomic::Ordering::Relaxed);
        };
        let stopped = load().progress(stop).cancel(&cancel).run(twice.path());
        assert!(stopped.is_err());
        let resumed = load().resume(true).run(twice.path()).unwrap();
        assert!(resumed.computed() < resumed.lane_steps());
        for name in ["results.csv", "summary.csv", "cases.csv", "e10/curves.csv"] {
            let read = |dir: &Path| std::fs::read(dir.join(name)).unwrap();
            assert_eq!(read(once.path()), read(twice.path()), "{name}");
        }
        assert!(!once.path().join("e10").join(CHECKPOINT).exists());
    }

    #[test]
    fn wrong_cases_are_refused_by_number_and_name() {
        for (from, to, words) in [
            ("{ problem = \"e10\" }", "{ problem = \"e99\" }", "e99"),
            ("{ problem = \"e10\" }", "3", "case 1: 3 is not a table"),
            (
                "{ problem = \"e10\" }",
                "{ problem = \"e10\", runs = 3 }",
                "case 1: unknown key \"runs\"",
            ),
            (
                "{ problem = \"e10\" }",
                "{ problem = \"e1\", set = { eps2 = 0.1 } }",
                "is taken",
            ),
            (
                "eps2 = 0.1",
                "mode = \"fast\"",
                "mode is fast, but must be driven or zero",
            ),
            (
                "\"oracle\"",
                "\"oracles\"",
                "projection is \"oracles\", but must be \"none\"",
            ),
            (
                "\"inv_c\"",
                "\"inv\"",
                "schedule is \"inv\", but must be \"decaying\"",
            ),
            ("runs = 5", "runs = 0", "runs is 0"),
        ] {
            let text = TEXT.replace(from, to);
            let message = SweepCollection::from_toml(&text, "")
                .err()
                .unwrap()
                .to_string();
            assert!(message.contains(words), "{to}: {message}");
        }
    }
}
