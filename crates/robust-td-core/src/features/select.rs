//! Determines which columns each map of a stage reads.

use super::column::{ColumnName, Input, unknown};
use super::spec::{Item, MapSpec, OneHotSpec, parse, refused};
use crate::error::Result;

/// A map with its columns.
#[derive(Debug)]
pub(super) struct Selected {
    /// The columns; `None` for all.
    pub columns: Option<Vec<usize>>,
    /// The name of the only column of `one-hot`.
    pub name: Option<String>,
    /// Whether that column is a category.
    pub category: bool,
    pub map: MapSpec,
}

/// The columns of the maps of a stage.
///
/// # Errors
/// When a name matches no column, a category is in a map of numbers, or a category is in no map.
pub(super) fn select(stage: &[Item], inputs: &[Input]) -> Result<Vec<Selected>> {
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    let mut selected = Vec::new();
    for item in stage {
        let named = find(item, &names)?;
        match &item.map {
            MapSpec::OneHot(spec) => selected.extend(one_hot(spec, named, inputs)),
            MapSpec::Bias => selected.push(of_numbers(item, None)),
            _ => selected.push(of_numbers(item, numbers(item, named, inputs)?)),
        }
    }
    let used = |k: usize| {
        let mut maps = selected.iter().map(|part| &part.map);
        maps.any(|map| matches!(map, MapSpec::OneHot(spec) if spec.column == k))
    };
    match (0..inputs.len()).find(|&k| inputs[k].category && !used(k)) {
        None => Ok(selected),
        Some(k) => {
            let name = &inputs[k].name;
            let problem =
                format!("column {name} has text, and no map uses it; add one-hot({name})");
            let part: Vec<&str> = stage.iter().map(|item| item.text.as_str()).collect();
            Err(refused(&part.join(" + "), problem))
        }
    }
}

/// The columns that a map names; `None` if it names none.
fn find(item: &Item, names: &[&str]) -> Result<Option<Vec<usize>>> {
    if item.columns.is_empty() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for name in &item.columns {
        let columns = name.find(names);
        if columns.is_empty() {
            return Err(refused(&item.text, unknown(name, names)));
        }
        for column in columns {
            if !found.contains(&column) {
                found.push(column);
            }
        }
    }
    Ok(Some(found))
}

fn of_numbers(item: &Item, columns: Option<Vec<usize>>) -> Selected {
    Selected {
        columns,
        name: None,
        category: false,
        map: item.map.clone(),
    }
}

/// The columns of a map of numbers; `None` for all.
fn numbers(item: &Item, named: Option<Vec<usize>>, inputs: &[Input]) -> Result<Option<Vec<usize>>> {
    let columns: Vec<usize> = match named {
        None => (0..inputs.len()).filter(|&k| !inputs[k].category).collect(),
        Some(mut columns) => {
            let exact = |k: usize| {
                let name = &inputs[k].name;
                item.columns
                    .iter()
                    .any(|own| !own.is_pattern && own.text == *name)
            };
            if let Some(&k) = columns.iter().find(|&&k| inputs[k].category && exact(k)) {
                let name = &inputs[k].name;
                let problem = format!("column {name} has text, not numbers; use one-hot({name})");
                return Err(refused(&item.text, problem));
            }
            columns.retain(|&k| !inputs[k].category);
            columns
        }
    };
    if columns.is_empty() && !inputs.is_empty() {
        return Err(refused(&item.text, "there is no column of numbers for it"));
    }
    let all = columns.iter().copied().eq(0..inputs.len());
    Ok((!all).then_some(columns))
}

/// One map for each column.
fn one_hot(spec: &OneHotSpec, named: Option<Vec<usize>>, inputs: &[Input]) -> Vec<Selected> {
    let by_name = named.is_some();
    let columns = named.unwrap_or_else(|| vec![spec.column]);
    let maps = columns.into_iter().map(|column| {
        let input = inputs.get(column);
        Selected {
            columns: None,
            name: input.map(|input| input.name.clone()).filter(|_| by_name),
            category: by_name || input.is_some_and(|input| input.category),
            map: MapSpec::OneHot(OneHotSpec {
                column,
                ..spec.clone()
            }),
        }
    });
    maps.collect()
}

/// What a description says about the columns of the observation.
#[derive(Debug, Clone)]
pub struct ColumnUse {
    items: Vec<Item>,
}

impl ColumnUse {
    /// Parses descriptions; several are read together.
    ///
    /// # Errors
    /// Names the part of a description that is invalid.
    pub fn of(specs: &[&str]) -> Result<Self> {
        let mut items = Vec::new();
        for spec in specs {
            items.extend(parse(spec)?.into_iter().next().unwrap_or_default());
        }
        Ok(Self { items })
    }

    /// The names and patterns, each with whether it is that of a category, in the order of the description.
    pub fn names(&self) -> impl Iterator<Item = (&ColumnName, bool)> {
        self.items.iter().flat_map(|item| {
            let category = matches!(item.map, MapSpec::OneHot(_));
            item.columns.iter().map(move |name| (name, category))
        })
    }

    /// Whether some map reads columns that it does not name.
    #[must_use]
    pub fn reads_others(&self) -> bool {
        let reads = |item: &Item| item.columns.is_empty() && item.map != MapSpec::Bias;
        self.items.iter().any(reads)
    }

    /// The columns of an observation with how they are read: as a category if they are text, or if only `one-hot` names them.
    #[must_use]
    pub fn inputs(&self, names: &[String], is_text: impl Fn(usize) -> bool) -> Vec<Input> {
        let inputs = names.iter().enumerate().map(|(k, name)| {
            let uses = || {
                let named = |item: &&Item| item.columns.iter().any(|own| own.matches(name));
                self.items.iter().filter(named)
            };
            let one_hot = |item: &Item| match &item.map {
                MapSpec::OneHot(spec) => Some(spec.clone()),
                _ => None,
            };
            let only = uses().next().is_some() && uses().all(|item| one_hot(item).is_some());
            let category = only || is_text(k);
            Input {
                name: name.clone(),
                category,
                missing: category && uses().filter_map(one_hot).any(|spec| spec.missing),
            }
        });
        inputs.collect()
    }
}
