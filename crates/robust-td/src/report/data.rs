//! Fills in the page of a log.

use robust_td_data::{DataReport, Stats};
use robust_td_report::{
    Answer, Block, Cell, Column, Document, HeatMap, Mood, PageFigure, Section, Table,
};

use super::histogram::bars;
use super::parts::{answer, count, figure, findings, names, paragraph, rerun, section};
use super::pictures::histogram;
use super::policy::policy;
use crate::error::Result;

/// The number of features that are drawn.
const DRAWN: usize = 30;
/// The number of features that the table lists.
const LISTED: usize = 1000;

/// The page.
///
/// # Errors
/// When a figure cannot be drawn.
pub fn document(report: &DataReport, command: Option<&str>) -> Result<Document> {
    let mut sections = vec![findings(&report.findings)];
    sections.extend(rewards(report)?);
    sections.extend(policy(report));
    sections.extend(features(report)?);
    sections.extend(categories(report));
    sections.extend(correlations(report)?);
    sections.extend(bad_rows(report));
    sections.push(rerun(command.map(String::from)));
    Ok(Document {
        title: "Contents of a log".into(),
        summary: format!("Logged transitions in {}.", names(&report.files, 3)),
        answers: answers(report),
        sections,
    })
}

fn answers(report: &DataReport) -> Vec<Answer> {
    let bad = report.bad_rows.count();
    let rows = answer(
        "Rows",
        Cell::exact_count(report.rows, "rows"),
        vec![
            Cell::exact_count(bad, "bad_rows.count"),
            Cell::prose(if bad == 1 {
                "bad row was skipped"
            } else {
                "bad rows were skipped"
            }),
        ],
        if bad == 0 { Mood::Plain } else { Mood::Bad },
    );
    let transitions = answer(
        "Transitions",
        Cell::exact_count(report.transitions, "transitions"),
        vec![
            Cell::exact_count(report.left_out, "left_out"),
            Cell::prose("rows have no successor and yield none"),
        ],
        if report.transitions == 0 {
            Mood::Bad
        } else {
            Mood::Plain
        },
    );
    let episodes = answer(
        "Episodes",
        Cell::exact_count(report.episodes.count, "episodes.count"),
        vec![
            Cell::exact_count(report.episodes.terminated, "episodes.terminated"),
            Cell::prose("terminated,"),
            Cell::exact_count(report.episodes.truncated, "episodes.truncated"),
            Cell::prose("truncated"),
        ],
        Mood::Plain,
    );
    let columns = answer(
        "Features",
        Cell::exact_count(report.dimension as u64, "dimension"),
        vec![Cell::prose(names(&report.schema.observations, 8))],
        Mood::Plain,
    );
    vec![rows, transitions, episodes, columns]
}

/// A histogram of a sample, with the mean of all.
fn picture(
    title: &str,
    what: &str,
    noun: &str,
    sample: &[f64],
    stats: &Stats,
) -> Result<Option<PageFigure>> {
    let drawing = histogram(
        title,
        what,
        &format!("{noun}s"),
        bars(sample, noun),
        Some(stats.mean),
    );
    figure(title, "", drawing)
}

fn rewards(report: &DataReport) -> Result<Option<Section>> {
    let sample = &report.sample;
    let reward = match &report.reward {
        Some(stats) => picture("Rewards", "reward", "row", &sample.rewards, stats)?,
        None => None,
    };
    let lengths = match &report.episodes.length {
        Some(stats) => picture(
            "Lengths of episodes",
            "rows of the episode",
            "episode",
            &sample.lengths,
            stats,
        )?,
        None => None,
    };
    let figures: Vec<PageFigure> = [reward, lengths].into_iter().flatten().collect();
    let title = "Rewards and lengths of episodes";
    let rows = [
        ("reward", "reward", report.reward),
        (
            "rows of an episode",
            "episodes.length",
            report.episodes.length,
        ),
        ("norm of the observation", "obs_norm", report.obs_norm),
    ];
    let rows = rows
        .into_iter()
        .filter_map(|(name, key, stats)| Some(stats_row(name, key, &stats?)));
    let table = stats_table("Rewards and lengths", rows.collect());
    let mut blocks = Vec::new();
    if !figures.is_empty() {
        blocks.push(Block::Gallery(figures));
    }
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    Ok((!blocks.is_empty()).then(|| section("Rewards", title, blocks)))
}

