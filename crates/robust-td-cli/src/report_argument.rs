//! Takes the file of a report and checks it before the long work.

use std::path::{Path, PathBuf};

use clap::Args;
use robust_td_data::{Log, files};

use crate::failure::Failure;

/// Ends of names that promise another format.
const OTHERS: [&str; 9] = [
    "csv", "docx", "json", "md", "parquet", "pdf", "png", "svg", "txt",
];

/// The file to write a report to.
#[derive(Debug, Args)]
pub struct ReportArgument {
    /// Write a self-contained HTML page with pictures
    #[arg(long = "report", value_name = "FILE.html")]
    path: Option<PathBuf>,
}

impl ReportArgument {
    /// Checks that the page can be written, and neither over another output nor over the log.
    pub fn check(&self, other: Option<&Path>, log: &Log) -> Result<(), Failure> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        log.check_output(path)?;
        let end = path.extension().unwrap_or_default().to_ascii_lowercase();
        if OTHERS.iter().any(|other| end == *other) {
            return Err(Failure::Usage(format!(
                "--report writes an HTML page, not {}; name a file that ends in .html",
                path.display()
            )));
        }
        if other == Some(path) {
            let path = path.display();
            return Err(Failure::Usage(format!(
                "--report and --out are both {path}; use two files"
            )));
        }
        files::check_writable(path).map_err(|error| Failure::Usage(format!("--report: {error}")))
    }

    /// Whether the page is asked for.
    pub fn is_wanted(&self) -> bool {
        self.path.is_some()
    }

    /// Writes the page if it is asked for.
    pub fn write(
        &self,
        page: impl FnOnce(Option<&str>) -> robust_td::Result<String>,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.path {
            robust_td::report::write(path, &page(Some(&crate::command_line()))?)?;
        }
        Ok(())
    }
}
