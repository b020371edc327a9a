//! Sets up the methods that take part, with what each is told.

use robust_td_core::registry::METHODS;
use robust_td_core::registry::{Method, Prepared, Setting, Standing};
use robust_td_core::{Error, Mixing, Problem};

use super::choice::{Choice, Wish};
use crate::failure::Failure;
use crate::suggestion;

/// A method that is ready to run.
#[derive(Debug, Clone)]
pub struct Contestant {
    /// What to call it.
    pub label: String,
    /// The method.
    pub method: &'static Method,
    /// What the user set.
    pub settings: Vec<(String, f64)>,
    /// The learner and what it was told.
    pub prepared: Prepared,
}

/// A method that cannot run on a problem.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Skipped {
    /// The method.
    pub id: &'static str,
    /// What stands in the way.
    pub why: String,
}

/// Who takes part, and who does not.
#[derive(Debug, Clone)]
pub struct Field {
    /// Those who do.
    pub contestants: Vec<Contestant>,
    /// Those who were not asked for by name and cannot.
    pub skipped: Vec<Skipped>,
}

/// Sets up the chosen methods, or all that apply. The setting nearest to a method wins: its own, then that of its
/// id, then that for all.
pub fn gather(
    problem: &Problem,
    mixing: Option<&Mixing>,
    horizon: u64,
    choices: Option<&[Choice]>,
    wishes: &[Wish],
) -> Result<Field, Failure> {
    let everyone: Vec<Choice>;
    let entries = match choices {
        Some(choices) => choices,
        None => {
            everyone = METHODS.iter().copied().map(Choice::plain).collect();
            &everyone
        }
    };
    check(entries, wishes).map_err(Failure::Usage)?;
    let setting = Setting::of_problem(problem, mixing, horizon);
    let (mut contestants, mut skipped) = (Vec::new(), Vec::new());
    for entry in entries {
        let settings = settings(entry, wishes);
        match (entry.method.prepare(&setting, &settings), choices) {
            (Ok(prepared), _) => contestants.push(Contestant {
                label: entry.label.clone(),
                method: entry.method,
                settings,
                prepared,
            }),
            (Err(error), None) => skipped.push(Skipped {
                id: entry.method.id,
                why: why_skipped(error)?,
            }),
            (Err(error), Some(_)) => return Err(Failure::Usage(error.to_string())),
        }
    }
    if contestants.is_empty() {
        return Err(Failure::Usage("no method applies to this problem".into()));
    }
    Ok(Field {
        contestants,
        skipped,
    })
}

/// Refuses entries that cannot be told apart and wishes that nobody can grant.
fn check(entries: &[Choice], wishes: &[Wish]) -> Result<(), String> {
    for (k, entry) in entries.iter().enumerate() {
        if entries[..k].iter().any(|other| other.label == entry.label) {
            return Err(format!(
                "{} is given twice; settings such as {}:c=0.1 tell entries apart",
                entry.label, entry.method.id
            ));
        }
    }
    for (k, wish) in wishes.iter().enumerate() {
        let key = wish.key();
        if wishes[..k].iter().any(|other| other.key() == key) {
            return Err(format!("the parameter {key} is given twice"));
        }
        if entries.iter().any(|entry| wish.concerns(entry.method)) {
            continue;
        }
        if let Some(id) = &wish.id {
            return Err(format!("{key} is set, but {id} does not take part"));
        }
        let parameters = entries.iter().flat_map(|entry| entry.method.parameters);
        let mut known: Vec<&str> = parameters.map(|parameter| parameter.name).collect();
        known.sort_unstable();
        known.dedup();
        let hint = suggestion::or_known(&key, &known);
        return Err(format!("no method here has a parameter {key:?}; {hint}"));
    }
    Ok(())
}

/// What an entry is told, its own settings first.
fn settings(entry: &Choice, wishes: &[Wish]) -> Vec<(String, f64)> {
    let mut settings = entry.settings.clone();
    for of_one in [true, false] {
        let level = wishes.iter().filter(|wish| wish.id.is_some() == of_one);
        for wish in level.filter(|wish| wish.concerns(entry.method)) {
            if settings.iter().all(|(name, _)| *name != wish.name) {
                settings.push((wish.name.clone(), wish.value));
            }
        }
    }
    settings
}

/// Why a method that nobody asked for by name stays away; anything but its nature is the user's mistake.
fn why_skipped(error: Error) -> Result<String, Failure> {
    match error {
        Error::NotApplicable { why, .. } => Ok(why),
        Error::MissingInput { name, meaning, .. } => Ok(format!("it needs {name} ({meaning})")),
        other => Err(Failure::Usage(other.to_string())),
    }
}

/// How much is known of a method, in a word.
pub fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Proved => "proved",
        Standing::Baseline => "baseline",
        Standing::Experimental => "experimental",
    }
}