fn features(report: &DataReport) -> Result<Option<Section>> {
    let mut figures = Vec::new();
    let sample = report.features.iter().zip(&report.sample.features);
    for (feature, values) in sample.take(DRAWN) {
        let name = feature.name.as_str();
        figures.extend(picture(name, name, "row", values, &feature.stats)?);
    }
    if figures.is_empty() {
        return Ok(None);
    }
    let sampled = report.sample.features.first().map_or(0, Vec::len);
    let mut text = match sampled as u64 == report.rows {
        true => String::from("The values of all rows. The lines are the means."),
        false => format!(
            "A sample of {}. The lines are the means of all rows.",
            count(sampled as u64, "row")
        ),
    };
    if report.features.len() > DRAWN {
        text += &format!(
            " The first {DRAWN} of {} are drawn.",
            count(report.features.len() as u64, "feature")
        );
    }
    let rows = report.features.iter().enumerate().take(LISTED);
    let rows = rows.map(|(k, feature)| {
        let key = format!("features.{k}.stats");
        stats_row(&feature.name, &key, &feature.stats)
    });
    let table = stats_table("Features", rows.collect());
    let blocks = vec![
        paragraph(text),
        Block::Gallery(figures),
        Block::Table(table),
    ];
    Ok(Some(section("Features", "Features", blocks)))
}

/// A line with the range, mean and spread of a column.
pub fn stats_row(name: &str, key: &str, stats: &Stats) -> Vec<Cell> {
    let numbers = [
        ("min", stats.min),
        ("mean", stats.mean),
        ("max", stats.max),
        ("std", stats.std),
    ];
    let mut row = vec![Cell::word(name)];
    row.extend(numbers.map(|(part, x)| Cell::exact(Some(x), format!("{key}.{part}"))));
    row
}

/// A table of such lines.
pub fn stats_table(title: &str, rows: Vec<Vec<Cell>>) -> Table {
    Table {
        title: title.into(),
        columns: vec![
            Column::words("column"),
            Column::numbers("smallest"),
            Column::numbers("mean"),
            Column::numbers("largest"),
            Column::numbers("standard deviation"),
        ],
        rows,
        ..Table::default()
    }
}

/// The most frequent levels of each category.
fn categories(report: &DataReport) -> Option<Section> {
    let mut blocks = Vec::new();
    for (k, category) in report.categories.iter().enumerate().take(DRAWN) {
        let key = |name: &str| format!("categories.{k}.{name}");
        let levels = category.most.iter().enumerate().map(|(i, level)| {
            vec![
                Cell::prose(level.level.clone()),
                Cell::exact_count(level.rows, key(&format!("most.{i}.rows"))),
            ]
        });
        let mut rows: Vec<Vec<Cell>> = levels.collect();
        if category.missing > 0 {
            rows.push(vec![
                Cell::prose("missing"),
                Cell::exact_count(category.missing, key("missing")),
            ]);
        }
        let more = if category.complete { "" } else { "more than " };
        blocks.push(paragraph(format!(
            "{}: {more}{}, the most frequent first.",
            category.name,
            count(category.levels, "level")
        )));
        blocks.push(Block::Table(Table {
            title: category.name.clone(),
            columns: vec![Column::words("level"), Column::numbers("rows")],
            rows,
            ..Table::default()
        }));
    }
    (!blocks.is_empty()).then(|| section("Categories", "Categories", blocks))
}

fn correlations(report: &DataReport) -> Result<Option<Section>> {
    let values = &report.sample.correlations;
    if values.len() < 2 {
        return Ok(None);
    }
    let shown = values.len().min(DRAWN);
    let names = report.features.iter().take(shown);
    let map = HeatMap {
        title: "Correlations of the features".into(),
        names: names.map(|feature| feature.name.clone()).collect(),
        values: (values.iter().take(shown))
            .map(|row| row[..shown].to_vec())
            .collect(),
    };
    let mut text = String::from(
        "Blue: the two features rise together. Red: one falls as the other rises. The deeper the colour, the closer to 1 or −1. \
         A constant feature has no correlation.",
    );
    if values.len() > shown {
        text += &format!(
            " The first {shown} of {} are drawn.",
            count(values.len() as u64, "feature")
        );
    }
    let picture = figure("Correlations over all rows", "", map.draw())?;
    let blocks = picture.map(|picture| vec![paragraph(text), Block::Gallery(vec![picture])]);
    Ok(blocks.map(|blocks| section("Correlations", "Correlations", blocks)))
}

/// The rows that were skipped, by kind.
fn bad_rows(report: &DataReport) -> Option<Section> {
    let kinds = report.bad_rows.kinds();
    let rows = kinds.iter().enumerate().map(|(k, kind)| {
        vec![
            Cell::word(kind.first.kind.name()),
            Cell::exact_count(kind.count, format!("bad_rows.kinds.{k}.count")),
            Cell::prose(kind.first.to_string()),
        ]
    });
    let table = Table {
        title: "Missing and bad rows".into(),
        columns: vec![
            Column::words("kind"),
            Column::numbers("rows"),
            Column::words("the first of them"),
        ],
        rows: rows.collect(),
        ..Table::default()
    };
    (!kinds.is_empty()).then(|| section("Bad", "Missing and bad rows", vec![Block::Table(table)]))
}
