//! Builds the documentation site: Sphinx with executed tutorials, and rustdoc beside it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::python;

const REQUIREMENTS: &str = "docs/requirements.txt";
/// What Sphinx needs.
const OLDEST_PYTHON: &str = "import sys; sys.exit(sys.version_info < (3, 11))";

/// Whether the site was built, from scratch; true, with a word, where there is no Python.
pub fn build() -> bool {
    let documented = crate::cargo(&["doc", "--release", "--workspace", "--no-deps"], &[]);
    documented && python::with_package(site)
}

/// Builds the site with the package that is installed, and prints where its first page is.
///
/// # Errors
/// When Sphinx warns, a tutorial fails, a link leads nowhere or a page would load something from the network.
pub fn site(python: &Path) -> Result<(), String> {
    if !python::succeeds(python, &["-c", OLDEST_PYTHON]) {
        eprintln!("the documentation needs Python 3.11 or newer: skipped");
        return Ok(());
    }
    python::require(python, REQUIREMENTS)?;
    let folder = crate::target().join("docs");
    let pages = folder.join("html");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| failed(&folder, error))?;
    }
    let (trees, html) = (folder.join("doctrees"), pages.display().to_string());
    let trees = trees.display().to_string();
    let sphinx = [
        "-m",
        "sphinx",
        "--quiet",
        "-W",
        "--keep-going",
        "-b",
        "html",
    ];
    python::call(
        python,
        &[&sphinx[..], &["-d", &trees, "docs", &html]].concat(),
    )?;
    rustdoc(&pages.join("rust"))?;
    python::call(python, &["scripts/check_site.py", &html])?;
    let index = pages.join("index.html");
    let index = fs::canonicalize(&index).unwrap_or(index);
    eprintln!("the documentation is in {}", index.display());
    Ok(())
}

/// Copies the pages that `cargo doc` made of the workspace.
fn rustdoc(into: &Path) -> Result<(), String> {
    let from = crate::target().join("doc");
    for path in entries(&from)? {
        let name = path.file_name().unwrap_or_default().to_owned();
        let text = name.to_string_lossy();
        if path.is_dir() && text == "src" {
            for source in entries(&path)? {
                if is_own(&source) {
                    let below = source.file_name().unwrap_or_default();
                    copy(&source, &into.join("src").join(below))?;
                }
            }
        } else if path.is_file() || is_own(&path) || text.contains('.') {
            // Directories with a dot in their names are rustdoc's own.
            copy(&path, &into.join(&name))?;
        }
    }
    Ok(())
}

/// Whether a folder documents a crate of the workspace.
fn is_own(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("robust_td")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = fs::read_dir(folder).map_err(|error| failed(folder, error))?;
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Copies a file, or a folder with everything in it.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if from.is_dir() {
        for path in entries(from)? {
            copy(&path, &to.join(path.file_name().unwrap_or_default()))?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    }
    fs::copy(from, to).map_err(|error| failed(from, error))?;
    Ok(())
}

fn failed(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
