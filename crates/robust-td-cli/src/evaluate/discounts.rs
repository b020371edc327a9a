//! Prints the values of the policy for several discounts.

use robust_td_data::{DiscountsReport, EvaluationReport, Finding};

use super::page;
use crate::text::{self, number};

/// The page: a table of the values, then what a reader must know about each.
pub fn page(report: &DiscountsReport, confidence: f64) -> String {
    let percent = number(100.0 * confidence);
    let deviations = (report.discounts.iter()).any(|found| found.return_variance.is_some());
    let mut page = String::from("Value of the policy by discount\n");
    let mut rows = vec![[
        "discount".into(),
        "value".into(),
        if deviations {
            "deviation of the return".into()
        } else {
            String::new()
        },
        format!("{percent} % interval of the value"),
        "converged".into(),
        "features fit".into(),
    ]];
    rows.extend(report.discounts.iter().map(row));
    page += &text::left_columns(&rows);
    let (common, own) = findings(&report.discounts);
    for finding in common {
        page += &text::wrap("  - ", 4, &finding.message);
    }
    for (discount, finding) in own {
        let words = format!("discount {discount}: {}", finding.message);
        page += &text::wrap("  - ", 4, &words);
    }
    page += "\nData\n";
    let mut rows: Vec<(&str, String)> = Vec::new();
    if let Some(first) = report.discounts.first() {
        rows = page::data(first);
        rows.retain(|(name, _)| !["features", "method"].contains(name));
        let same = (report.discounts.iter()).all(|found| found.features == first.features);
        for found in report
            .discounts
            .iter()
            .take(if same { 1 } else { usize::MAX })
        {
            let count = text::count(found.dimension, "feature");
            let of = if same {
                String::new()
            } else {
                format!(" at discount {}", found.discount)
            };
            rows.insert(1, ("features", format!("{}: {count}{of}", found.features)));
        }
    }
    page + &text::definitions(&rows)
}

fn row(found: &EvaluationReport) -> [String; 6] {
    let start = found.start_value;
    let interval = start.filter(|start| start.upper.is_finite());
    [
        found.discount.to_string(),
        start.map_or("-".into(), |start| number(start.value)),
        found
            .return_variance
            .map_or(String::new(), |found| number(found.standard_deviation)),
        interval.map_or("not known".into(), |start| {
            format!("{} to {}", number(start.lower), number(start.upper))
        }),
        match found.converged {
            Some(true) => "yes".into(),
            Some(false) => "no".into(),
            None => "not known".into(),
        },
        found
            .check
            .as_ref()
            .map_or("-".into(), |check| check.verdict().word().into()),
    ]
}

/// The findings that all discounts have, and those of some.
fn findings(all: &[EvaluationReport]) -> (Vec<&Finding>, Vec<(f64, &Finding)>) {
    let everywhere = |finding: &Finding| all.iter().all(|found| found.findings.contains(finding));
    let common = all.first().map_or(&[][..], |first| &first.findings).iter();
    let own = all.iter().flat_map(|found| {
        let list = found.findings.iter().filter(|finding| !everywhere(finding));
        list.map(|finding| (found.discount, finding))
    });
    (
        common.filter(|finding| everywhere(finding)).collect(),
        own.collect(),
    )
}
